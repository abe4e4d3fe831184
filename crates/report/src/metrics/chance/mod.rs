//! Correction for chance: how often facts of foreign scenarios match what a strategy's contexts
//! carry.
//!
//! Sums are kept by unit, value kind and round, so that q is recomputed from any selection of units
//! cheaply.

use std::collections::{BTreeMap, BTreeSet};

use compactometer_formats::record::{ChanceCell, Observation, RANDOM_DRAWS, Record};
use compactometer_formats::scenario::ValueKind;
use compactometer_formats::summary::MetricValue;

use self::dense::{TooHigh, UnitSums};
use super::by_fact::asked;
use super::value::{estimated, ratio, undefined};
use crate::data::label;
use crate::data::{Look, ProtocolRun, StrategyRecords, UnitRecords, looks_at_points};

mod dense;

/// Contexts of this many scenarios make a rate.
const FEWEST_SCENARIOS: usize = 5;
/// Above this rate a hit means next to nothing.
const HIGHEST_RATE: f64 = 0.8;

/// Recall corrected for chance, by itself or minus that of random drops.
pub(crate) struct CorrectedRecall {
    own: ChanceRates,
    random: Option<ChanceRates>,
    /// By unit.
    terms: Vec<Vec<LookSums>>,
    dense: UnitSums,
    unknown: usize,
    too_likely: BTreeMap<(ValueKind, u32), f64>,
}

/// Places of a look's rates among the strategy's own and the random drops' (0 if there are none).
type RatePair = (usize, usize);

/// Looks of one unit that share their rates; sums of weights that add up to the weights of the
/// unit's facts.
#[derive(Default)]
struct LookSums {
    own: usize,
    random: usize,
    hits: f64,
    random_hits: f64,
    weight: f64,
}

impl CorrectedRecall {
    /// CR*.
    pub(crate) fn own(strategy: &StrategyRecords) -> Self {
        CorrectedRecall::new(strategy, ChanceRates::own(strategy), None, at_points)
    }

    /// Selection lift.
    pub(crate) fn against_random(strategy: &StrategyRecords) -> Self {
        let random = ChanceRates::new(strategy, |observation| &observation.selection_chance);
        CorrectedRecall::new(
            strategy,
            ChanceRates::own(strategy),
            Some(random),
            at_points,
        )
    }

    /// CR* of the facts that were asked for, in contexts and retrieved texts together.
    pub(crate) fn prompted(strategy: &StrategyRecords) -> Self {
        CorrectedRecall::new(
            strategy,
            ChanceRates::new(strategy, prompted_chance),
            None,
            asked,
        )
    }

    fn new(
        strategy: &StrategyRecords,
        own: ChanceRates,
        random: Option<ChanceRates>,
        seen: fn(&Record) -> Vec<Look<'_>>,
    ) -> Self {
        let mut made = CorrectedRecall {
            own,
            random,
            terms: Vec::with_capacity(strategy.units.len()),
            dense: UnitSums::default(),
            unknown: 0,
            too_likely: BTreeMap::new(),
        };
        for unit in &strategy.units {
            let mut terms = BTreeMap::new();
            for record in &unit.records {
                made.add(&seen(record), &mut terms);
            }
            made.terms.push(terms.into_values().collect());
        }
        made.dense = UnitSums::new(&made.terms, &made.own, made.random.as_ref());
        made
    }

    /// Adds the looks at one conversation's facts.
    fn add(&mut self, seen: &[Look], terms: &mut BTreeMap<RatePair, LookSums>) {
        let scored: Vec<(&Look, RatePair)> = seen
            .iter()
            .filter_map(|look| self.cells(look).map(|cells| (look, cells)))
            .collect();
        let mut times: BTreeMap<usize, f64> = BTreeMap::new();
        for (look, _) in &scored {
            *times.entry(look.index).or_default() += 1.0;
        }
        for (look, cells) in scored {
            let weight = look.fact.weight / times[&look.index];
            let term = terms.entry(cells).or_default();
            (term.own, term.random) = cells;
            term.weight += weight;
            term.hits += weight * f64::from(u8::from(look.is_present));
            term.random_hits += weight * f64::from(look.random_hits) / f64::from(RANDOM_DRAWS);
        }
    }

    /// The rates that correct a look, where they are known and low enough; counts those that are
    /// not.
    fn cells(&mut self, look: &Look) -> Option<RatePair> {
        let own = self.own.nearest(look);
        let random = self
            .random
            .as_ref()
            .map_or(Some(0), |rates| rates.nearest(look));
        let (Some(own), Some(random)) = (own, random) else {
            self.unknown += 1;
            return None;
        };
        let rate = self.own.cells[own].overall.max(
            self.random
                .as_ref()
                .map_or(0.0, |rates| rates.cells[random].overall),
        );
        if rate > HIGHEST_RATE {
            self.too_likely
                .insert((look.fact.value_kind, self.own.cells[own].round), rate);
            return None;
        }
        // Chance finds nothing in a context that counts as empty.
        Some((
            if look.is_usable {
                own
            } else {
                self.own.of_empty()
            },
            random,
        ))
    }

