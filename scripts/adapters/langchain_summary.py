"""LangChain's SummarizationMiddleware as a strategy: `compactometer add langchain-summary` installs it."""

import importlib.metadata

from compactometer import langchain, strategy
from langchain.agents.middleware import SummarizationMiddleware
from langchain_openai import ChatOpenAI


class LangChainSummary(strategy.Strategy):
    about = "SummarizationMiddleware of LangChain"
    version = importlib.metadata.version("langchain")
    # 0 messages: as many tokens as the budget leaves beside the summary. LangChain's own default is
    # 20 messages.
    parameters = {"messages": 0, "trim": 4000}
    tail_share = 0.5

    def compact(self, request):
        budget, messages = request.budget, self.settings["messages"]
        keep = ("messages", messages) if messages else ("tokens", langchain.recent_tokens(request))
        model = ChatOpenAI(
            model=self.model.name, max_tokens=budget.written, temperature=0, max_retries=0
        )
        middleware = SummarizationMiddleware(
            model,
            trigger=("tokens", 1),
            keep=keep,
            trim_tokens_to_summarize=self.settings["trim"] or None,
        )
        update = middleware.before_model({"messages": langchain.chat(request.messages)}, None)
        if update is None:
            raise strategy.Skip()
        return langchain.view(request, update["messages"][1:])


strategy.run(LangChainSummary, "langchain-summary")
