"""One row of the comparison: a peer and Compactometer do the same work in turn, several times. Medians with their range."""

import json
import os
import statistics
import subprocess
import sys

from environments import HERE, Failed


class Row:
    """`theirs` and `ours` each do the work once and give {"cpu_s", "peak_mb", "note"}."""

    def __init__(self, peer, work, theirs, ours, most_rounds=99):
        self.peer, self.work, self.theirs, self.ours, self.most_rounds = (
            peer,
            work,
            theirs,
            ours,
            most_rounds,
        )

    def measured(self, rounds):
        """The row as Markdown after the given number of rounds. If a peer fails, its row says why."""
        try:
            pairs = [(self.theirs(), self.ours()) for _ in range(min(rounds, self.most_rounds))]
        except Failed as reason:
            return f"| {self.peer}: {self.work} | failed: {str(reason).strip()} | | | | |"
        if any(side["cpu_s"] <= 0 for pair in pairs for side in pair):
            return f"| {self.peer}: {self.work} | it runs; too short to tell from its start-up | | | | |"
        ratios = [theirs["cpu_s"] / ours["cpu_s"] for theirs, ours in pairs]
        shown = [seconds([one["cpu_s"] for one in side]) for side in zip(*pairs)]
        peaks = [memory([one["peak_mb"] for one in side]) for side in zip(*pairs)]
        notes = "; ".join(filter(None, (pairs[-1][0].get("note"), pairs[-1][1].get("note"))))
        ratio = (
            f"{figure(statistics.median(ratios))} ({figure(min(ratios))} to {figure(max(ratios))})"
        )
        work = f"{self.work} ({notes})" if notes else self.work
        return f"| {self.peer}: {work} | {shown[0]} | {shown[1]} | **{ratio}** | {peaks[0]} | {peaks[1]} |"


HEAD = "| work | peer, CPU s | Compactometer, CPU s | times (range) | peer, MB | Compactometer, MB |\n|---|---|---|---|---|---|"


def run(command, environment=None, cwd=None, limit=300):
    """Runs a command under measure.py. Returns {"cpu_s", "peak_mb"}, and its output as "said"."""
    measured = [sys.executable, "-S", "-E", str(HERE / "measure.py"), *map(str, command)]
    try:
        done = subprocess.run(
            measured,
            capture_output=True,
            text=True,
            env=os.environ | (environment or {}),
            cwd=cwd,
            timeout=limit,
        )
    except subprocess.TimeoutExpired as late:
        raise Failed(f"no end in {late.timeout} s") from late
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise Failed(last[:200].replace("|", "/"))
    return json.loads(done.stdout) | {"said": done.stderr}


def within(command, **options):
    """Measures a program whose last line of output is JSON. A "cpu_s" there is that of the measured part."""
    outer = run(command, **options)
    return outer | json.loads(outer["said"].strip().splitlines()[-1])


def beyond_start(whole, small, note=""):
    """The cost of the work: a run minus the same run with almost nothing to do."""
    return {"cpu_s": whole["cpu_s"] - small["cpu_s"], "peak_mb": whole["peak_mb"], "note": note}


def figure(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def seconds(values):
    middle = statistics.median(values)
    return f"{middle:.3g}" if middle >= 0.001 else f"{middle:.2e}"


def memory(values):
    middle = statistics.median(values)
    return f"{middle:.0f}" if middle >= 10 else "under 10"
