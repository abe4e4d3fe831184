//! How often the gate is wrong, and how often it finds a loss: from two runs that differ in their
//! seed alone.
//!
//! Units are drawn again from those of the runs, which of the two is new is drawn for each unit, so
//! without a loss the true difference is 0; losses are planted in what contexts held until the mean
//! difference is the stated one. q of CR* is that of the whole runs.
//!
//! Absent on purpose: made-up numbers, and gates over several strategies: one alone raises the most
//! false alarms.

use std::collections::{BTreeMap, BTreeSet};

use compactometer_formats::manifest::Manifest;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::Record;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;

use super::damage::{self, PlantedDamage};
use super::power::{Arm, Gates, Population};
use super::replay::{default_replay, tested};
use super::{GateVerdict, VERSION};
use crate::data::run_files::RunFiles;
use crate::data::{ProtocolRun, StrategyRecords};
use crate::metrics::scores::{BOUND, PrimaryMetric, UnitScores};
use crate::phrases::models;
use crate::stats::nine_digits;
use crate::stats::paired::PairedSums;
use crate::stats::{mean, proportion};

/// At most this share of gates may be wrong.
const MOST_WRONG: f64 = 0.05;
/// At most this share of a single strategy's gates, beyond chance. The level of a t test moves with
/// the shape of few differences; Bradley (1978, Robustness?) calls a test robust if its level stays
/// within half of the nominal one.
const MOST_WRONG_OF_ONE: f64 = 1.5 * MOST_WRONG;
/// At least this share must find a loss of two margins at G*.
const LEAST_FOUND: f64 = 0.8;
/// Fewer pairs of units are not a population to draw from.
const FEWEST_PAIRS: usize = 5;
const SEED: u64 = 0x5E1F;

/// What the self-test found.
#[derive(Clone, Debug, Serialize)]
pub struct SelfTest {
    /// [`VERSION`].
    pub version: u32,
    /// Whether every rate is as required, at most .05, at most .05, at least .80, over all
    /// strategies; no single strategy's interval (95 % for all of them together) is above .075 or
    /// under .80; and no planted damage was let through.
    pub ok: bool,
    /// The share of gates that found a regression where nothing was lost, over all strategies, at G
    /// and G*.
    pub false_alarm_rate: f64,
    /// The share of gates that passed where the margin was lost, over all strategies, at G and G*.
    pub wrong_pass_rate: f64,
    /// The share of gates that found a regression where two margins were lost, over all strategies,
    /// at G*.
    pub detection_rate: f64,
    /// The loss of recall that is tolerated.
    pub margin: f64,
    /// Gates simulated for each rate.
    pub n: usize,
    /// G: units of the runs.
    pub units: usize,
    /// G*: units that every strategy's gate needs.
    pub units_needed: usize,
    /// The suite's name.
    pub suite: String,
    /// The summarizer.
    pub model: String,
    /// Seeds of the two runs.
    pub seeds: [u64; 2],
    /// One for each strategy and protocol.
    pub strategies: Vec<SelfTested>,
    /// What the gate said about damage that is planted in the first run.
    pub damages: Vec<PlantedDamage>,
}

/// What was found of one strategy.
#[derive(Clone, Debug, Serialize)]
pub struct SelfTested {
    /// How budgets were set.
    pub protocol: Protocol,
    /// Its name.
    pub strategy: String,
    /// The metric.
    pub metric: String,
    /// Units that differ between the runs.
    pub pairs: usize,
    /// Units that are the same in both, and do not count.
    pub identical: usize,
    /// Standard deviation of differences without a loss.
    pub sd_without_loss: f64,
    /// The same with a loss of two margins.
    pub sd_with_loss: f64,
    /// G*.
    pub units_needed: usize,
    /// Shares of verdicts, at G and at G*.
    pub simulated: Vec<Simulated>,
}

/// Verdicts of gates at one true difference.
#[derive(Clone, Debug, Serialize)]
pub struct Simulated {
    /// The true difference.
    pub difference: f64,
    /// Units of each gate.
    pub units: usize,
    /// Share that passed, worse within the margin or not.
    pub pass: f64,
    /// Share that was inconclusive.
    pub inconclusive: f64,
    /// Share that found a regression.
    pub regression: f64,
    /// Wilson's 95 % interval of `pass`; for 0 of n the upper end is 3/n.
    pub pass_interval: (f64, f64),
    /// The same for `regression`.
    pub regression_interval: (f64, f64),
}

/// Runs that cannot test the gate, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SelfTestError(String);

