//! Why values are undefined, each reason once.

use compactometer_formats::summary::{Group, StrategySummary};

/// One line for each reason and set of strategies among these metrics: metrics, strategies, reason.
pub(crate) fn lines(group: &Group, ids: &[&str]) -> Vec<String> {
    let mut found: Vec<(String, Vec<&str>, Vec<&str>)> = Vec::new();
    for id in ids {
        for (reason, names) in by_reason(&group.strategies, id) {
            match found.iter_mut().find(|(seen, _, of)| *seen == reason && *of == names) {
                Some((_, metrics, _)) => metrics.push(id),
                None => found.push((reason, vec![id], names)),
            }
        }
    }
    let line = |(reason, metrics, names): (String, Vec<&str>, Vec<&str>)| {
        let who = if names.len() == group.strategies.len() { "all".to_owned() } else { names.join(", ") };
        format!("{} ({who}): {reason}", metrics.join(", "))
    };
    found.into_iter().map(line).collect()
}

fn by_reason<'s>(strategies: &'s [StrategySummary], id: &str) -> Vec<(String, Vec<&'s str>)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for strategy in strategies {
        let Some(reason) = strategy.metrics.get(id).and_then(|metric| metric.reason.clone()) else { continue };
        match found.iter_mut().find(|(seen, _)| *seen == reason) {
            Some((_, names)) => names.push(&strategy.name),
            None => found.push((reason, vec![&strategy.name])),
        }
    }
    found
}