    /// The statistic over units, each drawn the given number of times.
    pub(crate) fn value(&self, times: &[u32]) -> Option<f64> {
        self.dense
            .value(times)
            .unwrap_or_else(|TooHigh| self.value_by_looks(times))
    }

    /// The same, look by look.
    fn value_by_looks(&self, times: &[u32]) -> Option<f64> {
        let (mut sum, mut drawn) = (0.0, 0.0);
        for (value, times) in self
            .unit_values(times)
            .into_iter()
            .zip(times)
            .filter(|(_, times)| **times > 0)
        {
            if let Some(value) = value {
                sum += f64::from(*times) * value;
                drawn += f64::from(*times);
            }
        }
        ratio(sum, drawn)
    }

    /// Each unit's own statistic, with q pooled over the drawn units.
    pub(crate) fn unit_values(&self, times: &[u32]) -> Vec<Option<f64>> {
        let own = self.own.drawn(times);
        let random = self.random.as_ref().map(|rates| rates.drawn(times));
        self.terms
            .iter()
            .map(|terms| unit_value(terms, &own, random.as_deref()))
            .collect()
    }

    /// By unit, what each fact that CR* finds adds to the unit's value: how far it falls where
    /// contexts lose the fact.
    pub(crate) fn adds_by_fact(&self, strategy: &StrategyRecords) -> Vec<Vec<f64>> {
        let of_unit = |(unit, terms): (&UnitRecords, &Vec<LookSums>)| {
            let whole: f64 = terms.iter().map(|term| term.weight).sum();
            let shares = unit
                .records
                .iter()
                .flat_map(|record| self.held_in(record, whole));
            shares.filter(|share| *share > 0.0).collect()
        };
        strategy
            .units
            .iter()
            .zip(&self.terms)
            .map(of_unit)
            .collect()
    }

    fn held_in(&self, record: &Record, whole: f64) -> Vec<f64> {
        let mut by_fact: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
        for look in looks_at_points(record) {
            let rate = self
                .own
                .nearest(&look)
                .map(|cell| self.own.cells[cell].overall);
            if let Some(rate) = rate.filter(|rate| *rate <= HIGHEST_RATE) {
                let (held, looks) = by_fact.entry(look.index).or_default();
                *held += look.fact.weight * f64::from(u8::from(look.is_present)) / (1.0 - rate);
                *looks += 1.0;
            }
        }
        by_fact
            .into_values()
            .map(|(held, looks)| held / (looks * whole))
            .collect()
    }

    /// Units with at least one look whose chance is known.
    pub(crate) fn units_scored(&self) -> usize {
        self.terms.iter().filter(|terms| !terms.is_empty()).count()
    }

    /// Looks that are left out because no rate is known.
    pub(crate) fn unknown(&self) -> usize {
        self.unknown
    }

    /// What is left out because chance nearly always finds it, with its rate.
    pub(crate) fn too_likely(&self) -> impl Iterator<Item = (String, f64)> {
        self.too_likely
            .iter()
            .map(|((kind, round), rate)| (format!("{} at round {round}", label(kind)), *rate))
    }

    /// The statistic with its interval, or why it is undefined.
    pub(super) fn metric(&self, run: &ProtocolRun, strategy: &StrategyRecords) -> MetricValue {
        match self.why_undefined(run.manifest.groups) {
            Some(reason) => undefined(reason),
            None => estimated(strategy.units.len(), self.units_scored(), |times| {
                self.value(times)
            }),
        }
    }

    /// Why no unit has a value.
    fn why_undefined(&self, groups: usize) -> Option<String> {
        if self.units_scored() > 0 {
            return None;
        }
        if !self.too_likely.is_empty() {
            return Some(
                "chance matches over 80 % of foreign facts of every value kind".to_owned(),
            );
        }
        let most = self
            .random
            .iter()
            .fold(self.own.most_scenarios(), |most, random| {
                most.min(random.most_scenarios())
            });
        Some(format!(
            "chance needs contexts of {FEWEST_SCENARIOS} scenarios with foreign facts at one round; the suite has {groups} \
             conversations, and at most {most} scenarios share a round"
        ))
    }
}

fn at_points(record: &Record) -> Vec<Look<'_>> {
    looks_at_points(record).collect()
}

/// Chance of the facts that were asked for; that of the context if nothing was retrieved.
fn prompted_chance(observation: &Observation) -> &Vec<ChanceCell> {
    const NONE: &Vec<ChanceCell> = &Vec::new();
    match &observation.prompted {
        _ if observation.asked.is_empty() => NONE,
        Some(prompted) => &prompted.chance,
        None => &observation.chance,
    }
}