/// Simulates `gates` gates for each rate.
///
/// # Errors
/// [`SelfTestError`] where the runs are not a pair of one configuration under two seeds.
pub fn self_test(
    first: &RunFiles,
    second: &RunFiles,
    prices: &PriceTable,
    margin: f64,
    gates: usize,
) -> Result<SelfTest, SelfTestError> {
    check(&first.manifest, &second.manifest)?;
    let runs =
        [first, second].map(|run| ProtocolRun::by_protocol(&run.manifest, &run.records, prices));
    let mut judged = Vec::new();
    let replay =
        |at: usize| default_replay(&runs[at]).map_err(|error| SelfTestError(error.to_string()));
    let (one, other) = (replay(0)?, replay(1)?);
    for strategy in tested(one) {
        let Some(again) = other.strategy(strategy.name) else {
            continue;
        };
        judged.push(one_strategy(one.protocol, strategy, again, margin, gates)?);
    }
    if judged.is_empty() {
        return Err(SelfTestError(
            "no strategy under test is in both runs".to_owned(),
        ));
    }
    let names: Vec<&str> = judged.iter().map(|one| one.strategy.as_str()).collect();
    let damages = damage::all(first, prices, &names, margin);
    let rows = |times: f64| {
        let all = judged
            .iter()
            .flat_map(|one| one.simulated.iter().map(move |row| (one.units_needed, row)));
        all.filter(move |(_, row)| row.difference == 0.0 - times * margin)
    };
    let alarms = GateRate::new(rows(0.0).map(|(_, row)| row.regression), gates);
    let passes = GateRate::new(rows(1.0).map(|(_, row)| row.pass), gates);
    let at_needed = rows(2.0).filter(|(needed, row)| row.units == *needed);
    let found = GateRate::new(at_needed.map(|(_, row)| row.regression), gates);
    let has_rates = alarms.is_rare() && passes.is_rare() && found.is_at_least(LEAST_FOUND);
    Ok(SelfTest {
        version: VERSION,
        ok: is_ok(has_rates, &damages),
        false_alarm_rate: alarms.mean,
        wrong_pass_rate: passes.mean,
        detection_rate: found.mean,
        margin,
        n: gates,
        units: first.manifest.groups,
        units_needed: judged.iter().map(|one| one.units_needed).max().unwrap_or(0),
        suite: first.manifest.suite.clone(),
        model: models(&first.manifest.summarizer, first.manifest.target.as_deref()),
        seeds: [first.manifest.seed, second.manifest.seed],
        strategies: judged,
        damages,
    })
}

/// A share over all strategies. Each row is of as many gates, so their mean is it; the worst of
/// several noisy rows would be above the truth even for an exact test.
struct GateRate {
    mean: f64,
    /// The highest lower and the lowest upper end of the rows' intervals, which hold for all rows
    /// at once. With an interval for each row, one of five rows whose rate is exactly the allowed
    /// one would fail every eighth self-test.
    ends: (f64, f64),
}

impl GateRate {
    /// Shares of `gates` gates each.
    fn new(rows: impl Iterator<Item = f64>, gates: usize) -> Self {
        let shares: Vec<f64> = rows.collect();
        let hits = |share: &f64| libm::round(share * gates as f64) as usize;
        let intervals = shares
            .iter()
            .map(|share| proportion::wilson_among(shares.len(), hits(share), gates));
        let ends = intervals.fold((0.0_f64, 1.0_f64), |ends, (low, high)| {
            (ends.0.max(low), ends.1.min(high))
        });
        GateRate {
            mean: nine_digits(mean(&shares).unwrap_or(f64::NAN)),
            ends,
        }
    }

    fn is_rare(&self) -> bool {
        self.mean <= MOST_WRONG && self.ends.0 <= MOST_WRONG_OF_ONE
    }

    fn is_at_least(&self, least: f64) -> bool {
        self.mean >= least && self.ends.1 >= least
    }
}

/// Two manifests may differ in seed, command and commit.
fn check(first: &Manifest, second: &Manifest) -> Result<(), SelfTestError> {
    if first.seed == second.seed {
        let seed = first.seed;
        return Err(SelfTestError(format!(
            "both runs have the seed `{seed}`; identical pairs test nothing, run one of them with another `--seed`"
        )));
    }
    let bare = |manifest: &Manifest| {
        let bare = Manifest {
            seed: 0,
            command: Vec::new(),
            commit: String::new(),
            ..manifest.clone()
        };
        serde_json::to_value(bare)
            .ok()
            .and_then(|value| value.as_object().cloned())
            .unwrap_or_default()
    };
    let (first, second) = (bare(first), bare(second));
    match first
        .iter()
        .find(|(field, value)| second.get(*field) != Some(value))
    {
        Some((field, value)) => {
            let other = second
                .get(field)
                .map(ToString::to_string)
                .unwrap_or_default();
            let what = format!("`{field}` is {value} and {other}");
            Err(SelfTestError(format!(
                "the two runs differ in more than their seed: {what}"
            )))
        }
        None => Ok(()),
    }
}

