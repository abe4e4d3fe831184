//! What the curves show, in sentences that hold whatever the numbers are.

use std::collections::BTreeMap;

use compactometer_formats::manifest::Manifest;
use compactometer_formats::record::Family;
use compactometer_formats::summary::{Sweep, SweepPoint};
use compactometer_text::code::code;

use crate::data::{ProtocolRun, UnitRecords};
use crate::metrics::scores::BOUND;
use crate::metrics::{Metric, bound_of_unit, grouped, recall_of_unit};
use crate::stats::mean;
use crate::summary::sizes::{at_size, curve, yardstick};

/// Every sentence that the points support: what the split explains, recall at one size, and missing cases.
pub(super) fn all(sweep: &Sweep, manifest: &Manifest, parts: &[ProtocolRun], metric: &Metric) -> Vec<String> {
    let split = split(&sweep.splits, short_name(metric.id));
    split.into_iter().chain(one_size(sweep, manifest, parts)).chain(missing(sweep, manifest)).collect()
}

/// The name that texts give to a recall.
pub(crate) fn short_name(id: &str) -> &'static str {
    match id {
        "bound_recall_corrected" => "BR*",
        "context_recall_corrected" => "CR*",
        _ => "CR",
    }
}

/// A strategy's recall at its own split and at the common one.
struct Pair<'p> {
    name: &'p str,
    own: f64,
    common: f64,
}

/// How much of the difference between strategies the split explains: it is set to the smallest share of the sweep for all, and the
/// rest of the difference is what remains.
fn split(points: &[SweepPoint], recall: &str) -> Option<String> {
    let least = points.iter().filter(|point| !point.is_own_split).map(|point| point.split).min_by(f64::total_cmp)?;
    let pairs = pairs(points, least);
    let spread = |of: fn(&Pair) -> f64| variance(&pairs.iter().map(of).collect::<Vec<_>>());
    let (before, after) = (spread(|pair| pair.own)?, spread(|pair| pair.common)?);
    if before <= 0.0 {
        return None;
    }
    let kept = format!("{:.0} % of it kept verbatim", 100.0 * least);
    let falls = 1.0 - after / before;
    let share = format!("{:.0} %", 100.0 * falls.abs());
    let verdict = match falls {
        falls if falls >= 0.5 => format!(
            "the variance between strategies falls by {share}: at the default, most of what separates them is how they split the \
             budget between tail and summary, not how they summarize"
        ),
        falls if falls > 0.0 => format!(
            "the variance between strategies falls by {share}: the split between tail and summary explains a part of what \
             separates them at the default, and most of it is something else"
        ),
        _ => format!(
            "the variance between strategies grows by {share}: the split between tail and summary does not explain what \
             separates them at the default"
        ),
    };
    Some(format!(
        "At one retained budget and their own splits, {recall} of {} strategies {}. With {kept}, {}, and {verdict}.{}",
        pairs.len(),
        range(&pairs, |pair| pair.own, "ranges from"),
        range(&pairs, |pair| pair.common, "it ranges from"),
        most(&pairs, &kept)
    ))
}

/// Strategies that have a recall at both splits and do not fail too often at either.
fn pairs(points: &[SweepPoint], common: f64) -> Vec<Pair<'_>> {
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
    by_name.into_iter().filter_map(|(name, [own, common])| Some(Pair { name, own: own?, common: common? })).collect()
}

fn variance(values: &[f64]) -> Option<f64> {
    let middle = mean(values).filter(|_| values.len() > 1)?;
    mean(&values.iter().map(|value| (value - middle) * (value - middle)).collect::<Vec<_>>())
}

fn range(pairs: &[Pair], of: fn(&Pair) -> f64, verb: &str) -> String {
    let by_value = |one: &&Pair, other: &&Pair| of(one).total_cmp(&of(other));
    let end = |pair: Option<&Pair>| pair.map_or(String::new(), |pair| format!("{:.2} ({})", of(pair), code(pair.name)));
    format!("{verb} {} to {}", end(pairs.iter().min_by(by_value)), end(pairs.iter().max_by(by_value)))
}

