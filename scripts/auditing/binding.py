"""Which subjects win at a value, by the section "Bound recall" of docs/measurement/recall.md."""

import json
import re
from functools import cache

from .matching import normal

STOP = set(
    """the a an and or but nor for of to in on at by from with without into onto over under as is are was were be been being am it its this that these
    those there here then than so too very not no nor if when while whereas because since though
    although where which who whom whose what how why do does did done has have had having will would
    shall should can could may might must let us we you they them their our your his her him she i
    me my mine all any some each every both either neither one other another such only own same more
    most much many few less about above after again against before
    below between during through until up down out off just also now still yet ever never use used using get got per via""".split()
)
RUNS = re.compile(r"[^\W\d_]+")
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
BREAKS = re.compile(
    r"[,;()]|[–—]|(?<=\s)-+(?=\s)|\b(?:and|but|while|whereas|because|since|so|or)\b", re.IGNORECASE
)
PRONOUN = re.compile(
    r"\W*(?:it|its|this|that|these|those|they|their|he|she|his|her|there)\b", re.IGNORECASE
)
ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|ca|no|nr|fig|dr|mr|mrs|ms|st|resp|incl|max|min)|\b[A-Za-z])\.$",
    re.IGNORECASE,
)
# After a number these are units, which end a sentence.
UNIT = re.compile(r"\d\s*(?:ms|min)\.$", re.IGNORECASE)
SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=\S)")


