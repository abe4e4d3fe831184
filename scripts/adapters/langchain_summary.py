"""LangChain's SummarizationMiddleware as a strategy: `compactometer add langchain-summary` installs it."""

import importlib.metadata

from compactometer import strategy
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI


def as_langchain(message):
    """A message as LangChain's: results are messages of their own there, with ids `ID#PLACE`."""
    if message.role == "tool":
        results = enumerate(part for part in message.parts if part["type"] == "tool_result")
        return [
            ToolMessage(part["text"], tool_call_id=part["call_id"], id=f"{message.id}#{place}")
            for place, part in results
        ]
    text = "\n".join(part["text"] for part in message.parts if part["type"] == "text")
    if message.role == "user":
        return [HumanMessage(text, id=f"{message.id}#")]
    calls = [
        {"name": part["name"], "args": strategy.arguments(part["arguments"]), "id": part["id"]}
        for part in message.parts
        if part["type"] == "tool_call"
    ]
    return [AIMessage(text, tool_calls=calls, id=f"{message.id}#")]


class LangChainSummary(strategy.Strategy):
    about = "SummarizationMiddleware of LangChain"
    version = importlib.metadata.version("langchain")
    # 0 messages: as many tokens as the budget leaves beside the summary. LangChain's own default is
    # 20 messages.
    parameters = {"messages": 0, "trim": 4000}
    tail_share = 0.5

    def compact(self, request):
        budget, messages = request.budget, self.settings["messages"]
        keep = ("messages", messages) if messages else ("tokens", budget.tail)
        model = ChatOpenAI(
            model=self.model.name, max_tokens=budget.written, temperature=0, max_retries=0
        )
        middleware = SummarizationMiddleware(
            model,
            trigger=("tokens", 1),
            keep=keep,
            trim_tokens_to_summarize=self.settings["trim"] or None,
        )
        chat = [
            one
            for message in request.messages
            if message.role != "system"
            for one in as_langchain(message)
        ]
        update = middleware.before_model({"messages": chat}, None)
        if update is None:
            raise strategy.Skip()
        view = [message for message in request.messages if message.role == "system"]
        for message in update["messages"][1:]:
            place = (message.id or "").split("#")[0] if "#" in (message.id or "") else None
            if place is None:
                view.append(strategy.Written(message.text))
            elif place not in view:
                view.append(place)
        return view


strategy.run(LangChainSummary, "langchain-summary")
