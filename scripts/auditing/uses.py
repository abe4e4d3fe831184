"""Uses of exact values by calls: what kind each is, and whether what the last compaction left holds its value, by docs/losses.md: "Uses".

What a program puts back without a record of it is not computed, since that takes a tokenizer."""

import itertools
import json
import re

from .matching import Value, normal

ADDRESSES = set(
    "absolutepath bashid branch cellid cmd command commands cwd destination dir dirpath directory domain environment file fileid filename filepath "
    "filepaths files glob host id ids include key link node notebookpath oldpath oldstr oldstring oldtext path paths pattern pid port processid "
    "project query ref regex repo repository resource script selector server sessionid shellid skill source sql symbol table target targetfile "
    "taskid uri url urls workdir".split()
)
AUTHORED = set(
    "activeform answer body chars code comment content contents description explanation feedback filetext header insert inserttext instructions "
    "label message messages newcontent newsource newstr newstring newtext note notes plan prompt question questions reason replacement step subject "
    "summary text thought thoughts title todo todos".split()
)
MOST_DIRECTORIES = 20
HASH = re.compile(r"(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,64}")
WORD = re.compile(r"[^\W_]+")
HOME = re.compile(r"^(/root|([A-Za-z]:)?(/home/|/Users/|\\Users\\)[^/\\]+)(?=[/\\]|$)")
DRIVE = re.compile(r"^([A-Za-z]):(?=[/\\])")
BRACED = re.compile(
    r"([^\s\"'`(),;\[\]{}]*/[^\s\"'`(),;\[\]{}]*)\{([^{}]+,[^{}]*)\}([^\s\"'`(),;\[\]{}]*)"
)
DRAWN = re.compile(r"^([\s│|]*)(?:[├└]─ |[├└]── |[|`]-- )\s*(\S+)")
NAME = re.compile(r"[^\s/{\"'=]+")


def leaves(name, value):
    if isinstance(value, bool) or value is None:
        return
    if isinstance(value, (int, float)):
        yield name, str(value)
    elif isinstance(value, str):
        yield name, value
    elif isinstance(value, list):
        for item in value:
            yield from leaves(name, item)
    else:
        for key, item in value.items():
            yield from leaves(key, item)


def purposes(name, text):
    """The pieces of an argument, each with whether it is an address."""
    if text.lstrip().startswith("*** Begin Patch"):
        lines = text.splitlines()
        yield "\n".join(line for line in lines if not line.startswith("+")), True
        yield "\n".join(line for line in lines if line.startswith("+")), False
        return
    plain = "".join(letter for letter in name if letter.isascii() and letter.isalnum()).lower()
    if plain in AUTHORED:
        yield text, False
    else:
        is_short = len(text) <= 300 and len(text.split()) < 12
        yield text, plain in ADDRESSES or plain.endswith(("id", "path", "url")) or is_short


class Uses:
    """How the calls of a conversation use its facts. `generic` says of a fact whether any project may have its value: the run's word is
    taken for that, since a list of names is nothing to compute again."""

    def __init__(self, known):
        self.known, self.of = known, {}
        conversation = known.conversation
        self.names = {
            fact: [
                Value({**row, "value": name, "variants": []})
                for name in other_names(row["value"], conversation.directories[:MOST_DIRECTORIES])
            ]
            for fact, row in enumerate(conversation.facts)
            if row["value_kind"] == "path" and row.get("used_at") and "://" not in row["value"]
        }
        self.hashes = {
            fact: row["value"]
            for fact, row in enumerate(conversation.facts)
            if row["value_kind"] != "path" and row.get("used_at") and HASH.fullmatch(row["value"])
        }

    def is_address(self, at, fact):
        """Whether the message uses the fact as an address: not if any argument that the agent writes holds it."""
        key = at, fact
        if key not in self.of:
            found = []
            value, plain = self.known.values[fact], self.known.conversation.facts[fact]["value"]
            for part in self.known.conversation.messages[at]["parts"]:
                if part["type"] != "tool_call":
                    continue
                for name, text in leaves("", json.loads(part["arguments"])):
                    found += [
                        is_address
                        for piece, is_address in purposes(name, text)
                        if plain in piece or value.held(normal(piece, True))
                    ]
            self.of[key] = all(found)
        return self.of[key]

    def is_named(self, fact, view, compacted_at):
        """Whether a view names the fact's file otherwise, in what it wrote or kept of the messages before the compaction."""
        names, hash_ = self.names.get(fact, ()), self.hashes.get(fact)
        for entry in view if names or hash_ else ():
            if entry[0] == "kept" and entry[1] >= compacted_at:
                continue
            texts = (
                self.known.conversation.texts[entry[1]]
                if entry[0] == "kept"
                else [text for _, text in entry[2]]
            )
            for text in texts:
                form = normal("\n".join([text, *listed(text)]), True) if names else ""
                if any(name.held(form) for name in names):
                    return True
                if hash_ and any(is_other_length(hash_, word) for word in WORD.findall(text)):
                    return True
        return False


