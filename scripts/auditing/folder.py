"""What a run's folder holds: cases, contexts rebuilt from their bytes, and what they depend on in the suite."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
REFERENCE = re.compile("⟦(?:(⟦)|([^⟦⟧]*)⟧)")


class BadInput(Exception):
    """What is wrong with the folder, for the user."""


def lines_of(path, what):
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield json.loads(line)
                except ValueError:
                    # A run that was stopped may leave a torn last line.
                    if line.endswith("\n"):
                        raise BadInput(f"`{path}` line {number}: expected {what} as JSON") from None
    except OSError as error:
        raise BadInput(
            f"cannot read `{path}`: {error.strerror}; expected the folder that `--out` of a run names"
        ) from None


def one_of(path, what):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read {what} `{path}`: {error}") from None


class Run:
    def __init__(self, folder, suite=None, program=None):
        self.folder = pathlib.Path(folder)
        self.manifest = one_of(self.folder / "manifest.json", "the manifest")
        self.records = [
            line["record"]
            for line in lines_of(self.folder / "records.jsonl", "a record")
            if "record" in line
        ]
        if not self.records:
            raise BadInput(f"`{folder}` holds no case")
        self.texts = {
            row["hash"]: row["text"] for row in lines_of(self.folder / "texts.jsonl", "a text")
        }
        for record in self.records:
            applied = sum(row["outcome"]["outcome"] == "applied" for row in record["compactions"])
            if applied and not record.get("contexts"):
                raise BadInput(
                    f"`{folder}` is from before contexts were kept; run `{' '.join(self.manifest['command'])}` again with a new `--out`"
                )
        self.conversations = {}
        for path in suites(self.manifest, suite, program):
            rows = lines_of(path, "a scenario")
            if next(rows, {}).get("format") != "compactometer-suite":
                raise BadInput(
                    f'`{path}` is no suite: expected a header line with `"format":"compactometer-suite"`'
                )
            self.conversations.update({row["id"]: Conversation(row) for row in rows})
        for record in self.records:
            self.check(record)
        self.summary = (
            one_of(self.folder / "summary.json", "the summary")
            if (self.folder / "summary.json").exists()
            else None
        )

    def check(self, record):
        """Refuses a suite that is not the one that was run."""
        case = record["case"]
        for name in [case["scenario"], *case.get("foreign", [])]:
            if name not in self.conversations:
                raise BadInput(
                    f"the suite holds no scenario `{name}`; give the suite that was run with `--suite FILE`"
                )
        facts = self.conversations[case["scenario"]].facts
        told = [
            (row["id"], row["value_kind"], row["category"], row["weight"], row.get("mentions", []))
            for row in record["facts"]
        ]
        real = [
            (
                fact["id"],
                fact["value_kind"],
                fact["category"],
                fact.get("weight", 1.0),
                sorted(set(fact["evidence_message_ids"])),
            )
            for fact in facts
        ]
        if told != real:
            raise BadInput(
                f"scenario `{case['scenario']}` of the suite has other facts than the run; give the suite that was run with `--suite FILE`"
            )

    def expanded(self, name, conversation):
        """A text in which references stand for parts of messages and for other texts."""
        if name not in self.texts:
            raise BadInput(f"`{self.folder / 'texts.jsonl'}` holds no text `{name}`")

        def put(found):
            if found[1]:
                return "⟦"
            if "." not in found[2]:
                return self.texts.get(found[2], "")
            message, part = found[2].split(".")
            return (
                part_text(
                    conversation.messages[conversation.index[int(message)]]["parts"][int(part)]
                )
                or ""
            )

        return REFERENCE.sub(put, self.texts[name])


def part_text(part):
    return part.get("arguments") if part["type"] == "tool_call" else part.get("text")


class Conversation:
    def __init__(self, row):
        self.id, self.group, self.messages, self.facts = (
            row["id"],
            row["group_id"],
            row["messages"],
            row.get("facts", []),
        )
        self.probes, self.projects = (
            row.get("probes", []),
            set(row.get("projects") or [row["group_id"]]),
        )
        self.compactions, self.unmeasured = row.get("compactions", []), row.get("unmeasured", [])
        self.directories = row.get("directories", [])
        self.index = {message["id"]: at for at, message in enumerate(self.messages)}
        self.texts = [
            [text for text in map(part_text, message["parts"]) if text] for message in self.messages
        ]

    def length(self, after):
        """How many messages the log has after that one."""
        return self.index[after] + 1

    def last_compaction(self, length):
        """The length of the log at the last recorded compaction, if what it left is known at that length."""
        cuts = [(self.length(one["after"]), True) for one in self.compactions] + [
            (self.length(one["after"]), False) for one in self.unmeasured if one.get("after")
        ]
        # Of two compactions at one place, the last is measured.
        last = max((cut for cut in cuts if cut[0] <= length), default=None)
        return last[0] if last and last[1] else None

    def batch(self, length):
        """The place of the last batch of calls, where the log ends in one, else its end."""
        callers = [at for at in range(length) if self.messages[at]["role"] != "tool"]
        has_calls = callers and any(
            part["type"] == "tool_call" for part in self.messages[callers[-1]]["parts"]
        )
        return callers[-1] if has_calls else length

    def pending(self, length):
        """The last message of the user, and the last batch of calls with its results where the log ends in one, as places in the log."""
        users = [at for at in range(length) if self.messages[at]["role"] == "user"]
        return {*users[-1:], *range(self.batch(length), length)}

    def kept(self, cut):
        """The messages that the recorded compaction at that length kept, as places in the log."""
        made = [one for one in self.compactions if self.length(one["after"]) == cut]
        return {self.index[left["kept"]] for left in made[-1]["context"] if "kept" in left}

    def kept_batch(self, cut):
        """The place of the last batch of calls, where the recorded compaction at that length kept all of it, else its end."""
        return self.batch(cut) if set(range(self.batch(cut), cut)) <= self.kept(cut) else cut

    def kept_pending(self, cut):
        """What the recorded compaction at that length kept of the pending part."""
        users = [at for at in range(cut) if self.messages[at]["role"] == "user"]
        return {*(set(users[-1:]) & self.kept(cut)), *range(self.kept_batch(cut), cut)}


def suites(manifest, given, program):
    """The files of the suite that was run: as given, as the run's command names them, or as the program generates them."""
    if given:
        return given
    words = [word for word in manifest["command"][1:] if not word.startswith("-")]
    files = [word for word in words if word.endswith(".jsonl") and pathlib.Path(word).exists()]
    if files:
        return files
    missing = [word for word in words if word.endswith(".jsonl")]
    if missing:
        raise BadInput(f"the run's suite `{missing[0]}` is not here; give it with `--suite FILE`")
    specs = [word for word in words if word.endswith(".toml")] or [manifest["suite"]]
    return [generated(spec, program or found_program()) for spec in specs]


def found_program():
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [
        path for kind in ("release", "debug") if (path := target / kind / "compactometer").exists()
    ]
    program = built[0] if built else shutil.which("compactometer")
    if not program:
        raise BadInput(
            "no `compactometer` to generate the suite with; name it with `--program PATH`, or give the suite with `--suite FILE`"
        )
    return program


def generated(spec, program):
    path = pathlib.Path(tempfile.mkdtemp(prefix="audit-")) / "suite.jsonl"
    try:
        made = subprocess.run(
            [program, "generate", spec, "--out", path, "--quiet"], capture_output=True, text=True
        )
    except OSError as error:
        raise BadInput(
            f"cannot run `{program}`: {error.strerror}; name the program with `--program PATH`"
        ) from None
    if made.returncode != 0:
        raise BadInput(
            f"`{program} generate {spec}` failed: {made.stderr.strip()}; give the suite with `--suite FILE`"
        )
    return path
