"""Claude Code's compaction as the package compact-middleware ports it: `compactometer add claude-code-port` installs it.

Nine sections replace what was said, and the files that were read last follow. The package reads them from
a disk; a replay has none, so here they are as the conversation last read them.
"""

import importlib.metadata
from types import SimpleNamespace

from compact_middleware.compaction import compact_conversation
from compact_middleware.config import CompactionConfig, RestorationConfig
from compact_middleware.restoration import build_restoration_context
from compactometer import langchain, strategy
from langchain_core.messages import ToolMessage
from langchain_openai import ChatOpenAI

# What agents call the tool that reads a file; the package knows one of these.
READS = {"Read", "read", "read_file", "view"}


class Files:
    """The files of a conversation, each as it was last read."""

    def __init__(self, chat):
        results = {one.tool_call_id: one.content for one in chat if isinstance(one, ToolMessage)}
        calls = [call for one in chat for call in getattr(one, "tool_calls", [])]
        reads = [(call["args"], call["id"]) for call in calls if call["name"] == "read_file"]
        self.texts = {
            to.get("file_path") or to.get("path"): results.get(call) for to, call in reads
        }

    def read(self, path):
        return SimpleNamespace(content=self.texts.get(path), error=self.texts.get(path) is None)


class ClaudeCodePort(strategy.Strategy):
    about = "compact-middleware's port of Claude Code's compaction"
    version = importlib.metadata.version("compact-middleware")
    # Five files of 5,000 tokens in Claude Code; here they share what the budget leaves beside the summary.
    parameters = {"files": 5}
    tail_share = 0.5

    def compact(self, request):
        budget, files = request.budget, int(self.settings["files"])
        left = [message for message in request.messages if not message.fixed]
        chat = langchain.chat(left)
        for call in (call for one in chat for call in getattr(one, "tool_calls", [])):
            call["name"] = "read_file" if call["name"] in READS else call["name"]
        if not chat:
            raise strategy.Skip()
        model = ChatOpenAI(
            model=self.model.name, max_tokens=budget.written, temperature=0, max_retries=0
        )
        view, _, _ = compact_conversation(chat, model, CompactionConfig(), cutoff_index=len(chat))
        # About three characters of code a token, so that the files stay within their part.
        room = 3 * budget.tail
        config = RestorationConfig(
            max_files=files, file_budget_chars=room, per_file_chars=room // max(files, 1)
        )
        restored = build_restoration_context(Files(chat), chat, {}, config)
        return request.fixed_and([], [strategy.Written(view[0].content + restored)])


strategy.run(ClaudeCodePort, "claude-code-port")
