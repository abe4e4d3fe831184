"""SummarizingConversationManager of Strands as a strategy: `compactometer add strands-summary` installs it."""

import importlib.metadata
from types import SimpleNamespace

from compactometer import strategy
from strands.agent.conversation_manager import SummarizingConversationManager
from strands.models.openai import OpenAIModel
from strands.types.exceptions import ContextWindowOverflowException


def theirs(message):
    """A message as the package's, with the id of ours."""
    content = []
    for part in message.parts:
        if part["type"] == "text" and part["text"]:
            content.append({"text": part["text"]})
        elif part["type"] == "tool_call":
            call = {
                "toolUseId": part["id"],
                "name": part["name"],
                "input": strategy.arguments(part["arguments"]),
            }
            content.append({"toolUse": call})
        elif part["type"] == "tool_result":
            result = [{"text": part["text"]}]
            content.append(
                {
                    "toolResult": {
                        "toolUseId": part["call_id"],
                        "status": "success",
                        "content": result,
                    }
                }
            )
    role = "assistant" if message.role == "assistant" else "user"
    return {"role": role, "content": content or [{"text": "-"}], "ours": message.id}


class StrandsSummary(strategy.Strategy):
    about = "SummarizingConversationManager of Strands"
    version = importlib.metadata.version("strands-agents")
    # The share of the messages that is summarized at once. 0 messages: as many stay as the budget leaves
    # beside the summary; the package's own default is 10.
    parameters = {"ratio": 0.3, "messages": 0}
    tail_share = 0.5

    def compact(self, request):
        budget = request.budget
        fixed = [
            message for message in request.messages if message.fixed and message.role != "system"
        ]
        newest = len(request.newest(budget.tail)) + len(fixed)
        manager = SummarizingConversationManager(
            summary_ratio=self.settings["ratio"],
            preserve_recent_messages=int(self.settings["messages"]) or newest,
        )
        model = OpenAIModel(
            model_id=self.model.name, params={"max_tokens": budget.written, "temperature": 0}
        )
        messages = [theirs(message) for message in request.messages if message.role != "system"]
        agent = SimpleNamespace(messages=list(messages), model=model, aux_model=model)
        ours = {message.id: message for message in request.messages}
        # An agent tries again for as long as its provider refuses the request.
        left = tokens(messages, ours)
        while left > budget.retained:
            try:
                manager.reduce_context(agent, e=ContextWindowOverflowException())
            except ContextWindowOverflowException:
                break
            before, left = left, tokens(agent.messages, ours)
            if left >= before:
                break
        if agent.messages == messages:
            raise strategy.Skip()
        view = [message for message in request.messages if message.role == "system"]
        return view + [ours.get(one.get("ours")) or written(one) for one in agent.messages]


def written(message):
    text = "\n".join(part["text"] for part in message["content"] if "text" in part)
    return strategy.Written(text, role=message["role"])


def tokens(messages, ours):
    """The tokens of what is not fixed, the package's own summaries by their letters."""
    known = [ours.get(one.get("ours")) for one in messages]
    kept = sum(message.tokens for message in known if message and not message.fixed)
    return kept + sum(len(written(one).text) // 4 for one in messages if "ours" not in one)


strategy.run(StrandsSummary, "strands-summary")
