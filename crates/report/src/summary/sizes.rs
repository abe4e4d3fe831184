//! Which strategies have one realized size, and what a strategy's curve over a sweep of retained
//! budgets gives at another size.
//!
//! Absent on purpose: going on beyond the smallest and the largest size of a curve.

use std::collections::BTreeMap;

use crate::data::{ProtocolRun, StrategyRecords, UnitRecords};
use crate::metrics::engine::tokens_retained;
use crate::numbers::grouped;
use crate::stats::mean;

/// Sizes within this share of each other are compared as they are.
const MARGIN: f64 = 0.1;

/// A strategy's values at one realized size.
pub(crate) struct SizePoint<'r> {
    /// Mean tokens retained by its compactions, over units.
    pub(crate) tokens: f64,
    /// By group.
    pub(crate) values: BTreeMap<&'r str, f64>,
}

/// Whether two realized sizes are one.
pub(crate) fn agree(tokens: f64, reference: f64) -> bool {
    (tokens - reference).abs() <= MARGIN * reference
}

/// The strategy's values by unit at that size: those of the run with the nearest size within a
/// tenth, else, between two sizes of its curve, interpolated linearly unit by unit. `None` where
/// the curve does not reach it: the sizes differ.
pub(crate) fn at_size<'r>(curve: &[SizePoint<'r>], tokens: f64) -> Option<BTreeMap<&'r str, f64>> {
    let distance = |point: &&SizePoint| (point.tokens - tokens).abs();
    let nearest = curve
        .iter()
        .min_by(|one, other| distance(one).total_cmp(&distance(other)))?;
    if agree(nearest.tokens, tokens) {
        return Some(nearest.values.clone());
    }
    between(curve, tokens)
}

/// The strategy's values by unit at exactly that size, interpolated linearly between two sizes of
/// its curve. `None` beyond its ends.
pub(crate) fn between<'r>(curve: &[SizePoint<'r>], tokens: f64) -> Option<BTreeMap<&'r str, f64>> {
    let by_size = |one: &&SizePoint, other: &&SizePoint| one.tokens.total_cmp(&other.tokens);
    let below = curve
        .iter()
        .filter(|point| point.tokens <= tokens)
        .max_by(by_size)?;
    let Some(above) = curve
        .iter()
        .filter(|point| point.tokens > tokens)
        .min_by(by_size)
    else {
        return (below.tokens == tokens).then(|| below.values.clone());
    };
    let share = (tokens - below.tokens) / (above.tokens - below.tokens);
    let between = |(group, low): (&&'r str, &f64)| {
        Some((*group, low + share * (above.values.get(group)? - low)))
    };
    Some(below.values.iter().filter_map(between).collect())
}

/// A strategy's sizes and values over the runs under the matched protocol.
pub(crate) fn curve<'r>(
    runs: &[ProtocolRun<'r>],
    strategy: &str,
    value: impl Fn(&UnitRecords<'r>) -> Option<f64>,
) -> Vec<SizePoint<'r>> {
    let matched = runs.iter().filter(|run| run.protocol.has_limits_of_run());
    let point = |run: &ProtocolRun<'r>| {
        let strategy = run.strategy(strategy)?;
        let values = strategy
            .units
            .iter()
            .filter_map(|unit| Some((unit.group, value(unit)?)));
        Some(SizePoint {
            tokens: realized(strategy)?,
            values: values.collect(),
        })
    };
    matched
        .filter_map(point)
        .filter(|point| !point.values.is_empty())
        .collect()
}

/// Mean tokens that a strategy's compactions retain, over units.
pub(crate) fn realized(strategy: &StrategyRecords) -> Option<f64> {
    mean(
        &strategy
            .units
            .iter()
            .filter_map(tokens_retained)
            .collect::<Vec<_>>(),
    )
}

/// What a reader must know of a matched run's sizes: which strategies under test are not of the
/// reference's size. Where the reference compacted nothing, the first strategy that did stands for
/// it.
pub(crate) fn warning(run: &ProtocolRun, reference: Option<&str>) -> Option<String> {
    if !run.protocol.has_limits_of_run() {
        return None;
    }
    let (reference, tokens) = yardstick(run, reference)?;
    let other = |strategy: &StrategyRecords| {
        let size = realized(strategy).filter(|size| !agree(*size, tokens))?;
        Some(format!("{} {}", strategy.name, grouped(size)))
    };
    let tested = run
        .strategies
        .iter()
        .filter(|strategy| strategy.family.is_tested());
    let others: Vec<_> = tested.filter_map(other).collect();
    (!others.is_empty()).then(|| {
        format!(
            "recall is compared only between sizes within 10 % of each other; other than the {} tokens that {reference} \
             retains: {}; the curves of `--sweep` show recall at one size",
            grouped(tokens),
            others.join(", ")
        )
    })
}

/// The reference and its realized size; where it compacted nothing, those of the first strategy
/// under test that did.
pub(crate) fn yardstick<'r>(
    run: &ProtocolRun<'r>,
    reference: Option<&str>,
) -> Option<(&'r str, f64)> {
    let tested = run
        .strategies
        .iter()
        .filter(|strategy| strategy.family.is_tested());
    let declared = reference.and_then(|name| run.strategy(name));
    declared
        .into_iter()
        .chain(tested)
        .find_map(|strategy| Some((strategy.name, realized(strategy)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(tokens: f64, values: [f64; 2]) -> SizePoint<'static> {
        SizePoint {
            tokens,
            values: BTreeMap::from([("a", values[0]), ("b", values[1])]),
        }
    }

    #[test]
    fn values_are_read_off_the_curve_and_not_beyond_it() {
        let curve = [
            point(3_000.0, [0.6, 0.8]),
            point(1_000.0, [0.2, 0.0]),
            point(2_000.0, [0.3, 0.4]),
        ];
        let at =
            |tokens| at_size(&curve, tokens).map(|values| values.into_values().collect::<Vec<_>>());
        assert_eq!(at(2_150.0), Some(vec![0.3, 0.4]), "within a tenth of 2,000");
        let found = at(2_500.0).expect("between two sizes");
        assert!(
            (found[0] - 0.45).abs() < 1e-12 && (found[1] - 0.6).abs() < 1e-12,
            "{found:?}"
        );
        assert_eq!(at(3_400.0), None);
        assert_eq!(at(3_300.0), Some(vec![0.6, 0.8]));
        assert_eq!(at(800.0), None);
        assert!(at_size(&[], 1_000.0).is_none());
    }

    #[test]
    fn a_unit_that_one_size_lacks_has_no_value_between() {
        let lacking = SizePoint {
            tokens: 2_000.0,
            values: BTreeMap::from([("b", 1.0)]),
        };
        let found = at_size(&[point(1_000.0, [0.2, 0.0]), lacking], 1_500.0);
        assert_eq!(found, Some(BTreeMap::from([("b", 0.5)])));
    }
}
