"""What `losses` says of open requests and of speakers, computed again from a suite by docs/losses.md."""

import collections
import json
import subprocess

from .folder import BadInput, Conversation, found_program, lines_of
from .looks import Known


def check(suite, program=None):
    """Prints each difference, and returns whether there is none."""
    program = program or found_program()
    told = subprocess.run([program, "losses", suite, "--json"], capture_output=True, text=True)
    if told.returncode:
        raise BadInput(told.stderr.strip())
    told = json.loads(told.stdout)
    rows = lines_of(suite, "a scenario")
    next(rows, None)
    faults, requests, uses = [], 0, 0
    for row in rows:
        known = Known(Conversation(row), [])
        of_session = lambda key: [one for one in told[key] if one["session"] == row["id"]]
        kinds = {one["value"]: one["kind"] for one in of_session("each_use")}
        for place, one in enumerate(of_session("compactions")):
            found, least, most = open_request(known, place, kinds)
            says = one["open_request"]
            requests += says["of"]
            if not (least <= says["of"] <= most and abs(says["found"] - found) <= most - least):
                faults.append(
                    f"{row['id']}, compaction after {one['after']}: {says['found']} of {says['of']} values of the open request, computed {found} of {least} to {most}"
                )
        for one in of_session("each_use"):
            uses += 1
            speaker = said_by(row, known, one["value"])
            if speaker != one["said_by"]:
                faults.append(
                    f"{row['id']}, message {one['used_at']}: `{one['value']}` was said by {one['said_by']}, computed {speaker}"
                )
    for fault in faults:
        print(f"fault: {fault}")
    if not uses:
        raise BadInput(f"`{suite}` has no use of a value that was said before a compaction")
    shares = collections.Counter(one["said_by"] for one in told["each_use"])
    print(
        f"{'FAILED' if faults else 'ok'}: {requests} values of open requests; {uses} uses, said by "
        + ", ".join(f"{speaker} {number}" for speaker, number in sorted(shares.items()))
    )
    return not faults


def open_request(known, place, kinds):
    """Values of the request that was open at a compaction and that later calls act on before anybody says them again: how many of
    them what it left holds, and how many there are. Of some it is not known whether any project may have them, hence two numbers."""
    talk = known.conversation
    made = talk.compactions[place]
    cut = talk.length(made["after"])
    ends = [talk.length(one["after"]) for one in talk.compactions]
    ends += [talk.length(one["after"]) for one in talk.unmeasured if one.get("after")]
    end = min((one for one in ends if one > cut), default=len(talk.messages))
    pending, left = talk.pending(cut), view(talk, made)
    held = set()
    for entry in left:
        if entry[0] == "kept":
            held |= known.stated[entry[1]]
        else:
            held |= known.held(entry[2][0][1])
    found = least = most = 0
    for fact, row in enumerate(talk.facts):
        before = [at for at in known.mentions[fact] if at < cut]
        used = next(
            (talk.index[at] for at in row.get("used_at", ()) if cut <= talk.index[at] < end), None
        )
        kind = "generic" if row.get("generic") else kinds.get(row["value"])
        if used is None or not before or before[-1] not in pending or kind == "generic":
            continue
        is_said_again = any(cut <= at < used for at in known.mentions[fact])
        if is_said_again or not known.uses.is_address(used, fact):
            continue
        most += 1
        least += kind is not None
        found += fact in held or known.uses.is_named(fact, left, cut)
    return found, least, most


def view(talk, made):
    """What a compaction left, as contexts have it."""
    system = [("kept", at) for at in range(1) if talk.messages[at]["role"] == "system"]
    return system + [
        ("kept", talk.index[one["kept"]])
        if "kept" in one
        else ("written", one["written"]["role"], [("summary", one["written"]["text"])])
        for one in made["context"]
    ]


def said_by(row, known, value):
    """Who said a value first: a person only where no program wrote the message."""
    fact = next(at for at, one in enumerate(known.conversation.facts) if one["value"] == value)
    first = known.conversation.messages[known.mentions[fact][0]]
    by_program = row.get("log", {}).get("by_program", ())
    return "program" if first["id"] in by_program else first["role"]
