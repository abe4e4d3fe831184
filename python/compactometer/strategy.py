"""The strategy protocol, version 1: JSON, one object a line, on standard input and output."""

from __future__ import annotations

import json
import sys
import urllib.request
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Union

PROTOCOL = 1


@dataclass
class Message:
    """One message of a view.

    `id` is how an answer keeps it. `parts` are dictionaries as in a suite: `{"type": "text",
    "text": ...}`, `tool_call`, `tool_result`, `thinking`, `media`. `fixed` messages have to stay
    and do not count against the budget.
    """

    id: str
    role: str
    parts: list[dict[str, Any]]
    tokens: int = 0
    fixed: bool = False

    @property
    def text(self) -> str:
        """The texts of all parts, calls and results included."""
        return "\n".join(_text(part) for part in self.parts)

    @property
    def calls(self) -> list[str]:
        """The ids of the calls that the message makes."""
        return [part["id"] for part in self.parts if part["type"] == "tool_call"]

    @property
    def answers(self) -> list[str]:
        """The ids of the calls that the message answers."""
        return [part["call_id"] for part in self.parts if part["type"] == "tool_result"]


def _text(part: dict[str, Any]) -> str:
    if part["type"] == "tool_call":
        return f"{part['name']} {part['arguments']}"
    return str(part.get("text", ""))


def arguments(text: str) -> dict[str, Any]:
    """The arguments of a call as an object; what is none is under the key `input`."""
    try:
        value = json.loads(text)
    except ValueError:
        value = text
    return value if isinstance(value, dict) else {"input": value}


@dataclass
class Written:
    """A message of the strategy's own. With `id` it takes the place of that message's content: as a text, or as
    `parts` of which each is one of the message's own or has another text. `sealed` is the encrypted content of a
    compaction that OpenAI did."""

    text: str = ""
    role: str = "user"
    id: str | None = None
    parts: list[dict[str, Any]] | None = None
    sealed: str | None = None


@dataclass
class Budget:
    """The limits of a compaction, in tokens.

    `retained` is what may stay beside fixed messages: `tail` word for word, and `written` from the
    strategy.
    """

    window: int
    retained: int
    tail: int
    written: int


View = Iterable[Union[Message, Written, str]]


@dataclass
class Request:
    """What a compaction is asked for. `reason` is `trigger`, or `over_budget` if the last answer was too large."""

    reason: str
    budget: Budget
    request_tokens: int
    messages: list[Message]

    @property
    def fixed(self) -> list[Message]:
        """The messages that have to stay."""
        return [message for message in self.messages if message.fixed]

    def fixed_and(
        self, kept: Iterable[Message], first: Iterable[Written] = ()
    ) -> list[Message | Written]:
        """The system prompt, then `first`, then the fixed messages and `kept` in the order of the view.

        Calls stay with their results. Messages before the first turn of the user are left out,
        since a chat opens with the user.
        """
        wanted = {message.id for message in kept} | {message.id for message in self.fixed}
        wanted = self._whole(wanted)
        system = [message for message in self.messages if message.role == "system"]
        rest = [
            message
            for message in self.messages
            if message.id in wanted and message.role != "system"
        ]
        first = list(first)
        while not first and rest and rest[0].role != "user" and not rest[0].fixed:
            rest = rest[1:]
        return [*system, *first, *rest]

    def newest(self, tokens: int) -> list[Message]:
        """The newest messages that are not fixed and that fit so many tokens, with calls and results whole."""
        kept: list[Message] = []
        for group in reversed(self._groups()):
            tokens -= sum(message.tokens for message in group)
            if tokens < 0:
                break
            kept = [*group, *kept]
        return kept

    def _groups(self) -> list[list[Message]]:
        """The messages that are not fixed, results with the calls that they answer."""
        groups: list[list[Message]] = []
        for message in self.messages:
            if message.fixed or message.role == "system":
                continue
            if (
                message.role == "tool"
                and groups
                and (groups[-1][0].calls or groups[-1][-1].role == "tool")
            ):
                groups[-1].append(message)
            else:
                groups.append([message])
        return groups

    def _whole(self, wanted: set[str]) -> set[str]:
        made = {call: message.id for message in self.messages for call in message.calls}
        pairs = [
            (made.get(call), message.id) for message in self.messages for call in message.answers
        ]
        while True:
            more = {
                other for pair in pairs if wanted.intersection(pair) for other in pair if other
            } - wanted
            if not more:
                return wanted
            wanted = wanted | more


