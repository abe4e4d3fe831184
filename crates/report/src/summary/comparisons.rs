//! Every strategy under test against one declared reference, paired by unit.
//!
//! Absent on purpose: rankings and winners; under a mock also comparisons of answers, which are its own making.

use std::collections::BTreeSet;

use compactometer_formats::record::{Family, Protocol};
use compactometer_formats::summary::{Compared, Comparison, StrategySummary};
use compactometer_text::code::code;

use crate::data::{ProtocolRun, StrategyRecords, UnitRecords};
use crate::metrics::scores::{CORRECTED, PrimaryMetric, RAW, UnitScores};
use crate::metrics::{TOKENS_RETAINED, fact_shares, reader_strength, recall_of_unit, why_not_compared};
use crate::stats::paired::Paired;
use crate::stats::{FEWEST_UNITS, LEVEL, T_ALONE, bootstrap, family, mean, nine_digits, planning, sign_flip};
use crate::summary::sizes;

/// The strategy that all others are compared with: the one declared, else the first reference strategy of the run.
pub(crate) fn reference<'s>(run: &ProtocolRun, strategies: &'s [StrategySummary]) -> Option<&'s StrategySummary> {
    let declared = run.manifest.reference.as_deref();
    let is_it = |strategy: &&StrategySummary| match declared {
        Some(name) => strategy.name == name,
        None => strategy.family == Family::Reference,
    };
    strategies.iter().find(is_it)
}

/// Every comparison, in the order of strategies, then of metrics; a metric that neither side has is left out.
pub(crate) fn all(runs: &[ProtocolRun], run: &ProtocolRun, strategies: &[StrategySummary]) -> Vec<Comparison> {
    let Some(reference) = reference(run, strategies) else { return Vec::new() };
    let tested = strategies.iter().filter(|strategy| strategy.family.is_tested() && strategy.name != reference.name);
    let primaries = if run.is_mock() { &PrimaryMetric::COMPARED[..1] } else { &PrimaryMetric::COMPARED[..] };
    let pairs = tested.flat_map(|strategy| primaries.iter().map(move |primary| (strategy, *primary)));
    let mut found: Vec<Comparison> =
        pairs.filter_map(|(strategy, primary)| one(runs, run, [strategy, reference], primary)).collect();
    adjust(&mut found);
    found
}

/// One comparison before Holm. If a test was made, [`Comparison::p_holm`] holds the unadjusted p.
fn one(
    runs: &[ProtocolRun],
    run: &ProtocolRun,
    sides: [&StrategySummary; 2],
    primary: PrimaryMetric,
) -> Option<Comparison> {
    let [strategy, reference] = sides;
    let pair = SharedUnits::of(run.strategy(&strategy.name)?, run.strategy(&reference.name)?);
    let (scores, metric) = pair.scores(primary)?;
    let mut made = empty(&strategy.name, &reference.name, metric);
    if metric == RAW {
        made.reason = Some(format!("`{CORRECTED}` is undefined, so raw recall is compared: chance is in it"));
    }
    let Some((own, other)) = scores else {
        return Some(without(made, Compared::Undefined, "one of the two has no value in any unit that both have"));
    };
    test(&mut made, &own, &other, pair.own.units.len());
    if primary == PrimaryMetric::Context {
        plan(&mut made, &pair);
    }
    if let Some(idle) = sides.iter().find(|side| side.triggered.conversations == 0) {
        return Some(without(made, Compared::DidNotTrigger, format!("{} never compacted anything", code(&idle.name))));
    }
    let too_often = [&pair.own, &pair.other].into_iter().find_map(|side| Some((side.name, why_not_compared(side)?)));
    if let Some((name, why)) = too_often {
        return Some(without(made, Compared::FailsTooOften, format!("{}: {why}", code(name))));
    }
    if let Some(weak) = (primary == PrimaryMetric::Answers).then(|| reader_strength(run).err()).flatten() {
        return Some(without(made, Compared::Undefined, weak));
    }
    let Some((sizes, at)) = sizes_differ(sides) else { return Some(made) };
    let curve = sizes::curve(runs, &strategy.name, recall_of_unit);
    // Curves are of the matched protocol, and of contexts.
    let has_curve = primary == PrimaryMetric::Context && run.protocol == Protocol::Matched;
    match sizes::at_size(&curve, at).filter(|_| has_curve) {
        Some(values) => {
            let mut made = empty(&strategy.name, &reference.name, RAW);
            made.reason =
                Some(format!("{sizes}; so raw recall is compared, its own read off its curve at {at:.0} tokens"));
            let other = UnitScores::of(RAW, &pair.other)?;
            test(&mut made, &UnitScores::given(&values, &pair.own), &other, pair.own.units.len());
            Some(made)
        }
        None => Some(without(made, Compared::SizesDiffer, format!("{sizes}: recall is not compared at one size"))),
    }
}

/// A comparison without a test, and the reason.
fn without(made: Comparison, verdict: Compared, reason: impl Into<String>) -> Comparison {
    Comparison { verdict, reason: Some(reason.into()), p_holm: None, ..made }
}

/// Two strategies in the units that both have.
struct SharedUnits<'r> {
    own: StrategyRecords<'r>,
    other: StrategyRecords<'r>,
}

