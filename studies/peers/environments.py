"""What a comparison needs: each peer in an environment of its own, templates, vocabularies, our programs.

All of it stands in a cache folder and is made once. Peers come from PyPI alone, every file checked
against a hash.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import venv

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
UNREACHABLE = re.compile(
    "Connection|Temporary failure|Name or service not known|Max retries|timed out|unreachable|No matching distribution",
    re.IGNORECASE,
)


class Failed(Exception):
    """A peer cannot be run; the text says why."""


class Unreachable(Exception):
    """The package index does not answer."""


def python(cache, peer):
    """The interpreter of a peer's environment, which is installed if it is missing or its requirements have changed."""
    requirements = HERE / "requirements" / f"{peer}.txt"
    home = cache / peer
    stamp, wanted = home / "installed", hashlib.sha256(requirements.read_bytes()).hexdigest()
    interpreter = home / "bin" / "python"
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"installing {peer}", file=sys.stderr)
        venv.create(home, clear=True, with_pip=True)
        pip(interpreter, "install", "--require-hashes", "-r", requirements)
        stamp.write_text(wanted)
    return interpreter


def pip(interpreter, *arguments):
    command = [
        interpreter,
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
        *arguments,
    ]
    done = subprocess.run(
        command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=420
    )
    if done.returncode:
        last = done.stdout.strip().splitlines()[-1:] or ["pip said nothing"]
        raise (Unreachable if UNREACHABLE.search(done.stdout) else Failed)(last[0])


def templates(cache):
    """The templates of compactbench, which only its source archive contains."""
    folder = cache / "compactbench-source"
    found = folder / "compactbench-0.1.0" / "benchmarks" / "public"
    if not found.exists():
        requirements = HERE / "requirements" / "compactbench-source.txt"
        options = ["--no-deps", "--no-binary", ":all:", "--require-hashes", "-r", requirements]
        pip(python(cache, "compactbench"), "download", *options, "-d", folder)
        [archive] = folder.glob("*.tar.gz")
        with tarfile.open(archive) as source:
            source.extractall(folder, filter="data")
    return found


def vocabularies(cache):
    """tiktoken's own cache, filled from a crate with the same files, so that its first count fetches nothing."""
    folder = cache / "vocabularies"
    folder.mkdir(parents=True, exist_ok=True)
    host = re.search(r"host: (\S+)", subprocess.check_output(["rustc", "-vV"], text=True))[1]
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", host]
    metadata = subprocess.check_output(command, cwd=ROOT)
    [crate] = [
        package for package in json.loads(metadata)["packages"] if package["name"] == "tiktoken-rs"
    ]
    for name in ("cl100k_base", "o200k_base"):
        # tiktoken names a cached file by the hash of its address, and checks the content.
        address = f"https://openaipublic.blob.core.windows.net/encodings/{name}.tiktoken"
        source = pathlib.Path(crate["manifest_path"]).parent / "assets" / f"{name}.tiktoken"
        shutil.copyfile(source, folder / hashlib.sha1(address.encode()).hexdigest())
    return folder


def programs():
    """Our two programs: the one that users run, and the one that does the work of the peers."""
    subprocess.run(
        ["cargo", "build", "--release", "--quiet", "--workspace", "--bins"], cwd=ROOT, check=True
    )
    folder = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"
    return (folder / "compactometer").resolve(), (folder / "peer-work").resolve()
