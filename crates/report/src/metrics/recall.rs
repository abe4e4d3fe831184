//! Whether contexts hold facts: raw, corrected for chance, against random drops, and at the moment
//! of use.

use std::collections::{BTreeMap, BTreeSet};

use compactometer_formats::record::{
    Held, Needed, Observation, RANDOM_DRAWS, Record, Use, UseKind,
};
use compactometer_formats::summary::MetricValue;

use super::by_fact::{NONE_ELIGIBLE, means_by_fact, recall};
use super::chance::CorrectedRecall;
use super::{Metric, MetricUnit, MetricsSection, bound};
use crate::data::label;
use crate::data::visits;
use crate::data::{
    Look, ProtocolRun, StrategyRecords, UnitRecords, looks, looks_at_points, points, uses,
    uses_with_generic,
};
use crate::metrics::value::{defined, estimated, over_units, ratio, undefined};

pub(crate) const CONTEXT_RECALL: Metric = Metric {
    id: "context_recall",
    definition: "hit = the context holds an eligible fact; averaged over the fact's observation points, weighted mean \
              over a conversation's facts, mean over conversations",
    compute: |_, strategy| {
        over_units(strategy, NONE_ELIGIBLE, |unit| {
            recall_at_points(unit, |_| true)
        })
    },
    ..Metric::share(MetricsSection::Recall, "Context recall")
};

pub(crate) const CONTEXT_RECALL_CORRECTED: Metric = Metric {
    id: "context_recall_corrected",
    is_signed: true,
    place: Some(75),
    definition: "as context_recall with (hit - q) / (1 - q) for hit; q = the rate at which facts of foreign scenarios match the \
              strategy's contexts, by value kind, at the observation's round or the nearest earlier one with contexts of \
              5 scenarios; kinds with q over .8 left out; never clipped",
    compute: |run, strategy| corrected(run, strategy, CorrectedRecall::own(strategy)),
    ..Metric::share(MetricsSection::Recall, "Chance correction")
};

pub(crate) const LIFT: Metric = Metric {
    id: "lift",
    is_signed: true,
    definition: "bound_recall_corrected, or context_recall_corrected where facts have no subjects, minus the same statistic of 20 random contexts of the same sizes, which \
              keep the strategy's own verbatim tail; 0 for a strategy that keeps a tail and nothing else",
    compute: |run, strategy| match bound::lift(strategy) {
        Some(lift) => lift,
        None => against_random(run, strategy),
    },
    ..Metric::share(MetricsSection::Recall, "Lift")
};

pub(crate) const SELECTION_LIFT: Metric = Metric {
    id: "selection_lift",
    is_signed: true,
    definition: "context_recall_corrected minus the same statistic of these random contexts, over observations whose chance is known in both",
    compute: against_random,
    ..Metric::share(MetricsSection::Recall, "Lift")
};

pub(crate) const NEEDED_AT_USE_RECALL: Metric = Metric {
    id: "needed_at_use_recall",
    definition: "a use: the next turn's call takes as an argument a fact last mentioned a trigger's length earlier; uses at \
              which the context holds it / uses, by conversation",
    compute: |_, strategy| over_units(strategy, NONE_USED, |unit| needed_at_use(unit, uses)),
    ..Metric::share(MetricsSection::Recall, "Needed at use")
};

pub(crate) const ADDRESS_USE_RECALL: Metric = Metric {
    id: "address_use_recall",
    place: Some(2),
    definition: "a use of an address: the next turn's call takes a fact as what it acts on, and not in text that the agent writes; \
              it is old if the fact was last mentioned before the latest compaction of a row that keeps nothing, or of the recorded \
              program; uses whose value the context holds, as it was said or by another name of the same file / uses, over all conversations \
              together; undefined under 100 uses",
    compute: |_, strategy| over_needed(strategy, is_in_sight),
    ..Metric::share(MetricsSection::Recall, "Needed at use")
};

pub(crate) const ADDRESS_USE_FLOOR: Metric = Metric {
    id: "address_use_recall_floor",
    place: Some(42),
    definition: "of the uses of address_use_recall, those whose value is outside of everything that a model wrote: no model can lose it",
    compute: |_, strategy| over_needed(strategy, |seen| Some(seen.floor)),
    ..Metric::share(MetricsSection::Recall, "Needed at use")
};

