"""Compares what the audit finds with what the run says, look by look and number by number."""

import collections

from . import tries
from .folder import Run
from .looks import Case, Known, Tokens
from .numbers import FEWEST_USES, NAMES, Look, headline

WORDS = {
    ".": "unstated",
    "v": "verbatim",
    "c": "carried",
    "s": "stored_only",
    "d": "dropped_unseen",
    "u": "unwritten",
    "e": "eroded",
    "l": "lost",
    "x": "superseded",
    "?": "unexplained",
}
ARITHMETIC = 5e-7
MOST_DIFFERING = 0.01
MOST_UNSURE = 0.05
# Of a few looks, some may differ.
FEW = 3
NEAR = 0.02


class Audit:
    def __init__(self, run: Run, known=None):
        """`known` is that of another run of the same suite: what its texts hold is found once."""
        self.run, self.known = run, {} if known is None else known
        self.looks = self.unsure = self.others = self.cells = 0
        self.differing, self.other_differing, self.chance_differing = [], [], []
        self.rows, self.wrong_numbers = [], []
        self.requests, self.faults = tries.check(run)
        self.skipped = 0
        self.of_group = self.first_group()
        self.moments = {
            record["case"]["scenario"]: [
                run.conversations[record["case"]["scenario"]].length(row["after"])
                for row in record["compactions"]
            ]
            for record in self.of_group
            if record["case"]["strategy"] == "null"
        }
        known, tokens = self.known, {}
        by_strategy = collections.defaultdict(list)
        for record in self.of_group:
            name = record["case"]["scenario"]
            if name not in known:
                foreign = [run.conversations[other] for other in record["case"].get("foreign", [])]
                known[name] = Known(run.conversations[name], foreign)
            if name not in tokens:
                tokens[name] = Tokens(
                    run.conversations[name],
                    [one for one in self.of_group if one["case"]["scenario"] == name],
                )
            by_strategy[record["case"]["strategy"]].append((record, known[name], tokens[name]))
        for strategy, cases in by_strategy.items():
            before = (
                len(self.differing),
                self.looks,
                len(self.chance_differing),
                self.cells,
                self.unsure,
            )
            self.strategy(strategy, cases)
            self.judge(
                strategy,
                *(
                    after - earlier
                    for after, earlier in zip(
                        (
                            len(self.differing),
                            self.looks,
                            len(self.chance_differing),
                            self.cells,
                            self.unsure,
                        ),
                        before,
                    )
                ),
            )
        self.judge_cases(by_strategy)

    def judge(self, strategy, differing, looks, chance_differing, cells, unsure):
        """One strategy must not use up what is allowed for all."""
        for what, found, of, most in (
            ("looks differ", differing, looks, MOST_DIFFERING),
            ("counts of foreign matches differ", chance_differing, cells, MOST_DIFFERING),
            (
                "looks cannot be checked, since no record says how long the conversation was there; run the suite with `full` too",
                unsure,
                looks,
                MOST_UNSURE,
            ),
        ):
            if of and found > max(most * of, FEW):
                self.faults.append(f"{strategy}: {found} of {of} {what}")

    def judge_cases(self, by_strategy):
        """A case that is missing may be a bad one."""
        listed = self.run.manifest["strategies"]
        conversations = {record["case"]["scenario"] for record in self.of_group}
        if len(conversations) != self.run.manifest["conversations"]:
            self.faults.append(
                f"the run has {self.run.manifest['conversations']} conversations, and there are records of {len(conversations)}"
            )
        for strategy in listed:
            found = len(by_strategy.get(strategy, []))
            if found != len(conversations):
                self.faults.append(
                    f"{strategy}: {found} of {len(conversations)} conversations have a record"
                )

    def first_group(self):
        """The cases behind the first group of the summary: one for each strategy and conversation, at the default size."""
        manifest, seen, kept = self.run.manifest, set(), []
        protocols = manifest.get("protocols") or [manifest["protocol"]]
        for record in self.run.records:
            case = record["case"]
            is_default = case["protocol"] == protocols[0] and (
                case["protocol"] != "matched"
                or case["budget"].get("retained") in (None, manifest["retained"])
                and case.get("split") is None
            )
            key = case["strategy"], case["scenario"]
            if is_default and key not in seen:
                seen.add(key)
                kept.append(record)
        self.skipped = len(self.run.records) - len(kept)
        return kept

    def strategy(self, strategy, cases):
        theirs, ours, their_chance, our_chance = [], [], [], []
        their_uses, our_uses = [], []
        their_needed, our_needed = [], []
        left_out, with_subject = [0, 0], 0
        for record, known, tokens in cases:
            unit, scenario = record["case"]["group"], record["case"]["scenario"]
            ranked = [
                fact
                for fact, row in enumerate(record["facts"])
                if not row.get("decoy") and not row.get("generic")
            ]
            named = [fact for fact in ranked if record["facts"][fact]["category"] != "incidental"]
            with_subject += len(named)
            left_out[0] += sum(not record["facts"][fact].get("has_subject") for fact in named)
            left_out[1] += sum(not known.counts[fact] for fact in named)
            case = Case(self.run, record, known, tokens, self.moments.get(scenario))
            for row, seen in case.observations():
                told = {
                    "fates": row["fates"],
                    "stored": set(row.get("stored", [])),
                    "eligible": set(row["eligible"]) & set(ranked),
                    "bound": set(row.get("bound", [])),
                    "misbound": {fact: tuple(counts) for fact, *counts in row.get("misbound", [])},
                    "unusable": row.get("unusable"),
                }
                told["chance"] = {
                    cell["kind"]: (cell["hits"], cell["pairs"]) for cell in row["chance"]
                }
                their_chance.append((scenario, row["round"], told["chance"]))
                our_chance.append((scenario, row["round"], seen["chance"]))
                self.compare_chance(strategy, scenario, row, told, seen)
                if row["kind"] != "compaction":
                    told["uses"] = [(use["kind"], *of_record(use)) for use in row.get("uses", [])]
                    # The run's word is taken for what any project may have.
                    counted = [
                        (run, audit)
                        for run, audit in zip(told["uses"], seen["uses"])
                        if run[0] != "generic"
                    ]
                    their_uses += [run[1:] for run, _ in counted]
                    our_uses += [audit for _, audit in counted]
                    self.compare_uses(strategy, scenario, record, row, counted)
                    told["needed"] = {use["fact"]: use for use in row.get("needed", [])}
                    their_needed += told["needed"].values()
                    our_needed += [
                        use
                        for fact, use in seen["needed"].items()
                        # The run's word is taken for what any project may have.
                        if told["needed"].get(fact, {}).get("kind") != "generic"
                    ]
                    self.compare_needed(strategy, scenario, record, row, told, seen)
                if row["kind"] == "point":
                    self.compare(strategy, scenario, record, row, told, seen, known)
                    theirs += looks_of(
                        unit,
                        scenario,
                        record,
                        row,
                        told,
                        [row_.get("has_subject") for row_ in record["facts"]],
                    )
                    ours += looks_of(unit, scenario, record, row, seen, known.counts)
                self.compare_others(strategy, scenario, record, row, told, seen)
        their_numbers = headline(theirs, their_chance, left_out[0], with_subject)
        our_numbers = headline(ours, our_chance, left_out[1], with_subject)
        their_numbers["distant_address_use_recall"], our_numbers["distant_address_use_recall"] = (
            of_addresses(their_uses),
            of_addresses(our_uses),
        )
        their_numbers["address_use_recall"] = of_many([of_record(use) for use in their_needed])
        our_numbers["address_use_recall"] = of_many(our_needed)
        for name in NAMES:
            self.rows.append(
                (
                    strategy,
                    name,
                    self.summary_of(strategy, name),
                    their_numbers[name],
                    our_numbers[name],
                )
            )
            printed = self.rows[-1][2]
            if self.run.summary and not (
                printed != "absent" and same(printed, their_numbers[name])
            ):
                self.wrong_numbers.append((strategy, name, printed, their_numbers[name]))
            # One use more or less of a few is a large share; it is listed as a look that differs.
            of_name = our_needed if name == "address_use_recall" else our_uses
            addresses = sum(is_address for is_address, _ in of_name)
            room = 1.01 / max(addresses, 1) if name.endswith("use_recall") else 0
            if not near(their_numbers[name], our_numbers[name], room):
                self.faults.append(
                    f"{strategy}: {name} is {our_numbers[name]}, and {their_numbers[name]} by the records"
                )

    def summary_of(self, strategy, name):
        if not self.run.summary:
            return "absent"
        for row in self.run.summary["groups"][0]["strategies"]:
            if row["name"] == strategy and name in row["metrics"]:
                return row["metrics"][name]["value"]
        return "absent"

    def compare(self, strategy, scenario, record, row, told, seen, known):
        self.unsure += len(seen["unsure"])
        for fact in sorted(told["eligible"] | seen["eligible"]):
            self.looks += 1
            differences = []
            if (fact in told["eligible"]) != (fact in seen["eligible"]):
                differences.append(
                    f"eligible: run {yes(fact in told['eligible'])}, audit {yes(fact in seen['eligible'])}"
                )
            if told["unusable"] != seen["unusable"]:
                differences.append(
                    f"context: run {told['unusable'] or 'usable'}, audit {seen['unusable'] or 'usable'}"
                )
            if told["fates"][fact] != seen["fates"][fact]:
                differences.append(
                    f"fate: run {WORDS[told['fates'][fact]]}, audit {WORDS[seen['fates'][fact]]}"
                )
            if (fact in told["stored"]) != (fact in seen["stored"]):
                differences.append(
                    f"stored: run {yes(fact in told['stored'])}, audit {yes(fact in seen['stored'])}"
                )
            counts = bool(record["facts"][fact].get("has_subject"))
            if counts != known.counts[fact]:
                differences.append(
                    f"counts in bound recall: run {yes(counts)}, audit {yes(known.counts[fact])}"
                )
            if (fact in told["bound"]) != (fact in seen["bound"]):
                differences.append(
                    f"bound: run {yes(fact in told['bound'])}, audit {yes(fact in seen['bound'])}"
                )
            run, audit = told["misbound"].get(fact, (0, 0)), seen["misbound"].get(fact, (0, 0))
            if run != audit:
                differences.append(
                    f"wrong subjects: run {run[0]} of {run[1]}, audit {audit[0]} of {audit[1]}"
                )
            if differences:
                self.differing.append(
                    (
                        strategy,
                        scenario,
                        row["after"],
                        record["facts"][fact]["id"],
                        "; ".join(differences),
                    )
                )

    def compare_uses(self, strategy, scenario, record, row, uses):
        for fact, (run, audit) in zip(
            (
                fact
                for fact, use in zip(row.get("used", []), row.get("uses", []))
                if use["kind"] != "generic"
            ),
            uses,
        ):
            self.looks += 1
            if run[1:] != audit:
                self.differing.append(
                    (
                        strategy,
                        scenario,
                        row["after"],
                        record["facts"][fact]["id"],
                        f"use: run {words_of(run[1:])}, audit {words_of(audit)}",
                    )
                )

    def compare_needed(self, strategy, scenario, record, row, told, seen):
        for fact in sorted(told["needed"].keys() | seen["needed"].keys()):
            self.looks += 1
            run, audit = told["needed"].get(fact), seen["needed"].get(fact)
            if run is None or audit is None:
                difference = f"use of an old value: run {yes(run is not None)}, audit {yes(audit is not None)}"
            elif run["kind"] != "generic" and of_record(run) != audit:
                difference = (
                    f"use of an old value: run {words_of(of_record(run))}, audit {words_of(audit)}"
                )
            elif (run["floor"] and run["held"] == "out_of_sight") or (
                run["held"] == "as_said" and run.get("ceiling") is False
            ):
                difference = f"bounds of a use: {run}"
            else:
                continue
            self.differing.append(
                (strategy, scenario, row["after"], record["facts"][fact]["id"], difference)
            )

    def compare_chance(self, strategy, scenario, row, told, seen):
        for kind in told["chance"].keys() | seen["chance"].keys():
            self.cells += 1
            run, audit = told["chance"].get(kind, (0, 0)), seen["chance"].get(kind, (0, 0))
            # Whether a related conversation states a foreign value too is the matcher's word, of
            # which a few differ.
            if run[0] != audit[0] or abs(run[1] - audit[1]) > MOST_DIFFERING * run[1]:
                self.chance_differing.append(
                    (
                        strategy,
                        scenario,
                        row["after"],
                        kind,
                        f"foreign matches of pairs: run {run[0]} of {run[1]}, audit {audit[0]} of {audit[1]}",
                    )
                )

    def compare_others(self, strategy, scenario, record, row, told, seen):
        """Fates that no headline number counts: decoys, facts that are not eligible, and observations after compactions."""
        for fact, (run, audit) in enumerate(zip(told["fates"], seen["fates"])):
            if row["kind"] == "point" and fact in told["eligible"]:
                continue
            self.others += 1
            if run != audit:
                self.other_differing.append(
                    (
                        strategy,
                        scenario,
                        row["after"],
                        record["facts"][fact]["id"],
                        f"fate: run {WORDS[run]}, audit {WORDS[audit]}",
                    )
                )
            elif (fact in told["stored"]) != (fact in seen["stored"]):
                self.other_differing.append(
                    (
                        strategy,
                        scenario,
                        row["after"],
                        record["facts"][fact]["id"],
                        f"stored: run {yes(fact in told['stored'])}, audit {yes(fact in seen['stored'])}",
                    )
                )

    def share(self):
        return len(self.differing) / self.looks if self.looks else 0.0


