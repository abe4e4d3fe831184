//! The hard checks: what must hold before any number means anything.

use compactometer_formats::fate::Fate;
use compactometer_formats::protocol::LimitsOf;
use compactometer_formats::record::Stages;
use compactometer_formats::summary::{Check, StrategySummary};
use compactometer_text::code::code;

use crate::data::{FULL, NULL, ORACLE, ProtocolRun, StrategyRecords, UnitRecords};
use crate::metrics::Metric;
use crate::metrics::failures::{not_understood, shown_enough};
use crate::metrics::recall::{CONTEXT_RECALL, CONTEXT_RECALL_CORRECTED};
use crate::stats::{mean, sign_flip};

/// What was pending at a compaction stays, and may be old by the next one.
const MOST_NULL: f64 = 0.03;
/// A difference that no reader needs to hear of.
const SMALL: f64 = 0.02;
/// The check fails beyond this difference, if chance gives it in fewer than [`DECOY_LEVEL`] of
/// runs. Honest strategies on fresh suites differ by chance at .05 as often as that says, and an
/// alarm at each would be ignored.
const DECOY_MARGIN: f64 = 0.10;
const DECOY_LEVEL: f64 = 0.001;
/// From here on a difference that does not fail the check is a warning, over all strategies
/// together.
const DECOY_WARNING: f64 = 0.05;
/// Differences of means of equal numbers in another order.
const ROUNDING: f64 = 1e-9;

/// Every check, in the order of reports.
pub(crate) fn all(run: &ProtocolRun, strategies: &[StrategySummary]) -> Vec<Check> {
    vec![
        full(strategies),
        null(strategies),
        oracle(run, strategies),
        unexplained(run),
        decoys(run),
        understood(run),
    ]
}

/// A summarizer that writes nothing of what it is shown did not understand what it was asked.
fn understood(run: &ProtocolRun) -> Check {
    let name = "summarizers write some of the facts that they are shown";
    let tested = run
        .strategies
        .iter()
        .filter(|strategy| strategy.family.is_tested());
    let decided = tested.filter(|strategy| shown_enough(strategy).is_some());
    let decided = decided.collect::<Vec<_>>();
    if decided.is_empty() {
        return untold(name, "no summarizer was shown 200 facts".to_owned());
    }
    let found = decided.into_iter().filter_map(|strategy| {
        Some(format!(
            "{}: {}",
            code(strategy.name),
            not_understood(strategy)?
        ))
    });
    let found = found.collect::<Vec<_>>();
    let detail = if found.is_empty() {
        "all do".to_owned()
    } else {
        found.join("; ")
    };
    check(name, found.is_empty(), detail)
}

fn full(strategies: &[StrategySummary]) -> Check {
    let found = value(strategies, FULL, &CONTEXT_RECALL);
    numeric_check("`full` keeps every value", found, |found| {
        found >= 1.0 - ROUNDING
    })
}

fn null(strategies: &[StrategySummary]) -> Check {
    let found = value(strategies, NULL, &CONTEXT_RECALL_CORRECTED);
    numeric_check(
        "`null` keeps at most .03 of values beyond chance",
        found,
        |found| found <= MOST_NULL + ROUNDING,
    )
}

fn numeric_check(name: &str, found: Result<f64, String>, holds: impl Fn(f64) -> bool) -> Check {
    match found {
        Ok(found) => check(name, holds(found), format!("{found:.3}")),
        Err(why) => untold(name, why),
    }
}

fn oracle(run: &ProtocolRun, strategies: &[StrategySummary]) -> Check {
    let name = "`oracle` keeps as many values as the best strategy, or more";
    // The oracle's is the most that one size can hold.
    if run.protocol.limits() == LimitsOf::Strategy {
        return untold(
            name,
            "under published limits strategies keep other sizes than `oracle`".to_owned(),
        );
    }
    let oracle = match value(strategies, ORACLE, &CONTEXT_RECALL) {
        Ok(found) => found,
        Err(why) => return untold(name, why),
    };
    let most = |name: &str| {
        let records = run
            .strategies
            .iter()
            .filter(|strategy| strategy.name == name)
            .flat_map(StrategyRecords::records);
        records
            .filter_map(|record| record.case.budget.retained)
            .max()
    };
    let of_oracle = most(ORACLE);
    // What is added to a recorded compaction is beyond the size of all others.
    let took_part = |strategy: &&StrategySummary| {
        strategy.family.is_tested()
            && strategy.triggered.conversations > 0
            && most(&strategy.name) <= of_oracle
    };
    let tested = strategies.iter().filter(took_part);
    let recalls =
        tested.filter_map(|strategy| Some((CONTEXT_RECALL.value(strategy)?, &strategy.name)));
    match recalls.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((best, of)) => check(
            name,
            oracle >= best - ROUNDING,
            format!("{oracle:.3} against {best:.3} of {}", code(of)),
        ),
        None => untold(name, "no strategy under test has a recall".to_owned()),
    }
}

fn unexplained(run: &ProtocolRun) -> Check {
    let count = |strategy: &StrategyRecords| {
        let fates = strategy
            .records()
            .flat_map(|record| &record.observations)
            .flat_map(|observation| &observation.fates.0);
        fates.filter(|fate| **fate == Fate::Unexplained).count()
    };
    let found: Vec<_> = run
        .strategies
        .iter()
        .map(|strategy| (count(strategy), strategy.name))
        .collect();
    let total: usize = found.iter().map(|(count, _)| count).sum();
    let of: Vec<_> = found
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{name} {count}"))
        .collect();
    let detail = if of.is_empty() {
        "0".to_owned()
    } else {
        format!("{total} sightings: {}", of.join(", "))
    };
    check("no fact is present unexplained", total == 0, detail)
}

