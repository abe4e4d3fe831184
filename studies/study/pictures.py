"""The pictures of a study of recorded sessions, as SVG."""

from html import escape

WIDTH, LEFT, RIGHT, ROW, TOP = 760, 190, 70, 50, 64
COLOURS = {600: "#009e73", 900: "#0072b2", 1800: "#d55e00"}
GREY = "#444444"
BLUE, ORANGE = COLOURS[900], COLOURS[1800]


def across(share):
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def percent(share):
    return f"{100 * share:.0f} %"


def frame(title, heading, legend, rows, axis):
    """The beginning of a picture with this many rows over an axis of shares."""
    bottom = TOP + ROW * rows
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 46:.0f}" role="img" font-family="sans-serif" font-size="13">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{bottom + 46:.0f}" fill="#ffffff"/>',
        f'<text x="16" y="22" font-weight="bold">{escape(heading)}</text>',
    ]
    x = 16
    for name, colour in legend:
        out.append(f'<rect x="{x}" y="34" width="12" height="12" fill="{colour}"/>')
        out.append(f'<text x="{x + 18}" y="45">{escape(name)}</text>')
        x += 40 + 8 * len(name)
    for tick in range(0, 101, 20):
        at = across(tick / 100)
        out.append(f'<line x1="{at:.1f}" y1="{TOP}" x2="{at:.1f}" y2="{bottom}" stroke="#dddddd"/>')
        out.append(
            f'<text x="{at:.1f}" y="{bottom + 18}" text-anchor="middle" fill="{GREY}">{tick} %</text>'
        )
    out.append(
        f'<text x="{across(0.5):.1f}" y="{bottom + 38}" text-anchor="middle" fill="{GREY}">{escape(axis)}</text>'
    )
    return out


def named(row, name):
    return f'<text x="{LEFT - 10}" y="{TOP + ROW * (row + 0.5) + 4:.1f}" text-anchor="end">{escape(name)}</text>'


def dot(share, ends, y, colour):
    """A share with its interval and its number."""
    low, high = ends or (share, share)
    return [
        f'<line x1="{across(low):.1f}" y1="{y:.1f}" x2="{across(high):.1f}" y2="{y:.1f}" stroke="{colour}" stroke-width="2"/>',
        f'<circle cx="{across(share):.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>',
        f'<text x="{across(high) + 9:.1f}" y="{y + 4:.1f}" fill="{colour}" font-size="12">{percent(share)}</text>',
    ]


def shares(study, largest, held, rows):
    """The shares of needed values with what is added, at each size."""
    part, sizes = largest(study, 1800), sorted(map(int, study["budgets"]))
    out = frame(
        f"Share of the values held that later calls needed, {part['name']}",
        f"Values held when later calls needed them ({part['name']}, {part['uses']['address']['uses']:,} values, {part['sessions']} sessions)",
        [(f"{size:,} tokens added", COLOURS[size]) for size in sizes],
        len(rows),
        "share at most, 95 % interval",
    )
    for row, (key, name) in enumerate(rows):
        middle = TOP + ROW * (row + 0.5)
        out.append(named(row, name))
        is_same = key == "held_at_most"
        for number, size in enumerate(sizes[:1] if is_same else sizes):
            address = largest(study, size)["uses"]["address"]
            shown = held(address) if is_same else key
            y = middle if is_same else middle + (number - (len(sizes) - 1) / 2) * 15
            colour = GREY if is_same else COLOURS[size]
            out += dot(address[shown], address["intervals"].get(shown), y, colour)
    return "\n".join([*out, "</svg>", ""])


def said(after, times):
    """The user's sentences that are left after one compaction and more."""
    heading = f"Sentences of a person that are left ({after[0]['all']['of']:,} sentences)"
    legend = [("left", BLUE), ("with a ledger of 900 tokens", ORANGE), ("by chance", GREY)]
    out = frame(heading, heading, legend, len(after), "share of sentences, 95 % interval")
    share = lambda count: count["found"] / count["of"]
    for row, (one, time) in enumerate(zip(after, times)):
        middle = TOP + ROW * (row + 0.5)
        out.append(named(row, f"after {time}"))
        out += dot(share(one["with_ledger"]), None, middle - 15, ORANGE)
        out += dot(share(one["all"]), one["interval"], middle, BLUE)
        if one["by_chance"] is not None:
            out += dot(one["by_chance"], None, middle + 15, GREY)
    return "\n".join([*out, "</svg>", ""])


def projects(parts, held):
    """A dot for each project: words left after one compaction, and values held."""
    count = lambda part: (
        part["said"]["after"][0]["all"] if part["said"]["after"] else {"found": 0, "of": 0}
    )
    words = [
        (count(part)["found"] / count(part)["of"], count(part)["of"])
        for part in parts
        if count(part)["of"]
    ]
    addresses = [part["uses"]["address"] for part in parts]
    values = [(one[held(one)], one["uses"]) for one in addresses if one["uses"]]
    out = frame(
        "What compactions left, by project",
        f"What was left, one dot a project ({len(parts)} projects; larger dots have more behind them)",
        [("words after one compaction", BLUE), ("needed values", ORANGE)],
        2,
        "share left",
    )
    for row, (name, dots, colour) in enumerate(
        [("words", words, BLUE), ("needed values", values, ORANGE)]
    ):
        out.append(named(row, name))
        for share, number in sorted(dots, key=lambda one: -one[1]):
            out.append(
                f'<circle cx="{across(share):.1f}" cy="{TOP + ROW * (row + 0.5):.1f}" r="{min(3 + number**0.5, 20):.1f}" fill="{colour}" fill-opacity="0.45" stroke="{colour}"/>'
            )
    return "\n".join([*out, "</svg>", ""])