/// The strategy that the common split changes most.
fn most(pairs: &[Pair], kept: &str) -> String {
    let change = |pair: &&Pair| (pair.common - pair.own).abs();
    let Some(pair) = pairs.iter().max_by(|one, other| change(one).total_cmp(&change(other))) else {
        return String::new();
    };
    let times = pair.common / pair.own;
    let times = if pair.own > 0.0 && times > 1.0 { format!(", {times:.1} times as much") } else { String::new() };
    format!(
        " The largest change is that of {}: from {:.2} to {:.2} with {kept}{times}.",
        code(pair.name),
        pair.own,
        pair.common
    )
}

/// Recall at the size of the reference, read off each strategy's own curve.
fn one_size(sweep: &Sweep, manifest: &Manifest, parts: &[ProtocolRun]) -> Option<String> {
    let by_size = parts.iter().filter(|part| part.split.is_none()).map(copied).collect::<Vec<_>>();
    let headline = by_size.first().filter(|_| by_size.len() > 1)?;
    let first = headline.strategies.iter().find(|strategy| strategy.family == Family::Reference);
    let declared = manifest.reference.as_deref().or(first.map(|strategy| strategy.name));
    let (reference, tokens) = yardstick(headline, declared)?;
    let is_bound = sweep.metric == BOUND;
    let value = |unit: &UnitRecords| if is_bound { bound_of_unit(unit) } else { recall_of_unit(unit) };
    let fails = |name: &str| sweep.sizes.iter().any(|point| point.strategy == name && point.fails.is_some());
    let (mut read, mut beyond) = (Vec::new(), Vec::new());
    for strategy in headline.strategies.iter().filter(|strategy| strategy.family.is_tested() && !fails(strategy.name)) {
        let values = at_size(&curve(&by_size, strategy.name, value), tokens)
            .map(|values| values.into_values().collect::<Vec<_>>());
        match values.as_deref().and_then(mean) {
            Some(recall) => read.push(format!("{} {recall:.2}", strategy.name)),
            None => beyond.push(strategy.name),
        }
    }
    let beyond =
        if beyond.is_empty() { String::new() } else { format!("; no curve of {} reaches it", beyond.join(", ")) };
    Some(format!(
        "Read off each strategy's own curve at the {} tokens that {} retains, {} is: {}{beyond}.",
        grouped(tokens),
        code(reference),
        if is_bound { "BR*" } else { "CR" },
        read.join(", ")
    ))
}

fn copied<'r>(part: &ProtocolRun<'r>) -> ProtocolRun<'r> {
    ProtocolRun { strategies: part.strategies.clone(), ..*part }
}

fn missing(sweep: &Sweep, manifest: &Manifest) -> Option<String> {
    let found: usize =
        sweep.replays.iter().flat_map(|replay| &replay.strategies).map(|strategy| strategy.triggered.of).sum();
    let listed = manifest.swept_cases.filter(|listed| *listed != found)?;
    Some(format!("The manifest lists {listed} cases of sweeps and there are records of {found}."))
}

#[cfg(test)]
mod tests {
    use compactometer_formats::summary::MetricValue;

    use super::*;

    fn point(strategy: &str, split: f64, is_own_split: bool, recall: f64) -> SweepPoint {
        let value =
            MetricValue { value: Some(recall), low: None, high: None, n: 8, unit: "share".to_owned(), reason: None };
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
            split(&points, "BR*").expect("three strategies have both")
        };
        let most = told([0.61, 0.58]);
        assert!(most.contains("BR* of 3 strategies ranges from 0.20 (`a`) to 0.60 (`c`)"), "{most}");
        assert!(most.contains("With 0 % of it kept verbatim, it ranges from 0.58 (`b`) to 0.61 (`a`)"), "{most}");
        assert!(
            most.contains("falls by 99 %") && most.contains("most of what separates them is how they split"),
            "{most}"
        );
        assert!(most.contains("`a`: from 0.20 to 0.61 with 0 % of it kept verbatim, 3.0 times as much"), "{most}");
        assert!(told([0.25, 0.35]).contains("explains a part"));
        assert!(told([0.05, 0.20]).contains("does not explain"));
    }

    #[test]
    fn one_that_fails_takes_no_part() {
        let mut points = vec![point("a", 0.8, true, 0.2), point("a", 0.0, false, 0.6), point("b", 0.0, true, 0.9)];
        assert!(split(&points, "BR*").is_some());
        points[2].fails = Some("12 % of the compactions that were due failed".to_owned());
        assert!(split(&points, "BR*").is_none(), "one strategy has nothing to differ from");
    }
}
