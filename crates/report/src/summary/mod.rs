//! From records to [`Summary`].
//!
//! Absent on purpose: rankings, and groups of more than one model, window or suite.

mod by_strategy;
mod checks;
mod comparisons;
mod findings;
pub(crate) mod judged;
pub mod other_mocks;
mod questions;
mod reported_calls;
mod scale;
mod sizes;
mod suite;
mod sweep;
pub mod targets;
mod use_bounds;
mod versions;
mod warnings;

pub(crate) use comparisons::{common_reference, difference, in_points};
pub(crate) use findings::changes;
pub(crate) use sizes::realized;
pub(crate) use warnings::is_in_heading;

use std::collections::BTreeMap;

use compactometer_engine::strategies;
use compactometer_engine::strategy::StrategySpec;
use compactometer_formats::manifest::Manifest;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::protocol::LimitsOf;
use compactometer_formats::record::Record;
use compactometer_formats::summary::{
    Group, MetricValue, StrategySummary, Summary, Triggered, VERSION,
};

use crate::data::{ProtocolRun, StrategyRecords};
use crate::data::{decisions, fates};
use crate::metrics::value::rounded;
use crate::metrics::{self, Metric, MetricUnit};
use crate::stats::nine_digits;

/// Computes every number of a report: one group for each protocol, and the points of sweeps.
pub fn summarize(manifest: &Manifest, records: &[Record], prices: &PriceTable) -> Summary {
    of_runs(&ProtocolRun::by_protocol(manifest, records, prices))
}

pub(crate) fn of_runs(runs: &[ProtocolRun]) -> Summary {
    let groups = runs
        .iter()
        .filter(|run| !run.is_swept())
        .map(group)
        .collect::<Vec<_>>();
    let sweep = sweep::summarize(runs);
    let findings = groups.first().zip(runs.first()).map(|(group, run)| {
        findings::sentences(group, &run.manifest.settings, &run.manifest.newest_talk)
    });
    let versions = runs.iter().find(|run| !run.is_swept()).map(versions::parts);
    Summary {
        version: VERSION,
        findings: findings.unwrap_or_default(),
        groups,
        sweep,
        versions: versions.unwrap_or_default(),
    }
}

/// The numbers of one protocol. They are those of a run without sweeps, byte for byte.
fn group(run: &ProtocolRun) -> Group {
    let strategies: Vec<_> = run
        .strategies
        .iter()
        .map(|strategy| of_strategy(run, strategy))
        .collect();
    let manifest = run.manifest;
    Group {
        protocol: run.protocol,
        scale: (run.protocol.limits() == LimitsOf::Strategy).then_some(manifest.scale),
        summarizer: manifest.summarizer.clone(),
        target: manifest.target.clone(),
        latency: run.latency(),
        window: manifest.window,
        suite: manifest.suite.clone(),
        headline_metrics: manifest.headline_metrics.clone(),
        conversations: manifest.conversations,
        units: run.units(),
        trigger: manifest.trigger,
        retained: manifest.retained,
        warnings: warnings::all(run, &strategies),
        properties: manifest.properties.clone(),
        checks: checks::all(run, &strategies),
        targets: targets::all(run, &strategies),
        comparisons: comparisons::all(run, &strategies),
        judged: judged::summarize(run),
        strategies,
    }
}

/// The program's strategy of that name, corrected or as published.
pub(crate) fn spec_of(name: &str) -> Option<&'static StrategySpec> {
    let is_called = |spec: &&&StrategySpec| spec.name == name || spec.published_name() == name;
    strategies::ALL.iter().find(is_called).copied()
}

fn of_strategy(run: &ProtocolRun, strategy: &StrategyRecords) -> StrategySummary {
    let value = |metric: &Metric| (metric.id.to_owned(), metric.measure(run, strategy));
    let shares = |row: BTreeMap<String, MetricValue>| {
        row.into_iter()
            .map(|(id, value)| {
                (
                    id,
                    rounded(
                        MetricUnit::Share,
                        metrics::value::within(MetricUnit::Share, 0.0, value),
                    ),
                )
            })
            .collect()
    };
    // What a sealed summary holds is unknown by any part too.
    let read = (!strategy.is_sealed).then_some(strategy);
    let settings = run.manifest.settings.get(strategy.name);
    let spec = spec_of(settings.map_or(strategy.name, |settings| &settings.base));
    StrategySummary {
        name: strategy.name.to_owned(),
        base: settings
            .map(|settings| settings.base.clone())
            .filter(|base| base != strategy.name),
        family: strategy.family,
        approach: spec.and_then(|spec| Some(spec.approach?.name().to_owned())),
        document: spec.map(|spec| spec.source.to_owned()),
        unmetered: run.is_unmetered(strategy.name),
        not_understood: metrics::failures::not_understood(strategy).is_some(),
        triggered: triggered(strategy),
        fates: fates::shares(strategy)
            .into_iter()
            .map(|(fate, share)| (fate, nine_digits(share)))
            .collect(),
        metrics: metrics::ALL.iter().map(value).collect(),
        extractions: metrics::answers::extraction_counts(strategy),
        decisions: decisions::counted(strategy),
        failures: decisions::frequent_failures(strategy),
        by_category: read
            .into_iter()
            .flat_map(metrics::recall::by_category)
            .map(|(name, row)| (name, shares(row)))
            .collect(),
        by_kind: read
            .into_iter()
            .flat_map(metrics::chance_match::by_kind)
            .map(|(name, row)| (name, shares(row)))
            .collect(),
        by_round: read
            .into_iter()
            .flat_map(metrics::recall::by_round)
            .map(shares)
            .collect(),
        by_position: read
            .into_iter()
            .flat_map(metrics::position::by_position)
            .map(shares)
            .collect(),
    }
}

fn triggered(strategy: &StrategyRecords) -> Triggered {
    let rounds = |record: &Record| record.rounds() as usize;
    Triggered {
        conversations: strategy
            .records()
            .filter(|record| rounds(record) > 0)
            .count(),
        of: strategy.records().count(),
        most_rounds: strategy.records().map(rounds).max().unwrap_or(0) as u32,
    }
}
