//! Answers to questions: what a reader answers from a strategy's contexts.
//!
//! One call per probe of a fact in the headline set, graded by the matcher. A failed call is a
//! miss. What answers do that are not right is in [`wrong`].

use std::collections::BTreeMap;

use compactometer_formats::answer::{AnswerRow, ProbeRow};
use compactometer_formats::record::Record;
use compactometer_formats::summary::{MetricValue, StrategySummary};

use super::value::{estimated, over_units, ratio, undefined, weighted_mean};
use super::{Better, Metric, MetricsSection};
use crate::data::visits;
use crate::data::{FULL, NULL, ProtocolRun, StrategyRecords, UnitRecords};
use crate::metrics::MetricUnit;
use crate::stats::LEVEL;
use crate::stats::paired::PairedSums;

pub(crate) mod memory;
pub(super) mod order;
pub(crate) mod wrong;

pub(crate) const ANSWER_RECALL: Metric = Metric {
    id: "answer_recall",
    place: Some(50),
    definition: "right answers / questions of facts in the headline set, one call per question on a copy of the session, context \
              alone; averaged over a fact's questions, weighted mean over a conversation's facts, mean over conversations; failed calls are misses",
    compute: |_, strategy| {
        share(strategy, NO_ANSWER, |answer| {
            of_context(answer).map(GradedAnswer::is_right)
        })
    },
    ..Metric::share(MetricsSection::Answers, "Probes")
};

pub(crate) const ANSWER_RECALL_CORRECTED: Metric = Metric {
    id: "answer_recall_corrected",
    unit: MetricUnit::Ratio,
    is_signed: true,
    definition: "(answer_recall - answer_recall of `null`) / (answer_recall of `full` - answer_recall of `null`), over conversations that have all three; never clipped",
    compute: corrected,
    ..Metric::share(MetricsSection::Answers, "Probes")
};

pub(crate) const PROMPTED_ANSWER_RECALL: Metric = Metric {
    id: "prompted_answer_recall",
    place: Some(51),
    definition: "as answer_recall, where something is retrieved for a question with that before the question",
    compute: |_, strategy| {
        let retrieves = strategy
            .records()
            .flat_map(|record| &record.answers)
            .any(|row| row.prompted);
        match retrieves {
            true => share(strategy, NO_ANSWER, |answer| {
                prompted(answer).map(GradedAnswer::is_right)
            }),
            false => undefined("nothing was retrieved for a question"),
        }
    },
    ..Metric::share(MetricsSection::Answers, "Probes")
};

pub(crate) const ANSWERED_GIVEN_PRESENT: Metric = Metric {
    id: "answered_given_present",
    definition: "as answer_recall over the questions whose facts the context holds",
    compute: |_, strategy| given(strategy, "no context held what was asked for", true),
    reads_texts: true,
    ..Metric::share(MetricsSection::Answers, "Probes")
};

pub(crate) const ANSWERED_GIVEN_ABSENT: Metric = Metric {
    id: "answered_given_absent",
    better: Better::Neither,
    definition: "as answer_recall over the questions for which the context lacks a fact: guesses, and what the tracing does not see",
    compute: |_, strategy| given(strategy, "every context held what was asked for", false),
    reads_texts: true,
    ..Metric::share(MetricsSection::Answers, "Probes")
};

pub(crate) const CLOSED_BOOK: Metric = Metric {
    id: "closed_book",
    better: Better::Neither,
    definition: "right answers that `null` gives too, which has nothing but the system prompt and the pending part / right answers",
    compute: closed_book,
    ..Metric::share(MetricsSection::Answers, "Probes")
};

pub(crate) const COST_USD_PROBES: Metric = Metric {
    id: "cost_usd_probes",
    unit: MetricUnit::Usd,
    better: Better::Neither,
    definition: "the calls that answered questions, at the price row; what measuring costs, in no other cost; mean over conversations",
    compute: |run, strategy| {
        over_units(strategy, &run.no_price(), |unit| {
            let costs: Option<Vec<f64>> = unit
                .records
                .iter()
                .map(|record| cost(run, record))
                .collect();
            crate::stats::mean(&costs?)
        })
    },
    ..Metric::share(MetricsSection::Cost, "Cost")
};

/// What one conversation's answers cost, in US dollars.
fn cost(run: &ProtocolRun, record: &Record) -> Option<f64> {
    let row = run.prices.row(record.case.target_model())?;
    Some(
        record
            .probe_calls()
            .map(|call| row.dollars(&call.usage))
            .sum(),
    )
}

const NO_ANSWER: &str =
    "no question asks for a fact in the headline set, or the records are too old to hold answers";

/// A unit's AR: what paired comparisons join on.
pub(crate) fn score(unit: &UnitRecords) -> Option<f64> {
    of_unit(unit, |answer| {
        of_context(answer).map(GradedAnswer::is_right)
    })
}

