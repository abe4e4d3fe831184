//! Curves of recall over size and over the split between tail and summary, and what they show.
//!
//! Every point is of the conversations that all points have. Absent on purpose: verdicts where the
//! sizes differ.

mod compared;
mod findings;

use std::collections::BTreeSet;

use compactometer_engine::budget::Tail;
use compactometer_formats::summary::{Sweep, SweepPoint, SweptReplay};

use super::{checks, of_strategy};
use crate::data::{ProtocolRun, StrategyRecords};
use crate::metrics::Metric;
use crate::metrics::bound::BOUND_RECALL_CORRECTED;
use crate::metrics::engine::TOKENS_RETAINED;
use crate::metrics::failures::why_not_compared;
use crate::metrics::recall::{CONTEXT_RECALL, CONTEXT_RECALL_CORRECTED};
use crate::metrics::value::rounded;
use crate::stats::nine_digits;

/// The points of a run's sweeps; nothing if it had none.
pub(crate) fn summarize(runs: &[ProtocolRun]) -> Option<Sweep> {
    let headline = runs
        .iter()
        .find(|run| run.protocol.has_limits_of_run() && !run.is_swept())?;
    let swept = runs.iter().filter(|run| run.is_swept()).collect::<Vec<_>>();
    let common = swept
        .iter()
        .map(|run| conversations(run))
        .reduce(|one, other| &one & &other)?;
    let parts = std::iter::once(headline)
        .chain(swept.iter().copied())
        .map(|run| within(run, &common))
        .collect::<Vec<_>>();
    let metric = metric(&parts[0]);
    let mut sweep = Sweep {
        metric: metric.id.to_owned(),
        retained: headline.manifest.retained,
        conversations: common.len(),
        of: conversations(headline).len(),
        sizes: sizes(&parts, metric),
        splits: splits(&parts, metric),
        comparisons: compared::all(
            &parts
                .iter()
                .filter(|part| part.split.is_none())
                .collect::<Vec<_>>(),
        ),
        findings: Vec::new(),
        replays: swept.iter().map(|run| replay(run)).collect(),
    };
    sweep.findings = findings::all(&sweep, headline.manifest, &parts, metric);
    Some(sweep)
}

/// BR*; CR* where facts have no subjects, and CR where chance is unknown.
fn metric(headline: &ProtocolRun) -> &'static Metric {
    let has_any = |metric: &&'static Metric| {
        headline
            .strategies
            .iter()
            .any(|strategy| (metric.compute)(headline, strategy).value.is_some())
    };
    [&BOUND_RECALL_CORRECTED, &CONTEXT_RECALL_CORRECTED]
        .into_iter()
        .find(has_any)
        .unwrap_or(&CONTEXT_RECALL)
}

fn conversations<'r>(run: &ProtocolRun<'r>) -> BTreeSet<&'r str> {
    run.records()
        .map(|record| record.case.scenario.as_str())
        .collect()
}

/// The run's part in these conversations.
fn within<'r>(run: &ProtocolRun<'r>, scenarios: &BTreeSet<&str>) -> ProtocolRun<'r> {
    let part = |strategy: &StrategyRecords<'r>| {
        let records = strategy
            .records()
            .filter(|record| scenarios.contains(record.case.scenario.as_str()));
        StrategyRecords::new(strategy.name, records.collect())
    };
    ProtocolRun {
        strategies: run.strategies.iter().filter_map(part).collect(),
        ..*run
    }
}

/// The strategies that were run at a further size, at all of their sizes in ascending order.
fn sizes(parts: &[ProtocolRun], metric: &Metric) -> Vec<SweepPoint> {
    let mut by_size = parts
        .iter()
        .filter(|part| part.split.is_none())
        .collect::<Vec<_>>();
    by_size.sort_by_key(|part| part.retained);
    let curve = |strategy: &StrategyRecords| {
        let points = by_size
            .iter()
            .filter_map(|part| point(part, part.strategy(strategy.name)?, metric));
        points.collect::<Vec<_>>()
    };
    parts[0]
        .strategies
        .iter()
        .map(curve)
        .filter(|points| points.len() > 1)
        .flatten()
        .collect()
}

/// The strategies under test at the run's size, each at its own split and at those of the sweep, in
/// ascending order. One without a tail to choose has one point.
fn splits(parts: &[ProtocolRun], metric: &Metric) -> Vec<SweepPoint> {
    let (headline, swept) = (
        &parts[0],
        parts
            .iter()
            .filter(|part| part.split.is_some())
            .collect::<Vec<_>>(),
    );
    if swept.is_empty() {
        return Vec::new();
    }
    let curve = |strategy: &StrategyRecords| {
        let at = |part: &&ProtocolRun| point(part, part.strategy(strategy.name)?, metric);
        let mut points = std::iter::once(headline)
            .chain(swept.iter().copied())
            .filter_map(|part| at(&part))
            .collect::<Vec<_>>();
        points.sort_by(|one, other| one.split.total_cmp(&other.split));
        points
    };
    headline
        .strategies
        .iter()
        .filter(|strategy| strategy.family.is_tested())
        .flat_map(curve)
        .collect()
}

/// Nothing for limits without a common size.
fn point(part: &ProtocolRun, strategy: &StrategyRecords, metric: &Metric) -> Option<SweepPoint> {
    let budget = strategy.records().next()?.case.budget;
    let retained = budget.retained?;
    let Tail::Tokens(tail) = budget.tail else {
        return None;
    };
    let own_split = f64::from(tail) / f64::from(retained.max(1));
    Some(SweepPoint {
        strategy: strategy.name.to_owned(),
        family: strategy.family,
        retained,
        split: nine_digits(part.split.unwrap_or(own_split)),
        is_own_split: part.split.is_none(),
        written_budget: budget.written,
        tokens_retained: (TOKENS_RETAINED.compute)(part, strategy)
            .value
            .map(nine_digits),
        recall: rounded(metric.unit, (metric.compute)(part, strategy)),
        fails: fails(part, strategy),
    })
}

fn fails(part: &ProtocolRun, strategy: &StrategyRecords) -> Option<String> {
    let (_, reason) = why_not_compared(part, strategy)?;
    strategy.family.is_tested().then_some(reason)
}

fn replay(run: &ProtocolRun) -> SweptReplay {
    let strategies = run
        .strategies
        .iter()
        .map(|strategy| of_strategy(run, strategy))
        .collect::<Vec<_>>();
    SweptReplay {
        retained: run.retained.unwrap_or_default(),
        split: run.split,
        conversations: conversations(run).len(),
        checks: checks::all(run, &strategies),
        strategies,
    }
}
