//! What the curves show, in sentences that hold whatever the numbers are.

use std::collections::{BTreeMap, BTreeSet};

use compactometer_formats::manifest::Manifest;
use compactometer_formats::record::Family;
use compactometer_formats::summary::{Sweep, SweepPoint};
use compactometer_text::code::code;

use crate::data::{ProtocolRun, UnitRecords};
use crate::metrics::Metric;
use crate::metrics::scores::{BOUND, RAW};
use crate::metrics::{bound, recall};
use crate::numbers::grouped;
use crate::stats::{mean, quantile};
use crate::summary::sizes::{at_size, curve, yardstick};
use crate::vocabulary;

/// Every sentence that the points support: what the split explains, recall at one size, and missing
/// cases.
pub(super) fn all(
    sweep: &Sweep,
    manifest: &Manifest,
    parts: &[ProtocolRun],
    metric: &Metric,
) -> Vec<String> {
    let split = split(&sweep.splits, &vocabulary::name(metric.id));
    split
        .into_iter()
        .chain(one_size(sweep, manifest, parts))
        .chain(missing(sweep, manifest))
        .collect()
}

/// A strategy's recall at its own split and at the common one.
struct SplitPair<'p> {
    name: &'p str,
    own: f64,
    common: f64,
}

/// How much of the best strategy's lead over the median of the others goes away when all keep the
/// smallest share of the sweep.
fn split(points: &[SweepPoint], recall: &str) -> Option<String> {
    let least = points
        .iter()
        .filter(|point| !point.is_own_split)
        .map(|point| point.split)
        .min_by(f64::total_cmp)?;
    let pairs = pairs(points, least);
    let best = pairs
        .iter()
        .max_by(|one, other| one.own.total_cmp(&other.own))?;
    let others = pairs
        .iter()
        .filter(|pair| pair.name != best.name)
        .collect::<Vec<_>>();
    let before = best.own - median(&others, |pair| pair.own)?;
    let after = best.common - median(&others, |pair| pair.common)?;
    if before <= 0.0 {
        return None;
    }
    let lowest = pairs
        .iter()
        .map(|pair| pair.own)
        .fold(f64::INFINITY, f64::min);
    Some(format!(
        "At one retained budget and their own splits, {recall} of {} strategies ranges from {lowest:.2} to {:.2} ({}), which is \
         {before:.2} above the median of the others. With {:.0} % of the budget kept verbatim by all, it is {:.2} {} that median: \
         {}.{}{}",
        pairs.len(),
        best.own,
        code(best.name),
        100.0 * least,
        after.abs(),
        if after < 0.0 { "below" } else { "above" },
        explained(1.0 - after / before),
        changes(points, &pairs, recall),
        left_out(points, &pairs)
    ))
}

fn explained(share: f64) -> String {
    let what = "the split between tail and summary";
    match share {
        share if share >= 1.0 => format!("{what} explains all of that difference"),
        share if share >= 0.5 => {
            format!("{what} explains {:.0} % of that difference", 100.0 * share)
        }
        share if share > 0.0 => {
            format!(
                "{what} explains {:.0} % of that difference, and most of it is something else",
                100.0 * share
            )
        }
        _ => format!("{what} does not explain that difference"),
    }
}

fn median(pairs: &[&SplitPair], of: fn(&SplitPair) -> f64) -> Option<f64> {
    let mut values = pairs.iter().map(|pair| of(pair)).collect::<Vec<_>>();
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5)
}

/// Strategies that have a recall at both splits and do not fail too often at either.
fn pairs(points: &[SweepPoint], common: f64) -> Vec<SplitPair<'_>> {
    let mut by_name: BTreeMap<&str, [Option<f64>; 2]> = BTreeMap::new();
    for point in points.iter().filter(|point| point.fails.is_none()) {
        let pair = by_name.entry(&point.strategy).or_default();
        if point.is_own_split {
            pair[0] = point.recall.value;
        }
        if point.split == common {
            pair[1] = point.recall.value;
        }
    }
    by_name
        .into_iter()
        .filter_map(|(name, [own, common])| {
            Some(SplitPair {
                name,
                own: own?,
                common: common?,
            })
        })
        .collect()
}

/// Strategies whose points the sentence cannot use.
fn left_out(points: &[SweepPoint], pairs: &[SplitPair]) -> String {
    let is_used = |name: &str| pairs.iter().any(|pair| pair.name == name);
    let names = points
        .iter()
        .filter(|point| point.fails.is_some() && !is_used(&point.strategy));
    let names = names
        .map(|point| code(&point.strategy))
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>();
    match names.is_empty() {
        true => String::new(),
        false => format!(
            " Left out, since it fails too often at one of the two: {}.",
            names.join(", ")
        ),
    }
}

/// How many strategies with a tail the common split changes much, and which one most.
fn changes(points: &[SweepPoint], pairs: &[SplitPair], recall: &str) -> String {
    let has_tail = |pair: &&SplitPair| {
        points
            .iter()
            .any(|point| point.strategy == pair.name && !point.is_own_split)
    };
    let with_tail = pairs.iter().filter(has_tail).collect::<Vec<_>>();
    let change = |pair: &&&SplitPair| (pair.common - pair.own).abs();
    let Some(most) = with_tail
        .iter()
        .max_by(|one, other| change(one).total_cmp(&change(other)))
    else {
        return String::new();
    };
    let doubled = with_tail
        .iter()
        .filter(|pair| pair.own > 0.0 && pair.common >= 2.0 * pair.own)
        .count();
    format!(
        " This at least doubles {recall} for {doubled} of the {} strategies with an adjustable tail; {} changes most, from {:.2} to {:.2}.",
        with_tail.len(),
        code(most.name),
        most.own,
        most.common
    )
}

