"""The rows by peer: the work of each side. README.md in this folder describes the same in words."""

import dataclasses
import pathlib
import re
import shutil
import subprocess

import environments
from comparing import Row, beyond_start, run, within
from environments import HERE

DRIVERS = HERE / "drivers"
# The summarizer's answer in the hook rows, as in benches/src/bin/peer_work/hook.rs.
ANSWER = "The user and the agent went on with the work; nothing is open."


@dataclasses.dataclass
class Setting:
    """Paths, and whether to use tiny sizes."""

    cache: pathlib.Path
    work: pathlib.Path
    quick: bool
    compactometer: pathlib.Path
    peer_work: pathlib.Path

    def python(self, peer):
        return environments.python(self.cache, peer)

    def file(self, name, *command):
        """A file with the output of a command."""
        path = self.work / name
        with path.open("w") as out:
            subprocess.run(list(map(str, command)), stdout=out, check=True)
        return path

    def vocabularies(self):
        return {"TIKTOKEN_CACHE_DIR": str(environments.vocabularies(self.cache))}


def langchain(at):
    """`before_model` before each message of one conversation with a growing history."""
    python = at.python("langchain")
    lengths = (40, 80) if at.quick else (1_000, 4_000)
    suite = at.file("hook.jsonl", at.peer_work, "suite", 1, max(lengths) // 2)
    quiet = {"LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false"}

    def row(messages, trigger):
        def theirs():
            command = [python, DRIVERS / "langchain_hook.py", suite, messages, trigger, ANSWER]
            return noted(within(command, environment=quiet), "theirs")

        def ours():
            return noted(within([at.peer_work, "hook", suite, messages, trigger]), "ours")

        return Row(
            "LangChain",
            f"hook before each of {messages:,} messages, trigger {trigger:,} tokens",
            theirs,
            ours,
        )

    return [row(messages, trigger) for trigger in (8_000, 128_000) for messages in lengths]


def noted(done, whose):
    return done | {"note": f"{whose}: {done['compactions']} compactions"}


def inspect(at):
    """A recorded conversation through a mock model with a log, minus the cost of one turn."""
    python, environment = at.python("inspect"), at.vocabularies()
    lengths = (2, 4, 6) if at.quick else (100, 200, 400)
    copies = 4 if at.quick else 100

    def row(turns, compact_at):
        few, many = (
            at.file(f"{turns}-{n}.jsonl", at.peer_work, "suite", n, turns) for n in (1, copies + 1)
        )

        def theirs():
            def loop(turns):
                logs = at.work / "logs"
                shutil.rmtree(logs, ignore_errors=True)
                command = [python, DRIVERS / "inspect_loop.py", few, turns, compact_at, logs]
                return run(command, environment=environment, cwd=at.work)

            return beyond_start(loop(turns), loop(1))

        def ours():
            def replay(suite):
                out = at.work / "replay"
                shutil.rmtree(out, ignore_errors=True)
                strategy = (
                    ["-s", "summarize", "--window", compact_at * 5 // 4]
                    if compact_at
                    else ["-s", "full", "--window", 200_000]
                )
                return run(
                    [
                        at.compactometer,
                        "run",
                        suite,
                        *strategy,
                        "--jobs",
                        1,
                        "--quiet",
                        "--out",
                        out,
                    ],
                    cwd=at.work,
                )

            work = beyond_start(replay(many), replay(few))
            each = work["cpu_s"] / copies
            return work | {
                "cpu_s": each,
                "note": f"{2 * turns / max(each, 1e-9):,.0f} messages a CPU second",
            }

        how = f"compacted at {compact_at:,} tokens" if compact_at else "no compaction"
        return Row(
            "inspect_ai",
            f"a conversation of {turns} turns end to end, {how}",
            theirs,
            ours,
            most_rounds=3,
        )

    return [row(turns, 0) for turns in lengths] + [row(lengths[-1], 1_200 if at.quick else 8_000)]


def compactbench(at):
    """Its suite `elite_practice`, three rounds per case, with mock models."""
    python, environment = at.python("compactbench"), at.vocabularies()
    templates = environments.templates(at.cache)
    few, many = (1, 2) if at.quick else (1, 21)

    def convert(count):
        return at.file(
            f"cb-{count}.jsonl",
            python,
            DRIVERS / "convert.py",
            "compactbench",
            templates / "elite_practice",
            count,
        )

    suites = {count: convert(count) for count in (few, many)}

    def theirs():
        def suite(count):
            out = at.work / f"cb-{count}.out"
            out.unlink(missing_ok=True)
            options = [
                "--provider",
                "mock",
                "--benchmarks-dir",
                templates,
                "--case-count",
                count,
                "--output",
                out,
            ]
            command = [
                python,
                "-m",
                "compactbench",
                "run",
                "--method",
                "built-in:hybrid-ledger",
                "--suite",
                "elite_practice",
            ]
            return run([*command, *options], environment=environment, cwd=at.work)

        return beyond_start(suite(many), suite(few))

    def ours():
        whole, small = (
            within([at.peer_work, "cases", suites[count], "hybrid-checkpoint", 3, "at-once"])
            for count in (many, few)
        )
        return beyond_start(whole, small, done_between(whole, small))

    cases = 15 * (many - few)
    return [Row("compactbench", f"{cases} cases of its suite, 3 rounds each", theirs, ours)]


def kit(at):
    """Its generated sessions with five rounds and seven of its eight compactors, and seven of our strategies."""
    python = at.python("kit")
    last = 3 if at.quick else 101

    def convert(last):
        return at.file(f"kit-{last}.jsonl", python, DRIVERS / "convert.py", "kit", 1, last)

    many, few = convert(last), convert(1)

    def theirs():
        whole, small = (run([python, DRIVERS / "kit_corpus.py", f"1-{seed}"]) for seed in (last, 1))
        return beyond_start(whole, small)

    def row(model, how):
        def ours():
            whole, small = (
                within([at.peer_work, "cases", suite, 7, 5, model]) for suite in (many, few)
            )
            return beyond_start(whole, small, done_between(whole, small))

        return Row(
            "compaction-conformance-kit",
            f"{last - 1} sessions, 7 compactors, 5 rounds each; {how}",
            theirs,
            ours,
        )

    return [row("mock", "our mock writes the summaries"), row("at-once", "a model answers at once")]


def done_between(whole, small):
    done = {key: whole[key] - small[key] for key in ("rounds", "applied", "checks", "asked")}
    return "ours: {rounds:,} rounds, {applied:,} of them applied, {checks:,} checks of facts, {asked:,} questions".format(
        **done
    )


def tiktoken(at):
    """Exact counts in chunks of 4 KB, each for the first time."""
    python, environment = at.python("tiktoken"), at.vocabularies()
    size = 1 << (14 if at.quick else 19)

    def row(kind, encoding):
        text = at.file(f"{kind}.txt", at.peer_work, "texts", kind, size)

        expected = []

        def first_pass(*command):
            done = within([*command, encoding, text], environment=environment)
            expected[:] = expected or done["tokens"]
            for number, (one, other) in enumerate(zip(expected, done["tokens"], strict=True)):
                if one != other:
                    raise environments.Failed(
                        f"chunk {number} has {one} tokens on one side and {other} on the other"
                    )
            return done

        def theirs():
            return first_pass(python, DRIVERS / "tiktoken_count.py")

        def ours():
            return first_pass(at.peer_work, "count")

        return Row(
            "Python tiktoken",
            f"exact count of {size >> 10:,} KB of {kind}, {encoding}",
            theirs,
            ours,
        )

    kinds = ("prose", "code", "json", "log", "mixed", "hard")
    return [row(kind, encoding) for encoding in ("o200k_base", "cl100k_base") for kind in kinds]


ALL = {
    "langchain": langchain,
    "inspect": inspect,
    "compactbench": compactbench,
    "kit": kit,
    "tiktoken": tiktoken,
}


def versions():
    """The peers' versions, as their requirements pin them."""
    named = {
        "langchain": ("langchain", "langchain-core"),
        "inspect": ("inspect-ai",),
        "compactbench": ("compactbench",),
        "kit": ("compaction-conformance-kit",),
        "tiktoken": ("tiktoken",),
    }
    pins = [
        re.search(
            rf"^{package}==(\S+)", (HERE / "requirements" / f"{peer}.txt").read_text(), re.MULTILINE
        )
        .group(0)
        .replace("==", " ")
        for peer, packages in named.items()
        for package in packages
    ]
    return f"Peers: {', '.join(pins)}."
