//! The gate: whether a run retains less than a baseline.
//!
//! Absent on purpose: exit codes, and anything but records, manifest and baseline to judge by.

use compactometer_formats::baseline::{Baseline, StrategyBaseline, StrategyHead};
use compactometer_formats::mock_name::is_mock;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::summary::{Check, Summary};
use compactometer_text::code::code;
use serde::Serialize;

mod advice;
mod baseline;
mod candidate;
mod changes;
mod damage;
mod document;
mod gate_text;
mod guards;
mod judge;
mod junit;
mod metric_gate;
mod mismatch;
mod power;
mod reached;
mod replay;
mod rule;
mod self_test;

pub use baseline::baseline_of;
pub use candidate::SettingChange;
pub use changes::{FateChange, StatedFact};
pub use damage::{Damage, PlantedDamage};
pub use document::{html, markdown, whole};
pub use gate_text::terminal;
pub use junit::{JunitError, junit};
pub use metric_gate::MetricGate;
pub use mismatch::Mismatch;
pub use reached::{ReachedReport, StrategyReached, UnreadFact, reached};
pub use self_test::{SelfTest, SelfTestError, SelfTested, Simulated, self_test, self_test_text};

use crate::data::run_files::RunFiles;
use crate::data::{ProtocolRun, StrategyRecords};

/// The version of gate reports that this program writes.
pub const VERSION: u32 = 1;

/// What to gate, and how strictly.
#[derive(Clone, Debug)]
pub struct GateOptions {
    /// The loss of recall that is tolerated: a share over 0.
    pub margin: f64,
    /// Strategies by name; empty for all.
    pub strategies: Vec<String>,
    /// Whether records must be the same bytes.
    pub exact: bool,
}

/// The verdict of a gate or of a part of it, best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateVerdict {
    /// Not worse by the margin.
    Pass,
    /// Worse, and not by the margin.
    PassWorse,
    /// The units are not enough to decide.
    #[default]
    Inconclusive,
    /// Worse by more than the margin.
    Regression,
    /// A hard check failed.
    Failed,
}

impl GateVerdict {
    /// The words that reports print.
    pub const fn name(self) -> &'static str {
        match self {
            GateVerdict::Pass => "pass",
            GateVerdict::PassWorse => "pass, worse within margin",
            GateVerdict::Inconclusive => "inconclusive",
            GateVerdict::Regression => "REGRESSION",
            GateVerdict::Failed => "FAILED",
        }
    }
}

/// What a gate found.
#[derive(Clone, Debug, Serialize)]
pub struct GateReport {
    /// [`VERSION`].
    pub version: u32,
    /// The worst of all.
    pub verdict: GateVerdict,
    /// The loss of recall that is tolerated.
    pub margin: f64,
    /// The suite's name.
    pub suite: String,
    /// The summarizer.
    pub model: String,
    /// The target model; absent if it is the summarizer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What a reader needs to know before any number.
    pub notes: Vec<String>,
    /// The run's hard checks, those of exact bytes among them.
    pub checks: Vec<Check>,
    /// One for each strategy and protocol.
    pub strategies: Vec<StrategyGate>,
}

impl GateReport {
    /// Adds what the changed facts state, as `stated` knows it by scenario and fact. Runs and
    /// baselines hold no text, so only the suite has it.
    pub fn name_facts(&mut self, stated: impl Fn(&str, &str) -> Option<StatedFact>) {
        let lists = self
            .strategies
            .iter_mut()
            .flat_map(|of| [&mut of.newly_lost, &mut of.newly_kept]);
        for change in lists.flatten() {
            change.stated = stated(&change.scenario, &change.fact);
        }
    }
}

