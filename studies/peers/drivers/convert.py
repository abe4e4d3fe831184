"""Writes a peer's generated sessions as a suite of ours, on stdout. Runs in the peer's own environment.

    convert.py kit FIRST LAST                 seeds of compaction-conformance-kit's generated corpus
    convert.py compactbench TEMPLATES COUNT   cases of each template in that folder

A value becomes a fact where the session states it as a whole word, as our matcher asks; every item
of compactbench becomes a question. What no message states (a forbidden value that is only implied)
is left out and counted on stderr.
"""

import json
import re
import sys

left_out = 0


def scenario(name, group, source, said, values, questions=()):
    """One line of a suite. `said` has roles and texts, `values` are those that must survive, and `questions` has each with
    its answer."""
    global left_out
    messages = [
        {"id": at, "role": role, "parts": [{"type": "text", "text": text}]}
        for at, (role, text) in enumerate(said)
    ]
    facts = []
    for value in dict.fromkeys(values):
        whole = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE | re.ASCII)
        evidence = [at for at, (_, text) in enumerate(said) if whole.search(text)]
        left_out += not evidence
        if evidence:
            facts.append(fact(f"fact-{len(facts)}", value, evidence, said[evidence[0]][0]))
    probes = [
        {"id": f"probe-{at}", "fact_ids": [], "question": question, "gold": answer}
        | {"asked_after": len(said) - 1}
        for at, (question, answer) in enumerate(questions)
    ]
    return {
        "id": name,
        "group_id": group,
        "source": source,
        "messages": messages,
        "facts": facts,
        "probes": probes,
    }


def fact(name, value, evidence, speaker):
    return {
        "id": name,
        "category": "number_or_id",
        "subject": name,
        "value": value,
        "value_kind": "free",
        "evidence_message_ids": evidence,
        "stated_by": speaker,
    }


def kit(first, last):
    from compaction_kit.generated import build_generated_session

    for seed in range(int(first), int(last) + 1):
        session, canaries = build_generated_session(seed)
        said = [(turn.role, turn.text) for turn in session.turns]
        values = [token for canary in canaries for token in canary.required_tokens]
        yield scenario(
            f"kit-{seed}", f"kit-{seed}", "compaction-conformance-kit 0.8.0", said, values
        )


def compactbench(templates, count):
    from pathlib import Path

    from compactbench.dsl import DifficultyLevel, load_suite
    from compactbench.engine import derive_case_seed, generate_case
    from compactbench.runner.run import _suite_version

    folder = Path(templates)
    suite = load_suite(folder)
    version = f"{folder.name}@{_suite_version(suite)}"
    for template in suite:
        for slot in range(int(count)):
            case = generate_case(
                template, derive_case_seed(version, "default", slot), DifficultyLevel.MEDIUM
            )
            said = [(turn.role.value, turn.content) for turn in case.transcript.turns]
            expected = [
                value
                for item in case.evaluation_items
                for value in strings(item.expected.get("value"))
            ]
            questions = [(item.prompt, answer(item)) for item in case.evaluation_items]
            name = f"{template.key}-{slot}"
            yield scenario(name, template.key, "compactbench 0.1.0", said, expected, questions)


def answer(item):
    return ", ".join(strings(item.expected.get("value"))) or json.dumps(item.expected)


def strings(value):
    return (
        [value] if isinstance(value, str) else [one for one in value or [] if isinstance(one, str)]
    )


if __name__ == "__main__":
    print(json.dumps({"format": "compactometer-suite", "version": 1, "name": sys.argv[1]}))
    for line in {"kit": kit, "compactbench": compactbench}[sys.argv[1]](*sys.argv[2:]):
        print(json.dumps(line))
    print(
        f"{left_out} values were left out because no message states them as whole words",
        file=sys.stderr,
    )
