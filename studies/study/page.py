"""The page of a study of recorded sessions, made of its numbers."""

import plots

# Parts of fewer sessions than this have no interval, and no row.
FEWEST = 6
SHARES = [
    ("held_at_most", "nothing added"),
    ("with_newest_text", "the newest text"),
    ("with_random", "random values"),
    ("with_frequent", "most frequent values"),
    ("with_ledger", "a ledger"),
    ("with_unbound", "the ledger's bare values"),
]
TIMES = ["one compaction", "two", "three"]


def files(study, others):
    """The page and its pictures; `others` has studies of other sessions by their names."""
    drawn = {"shares.svg": plots.shares(study, largest, held, SHARES)}
    if "said" in study["budgets"]["900"]:
        drawn["said.svg"] = plots.said(study["budgets"]["900"]["said"]["after"], TIMES)
        drawn["projects.svg"] = plots.projects(of_projects(study), held)
    return {"README.md": page(study, others)} | drawn


def percent(share):
    return "-" if share is None else f"{100 * share:.0f} %"


def of(count):
    """A count as a share."""
    return percent(count["found"] / count["of"] if count["of"] else None)


def bracketed(ends):
    return f" ({100 * ends[0]:.0f} to {100 * ends[1]:.0f})" if ends else ""


def with_interval(shares, key):
    return percent(shares[key]) + bracketed(shares["intervals"].get(key))


def held(address):
    """The key of the share without anything added: at most, where it is known what the program puts back."""
    return "held_at_most" if address["held_at_most"] is not None else "held_in_log"


def largest(study, budget):
    """The program with the most needed values."""
    parts = study["budgets"][str(budget)]["parts"]
    programs = (part for part in parts if part["by"] == "program")
    return max(programs, key=lambda part: part["uses"]["address"]["uses"])


def of_projects(study):
    return [part for part in study["budgets"]["900"]["parts"] if part["by"] == "project"]


def words(study):
    """The first finding: what is left of the user's words."""
    after = study["budgets"]["900"]["said"]["after"]
    named = [
        f"{of(one['all'])}{bracketed(one['interval'])} {'were left ' if not at else ''}after {TIMES[at]}"
        for at, one in enumerate(after)
    ]
    numbers = listed([f"{one['all']['of']:,}" for one in after])
    return (
        f"Of the sentences that a person wrote, {listed(named)} (of {numbers} sentences). With a ledger of 900 tokens "
        f"{listed([of(one['with_ledger']) for one in after])} would have been left; by chance it is {percent(after[0]['by_chance'])}."
    )


def listed(items):
    return f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else items[0]


def values(study):
    """The second finding: which values the context held."""
    part = largest(study, 1800)
    address = part["uses"]["address"]
    most = "at most " if held(address) == "held_at_most" else ""
    return (
        f"In {part['sessions']} sessions of {part['name']} with {part['compactions']} compactions, {address['uses']:,} later calls needed a value, such as "
        f"a path or an id, that was last said before a compaction. The context held {most}{with_interval(address, held(address))} of them; with a "
        f"ledger of 1,800 tokens it would have held {with_interval(address, 'with_ledger')}, with random values of that size "
        f"{with_interval(address, 'with_random')} (95 % intervals)."
    )


def table(heads, rows):
    line = lambda cells: f"| {' | '.join(cells)} |"
    return "\n".join([line(heads), line(["---"] * len(heads)), *(line(row) for row in rows)])


def of_words(study):
    """What is left of the user's words, by the number of compactions."""
    rows = [
        [
            name,
            of(one["all"]) + bracketed(one["interval"]),
            f"{one['all']['of']:,}",
            of(one["rules"]),
            percent(one["by_chance"]),
            of(one["with_ledger"]),
        ]
        for name, one in zip(TIMES, study["budgets"]["900"]["said"]["after"])
    ]
    return table(
        ["after", "left", "sentences", "of rules", "by chance", "with a ledger of 900"], rows
    )


def of_values(study):
    """The shares of needed values with what is added, for the program with most."""
    budgets = sorted(map(int, study["budgets"]))
    addresses = [largest(study, budget)["uses"]["address"] for budget in budgets]
    rows = [[name, *(with_interval(one, key) for one in addresses)] for key, name in SHARES]
    return table(["added", *(f"{budget:,} tokens" for budget in budgets)], rows)


def of_parts(study):
    """A table of each kind of parts that has one of six sessions."""
    large = study["budgets"]["1800"]["parts"]
    small = {(one["by"], one["name"]): one for one in study["budgets"]["900"]["parts"]}
    sections = []
    for by in ("program", "version", "project"):
        parts = [one for one in large if one["by"] == by]
        shown = [one for one in parts if one["sessions"] >= FEWEST]
        if not shown:
            continue
        heads = [
            by,
            "sessions",
            "compactions",
            "your words",
            "needed values",
            "in the log",
            "at most",
        ]
        heads += ["900 ledger", "1,800 ledger", "read again (before)", "waited"]
        rows = [part_row(one, small[by, one["name"]]) for one in shown]
        left = len(parts) - len(shown)
        more = f"\n\nAnd {left} with fewer than {FEWEST} sessions each." if left else ""
        sections.append(f"{table(heads, rows)}{more}")
    return "\n\n".join(sections)