@dataclass
class Model:
    """The model of the case: an OpenAI-compatible address on this machine. Every call is metered."""

    base_url: str
    name: str

    def complete(
        self, prompt: str, max_tokens: int, system: str | None = None, temperature: float = 0.0
    ) -> str:
        """One answer to a prompt. A failed call raises `urllib.error.URLError`."""
        messages = [{"role": "system", "content": system}] if system else []
        body = {
            "model": self.name,
            "messages": [*messages, {"role": "user", "content": prompt}],
            "max_tokens": max_tokens,
            "temperature": temperature,
        }
        request = urllib.request.Request(
            f"{self.base_url}/chat/completions",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request) as answer:
            return json.load(answer)["choices"][0]["message"]["content"] or ""


class Skip(Exception):
    """Raise it if there is nothing to compact."""


@dataclass
class Strategy:
    """The base of strategies. `settings` has every parameter; `kept` is what `keep` saved with the last compaction that was applied.

    Nothing else may be remembered from one compaction to the next: an answer may be refused, and a
    case can go on in another process.
    """

    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    model: Model | None = None
    kept: str | None = None

    version = "0"
    about = ""
    parameters = {}  # type: ignore[var-annotated]
    tail_share = 0.0
    unmetered = False
    """Whether it asks a model, or anything else, past `model`. It then has no costs in reports, and is compared with nothing."""

    def compact(self, request: Request) -> View:
        """The next view: messages of the request, their ids, and new messages (`Written`)."""
        raise NotImplementedError

    def before_turn(self, messages: list[Message]) -> None:
        """Sees what was said since the last turn. It is called only if a strategy defines it."""

    def keep(self, state: str) -> None:
        """Saves a text for the next compaction."""
        self.kept = state


def run(kind: type[Strategy], name: str | None = None) -> None:
    """Runs a strategy until its input ends. What it prints goes to standard error."""
    answers, sys.stdout = sys.stdout, sys.stderr
    follows = kind.before_turn is not Strategy.before_turn

    def say(answer: dict[str, Any]) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    parameters = [{"name": key, "default": value} for key, value in kind.parameters.items()]
    say(
        {
            "type": "hello",
            "protocol": PROTOCOL,
            "name": name or kind.__name__,
            "version": str(kind.version),
            "about": kind.about,
            "parameters": parameters,
            "turns": follows,
            "tail_share": kind.tail_share,
            "unmetered": kind.unmetered,
        }
    )
    strategy = kind()
    for line in sys.stdin:
        ask = json.loads(line)
        what = ask["type"]
        if what == "configure":
            model = Model(**ask["model"]) if ask.get("model") else None
            strategy = kind(ask["parameters"], ask["seed"], model)
            say({"type": "ready"})
        elif what == "before_turn":
            strategy.before_turn([Message(**message) for message in ask["messages"]])
            say({"type": "ok"})
        elif what == "compact":
            say(_compacted(strategy, ask))
        elif what == "bye":
            break


def _compacted(strategy: Strategy, ask: dict[str, Any]) -> dict[str, Any]:
    messages = [Message(**message) for message in ask["messages"]]
    request = Request(ask["reason"], Budget(**ask["budget"]), ask["request_tokens"], messages)
    before = strategy.kept = ask.get("kept")
    try:
        view = [_item(item) for item in strategy.compact(request)]
    except Skip:
        return {"type": "skip"}
    except Exception as error:  # noqa: BLE001 - the case fails with these words; the next goes on
        return {"type": "failed", "reason": f"{type(error).__name__}: {error}"}
    answer: dict[str, Any] = {"type": "compacted", "messages": view}
    if strategy.kept is not None and strategy.kept != before:
        answer["keep"] = strategy.kept
    return answer


def _item(item: Message | Written | str) -> dict[str, Any]:
    if isinstance(item, str):
        return {"id": item}
    if isinstance(item, Message):
        return {"id": item.id}
    if item.id and item.parts is not None:
        return {"id": item.id, "parts": item.parts}
    if item.sealed is not None:
        return {"role": item.role, "sealed": item.sealed}
    written: dict[str, Any] = {"role": item.role, "text": item.text}
    return {"id": item.id, "text": item.text} if item.id else written
