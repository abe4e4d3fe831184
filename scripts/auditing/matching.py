"""Whether a text holds a value, by the section "Matching" of docs/measurement/matching.md."""

import re
import unicodedata
from fractions import Fraction
from functools import cache, lru_cache

INVISIBLE = re.compile("[\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
ESCAPE = re.compile(r'\\(u[0-9a-fA-F]{4}|["\\/bfnrt])')
ESCAPED = {"b": " ", "f": " ", "n": "\n", "r": "\n", "t": " "}
PLAIN = (
    {ord(letter): "-" for letter in "‐‑‒–—―−﹣－"}
    | {ord(letter): "'" for letter in "‘’‚‛′`´"}
    | {ord(letter): '"' for letter in "“”„‟″«»"}
)
WORD = "0-9a-z_\u00b5-\u024f\u0370-\u1fff\u3040-\ud7ff"

NUMBER = re.compile(
    rf"(?<![{WORD}.,/-])(?<!\d:)([-+]?)(\d{{1,3}}(?:[,_']\d{{3}})+|\d+)(\.\d+)?(?![{WORD}]*[-/:]?\d)(?!\.\d)\s?(%|€|\$|£|[a-zµ\u00e0-\u024f]+(?:/[a-z]+)?)?|([€$£])\s?(\d{{1,3}}(?:[,_']\d{{3}})+|\d+)(\.\d+)?"
)
TIME = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
}
BYTES = {"b": 1, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
NAMES = {
    "nanosecond": "ns",
    "microsecond": "us",
    "millisecond": "ms",
    "msec": "ms",
    "second": "s",
    "sec": "s",
    "minute": "min",
    "hour": "h",
    "hr": "h",
    "day": "d",
    "byte": "b",
    "kibibyte": "kib",
    "mebibyte": "mib",
    "gibibyte": "gib",
    "tebibyte": "tib",
    "kilobyte": "kb",
    "megabyte": "mb",
    "gigabyte": "gb",
    "terabyte": "tb",
    "percent": "%",
    "euro": "eur",
    "€": "eur",
    "dollar": "usd",
    "$": "usd",
    "pound": "gbp",
    "£": "gbp",
}

# What denies or replaces, seen from the value; V stands for it. Each works within one clause.
DENIED_BEFORE = re.compile(
    r"\b(not|never|no|nor|neither|cannot|without|avoid\w*|forbid\w*|forbidden|prohibit\w*|refus\w+|rule[sd]? out|instead of|rather than|except|excluding|stay away from|keep away from|keep (?:\w+ )*off|hands off|off limits|leave|untouched|stop using|nobody|none)\b|n't\b"
)
DENIED_AFTER = re.compile(
    r"^(?:[^.!?]{0,60}?)(?:\b(?:is|are|was|were|does|do|did|has|have|had|must|may|should|can|could|will|would|shall)(?: \w+)? (?:not|never)\b|n't\b|\bcannot\b|\bnever\b|\b(?:is|are|was|were) (?:forbidden|off limits|excluded|prohibited|ruled out|out of the question)|\bnot to be\b|\bmust stay (?:untouched|unchanged)|\buntouched\b)"
)
REPLACED_BEFORE = re.compile(
    r"\b(no longer|formerly|previously|used to be|replac(?:es|ed|ing)|instead of the former)\b[^.,;]*$"
)
REPLACED_AFTER = re.compile(
    r"^\s*(?:(?:is|was|has been|were|are|had been) (?:replaced|superseded)|(?:is|are) no longer|no longer)\b"
)
CLAUSE = re.compile(
    r'[;!?\n]|[.,:](?=\s|$)|\s-\s|\s\|\s|"\s?[,:\]}]|\b(?:but|because|since|so that|whereas|while|although)\b|\. '
)
ONLY = re.compile(r"\bnot only\b|\bno (?:cent|one) more\b|\bnothing (?:but|else)\b|\bnobody else\b")


@cache
def unescaped(text):
    return (
        ESCAPE.sub(
            lambda found: (
                chr(int(found[1][1:], 16))
                if found[1][0] == "u"
                else ESCAPED.get(found[1], found[1])
            ),
            text,
        )
        if "\\" in text
        else text
    )


@lru_cache(maxsize=200_000)
def normal(text, lines=False):
    """The one form of texts and values; with `lines`, line breaks stay."""
    text = unicodedata.normalize("NFKC", unescaped(text)).lower().translate(PLAIN)
    text = INVISIBLE.sub("", text)
    return re.sub(r"[^\S\n]+", " ", text) if lines else re.sub(r"\s+", " ", text).strip()


def unit_of(word):
    word = word or ""
    if word in NAMES:
        return NAMES[word]
    return NAMES.get(word[:-1], word) if word.endswith("s") else word


def quantity(sign, whole, fraction, unit):
    value = Fraction(re.sub("[,_']", "", whole or "0") + (fraction or "")) * (
        -1 if sign == "-" else 1
    )
    unit = unit_of(unit)
    for scale, name in ((TIME, "time"), (BYTES, "bytes")):
        if unit in scale:
            return value * scale[unit], name
    return value, unit


def quantities(text):
    """Every number of a text in its one form: where it is, its value and its unit; before a separate word also without it."""
    found = []
    for match in NUMBER.finditer(text):
        sign, whole, fraction, unit, money, amount, cents = match.groups()
        if money:
            found.append((match.start(), match.end(), quantity("", amount, cents, money)))
            continue
        bare = match.end(3) if fraction else match.end(2)
        if not unit or match.start(4) > bare:
            found.append((match.start(), bare, quantity(sign, whole, fraction, "")))
        if unit:
            found.append((match.start(), match.end(), quantity(sign, whole, fraction, unit)))
    return found


class Value:
    """A value that is looked for, in every form that counts."""

    def __init__(self, fact):
        self.kind = fact["value_kind"]
        imported = fact["category"] == "incidental"
        self.said = None if imported else fact.get("polarity", "affirmed")
        self.forms = [normal(form) for form in [fact["value"], *fact.get("variants", [])]]
        self.quantities = set()
        if self.kind == "number":
            for form in self.forms:
                whole = quantities(form)
                self.quantities |= {
                    value for start, end, value in whole if start == 0 and end == len(form)
                }
        blank = re.escape(" ")
        self.pattern = re.compile(
            "(?=("
            + "|".join(re.escape(form).replace(blank, r"\s+") for form in self.forms if form)
            + "))"
        )

    def places(self, text):
        """Where a text in its one form has the value, whatever it says about it."""
        found = []
        if self.quantities:
            found = [
                (start, end) for start, end, value in numbers_of(text) if value in self.quantities
            ]
        if (
            not found
            and (not self.quantities or self.kind != "number")
            and any(form.split(" ")[0] in text for form in self.forms)
        ):
            found = [
                match.span(1)
                for match in self.pattern.finditer(text)
                if is_whole(self.kind, text, *match.span(1))
            ]
        return found

    def held(self, text):
        """The places where the text says what the fact says."""
        places = self.places(text)
        if self.said is None:
            return places
        wanted = "denied" if self.said == "negated" else "affirmed"
        return [place for place in places if stance(text, place) == wanted]


@lru_cache(maxsize=4096)
def numbers_of(text):
    return quantities(text)


def is_word(letter):
    return letter.isalnum() or letter == "_"


# Scripts that put no blanks between words, or glue particles to them, by the names of their letters.
SPACELESS = {
    "CJK",
    "HIRAGANA",
    "KATAKANA",
    "HANGUL",
    "BOPOMOFO",
    "THAI",
    "LAO",
    "KHMER",
    "MYANMAR",
    "TIBETAN",
}


def script(letter):
    return unicodedata.name(letter, "?").split()[0] if letter.isalpha() else ""


def joined(one, other):
    """Whether two letters or digits side by side are of one word."""
    if not (one and other and is_word(one) and is_word(other)):
        return False
    if one.isascii() and other.isascii():
        return True
    scripts = [script(letter) for letter in (one, other)]
    return scripts[0] == scripts[1] or "" in scripts and not SPACELESS & set(scripts)


def is_whole(kind, text, start, end):
    """Whether what is there is the whole value and no part of a longer one."""
    value, before, after = text[start:end], text[max(0, start - 200) : start], text[end : end + 40]
    near, far = before[-1:], before[-2:-1]
    following, beyond = after[:1], after[1:2]
    version = re.fullmatch(r"\d[\d.]*\.[\d.]*", value)
    date = re.fullmatch(r"\d{4}-\d\d-\d\d", value)
    marked = version and re.search(r"(?:^|[^\w])[a-z]+\Z", before)
    timed = date and re.match(r"t\d\d:", after)
    if joined(value[0], near) and not marked or joined(value[-1], following) and not timed:
        return False
    if (
        near == "."
        and value[0].isdigit()
        and far.isdigit()
        or following == "."
        and value[-1].isdigit()
        and beyond.isdigit()
    ):
        return False
    if kind == "number":
        return not (
            near
            and near in ".,'"
            and far.isdigit()
            or following
            and following in ".,'"
            and beyond.isdigit()
        )
    if kind in ("id", "nonce"):
        return not (near == "-" and far.isalnum() or following == "-" and beyond.isalnum())
    if kind == "path":
        longer = (
            near == "-" and far.isalnum() or following and following in ".-" and beyond.isalnum()
        )
        return not longer and not is_below_another(before, value)
    return True


def is_below_another(before, value):
    """A path in another folder is another path, except below a root, a host or the sides of a diff; a file's name is found anywhere."""
    above = re.search(r"[\w/.~:$@+%-]*\Z", before)[0]
    if not above or ":" in above:
        return False
    if value.startswith("/"):
        return is_word(above[-1]) and script(above[-1]) not in SPACELESS
    rooted = above[0] in "/.~$%@" or above in ("a/", "b/")
    return "/" in value and above.endswith("/") and not rooted


def stance(text, place):
    """What the clause says about the value there."""
    start, end = place
    before = text[max(0, start - 160) : start]
    cut = 0
    for found in CLAUSE.finditer(before):
        cut = found.end()
    before = before[cut:]
    after = text[end : end + 160]
    # "V, it is not valid": a pronoun goes on about the value.
    said_of_it = re.match(r"\s?[,:;] (?:it|that|this|which) ", after)
    start = said_of_it.end() if said_of_it else 0
    found = CLAUSE.search(after, start)
    after = after[start : found.start()] if found else after[start:]
    if REPLACED_BEFORE.search(before) or REPLACED_AFTER.search(after):
        return "replaced"
    before, after = ONLY.sub(" ", before), ONLY.sub(" ", after)
    if DENIED_BEFORE.search(before) or DENIED_AFTER.search(after):
        return "denied"
    return "affirmed"