def looks_of(unit, scenario, record, row, found, counts):
    """The looks at one observation, with nothing held where the context counts as empty. `counts` says which facts count in bound
    recall."""
    usable = found["unusable"] is None
    for fact in found["eligible"]:
        told = record["facts"][fact]
        if found["fates"][fact] == "x":
            continue
        own = usable and fact in found["bound"]
        wrong, rivals = found["misbound"].get(fact, (0, 1)) if usable else (0, 1)
        part = (own - wrong / rivals) / max(own + wrong, 1)
        yield Look(
            unit,
            scenario,
            fact,
            told["weight"],
            told["value_kind"],
            row["round"],
            usable,
            usable and found["fates"][fact] in "vc",
            own,
            part if counts[fact] else None,
        )


def of_addresses(uses):
    held = [is_held for is_address, is_held in uses if is_address]
    return sum(held) / len(held) if held else None


def of_record(use):
    """Whether a use is one of an address, and whether the context held the value."""
    return use["kind"] == "address", use["held"] != "out_of_sight"


def words_of(use):
    return f"{'address' if use[0] else 'authored'}, {'held' if use[1] else 'out of sight'}"


def of_many(uses):
    """The share over all uses together, if there are enough of them."""
    share = of_addresses(uses)
    return share if sum(is_address for is_address, _ in uses) >= FEWEST_USES else None


def same(one, other):
    return (one is None) == (other is None) and (one is None or abs(one - other) <= ARITHMETIC)


def near(one, other, room=0):
    """As near as looks that differ within what is allowed can make them, or as `room` says."""
    is_near = one is None or other is None or abs(one - other) <= max(NEAR, room)
    return (one is None) == (other is None) and is_near


def yes(is_so):
    return "yes" if is_so else "no"
