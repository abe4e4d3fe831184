//! Every strategy and primary metric, judged; Holm over all of them.

use std::collections::BTreeMap;

use compactometer_formats::baseline::{Baseline, StrategyBaseline};
use compactometer_formats::summary::Summary;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;

use super::changes::changes;
use super::power::{Arm, Population};
use super::rule::{self, MarginTest};
use super::{GatedStrategy, StrategyGate, Verdict};
use crate::metrics::scores::{BOUND, CORRECTED, PrimaryMetric, RAW, UnitScores};
use crate::metrics::{COST_USD_CHECKPOINT, COST_USD_COMPACTION, COST_USD_PROBES, reader_strength};
use crate::stats::nine_digits;
use crate::stats::{family, mean};

/// A share of failed compactions this far above the baseline's cannot pass, since a failed compaction loses nothing.
const MORE_FAILURES: f64 = 0.05;
/// Sizes within this share of each other count as one size.
const SIZE_MARGIN: f64 = 0.1;
const SEED: u64 = 0x6A7E;

/// What a gate found of one metric.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MetricGate {
    /// The metric's id.
    pub metric: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// Why the verdict is not better.
    pub reason: Option<String>,
    /// Units that have a score on both sides.
    pub units: usize,
    /// The baseline's mean over them.
    pub baseline: Option<f64>,
    /// The run's.
    pub run: Option<f64>,
    /// The run's value minus the baseline's.
    pub difference: Option<f64>,
    /// One-sided 96 % lower bound of the difference (t): 95 % would pass too many losses of the margin itself.
    pub low: Option<f64>,
    /// One-sided 95 % upper bound of the difference (t).
    pub high: Option<f64>,
    /// P of such units where the true difference is minus the margin, against a smaller loss; under 30 units the larger of the t
    /// and the sign-flip test's wherever the t test rejects.
    pub p_pass: Option<f64>,
    /// The same against a larger loss.
    pub p_regression: Option<f64>,
    /// `p_regression` after Holm over strategies and primary metrics.
    pub p_holm: Option<f64>,
    /// The number of units at which a loss of two margins would be found with probability .80, if the verdict is open and the
    /// number is known.
    pub units_needed: Option<usize>,
}

/// One test before Holm.
#[derive(Default)]
struct MetricTest {
    gate: MetricGate,
    judged: Option<MarginTest>,
    /// Why the metric cannot pass, or cannot be decided at all.
    blocked: Option<String>,
    cannot_pass: Option<String>,
    population: Option<Population>,
}

/// Every pair, in order.
pub(super) fn all(pairs: &[GatedStrategy], baseline: &Baseline, summary: &Summary, margin: f64) -> Vec<StrategyGate> {
    let tests: Vec<Vec<MetricTest>> = pairs.iter().map(|pair| of_pair(pair, margin)).collect();
    let count = tests.iter().flatten().count();
    let found = tests.iter().flatten().filter_map(|test| test.judged.map(|judged| judged.p_regression));
    let mut adjusted = family::holm(&found.collect::<Vec<_>>(), count).into_iter();
    let mut judged = Vec::with_capacity(pairs.len());
    for (pair, tests) in pairs.iter().zip(tests) {
        let close = |test: MetricTest| {
            let p_holm = test.judged.and_then(|_| adjusted.next());
            decided(test, p_holm, count, margin)
        };
        let metrics: Vec<MetricGate> = tests.into_iter().map(close).collect();
        let (newly_lost, newly_kept) = changes(baseline, pair.baseline, pair.strategy);
        judged.push(StrategyGate {
            protocol: pair.head.protocol,
            strategy: pair.head.strategy.clone(),
            verdict: metrics.iter().map(|metric| metric.verdict).max().unwrap_or(Verdict::Inconclusive),
            notes: notes(pair),
            next: next(pair, &metrics, summary),
            metrics,
            newly_lost,
            newly_kept,
        });
    }
    judged
}

/// Under the mock only contexts are tested, since its answers are artificial.
fn of_pair(pair: &GatedStrategy, margin: f64) -> Vec<MetricTest> {
    let asked = |primary: &&PrimaryMetric| match primary {
        PrimaryMetric::Context => true,
        PrimaryMetric::Answers => !pair.run.is_mock() && is_on_a_side(pair, PrimaryMetric::Answers),
        // Without bound recall the same metric is judged already.
        PrimaryMetric::Values => !scores(pair.baseline, BOUND).is_empty(),
    };
    PrimaryMetric::GATED.iter().filter(asked).map(|primary| of_metric(pair, *primary, margin)).collect()
}

/// Whether either side has a value: a suite without questions has no answers.
fn is_on_a_side(pair: &GatedStrategy, primary: PrimaryMetric) -> bool {
    let has =
        |metric: &&str| !scores(pair.baseline, metric).is_empty() || UnitScores::of(metric, pair.strategy).is_some();
    primary.metrics().iter().any(has)
}