fn unit_value(terms: &[LookSums], own: &[f64], random: Option<&[f64]>) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for term in terms {
        let q = own[term.own];
        let random_q = random.map(|rates| rates[term.random]);
        if q > HIGHEST_RATE || random_q.is_some_and(|rate| rate > HIGHEST_RATE) {
            continue;
        }
        sum += (term.hits - term.weight * q) / (1.0 - q);
        sum -= random_q.map_or(0.0, |q| (term.random_hits - term.weight * q) / (1.0 - q));
        weights += term.weight;
    }
    ratio(sum, weights)
}

/// Rates of chance by value kind and round, over observations of both kinds.
struct ChanceRates {
    /// Ascending by kind and round; the last one has no matches, for contexts that count as empty.
    cells: Vec<ChanceRate>,
}

struct ChanceRate {
    kind: ValueKind,
    round: u32,
    scenarios: usize,
    /// Hits and pairs, by unit.
    units: Vec<(f64, f64)>,
    overall: f64,
}

impl ChanceRate {
    fn new((kind, round): (ValueKind, u32), units: usize) -> Self {
        ChanceRate {
            kind,
            round,
            scenarios: 0,
            units: vec![(0.0, 0.0); units],
            overall: 0.0,
        }
    }
}

impl ChanceRates {
    fn own(strategy: &StrategyRecords) -> Self {
        ChanceRates::new(strategy, |observation| &observation.chance)
    }

    fn new(strategy: &StrategyRecords, of: impl Fn(&Observation) -> &Vec<ChanceCell>) -> Self {
        let mut cells: BTreeMap<(ValueKind, u32), ChanceRate> = BTreeMap::new();
        for (at, unit) in strategy.units.iter().enumerate() {
            for record in &unit.records {
                let mut seen = BTreeSet::new();
                for observation in &record.observations {
                    for found in of(observation).iter().filter(|found| found.pairs > 0) {
                        let key = (found.kind, observation.round);
                        let cell = cells
                            .entry(key)
                            .or_insert_with(|| ChanceRate::new(key, strategy.units.len()));
                        cell.units[at].0 += f64::from(found.hits);
                        cell.units[at].1 += f64::from(found.pairs);
                        cell.scenarios += usize::from(seen.insert(key));
                    }
                }
            }
        }
        let mut cells: Vec<ChanceRate> = cells.into_values().collect();
        cells.push(ChanceRate::new(
            (ValueKind::Free, u32::MAX),
            strategy.units.len(),
        ));
        for cell in &mut cells {
            cell.overall = pooled(&cell.units, &vec![1; cell.units.len()]).unwrap_or(0.0);
        }
        ChanceRates { cells }
    }

    /// The most scenarios with contexts in one cell.
    fn most_scenarios(&self) -> usize {
        self.cells
            .iter()
            .map(|cell| cell.scenarios)
            .max()
            .unwrap_or(0)
    }

    /// The cell without matches.
    fn of_empty(&self) -> usize {
        self.cells.len() - 1
    }

    /// The cell of the look's kind at its round, or the nearest earlier one with enough scenarios.
    fn nearest(&self, look: &Look) -> Option<usize> {
        let fits = |cell: &ChanceRate| {
            cell.kind == look.fact.value_kind
                && cell.round <= look.round
                && cell.scenarios >= FEWEST_SCENARIOS
        };
        self.cells.iter().rposition(fits)
    }

    /// The rates over the drawn units; the overall rate if none of a cell's units was drawn.
    fn drawn(&self, times: &[u32]) -> Vec<f64> {
        self.cells
            .iter()
            .map(|cell| pooled(&cell.units, times).unwrap_or(cell.overall))
            .collect()
    }
}

fn pooled(units: &[(f64, f64)], times: &[u32]) -> Option<f64> {
    let (mut hits, mut pairs) = (0.0, 0.0);
    for ((unit_hits, unit_pairs), times) in units.iter().zip(times) {
        hits += unit_hits * f64::from(*times);
        pairs += unit_pairs * f64::from(*times);
    }
    ratio(hits, pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common;

    #[test]
    fn sums_over_units_are_the_statistic_look_by_look() {
        let (manifest, records) = common::simulated::run(9);
        let prices = common::prices();
        let runs = ProtocolRun::by_protocol(&manifest, &records, &prices);
        let mut compared = 0;
        for strategy in &runs[0].strategies {
            for made in [
                CorrectedRecall::own(strategy),
                CorrectedRecall::against_random(strategy),
            ] {
                for times in [
                    [1; 9],
                    [0, 3, 1, 0, 2, 1, 1, 0, 1],
                    [9, 0, 0, 0, 0, 0, 0, 0, 0],
                ] {
                    let (one, other) = (made.value(&times), made.value_by_looks(&times));
                    assert_eq!(one.is_some(), other.is_some());
                    let same = one
                        .zip(other)
                        .is_none_or(|(one, other)| (one - other).abs() < 1e-12);
                    assert!(same, "{}: {one:?} {other:?}", strategy.name);
                    compared += usize::from(one.is_some());
                }
            }
        }
        assert!(compared > 30, "{compared}");
    }
}
