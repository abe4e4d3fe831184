"""Plants errors in copies of a small run, and requires that each is found."""

import json
import pathlib
import shutil
import subprocess
import tempfile

from .folder import BadInput, Run, found_program
from .report import Audit

STRATEGIES = "summarize,middleware-checkpoint,null,random-drop,value-list,full,oracle"


def self_test(program=None):
    program = program or found_program()
    with tempfile.TemporaryDirectory(prefix="audit-") as scratch:
        scratch = pathlib.Path(scratch)
        suite, folder = scratch / "suite.jsonl", scratch / "run"
        command([program, "generate", "smoke", "--out", suite, "--quiet"])
        command(
            [
                program,
                "run",
                suite,
                "--sample",
                "6",
                "--strategy",
                STRATEGIES,
                "--out",
                folder,
                "--quiet",
            ]
        )
        command([program, "report", folder, "--format", "json"])
        failures = []
        clean = Audit(Run(folder, [suite]))
        judge(
            failures,
            "a run as it is",
            clean.looks > 100
            and clean.share() <= 0.01
            and not clean.wrong_numbers
            and not clean.faults,
            clean,
        )
        for name, plant, finds in PLANTED:
            copy = scratch / "copy"
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(folder, copy)
            records = read(copy / "records.jsonl")
            planted = plant(copy, records)
            if records is not None:
                write(copy / "records.jsonl", records)
            try:
                found = Audit(Run(copy, [suite]), clean.known)
                judge(failures, name, finds(found, planted, clean), found)
            except BadInput as error:
                judge(failures, name, finds(error, planted, clean), error)
    print(f"{'FAILED: ' + '; '.join(failures) if failures else 'ok: every planted error is found'}")
    return 1 if failures else 0


def judge(failures, name, is_well, found):
    what = (
        str(found)
        if isinstance(found, BadInput)
        else f"{len(found.differing)} of {found.looks} looks differ, {len(found.wrong_numbers)} numbers do not follow"
    )
    print(f"{'ok' if is_well else 'MISSED':<8}{name}: {what}")
    if not is_well:
        failures.append(name)


def command(words):
    try:
        made = subprocess.run(words, capture_output=True, text=True)
    except OSError as error:
        raise BadInput(
            f"cannot run `{words[0]}`: {error.strerror}; name the program with `--program PATH`"
        ) from None
    if made.returncode not in (0, 4):
        raise BadInput(f"`{' '.join(map(str, words))}` failed: {made.stderr.strip()}")


def read(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write(path, rows):
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )


def points(records, strategy):
    """The record, the row and an eligible fact of each look of a strategy."""
    for line in records:
        record = line["record"]
        if record["case"]["strategy"] == strategy:
            for row in record["observations"]:
                if row["kind"] == "point":
                    for fact in row["eligible"]:
                        if not record["facts"][fact].get("decoy"):
                            yield record, row, fact


def place(record, row, fact):
    return (
        record["case"]["strategy"],
        record["case"]["scenario"],
        row["after"],
        record["facts"][fact]["id"],
    )


def flip_a_fate(_, records):
    record, row, fact = next(
        one for one in points(records, "summarize") if one[1]["fates"][one[2]] in "du"
    )
    row["fates"] = row["fates"][:fact] + "c" + row["fates"][fact + 1 :]
    return place(record, row, fact)


def swap_a_cause(_, records):
    record, row, fact = next(
        one for one in points(records, "summarize") if one[1]["fates"][one[2]] == "u"
    )
    row["fates"] = row["fates"][:fact] + "d" + row["fates"][fact + 1 :]
    return place(record, row, fact)


def empty_a_bound_list(_, records):
    record, row, fact = next(
        one for one in points(records, "oracle") if one[2] in one[1].get("bound", [])
    )
    del row["bound"]
    return place(record, row, fact)


def empty_all_bound_lists(_, records):
    for _, row, _ in points(records, "full"):
        row.pop("bound", None)


def claim_rivals(_, records):
    record, row, fact = next(points(records, "summarize"))
    row["misbound"] = [[fact, 3, 3]]
    return place(record, row, fact)


def claim_a_use(_, records):
    """Says of a use that its value was in sight where it was not."""
    for line in records:
        for row in line["record"]["observations"]:
            for fact, use in zip(row.get("used", []), row.get("uses", [])):
                if use["kind"] != "generic" and use["held"] == "out_of_sight":
                    use["held"] = "as_said"
                    return place(line["record"], row, fact)
    raise AssertionError("the run has no use of a value that is out of sight")


def old_uses(records):
    """The record, the row and each use of an old value of each observation."""
    for line in records:
        for row in line["record"]["observations"]:
            for use in row.get("needed", []):
                if row["kind"] != "compaction" and use["kind"] != "generic":
                    yield line["record"], row, use


def claim_an_old_use(_, records):
    record, row, use = next(one for one in old_uses(records) if one[2]["held"] == "out_of_sight")
    use["held"] = "as_said"
    return place(record, row, use["fact"])


def drop_an_old_use(_, records):
    record, row, use = next(old_uses(records))
    row["needed"].remove(use)
    return place(record, row, use["fact"])