pub(crate) const ADDRESS_USE_CEILING: Metric = Metric {
    id: "address_use_recall_ceiling",
    place: Some(43),
    definition: "of the uses of address_use_recall, those whose value is there, or was shown to a summarizer in some request: no \
              model can keep any other; undefined where requests are not known",
    compute: |_, strategy| over_needed(strategy, |seen| seen.ceiling),
    ..Metric::share(MetricsSection::Recall, "Needed at use")
};

pub(crate) const ADDRESS_USES: Metric = Metric {
    id: "address_uses",
    unit: MetricUnit::Count,
    definition: "the uses of address_use_recall, in all conversations together: the same number for every row",
    compute: |_, strategy| defined(address_uses(strategy), None, strategy.units.len()),
    ..Metric::share(MetricsSection::Recall, "Needed at use")
};

pub(crate) const ADDRESS_USE_LIFT: Metric = Metric {
    id: "address_use_lift",
    is_signed: true,
    place: Some(3),
    definition: "of the uses of address_use_recall, the share whose value the context holds as it was said, minus the mean share in 20 \
              random contexts of the same sizes, which keep the strategy's own verbatim tail; 0 for a strategy that keeps a tail and \
              nothing else",
    compute: |_, strategy| over_needed(strategy, above_random),
    ..Metric::share(MetricsSection::Recall, "Needed at use")
};

pub(crate) const UNCOMPACTED_ADDRESS_USE_RECALL: Metric = Metric {
    id: "uncompacted_address_use_recall",
    place: Some(44),
    definition: "as address_use_recall, over uses before the recorded program first compacted, which no summary shaped; undefined \
              under 100 of them, and where no summary shaped any use",
    compute: |_, strategy| match strategy
        .units
        .iter()
        .flat_map(needed)
        .any(|seen| seen.shaped)
    {
        true => over_needed_where(strategy, |seen| !seen.shaped, is_in_sight),
        false => undefined("no recorded summary shaped a use"),
    },
    ..Metric::share(MetricsSection::Recall, "Needed at use")
};

pub(crate) const UNCOMPACTED_ADDRESS_USES: Metric = Metric {
    id: "uncompacted_address_uses",
    unit: MetricUnit::Count,
    definition: "the uses of address_use_recall before the recorded program first compacted, in all conversations together",
    compute: |_, strategy| {
        let uses = strategy.units.iter().flat_map(needed);
        let unshaped = uses.filter(|seen| !seen.shaped).count();
        defined(unshaped as f64, None, strategy.units.len())
    },
    ..Metric::share(MetricsSection::Recall, "Needed at use")
};

pub(crate) const DISTANT_ADDRESS_USE_RECALL: Metric = Metric {
    id: "distant_address_use_recall",
    definition: "as address_use_recall, over uses of facts last mentioned a trigger's length earlier, however few they are",
    compute: |_, strategy| over_uses(strategy, |seen| Some(seen.held != Held::OutOfSight)),
    ..Metric::share(MetricsSection::Recall, "Needed at use")
};

pub(crate) const ADDRESS_USE_RECALL_AT_MOST: Metric = Metric {
    id: "address_use_recall_at_most",
    definition: "as distant_address_use_recall, with what a recorded program is known to put back unrecorded after a compaction; undefined \
              where that is not known",
    compute: |_, strategy| over_uses(strategy, |seen| seen.at_most),
    ..Metric::share(MetricsSection::Recall, "Needed at use")
};

/// The share of all uses of addresses for which something is so, over the units together. Undefined
/// where it is not known of one.
fn over_uses(strategy: &StrategyRecords, is_so: impl Fn(&Use) -> Option<bool>) -> MetricValue {
    let of_unit = |unit: &UnitRecords| {
        let seen = unit.records.iter().flat_map(|record| visits(record));
        let uses = seen.flat_map(|observation| &observation.uses);
        counted(
            uses.filter(|seen| seen.kind == UseKind::Address)
                .map(&is_so),
        )
    };
    match strategy.units.iter().map(of_unit).collect() {
        Some(sums) => together(sums),
        None => undefined("it is not known what the recorded program puts back after a compaction"),
    }
}

/// Fewer uses of old values than this decide nothing.
pub(crate) const FEWEST_USES: f64 = 100.0;