/// What AR of a unit is made of: the weight of each fact that is asked for, and its share of right
/// answers.
pub(crate) fn answer_shares(unit: &UnitRecords) -> Vec<(f64, f64)> {
    shares(unit, |answer| {
        of_context(answer).map(GradedAnswer::is_right)
    })
}

fn by_unit<'r>(strategy: &StrategyRecords<'r>) -> BTreeMap<&'r str, f64> {
    strategy
        .units
        .iter()
        .filter_map(|unit| Some((unit.group, score(unit)?)))
        .collect()
}

/// Whether the reader's answers depend on the context. Without that, answer recall ranks nothing.
///
/// # Errors
/// Why not, as a reason: `full` or `null` is missing, or too little lies between them.
pub(crate) fn reader_strength(run: &ProtocolRun) -> Result<(), String> {
    let pairs = against_controls(run, run.strategy(FULL))?;
    let differences: Vec<f64> = pairs.iter().map(|[_, full, null]| full - null).collect();
    let Some(paired) = PairedSums::new(&differences).filter(|paired| paired.units >= FEWEST_PAIRS)
    else {
        return Err(format!(
            "under {FEWEST_PAIRS} conversations have answers of `full` and of `null`"
        ));
    };
    let (value, low) = (paired.mean, paired.bounds(0.5 * LEVEL).0);
    if low > LEAST_STRENGTH {
        return Ok(());
    }
    Err(format!(
        "{TOO_WEAK}: `full` answers {value:.2} more of the questions right than `null`, with a lower bound of {low:.2}, and must be {LEAST_STRENGTH} over it"
    ))
}

/// Answers right, and answers, where every fact asked for was carried by a summary or checkpoint.
pub(crate) fn of_carried(strategy: &StrategyRecords) -> (usize, usize) {
    let carried = |answer: &GradedAnswer| {
        let Some(seen) = visits(answer.record).find(|seen| seen.after == answer.row.after) else {
            return false;
        };
        let fate = |fact: &u32| seen.fates.0.get(*fact as usize);
        !answer.probe.facts.is_empty()
            && answer
                .probe
                .facts
                .iter()
                .all(|fact| fate(fact) == Some(&compactometer_formats::fate::Fate::Carried))
    };
    let all = strategy
        .records()
        .flat_map(answers)
        .filter(|answer| of_context(answer).is_some() && carried(answer));
    all.fold((0, 0), |(right, count), answer| {
        (right + usize::from(answer.is_right()), count + 1)
    })
}

/// Whether the rows' answers say nothing of their contexts, by the reason of their corrected recall.
pub(crate) fn reader_is_too_weak(rows: &[&StrategySummary]) -> bool {
    let mut reasons = rows
        .iter()
        .filter_map(|row| ANSWER_RECALL_CORRECTED.get(row)?.reason.as_deref());
    reasons.any(|why| why.starts_with(TOO_WEAK))
}

/// How the reason begins for which answers of a reader rank nothing, however many there are.
pub(crate) const TOO_WEAK: &str = "reader too weak";
/// Over `null`, answers of `full` must be right this much more often.
const LEAST_STRENGTH: f64 = 0.2;
/// In at least so many units.
const FEWEST_PAIRS: usize = 3;

/// One answer with what was asked.
#[derive(Clone, Copy)]
struct GradedAnswer<'r> {
    record: &'r Record,
    probe: &'r ProbeRow,
    row: &'r AnswerRow,
}

impl GradedAnswer<'_> {
    fn is_right(&self) -> bool {
        self.probe.is_right(self.row.grade)
    }

    /// Whether a value that the conversation states is asked for.
    fn asks_for_values(&self) -> bool {
        !self.probe.abstain_expected && !self.probe.ordered && self.probe.memory.is_none()
    }

    /// Whether another answer to the same question has what was retrieved for it.
    fn is_prompted_too(&self) -> bool {
        let same = |other: &&AnswerRow| other.probe == self.row.probe && other.prompted;
        self.record.answers.iter().any(|other| same(&other))
    }
}

fn answers<'r>(record: &'r Record) -> impl Iterator<Item = GradedAnswer<'r>> {
    let found = |row: &'r AnswerRow| {
        Some(GradedAnswer {
            record,
            probe: record.probes.get(row.probe as usize)?,
            row,
        })
    };
    record.answers.iter().filter_map(found)
}

/// An answer, from the context only, to a question about values of facts.
fn of_context<'a, 'r>(answer: &'a GradedAnswer<'r>) -> Option<&'a GradedAnswer<'r>> {
    (answer.asks_for_values() && !answer.row.prompted).then_some(answer)
}

/// An answer to a question about values of facts, with what was retrieved; from the context only if
/// nothing was retrieved.
fn prompted<'a, 'r>(answer: &'a GradedAnswer<'r>) -> Option<&'a GradedAnswer<'r>> {
    (answer.asks_for_values() && (answer.row.prompted || !answer.is_prompted_too()))
        .then_some(answer)
}