/// What a gate found of one strategy under one protocol.
#[derive(Clone, Debug, Serialize)]
pub struct StrategyGate {
    /// How budgets were set.
    pub protocol: Protocol,
    /// Its name.
    pub strategy: String,
    /// The worst of its metrics.
    pub verdict: GateVerdict,
    /// What was changed about it since the baseline: this is the candidate.
    pub changed: Vec<SettingChange>,
    /// The primary metrics, and the shares of failures and of requests over the window where they
    /// rose.
    pub metrics: Vec<MetricGate>,
    /// Other changes that affect recall.
    pub notes: Vec<String>,
    /// What would decide it, if it is inconclusive.
    pub next: Option<String>,
    /// Facts that contexts held at the end in the baseline and no longer hold.
    pub newly_lost: Vec<FateChange>,
    /// Facts that they hold now and did not.
    pub newly_kept: Vec<FateChange>,
}

/// Compares a run with a baseline.
///
/// # Errors
/// [`Mismatch`] if the two cannot be compared.
pub fn gate(
    run: &RunFiles,
    baseline: &Baseline,
    prices: &PriceTable,
    options: &GateOptions,
) -> Result<GateReport, Mismatch> {
    baseline::check(run, baseline)?;
    let runs = ProtocolRun::by_protocol(&run.manifest, &run.records, prices);
    let replay = replay::default_replay(&runs)?;
    let summary = crate::summary::of_runs(std::slice::from_ref(replay));
    let pairs = pairs(run, replay, baseline, options)?;
    let mut checks: Vec<Check> = summary
        .groups
        .iter()
        .flat_map(|group| group.checks.clone())
        .collect();
    if options.exact {
        checks.extend(exact(run, &pairs)?);
    }
    let strategies = judge::all(&pairs, baseline, &summary, options.margin);
    let hard = checks
        .iter()
        .any(|check| check.passed == Some(false))
        .then_some(GateVerdict::Failed);
    let worst = strategies
        .iter()
        .map(|strategy| strategy.verdict)
        .chain(hard)
        .max();
    Ok(GateReport {
        version: VERSION,
        verdict: worst.unwrap_or(GateVerdict::Inconclusive),
        margin: options.margin,
        suite: run.manifest.suite.clone(),
        model: run.manifest.summarizer.clone(),
        target: run.manifest.target.clone(),
        notes: notes(run, baseline, replay, &summary),
        checks,
        strategies,
    })
}

/// A strategy of the run and its part of the baseline.
struct GatedStrategy<'a, 'r> {
    run: &'a ProtocolRun<'r>,
    strategy: &'a StrategyRecords<'r>,
    head: StrategyHead,
    baseline: &'a StrategyBaseline,
    changed: Vec<SettingChange>,
    /// How many times the baseline's retained budget the run was allowed: 1 if not more.
    more_room: f64,
}

/// Pairs each requested strategy of the run with the baseline's by its name; each must be on both
/// sides.
fn pairs<'a, 'r>(
    files: &RunFiles,
    run: &'a ProtocolRun<'r>,
    baseline: &'a Baseline,
    options: &GateOptions,
) -> Result<Vec<GatedStrategy<'a, 'r>>, Mismatch> {
    let is_asked = |name: &str| {
        options.strategies.is_empty() || options.strategies.iter().any(|asked| asked == name)
    };
    let known = || {
        baseline
            .strategies
            .iter()
            .filter(|one| one.head.protocol == run.protocol)
    };
    let (now, before) = (baseline::conditions(files), &baseline.run);
    let mut pairs = Vec::new();
    for strategy in replay::tested(run).filter(|strategy| is_asked(strategy.name)) {
        let one_sided = || Mismatch::OneSided {
            strategy: strategy.name.to_owned(),
            protocol: run.protocol,
            side: "run",
        };
        let baseline = known()
            .find(|one| one.head.strategy == strategy.name)
            .ok_or_else(one_sided)?;
        let head = baseline::head(run, strategy);
        baseline::same_trigger(&head, &baseline.head)?;
        let changed = candidate::changes(&head, &baseline.head, &now, before);
        let more_room = candidate::more_room(&head, &baseline.head, &now, before);
        pairs.push(GatedStrategy {
            run,
            strategy,
            head,
            baseline,
            changed,
            more_room,
        });
    }
    let is_paired =
        |one: &StrategyHead| pairs.iter().any(|pair| pair.head.strategy == one.strategy);
    let left = known()
        .map(|one| &one.head)
        .find(|one| is_asked(&one.strategy) && !is_paired(one));
    if let Some(StrategyHead {
        strategy, protocol, ..
    }) = left
    {
        return Err(Mismatch::OneSided {
            strategy: strategy.clone(),
            protocol: *protocol,
            side: "baseline",
        });
    }
    let names = || known().map(|one| one.head.strategy.as_str());
    if let Some(unknown) = options
        .strategies
        .iter()
        .find(|asked| names().all(|name| name != asked.as_str()))
    {
        return Err(Mismatch::Unknown(compactometer_text::suggest::unknown(
            "strategy",
            unknown,
            names(),
        )));
    }
    if pairs.is_empty() {
        Err(Mismatch::NothingTested)
    } else {
        Ok(pairs)
    }
}

