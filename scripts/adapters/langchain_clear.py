"""LangChain's ContextEditingMiddleware as a strategy: `compactometer add langchain-clear` installs it."""

import importlib.metadata

from compactometer import strategy
from langchain.agents.middleware import ClearToolUsesEdit
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage


def as_langchain(message):
    """A message as LangChain's: results are messages of their own there."""
    if message.role == "tool":
        results = [part for part in message.parts if part["type"] == "tool_result"]
        return [ToolMessage(part["text"], tool_call_id=part["call_id"]) for part in results]
    if message.role == "user":
        return [HumanMessage(message.text)]
    calls = [part for part in message.parts if part["type"] == "tool_call"]
    calls = [{"name": part["name"], "args": {}, "id": part["id"]} for part in calls]
    return [AIMessage("", tool_calls=calls)]


class LangChainClear(strategy.Strategy):
    about = "ContextEditingMiddleware of LangChain"
    version = importlib.metadata.version("langchain")
    parameters = {"keep": 3}
    tail_share = 1.0

    def compact(self, request):
        edit = ClearToolUsesEdit(trigger=0, keep=int(self.settings["keep"]))
        chat = [
            one
            for message in request.messages
            if message.role != "system"
            for one in as_langchain(message)
        ]
        # Only whether there is anything to count matters for a trigger of 0.
        edit.apply(chat, count_tokens=len)
        answers = [one for one in chat if isinstance(one, ToolMessage)]
        cleared = {one.tool_call_id for one in answers if one.content == edit.placeholder}
        view = [self.after(message, cleared, edit.placeholder) for message in request.messages]
        if view == request.messages:
            raise strategy.Skip()
        return view

    @staticmethod
    def after(message, cleared, placeholder):
        parts = [
            {**part, "text": placeholder} if part.get("call_id") in cleared else part
            for part in message.parts
        ]
        return message if parts == message.parts else strategy.Written(id=message.id, parts=parts)


strategy.run(LangChainClear, "langchain-clear")