fn one_strategy(
    protocol: Protocol,
    strategy: &StrategyRecords,
    again: &StrategyRecords,
    margin: f64,
    gates: usize,
) -> Result<SelfTested, SelfTestError> {
    let (metric, arms, identical) = arms(strategy, again);
    let pairs = arms.len() / 2;
    if pairs < FEWEST_PAIRS {
        return Err(SelfTestError(format!(
            "`{}`: {pairs} conversations differ between the runs and {identical} are identical, which do not count; {FEWEST_PAIRS} are needed",
            strategy.name
        )));
    }
    let units = pairs + identical;
    let population = Population::new(arms);
    let no_power = || {
        let what = format!(
            "a loss of two margins of {margin} cannot be planted, or no number of conversations finds it"
        );
        SelfTestError(format!("`{}`: {what}", strategy.name))
    };
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let with_loss = population
        .planted(2.0 * margin, &mut random)
        .as_deref()
        .and_then(PairedSums::new);
    let needed = population
        .needed(margin, 1, &mut random)
        .ok_or_else(no_power)?;
    let mut simulated = Vec::new();
    for units in if units == needed {
        vec![units]
    } else {
        vec![units, needed]
    } {
        for times in [0.0, 1.0, 2.0] {
            let at = Gates {
                loss: times * margin,
                units,
                margin,
                tests: 1,
                gates,
                widest: false,
            };
            let verdicts = population.gates(&at, &mut random).ok_or_else(no_power)?;
            simulated.push(shares(0.0 - times * margin, units, &verdicts));
        }
    }
    Ok(SelfTested {
        protocol,
        strategy: strategy.name.to_owned(),
        metric: metric.to_owned(),
        pairs,
        identical,
        sd_without_loss: nine_digits(population.noise_sd()),
        sd_with_loss: nine_digits(with_loss.map_or(0.0, |paired| paired.sd)),
        units_needed: needed,
        simulated,
    })
}

/// Each unit that differs, twice: either run may be the new one. With the metric, and the number of
/// identical units.
fn arms(strategy: &StrategyRecords, again: &StrategyRecords) -> (&'static str, Vec<Arm>, usize) {
    let headlines = [PrimaryMetric::Needed, PrimaryMetric::Context];
    for metric in headlines.iter().flat_map(|primary| primary.metrics()) {
        let (Some(one), Some(other)) = (
            UnitScores::new(metric, strategy),
            UnitScores::new(metric, again),
        ) else {
            continue;
        };
        let held = [
            one.held_by_unit(metric, strategy),
            other.held_by_unit(metric, again),
        ];
        let held = |side: usize, unit: &str| held[side].get(unit).cloned().unwrap_or_default();
        let (one, other) = (one.by_unit(), other.by_unit());
        let same = identical(strategy, again);
        let mut arms = Vec::new();
        for (unit, score) in one.iter().filter(|(unit, _)| !same.contains(unit.as_str())) {
            let Some(second) = other.get(unit) else {
                continue;
            };
            arms.push(Arm {
                noise: second - score,
                held: held(1, unit),
            });
            arms.push(Arm {
                noise: score - second,
                held: held(0, unit),
            });
        }
        return (metric, arms, same.len());
    }
    (BOUND, Vec::new(), 0)
}

/// Units whose records have the same texts and fates.
fn identical<'r>(strategy: &StrategyRecords<'r>, again: &StrategyRecords<'r>) -> BTreeSet<&'r str> {
    let shown = |strategy: &StrategyRecords<'r>| -> BTreeMap<&'r str, Vec<serde_json::Value>> {
        strategy
            .units
            .iter()
            .map(|unit| {
                (
                    unit.group,
                    unit.records.iter().map(|record| content(record)).collect(),
                )
            })
            .collect()
    };
    let (one, other) = (shown(strategy), shown(again));
    one.iter()
        .filter(|(unit, shown)| other.get(*unit) == Some(shown))
        .map(|(unit, _)| *unit)
        .collect()
}

fn content(record: &Record) -> serde_json::Value {
    let rows = record.compactions.iter();
    let texts: Vec<_> = rows
        .map(|row| {
            (
                &row.inserted,
                row.calls.iter().map(|call| &call.reply).collect::<Vec<_>>(),
            )
        })
        .collect();
    let fates: Vec<_> = record
        .observations
        .iter()
        .map(|observation| &observation.fates)
        .collect();
    serde_json::json!([record.case.scenario, texts, fates])
}

/// Whether the gate can be relied on: neither its rates nor a planted damage deny it.
fn is_ok(has_rates: bool, damages: &[PlantedDamage]) -> bool {
    has_rates && !damages.iter().any(PlantedDamage::is_missed)
}

