"""The prompts that programs ship as texts, and the layouts in which they ask with them.

A program is not run: its package is unpacked, and the texts between two marks are read. Marks belong
to the version that is pinned.
"""

import json
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

# For each program: its package of npm or, with two signs of equality, of PyPI; and for each text the
# end of its file's name, what is before it, its beginning, and what is after it.
PACKAGES = {
    "codex": (
        "@openai/codex@0.169.0-linux-x64",
        [("/bin/codex", "", "You are performing a CONTEXT CHECKPOINT", "(no summary available)")],
    ),
    "pi": (
        "@earendil-works/pi-coding-agent@0.74.2",
        [
            ("/compaction/utils.js", "SUMMARIZATION_SYSTEM_PROMPT = `", "", "`;"),
            ("/compaction/compaction.js", "const SUMMARIZATION_PROMPT = `", "", "`;"),
        ],
    ),
    "opencode": (
        "opencode-linux-x64@1.18.33",
        [
            ("/bin/opencode", "", "You are a context summarization agent", "`;"),
            ("/bin/opencode", ',"', "Create a new anchored summary", '",'),
            ("/bin/opencode", "sf=`", "", "`"),
        ],
    ),
    "qwen-code": (
        "@qwen-code/qwen-code@0.15.10",
        [
            ("/cli.js", "function getCompressionPrompt() {\n  return `", "", "`"),
            ("/cli.js", 'text: "', "First, reason in your scratchpad", '"'),
        ],
    ),
    "gemini-cli": (
        "@google/gemini-cli@0.61.0",
        [
            (".js", "function getCompressionPrompt2() {\n  return `", "", "`"),
            (".js", '"', "Generate a new <state_snapshot>", '"'),
        ],
    ),
    "aider": ("aider-chat==0.86.2", [("aider/prompts.py", 'summarize = """', "", '"""')]),
    "mistral-vibe": ("mistral-vibe==3.0.3", [("prompts/compact.md", "", "CRITICAL", "")]),
    "openhands": ("openhands-sdk==1.58.2", [("summarizing_system.j2", "", "You are", "")]),
}


def texts(name):
    """The texts of a program's package, in the order of its row."""
    package, marks = PACKAGES[name]
    found = [None] * len(marks)
    with tempfile.TemporaryDirectory() as folder:
        for path, content in files(package, folder, tuple(mark[0] for mark in marks)):
            for at, (end, *rest) in enumerate(marks):
                if found[at] is None and path.endswith(end):
                    found[at] = between(content, *rest)
    if not all(found):
        raise ValueError(f"{package} has not all of its texts")
    return found


def files(package, folder, ends):
    """The files of a package whose names end so, with their contents."""
    if "==" in package:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder]
        pip += ["--python-version", "3.12", "--only-binary=:all:", package]
        subprocess.run(pip, check=True, timeout=300)
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as packed:
            yield from ((one, packed.read(one)) for one in packed.namelist() if one.endswith(ends))
        return
    npm = ["npm", "pack", package, "--silent", "--pack-destination", folder]
    subprocess.run(npm, check=True, stdout=subprocess.DEVNULL, timeout=300)
    with tarfile.open(next(Path(folder).glob("*.tgz"))) as packed:
        for one in packed:
            if one.isfile() and one.name.endswith(ends):
                yield one.name, packed.extractfile(one).read()


def between(content, before, start, end):
    """The text that begins with `start` after `before`, up to `end`."""
    at = content.find((before + start).encode())
    if at < 0:
        return None
    at += len(before.encode())
    after = content.index(end.encode(), at + len(start)) if end else len(content)
    text = content[at:after].decode("utf-8", "replace")
    return text.replace("\\`", "`").replace("\\${", "${")


def request(name, said):
    """What a program asks, as chat completions."""
    found = texts(name)
    if name == "pi":
        last = f"<conversation>\n{bracketed(said)}\n</conversation>\n\n{found[1]}"
        return chat(found[0], [], last)
    if name == "opencode":
        told = f"Here is the conversation so far:\n\n<conversation>\n{bracketed(said)}\n</conversation>"
        return chat(found[0], [], "\n\n".join([told, found[1], found[2]]))
    if name == "aider":
        lines = (f"# {one['role'].upper()}\n{one['text']}\n{one.get('edits', '')}" for one in said)
        return chat(found[0], [], "\n".join(lines))
    if name == "openhands":
        events = (
            f"<EVENT id={number}>\n{one['role']}: {one['text']}\n{one.get('edits', '')}\n</EVENT>"
            for number, one in enumerate(said)
        )
        asked = [found[0], *events, "Now summarize the events using the rules above."]
        return chat("", [], "\n\n".join(asked))
    if name in ("codex", "mistral-vibe"):
        return chat("You are a coding agent.", messages(said), found[0])
    return chat(found[0], messages(said), found[1])


def chat(system, between, last):
    first = [{"role": "system", "content": system}] if system else []
    return {"model": "mock", "messages": [*first, *between, {"role": "user", "content": last}]}


def messages(said):
    made, call = [], 0
    for one in said:
        message = {"role": one["role"], "content": one["text"]}
        if one["role"] == "tool":
            message["tool_call_id"] = f"c{call}"
        if "edits" in one:
            call += 1
            arguments = json.dumps({"file_path": one["edits"], "old_string": "a"})
            function = {"name": "edit", "arguments": arguments}
            message["tool_calls"] = [{"id": f"c{call}", "type": "function", "function": function}]
        made.append(message)
    return made


def bracketed(said):
    """The conversation as pi and opencode write it."""
    lines = []
    names = {"user": "User", "assistant": "Assistant", "tool": "Tool result"}
    for one in said:
        lines.append(f"[{names[one['role']]}]: {one['text']}")
        if "edits" in one:
            lines.append(f'[Assistant tool calls]: edit(path="{one["edits"]}", old="a")')
    return "\n\n".join(lines)