/// A strategy that writes facts more readily than decoys of the same form knows the answers.
fn decoys(run: &ProtocolRun) -> Check {
    let name = "decoys are written as often as facts, within .10";
    let judged: Vec<_> = decoy_findings(run).collect();
    if judged.is_empty() {
        return untold(
            name,
            "no summarizer read a fact and a decoy in one conversation".to_owned(),
        );
    }
    let detail = judged
        .iter()
        .map(DecoyFinding::told)
        .collect::<Vec<_>>()
        .join("; ");
    let verdicts = || judged.iter().map(DecoyFinding::passes);
    let passed = if verdicts().any(|verdict| verdict == Some(false)) {
        Some(false)
    } else {
        verdicts().all(|verdict| verdict.is_some()).then_some(true)
    };
    Check {
        name: name.to_owned(),
        passed,
        detail,
    }
}

/// Differences between facts and decoys that chance explains badly and that do not fail the check.
pub(crate) fn decoy_warning(run: &ProtocolRun) -> Option<String> {
    let found = decoy_findings(run).collect::<Vec<_>>();
    // Holm's first step: one of the strategies is named wrongly in at most this share of runs.
    let level = DECOY_WARNING / found.len().max(1) as f64;
    let suspect = |of: &&DecoyFinding| {
        of.passes() != Some(false) && of.difference.abs() > SMALL && of.p.is_some_and(|p| p < level)
    };
    let suspects = found
        .iter()
        .filter(suspect)
        .map(DecoyFinding::told)
        .collect::<Vec<_>>();
    (!suspects.is_empty()).then(|| {
        format!(
            "facts and decoys are not written equally often: {}. A strategy cannot know which is which, so this is chance or a \
             difference in wording; the hard check fails beyond {DECOY_MARGIN:.2} at p < {DECOY_LEVEL}",
            suspects.join("; ")
        )
    })
}

/// How much more often a strategy wrote facts than decoys.
struct DecoyFinding<'r> {
    strategy: &'r str,
    difference: f64,
    units: usize,
    /// Absent with fewer units than any difference needs.
    p: Option<f64>,
}

impl DecoyFinding<'_> {
    /// Nothing if so few units cannot rule out chance.
    fn passes(&self) -> Option<bool> {
        if self.difference.abs() <= DECOY_MARGIN {
            return Some(true);
        }
        // The least p that this number of units can have.
        let least = libm::exp2(1.0 - self.units as f64);
        if least >= DECOY_LEVEL {
            None
        } else {
            self.p.map(|p| p >= DECOY_LEVEL)
        }
    }

    fn told(&self) -> String {
        let DecoyFinding {
            strategy,
            difference,
            units,
            p,
        } = self;
        let found = format!("{strategy} {difference:+.3} over {units} conversations");
        match (self.passes(), p) {
            (None, _) => format!("{found}, too few to decide"),
            (_, Some(p)) if difference.abs() > SMALL => format!("{found}, p = {p:.3}"),
            _ => found,
        }
    }
}

/// Of each strategy with a unit that has both rates. The oracle knows the facts.
fn decoy_findings<'r>(run: &ProtocolRun<'r>) -> impl Iterator<Item = DecoyFinding<'r>> {
    run.strategies
        .iter()
        .filter(|strategy| strategy.name != ORACLE)
        .filter_map(|strategy| {
            let differences: Vec<f64> =
                strategy.units.iter().filter_map(decoy_difference).collect();
            let units = differences.len();
            let p = (units >= sign_flip::FEWEST_UNITS).then(|| sign_flip::p_value(&differences));
            Some(DecoyFinding {
                strategy: strategy.name,
                difference: mean(&differences)?,
                units,
                p,
            })
        })
}

fn decoy_difference(unit: &UnitRecords) -> Option<f64> {
    let rows = unit
        .records
        .iter()
        .flat_map(|record| &record.compactions)
        .map(|row| row.stages);
    let sum = rows.fold(Stages::default(), |sum, row| Stages {
        paired_reached: sum.paired_reached + row.paired_reached,
        paired_written: sum.paired_written + row.paired_written,
        decoys_reached: sum.decoys_reached + row.decoys_reached,
        decoys_written: sum.decoys_written + row.decoys_written,
        ..sum
    });
    let rate =
        |written: u32, reached: u32| (reached > 0).then(|| f64::from(written) / f64::from(reached));
    Some(
        rate(sum.paired_written, sum.paired_reached)?
            - rate(sum.decoys_written, sum.decoys_reached)?,
    )
}

fn value(strategies: &[StrategySummary], name: &str, metric: &Metric) -> Result<f64, String> {
    let strategy = strategies.iter().find(|strategy| strategy.name == name);
    let found = strategy
        .and_then(|strategy| metric.get(strategy))
        .ok_or_else(|| format!("{} was not run", code(name)))?;
    found
        .value
        .ok_or_else(|| found.reason.clone().unwrap_or_default())
}

fn check(name: &str, passed: bool, detail: String) -> Check {
    Check {
        name: name.to_owned(),
        passed: Some(passed),
        detail,
    }
}

fn untold(name: &str, why: String) -> Check {
    Check {
        name: name.to_owned(),
        passed: None,
        detail: format!("not applicable: {why}"),
    }
}
