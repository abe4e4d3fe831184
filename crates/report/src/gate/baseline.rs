//! From a run to a baseline, and whether a run can be held against one.

use std::collections::{BTreeMap, BTreeSet};

use compactometer_formats::baseline::{
    Baseline, Conditions, Conversation, StrategyBaseline, StrategyHead, UnitBaseline,
};
use compactometer_formats::fate::Fates;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::record::{self, Record, text_hash};

use super::guards::GUARDS;
use super::mismatch::Mismatch;
use super::replay::{default_replay, tested};
use crate::data::run_files::RunFiles;
use crate::data::{ProtocolRun, StrategyRecords, UnitRecords, decisions, fates};
use crate::metrics::chance::CorrectedRecall;
use crate::metrics::scores::{PrimaryMetric, UnitScores};
use crate::stats::nine_digits;
use crate::summary::realized;

/// The baseline that a run makes: of its default replay.
///
/// # Errors
/// [`Mismatch`] if the run has no such replay, or no strategy under test.
pub fn baseline_of(run: &RunFiles, prices: &PriceTable) -> Result<Baseline, Mismatch> {
    let runs = ProtocolRun::by_protocol(&run.manifest, &run.records, prices);
    let replay = default_replay(&runs)?;
    let strategies: Vec<_> = tested(replay)
        .map(|strategy| of_strategy(replay, strategy))
        .collect();
    if strategies.is_empty() {
        return Err(Mismatch::NothingTested);
    }
    Ok(Baseline {
        run: conditions(run),
        scenarios: conversations(&run.records),
        strategies,
    })
}

pub(super) fn conditions(run: &RunFiles) -> Conditions {
    let manifest = &run.manifest;
    Conditions {
        program: manifest.program.clone(),
        commit: manifest.commit.clone(),
        records: run
            .records
            .first()
            .map_or(record::VERSION, |record| record.version),
        suite: manifest.suite.clone(),
        suite_hash: manifest.suite_hash.clone(),
        prices_hash: manifest.prices_hash.clone(),
        tokenizer: manifest.tokenizer.clone(),
        matcher: manifest.matcher.clone(),
        summarizer: manifest.summarizer.clone(),
        target: manifest.target.clone(),
        checkpointer: manifest.checkpointer.clone(),
        served: served(&run.records),
        seed: manifest.seed,
        window: manifest.window,
        trigger: manifest.trigger,
        retained: manifest.retained,
        scale: nine_digits(manifest.scale),
    }
}

fn served(records: &[Record]) -> Vec<String> {
    let all: BTreeSet<&str> = records.iter().flat_map(Record::served_models).collect();
    all.into_iter().map(str::to_owned).collect()
}

fn conversations(records: &[Record]) -> Vec<Conversation> {
    let mut seen = BTreeSet::new();
    let first = records
        .iter()
        .filter(|record| seen.insert(&record.case.scenario));
    let conversation = |record: &Record| Conversation {
        scenario: record.case.scenario.clone(),
        unit: record.case.group.clone(),
        facts: record
            .facts
            .iter()
            .filter(|fact| !fact.decoy)
            .map(|fact| fact.id.clone())
            .collect(),
    };
    first.map(conversation).collect()
}

fn of_strategy(run: &ProtocolRun, strategy: &StrategyRecords) -> StrategyBaseline {
    let scores = scores_of_units(strategy);
    let unit = |unit: &UnitRecords| UnitBaseline {
        unit: unit.group.to_owned(),
        scores: scores
            .iter()
            .filter_map(|(metric, values)| {
                Some(((*metric).to_owned(), nine_digits(*values.get(unit.group)?)))
            })
            .collect(),
        fates: unit
            .records
            .iter()
            .map(|record| (record.case.scenario.clone(), last_fates(record)))
            .collect(),
    };
    StrategyBaseline {
        head: head(run, strategy),
        units: strategy.units.iter().map(unit).collect(),
    }
}

/// The scores of each unit, by metric.
fn scores_of_units(strategy: &StrategyRecords) -> BTreeMap<&'static str, BTreeMap<String, f64>> {
    let metrics = PrimaryMetric::GATED
        .iter()
        .flat_map(|primary| primary.metrics());
    let scores =
        metrics.filter_map(|metric| Some((*metric, UnitScores::new(metric, strategy)?.by_unit())));
    let guards = GUARDS
        .iter()
        .map(|guard| (guard.metric, guard.by_unit(strategy)));
    scores.chain(guards).collect()
}

