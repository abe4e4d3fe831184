//! Tracing of facts, and whole cases. The counter is cheap and so is the model, except in two
//! paths, so that the work is that of the engine and the harness.

use std::error::Error;

use compactometer_engine::model::ChatModel;
use compactometer_engine::strategies;
use compactometer_formats::record::Record;
use compactometer_formats::suite::Suite;
use compactometer_harness::entrants::select;
use compactometer_harness::plan::{Plan, PlanOptions};
use compactometer_harness::prepare::PreparedScenario;
use compactometer_harness::run::run_case;

use super::sessions::{WINDOW, ready_mock, runtime};
use super::{Path, Work};
use crate::cheap::{Quarter, SameAnswer};
use crate::conversations::{scenario, suite};

/// The numbers of turns of the longer replays.
const TURNS: [(usize, &str); 2] = [(1_000, "1k"), (10_000, "10k")];

pub(super) fn paths() -> Vec<Path> {
    let mut paths = vec![
        Path::new(
            "trace",
            300,
            "SIZE turns counted and their facts found",
            trace,
        ),
        Path::new(
            "replay-full",
            1_200,
            "a case of SIZE turns without compaction",
            |turns| replay("full", turns),
        ),
        Path::new(
            "replay-summarize",
            300,
            "a case of SIZE turns under `summarize`, with the mock",
            |turns| replay("summarize", turns),
        ),
        // It keeps a note of each message, which a record names by its hash.
        Path::new(
            "replay-handoff",
            300,
            "a case of SIZE turns under `handoff`, whose model answers at once",
            |turns| replay_with("handoff", turns, Box::new(SameAnswer::at_once())),
        ),
    ];
    for (turns, shown) in TURNS {
        paths.extend(strategies::ALL.iter().map(|spec| {
            let about = format!(
                "a case of SIZE turns under `{}`, whose model answers at once",
                spec.name
            );
            let prepare = |turns| replay_with(spec.name, turns, Box::new(SameAnswer::at_once()));
            Path::new(
                format!("replay-{shown}-{}", spec.name),
                turns,
                about,
                prepare,
            )
            .only_timed()
        }));
    }
    paths
}

fn trace(turns: usize) -> Result<Work, Box<dyn Error>> {
    let (own, other) = (scenario(1, turns), scenario(2, turns));
    Ok(Box::new(move || {
        let foreign = other.facts.iter().collect::<Vec<_>>();
        let prepared = PreparedScenario::new(own.clone(), &foreign, &Quarter);
        prepared.checks().segments.facts.all().len() as u64
    }))
}

fn replay(entrant: &str, turns: usize) -> Result<Work, Box<dyn Error>> {
    replay_with(entrant, turns, ready_mock()?)
}

fn replay_with(
    entrant: &str,
    turns: usize,
    model: Box<dyn ChatModel>,
) -> Result<Work, Box<dyn Error>> {
    // Six groups, so that five others give a chance rate; only the first is replayed, so the
    // others' length costs only memory.
    let plan = plan(
        entrant,
        suite(0..6, |seed| {
            scenario(seed, if seed == 0 { turns } else { turns.min(300) })
        }),
    )?;
    plan.cases[0].prepared.checks();
    let runtime = runtime()?;
    Ok(Box::new(move || {
        let record = runtime
            .block_on(run_case(&plan.cases[0], &*model, &Quarter))
            .record;
        record.turns.iter().map(|turn| u64::from(turn.input)).sum()
    }))
}

/// One record for each conversation.
pub(super) fn records(entrant: &str, suite: Suite) -> Result<(Plan, Vec<Record>), Box<dyn Error>> {
    let plan = plan(entrant, suite)?;
    let (model, runtime) = (compactometer_models::by_name("mock")?, runtime()?);
    let run = |case| runtime.block_on(run_case(case, &*model, &Quarter)).record;
    let records = plan.cases.iter().map(run).collect();
    Ok((plan, records))
}

fn plan(entrant: &str, suite: Suite) -> Result<Plan, Box<dyn Error>> {
    let options = PlanOptions {
        entrants: select([entrant], [])?,
        window: Some(WINDOW),
        seed: 1,
        ..PlanOptions::default()
    };
    Ok(Plan::new(suite, options, &Quarter)?)
}
