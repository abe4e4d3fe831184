"""A gate on recall as a test of pytest: `pytest --compactometer-baseline BASELINE --compactometer-run RUN`.

The test passes where `compactometer gate RUN --baseline BASELINE` ends with 0, is skipped where the
gate is inconclusive, and fails otherwise with what the gate printed.
"""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

PASSED, INCONCLUSIVE = 0, 4


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options."""
    group = parser.getgroup("compactometer", "recall after compaction")
    group.addoption(
        "--compactometer-baseline",
        metavar="FILE",
        help="add a test that compares a run with this baseline",
    )
    group.addoption(
        "--compactometer-run",
        metavar="FOLDER",
        help="the run that `compactometer run` wrote",
    )


def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Adds the test of the gate to those that were found."""
    baseline = config.getoption("--compactometer-baseline")
    run = config.getoption("--compactometer-run")
    if baseline is None and run is None:
        return
    if baseline is None or run is None:
        raise pytest.UsageError("--compactometer-baseline and --compactometer-run go together")
    items.append(Gate.from_parent(session, name="compactometer_gate", run=run, baseline=baseline))


class Gate(pytest.Item):
    """The test of a run against a baseline."""

    def __init__(self, run: str, baseline: str, **more) -> None:
        super().__init__(**more)
        self.command = [program(), "gate", run, "--baseline", baseline]

    def runtest(self) -> None:
        """Runs the gate."""
        done = subprocess.run(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        if done.returncode == INCONCLUSIVE:
            pytest.skip(f"the gate is inconclusive:\n{done.stdout}")
        if done.returncode != PASSED:
            raise GateFailed(done.stdout)

    def repr_failure(self, excinfo: pytest.ExceptionInfo, style: str | None = None) -> str:
        """What the gate printed."""
        if isinstance(excinfo.value, GateFailed):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Where the test is from, for pytest's report."""
        return self.path, None, f"compactometer gate {self.command[2]}"


class GateFailed(Exception):
    """The gate found a regression, or could not judge."""


def program() -> str:
    """The program beside this Python, or that of the path."""
    beside = shutil.which("compactometer", path=sysconfig.get_path("scripts"))
    found = beside or shutil.which("compactometer")
    if found is None:
        raise pytest.UsageError(
            "there is no program `compactometer` beside this Python: install its wheel"
        )
    return found
