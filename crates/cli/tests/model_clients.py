"""Talks to a running server with the clients of OpenAI and Anthropic: whole and streamed replies, models, usage and error classes.

Usage: model_clients.py URL MODEL
"""

import sys

import anthropic
import openai

url, model = sys.argv[1:3]
client = openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=120)
messages = [
    {"role": "system", "content": "You are an agent."},
    {"role": "user", "content": "The staging cluster uses port 8042 for all exports."},
    {"role": "assistant", "content": "Noted."},
    {"role": "user", "content": "Which port does the staging cluster use?"},
]

listed = [one.id for one in client.models.list()]
assert listed == [model], listed
assert client.models.retrieve(model).id == model

reply = client.chat.completions.create(
    model=model, messages=messages, seed=3, temperature=0, max_completion_tokens=50
)
said = reply.choices[0].message.content
assert "8042" in said and reply.choices[0].finish_reason == "stop", reply
usage = reply.usage
assert (
    usage.prompt_tokens > 20 and usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
), usage
assert (
    usage.prompt_tokens_details.cached_tokens == 0
    and usage.completion_tokens_details.reasoning_tokens == 0
), usage

stream = client.chat.completions.create(
    model=model,
    messages=messages,
    seed=3,
    max_tokens=50,
    stream=True,
    stream_options={"include_usage": True},
)
chunks = list(stream)
assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == said
assert chunks[-1].choices == [] and chunks[-1].usage == usage, chunks[-1]

with client.chat.completions.create(model=model, messages=messages, stream=True) as dropped:
    next(iter(dropped))

schema = {
    "type": "object",
    "properties": {"decisions": {"type": "array", "items": {"type": "string"}}},
}
shaped = client.chat.completions.create(
    model=model,
    messages=[
        {
            "role": "user",
            "content": "Summarize:\n\nUSER: We decided to keep port 8042.\n\nWrite JSON.",
        }
    ],
    response_format={"type": "json_schema", "json_schema": {"name": "state", "schema": schema}},
)
assert shaped.choices[0].message.content.startswith('{"decisions"'), shaped


def refused(error, **changed):
    try:
        client.chat.completions.create(**{"model": model, "messages": messages, **changed})
    except error as caught:
        return caught
    raise AssertionError(f"{changed} was not refused")


assert refused(openai.BadRequestError, messages=[]).param == "messages"
assert refused(openai.BadRequestError, temperature=9).param == "temperature"
assert (
    refused(openai.BadRequestError, messages=[{"role": "robot", "content": "hi"}]).param
    == "messages[0].role"
)
assert refused(openai.NotFoundError, model="gpt-9").code == "model_not_found"

# Responses.
asked = {
    "model": model,
    "instructions": messages[0]["content"],
    "input": messages[1:],
    "temperature": 0,
    "max_output_tokens": 50,
}
response = client.responses.create(**asked)
assert "8042" in response.output_text and response.status == "completed", response
assert response.usage.input_tokens == usage.prompt_tokens, response.usage
assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens, (
    response.usage
)
with client.responses.stream(**asked) as stream:
    grown = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
    final = stream.get_final_response()
