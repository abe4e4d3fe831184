"""SummarizationStrategy of Microsoft's Agent Framework: `compactometer add agent-framework-summary` installs it."""

import asyncio
import importlib.metadata
from types import SimpleNamespace

from agent_framework import Content, Message, SummarizationStrategy, apply_compaction
from compactometer import strategy


def theirs(message):
    """A message as the package's: results are messages of their own there, with ids `ID#PLACE`."""
    if message.role == "tool":
        results = [part for part in message.parts if part["type"] == "tool_result"]
        return [
            Message(
                role="tool",
                contents=[Content.from_function_result(part["call_id"], result=part["text"])],
                message_id=f"{message.id}#{place}",
            )
            for place, part in enumerate(results)
        ]
    contents = []
    for part in message.parts:
        if part["type"] == "text":
            contents.append(Content.from_text(part["text"]))
        elif part["type"] == "tool_call":
            call = Content.from_function_call(part["id"], part["name"], arguments=part["arguments"])
            contents.append(call)
    return [Message(role=message.role, contents=contents, message_id=f"{message.id}#")]


class CaseClient:
    """The model of the case, for the package."""

    def __init__(self, model, most):
        self.model, self.most = model, most

    async def get_response(self, messages, **_):
        prompt = "\n\n".join(message.text for message in messages)
        return SimpleNamespace(text=self.model.complete(prompt, self.most))


class AgentFrameworkSummary(strategy.Strategy):
    about = "SummarizationStrategy of Microsoft's Agent Framework"
    version = importlib.metadata.version("agent-framework-core")
    # 0 messages: as many as the budget leaves beside the summary. The package's own default is 4. `input`
    # is the most tokens that it summarizes at once, without a limit if 0; a longer group of messages stays.
    parameters = {"messages": 0, "input": 8000}
    tail_share = 0.5

    def compact(self, request):
        fixed = [
            message for message in request.messages if message.fixed and message.role != "system"
        ]
        newest = request.newest(request.budget.tail) + fixed
        count = int(self.settings["messages"]) or sum(len(theirs(message)) for message in newest)
        client = CaseClient(self.model, request.budget.written)
        summarize = SummarizationStrategy(
            client=client,
            target_count=max(count, 1),
            threshold=0,
            max_summary_input_tokens=int(self.settings["input"]) or None,
        )
        chat = [one for message in request.messages for one in theirs(message)]
        # A summary is of as many messages as the package puts into one request.
        left, tokens = chat, self.tokens(chat, request)
        while tokens > request.budget.retained:
            left = asyncio.run(apply_compaction(list(left), strategy=summarize))
            before, tokens = tokens, self.tokens(left, request)
            if tokens >= before:
                break
        view = []
        for message in left:
            place, mark, _ = (message.message_id or "").partition("#")
            if not mark:
                # The package shows it as a turn of the model, which not every provider takes as the first.
                view.append(strategy.Written(message.text))
            elif place not in view:
                view.append(place)
        if view == [message.id for message in request.messages]:
            raise strategy.Skip()
        return view

    @staticmethod
    def tokens(chat, request):
        ours = {message.id: message for message in request.messages}
        ids = {
            (message.message_id or "").split("#")[0]
            for message in chat
            if "#" in (message.message_id or "")
        }
        kept = sum(ours[one].tokens for one in ids if not ours[one].fixed)
        return kept + sum(
            len(message.text) // 4 for message in chat if "#" not in (message.message_id or "")
        )


strategy.run(AgentFrameworkSummary, "agent-framework-summary")
