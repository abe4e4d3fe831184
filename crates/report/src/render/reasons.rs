//! Why values are undefined, each reason once.

use compactometer_formats::summary::{Group, StrategySummary};

use crate::metrics::Metric;

/// One line for each reason and set of strategies among these metrics: metrics, strategies, reason.
pub(crate) fn lines<'m>(group: &Group, metrics: impl Iterator<Item = &'m Metric>) -> Vec<String> {
    let mut found: Vec<(String, Vec<&str>, Vec<&str>)> = Vec::new();
    for metric in metrics {
        for (reason, names) in by_reason(&group.strategies, metric) {
            match found.iter_mut().find(|(seen, _, of)| *seen == reason && *of == names) {
                Some((_, ids, _)) => ids.push(metric.id),
                None => found.push((reason, vec![metric.id], names)),
            }
        }
    }
    let line = |(reason, ids, names): (String, Vec<&str>, Vec<&str>)| {
        let who = if names.len() == group.strategies.len() { "all".to_owned() } else { names.join(", ") };
        format!("{} ({who}): {reason}", ids.join(", "))
    };
    found.into_iter().map(line).collect()
}

fn by_reason<'s>(strategies: &'s [StrategySummary], metric: &Metric) -> Vec<(String, Vec<&'s str>)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for strategy in strategies {
        let Some(reason) = metric.of(strategy).and_then(|found| found.reason.clone()) else { continue };
        match found.iter_mut().find(|(seen, _)| *seen == reason) {
            Some((_, names)) => names.push(&strategy.name),
            None => found.push((reason, vec![&strategy.name])),
        }
    }
    found
}
