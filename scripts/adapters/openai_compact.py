"""OpenAI's compaction by the server as a strategy: `compactometer add openai-compact` installs it.

The user's messages stay word for word, and one item that clients pass on unread has the rest. The
server keeps all of those messages, whatever their size; with `users=TOKENS` the newest of them stay,
as far as they fit. Behind a model of OpenAI only its own models read the item, so nothing says which
facts it holds.
"""

import importlib.metadata

import openai
from compactometer import strategy


def items(message):
    """A message as items of OpenAI's input."""
    texts = [part["text"] for part in message.parts if part["type"] == "text" and part["text"]]
    if texts:
        yield {"role": message.role, "content": "\n\n".join(texts)}
    for part in message.parts:
        if part["type"] == "tool_call":
            call = {"call_id": part["id"], "name": part["name"], "arguments": part["arguments"]}
            yield {"type": "function_call", **call}
        if part["type"] == "tool_result":
            result = {"call_id": part["call_id"], "output": part["text"]}
            yield {"type": "function_call_output", **result}


class OpenaiCompact(strategy.Strategy):
    about = "OpenAI's compaction by the server"
    version = importlib.metadata.version("openai")
    parameters = {"users": "all"}

    def compact(self, request):
        # What this strategy wrote is the item that the server gave.
        sealed = self.kept and {"type": "compaction", "encrypted_content": self.kept}
        said = [message for message in request.messages if message.role != "system"]
        sent = [
            item
            for message in said
            for item in ([sealed] if sealed and message.id[0] == "w" else items(message))
        ]
        system = [message for message in request.messages if message.role == "system"]
        reply = openai.OpenAI(max_retries=0).responses.compact(
            model=self.model.name,
            instructions="\n\n".join(message.text for message in system) or openai.omit,
            input=sent,
        )
        (summary,) = [item.encrypted_content for item in reply.output if item.type == "compaction"]
        self.keep(summary)
        users = [message for message in said if message.role == "user" and message.id[0] == "m"]
        fixed = [message for message in said if message.fixed]
        before = self.newest([message for message in users if not message.fixed])
        return [*system, *before, strategy.Written(sealed=summary), *fixed]

    def newest(self, messages):
        """The newest messages that fit what `users` says."""
        if self.settings["users"] == "all":
            return messages
        kept, left = [], int(self.settings["users"])
        for message in reversed(messages):
            left -= message.tokens
            if left < 0:
                break
            kept.insert(0, message)
        return kept


strategy.run(OpenaiCompact, "openai-compact")