/// The scores of both sides, if both have any, and their metric.
type PairedScores = (Option<(UnitScores, UnitScores)>, &'static str);

impl<'r> SharedUnits<'r> {
    fn of(own: &StrategyRecords<'r>, other: &StrategyRecords<'r>) -> Self {
        let groups =
            |strategy: &StrategyRecords<'r>| strategy.units.iter().map(|unit| unit.group).collect::<BTreeSet<_>>();
        let shared: BTreeSet<_> = groups(own).intersection(&groups(other)).copied().collect();
        let within = |strategy: &StrategyRecords<'r>| StrategyRecords {
            units: strategy.units.iter().filter(|unit| shared.contains(unit.group)).cloned().collect(),
            ..strategy.clone()
        };
        SharedUnits { own: within(own), other: within(other) }
    }

    /// The first metric that both sides have; nothing if neither has any.
    fn scores(&self, primary: PrimaryMetric) -> Option<PairedScores> {
        let mut any = None;
        for metric in primary.metrics() {
            match (UnitScores::of(metric, &self.own), UnitScores::of(metric, &self.other)) {
                (Some(own), Some(other)) => return Some((Some((own, other)), metric)),
                (None, None) => {}
                _ => any = any.or(Some(*metric)),
            }
        }
        any.map(|metric| (None, metric))
    }
}

fn test(made: &mut Comparison, own: &UnitScores, other: &UnitScores, units: usize) {
    let differences: Vec<f64> = differences(own, other, &vec![1; units]).into_iter().flatten().collect();
    made.n = differences.len();
    made.difference = mean(&differences).map(nine_digits);
    let Some(paired) = Paired::of(&differences) else { return };
    let interval = bootstrap::interval(units, |times| drawn_mean(own, other, times));
    let interval = interval.filter(|_| made.n >= bootstrap::FEWEST_UNITS);
    (made.low, made.high) = interval.map(|(low, high)| (nine_digits(low), nine_digits(high))).unzip();
    made.sd = Some(nine_digits(paired.sd));
    made.detectable = Some(nine_digits(planning::detectable(&paired)));
    if made.n < FEWEST_UNITS {
        return;
    }
    let (t, flips) = (paired.p_two_sided(), sign_flip::p_value(&differences));
    (made.p_t, made.p_sign_flip) = (Some(nine_digits(t)), Some(nine_digits(flips)));
    made.p_holm = Some(if made.n < T_ALONE { t.max(flips) } else { t });
}

fn differences(own: &UnitScores, other: &UnitScores, times: &[u32]) -> Vec<Option<f64>> {
    own.drawn(times).into_iter().zip(other.drawn(times)).map(|(own, other)| Some(own? - other?)).collect()
}

fn drawn_mean(own: &UnitScores, other: &UnitScores, times: &[u32]) -> Option<f64> {
    let (mut sum, mut drawn) = (0.0, 0.0);
    for (difference, times) in differences(own, other, times).into_iter().zip(times) {
        if let Some(difference) = difference {
            sum += difference * f64::from(*times);
            drawn += f64::from(*times);
        }
    }
    (drawn > 0.0).then(|| sum / drawn)
}

/// How similar the differences of one unit's facts are.
fn plan(made: &mut Comparison, pair: &SharedUnits) {
    let of_unit = |(own, other): (&UnitRecords, &UnitRecords)| {
        let (own, other) = (fact_shares(own), fact_shares(other));
        own.iter().filter_map(|(fact, (_, share))| Some(share - other.get(fact)?.1)).collect()
    };
    let clusters: Vec<Vec<f64>> = pair.own.units.iter().zip(&pair.other.units).map(of_unit).collect();
    let found = planning::clustering(&clusters);
    (made.icc, made.design_effect) =
        found.map(|found| (nine_digits(found.icc), nine_digits(found.design_effect))).unzip();
}

/// A message if the two strategies retain different sizes, and the reference's tokens.
fn sizes_differ([strategy, reference]: [&StrategySummary; 2]) -> Option<(String, f64)> {
    let size = |of: &StrategySummary| TOKENS_RETAINED.value(of);
    let (own, other) = (size(strategy)?, size(reference)?);
    (!sizes::agree(own, other)).then(|| (format!("retains {own:.0} tokens on average against {other:.0}"), other))
}

/// Holm over all tests of the group, and the verdicts that hang on it.
fn adjust(found: &mut [Comparison]) {
    let p_values: Vec<f64> = found.iter().filter_map(|made| made.p_holm).collect();
    // The family was fixed before the results: a comparison without a test stays in it.
    let tests = found.len();
    let mut adjusted = family::holm(&p_values, tests).into_iter();
    for made in found {
        made.p_holm = made.p_holm.and_then(|_| adjusted.next());
        if matches!(made.verdict, Compared::NoSupportedDifference) {
            made.verdict = verdict(made, tests);
        }
        made.p_holm = made.p_holm.map(nine_digits);
    }
}

fn verdict(made: &Comparison, tests: usize) -> Compared {
    // Two patterns of signs are as extreme as the most extreme one.
    let least = 2.0 * libm::exp2(-(made.n as f64)) * tests as f64;
    match made.p_holm {
        _ if made.n < FEWEST_UNITS || (made.n < T_ALONE && least > LEVEL) => Compared::TooFewUnits,
        Some(p) if p <= LEVEL => Compared::SupportedDifference,
        _ => Compared::NoSupportedDifference,
    }
}

fn empty(strategy: &str, reference: &str, metric: &str) -> Comparison {
    let [strategy, reference, metric] = [strategy, reference, metric].map(str::to_owned);
    Comparison { strategy, reference, metric, ..Comparison::default() }
}