fn of_metric(pair: &GatedStrategy, primary: PrimaryMetric, margin: f64) -> MetricTest {
    let both = primary.metrics().iter().find_map(|metric| {
        let old = scores(pair.baseline, metric);
        Some((*metric, UnitScores::of(metric, pair.strategy).filter(|_| !old.is_empty())?, old))
    });
    let Some((metric, scores, old)) = both else {
        let metric = primary.metrics()[0];
        return undefined(metric, format!("`{metric}` has no value in the run or in the baseline"));
    };
    if let Some(weak) = (primary == PrimaryMetric::Answers).then(|| reader_strength(pair.run).err()).flatten() {
        return undefined(metric, weak);
    }
    let new = scores.by_unit();
    // Rounded to the baseline's digits, since rounding must not count as a difference.
    let shared: Vec<(&String, f64, f64)> =
        old.iter().filter_map(|(unit, old)| Some((unit, nine_digits(*new.get(unit)?), *old))).collect();
    let differences: Vec<f64> = shared.iter().map(|(_, new, old)| new - old).collect();
    let judged = rule::judge(&differences, margin);
    let side = |of: fn(&(&String, f64, f64)) -> f64| mean(&shared.iter().map(of).collect::<Vec<_>>());
    let (run, baseline) = (side(|one| one.1), side(|one| one.2));
    let held = scores.held(metric, pair.strategy);
    let arm = |(unit, new, old): &(&String, f64, f64)| Arm {
        noise: new - old,
        held: held.get(*unit).cloned().unwrap_or_default(),
    };
    let mut gate = empty(metric);
    gate.units = differences.len();
    (gate.run, gate.baseline) = (run.map(nine_digits), baseline.map(nine_digits));
    gate.reason =
        (metric == RAW).then(|| format!("`{CORRECTED}` is undefined on a side; raw recall is judged, chance is in it"));
    MetricTest {
        gate,
        judged,
        blocked: blocked(pair, baseline, margin),
        cannot_pass: cannot_pass(pair, old.len() - shared.len()).or_else(|| other_facts(pair, metric)),
        population: Some(Population::new(shared.iter().map(arm).collect())),
    }
}

fn scores(baseline: &StrategyBaseline, metric: &str) -> BTreeMap<String, f64> {
    let units = baseline.units.iter();
    units.filter_map(|unit| Some((unit.unit.clone(), *unit.scores.get(metric)?))).collect()
}

/// Why a metric cannot be decided, whatever its numbers.
fn blocked(pair: &GatedStrategy, baseline: Option<f64>, margin: f64) -> Option<String> {
    if pair.head.applied == 0 || pair.baseline.head.applied == 0 {
        let side = if pair.head.applied == 0 { "run" } else { "baseline" };
        let failed = if pair.head.applied == 0 { pair.head.failed } else { pair.baseline.head.failed };
        let why =
            if failed > 0 { format!("all its {failed} compactions failed") } else { "it never triggered".to_owned() };
        return Some(format!("did not compact in the {side}: {why}"));
    }
    let recall = baseline.filter(|recall| *recall < 2.0 * margin)?;
    Some(format!("the baseline's {recall:.3} is under two margins of {margin}: a loss that large cannot happen"))
}

/// Why a run may look better than it is, so that it cannot pass.
fn cannot_pass(pair: &GatedStrategy, without_score: usize) -> Option<String> {
    let (new, old) = (&pair.head, &pair.baseline.head);
    let share = |failed: usize, applied: usize| failed as f64 / (failed + applied).max(1) as f64;
    if share(new.failed, new.applied) > share(old.failed, old.applied) + MORE_FAILURES {
        let all = new.failed + new.applied;
        return Some(format!("{} of {all} compactions failed, and a failed one loses nothing", new.failed));
    }
    if new.over_window > old.over_window {
        let turns = new.over_window;
        return Some(format!("{turns} turns were sent over the window, {} in the baseline", old.over_window));
    }
    let sizes = new.tokens_retained.zip(old.tokens_retained);
    if let Some((new, old)) = sizes.filter(|(new, old)| *new > (1.0 + SIZE_MARGIN) * old) {
        return Some(format!(
            "{new:.0} tokens are retained on average, {old:.0} in the baseline: more room is no better memory"
        ));
    }
    (without_score > 0).then(|| format!("{without_score} units of the baseline have no score in the run"))
}

/// CR* leaves out what chance nearly always finds. If the two sides leave out different facts, their means are not comparable.
fn other_facts(pair: &GatedStrategy, metric: &str) -> Option<String> {
    let (new, old) = (&pair.head.too_likely, &pair.baseline.head.too_likely);
    let told = |kinds: &[String]| if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") };
    (metric == CORRECTED && new != old).then(|| {
        format!(
            "chance above .8 leaves out {} in the run and {} in the baseline: not the same facts",
            told(new),
            told(old)
        )
    })
}

