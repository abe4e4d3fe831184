//! The tables for machines: metrics in long form, and every fact's fate.

use compactometer_formats::summary::Group;

use crate::data::ProtocolRun;
use crate::data::fates;
use crate::data::label;
use crate::data::points;
use crate::metrics;

/// Rows of `summary.csv`: every metric of every strategy.
pub(super) fn metrics(groups: &[Group]) -> Vec<Vec<String>> {
    let mut rows = vec![header("protocol,retained,strategy,metric,value,low,high,n,unit,reason")];
    for (group, strategy) in groups.iter().flat_map(|group| group.strategies.iter().map(move |found| (group, found))) {
        for metric in metrics::ALL {
            let Some(found) = strategy.metrics.get(metric.id) else { continue };
            let mut row = vec![
                group.protocol.name().to_owned(),
                number(group.retained),
                strategy.name.clone(),
                metric.id.to_owned(),
            ];
            row.extend([found.value, found.low, found.high].map(number));
            row.extend([found.n.to_string(), found.unit.clone(), found.reason.clone().unwrap_or_default()]);
            rows.push(row);
        }
    }
    rows
}

/// Rows of `facts.csv`: the fate of every fact and decoy at its scenario's last observation point, and whether storage holds it
/// while the context does not.
pub(super) fn facts(runs: &[ProtocolRun]) -> Vec<Vec<String>> {
    let mut rows = vec![header("protocol,retained,scenario,fact,category,kind,decoy,generic,strategy,fate,stored")];
    for (run, strategy) in runs.iter().flat_map(|run| run.strategies.iter().map(move |strategy| (run, strategy))) {
        for record in strategy.records() {
            let end = points(record).last();
            for (index, (fact, fate)) in fates::last(record).enumerate() {
                rows.push(vec![
                    record.case.protocol.name().to_owned(),
                    number(run.retained.filter(|_| !run.manifest.sweep.is_empty())),
                    record.case.scenario.clone(),
                    fact.id.clone(),
                    label(&fact.category),
                    label(&fact.value_kind),
                    fact.decoy.to_string(),
                    fact.generic.to_string(),
                    strategy.name.to_owned(),
                    fate.name().to_owned(),
                    end.is_some_and(|end| end.is_stored(index as u32)).to_string(),
                ]);
            }
        }
    }
    rows
}

/// A number; empty where there is none.
pub(super) fn number(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

pub(super) fn header(names: &str) -> Vec<String> {
    names.split(',').map(str::to_owned).collect()
}