/// How much more the context held of the value, as it was said, than random contexts in the mean.
fn above_random(seen: &Needed) -> Option<f64> {
    let held = f64::from(seen.held == Held::AsSaid);
    Some(held - f64::from(seen.random) / f64::from(RANDOM_DRAWS))
}

/// Whether the context held the value.
fn is_in_sight(seen: &Needed) -> Option<bool> {
    Some(seen.held != Held::OutOfSight)
}

/// The same over the uses of old values.
fn over_needed<V: Into<f64>>(
    strategy: &StrategyRecords,
    of_use: impl Fn(&Needed) -> Option<V>,
) -> MetricValue {
    over_needed_where(strategy, |_| true, of_use)
}

/// The same over those that count.
fn over_needed_where<V: Into<f64>>(
    strategy: &StrategyRecords,
    counts: impl Fn(&Needed) -> bool,
    of_use: impl Fn(&Needed) -> Option<V>,
) -> MetricValue {
    let of_unit =
        |unit: &UnitRecords| counted(needed(unit).filter(|seen| counts(seen)).map(&of_use));
    let Some(sums) = strategy
        .units
        .iter()
        .map(of_unit)
        .collect::<Option<Vec<_>>>()
    else {
        return undefined("it is not known what summarizers were shown");
    };
    let uses: f64 = sums.iter().map(|(_, uses)| uses).sum();
    if uses > 0.0 && uses < FEWEST_USES {
        return undefined(format!(
            "too few uses ({uses}): a share takes {FEWEST_USES}"
        ));
    }
    together(sums)
}

/// The uses of old addresses in a unit.
fn needed<'r>(unit: &UnitRecords<'r>) -> impl Iterator<Item = &'r Needed> + use<'r> {
    let seen = unit.records.clone().into_iter().flat_map(visits);
    let uses = seen.flat_map(|observation| &observation.needed);
    uses.filter(|seen| seen.kind == UseKind::Address)
}

/// The number of uses of old addresses in all units.
pub(crate) fn address_uses(strategy: &StrategyRecords) -> f64 {
    strategy.units.iter().flat_map(needed).count() as f64
}

/// Of each use of an old address in a unit, a weight of 1 and whether the context held it.
pub(crate) fn needed_shares(unit: &UnitRecords) -> Vec<(f64, f64)> {
    let is_held = |seen: &Needed| f64::from(u8::from(seen.held != Held::OutOfSight));
    needed(unit).map(|seen| (1.0, is_held(seen))).collect()
}

/// The share of them that the context held.
pub(crate) fn needed_of_unit(unit: &UnitRecords) -> Option<f64> {
    let shares = needed_shares(unit);
    let held: Vec<f64> = shares.into_iter().map(|(_, held)| held).collect();
    crate::stats::mean(&held)
}

/// The sum over all, and how many there are; nothing if it is not known of one.
fn counted(of_each: impl Iterator<Item = Option<impl Into<f64>>>) -> Option<(f64, f64)> {
    let of_each = of_each
        .map(|one| one.map(Into::into))
        .collect::<Option<Vec<f64>>>()?;
    Some((of_each.iter().sum(), of_each.len() as f64))
}

/// The share over all units together.
fn together(sums: Vec<(f64, f64)>) -> MetricValue {
    let carrying = sums.iter().filter(|(_, uses)| *uses > 0.0).count();
    if carrying == 0 {
        return undefined("no turn uses an address that is old enough");
    }
    estimated(sums.len(), carrying, |times| {
        let of_draw = |(sum, times): (&(f64, f64), &u32)| {
            (sum.0 * f64::from(*times), sum.1 * f64::from(*times))
        };
        let (held, uses) = sums
            .iter()
            .zip(times)
            .map(of_draw)
            .fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
        ratio(held, uses)
    })
}

pub(crate) const NEEDED_AT_USE_WITH_GENERIC: Metric = Metric {
    id: "needed_at_use_recall_with_generic",
    definition: "as needed_at_use_recall, over uses of generic values too",
    compute: |_, strategy| {
        over_units(strategy, NONE_USED, |unit| {
            needed_at_use(unit, uses_with_generic)
        })
    },
    ..Metric::share(MetricsSection::Recall, "Needed at use")
};

const NONE_USED: &str = "no turn uses a fact last mentioned a trigger's length earlier";

