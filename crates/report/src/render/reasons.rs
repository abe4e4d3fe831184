//! Why values are undefined, each reason once, and why compactions failed.

use compactometer_formats::summary::{FailureCount, Group};
use compactometer_text::code::code;

use crate::metrics::Metric;

/// One line for each reason and set of strategies among these metrics: metrics, strategies, reason.
pub(crate) fn lines<'m>(group: &Group, metrics: impl Iterator<Item = &'m Metric>) -> Vec<String> {
    let mut found: Vec<(&str, Vec<&str>, Vec<&str>)> = Vec::new();
    for metric in metrics {
        let of = group.strategies.iter().map(|one| {
            (
                metric.get(one).and_then(|value| value.reason.as_ref()),
                &*one.name,
            )
        });
        for (reason, names) in by_reason(of) {
            match found
                .iter_mut()
                .find(|(seen, _, of)| *seen == reason && *of == names)
            {
                Some((_, ids, _)) => ids.push(metric.id),
                None => found.push((reason, vec![metric.id], names)),
            }
        }
    }
    let line = |(reason, ids, names): (&str, Vec<&str>, Vec<&str>)| {
        let who = if names.len() == group.strategies.len() {
            "all".to_owned()
        } else {
            names.join(", ")
        };
        format!("{} ({who}): {reason}", ids.join(", "))
    };
    found.into_iter().map(line).collect()
}

/// One line for each strategy that failed: its most frequent reasons with their counts.
pub(crate) fn failures(group: &Group) -> Vec<String> {
    let failed = group
        .strategies
        .iter()
        .filter(|strategy| !strategy.failures.is_empty());
    let one = |failure: &FailureCount| format!("{} x {}", failure.count, code(&failure.reason));
    let line = |reasons: &[FailureCount]| reasons.iter().map(one).collect::<Vec<_>>().join(", ");
    failed
        .map(|strategy| format!("{}: {}", strategy.name, line(&strategy.failures)))
        .collect()
}

/// Each reason once, in the order of its first name, with the names that it holds for.
pub(super) fn by_reason<'n>(
    found: impl Iterator<Item = (Option<&'n String>, &'n str)>,
) -> Vec<(&'n str, Vec<&'n str>)> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (reason, name) in found.filter_map(|(reason, name)| Some((reason?, name))) {
        match reasons.iter_mut().find(|(seen, _)| seen == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    reasons
}
