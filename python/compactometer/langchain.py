"""Messages of a view as LangChain's, and back. It needs the package `langchain-core`."""

from __future__ import annotations

from collections.abc import Iterable

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately

from compactometer.strategy import Message, Request, Written, arguments


def chat(messages: Iterable[Message]) -> list[AnyMessage]:
    """The messages but the system prompt. The id of each is `ID#PLACE`, since results are messages of their own there."""
    return [
        one for message in messages if message.role != "system" for one in _as_langchain(message)
    ]


def _as_langchain(message: Message) -> list[AnyMessage]:
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
        {"name": part["name"], "args": arguments(part["arguments"]), "id": part["id"]}
        for part in message.parts
        if part["type"] == "tool_call"
    ]
    return [AIMessage(text, tool_calls=calls, id=f"{message.id}#")]


def view(request: Request, kept: Iterable[AnyMessage]) -> list[Message | Written | str]:
    """The system prompt, and messages as LangChain left them: those of the request, and new ones as written."""
    found: list[Message | Written | str] = [
        message for message in request.messages if message.role == "system"
    ]
    for message in kept:
        place, mark, _ = (message.id or "").partition("#")
        if not mark:
            found.append(Written(str(message.text)))
        elif place not in found:
            found.append(place)
    return found


def recent_tokens(request: Request) -> int:
    """The recent tokens to keep, as LangChain counts: the budget's, beside the messages that have to stay."""
    return max(1, request.budget.tail + count_tokens_approximately(chat(request.fixed)))
