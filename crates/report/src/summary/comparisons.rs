//! Every strategy under test against one declared reference, or its own one, paired by unit.
//!
//! Absent on purpose: rankings; under a mock also comparisons of answers, which are its own making.
//! What is not a measurement of recall, as that of a strategy that fails too often, has no number
//! here.

use std::collections::{BTreeMap, BTreeSet};

use compactometer_formats::record::Family;
use compactometer_formats::summary::{Compared, Comparison, StrategySummary};
use compactometer_text::code::code;

use crate::data::{ProtocolRun, RANDOM_DROP, StrategyRecords, UnitRecords};
use crate::metrics::SEALED;
use crate::metrics::answered::reader_strength;
use crate::metrics::around_facts::STATED_SHARE;
use crate::metrics::engine::TOKENS_RETAINED;
use crate::metrics::failures::why_not_compared;
use crate::metrics::recall::fact_shares;
use crate::metrics::scores::{CORRECTED, PrimaryMetric, RAW, UnitScores};
use crate::numbers::points;
use crate::stats::equivalence::equivalent;
use crate::stats::paired::PairedSums;
use crate::stats::{
    FEWEST_UNITS, LEVEL, T_ALONE, family, interval, mean, nine_digits, planning, sign_flip,
};
use crate::summary::sizes::agree;

/// A difference of recall under this, on either side, is none that matters: the gate's margin where
/// no other is named.
const MARGIN: f64 = 0.05;

/// The row that all others are compared with: the one declared, else random old text of the same
/// size, else the first reference strategy of the run.
pub(crate) fn reference<'r>(run: &ProtocolRun<'r>) -> Option<&'r str> {
    if let Some(name) = run.manifest.reference.as_deref() {
        return run.strategy(name).map(|strategy| strategy.name);
    }
    let first = || {
        let mut rows = run.strategies.iter();
        rows.find(|strategy| strategy.family == Family::Reference)
    };
    let found = run.strategy(RANDOM_DROP).or_else(first);
    found.map(|strategy| strategy.name)
}

/// The names of every strategy under test and of what it is compared with: its own reference, or
/// that of the run. What is another form's own reference is compared with nothing.
pub(super) fn pairs<'r>(run: &ProtocolRun<'r>) -> Vec<[&'r str; 2]> {
    let own = &run.manifest.pairs;
    let common = reference(run);
    let is_form = |name: &str| {
        let row = run.strategy(name);
        row.is_some_and(|row| row.family != Family::Idea)
    };
    let is_base = |name: &str| {
        let mut forms = own.iter().filter(|(form, _)| is_form(form));
        forms.any(|(_, base)| base == name)
    };
    let of = |name: &str| match own.get(name) {
        Some(reference) => run.strategy(reference).map(|found| found.name),
        None => common.filter(|_| !is_base(name)),
    };
    let tested = run
        .strategies
        .iter()
        .filter(|strategy| strategy.family.is_compared())
        .map(|strategy| strategy.name);
    tested
        .filter_map(|name| Some([name, of(name)?]))
        .filter(|[name, reference]| name != reference)
        .collect()
}

/// Every comparison, in the order of strategies, then of metrics; a metric that neither side has is
/// left out.
pub(crate) fn all(run: &ProtocolRun, strategies: &[StrategySummary]) -> Vec<Comparison> {
    let primaries = if run.is_mock() {
        &PrimaryMetric::TESTED[..2]
    } else {
        &PrimaryMetric::TESTED[..]
    };
    let find = |name: &str| strategies.iter().find(|strategy| strategy.name == name);
    let pairs = pairs(run)
        .into_iter()
        .filter_map(|[name, reference]| Some([find(name)?, find(reference)?]));
    let pairs = pairs.flat_map(|sides| primaries.iter().map(move |primary| (sides, *primary)));
    let drafts =
        pairs.filter_map(|(sides, primary)| Some((sides[0].family, one(run, sides, primary)?)));
    tested(run, drafts.collect())
}

