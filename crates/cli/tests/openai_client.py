"""Talks to a running server with OpenAI's own client: chat, stream, models, usage and error classes.

Usage: openai_client.py URL MODEL
"""

import sys

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

reply = client.chat.completions.create(model=model, messages=messages, seed=3, temperature=0, max_completion_tokens=50)
said = reply.choices[0].message.content
assert "8042" in said and reply.choices[0].finish_reason == "stop", reply
usage = reply.usage
assert usage.prompt_tokens > 20 and usage.total_tokens == usage.prompt_tokens + usage.completion_tokens, usage
assert usage.prompt_tokens_details.cached_tokens == 0 and usage.completion_tokens_details.reasoning_tokens == 0, usage

stream = client.chat.completions.create(
    model=model, messages=messages, seed=3, max_tokens=50, stream=True, stream_options={"include_usage": True}
)
chunks = list(stream)
assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == said
assert chunks[-1].choices == [] and chunks[-1].usage == usage, chunks[-1]

with client.chat.completions.create(model=model, messages=messages, stream=True) as dropped:
    next(iter(dropped))

schema = {"type": "object", "properties": {"decisions": {"type": "array", "items": {"type": "string"}}}}
shaped = client.chat.completions.create(
    model=model,
    messages=[{"role": "user", "content": "Summarize:\n\nUSER: We decided to keep port 8042.\n\nWrite JSON."}],
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
assert refused(openai.BadRequestError, messages=[{"role": "robot", "content": "hi"}]).param == "messages[0].role"
assert refused(openai.NotFoundError, model="gpt-9").code == "model_not_found"
print("ok")
