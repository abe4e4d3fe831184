"""Compactions of inspect_ai as strategies: `compactometer add inspect-summary`, `-edit` or `-trim` installs one."""

import asyncio
import importlib.metadata
import os
import sys

from compactometer import strategy
from inspect_ai.model import (
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    CompactionEdit,
    CompactionSummary,
    CompactionTrim,
    GenerateConfig,
    get_model,
)
from inspect_ai.tool import ToolCall

KIND = sys.argv[1]


def theirs(message, is_input):
    """A message as the package's: results are messages of their own there, with ids `ID#PLACE`."""
    text = "\n".join(part["text"] for part in message.parts if part["type"] == "text")
    if message.role == "system":
        return [ChatMessageSystem(content=text, id=message.id)]
    if message.role == "user":
        return [ChatMessageUser(content=text, id=message.id, source="input" if is_input else None)]
    if message.role == "assistant":
        calls = [
            ToolCall(
                id=part["id"],
                function=part["name"],
                arguments=strategy.arguments(part["arguments"]),
            )
            for part in message.parts
            if part["type"] == "tool_call"
        ]
        return [ChatMessageAssistant(content=text, tool_calls=calls or None, id=message.id)]
    results = enumerate(message.parts)
    return [
        ChatMessageTool(
            content=part["text"], tool_call_id=part["call_id"], id=f"{message.id}#{place}"
        )
        for place, part in results
        if part["type"] == "tool_result"
    ]


class InspectCompaction(strategy.Strategy):
    about = f"Compaction{KIND.title()} of inspect_ai"
    version = importlib.metadata.version("inspect_ai")
    parameters = {"edit": {"tool_uses": 3}, "trim": {"preserve": 0.8}}.get(KIND, {})
    tail_share = {"summary": 0.0}.get(KIND, 1.0)

    def compaction(self, request):
        if KIND == "summary":
            return CompactionSummary()
        if KIND == "edit":
            return CompactionEdit(keep_tool_uses=int(self.settings["tool_uses"]))
        # A share of the messages, or less where the budget takes less.
        tokens = sum(message.tokens for message in request.messages)
        return CompactionTrim(
            preserve=min(self.settings["preserve"], request.budget.retained / tokens)
        )

    def compact(self, request):
        users = [message.id for message in request.messages if message.role == "user"]
        chat = [
            one for message in request.messages for one in theirs(message, message.id == users[0])
        ]
        config = GenerateConfig(max_tokens=request.budget.written, temperature=0, max_retries=1)
        # A provider of OpenAI's chat form at any address, which counts tokens by itself.
        model = get_model(
            f"openai-api/case/{self.model.name}",
            config=config,
            memoize=False,
            base_url=os.environ["OPENAI_BASE_URL"],
            api_key="none",
        )
        kept, summary = asyncio.run(self.compaction(request).compact(model, chat, []))
        return view(request, chat, kept, summary)


def view(request, before, kept, summary):
    """What the package left, as a view: results that it cleared take the place of theirs."""
    cleared = {}
    for message in kept:
        if isinstance(message, ChatMessageTool) and message not in before:
            cleared[message.tool_call_id] = message.text
    ids = {one.id.split("#")[0] for one in kept if one.id}
    answered = {one.tool_call_id for one in kept if isinstance(one, ChatMessageTool)}
    view = []
    for message in request.messages:
        if message.id in ids or message.fixed or answered & set(message.answers):
            parts = [
                {**part, "text": cleared[part["call_id"]]}
                if part.get("call_id") in cleared
                else part
                for part in message.parts
            ]
            view.append(
                strategy.Written(id=message.id, parts=parts) if parts != message.parts else message
            )
    if summary is not None:
        last = max((place for place, one in enumerate(view) if not one.fixed), default=0)
        view.insert(last + 1, strategy.Written(summary.text))
    if view == request.messages:
        raise strategy.Skip()
    return view


strategy.run(InspectCompaction, "inspect-" + KIND)