def part_row(part, at_900):
    address, typical = part["uses"]["address"], part["typical"]
    waited = typical["waited_ms"]
    after = part.get("said", {}).get("after")
    return [
        part["name"],
        str(part["sessions"]),
        str(part["compactions"]),
        of(after[0]["all"]) if after else "-",
        str(address["uses"]),
        with_interval(address, "held_in_log"),
        with_interval(address, "held_at_most"),
        with_interval(at_900["uses"]["address"], "with_ledger"),
        with_interval(address, "with_ledger"),
        f"{typical['read_again']:,.0f} ({typical['read_again_before']:,.0f})",
        "-" if waited is None else f"{waited['first'] / 1000:.0f} s",
    ]


def of_sets(studies):
    """A row for each set of sessions."""
    rows = []
    for name, study in studies.items():
        all_of, address = study["budgets"]["900"], largest(study, 900)["uses"]["address"]
        after = all_of.get("said", {}).get("after", [])
        left = [of(one["all"]) for one in after] + ["-"] * (len(TIMES) - len(after))
        counts = [all_of["sessions"], all_of["compactions"], all_of["projects"]]
        shares = [with_interval(address, held(address)), with_interval(address, "with_ledger")]
        rows.append([name, *map(str, counts), *left, str(address["uses"]), *shares])
    heads = [
        "set",
        "sessions",
        "compactions",
        "projects",
        *(f"words after {time}" for time in TIMES),
    ]
    return table([*heads, "needed values", "held", "with a ledger of 900"], rows)


def beside(study):
    """What compactions cost beside words and values."""
    all_of = study["budgets"]["900"]
    typical, cost, opened = all_of["typical"], all_of["cost"], all_of["open_requests"]
    waited = typical["waited_ms"]
    lines = [
        f"Of the requests that were open, {opened['found']} of {opened['of']} needed values were in what was left.",
        f"In the 50 calls after a compaction {typical['read_again']:,.0f} tokens were read again, in the 50 before {typical['read_again_before']:,.0f}.",
    ]
    if all_of["total_losses"]:
        lines.append(f"{all_of['total_losses']} compactions left nothing, or an error.")
    if waited:
        lines.append(
            f"Waiting took {waited['first'] / 1000:.0f} s for the summary (median of {waited['of']})."
        )
    if cost:
        lines.append(
            f"A turn cost ${cost['turn_before']:.3f} before and ${cost['turn_after']:.3f} after; a compaction ${cost['compaction']:.3f}, "
            f"paid for after {cost['paid_after_turns']:.0f} turns."
        )
    return "\n".join(f"- {line}" for line in lines)


def page(study, others):
    all_of, part = study["budgets"]["900"], largest(study, 1800)
    has_words = "said" in all_of
    counted = lambda number: f"{number} compaction{'' if number == 1 else 's'}"
    left_out = "".join(
        f"\n- {counted(number)} left out: {reason.replace('_', ' ')}"
        for reason, number in all_of["unmeasured"].items()
    )
    sections = []
    if has_words:
        sections.append(
            f"## What you said\n\n{words(study)}\n\n![Sentences left after one, two and three compactions](said.svg)\n\n{of_words(study)}"
        )
    sections.append(
        f"## What later calls needed\n\n{values(study)}\n\n![Shares of needed values held](shares.svg)\n\n"
        f"Share of the needed values held in sessions of {part['name']}:\n\n{of_values(study)}"
    )
    if has_words:
        sections.append(
            "## No two projects are alike\n\n![Words left and values held, by project](projects.svg)\n\n"
            + of_parts(study)
        )
        sections.append(f"## What it cost\n\n{beside(study)}")
    else:
        sections.append(f"## By part\n\n{of_parts(study)}")
    if others:
        sections.append(
            "## Other sets\n\nThese sessions may not be passed on, so only their numbers are here.\n\n"
            + of_sets({"this one": study} | others)
        )
    body = "\n\n".join(sections)
    return f"""<!-- page: begin -->
# What compactions of real sessions lost

{all_of["compactions"]} compactions in {all_of["sessions"]} sessions of {all_of["projects"]} projects ({", ".join(all_of["programs"])}). {study["note"]}
{left_out}

{body}

## Method and limits

`compactometer losses` counts without a model, and its page in `docs` defines every number. A sentence is left if a line of what the
compaction left has half of its content words, so a paraphrase in other words counts as gone. Intervals are at 95 %, over projects where there are six, else over
sessions. **In the log** is what the log shows that the compaction left, **at most** adds what the program is known to put back; what was not held is not lost, since
the call was made. **Read again** is tokens of what had been read before. The sessions are public ones of a few
programs, mostly of programmers, so other work may differ. All numbers, also of smaller parts, are in `study.json`.

To add your sessions, run `studies/study/run --share FILES...`: it writes numbers only.
<!-- page: end -->
"""
