"""Draws the pictures of studies: named rows of dots with their 95 % intervals, over shares.

`draw` gives an SVG, by matplotlib in an environment of its own, so that a study itself needs nothing
from PyPI.
"""

import io
import json
import pathlib
import subprocess
import sys
from dataclasses import asdict, dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = "matplotlib==3.10.7"
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#444444"


@dataclass
class Dot:
    """A share with its interval, if it has one; `offset` is in rows from the middle of its row."""

    share: float
    colour: str
    interval: list | None = None
    offset: float = 0
    text: str = ""
    # In points; larger where more is behind a dot that shares its row with others.
    radius: float = 3
    opacity: float = 1


@dataclass
class Picture:
    heading: str
    axis: str
    # Pairs of a name and its colour.
    legend: list
    # The dots of each row by its name, from the top.
    rows: dict[str, list[Dot]]
    # The labels of the axis by their place, from its one end to the other.
    ticks: dict = field(
        default_factory=lambda: {step / 100: f"{step} %" for step in range(0, 101, 20)}
    )
    # In inches.
    row_height: float = 0.5


def draw(picture):
    install = [ROOT / "scripts" / "venv", "matplotlib", PACKAGE]
    python = subprocess.check_output(install, text=True).strip()
    done = subprocess.run(
        [python, __file__], input=json.dumps(asdict(picture)), text=True, capture_output=True
    )
    if done.returncode:
        sys.exit(done.stderr.rstrip())
    return done.stdout


def svg(picture):
    import matplotlib

    matplotlib.use("svg")
    # Text stays text, and the same numbers give the same bytes.
    matplotlib.rcParams |= {"svg.fonttype": "none", "svg.hashsalt": "", "font.size": 9}
    from matplotlib import pyplot

    rows = picture["rows"]
    height = picture["row_height"] * len(rows) + 1.2
    figure, axes = pyplot.subplots(figsize=(8, height), layout="constrained")
    for row, dots in enumerate(rows.values()):
        for dot in dots:
            place(axes, row, dot)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    at = [float(place) for place in picture["ticks"]]
    axes.set_xlim(min(at), max(at))
    axes.set_xticks(at, picture["ticks"].values())
    axes.set_xlabel(picture["axis"])
    axes.grid(axis="x", color="#dddddd")
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    if min(at) < 0:
        axes.axvline(0, color="#666666", linewidth=1, zorder=1)
    figure.suptitle(picture["heading"], x=0.01, ha="left", weight="bold")
    marks = [
        pyplot.Line2D([], [], color=colour, marker="o", linestyle="", label=name)
        for name, colour in picture["legend"]
    ]
    axes.legend(
        handles=marks, loc="lower left", bbox_to_anchor=(0, 1), ncols=len(marks), frameon=False
    )
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Title": picture["heading"]})
    return out.getvalue()


def place(axes, row, dot):
    y, colour = row + dot["offset"], dot["colour"]
    low, high = dot["interval"] or [dot["share"]] * 2
    axes.plot([low, high], [y, y], color=colour, linewidth=1.5, solid_capstyle="butt")
    axes.plot(
        dot["share"],
        y,
        marker="o",
        markersize=2 * dot["radius"],
        color=colour,
        alpha=dot["opacity"],
        clip_on=False,
    )
    axes.annotate(
        dot["text"], (high, y), (6, 0), textcoords="offset points", va="center", color=colour
    )


if __name__ == "__main__":
    sys.stdout.write(svg(json.load(sys.stdin)))
