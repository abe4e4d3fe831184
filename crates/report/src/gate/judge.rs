//! Every strategy and primary metric, judged; Holm over all of them.

use std::collections::BTreeMap;

use compactometer_formats::baseline::{Baseline, StrategyBaseline};
use compactometer_formats::summary::Summary;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::changes::changes;
use super::metric_gate::MetricGate;
use super::power::{Arm, POWER, Population};
use super::rule::{self, MarginTest};
use super::{GateVerdict, GatedStrategy, StrategyGate, advice, guards};
use crate::metrics::answered::reader_strength;
use crate::metrics::scores::{BOUND, CORRECTED, NEEDED, PrimaryMetric, RAW, UnitScores};
use crate::numbers::percent_points;
use crate::stats::equivalence::{Equivalence, equivalent};
use crate::stats::{LEVEL, family, mean, nine_digits};

/// Sizes within this share of each other count as one size.
const SIZE_MARGIN: f64 = 0.1;
const SEED: u64 = 0x6A7E;

/// One test before Holm.
#[derive(Default)]
struct MetricTest {
    gate: MetricGate,
    judged: Option<MarginTest>,
    equivalence: Option<Equivalence>,
    /// Why the metric cannot pass, or cannot be decided at all.
    blocked: Option<String>,
    cannot_pass: Option<String>,
    /// Whether the records are the baseline's: nothing can be lost, whatever the level.
    is_identical: bool,
    population: Option<Population>,
}

/// The p values of one test after Holm over strategies and primary metrics.
#[derive(Clone, Copy, Default)]
struct Adjusted {
    regression: Option<f64>,
    equivalence: Option<f64>,
}

/// Every pair, in order.
pub(super) fn all(
    pairs: &[GatedStrategy],
    baseline: &Baseline,
    summary: &Summary,
    margin: f64,
) -> Vec<StrategyGate> {
    let tests: Vec<Vec<MetricTest>> = pairs.iter().map(|pair| of_pair(pair, margin)).collect();
    let count = tests.iter().flatten().count();
    let mut adjusted = adjusted(&tests, count).into_iter();
    let mut judged = Vec::with_capacity(pairs.len());
    for ((pair, tests), guards) in pairs.iter().zip(tests).zip(guards::all(pairs)) {
        let close =
            |test: MetricTest| decided(test, adjusted.next().unwrap_or_default(), count, margin);
        let metrics: Vec<MetricGate> = tests.into_iter().map(close).chain(guards).collect();
        let (newly_lost, newly_kept) = changes(baseline, pair.baseline, pair.strategy);
        judged.push(StrategyGate {
            protocol: pair.head.protocol,
            strategy: pair.head.strategy.clone(),
            verdict: metrics
                .iter()
                .map(|metric| metric.verdict)
                .max()
                .unwrap_or(GateVerdict::Inconclusive),
            changed: pair.changed.clone(),
            notes: notes(pair),
            next: advice::next(pair, &metrics, summary),
            metrics,
            newly_lost,
            newly_kept,
        });
    }
    judged
}

fn adjusted(tests: &[Vec<MetricTest>], count: usize) -> Vec<Adjusted> {
    let holm = |p: fn(&MetricTest) -> Option<f64>| {
        let found = tests.iter().flatten().filter_map(p).collect::<Vec<_>>();
        let mut adjusted = family::holm(&found, count).into_iter();
        tests
            .iter()
            .flatten()
            .map(|test| p(test).and_then(|_| adjusted.next()))
            .collect::<Vec<_>>()
    };
    let regressions = holm(|test| Some(test.judged?.p_regression));
    let equivalences = holm(|test| Some(test.equivalence?.p()));
    let pairs = regressions.into_iter().zip(equivalences);
    pairs
        .map(|(regression, equivalence)| Adjusted {
            regression,
            equivalence,
        })
        .collect()
}

/// Under the mock only contexts are tested, since its answers are artificial.
fn of_pair(pair: &GatedStrategy, margin: f64) -> Vec<MetricTest> {
    let asked = |primary: &&PrimaryMetric| match primary {
        PrimaryMetric::Context => true,
        // Baselines of before have none.
        PrimaryMetric::Needed => !scores(pair.baseline, NEEDED).is_empty(),
        PrimaryMetric::Answers => !pair.run.is_mock() && is_on_a_side(pair, PrimaryMetric::Answers),
        // Without bound recall the same metric is judged already.
        PrimaryMetric::Values => !scores(pair.baseline, BOUND).is_empty(),
    };
    PrimaryMetric::GATED
        .iter()
        .filter(asked)
        .map(|primary| of_metric(pair, *primary, margin))
        .collect()
}