@cache
def stem(word):
    word = word.lower()
    for ending, rest in (("ies", "y"), ("ing", ""), ("ed", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            return trimmed(word[: -len(ending)] + rest)
    if word.endswith("es") and len(word) > 4 and word[-3] in "sxzh":
        return trimmed(word[:-2])
    if word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("er") and len(word) > 4:
        word = word[:-2]
    return trimmed(word)


def trimmed(word):
    if word.endswith("e") and len(word) > 3:
        word = word[:-1]
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word


def words(text):
    """The words of a text, with their places."""
    found = []
    for run in RUNS.finditer(text):
        start = run.start()
        for piece in CAMEL.split(run[0]):
            if len(piece) >= 3 and piece.lower() not in STOP:
                found.append((stem(piece), start, start + len(piece)))
            start += len(piece)
    return found


class Unit:
    def __init__(self, text, inherited=""):
        self.text, self.inherited = re.sub(r"\s+", " ", text), inherited
        # Values are found in the one form. Its places are those of the text unless a letter of it
        # has another length.
        self.form = normal(self.text, True)
        if len(self.form) != len(self.text):
            self.text = self.form

    @property
    def own(self):
        if not hasattr(self, "_own"):
            self._own = words(self.text)
        return self._own

    @property
    def above(self):
        if not hasattr(self, "_above"):
            self._above = {word for word, _, _ in words(self.inherited)}
        return self._above


def sentences(line):
    start = 0
    for found in SENTENCE.finditer(line):
        before = line[: found.start()]
        if not ABBREVIATION.search(before) or UNIT.search(before):
            yield line[start : found.start()]
            start = found.end()
    if line[start:].strip():
        yield line[start:]


def units(text):
    stripped = text.strip()
    if stripped[:1] in ("{", "["):
        try:
            return list(of_json(json.loads(stripped), ""))
        except ValueError:
            pass
    return list(of_lines(text))


def of_json(value, above):
    if isinstance(value, dict):
        plain = {key: one for key, one in value.items() if not isinstance(one, (dict, list))}
        for key, one in value.items():
            others = " ; ".join(f"{other} {plain[other]}" for other in plain if other != key)
            if isinstance(one, (dict, list)):
                yield from of_json(one, f"{above} ; {key} ; {others}")
            else:
                yield from of_leaf(key, one, f"{above} ; {others}")
    elif isinstance(value, list):
        for one in value:
            yield from of_json(one, above)
    else:
        yield from of_leaf("", value, above)


def of_leaf(key, value, above):
    text = value if isinstance(value, str) else json.dumps(value)
    pieces = list(of_lines(text)) if "\n" in text else [Unit(piece) for piece in sentences(text)]
    if len(pieces) == 1:
        yield Unit(
            f"{key}: {pieces[0].text}" if key else pieces[0].text,
            f"{above} ; {pieces[0].inherited}",
        )
        return
    before = ""
    for piece in pieces:
        told = before if PRONOUN.match(piece.text) else ""
        yield Unit(piece.text, f"{key} ; {above} ; {piece.inherited} ; {told}")
        before = piece.text


def of_lines(text):
    headings, outer, columns, before = [], [], None, ""
    for line in text.split("\n"):
        if not line.strip():
            columns, outer, before = None, [], ""
            continue
        heading = re.match(r"\s*(#{1,6})\s+(.*)", line)
        if heading:
            headings = [kept for kept in headings if kept[0] < len(heading[1])] + [
                (len(heading[1]), heading[2])
            ]
            columns, outer, before = None, [], ""
            yield Unit(heading[2], " ; ".join(title for _, title in headings[:-1]))
            continue
        above = " ; ".join(title for _, title in headings)
        if line.strip().startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if all(re.fullmatch(r":?-*:?", cell) for cell in cells):
                continue
            if columns is None:
                columns = cells
            yield Unit(line, above)
            for at, cell in enumerate(cells):
                column = columns[at] if at < len(columns) and columns is not cells else ""
                # The row has the headings.
                yield Unit(cell, column)
            continue
        columns = None
        indent = len(line) - len(line.lstrip())
        item = bool(re.match(r"\s*(?:[-*+•]|\d+[.)])\s", line))
        depth = indent * 2 + item
        outer = [parent for parent in outer if parent[0] < depth]
        if outer:
            above = f"{above} ; " + " ; ".join(parent for _, parent in outer)
        try:
            # A line of JSON, such as a row of a log.
            row = json.loads(line) if line.strip()[:1] in "{[" else None
        except ValueError:
            row = None
        if isinstance(row, (dict, list)):
            yield from of_json(row, above)
            continue
        for piece in sentences(line):
            yield Unit(piece, f"{above} ; {before}" if PRONOUN.match(piece) else above)
            before = piece
        if item or line.rstrip().endswith(":"):
            outer.append((depth, line))


class Subjects:
    """The subjects of a conversation. They compete for its values."""

    def __init__(self, names, texts):
        self.of_name, self.words = {}, []
        for name in names:
            key = frozenset(word for word, _, _ in words(name))
            if key not in self.words:
                self.words.append(key)
            self.of_name[name] = self.words.index(key)
        counted = {}
        for key in self.words:
            for word in key:
                counted.setdefault(word, []).append(key)
        single = {
            word: keys[0] for word, keys in counted.items() if len(keys) == 1 and len(keys[0]) > 1
        }
        seen, whole = dict.fromkeys(single, 0), dict.fromkeys(single, 0)
        for text in texts:
            for unit in units(text):
                held = {word for word, _, _ in unit.own}
                for word in held & single.keys():
                    seen[word] += 1
                    whole[word] += single[word] <= held
        self.distinctive = {
            word: self.words.index(key)
            for word, key in single.items()
            if seen[word] and whole[word] >= 0.8 * seen[word]
        }
        self.with_word = {}
        for subject, key in enumerate(self.words):
            for word in key:
                self.with_word.setdefault(word, set()).add(subject)

    def winner(self, unit, place):
        """The subject that wins at the value there."""
        start, end = place
        near = [
            (word, first, last)
            for word, first, last in unit.own
            if (last <= start or first >= end) and word in self.with_word
        ]
        best = {}
        for subject in {subject for word, _, _ in near for subject in self.with_word[word]}:
            ranks = [
                self.rank(unit, place, span, False)
                for span in spans(near, self.words[subject], place)
            ]
            ranks += [
                self.rank(unit, place, span, True)
                for word, *span in near
                if self.distinctive.get(word) == subject
            ]
            if ranks:
                best[subject] = min(ranks)
        if not best and unit.inherited:
            held = unit.above | {word for word, _, _ in unit.own}
            for subject in {
                subject for word in held & self.with_word.keys() for subject in self.with_word[word]
            }:
                if self.words[subject] <= held:
                    best[subject] = 0
                elif any(self.distinctive.get(word) == subject for word in held):
                    best[subject] = 1
        if not best:
            return None
        least = min(best.values())
        winners = [subject for subject, rank in best.items() if rank == least]
        return winners[0] if len(winners) == 1 else None

    def rank(self, unit, place, span, partial):
        start, end = place
        first, last = span
        if last <= start:
            between, after = (last, start), False
        elif first >= end:
            between, after = (end, first), True
        else:
            between, after = (0, 0), False
        gap = unit.text[between[0] : between[1]]
        return len(BREAKS.findall(gap)), partial, len(re.findall(r"\w+", gap)), after


def spans(near, key, place):
    """Where all words of a subject are mentioned together: the closest on either side of the value, else around it."""
    start, end = place
    of_subject = [found for found in near if found[0] in key]
    found = []
    for side in (
        [one for one in of_subject if one[2] <= start][::-1],
        [one for one in of_subject if one[1] >= end],
    ):
        for at in range(len(side)):
            held, taken = set(), []
            for one in side[at:]:
                held.add(one[0])
                taken.append(one)
                if held == key:
                    found.append((min(one[1] for one in taken), max(one[2] for one in taken)))
                    break
    if not found and {one[0] for one in of_subject} == key:
        found.append((min(one[1] for one in of_subject), max(one[2] for one in of_subject)))
    return found
