"""LangChain's ContextEditingMiddleware as a strategy: `compactometer add langchain-clear` installs it."""

import importlib.metadata

from compactometer import langchain, strategy
from langchain.agents.middleware import ClearToolUsesEdit
from langchain_core.messages import ToolMessage


class LangChainClear(strategy.Strategy):
    about = "ContextEditingMiddleware of LangChain"
    version = importlib.metadata.version("langchain")
    parameters = {"keep": 3}
    tail_share = 1.0

    def compact(self, request):
        edit = ClearToolUsesEdit(trigger=0, keep=int(self.settings["keep"]))
        chat = langchain.chat(request.messages)
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
