"""Conversations and sessions of any size that scripts measure the program with."""

import json
import random

WORDS = "harbour ledger tide import nightly queue worker replica schema index cache throttle branch release window quota".split()


def conversation(chance, number, facts, fillers):
    """A scenario with that many facts, and as many messages after them that state none."""
    messages, listed, probes = [], [], []

    def say(role, text):
        messages.append(
            {"id": len(messages) + 1, "role": role, "parts": [{"type": "text", "text": text}]}
        )

    def some(count):
        return " and the ".join(chance.sample(WORDS, count))

    say("system", "You help with the operation of a small service. Answer in short sentences.")
    last = 1 + 2 * facts + 2 * fillers
    for at in range(facts):
        value, subject = (
            f"{chance.randrange(10**6):06d}",
            f"the {' '.join(chance.sample(WORDS, 2))} limit {at}",
        )
        say("user", f"Please note that {subject} is {value}. The {some(4)} can wait.")
        fact = {
            "id": f"f{at}",
            "category": "number_or_id",
            "subject": subject,
            "value": value,
            "value_kind": "id",
            "stated_by": "user",
        }
        fact |= {
            "evidence_message_ids": [len(messages)],
            "salience": "once",
            "polarity": "affirmed",
            "foil_values": [],
            "weight": 1.0,
        }
        listed.append(fact)
        say(
            "assistant",
            f"Noted. I looked at the {some(4)}, and nothing there has changed since the last release.",
        )
        probes.append(
            {
                "id": f"p{at}",
                "question": f"What is {subject}?",
                "fact_ids": [f"f{at}"],
                "asked_after": last,
                "gold": value,
            }
        )
    for _ in range(fillers):
        say(
            "user",
            f"Now go on with the {some(4)}. Tell me what you find there, and what it means for the {some(3)}.",
        )
        say(
            "assistant",
            f"I begin with the {some(8)}. Nothing there has changed, so I go on with the {chance.choice(WORDS)}.",
        )
    name = f"c{number:05d}"
    whole = {
        "id": name,
        "group_id": name,
        "version": 1,
        "seed": 0,
        "source": "written for a test",
        "licence": "MIT",
        "split": "dev",
    }
    return whole | {"messages": messages, "facts": listed, "probes": probes}


def write_suite(path, count, window, facts, fillers):
    chance = random.Random(7)
    with path.open("w") as out:
        header = {
            "format": "compactometer-suite",
            "version": 1,
            "name": path.stem,
            "window": window,
            "notes": [],
        }
        for line in [
            header,
            *(conversation(chance, number, facts, fillers) for number in range(count)),
        ]:
            out.write(json.dumps(line) + "\n")


def write_session(path, size, number=0, every=None):
    """A session of Claude Code of that many bytes, with results that state ids, and paths that the next calls use; a
    compaction after `every` bytes, which keeps half of the last paths."""
    chance, session = random.Random(f"7 {number}"), f"s{number:04d}"
    words = [f"{one}{other}" for one in WORDS for other in WORDS]
    rows, paths, written, due = [], ["src/main.rs"], 0, every
    begun = {"sessionId": session, "cwd": f"/home/u/p{number % 10}", "version": "2.1.47"}

    def add(kind, **fields):
        nonlocal written
        row = {"type": kind, "uuid": f"{session}-{len(rows)}"}
        row["parentUuid"] = f"{session}-{len(rows) - 1}" if rows else None
        rows.append(json.dumps(row | begun | fields))
        written += len(rows[-1])

    def say(role, content, **fields):
        add(role, message={"role": role, "content": content}, **fields)

    say("user", "Look at all files.")
    while written < size:
        at = len(rows)
        called = {"type": "tool_use", "id": f"t{at}", "name": "read"}
        say("assistant", [called | {"input": {"file_path": paths[-1]}}])
        paths.append(
            f"src/{chance.choice(words)}/{chance.choice(words)}_{chance.randrange(10**4)}.rs"
        )
        text = " ".join(chance.choices(words, k=700))
        text += f" and {paths[-1]} has {chance.randrange(16**9):09x}"
        say("user", [{"type": "tool_result", "tool_use_id": f"t{at}", "content": text}])
        if due and written >= due:
            due += every
            kept = " and ".join(paths[-40::2])
            add(
                "system",
                subtype="compact_boundary",
                compactMetadata={"trigger": "auto", "preTokens": 150_000},
            )
            say(
                "user",
                f"The agent looked at {kept}. It goes on with {paths[-1]}.",
                isCompactSummary=True,
            )
            paths.append(chance.choice(paths[-40:-20]))
    path.write_text("\n".join(rows) + "\n")