/// What is counted over all conversations of a strategy.
pub(super) fn head(run: &ProtocolRun, strategy: &StrategyRecords) -> StrategyHead {
    let counted = decisions::counted(strategy);
    let turns = strategy.records().flat_map(|record| &record.turns);
    // A record came from JSON: it has a JSON form.
    let texts: String = strategy
        .records()
        .filter_map(|record| serde_json::to_string(record).ok())
        .collect();
    StrategyHead {
        protocol: run.protocol,
        strategy: strategy.name.to_owned(),
        prompt: run
            .manifest
            .prompts
            .get(strategy.name)
            .cloned()
            .unwrap_or_default(),
        settings: run.manifest.settings.get(strategy.name).cloned(),
        budget: strategy.records().next().map(|record| record.case.budget),
        records_hash: text_hash(&texts),
        applied: counted.applied,
        failed: counted.failed,
        over_window: turns.filter(|turn| turn.over_window).count(),
        tokens_retained: realized(strategy).map(nine_digits),
        too_likely: CorrectedRecall::own(strategy)
            .too_likely()
            .map(|(what, _)| what)
            .collect(),
    }
}

/// The fates of a record's facts, decoys left out, at its last observation point.
pub(super) fn last_fates(record: &Record) -> Fates {
    Fates(
        fates::last(record)
            .filter(|(fact, _)| !fact.decoy)
            .map(|(_, fate)| fate)
            .collect(),
    )
}

/// Holds what makes numbers comparable against each other: the conversations, the models, and what
/// is counted how. Window, trigger and scale set which facts count, since a fact counts once it is
/// as far back as the trigger; the program's version stands for how metrics are computed.
/// Everything else may differ: it is the change that a gate is asked about.
pub(super) fn check(run: &RunFiles, baseline: &Baseline) -> Result<(), Mismatch> {
    let names = baseline
        .strategies
        .iter()
        .map(|one| (one.head.protocol, &one.head.strategy));
    if names.collect::<BTreeSet<_>>().len() < baseline.strategies.len() {
        return Err(Mismatch::Swept);
    }
    let (new, old) = (conditions(run), &baseline.run);
    let named = |what: &str, new: &str, old: &str| differing(what, new, old);
    named("the suite", &new.suite, &old.suite)?;
    named("the suite's content", &new.suite_hash, &old.suite_hash)?;
    named("the summarizer", &new.summarizer, &old.summarizer)?;
    let target = |of: &Conditions| of.target.clone().unwrap_or_else(|| of.summarizer.clone());
    named("the target model", &target(&new), &target(old))?;
    let checkpointer = |of: &Conditions| {
        of.checkpointer
            .clone()
            .unwrap_or_else(|| of.summarizer.clone())
    };
    named("the checkpointer", &checkpointer(&new), &checkpointer(old))?;
    named(
        "the model that the server reported",
        &new.served.join(", "),
        &old.served.join(", "),
    )?;
    named("the program's version", &new.program, &old.program)?;
    // Version 2 of records only renamed a field.
    let [records, before] = [&new, old].map(|of| of.records.max(2).to_string());
    named("the version of records", &records, &before)?;
    named("the measuring counter", &new.tokenizer, &old.tokenizer)?;
    if !new.matcher.is_empty() && !old.matcher.is_empty() {
        named("the matcher's results", &new.matcher, &old.matcher)?;
    }
    named(
        "the context window",
        &new.window.to_string(),
        &old.window.to_string(),
    )?;
    named(
        "the trigger",
        &new.trigger.to_string(),
        &old.trigger.to_string(),
    )?;
    named("the scale", &new.scale.to_string(), &old.scale.to_string())?;
    scores(baseline)
}

/// The least that CR* can be: no hit where chance finds .8.
const LEAST_SCORE: f64 = -4.0;

fn scores(baseline: &Baseline) -> Result<(), Mismatch> {
    for unit in baseline
        .strategies
        .iter()
        .flat_map(|strategy| &strategy.units)
    {
        for (metric, value) in &unit.scores {
            if !(LEAST_SCORE..=1.0 + 1e-9).contains(value) {
                return Err(Mismatch::Score {
                    metric: metric.clone(),
                    unit: unit.unit.clone(),
                    value: *value,
                });
            }
        }
    }
    Ok(())
}

/// A strategy's own limits set the trigger under the published protocol.
pub(super) fn same_trigger(new: &StrategyHead, old: &StrategyHead) -> Result<(), Mismatch> {
    let Some((now, before)) = new.budget.zip(old.budget) else {
        return Ok(());
    };
    let what = format!("the trigger of {}", new.strategy);
    differing(&what, &now.trigger.to_string(), &before.trigger.to_string())
}

fn differing(what: &str, run: &str, baseline: &str) -> Result<(), Mismatch> {
    if run == baseline {
        return Ok(());
    }
    Err(Mismatch::Condition {
        what: what.to_owned(),
        run: run.to_owned(),
        baseline: baseline.to_owned(),
    })
}
