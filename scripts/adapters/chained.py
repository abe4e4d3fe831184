"""The built-in strategy `chained` as a program, with the same prompt, the same requests and the same views.

It shows what a whole strategy takes, and `scripts/check-own-strategy` holds that both have the same
numbers. It reads its material in one piece, and takes any answer for a summary, as `chained` does
where a window holds the request and a model keeps to its prompt.
"""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "python"))

from compactometer import strategy

SYSTEM, PROMPT = (
    (ROOT / "crates/engine/src/strategies/chained/prompt.md").read_text().split("{user}")
)
MESSAGE_LIMIT, RESULT_LIMIT, CUT = 2_000, 500, "\n[...truncated...]"


class Chained(strategy.Strategy):
    version = "1"
    about = "the built-in `chained` as a program"
    parameters = {"asked": 800, "written": 1_000}
    # Ten messages of 232 tokens beside 1,000 tokens of a summary.
    tail_share = 2_320 / 3_320

    def compact(self, request):
        kept = tail(request)
        stays = {message.id for message in [*kept, *request.fixed]}
        leaving = [
            message
            for message in request.messages
            if message.role != "system" and message.id not in stays
        ]
        # What an earlier compaction wrote is not among the messages: it is merged as the previous
        # summary.
        leaving = [message for message in leaving if is_said(message)]
        if not leaving:
            raise strategy.Skip()
        state = (
            json.loads(self.kept)
            if self.kept
            else {"task": task(request.messages), "previous": None, "round": 0}
        )
        values = {
            "previous": neutral(state["previous"])
            if state["previous"]
            else "None: this is the first round.",
            "task": neutral(cut(state["task"], MESSAGE_LIMIT)),
            "round": str(state["round"] + 1),
            "tokens": str(self.asked(request.budget)),
            "messages": rendered(leaving),
        }
        prompt = PROMPT.lstrip()
        pieces = prompt.split("{")
        prompt = pieces[0] + "".join(filled(piece, values) for piece in pieces[1:])
        summary = self.model.complete(
            prompt, request.budget.written, SYSTEM.strip(), temperature=0.3
        ).strip()
        self.keep(json.dumps({**state, "previous": summary, "round": state["round"] + 1}))
        turn = strategy.Written(f"Summary of the conversation so far:\n\n{summary}")
        rest = [
            message
            for message in request.messages
            if message.role != "system" and message.id in stays
        ]
        return [*[message for message in request.messages if message.role == "system"], turn, *rest]

    def asked(self, budget):
        """The source asks for fewer tokens than it allows."""
        return int(budget.written * (self.settings["asked"] / self.settings["written"]))


def is_said(message):
    return message.id.startswith("m")


def tail(request):
    """The newest messages that fit, with calls and results whole. Fixed messages cost nothing."""
    said, room, kept = list(request.messages), request.budget.tail, []
    while said:
        group = [said.pop()]
        while group[0].role == "tool" and said:
            group.insert(0, said.pop())
        follows = not kept or number(group[-1]) + 1 == number(kept[0])
        cost = sum(message.tokens for message in group if not message.fixed)
        if group[0].role == "system" or not all(map(is_said, group)) or not follows or cost > room:
            break
        room -= cost
        kept = [*group, *kept]
    return kept


def number(message):
    return int(message.id[1:]) if is_said(message) else -1


def task(messages):
    texts = (
        part["text"]
        for message in messages
        if message.role == "user"
        for part in message.parts
        if part["type"] == "text"
    )
    return next((text for text in texts if text.strip()), "Unknown task")


def rendered(messages):
    blocks = ((place, message.role, block(message)) for place, message in enumerate(messages, 1))
    return neutral(
        "\n\n".join(f"[{place}] {role}:\n{text}" for place, role, text in blocks if text).rstrip()
    )


def block(message):
    return cut(
        "\n".join(shown(part) for part in message.parts if part["type"] != "thinking"),
        MESSAGE_LIMIT,
    )


def shown(part):
    if part["type"] == "tool_call":
        return f"(calls {part['name']}) {part['arguments']}"
    if part["type"] == "tool_result":
        return ("(error) " if part.get("is_error") else "(result) ") + cut(
            part["text"], RESULT_LIMIT
        )
    return part["text"] if part["type"] == "text" else f"({part['media_type']})"


def cut(text, most):
    return text if len(text) <= most else text[:most] + CUT


def neutral(text):
    return text.replace("</", "<\\/")


def filled(piece, values):
    """What follows a `{`: the value of a placeholder, or the text as it is."""
    name, closed, rest = piece.partition("}")
    return values[name] + rest if closed and name in values else "{" + piece


strategy.run(Chained, "chained")