/// Every pair of the sources' strategies, by one metric. The tests are one family.
pub(super) fn of_all_pairs(
    run: &ProtocolRun,
    strategies: &[StrategySummary],
    primary: PrimaryMetric,
) -> Vec<Comparison> {
    let rows = strategies
        .iter()
        .filter(|row| row.family == Family::Reference);
    let rows: Vec<&StrategySummary> = rows.collect();
    let pairs = (0..rows.len()).flat_map(|at| (0..at).map(move |other| [at, other]));
    let drafts = pairs.filter_map(|[at, other]| {
        let draft = one(run, [rows[at], rows[other]], primary)?;
        Some((Family::Reference, draft))
    });
    tested(run, drafts.collect())
}

/// The verdicts. With references of their own, published forms and changed parameters are two
/// families of tests.
pub(super) fn tested(
    run: &ProtocolRun,
    mut drafts: Vec<(Family, ComparisonDraft)>,
) -> Vec<Comparison> {
    let is_one = run.manifest.pairs.is_empty();
    let family = |family: Family| if is_one { None } else { Some(family) };
    let families = drafts
        .iter()
        .map(|(of, _)| family(*of))
        .collect::<BTreeSet<_>>();
    let tests = families.into_iter().map(|one| {
        let mut of_one = drafts
            .iter_mut()
            .filter(|(of, _)| family(*of) == one)
            .map(|(_, draft)| draft);
        (one, adjust(&mut of_one))
    });
    let tests = tests.collect::<BTreeMap<_, _>>();
    drafts
        .into_iter()
        .map(|(of, draft)| decided(draft, tests[&family(of)]))
        .collect()
}

/// A comparison before Holm: [`Comparison::p_holm`] and [`Comparison::p_margin`] hold unadjusted p
/// values, if tests were made.
pub(super) struct ComparisonDraft {
    pub(super) made: Comparison,
    /// The two sizes, if they differ.
    pub(super) sizes: Option<RetainedSizes>,
}

/// Mean tokens that strategy and reference retain.
#[derive(Clone, Copy)]
pub(super) struct RetainedSizes {
    own: f64,
    other: f64,
}

impl RetainedSizes {
    fn new([strategy, reference]: [&StrategySummary; 2]) -> Option<Self> {
        Some(RetainedSizes {
            own: TOKENS_RETAINED.value(strategy)?,
            other: TOKENS_RETAINED.value(reference)?,
        })
    }

    /// 1 where the strategy retains less, -1 where it retains more.
    fn sign(self) -> f64 {
        if self.own < self.other { 1.0 } else { -1.0 }
    }

    fn words(self) -> String {
        format!(
            "retains {:.0} tokens on average against {:.0}",
            self.own, self.other
        )
    }
}

fn one(
    run: &ProtocolRun,
    sides: [&StrategySummary; 2],
    primary: PrimaryMetric,
) -> Option<ComparisonDraft> {
    let [strategy, reference] = sides;
    let pair = SharedUnits::new(
        run.strategy(&strategy.name)?,
        run.strategy(&reference.name)?,
    );
    let (scores, metric) = pair.scores(primary)?;
    let mut made = empty(&strategy.name, &reference.name, metric);
    let (own, other) = match (why_not(run, &pair, sides, primary), scores) {
        (Some((verdict, reason)), _) => return Some(undecided(made, verdict, reason)),
        (None, Some(scores)) => scores,
        (None, None) => {
            let reason =
                "one of the two has no value in any conversation that both have".to_owned();
            return Some(undecided(made, Compared::Undefined, reason));
        }
    };
    made.reason = raw_remark(metric);
    let sizes = RetainedSizes::new(sides).filter(|sizes| !agree(sizes.own, sizes.other));
    test(
        &mut made,
        &differences(&own, &other, pair.own.units.len()),
        sizes,
    );
    if primary == PrimaryMetric::Context {
        plan(&mut made, &pair);
    }
    Some(ComparisonDraft { made, sizes })
}

/// What a reader needs to know where chance is unknown.
pub(super) fn raw_remark(metric: &str) -> Option<String> {
    (metric == RAW)
        .then(|| format!("`{CORRECTED}` is undefined, so raw recall is compared: chance is in it"))
}