assert grown == final.output_text == response.output_text and final.usage == response.usage, final
cut = client.responses.create(**{**asked, "max_output_tokens": 5})
assert cut.status == "incomplete" and cut.incomplete_details.reason == "max_output_tokens", cut
calls = [
    {"role": "user", "content": [{"type": "input_text", "text": "Read the file."}]},
    {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"},
    {
        "type": "function_call_output",
        "call_id": "c1",
        "output": "The staging cluster uses port 8042.",
    },
    messages[-1],
]
assert "8042" in client.responses.create(model=model, input=calls).output_text
try:
    client.responses.create(model=model, input="hi", previous_response_id="resp_1")
    raise AssertionError("an earlier response was taken for known")
except openai.BadRequestError as caught:
    assert caught.param == "previous_response_id", caught
counted = client.responses.input_tokens.count(model=model, input=calls).input_tokens
assert counted == client.responses.create(model=model, input=calls).usage.input_tokens, counted
compacted = client.responses.compact(model=model, input=messages[1:3])
kept, sealed = compacted.output
assert kept.role == "user" and kept.content[0].text == messages[1]["content"], kept
assert sealed.type == "compaction" and compacted.usage.input_tokens > 0, compacted
after = [sealed.model_dump(exclude_none=True), messages[-1]]
assert client.responses.create(model=model, input=after).status == "completed"
asked = {
    "model": model,
    "input": calls,
    "context_management": [{"type": "compaction", "compact_threshold": 20}],
}
kinds = [item.type for item in client.responses.create(**asked).output]
assert kinds == ["compaction", "message"], kinds
with client.responses.stream(**asked) as stream:
    kinds = [event.item.type for event in stream if event.type == "response.output_item.done"]
assert kinds == ["compaction", "message"], kinds

# Messages.
claude = anthropic.Anthropic(
    base_url=url.removesuffix("/v1"), api_key="none", max_retries=0, timeout=120
)
asked = {
    "model": model,
    "max_tokens": 50,
    "system": messages[0]["content"],
    "messages": messages[1:],
}
message = claude.messages.create(**asked)
said = message.content[0].text
assert "8042" in said and message.stop_reason == "end_turn", message
assert message.usage.input_tokens == usage.prompt_tokens, message.usage
with claude.messages.stream(**asked) as stream:
    assert "".join(stream.text_stream) == said
    final = stream.get_final_message()
assert final.content[0].text == said and final.usage.output_tokens == message.usage.output_tokens, (
    final
)
word = said.split()[2]
stopped = claude.messages.create(**{**asked, "stop_sequences": [word]})
assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", word), stopped
assert claude.messages.create(**{**asked, "max_tokens": 5}).stop_reason == "max_tokens"
calls = [
    {"role": "user", "content": "Read the file."},
    {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {}}],
    },
    {
        "role": "user",
        "content": [
            {
                "type": "tool_result",
                "tool_use_id": "c1",
                "content": [{"type": "text", "text": "The staging cluster uses port 8042."}],
            },
            {"type": "text", "text": messages[-1]["content"]},
        ],
    },
]
assert "8042" in claude.messages.create(model=model, max_tokens=50, messages=calls).content[0].text
counted = claude.messages.count_tokens(model=model, messages=calls).input_tokens
asked = {"model": model, "max_tokens": 50, "messages": calls}
assert counted == claude.messages.create(**asked).usage.input_tokens, counted
compact = {"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": 20}}
edited = {
    "model": model,
    "max_tokens": 50,
    "messages": calls,
    "betas": ["compact-2026-01-12", "context-management-2025-06-27"],
    "context_management": {"edits": [compact]},
}
message = claude.beta.messages.create(**edited)
assert [block.type for block in message.content] == ["compaction", "text"], message
assert [one.type for one in message.usage.iterations] == ["compaction", "message"], message.usage
with claude.beta.messages.stream(**edited) as stream:
    final = stream.get_final_message()
assert final.content[0].content == message.content[0].content, final
clear = {
    "type": "clear_tool_uses_20250919",
    "trigger": {"type": "tool_uses", "value": 1},
    "keep": {"type": "tool_uses", "value": 0},
}
edited["context_management"] = {"edits": [clear]}
(applied,) = claude.beta.messages.create(**edited).context_management.applied_edits
assert applied.cleared_tool_uses == 1 and applied.cleared_input_tokens > 0, applied
try:
    claude.messages.create(**{**asked, "model": "claude-9"})
    raise AssertionError("a model that is not served answered")
except anthropic.NotFoundError as caught:
    assert caught.body["error"]["type"] == "not_found_error", caught.body
print("ok")
