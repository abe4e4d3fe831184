"""The pictures of a study of recorded sessions."""

from pictures import BLUE, GREEN, GREY, ORANGE, Dot, Picture, draw

COLOURS = {600: GREEN, 900: BLUE, 1800: ORANGE}


def percent(share):
    return f"{100 * share:.0f} %"


def dot(share, interval, offset, colour):
    return Dot(share, colour, interval, offset, percent(share))


def shares(study, largest, held, rows):
    """The shares of needed values with what is added, at each size."""
    part, sizes = largest(study, 1800), sorted(map(int, study["budgets"]))
    uses = part["uses"]["address"]["uses"]
    drawn = {}
    for key, name in rows:
        is_same = key == "held_at_most"
        drawn[name] = []
        for number, size in enumerate(sizes[:1] if is_same else sizes):
            address = largest(study, size)["uses"]["address"]
            shown = held(address) if is_same else key
            offset = 0 if is_same else 0.3 * (number - (len(sizes) - 1) / 2)
            colour = GREY if is_same else COLOURS[size]
            drawn[name].append(dot(address[shown], address["intervals"].get(shown), offset, colour))
    return draw(
        Picture(
            f"Values held when later calls needed them ({part['name']}, {uses:,} values, {part['sessions']} sessions)",
            "share at most, 95 % interval",
            [(f"{size:,} tokens added", COLOURS[size]) for size in sizes],
            drawn,
        )
    )


def said(after, times):
    """The user's sentences that are left after one compaction and more."""
    share = lambda count: count["found"] / count["of"]
    drawn = {}
    for one, time in zip(after, times):
        drawn[f"after {time}"] = [
            dot(share(one["with_ledger"]), None, -0.3, ORANGE),
            dot(share(one["all"]), one["interval"], 0, BLUE),
        ]
        if one["by_chance"] is not None:
            drawn[f"after {time}"].append(dot(one["by_chance"], None, 0.3, GREY))
    return draw(
        Picture(
            f"Sentences of a person that are left ({after[0]['all']['of']:,} sentences)",
            "share of sentences, 95 % interval",
            [("left", BLUE), ("with a ledger of 900 tokens", ORANGE), ("by chance", GREY)],
            drawn,
        )
    )


def projects(parts, held):
    """A dot for each project: words left after one compaction, and values held."""
    counts = [part["said"]["after"][0]["all"] for part in parts if part["said"]["after"]]
    addresses = [part["uses"]["address"] for part in parts]
    words = [(one["found"] / one["of"], one["of"]) for one in counts if one["of"]]
    values = [(one[held(one)], one["uses"]) for one in addresses if one["uses"]]
    return draw(
        Picture(
            f"What was left, one dot a project ({len(parts)} projects; larger dots have more behind them)",
            "share left",
            [("words after one compaction", BLUE), ("needed values", ORANGE)],
            {"words": of_projects(words, BLUE), "needed values": of_projects(values, ORANGE)},
        )
    )


def of_projects(shares, colour):
    largest_first = sorted(shares, key=lambda one: -one[1])
    return [
        Dot(share, colour, radius=min(3 + number**0.5, 20), opacity=0.45)
        for share, number in largest_first
    ]
