//! A run's numbers by the version of the recorded program.

use std::collections::{BTreeMap, BTreeSet};

use compactometer_formats::record::Record;
use compactometer_formats::summary::{MetricValue, VersionPart};

use crate::data::{ProtocolRun, StrategyRecords};
use crate::metrics::Metric;
use crate::metrics::engine::TOKENS_RETAINED;
use crate::metrics::recall::{CONTEXT_RECALL, DISTANT_ADDRESS_USE_RECALL};
use crate::version::in_order;

/// What a part shows. Recall that is corrected for chance would need more conversations than a
/// version has.
const METRICS: [&Metric; 3] = [
    &DISTANT_ADDRESS_USE_RECALL,
    &CONTEXT_RECALL,
    &TOKENS_RETAINED,
];

pub(super) fn parts(run: &ProtocolRun) -> Vec<VersionPart> {
    let versions = run.manifest.versions.values().collect::<BTreeSet<_>>();
    let mut versions = versions.into_iter().collect::<Vec<_>>();
    versions.sort_by_key(|version| in_order(version));
    let parts = versions.into_iter().map(|version| part(run, version));
    parts.filter(|part| part.conversations > 0).collect()
}

fn part(run: &ProtocolRun, version: &str) -> VersionPart {
    let is_of = |record: &&Record| {
        run.manifest
            .versions
            .get(&record.case.scenario)
            .is_some_and(|of| of == version)
    };
    let within = run.strategies.iter().filter_map(|strategy| {
        StrategyRecords::new(strategy.name, strategy.records().filter(is_of).collect())
    });
    let part = ProtocolRun {
        strategies: within.collect(),
        ..*run
    };
    let of = |strategy: &StrategyRecords| (strategy.name.to_owned(), measured(&part, strategy));
    let strategies = part.strategies.iter().map(of).collect();
    let conversations = part
        .records()
        .map(|record| record.case.scenario.as_str())
        .collect::<BTreeSet<_>>()
        .len();
    VersionPart {
        version: version.to_owned(),
        conversations,
        strategies,
    }
}

fn measured(run: &ProtocolRun, strategy: &StrategyRecords) -> BTreeMap<String, MetricValue> {
    METRICS
        .iter()
        .map(|metric| (metric.id.to_owned(), metric.measure(run, strategy)))
        .collect()
}