def drop_an_eligible_fact(_, records):
    record, row, fact = next(points(records, "full"))
    row["eligible"].remove(fact)
    return place(record, row, fact)


def change_texts(folder, records):
    """Takes the digits out of everything that the oracle wrote."""
    names = {
        entry["text"]
        for line in records
        if line["record"]["case"]["strategy"] == "oracle"
        for row in line["record"]["contexts"]
        for entry in row["view"]
        if isinstance(entry, dict)
    }
    rows = read(folder / "texts.jsonl")
    for row in rows:
        if row["hash"] in names:
            row["text"] = "".join("#" if letter.isdigit() else letter for letter in row["text"])
    write(folder / "texts.jsonl", rows)


def change_requests(folder, records):
    """Empties what the summarizer was sent, so that no fact was read."""
    names = {
        call["request"]
        for line in records
        if line["record"]["case"]["strategy"] == "summarize"
        for row in line["record"]["compactions"]
        for call in row["calls"]
        if call.get("request")
    }
    rows = read(folder / "texts.jsonl")
    for row in rows:
        if row["hash"] in names:
            row["text"] = ""
    write(folder / "texts.jsonl", rows)


def widen_a_context(_, records):
    """Lets `null` keep the whole conversation."""
    for line in records:
        if line["record"]["case"]["strategy"] == "null":
            for row in line["record"]["contexts"]:
                row["view"] = [[1, row["after"]]]


def claim_another_number(folder, _):
    summary = json.loads((folder / "summary.json").read_text())
    summary["groups"][0]["strategies"][0]["metrics"]["context_recall"]["value"] += 0.01
    (folder / "summary.json").write_text(json.dumps(summary))


def drop_a_number(folder, _):
    summary = json.loads((folder / "summary.json").read_text())
    del summary["groups"][0]["strategies"][0]["metrics"]["bound_recall_corrected"]
    (folder / "summary.json").write_text(json.dumps(summary))


def change_foreign_matches(_, records):
    """Makes values of other conversations match the contexts of one strategy."""
    for record, row, _ in points(records, "summarize"):
        for cell in row["chance"]:
            cell["hits"] = cell["pairs"] // 5


def drop_a_case(_, records):
    records.remove(
        next(line for line in records if line["record"]["case"]["strategy"] == "summarize")
    )


def drop_contexts(_, records):
    for line in records:
        line["record"].pop("contexts", None)


def drop_a_text(folder, records):
    call = next(
        call
        for line in records
        for row in line["record"]["compactions"]
        for call in row["calls"]
        if call.get("request")
    )
    write(
        folder / "texts.jsonl",
        [row for row in read(folder / "texts.jsonl") if row["hash"] != call["request"]],
    )


def forget_a_request(folder, records):
    """Makes two answers those of a server, and keeps the request of one."""
    calls = [
        call for line in records for row in line["record"]["compactions"] for call in row["calls"]
    ]
    kept, lost = calls[0], calls[-1]
    kept["served"] = lost["served"] = {"model": "served"}
    lost["usage"]["input"] += 1
    ended = {"outcome": "answered", "usage": kept["usage"], "reply": kept.get("reply")}
    write(folder / "tries.jsonl", [{"sent": [0, {}]}, {"ended": [0, ended]}])


def rename_a_fact(_, records):
    records[0]["record"]["facts"][0]["id"] = "another"


def is_listed(found, planted, clean):
    added = {row[:4] for row in found.differing} - {row[:4] for row in clean.differing}
    return planted in added


def differs(found, _, __):
    return isinstance(found, Audit) and found.share() > 0.01


def is_at_fault(found, _, __):
    return isinstance(found, Audit) and bool(found.faults)


def has_a_wrong_number(found, _, __):
    return isinstance(found, Audit) and bool(found.wrong_numbers)


def is_refused(found, _, __):
    return isinstance(found, BadInput)


PLANTED = (
    ("a fate says carried where the fact is lost", flip_a_fate, is_listed),
    ("a loss says dropped_unseen where a request held the fact", swap_a_cause, is_listed),
    ("a bound list is empty", empty_a_bound_list, is_listed),
    ("every bound list of a control is empty", empty_all_bound_lists, differs),
    ("wrong subjects win that do not", claim_rivals, is_listed),
    ("a use says in sight where the value is out of sight", claim_a_use, is_listed),
    ("an old value is held that is not", claim_an_old_use, is_listed),
    ("the use of an old value is left out", drop_an_old_use, is_listed),
    ("an eligible fact is left out", drop_an_eligible_fact, is_listed),
    ("the texts of a control are changed", change_texts, differs),
    ("the requests of a strategy are changed", change_requests, differs),
    ("a control kept what it says it dropped", widen_a_context, differs),
    ("summary.json has another number", claim_another_number, has_a_wrong_number),
    ("summary.json lacks a number", drop_a_number, has_a_wrong_number),
    ("foreign matches of one strategy are changed", change_foreign_matches, is_at_fault),
    ("a case is missing", drop_a_case, is_at_fault),
    ("an answer has no request in the journal", forget_a_request, is_at_fault),
    ("contexts are missing", drop_contexts, is_refused),
    ("a text is missing", drop_a_text, is_refused),
    ("the suite has other facts", rename_a_fact, is_refused),
)
