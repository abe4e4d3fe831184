"""What a run's journal of tries must have: every request that a record's answer came from."""

import collections

from .folder import lines_of


def check(run):
    """A line on what was asked, and what is wrong."""
    path = run.folder / "tries.jsonl"
    if not path.exists() or "--record" in run.manifest["command"]:
        # A model within the program has no requests, and a recording answers some of its own.
        return None, []
    sent, ended = 0, []
    for row in lines_of(path, "a request or its end"):
        sent += "sent" in row
        ended += [row["ended"][1]] if "ended" in row else []
    answered = collections.Counter(known(one) for one in ended if one["outcome"] == "answered")
    recorded = collections.Counter(known(one) for one in calls(run) if one.get("served"))
    missing = recorded - answered
    faults = [
        f"{count} answers of {tokens[0]} and {tokens[1]} tokens in the records have no request in `{path}`"
        for (_, *tokens), count in missing.items()
    ]
    lost = sum((answered - recorded).values())
    return (
        f"{sent} requests, {sum(answered.values())} answered; {lost} of the answers are in no record, and {sent - len(ended)} requests have no known end",
        faults,
    )


def known(one):
    return one.get("reply"), one["usage"]["input"], one["usage"]["output"]


def calls(run):
    for record in run.records:
        for row in record["compactions"]:
            yield from row["calls"]
        for row in record.get("answers", []):
            yield row["call"]
