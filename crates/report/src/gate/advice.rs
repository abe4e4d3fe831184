//! What an open gate needs: units, their cost on both sides, and the next command.

use compactometer_formats::summary::Summary;

use super::metric_gate::MetricGate;
use super::{GateVerdict, GatedStrategy};
use crate::metrics::answered::COST_USD_PROBES;
use crate::metrics::cost::{COST_USD_CHECKPOINT, COST_USD_COMPACTION};
use crate::vocabulary;

/// What a decision needs: units, their cost on both sides, and the next command.
pub(super) fn next(
    pair: &GatedStrategy,
    metrics: &[MetricGate],
    summary: &Summary,
) -> Option<String> {
    let open = metrics
        .iter()
        .filter(|metric| metric.verdict == GateVerdict::Inconclusive);
    let (told, untold): (Vec<_>, Vec<_>) = open.partition(|metric| metric.units_needed.is_some());
    let most = told.into_iter().max_by_key(|metric| metric.units_needed);
    let untold = untold.iter().map(|metric| {
        format!(
            "more conversations cannot decide {}; see its reason",
            vocabulary::name(&metric.metric)
        )
    });
    let said: Vec<String> = most
        .and_then(|metric| from_units(pair, metric, summary))
        .into_iter()
        .chain(untold)
        .collect();
    (!said.is_empty()).then(|| said.join("; "))
}

fn from_units(pair: &GatedStrategy, metric: &MetricGate, summary: &Summary) -> Option<String> {
    let needed = metric.units_needed?;
    let found = format!(
        "with {needed} independent conversations, a loss of two margins of {} is found with probability .80",
        vocabulary::name(&metric.metric)
    );
    if needed <= metric.units {
        return Some(format!(
            "{found}, and the run has enough; the difference is close to the margin, and more conversations would narrow its bounds"
        ));
    }
    let per_unit = pair.strategy.records().count() as f64 / pair.strategy.units.len().max(1) as f64;
    let conversations = libm::ceil(per_unit * needed as f64);
    let cost = if pair.run.is_mock() {
        "free with the mock".to_owned()
    } else {
        cost(pair, summary, conversations).unwrap_or_else(|| "at an unknown price".to_owned())
    };
    Some(format!(
        "{found}; there are {}. About {conversations:.0} conversations on each side, {cost}. Next: `compactometer generate SPEC \
         --out larger.jsonl` with `conversations = {conversations:.0}`, then `compactometer run larger.jsonl` on the old \
         program, `compactometer gate DIR --baseline FILE --update`, and both again on the new one without `--update`",
        metric.units
    ))
}

/// The strategy's own calls and those that ask it questions, on both sides.
fn cost(pair: &GatedStrategy, summary: &Summary, conversations: f64) -> Option<String> {
    let group = summary
        .groups
        .iter()
        .find(|group| group.protocol == pair.head.protocol)?;
    let strategy = group
        .strategies
        .iter()
        .find(|strategy| strategy.name == pair.head.strategy)?;
    let besides = [COST_USD_CHECKPOINT, COST_USD_PROBES]
        .iter()
        .filter_map(|metric| metric.value(strategy))
        .sum::<f64>();
    let each = COST_USD_COMPACTION.value(strategy)? + besides;
    Some(format!(
        "about ${:.2} of calls in all",
        2.0 * each * conversations
    ))
}