/// Whether each strategy's records are the same bytes.
fn exact(run: &RunFiles, pairs: &[GatedStrategy]) -> Result<Vec<Check>, Mismatch> {
    let models = [&run.manifest.summarizer, run.manifest.target_model()];
    if let Some(model) = models.into_iter().find(|model| !is_mock(model)) {
        return Err(Mismatch::Exact {
            model: model.to_owned(),
        });
    }
    let check = |pair: &GatedStrategy| {
        let (found, expected) = (&pair.head.records_hash, &pair.baseline.head.records_hash);
        let detail = if found == expected {
            found.clone()
        } else {
            format!("{} against {}", code(found), code(expected))
        };
        Check {
            name: format!(
                "records of {} are the baseline's, byte for byte",
                pair.strategy.name
            ),
            passed: Some(found == expected),
            detail,
        }
    };
    Ok(pairs.iter().map(check).collect())
}

fn notes(
    files: &RunFiles,
    baseline: &Baseline,
    replay: &ProtocolRun,
    summary: &Summary,
) -> Vec<String> {
    let (new, old) = (&files.manifest, &baseline.run);
    let mut notes = Vec::new();
    if replay.is_mock() {
        let (model, did) = match is_mock(&new.summarizer) {
            true => (new.summarizer.as_str(), "wrote the summaries"),
            false => (new.target_model(), "answered the questions"),
        };
        notes.push(format!(
            "mechanism, not model: {} {did}; a pass says nothing about a real model",
            code(model)
        ));
    }
    let differing = [
        ("seed", new.seed.to_string(), old.seed.to_string()),
        (
            "price table",
            new.prices_hash.clone(),
            old.prices_hash.clone(),
        ),
        (
            "the program's commit",
            new.commit.clone(),
            old.commit.clone(),
        ),
    ];
    for (what, new, old) in differing {
        if new != old {
            notes.push(format!("{what} {new}, the baseline's {old}"));
        }
    }
    if old.matcher.is_empty() || new.matcher.is_empty() {
        let side = if old.matcher.is_empty() {
            "baseline"
        } else {
            "run"
        };
        notes.push(format!(
            "the {side} does not record how its matcher finds values; the gate assumes that both match alike"
        ));
    }
    if baseline
        .strategies
        .iter()
        .any(|one| one.head.protocol != replay.protocol)
    {
        notes.push(format!(
            "only the {} protocol is judged; the baseline also has another",
            replay.protocol.name()
        ));
    }
    let untold = summary
        .groups
        .iter()
        .flat_map(|group| &group.checks)
        .filter(|check| check.passed.is_none());
    notes.extend(untold.map(|check| format!("not checked: {}: {}", check.name, check.detail)));
    notes
}
