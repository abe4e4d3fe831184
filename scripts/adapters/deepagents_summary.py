"""The summarization of deepagents as a strategy: `compactometer add deepagents-summary` installs it.

It writes what it removes into a file and names that file in the summary, so that an agent can read
it again. A replay has no such tool: the file is in a folder that goes when the compaction is done.
"""

import importlib.metadata
import tempfile

from compactometer import langchain, strategy
from deepagents.backends.filesystem import FilesystemBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI


class DeepAgentsSummary(strategy.Strategy):
    about = "the summarization of deepagents"
    version = importlib.metadata.version("deepagents")
    # 0 messages: as many tokens as the budget leaves beside the summary.
    parameters = {"messages": 0, "trim": 4000}
    tail_share = 0.5

    def compact(self, request):
        budget, messages = request.budget, self.settings["messages"]
        model = ChatOpenAI(
            model=self.model.name, max_tokens=budget.written, temperature=0, max_retries=0
        )
        sent = []

        def handler(asked):
            sent.extend(asked.messages)
            return ModelResponse(result=[AIMessage("")])

        with tempfile.TemporaryDirectory() as folder:
            middleware = SummarizationMiddleware(
                model,
                backend=FilesystemBackend(folder, virtual_mode=True),
                trigger=("tokens", 1),
                keep=("messages", messages)
                if messages
                else ("tokens", langchain.recent_tokens(request)),
                trim_tokens_to_summarize=self.settings["trim"] or None,
            )
            chat = langchain.chat(request.messages)
            asked = ModelRequest(model=model, messages=chat, state={"messages": chat})
            middleware.wrap_model_call(asked, handler)
        view = langchain.view(request, sent)
        if not any(isinstance(one, strategy.Written) for one in view):
            raise strategy.Skip()
        return view


strategy.run(DeepAgentsSummary, "deepagents-summary")
