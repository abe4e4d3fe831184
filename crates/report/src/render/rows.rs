//! The tables for machines: metrics in long form, and every fact's fate.

use compactometer_formats::summary::{StrategySummary, Summary};

use crate::data::fates;
use crate::data::label;
use crate::data::points;
use crate::data::{ProtocolRun, StrategyRecords};
use crate::metrics;

/// Rows of `summary.csv`: every metric of every strategy, then those of sweeps, which name their
/// budget and split.
pub(super) fn metrics(summary: &Summary) -> Vec<Vec<String>> {
    let mut rows = vec![header(
        "protocol,retained,split,strategy,metric,value,low,high,n,unit,reason,approach",
    )];
    for group in &summary.groups {
        rows.extend(of_strategies(
            [group.protocol.name(), "", ""],
            &group.strategies,
        ));
    }
    let swept = summary
        .groups
        .iter()
        .map(|group| group.protocol)
        .find(|protocol| protocol.has_limits_of_run());
    let swept = swept.map_or("", |protocol| protocol.name());
    for replay in summary.sweep.iter().flat_map(|sweep| &sweep.replays) {
        let (retained, split) = (replay.retained.to_string(), number(replay.split));
        rows.extend(of_strategies(
            [swept, &retained, &split],
            &replay.strategies,
        ));
    }
    rows
}

fn of_strategies(
    limits: [&str; 3],
    strategies: &[StrategySummary],
) -> impl Iterator<Item = Vec<String>> {
    let listed = strategies
        .iter()
        .flat_map(|strategy| metrics::ALL.iter().map(move |metric| (strategy, metric)));
    listed.filter_map(move |(strategy, metric)| {
        let found = strategy.metrics.get(metric.id)?;
        let mut row = limits.map(str::to_owned).to_vec();
        row.extend([strategy.name.clone(), metric.id.to_owned()]);
        row.extend([found.value, found.low, found.high].map(number));
        row.extend([
            found.n.to_string(),
            found.unit.clone(),
            found.reason.clone().unwrap_or_default(),
            strategy.approach.clone().unwrap_or_default(),
        ]);
        Some(row)
    })
}

/// Rows of `facts.csv`: the fate of every fact and decoy at its scenario's last observation point,
/// and whether storage holds it while the context does not.
pub(super) fn facts(runs: &[ProtocolRun]) -> Vec<Vec<String>> {
    let mut rows = vec![header(
        "protocol,retained,split,scenario,fact,category,kind,decoy,generic,strategy,fate,stored",
    )];
    for (run, strategy) in strategies(runs) {
        for record in strategy.records() {
            let end = points(record).last();
            for (index, (fact, fate)) in fates::last(record).enumerate() {
                rows.push(vec![
                    record.case.protocol.name().to_owned(),
                    number(run.retained.filter(|_| run.is_swept())),
                    number(run.split),
                    record.case.scenario.clone(),
                    fact.id.clone(),
                    label(&fact.category),
                    label(&fact.value_kind),
                    fact.decoy.to_string(),
                    fact.generic.to_string(),
                    strategy.name.to_owned(),
                    fate.name().to_owned(),
                    end.is_some_and(|end| end.is_stored(index as u32))
                        .to_string(),
                ]);
            }
        }
    }
    rows
}

fn strategies<'r, 'p>(
    runs: &'r [ProtocolRun<'p>],
) -> impl Iterator<Item = (&'r ProtocolRun<'p>, &'r StrategyRecords<'p>)> {
    runs.iter()
        .flat_map(|run| run.strategies.iter().map(move |strategy| (run, strategy)))
}

/// A number; empty if there is none.
pub(super) fn number(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

pub(super) fn header(names: &str) -> Vec<String> {
    names.split(',').map(str::to_owned).collect()
}