fn given(strategy: &StrategyRecords, reason: &str, present: bool) -> MetricValue {
    let is_asked = strategy
        .records()
        .flat_map(answers)
        .any(|answer| of_context(&answer).is_some());
    let reason = if is_asked { reason } else { NO_ANSWER };
    share(strategy, reason, |answer| {
        let of_facts = of_context(answer).filter(|answer| !answer.probe.facts.is_empty());
        of_facts
            .filter(|answer| answer.row.present == present)
            .map(GradedAnswer::is_right)
    })
}

/// The share of answers that hit, of those that count: averaged over the probes of the same facts,
/// weighted over a unit's facts, then over units.
fn share(
    strategy: &StrategyRecords,
    reason: &str,
    hit: impl Fn(&GradedAnswer) -> Option<bool>,
) -> MetricValue {
    over_units(strategy, reason, |unit| of_unit(unit, &hit))
}

fn of_unit(unit: &UnitRecords, hit: impl Fn(&GradedAnswer) -> Option<bool>) -> Option<f64> {
    let shares = shares(unit, hit);
    ratio(
        shares.iter().map(|(weight, share)| weight * share).sum(),
        shares.iter().map(|(weight, _)| weight).sum(),
    )
}

/// The facts that a question asks for; without any, the question itself.
type AskedFacts<'r> = (&'r [u32], Option<u32>);

/// The weight of the facts that the same questions ask for, and the share of answers that hit.
fn shares(unit: &UnitRecords, hit: impl Fn(&GradedAnswer) -> Option<bool>) -> Vec<(f64, f64)> {
    let mut shares = Vec::new();
    for record in &unit.records {
        let mut by_facts: BTreeMap<AskedFacts, (f64, f64)> = BTreeMap::new();
        for answer in answers(record) {
            let Some(is_hit) = hit(&answer) else { continue };
            let facts = &answer.probe.facts;
            // Each question without facts is its own.
            let own = facts.is_empty().then_some(answer.row.probe);
            let (hits, times) = by_facts.entry((facts, own)).or_default();
            *hits += f64::from(u8::from(is_hit));
            *times += 1.0;
        }
        shares.extend(
            by_facts
                .into_iter()
                .map(|((facts, _), (hits, times))| (weight(record, facts), hits / times)),
        );
    }
    shares
}

/// The mean weight of the facts; 1 if no fact is asked for.
fn weight(record: &Record, facts: &[u32]) -> f64 {
    let weights = facts
        .iter()
        .filter_map(|fact| record.facts.get(*fact as usize))
        .map(|fact| fact.weight);
    crate::stats::mean(&weights.collect::<Vec<_>>()).unwrap_or(1.0)
}

/// The strategy's answer recall, that of `full` and that of `null`, over the units that have all
/// three.
fn against_controls(
    run: &ProtocolRun,
    strategy: Option<&StrategyRecords>,
) -> Result<Vec<[f64; 3]>, String> {
    let of = |name: &str| {
        run.strategy(name)
            .map(by_unit)
            .ok_or_else(|| format!("`{name}` was not run"))
    };
    let (full, null) = (of(FULL)?, of(NULL)?);
    let own = strategy.map(by_unit).unwrap_or_default();
    let found = own
        .iter()
        .filter_map(|(group, score)| Some([*score, *full.get(group)?, *null.get(group)?]));
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        Err(NO_ANSWER.to_owned())
    } else {
        Ok(found)
    }
}

fn corrected(run: &ProtocolRun, strategy: &StrategyRecords) -> MetricValue {
    let rows = match reader_strength(run).and_then(|()| against_controls(run, Some(strategy))) {
        Ok(rows) => rows,
        Err(reason) => return undefined(reason),
    };
    let of = |place: usize| rows.iter().map(|row| row[place]).collect::<Vec<_>>();
    let (own, full, null) = (of(0), of(1), of(2));
    estimated(rows.len(), rows.len(), |times| {
        let [own, full, null] = [&own, &full, &null].map(|values| weighted_mean(values, times));
        let (own, full, null) = (own?, full?, null?);
        (full > null).then(|| (own - null) / (full - null))
    })
}

fn closed_book(run: &ProtocolRun, strategy: &StrategyRecords) -> MetricValue {
    let Some(null) = run.strategy(NULL) else {
        return undefined("`null` was not run");
    };
    let mut known: BTreeMap<(&str, u32), bool> = BTreeMap::new();
    for record in null.records() {
        let rows = answers(record).filter(|answer| of_context(answer).is_some());
        known.extend(rows.map(|answer| {
            (
                (record.case.scenario.as_str(), answer.row.probe),
                answer.is_right(),
            )
        }));
    }
    share(strategy, "no answer is right", |answer| {
        let right = of_context(answer).filter(|answer| answer.is_right())?;
        known
            .get(&(right.record.case.scenario.as_str(), right.row.probe))
            .copied()
    })
}
