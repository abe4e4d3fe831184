"""The headline numbers from looks, by docs/measurement/recall.md: "Context recall", "Bound recall", "Chance correction"."""

from collections import defaultdict

NAMES = (
    "context_recall",
    "context_recall_corrected",
    "bound_recall",
    "bound_recall_corrected",
    "distant_address_use_recall",
    "address_use_recall",
)
# Of old values, under which a share says nothing.
FEWEST_USES = 100
FEWEST_SCENARIOS = 5
HIGHEST_RATE = 0.8
MOST_LEFT_OUT = 0.05


class Look:
    def __init__(
        self, unit, conversation, fact, weight, kind, round_, usable, present, bound, part
    ):
        self.unit, self.key, self.weight, self.kind, self.round = (
            unit,
            (conversation, fact),
            weight,
            kind,
            round_,
        )
        # `part` is what the look adds to BR*; nothing where bound recall leaves the fact out.
        self.usable, self.present, self.bound, self.part = usable, present, bound, part


def headline(looks, chance, left_out, with_subject):
    """The four numbers of one strategy. `chance` has the matches of each observation: scenario, round and cells by kind."""
    numbers = dict.fromkeys(NAMES)
    numbers["context_recall"] = over_units(looks, lambda look: float(look.present))
    rates = rates_of(chance)
    numbers["context_recall_corrected"] = over_units(looks, lambda look: corrected(look, rates))
    if with_subject and left_out <= MOST_LEFT_OUT * with_subject:
        of_bound = [look for look in looks if look.part is not None]
        numbers["bound_recall"] = over_units(of_bound, lambda look: float(look.bound))
        numbers["bound_recall_corrected"] = over_units(of_bound, lambda look: look.part)
    return numbers


def over_units(looks, number):
    facts = defaultdict(lambda: defaultdict(list))
    weights = {}
    for look in looks:
        value = number(look)
        if value is not None:
            facts[look.unit][look.key].append(value)
            weights[look.unit, look.key] = look.weight
    means = []
    for unit, of_unit in facts.items():
        whole = sum(weights[unit, key] for key in of_unit)
        if whole > 0:
            means.append(
                sum(
                    weights[unit, key] * sum(values) / len(values)
                    for key, values in of_unit.items()
                )
                / whole
            )
    return sum(means) / len(means) if means else None


def rates_of(chance):
    hits, pairs, scenarios = defaultdict(int), defaultdict(int), defaultdict(set)
    for scenario, round_, cells in chance:
        for kind, (found, of) in cells.items():
            if of:
                hits[kind, round_] += found
                pairs[kind, round_] += of
                scenarios[kind, round_].add(scenario)
    return {
        cell: hits[cell] / pairs[cell] for cell in pairs if len(scenarios[cell]) >= FEWEST_SCENARIOS
    }


def corrected(look, rates):
    rounds = [round_ for kind, round_ in rates if kind == look.kind and round_ <= look.round]
    if not rounds:
        return None
    rate = rates[look.kind, max(rounds)]
    if rate > HIGHEST_RATE:
        return None
    # Chance finds nothing in a context that counts as empty.
    return (look.present - rate) / (1 - rate) if look.usable else 0.0