/// Why two strategies are not compared, whatever their recall.
fn why_not(
    run: &ProtocolRun,
    pair: &SharedUnits,
    sides: [&StrategySummary; 2],
    primary: PrimaryMetric,
) -> Option<(Compared, String)> {
    let left_out = |side: &StrategyRecords| {
        let (verdict, why) = why_not_compared(run, side)?;
        Some((verdict, format!("{}: {why}", code(side.name))))
    };
    if let Some(found) = [&pair.own, &pair.other].into_iter().find_map(left_out) {
        return Some(found);
    }
    let mut sealed = [&pair.own, &pair.other].into_iter();
    if primary != PrimaryMetric::Answers
        && let Some(side) = sealed.find(|side| side.is_sealed)
    {
        return Some((
            Compared::Undefined,
            format!("{}: {SEALED}", code(side.name)),
        ));
    }
    // A control such as `full` may be the reference, and keep everything.
    let mut tested = sides.iter().filter(|side| side.family.is_compared());
    if let Some(idle) = tested.find(|side| side.triggered.conversations == 0) {
        return Some((
            Compared::DidNotTrigger,
            format!("{} never compacted anything", code(&idle.name)),
        ));
    }
    let shares = sides.map(|side| STATED_SHARE.value(side));
    if let Some(reason) =
        lists_values(&sides[1].name, shares).filter(|_| primary == PrimaryMetric::Context)
    {
        return Some((Compared::ListsValues, reason));
    }
    let weak = (primary == PrimaryMetric::Answers)
        .then(|| reader_strength(run).err())
        .flatten();
    weak.map(|weak| (Compared::Undefined, weak))
}

/// Where facts have no subjects, a value counts whatever is said about it. A text that says little
/// about most of the values that it holds, compared with the reference, may be a list of them: its
/// recall is not a measure of what a reader can use.
pub(super) fn lists_values(reference: &str, shares: [Option<f64>; 2]) -> Option<String> {
    let [own, other] = [shares[0]?, shares[1]?];
    (own < other / 2.0).then(|| {
        format!(
            "of the values that it holds, {own:.2} are in a clause with other words, and {other:.2} of those of {}: a list of bare values \
             is not a summary",
            code(reference)
        )
    })
}

/// A comparison without a test, and the reason.
pub(super) fn undecided(made: Comparison, verdict: Compared, reason: String) -> ComparisonDraft {
    ComparisonDraft {
        made: Comparison {
            verdict,
            reason: Some(reason),
            ..made
        },
        sizes: None,
    }
}

/// Two strategies in the units that both have.
struct SharedUnits<'r> {
    own: StrategyRecords<'r>,
    other: StrategyRecords<'r>,
}

/// The scores of both sides, if both have any, and their metric.
type PairedScores = (Option<(UnitScores, UnitScores)>, &'static str);

impl<'r> SharedUnits<'r> {
    fn new(own: &StrategyRecords<'r>, other: &StrategyRecords<'r>) -> Self {
        let groups = |strategy: &StrategyRecords<'r>| {
            strategy
                .units
                .iter()
                .map(|unit| unit.group)
                .collect::<BTreeSet<_>>()
        };
        let shared: BTreeSet<_> = groups(own).intersection(&groups(other)).copied().collect();
        let within = |strategy: &StrategyRecords<'r>| StrategyRecords {
            units: strategy
                .units
                .iter()
                .filter(|unit| shared.contains(unit.group))
                .cloned()
                .collect(),
            ..strategy.clone()
        };
        SharedUnits {
            own: within(own),
            other: within(other),
        }
    }

    /// The first metric that both sides have; nothing if neither has any.
    fn scores(&self, primary: PrimaryMetric) -> Option<PairedScores> {
        let mut any = None;
        for metric in primary.metrics() {
            match (
                UnitScores::new(metric, &self.own),
                UnitScores::new(metric, &self.other),
            ) {
                (Some(own), Some(other)) => return Some((Some((own, other)), metric)),
                (None, None) => {}
                _ => any = any.or(Some(*metric)),
            }
        }
        any.map(|metric| (None, metric))
    }
}

