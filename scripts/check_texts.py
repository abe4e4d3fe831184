"""Fails if a summary or checkpoint of a run holds a piece of JSON outside the form that its prompt asks for."""

import json
import pathlib
import re
import sys

# An opened object or list, a key with its value, an escaped quotation mark.
PIECE = re.compile(r'[{\[]\s*"|"\s*:\s*["{\[\d]|\\"|"\s*[}\]]')


def strings(value):
    if isinstance(value, dict):
        return [text for one in value.values() for text in strings(one)]
    if isinstance(value, list):
        return [text for one in value for text in strings(one)]
    return [str(value)]


def prose(reply):
    """What a reply says, without the frame of a JSON object at its end."""
    for start in (at for at, letter in enumerate(reply) if letter == "{"):
        try:
            return [reply[:start], *strings(json.loads(reply[start:]))]
        except ValueError:
            continue
    return [reply]


folder = pathlib.Path(sys.argv[1])
texts = {}
for line in (folder / "texts.jsonl").read_text().split("\n"):
    if line:
        text = json.loads(line)
        texts[text["hash"]] = text["text"]
replies = set()
for line in (folder / "records.jsonl").read_text().split("\n"):
    record = json.loads(line).get("record") if line else None
    for made in record["compactions"] + record.get("checkpoints", []) if record else []:
        replies.update(call["reply"] for call in made.get("calls", []) if call.get("reply"))
found = [
    (said[max(0, match.start() - 60) : match.end() + 60])
    for reply in sorted(replies)
    for said in prose(texts[reply])
    if (match := PIECE.search(said))
]
for piece in found[:5]:
    print(f"error: a piece of JSON in a summary or checkpoint: {piece!r}", file=sys.stderr)
if not replies:
    sys.exit(f"error: no reply in {folder}")
print(f"{folder}: {len(replies)} summaries and checkpoints, {len(found)} with a piece of JSON")
sys.exit(bool(found))
