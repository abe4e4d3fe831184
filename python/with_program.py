"""Puts the program into the wheel, with its completions and manual, and names the platform that it runs on.

`COMPACTOMETER_PROGRAM` names the program; otherwise it is the release build of this checkout.
"""

import os
import pathlib
import platform
import re
import subprocess
import sysconfig
import tempfile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPLETIONS = {
    "bash": "share/bash-completion/completions/compactometer",
    "zsh": "share/zsh/site-functions/_compactometer",
    "fish": "share/fish/vendor_completions.d/compactometer.fish",
}


class WithProgram(BuildHookInterface):
    """The hook, of which hatchling takes the first subclass in the file."""

    def initialize(self, version, build_data):
        """Adds to what the wheel holds. An editable installation has the Python package only."""
        if version == "editable":
            return
        program = self._program()
        self._texts = tempfile.TemporaryDirectory()
        folder = pathlib.Path(self._texts.name)
        shared = {}
        for shell, place in COMPLETIONS.items():
            shared[self._printed(program, folder / shell, "completions", shell)] = place
        subprocess.run([program, "completions", "--man", folder / "man"], check=True)
        for page in (folder / "man").iterdir():
            shared[str(page)] = f"share/man/man1/{page.name}"
        build_data["shared_scripts"][str(program)] = program.name
        build_data["shared_data"].update(shared)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag(program.read_bytes())}"

    def finalize(self, version, build_data, artifact_path):
        """Removes what was printed for the wheel."""
        if version != "editable":
            self._texts.cleanup()

    def _program(self):
        named = os.environ.get("COMPACTOMETER_PROGRAM")
        target = os.environ.get("CARGO_TARGET_DIR", os.path.join(self.root, "..", "target"))
        suffix = ".exe" if os.name == "nt" else ""
        program = pathlib.Path(named or os.path.join(target, "release", f"compactometer{suffix}"))
        if not program.is_file():
            raise FileNotFoundError(
                f"there is no program {program}: build it with `cargo build --release --bin compactometer`,"
                " or name it in COMPACTOMETER_PROGRAM"
            )
        return program

    @staticmethod
    def _printed(program, path, *arguments):
        path.write_bytes(subprocess.check_output([program, *arguments]))
        return str(path)


def tag(program):
    """The platform of a program, by its bytes where the C library decides."""
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower())
    machine = machine or platform.machine().lower()
    if platform.system() != "Linux":
        return re.sub(r"[-.]", "_", sysconfig.get_platform())
    needed = [int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", program)]
    if needed:
        # 2.17 is the oldest that has a name of this form.
        return f"manylinux_2_{max(17, *needed)}_{machine}"
    return f"musllinux_1_2_{machine}"