pub(super) fn test(made: &mut Comparison, differences: &[f64], sizes: Option<RetainedSizes>) {
    made.n = differences.len();
    made.difference = mean(differences).map(nine_digits);
    let Some(paired) = PairedSums::new(differences) else {
        return;
    };
    (made.low, made.high) = interval::of_mean(differences)
        .map(|(low, high)| (nine_digits(low), nine_digits(high)))
        .unzip();
    made.sd = Some(nine_digits(paired.sd));
    made.detectable = Some(nine_digits(planning::detectable(&paired)));
    if made.n < FEWEST_UNITS {
        return;
    }
    let (t, flips) = (paired.p_two_sided(), sign_flip::p_value(differences));
    (made.p_t, made.p_sign_flip) = (Some(nine_digits(t)), Some(nine_digits(flips)));
    made.p_holm = Some(if made.n < T_ALONE { t.max(flips) } else { t });
    made.p_margin =
        equivalent(differences, MARGIN).map(|found| match sizes.map(RetainedSizes::sign) {
            None => found.p(),
            Some(sign) if sign > 0.0 => found.p_not_worse,
            Some(_) => found.p_not_better,
        });
}

/// Those of units that have a value on both sides.
fn differences(own: &UnitScores, other: &UnitScores, units: usize) -> Vec<f64> {
    let all = vec![1; units];
    own.drawn(&all)
        .into_iter()
        .zip(other.drawn(&all))
        .filter_map(|(own, other)| Some(own? - other?))
        .collect()
}

/// How similar the differences of one unit's facts are.
fn plan(made: &mut Comparison, pair: &SharedUnits) {
    let of_unit = |(own, other): (&UnitRecords, &UnitRecords)| {
        let (own, other) = (fact_shares(own), fact_shares(other));
        own.iter()
            .filter_map(|(fact, (_, share))| Some(share - other.get(fact)?.1))
            .collect()
    };
    let clusters: Vec<Vec<f64>> = pair
        .own
        .units
        .iter()
        .zip(&pair.other.units)
        .map(of_unit)
        .collect();
    let found = planning::clustering(&clusters);
    (made.icc, made.design_effect) = found
        .map(|found| (nine_digits(found.icc), nine_digits(found.design_effect)))
        .unzip();
}

/// Holm over all tests of a family, of differences and, apart from them, of the margin. Returns the
/// number of tests in each.
fn adjust<'d>(drafts: impl Iterator<Item = &'d mut ComparisonDraft>) -> usize {
    let mut drafts = drafts.collect::<Vec<_>>();
    // The family was fixed before the results: a comparison without a test stays in it.
    let tests = drafts.len();
    let both: [fn(&mut Comparison) -> &mut Option<f64>; 2] =
        [|made| &mut made.p_holm, |made| &mut made.p_margin];
    for p_of in both {
        let mut p_values: Vec<&mut f64> = drafts
            .iter_mut()
            .filter_map(|draft| p_of(&mut draft.made).as_mut())
            .collect();
        let adjusted = family::holm(&p_values.iter().map(|p| **p).collect::<Vec<_>>(), tests);
        p_values
            .iter_mut()
            .zip(adjusted)
            .for_each(|(p, adjusted)| **p = nine_digits(adjusted));
    }
    tests
}

fn decided(draft: ComparisonDraft, tests: usize) -> Comparison {
    let ComparisonDraft { mut made, sizes } = draft;
    if made.verdict != Compared::NoSupportedDifference {
        return made;
    }
    let Some(sizes) = sizes else {
        return at_one_size(made, tests);
    };
    if let Some(why) = dominance(&made, sizes) {
        made.verdict = if sizes.sign() > 0.0 {
            Compared::Dominates
        } else {
            Compared::Dominated
        };
        made.reason = Some(format!("{}, and its recall is {why}", sizes.words()));
        return if is_supported(&made) {
            made
        } else {
            reaching_zero(made)
        };
    }
    let verdict = Compared::SizesDiffer;
    let reason = Some(format!(
        "{}: recall is not compared at one size",
        sizes.words()
    ));
    Comparison {
        verdict,
        reason,
        low: None,
        high: None,
        p_t: None,
        p_sign_flip: None,
        p_holm: None,
        p_margin: None,
        ..made
    }
}