/// Recall by category of fact, over the units that have facts of it. Without intervals:
/// exploratory.
pub(crate) fn by_category(
    strategy: &StrategyRecords,
) -> BTreeMap<String, BTreeMap<String, MetricValue>> {
    let facts = strategy
        .records()
        .flat_map(|record| &record.facts)
        .filter(|fact| !fact.decoy);
    let categories: BTreeSet<_> = facts.map(|fact| fact.category).collect();
    let row = |category| {
        let value = bare(strategy, |unit| {
            recall_at_points(unit, |look| look.fact.category == category)
        });
        (
            label(&category),
            BTreeMap::from([(CONTEXT_RECALL.id.to_owned(), value)]),
        )
    };
    categories.into_iter().map(row).collect()
}

/// Recall by applied compactions so far, over observations of both kinds. Without intervals: later
/// rounds are on fewer conversations.
pub(crate) fn by_round(strategy: &StrategyRecords) -> Vec<BTreeMap<String, MetricValue>> {
    let observed = strategy.records().flat_map(|record| &record.observations);
    let Some(last) = observed.map(|observation| observation.round).max() else {
        return Vec::new();
    };
    let row = |round| {
        let value = over_units(strategy, NONE_ELIGIBLE, |unit| {
            recall(unit, |record| {
                let seen = record
                    .observations
                    .iter()
                    .flat_map(|observation| looks(record, observation));
                seen.filter(|look| look.round == round)
            })
        });
        BTreeMap::from([(CONTEXT_RECALL.id.to_owned(), value)])
    };
    (0..=last).map(row).collect()
}

/// The mean over units without an interval.
pub(super) fn bare(
    strategy: &StrategyRecords,
    number: impl Fn(&UnitRecords) -> Option<f64>,
) -> MetricValue {
    let values: Vec<f64> = strategy.units.iter().filter_map(number).collect();
    match crate::stats::mean(&values) {
        Some(value) => defined(value, None, values.len()),
        None => undefined(NONE_ELIGIBLE),
    }
}

/// Of each fact of a unit, by conversation and id: its weight, and the share of looks at which
/// contexts held it.
pub(crate) fn fact_shares<'r>(unit: &UnitRecords<'r>) -> BTreeMap<(&'r str, &'r str), (f64, f64)> {
    let mut shares = BTreeMap::new();
    for record in &unit.records {
        let means = means_by_fact(looks_at_points(record), |look| {
            Some(f64::from(u8::from(look.is_present)))
        });
        let share = |(index, mean): (usize, (f64, f64))| {
            (
                (
                    record.case.scenario.as_str(),
                    record.facts[index].id.as_str(),
                ),
                mean,
            )
        };
        shares.extend(means.into_iter().map(share));
    }
    shares
}

/// A unit's CR.
pub(crate) fn of_unit(unit: &UnitRecords) -> Option<f64> {
    recall_at_points(unit, |_| true)
}

pub(super) fn recall_at_points(unit: &UnitRecords, counts: impl Fn(&Look) -> bool) -> Option<f64> {
    recall(unit, |record| looks_at_points(record).filter(&counts))
}

fn needed_at_use<'r, U: Iterator<Item = bool>>(
    unit: &UnitRecords<'r>,
    uses: impl Fn(&'r Record, &'r Observation) -> U,
) -> Option<f64> {
    let (mut held, mut events) = (0.0, 0.0);
    for &record in &unit.records {
        for is_present in visits(record).flat_map(|observation| uses(record, observation)) {
            held += f64::from(u8::from(is_present));
            events += 1.0;
        }
    }
    ratio(held, events)
}

fn against_random(run: &ProtocolRun, strategy: &StrategyRecords) -> MetricValue {
    let has_draws = |observation: &Observation| {
        observation.eligible.is_empty() || !observation.selection_hits.is_empty()
    };
    if !strategy.records().flat_map(points).all(has_draws) {
        return undefined("the records are too old to hold contexts with the same tail");
    }
    corrected(run, strategy, CorrectedRecall::against_random(strategy))
}

fn corrected(
    run: &ProtocolRun,
    strategy: &StrategyRecords,
    statistic: CorrectedRecall,
) -> MetricValue {
    if strategy.units.iter().all(|unit| of_unit(unit).is_none()) {
        return undefined(NONE_ELIGIBLE);
    }
    statistic.metric(run, strategy)
}
