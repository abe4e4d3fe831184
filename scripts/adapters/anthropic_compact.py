"""Anthropic's compaction by the server as a strategy: `compactometer add anthropic-compact` installs it.

With `--summarizer anthropic:MODEL` the provider itself compacts, chats of 50,000 tokens or more.
"""

import importlib.metadata

import anthropic
from compactometer import strategy


def block(part):
    """A part as Anthropic's block; one without a text has none."""
    if part["type"] == "text" and part["text"]:
        return {"type": "text", "text": part["text"]}
    if part["type"] == "tool_call":
        arguments = strategy.arguments(part["arguments"])
        return {"type": "tool_use", "id": part["id"], "name": part["name"], "input": arguments}
    if part["type"] == "tool_result":
        text = part["text"] or "-"
        return {"type": "tool_result", "tool_use_id": part["call_id"], "content": text}
    return None


def turns(messages):
    """The messages as turns of user and assistant in alternation; the user begins."""
    turns = [{"role": "user", "content": []}]
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        if turns[-1]["role"] != role:
            turns.append({"role": role, "content": []})
        turns[-1]["content"] += filter(None, map(block, message.parts))
    for turn in turns:
        turn["content"] = turn["content"] or [{"type": "text", "text": "-"}]
    return turns


class AnthropicCompact(strategy.Strategy):
    about = "Anthropic's compaction by the server"
    version = importlib.metadata.version("anthropic")
    parameters = {"instructions": "none"}
    # All that is said becomes the summary.
    tail_share = 0.0

    def compact(self, request):
        edit = {
            "type": "compact_20260112",
            "trigger": {"type": "input_tokens", "value": 1},
            "pause_after_compaction": True,
        }
        if self.settings["instructions"] != "none":
            edit["instructions"] = self.settings["instructions"]
        system = [message for message in request.messages if message.role == "system"]
        said = [message for message in request.messages if message.role != "system"]
        reply = anthropic.Anthropic(max_retries=0).beta.messages.create(
            model=self.model.name,
            max_tokens=request.budget.written,
            system="\n\n".join(part["text"] for message in system for part in message.parts) or "-",
            messages=turns(said),
            betas=["compact-2026-01-12"],
            context_management={"edits": [edit]},
        )
        (summary,) = [block.content for block in reply.content if block.type == "compaction"]
        if not summary:
            raise RuntimeError("the server's compaction came to no summary")
        fixed = [message for message in said if message.fixed]
        return [*system, strategy.Written(summary), *fixed]


strategy.run(AnthropicCompact, "anthropic-compact")
