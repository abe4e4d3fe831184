//! Damage that a gate must find, planted in the records of a run that is then held against itself:
//! a summarizer that writes values without their subjects, compactions that fail, and requests over
//! the window. Each leaves the values in the contexts, so that recall of values alone would not
//! fall.
//!
//! Absent on purpose: damage to some units only. How small a loss is found is what the simulated
//! gates measure.

use compactometer_engine::event::{FailReason, Outcome};
use compactometer_formats::prices::PriceTable;
use compactometer_formats::record::Record;
use serde::Serialize;

use super::{GateOptions, GateReport, GateVerdict, baseline_of, gate, rule};
use crate::data::run_files::RunFiles;
use crate::metrics::scores::BOUND;

/// Each third compaction of a conversation, at least one.
const FAILING: usize = 3;
/// Tests of a gate of one strategy: BR* and CR*, and as many guards.
const TESTS: usize = 2;

/// What is planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Damage {
    /// Contexts hold every value that they held, and none with its subject.
    ValueList,
    /// A third of the compactions failed and kept everything.
    FailedCompactions,
    /// The last turn of each conversation was sent over the window.
    OverWindow,
}

impl Damage {
    const ALL: [Damage; 3] = [
        Damage::ValueList,
        Damage::FailedCompactions,
        Damage::OverWindow,
    ];

    /// The words that reports print.
    pub const fn name(self) -> &'static str {
        match self {
            Damage::ValueList => "values without their subjects",
            Damage::FailedCompactions => "a third of the compactions fail",
            Damage::OverWindow => "last turns go over the context window",
        }
    }

    /// Whether the record can show it.
    fn fits(self, record: &Record) -> bool {
        match self {
            Damage::ValueList => record.facts.iter().any(|fact| fact.has_subject),
            Damage::FailedCompactions => !record.compactions.is_empty(),
            Damage::OverWindow => !record.turns.is_empty(),
        }
    }

    fn plant(self, record: &mut Record) {
        match self {
            Damage::ValueList => record
                .observations
                .iter_mut()
                .for_each(|seen| seen.bound.clear()),
            Damage::FailedCompactions => {
                record
                    .compactions
                    .iter_mut()
                    .step_by(FAILING)
                    .for_each(|row| {
                        row.event.outcome = Outcome::Failed(FailReason::Call("planted".to_owned()));
                    })
            }
            Damage::OverWindow => record
                .turns
                .last_mut()
                .into_iter()
                .for_each(|turn| turn.over_window = true),
        }
    }
}

/// What the gate said about planted damage.
#[derive(Clone, Debug, Serialize)]
pub struct PlantedDamage {
    /// The strategy.
    pub strategy: String,
    /// What was planted.
    pub damage: Damage,
    /// The gate's verdict; absent where the damage cannot be planted or decided.
    pub verdict: Option<GateVerdict>,
    /// Why there is none.
    pub reason: Option<String>,
}

impl PlantedDamage {
    /// Whether the gate let it through.
    pub fn is_missed(&self) -> bool {
        self.verdict
            .is_some_and(|verdict| verdict < GateVerdict::Regression)
    }
}

/// Plants each damage in each of these strategies and gates the run against itself without it.
pub(super) fn all(
    run: &RunFiles,
    prices: &PriceTable,
    strategies: &[&str],
    margin: f64,
) -> Vec<PlantedDamage> {
    let each = strategies
        .iter()
        .flat_map(|strategy| Damage::ALL.map(|damage| (strategy, damage)));
    each.map(|(strategy, damage)| {
        let found = verdict(run, prices, strategy, damage, margin);
        let (verdict, reason) = found.map_or_else(
            |reason| (None, Some(reason)),
            |verdict| (Some(verdict), None),
        );
        PlantedDamage {
            strategy: (*strategy).to_owned(),
            damage,
            verdict,
            reason,
        }
    })
    .collect()
}

fn verdict(
    run: &RunFiles,
    prices: &PriceTable,
    strategy: &str,
    damage: Damage,
    margin: f64,
) -> Result<GateVerdict, String> {
    if let Some(why) = unfit(run, strategy, damage) {
        return Err(why);
    }
    let damaged = damaged(run, strategy, damage);
    let options = GateOptions {
        margin,
        strategies: vec![strategy.to_owned()],
        exact: false,
    };
    let found =
        baseline_of(run, prices).and_then(|baseline| gate(&damaged, &baseline, prices, &options));
    let report = found.map_err(|error| error.to_string())?;
    match too_small(&report, damage, margin) {
        Some(why) if report.verdict < GateVerdict::Regression => Err(why),
        _ => Ok(report.verdict),
    }
}

/// Why the damage cannot be planted or judged.
fn unfit(run: &RunFiles, strategy: &str, damage: Damage) -> Option<String> {
    let of_strategy = |record: &&Record| record.case.strategy == strategy;
    let groups = run
        .records
        .iter()
        .filter(of_strategy)
        .map(|record| &record.case.group);
    let units = groups.collect::<std::collections::BTreeSet<_>>().len();
    if units < rule::fewest(TESTS) {
        return Some(format!("{units} conversations are too few to decide"));
    }
    let mut records = run.records.iter().filter(of_strategy);
    let fits = records.all(|record| damage.fits(record));
    (!fits).then(|| "this damage cannot be planted in some conversations".to_owned())
}

fn damaged(run: &RunFiles, strategy: &str, damage: Damage) -> RunFiles {
    let mut records = run.records.clone();
    records
        .iter_mut()
        .filter(|record| record.case.strategy == strategy)
        .for_each(|record| damage.plant(record));
    RunFiles {
        manifest: run.manifest.clone(),
        records,
    }
}

/// Why the damage costs less than a gate has to find. Recall that is low has little to lose.
fn too_small(report: &GateReport, damage: Damage, margin: f64) -> Option<String> {
    let mut metrics = report.strategies.iter().flat_map(|row| &row.metrics);
    let bound = metrics.find(|found| found.metric == BOUND)?;
    let loss = -bound.difference?;
    (damage == Damage::ValueList && loss < 2.0 * margin).then(|| {
        format!(
            "it takes {:.1} points here, under the two margins that a gate has to find",
            100.0 * loss
        )
    })
}