/// Whether either side has a value: a suite without questions has no answers.
fn is_on_a_side(pair: &GatedStrategy, primary: PrimaryMetric) -> bool {
    let has = |metric: &&str| {
        !scores(pair.baseline, metric).is_empty()
            || UnitScores::new(metric, pair.strategy).is_some()
    };
    primary.metrics().iter().any(has)
}

fn of_metric(pair: &GatedStrategy, primary: PrimaryMetric, margin: f64) -> MetricTest {
    let both = primary.metrics().iter().find_map(|metric| {
        let old = scores(pair.baseline, metric);
        Some((
            *metric,
            UnitScores::new(metric, pair.strategy).filter(|_| !old.is_empty())?,
            old,
        ))
    });
    let Some((metric, scores, old)) = both else {
        let metric = primary.metrics()[0];
        return undefined(
            metric,
            format!("`{metric}` has no value in the run or in the baseline"),
        );
    };
    if let Some(weak) = (primary == PrimaryMetric::Answers)
        .then(|| reader_strength(pair.run).err())
        .flatten()
    {
        return undefined(metric, weak);
    }
    let new = scores.by_unit();
    // Rounded to the baseline's digits, since rounding must not count as a difference.
    let shared: Vec<(&String, f64, f64)> = old
        .iter()
        .filter_map(|(unit, old)| Some((unit, nine_digits(*new.get(unit)?), *old)))
        .collect();
    let differences: Vec<f64> = shared.iter().map(|(_, new, old)| new - old).collect();
    let judged = rule::judge(&differences, margin);
    let side =
        |of: fn(&(&String, f64, f64)) -> f64| mean(&shared.iter().map(of).collect::<Vec<_>>());
    let (run, baseline) = (side(|one| one.1), side(|one| one.2));
    let held = scores.held_by_unit(metric, pair.strategy);
    let arm = |(unit, new, old): &(&String, f64, f64)| Arm {
        noise: new - old,
        held: held.get(*unit).cloned().unwrap_or_default(),
    };
    let mut gate = empty(metric);
    gate.units = differences.len();
    (gate.run, gate.baseline) = (run.map(nine_digits), baseline.map(nine_digits));
    gate.reason = (metric == RAW).then(|| {
        format!("`{CORRECTED}` is undefined on a side; raw recall is judged, chance is in it")
    });
    MetricTest {
        gate,
        judged,
        equivalence: equivalent(&differences, margin),
        blocked: blocked(pair, baseline, margin),
        cannot_pass: cannot_pass(pair, old.len() - shared.len())
            .or_else(|| other_facts(pair, metric)),
        is_identical: pair.head.applied > 0
            && pair.head.records_hash == pair.baseline.head.records_hash,
        population: Some(Population::new(shared.iter().map(arm).collect())),
    }
}

fn scores(baseline: &StrategyBaseline, metric: &str) -> BTreeMap<String, f64> {
    let units = baseline.units.iter();
    units
        .filter_map(|unit| Some((unit.unit.clone(), *unit.scores.get(metric)?)))
        .collect()
}

/// Why a metric cannot be decided, whatever its numbers.
fn blocked(pair: &GatedStrategy, baseline: Option<f64>, margin: f64) -> Option<String> {
    if pair.head.applied == 0 || pair.baseline.head.applied == 0 {
        let side = if pair.head.applied == 0 {
            "run"
        } else {
            "baseline"
        };
        let failed = if pair.head.applied == 0 {
            pair.head.failed
        } else {
            pair.baseline.head.failed
        };
        let why = if failed > 0 {
            format!("all its {failed} compactions failed")
        } else {
            "it never triggered".to_owned()
        };
        return Some(format!("did not compact in the {side}: {why}"));
    }
    let recall = baseline.filter(|recall| *recall < 2.0 * margin)?;
    Some(format!(
        "the baseline's {:.1} % is under two margins of {} points: a loss that large cannot happen; gate where it \
         recalls more, on another suite (such as `smoke`) or with more room (`--retain`)",
        100.0 * recall,
        percent_points(margin)
    ))
}

/// Why a run may look better than it is, so that it cannot pass. Room that the run's retained
/// budget adds is a declared change.
fn cannot_pass(pair: &GatedStrategy, without_score: usize) -> Option<String> {
    let sizes = pair
        .head
        .tokens_retained
        .zip(pair.baseline.head.tokens_retained);
    if let Some((new, old)) =
        sizes.filter(|(new, old)| *new > (1.0 + SIZE_MARGIN) * pair.more_room * old)
    {
        return Some(format!(
            "{new:.0} tokens are retained on average, {old:.0} in the baseline: more was kept, so a pass would mean nothing"
        ));
    }
    (without_score > 0)
        .then(|| format!("{without_score} conversations of the baseline have no score in the run"))
}

