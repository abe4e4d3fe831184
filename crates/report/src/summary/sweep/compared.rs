//! Strategies at one size, read off their curves over size.
//!
//! The size is the smaller of the two that they have at the run's retained budget, so that at least
//! one of them was measured there. Absent on purpose: going on beyond the sizes that were measured
//! by more than a tenth, and sizes at which a strategy fails too often.

use std::collections::BTreeMap;

use compactometer_formats::record::Family;
use compactometer_formats::summary::{Compared, Comparison};
use compactometer_text::code::code;

use crate::data::ProtocolRun;
use crate::metrics::around_facts::STATED_SHARE;
use crate::metrics::failures::why_not_compared;
use crate::metrics::scores::{PrimaryMetric, UnitScores};
use crate::numbers::grouped;
use crate::summary::comparisons::{
    ComparisonDraft, empty, lists_values, pairs, raw_remark, test, tested, undecided,
};
use crate::summary::sizes::{SizePoint, at_size, between, realized};

/// Every pair of the run, of its parts with each strategy's own split. The first part is the run's
/// size.
pub(super) fn all(parts: &[&ProtocolRun]) -> Vec<Comparison> {
    let [headline, _, ..] = parts else {
        return Vec::new();
    };
    let family = |name: &str| {
        headline
            .strategy(name)
            .map_or(Family::Reference, |strategy| strategy.family)
    };
    let drafts = pairs(headline)
        .into_iter()
        .map(|pair| (family(pair[0]), one(parts, pair)));
    tested(headline, drafts.collect())
}

fn one(parts: &[&ProtocolRun], pair: [&str; 2]) -> ComparisonDraft {
    let metrics = PrimaryMetric::Context.metrics();
    let curves = metrics
        .iter()
        .map(|metric| (*metric, pair.map(|name| curve(parts, name, metric))));
    let found = curves
        .into_iter()
        .find(|(_, curves)| curves.iter().all(|curve| !curve.is_empty()));
    let mut made = empty(
        pair[0],
        pair[1],
        found.as_ref().map_or(metrics[0], |(metric, _)| metric),
    );
    if let Some((verdict, reason)) = why_not(parts[0], pair) {
        return undecided(made, verdict, reason);
    }
    let sizes = pair.map(|name| realized(parts[0].strategy(name)?));
    let (Some((metric, curves)), [Some(own), Some(other)]) = (found, sizes) else {
        return undecided(
            made,
            Compared::Undefined,
            "one of the two has no value at any size".to_owned(),
        );
    };
    made.reason = raw_remark(metric);
    let tokens = own.min(other);
    made.tokens = Some(crate::stats::nine_digits(tokens));
    let values = [0, 1].map(|side| at(&curves[side], tokens).ok_or(side));
    match values {
        [Ok(own), Ok(other)] => {
            let differences = own
                .iter()
                .filter_map(|(group, own)| Some(own - other.get(group)?));
            test(&mut made, &differences.collect::<Vec<_>>(), None);
            ComparisonDraft { made, sizes: None }
        }
        [Err(side), _] | [_, Err(side)] => {
            let reason = out_of_reach(pair[side], &curves[side], tokens);
            undecided(made, Compared::SizesDiffer, reason)
        }
    }
}

/// Why two strategies are not compared, whatever their recall.
fn why_not(headline: &ProtocolRun, pair: [&str; 2]) -> Option<(Compared, String)> {
    let sides = pair.map(|name| headline.strategy(name));
    let left_out = |name: &str| {
        let (verdict, why) = why_not_compared(headline, headline.strategy(name)?)?;
        Some((verdict, format!("{}: {why}", code(name))))
    };
    if let Some(found) = pair.into_iter().find_map(left_out) {
        return Some(found);
    }
    if let Some(idle) = pair
        .into_iter()
        .find(|name| headline.strategy(name).and_then(realized).is_none())
    {
        return Some((
            Compared::DidNotTrigger,
            format!("{} never compacted anything", code(idle)),
        ));
    }
    let shares = sides.map(|side| (STATED_SHARE.compute)(headline, side?).value);
    Some((Compared::ListsValues, lists_values(pair[1], shares)?))
}

fn curve<'r>(parts: &[&ProtocolRun<'r>], name: &str, metric: &str) -> Vec<SizePoint<'r>> {
    let point = |part: &&ProtocolRun<'r>| {
        let strategy = part
            .strategy(name)
            .filter(|strategy| why_not_compared(part, strategy).is_none())?;
        let scores = UnitScores::new(metric, strategy)?.drawn(&vec![1; strategy.units.len()]);
        let values = strategy
            .units
            .iter()
            .zip(scores)
            .filter_map(|(unit, score)| Some((unit.group, score?)));
        Some(SizePoint {
            tokens: realized(strategy)?,
            values: values.collect::<BTreeMap<_, _>>(),
        })
    };
    parts.iter().filter_map(point).collect()
}

/// Interpolated between two sizes of the curve; beyond its ends those of the nearest size within a
/// tenth.
fn at<'r>(curve: &[SizePoint<'r>], tokens: f64) -> Option<BTreeMap<&'r str, f64>> {
    between(curve, tokens).or_else(|| at_size(curve, tokens))
}

fn out_of_reach(name: &str, curve: &[SizePoint], tokens: f64) -> String {
    let sizes = || curve.iter().map(|point| point.tokens);
    format!(
        "{} was measured at {} to {} tokens and not at {}: `--retain` with further sizes may reach it",
        code(name),
        grouped(sizes().fold(f64::INFINITY, f64::min)),
        grouped(sizes().fold(0.0, f64::max)),
        grouped(tokens)
    )
}