fn shares(difference: f64, units: usize, verdicts: &[GateVerdict]) -> Simulated {
    let n = verdicts.len();
    let count = |counts: fn(GateVerdict) -> bool| {
        verdicts.iter().filter(|verdict| counts(**verdict)).count()
    };
    let passes = count(|verdict| verdict <= GateVerdict::PassWorse);
    let regressions = count(|verdict| verdict == GateVerdict::Regression);
    let share = |hits: usize| hits as f64 / n.max(1) as f64;
    let interval = |hits: usize| {
        (
            nine_digits(proportion::wilson(hits, n).0),
            nine_digits(proportion::most(hits, n)),
        )
    };
    Simulated {
        difference,
        units,
        pass: share(passes),
        inconclusive: share(n - passes - regressions),
        regression: share(regressions),
        pass_interval: interval(passes),
        regression_interval: interval(regressions),
    }
}

/// The self-test as a terminal shows it.
pub fn self_test_text(found: &SelfTest) -> String {
    let SelfTest {
        suite,
        model,
        margin,
        n,
        seeds,
        ..
    } = found;
    let mut text = format!(
        "gate self-test: {suite} | summarizer {model} | seeds {} and {} | margin {margin} | {n} gates each\n\n",
        seeds[0], seeds[1]
    );
    for one in &found.strategies {
        text.push_str(&format!(
            "{} ({}, {}): {} conversations differ, {} identical, ignored; sd {:.3}, with losses {:.3}; G* {}\n",
            one.strategy,
            one.protocol.name(),
            one.metric,
            one.pairs,
            one.identical,
            one.sd_without_loss,
            one.sd_with_loss,
            one.units_needed
        ));
        for row in &one.simulated {
            text.push_str(&format!(
                "  true difference {:>6.3} at {:>3} conversations: pass {:.3}, inconclusive {:.3}, regression {:.3}\n",
                row.difference, row.units, row.pass, row.inconclusive, row.regression
            ));
        }
    }
    text.push_str(&damage_text(&found.damages));
    text.push_str(&format!(
        "\nfalse alarms {:.3} (at most {MOST_WRONG}), wrong passes {:.3} (at most {MOST_WRONG}), losses of two margins found at G* {:.3} \
         (at least {LEAST_FOUND}): {}\n",
        found.false_alarm_rate, found.wrong_pass_rate, found.detection_rate, if found.ok { "ok" } else { "FAILED" }
    ));
    text
}

fn damage_text(damages: &[PlantedDamage]) -> String {
    let line = |planted: &PlantedDamage| {
        let found = match (planted.verdict, &planted.reason) {
            (Some(verdict), _) => format!(
                "{}{}",
                verdict.name(),
                if planted.is_missed() { ": MISSED" } else { "" }
            ),
            (None, reason) => format!("not judged: {}", reason.as_deref().unwrap_or_default()),
        };
        format!(
            "  {} ({}): {found}\n",
            planted.damage.name(),
            planted.strategy
        )
    };
    format!(
        "\nplanted damage:\n{}",
        damages.iter().map(line).collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_missed_damage_denies_a_gate_whatever_its_rates() {
        let planted = |verdict| PlantedDamage {
            strategy: "mine".to_owned(),
            damage: super::super::Damage::ValueList,
            verdict,
            reason: None,
        };
        let found = planted(Some(GateVerdict::Regression));
        let missed = planted(Some(GateVerdict::Pass));
        assert!(is_ok(true, &[found.clone(), planted(None)]));
        assert!(!is_ok(true, &[found.clone(), missed]) && !is_ok(false, &[found]));
    }

    #[test]
    fn every_simulated_verdict_has_its_share() {
        use GateVerdict::{Inconclusive, Pass, PassWorse, Regression};
        let verdicts = [Pass, PassWorse, Inconclusive, Regression, Regression];
        let found = shares(-0.05, 7, &verdicts);
        assert_eq!(
            (found.pass, found.inconclusive, found.regression),
            (0.4, 0.2, 0.4)
        );
    }

    #[test]
    fn one_row_of_several_denies_a_rate_only_beyond_chance() {
        let denied = |shares: [f64; 5]| !GateRate::new(shares.into_iter(), 1_000).is_rare();
        assert!(
            !denied([0.085, 0.030, 0.030, 0.030, 0.030]),
            "one row is above the bound by chance"
        );
        assert!(
            denied([0.110, 0.030, 0.030, 0.030, 0.030]),
            "the mean is in order, one row is not"
        );
        assert!(
            denied([0.052, 0.052, 0.052, 0.052, 0.052]),
            "no row is out of order, the mean is"
        );
    }
}