/// The verdict on two strategies of one size, and the interval that goes with it.
fn at_one_size(mut made: Comparison, tests: usize) -> Comparison {
    // Two patterns of signs are as extreme as the most extreme one.
    let least = 2.0 * libm::exp2(-(made.n as f64)) * tests as f64;
    made.verdict = if made.n < FEWEST_UNITS || (made.n < T_ALONE && least > LEVEL) {
        Compared::TooFewUnits
    } else if is_supported(&made) {
        Compared::SupportedDifference
    } else if is_within(&made, [1.0, -1.0]) {
        Compared::Equivalent
    } else {
        Compared::NoSupportedDifference
    };
    if made.verdict == Compared::SupportedDifference {
        made
    } else {
        reaching_zero(made)
    }
}

/// Whether the tests support a difference and the interval, if there is one, shows it.
fn is_supported(made: &Comparison) -> bool {
    let holds_zero = made
        .low
        .zip(made.high)
        .is_some_and(|(low, high)| low <= 0.0 && high >= 0.0);
    made.p_holm.is_some_and(|p| p <= LEVEL) && !holds_zero
}

/// Whether the tests support that the difference, on each of these sides, is not a loss of the
/// margin, and the interval shows it.
fn is_within<const N: usize>(made: &Comparison, signs: [f64; N]) -> bool {
    let ends = [made.low, made.high].into_iter().flatten();
    let reaches = |end: f64| signs.iter().any(|sign| sign * end <= -MARGIN);
    made.p_margin.is_some_and(|p| p <= LEVEL) && !ends.into_iter().any(reaches)
}

/// Why the smaller of two strategies dominates the larger one: how the recall of the first is to
/// that of the second.
fn dominance(made: &Comparison, sizes: RetainedSizes) -> Option<&'static str> {
    let (sign, supported) = (sizes.sign(), is_supported(made));
    let difference = made.difference? * sign;
    if supported && difference > 0.0 {
        return Some(if sign > 0.0 { "higher" } else { "lower" });
    }
    let not_worse = !supported && is_within(made, [sign]);
    not_worse.then_some(if sign > 0.0 {
        "not lower by .05"
    } else {
        "not higher by .05"
    })
}

/// The interval extended to 0: one that leaves 0 out would say what the tests do not support.
fn reaching_zero(made: Comparison) -> Comparison {
    Comparison {
        low: made.low.map(|low| low.min(0.0)),
        high: made.high.map(|high| high.max(0.0)),
        ..made
    }
}

pub(super) fn empty(strategy: &str, reference: &str, metric: &str) -> Comparison {
    let [strategy, reference, metric] = [strategy, reference, metric].map(str::to_owned);
    Comparison {
        strategy,
        reference,
        metric,
        ..Comparison::default()
    }
}

/// What most comparisons of a group are made with; nothing where no reference has the majority.
pub(crate) fn common_reference(made: &[Comparison]) -> Option<&str> {
    let with = |name: &str| made.iter().filter(|one| one.reference == name).count();
    let names = made.iter().map(|one| one.reference.as_str());
    names.into_iter().find(|name| 2 * with(name) > made.len())
}

/// A difference with its interval, in points.
pub(crate) fn in_points(made: &Comparison) -> String {
    let difference = made.difference.map_or(String::new(), points);
    match made.low.zip(made.high) {
        Some((low, high)) => format!("{difference} ({} to {})", points(low), points(high)),
        None => difference,
    }
}

/// The difference with its interval, with as many digits as show on which side of 0 it lies.
pub(crate) fn difference(made: &Comparison) -> String {
    let Some(value) = made.difference else {
        return "-".to_owned();
    };
    let Some((low, high)) = made.low.zip(made.high) else {
        return format!("{value:+.2}");
    };
    let is_shown = |digits: usize| {
        [low, high]
            .iter()
            .all(|end| end.abs() >= 0.5 * libm::pow(0.1, digits as f64))
    };
    let digits = if low > 0.0 || high < 0.0 {
        (2..9).find(|digits| is_shown(*digits)).unwrap_or(9)
    } else {
        2
    };
    format!("{value:+.digits$} [{low:+.digits$}, {high:+.digits$}]")
}