def is_other_length(value, word):
    """Whether a word is a hash that begins another, or that another begins."""
    return (
        word != value
        and HASH.fullmatch(word) is not None
        and (word.startswith(value) or value.startswith(word))
    )


def listed(text):
    """The paths that a text spells out: a line of a folder's names, names in braces, a drawn tree, and a URL of a file."""
    for line in text.splitlines():
        folder, _, names = line.partition(": ")
        folder = re.sub(r"^\s*([-*] )?", "", folder).strip("` ")
        if folder.endswith("/") and not re.search(r"\s", folder):
            names = [name.strip().strip("`") for name in names.split(",")]
            yield from (folder + name for name in itertools.takewhile(NAME.fullmatch, names))
        for folder, names, ending in BRACED.findall(line):
            names = [name.strip() for name in names.split(",")]
            if all(map(NAME.fullmatch, names)):
                yield from (folder + name + ending.rstrip(".:") for name in names[:100])
    yield from drawn(text)
    for path in re.findall(r"file://([^\s\"'`()<>,;]*)", text):
        yield re.sub(r"^/(?=.:)", "", path)


def drawn(text):
    folders = []
    for line in text.splitlines():
        found = DRAWN.match(line)
        name = found and found[2].strip("`").rstrip("/")
        if not name or not NAME.fullmatch(name):
            word = line.strip().strip("`").rstrip("/")
            is_root = word not in ("", ".") and not re.search(r"\s", word) and word[-1] != ":"
            folders = [(-1, word + "/" if is_root else "")]
            continue
        folders = [row for row in folders if row[0] < len(found[1])] or folders[:1]
        path = (folders[-1][1] if folders else "") + name
        folders.append((len(found[1]), path + "/"))
        yield path


def other_names(path, directories):
    names = set()
    roots = [(root.rstrip("/\\"), "") for root in directories]
    roots += [(found[0], "~/") for root in directories if (found := HOME.match(root))]
    is_relative = (
        path[:1] not in ("/", "\\") and path[1:2] != ":" and bool(re.search(r"[/\\]", path))
    )
    plain = re.sub(r"^(~/)+", "", re.sub(r"^(\./)+", "", path))
    for number, (root, prefix) in enumerate(roots):
        if rest := below(path, root):
            is_file = "." in rest.lstrip(".") or rest.startswith(".")
            is_name = re.search(r"[/\\]", rest) or (is_file and number == 0)
            if is_name or prefix:
                names.add(prefix + rest)
            elif number == 0:
                names.add(rest + "/")
        elif root and is_relative and path.startswith("~/") == bool(prefix):
            names.add(f"{root}/{plain}")
    root = directories[0].rstrip("/\\") if directories else ""
    if project := re.split(r"[/\\]", root)[-1]:
        inside, rest = below(path, root), below(path, project)
        if inside:
            names.add(f"{project}/{inside}")
        elif rest:
            names |= {rest, f"{root}/{rest}"} if re.search(r"[/\\]", rest) else set()
        elif is_relative and not path.startswith("~"):
            names.add(f"{project}/{plain}")
    for name in [*names, path]:
        drive = DRIVE.match(name)
        if drive or "\\" in name:
            slashes = name.replace("\\", "/")
            names |= {slashes, name.replace("/", "\\")}
            if drive:
                letter, rest = drive[1].lower(), slashes[2:]
                names |= {f"/{letter}{rest}", f"/mnt/{letter}{rest}"}
    return sorted(names - {path})


def below(path, folder):
    start = len(folder)
    return (
        path[start + 1 :]
        if folder and path.startswith(folder) and path[start : start + 1] in ("/", "\\")
        else ""
    )