/// Recall at the size of the reference, read off each strategy's own curve.
fn one_size(sweep: &Sweep, manifest: &Manifest, parts: &[ProtocolRun]) -> Option<String> {
    let by_size = parts
        .iter()
        .filter(|part| part.split.is_none())
        .map(copied)
        .collect::<Vec<_>>();
    let headline = by_size.first().filter(|_| by_size.len() > 1)?;
    let first = headline
        .strategies
        .iter()
        .find(|strategy| strategy.family == Family::Reference);
    let declared = manifest
        .reference
        .as_deref()
        .or(first.map(|strategy| strategy.name));
    let (reference, tokens) = yardstick(headline, declared)?;
    let is_bound = sweep.metric == BOUND;
    let value = |unit: &UnitRecords| {
        if is_bound {
            bound::of_unit(unit)
        } else {
            recall::of_unit(unit)
        }
    };
    // A curve leads through no failure.
    let fails = |name: &str, retained: Option<u32>| {
        let is_it =
            |point: &&SweepPoint| point.strategy == name && Some(point.retained) == retained;
        sweep
            .sizes
            .iter()
            .find(is_it)
            .is_some_and(|point| point.fails.is_some())
    };
    let (mut read, mut beyond) = (Vec::new(), Vec::new());
    for strategy in headline
        .strategies
        .iter()
        .filter(|strategy| strategy.family.is_tested())
    {
        let name = strategy.name;
        let held = by_size
            .iter()
            .filter(|part| !fails(name, part.retained))
            .map(copied)
            .collect::<Vec<_>>();
        let values = at_size(&curve(&held, name, value), tokens);
        let values = values.map(|values| values.into_values().collect::<Vec<_>>());
        match values.as_deref().and_then(mean) {
            Some(recall) => read.push(format!("{} {recall:.2}", strategy.name)),
            None => beyond.push(strategy.name),
        }
    }
    let beyond = if beyond.is_empty() {
        String::new()
    } else {
        format!("; no curve of {} reaches it", beyond.join(", "))
    };
    Some(format!(
        "Read off each strategy's own curve at the {} tokens that {} retains, {} is: {}{beyond}.",
        grouped(tokens),
        code(reference),
        vocabulary::name(if is_bound { BOUND } else { RAW }),
        read.join(", ")
    ))
}

fn copied<'r>(part: &ProtocolRun<'r>) -> ProtocolRun<'r> {
    ProtocolRun {
        strategies: part.strategies.clone(),
        ..*part
    }
}

fn missing(sweep: &Sweep, manifest: &Manifest) -> Option<String> {
    let found: usize = sweep
        .replays
        .iter()
        .flat_map(|replay| &replay.strategies)
        .map(|strategy| strategy.triggered.of)
        .sum();
    let listed = manifest.swept_cases.filter(|listed| *listed != found)?;
    Some(format!(
        "The manifest lists {listed} sweep cases, and there are records of {found}."
    ))
}

#[cfg(test)]
mod tests {
    use compactometer_formats::summary::MetricValue;

    use super::*;

    fn point(strategy: &str, split: f64, is_own_split: bool, recall: f64) -> SweepPoint {
        let value = MetricValue {
            value: Some(recall),
            low: None,
            high: None,
            n: 8,
            unit: "share".to_owned(),
            reason: None,
        };
        SweepPoint {
            strategy: strategy.to_owned(),
            family: Family::Reference,
            retained: 3_600,
            split,
            is_own_split,
            written_budget: 600,
            tokens_retained: None,
            recall: value,
            fails: None,
        }
    }

    #[test]
    fn the_sentence_on_the_split_follows_the_numbers() {
        let told = |changed: [f64; 2]| {
            let points = [
                point("a", 0.8, true, 0.20),
                point("a", 0.0, false, changed[0]),
                point("b", 0.7, true, 0.30),
                point("b", 0.0, false, changed[1]),
                // No tail to choose: its own split is the common one.
                point("c", 0.0, true, 0.60),
            ];
            split(&points, "facts kept").expect("three strategies have both")
        };
        let most = told([0.61, 0.53]);
        assert!(
            most.contains(
                "facts kept of 3 strategies ranges from 0.20 to 0.60 (`c`), which is 0.35 above"
            ),
            "{most}"
        );
        assert!(
            most.contains(
                "With 0 % of the budget kept verbatim by all, it is 0.03 above that median"
            ),
            "{most}"
        );
        assert!(most.contains("explains 91 % of that difference"), "{most}");
        assert!(
            most.contains("doubles facts kept for 1 of the 2 strategies")
                && most.contains("`a` changes most, from 0.20 to 0.61"),
            "{most}"
        );
        assert!(told([0.70, 0.66]).contains(
            "is 0.08 below that median: the split between tail and summary explains all"
        ));
        assert!(
            told([0.25, 0.35])
                .contains("explains 14 % of that difference, and most of it is something else")
        );
        assert!(told([0.05, 0.20]).contains("does not explain"));
    }

    #[test]
    fn one_that_fails_takes_no_part() {
        let mut points = vec![
            point("a", 0.8, true, 0.2),
            point("a", 0.0, false, 0.6),
            point("b", 0.0, true, 0.9),
        ];
        assert!(!split(&points, "facts kept").unwrap().contains("Left out"));
        let mut failing = point("d", 0.0, true, 0.95);
        failing.fails = Some("12 % failed".to_owned());
        points.push(failing);
        assert!(
            split(&points, "facts kept")
                .unwrap()
                .ends_with("Left out, since it fails too often at one of the two: `d`.")
        );
        points.pop();
        points[2].fails = Some("12 % of the compactions that were due failed".to_owned());
        assert!(
            split(&points, "facts kept").is_none(),
            "one strategy has nothing to differ from"
        );
    }
}
