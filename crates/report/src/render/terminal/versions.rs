//! A run's numbers by the version of the recorded program: what it kept beside text and values of
//! the same size.

use compactometer_formats::record::Family;
use compactometer_formats::summary::{MetricValue, Summary, VersionPart};

use super::grid::with_interval;
use crate::data::SAME_SIZE;
use crate::metrics::Metric;
use crate::metrics::engine::TOKENS_RETAINED;
use crate::metrics::recall::{CONTEXT_RECALL, DISTANT_ADDRESS_USE_RECALL};
use crate::numbers::{grouped, short_share};

pub(super) fn lines(summary: &Summary) -> Option<Vec<String>> {
    let strategies = &summary
        .groups
        .first()
        .filter(|_| !summary.versions.is_empty())?
        .strategies;
    let is_first = |family: Family| strategies.iter().find(move |one| one.family == family);
    let first = &is_first(Family::Recorded)
        .or_else(|| is_first(Family::Reference))?
        .name;
    let beside = SAME_SIZE
        .into_iter()
        .filter(|name| strategies.iter().any(|one| one.name == *name))
        .collect::<Vec<_>>();
    let width = summary
        .versions
        .iter()
        .map(|part| part.version.chars().count())
        .max()
        .unwrap_or_default()
        .max(7);
    let row = |version: &str, cells: [&str; 4], beside: Vec<String>| {
        let [conversations, at_use, recall, tokens] = cells;
        let beside = beside
            .iter()
            .map(|cell| format!("  {cell:>11}"))
            .collect::<String>();
        format!(
            "{version:width$}  {conversations:>8}  {at_use:>13}{beside}  {recall:>6}  {tokens:>6}"
        )
    };
    let blank = beside.iter().map(|_| String::new()).collect();
    let names = beside.iter().map(|name| (*name).to_owned()).collect();
    let mut lines = vec![
        row("", ["conver-", "recall at use", "values", "tokens"], blank),
        row("version", ["sations", "95 %", "held", "left"], names),
    ];
    for VersionPart {
        version,
        conversations,
        strategies,
    } in &summary.versions
    {
        let of = |name: &str, metric: &Metric| {
            strategies
                .get(name)
                .and_then(|metrics| metrics.get(metric.id))
        };
        let value = |found: Option<&MetricValue>, show: fn(f64) -> String| {
            found
                .and_then(|found| found.value)
                .map_or("-".to_owned(), show)
        };
        let at_use = with_interval(of(first, &DISTANT_ADDRESS_USE_RECALL));
        let recall = value(of(first, &CONTEXT_RECALL), short_share);
        let tokens = value(of(first, &TOKENS_RETAINED), grouped);
        let beside = beside
            .iter()
            .map(|name| value(of(name, &DISTANT_ADDRESS_USE_RECALL), short_share))
            .collect();
        lines.push(row(
            version,
            [&conversations.to_string(), &at_use, &recall, &tokens],
            beside,
        ));
    }
    lines.push(format!(
        "Recall, values held and tokens left: of {first}. Few conversations have wide intervals or none."
    ));
    Some(lines)
}