/// CR* leaves out what chance nearly always finds. If the two sides leave out different facts,
/// their means are not comparable.
fn other_facts(pair: &GatedStrategy, metric: &str) -> Option<String> {
    let (new, old) = (&pair.head.too_likely, &pair.baseline.head.too_likely);
    let told = |kinds: &[String]| {
        if kinds.is_empty() {
            "nothing".to_owned()
        } else {
            kinds.join(", ")
        }
    };
    (metric == CORRECTED && new != old).then(|| {
        format!(
            "chance above .8 leaves out {} in the run and {} in the baseline: not the same facts",
            told(new),
            told(old)
        )
    })
}

fn undefined(metric: &str, why: String) -> MetricTest {
    MetricTest {
        gate: empty(metric),
        blocked: Some(why),
        ..MetricTest::default()
    }
}

fn empty(metric: &str) -> MetricGate {
    MetricGate {
        metric: metric.to_owned(),
        ..MetricGate::default()
    }
}

fn decided(test: MetricTest, adjusted: Adjusted, tests: usize, margin: f64) -> MetricGate {
    let mut gate = test.gate;
    if let Some((judged, p_holm)) = test.judged.zip(adjusted.regression) {
        fill(&mut gate, &judged, adjusted);
        gate.verdict = rule::verdict(&judged, p_holm, tests);
    }
    let fewest = rule::fewest(tests);
    if test.is_identical {
        gate.verdict = GateVerdict::Pass;
        gate.reason = Some("the records are the baseline's, byte for byte".to_owned());
        gate.equivalent = gate.equivalent.filter(|_| gate.units >= fewest);
        let is_decidable = test.blocked.is_none() && gate.units >= fewest;
        if let Some(population) = test.population.filter(|_| is_decidable) {
            tell_power(&mut gate, &population, margin, tests);
        }
        return gate;
    }
    let mut why = None;
    let mut is_decidable = true;
    if let Some(blocked) = test.blocked {
        (gate.verdict, why) = (GateVerdict::Inconclusive, Some(blocked));
        (gate.equivalent, is_decidable) = (None, false);
    } else if gate.units < fewest {
        (gate.verdict, why) = (
            GateVerdict::Inconclusive,
            Some(few(gate.units, fewest, tests)),
        );
        gate.equivalent = None;
    } else if gate.verdict < GateVerdict::Inconclusive && test.cannot_pass.is_some() {
        (gate.verdict, why) = (GateVerdict::Inconclusive, test.cannot_pass);
        is_decidable = false;
    } else if gate.verdict == GateVerdict::Inconclusive {
        why = Some(format!(
            "the bounds leave open whether {} points are lost",
            percent_points(margin)
        ));
    }
    gate.reason = why.or(gate.reason);
    if let Some(population) = test.population.filter(|_| is_decidable) {
        tell_power(&mut gate, &population, margin, tests);
    }
    gate
}

/// The numbers of the tests.
fn fill(gate: &mut MetricGate, judged: &MarginTest, adjusted: Adjusted) {
    let finite = |value: f64| Some(nine_digits(value)).filter(|value| value.is_finite());
    gate.difference = finite(judged.paired.mean);
    let (low, high) = judged.bounds();
    (gate.low, gate.high) = (finite(low), finite(high));
    (gate.p_pass, gate.p_regression) = (finite(judged.p_pass), finite(judged.p_regression));
    gate.p_holm = adjusted.regression.and_then(finite);
    gate.p_equivalent = adjusted.equivalence.and_then(finite);
    gate.equivalent = gate.p_equivalent.map(|p| p <= LEVEL);
}

/// The power at this number of units, and how many would do where it is too low or the verdict is
/// open.
fn tell_power(gate: &mut MetricGate, population: &Population, margin: f64, tests: usize) {
    let random = || ChaCha8Rng::seed_from_u64(SEED);
    gate.power = population.power(gate.units, margin, tests, &mut random());
    if gate.verdict == GateVerdict::Inconclusive || gate.power.is_some_and(|power| power < POWER) {
        gate.units_needed = population.needed(margin, tests, &mut random());
    }
}

fn few(units: usize, fewest: usize, tests: usize) -> String {
    let among = if tests > 1 {
        format!(" among {tests} tests")
    } else {
        String::new()
    };
    format!(
        "{units} independent conversations are too few to decide{among}: at least {fewest} are needed"
    )
}

fn notes(pair: &GatedStrategy) -> Vec<String> {
    let (new, old) = (&pair.head, &pair.baseline.head);
    let mut notes = Vec::new();
    let sizes = new.tokens_retained.zip(old.tokens_retained);
    if let Some((new, old)) = sizes.filter(|(new, old)| (new - old).abs() > SIZE_MARGIN * old) {
        notes.push(format!(
            "retains {new:.0} tokens on average, the baseline {old:.0}: the difference is one of size too"
        ));
    }
    if new.failed != old.failed {
        notes.push(format!(
            "{} compactions failed, {} in the baseline",
            new.failed, old.failed
        ));
    }
    notes
}