fn undefined(metric: &str, why: String) -> MetricTest {
    MetricTest { gate: empty(metric), blocked: Some(why), ..MetricTest::default() }
}

fn empty(metric: &str) -> MetricGate {
    MetricGate { metric: metric.to_owned(), ..MetricGate::default() }
}

fn decided(test: MetricTest, p_holm: Option<f64>, tests: usize, margin: f64) -> MetricGate {
    let mut gate = test.gate;
    if let Some((judged, p_holm)) = test.judged.zip(p_holm) {
        let finite = |value: f64| Some(nine_digits(value)).filter(|value| value.is_finite());
        gate.difference = finite(judged.paired.mean);
        (gate.low, gate.high) = (finite(judged.low), finite(judged.high));
        (gate.p_pass, gate.p_regression) = (finite(judged.p_pass), finite(judged.p_regression));
        gate.p_holm = finite(p_holm);
        gate.verdict = rule::verdict(&judged, p_holm, tests);
    }
    let fewest = rule::fewest(tests);
    let mut why = None;
    let mut more_units_help = false;
    if let Some(blocked) = test.blocked {
        (gate.verdict, why) = (Verdict::Inconclusive, Some(blocked));
    } else if gate.units < fewest {
        (gate.verdict, why) = (Verdict::Inconclusive, Some(few(gate.units, fewest, tests)));
        more_units_help = true;
    } else if gate.verdict < Verdict::Inconclusive && test.cannot_pass.is_some() {
        (gate.verdict, why) = (Verdict::Inconclusive, test.cannot_pass);
    } else if gate.verdict == Verdict::Inconclusive {
        why = Some(format!("the bounds leave open whether {margin} is lost"));
        more_units_help = true;
    }
    gate.reason = why.or(gate.reason);
    if more_units_help {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        gate.units_needed = test.population.and_then(|population| population.needed(margin, tests, &mut random));
    }
    gate
}

fn few(units: usize, fewest: usize, tests: usize) -> String {
    let among = if tests > 1 { format!(" among {tests} tests") } else { String::new() };
    format!("{units} units decide nothing{among}: at least {fewest} are needed")
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
        notes.push(format!("{} compactions failed, {} in the baseline", new.failed, old.failed));
    }
    notes
}

/// What a decision needs: units, their cost on both sides, and the next command.
fn next(pair: &GatedStrategy, metrics: &[MetricGate], summary: &Summary) -> Option<String> {
    let open = metrics.iter().filter(|metric| metric.verdict == Verdict::Inconclusive);
    let (told, untold): (Vec<_>, Vec<_>) = open.partition(|metric| metric.units_needed.is_some());
    let most = told.into_iter().max_by_key(|metric| metric.units_needed);
    let untold = untold.iter().map(|metric| format!("more units cannot decide `{}`; see its reason", metric.metric));
    let said: Vec<String> =
        most.and_then(|metric| from_units(pair, metric, summary)).into_iter().chain(untold).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

fn from_units(pair: &GatedStrategy, metric: &MetricGate, summary: &Summary) -> Option<String> {
    let needed = metric.units_needed?;
    let found =
        format!("a loss of two margins of `{}` is found with probability .80 from {needed} units on", metric.metric);
    if needed <= metric.units {
        return Some(format!(
            "{found}, which there are: the difference itself is near the margin, and more units narrow its bounds"
        ));
    }
    let per_unit = pair.strategy.records().count() as f64 / pair.strategy.units.len().max(1) as f64;
    let conversations = libm::ceil(per_unit * needed as f64);
    let cost = if pair.run.is_mock() {
        "free with the mock".to_owned()
    } else {
        cost(pair, summary, conversations).unwrap_or_else(|| "at an unknown price".to_owned())
    };
    Some(format!(
        "{found}; there are {}. About {conversations:.0} conversations on each side, {cost}. Next: `compactometer generate SPEC \
         --out larger.jsonl` with `conversations = {conversations:.0}`, then `compactometer run larger.jsonl` on the old \
         program, `compactometer gate DIR --baseline FILE --update`, and both again on the new one without `--update`",
        metric.units
    ))
}

/// The strategy's own calls and those that ask it questions, on both sides.
fn cost(pair: &GatedStrategy, summary: &Summary, conversations: f64) -> Option<String> {
    let group = summary.groups.iter().find(|group| group.protocol == pair.head.protocol)?;
    let strategy = group.strategies.iter().find(|strategy| strategy.name == pair.head.strategy)?;
    let besides =
        [COST_USD_CHECKPOINT, COST_USD_PROBES].iter().filter_map(|metric| metric.value(strategy)).sum::<f64>();
    let each = COST_USD_COMPACTION.value(strategy)? + besides;
    Some(format!("about ${:.2} of calls in all", 2.0 * each * conversations))
}
