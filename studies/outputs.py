"""Where a study writes: into a new folder, or with --update into the committed one."""

import datetime
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def add_arguments(parser, committed):
    where = parser.add_mutually_exclusive_group()
    where.add_argument(
        "--update", action="store_true", help=f"write {committed}, which is committed"
    )
    where.add_argument(
        "--check", action="store_true", help=f"change nothing, and fail if {committed} differs"
    )
    where.add_argument(
        "--out", type=pathlib.Path, help="a new folder (default: a dated one in reports)"
    )


def destination(arguments, committed):
    """The folder to write. Ends the program before any work if that would overwrite something."""
    if arguments.update:
        return ROOT / committed
    folder = arguments.out or dated(pathlib.Path(committed).name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        sys.exit(f"error: `{folder}` exists already; name a new folder with --out")
    return folder


def dated(name):
    first = ROOT / "reports" / f"{name}-{datetime.date.today()}"
    others = (first.with_name(f"{first.name}-{number}") for number in range(2, 1000))
    return next(folder for folder in (first, *others) if not folder.exists())


def write(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    print(f"wrote {folder}")


def check(committed, files, command):
    """Ends the program if the committed folder does not hold these files."""
    folder = ROOT / committed
    different = [
        name
        for name, text in files.items()
        if not (folder / name).exists() or (folder / name).read_text() != text
    ]
    if different:
        sys.exit(
            f"error: {', '.join(different)} in {committed} would change; `{command}` writes what is new"
        )
    print(f"{committed} holds what it should")
