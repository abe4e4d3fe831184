//! A judge's verdicts beside the deterministic grades, over all strategies of a group.
//!
//! Absent on purpose: numbers of single strategies. The grade is the metric; these numbers show how
//! far a judge can be trusted.

use std::collections::BTreeMap;

use compactometer_formats::answer::{AnswerRow, AnswerVerdict, Grade};
use compactometer_formats::mock_name::is_mock;
use compactometer_formats::record::Record;
use compactometer_formats::summary::{Judged, MetricValue};
use compactometer_text::code::code;

use crate::data::ProtocolRun;
use crate::data::label;
use crate::metrics::MetricUnit;
use crate::metrics::value::{defined, rounded, undefined, within};
use crate::stats::interval;
use crate::stats::nine_digits;
use crate::stats::proportion::wilson;
use crate::summary::by_strategy::listed;

/// A judge's verdicts on a run's answers; nothing if there was no judge.
pub(crate) fn summarize(run: &ProtocolRun) -> Option<Judged> {
    let model = run.manifest.judge.clone()?;
    let records = || run.records();
    let mut by_unit: BTreeMap<&str, VerdictCounts> = BTreeMap::new();
    for record in records() {
        let table = by_unit.entry(&record.case.group).or_default();
        opinions(record).for_each(|opinion| table.add(&opinion));
    }
    let tables: Vec<VerdictCounts> = by_unit
        .into_values()
        .filter(|table| table.count() > 0)
        .collect();
    let all = tables
        .iter()
        .fold(VerdictCounts::default(), |sum, table| sum.plus(table, 1));
    let calls = || records().flat_map(Record::judge_calls);
    let price = run.prices.row(&model);
    Some(Judged {
        judgements: all.count(),
        unreadable: all.unreadable(),
        agreement: estimate(&tables, 0.0, VerdictCounts::agreement),
        kappa: estimate(&tables, -1.0, VerdictCounts::kappa),
        false_accepts: false_accepts(run),
        false_rejects: share(all.right[1], all.right.iter().sum(), "no answer is right"),
        calls: calls().count(),
        tokens_in: calls().map(|call| call.usage.total_input()).sum(),
        tokens_out: calls().map(|call| call.usage.output).sum(),
        cost_usd: price
            .map(|price| nine_digits(calls().map(|call| price.dollars(&call.usage)).sum())),
        model,
    })
}

/// One verdict beside one grade.
struct JudgedAnswer {
    is_right: bool,
    grade: Grade,
    verdict: AnswerVerdict,
}

fn opinions(record: &Record) -> impl Iterator<Item = JudgedAnswer> + '_ {
    let opinion = |row: &AnswerRow| {
        let verdict = row.judged.as_ref()?.verdict;
        let probe = record.probes.get(row.probe as usize)?;
        Some(JudgedAnswer {
            is_right: probe.is_right(row.grade),
            grade: row.grade,
            verdict,
        })
    };
    record.answers.iter().filter_map(opinion)
}

/// Verdicts by grade: accepted, rejected, unreadable.
#[derive(Clone, Copy, Default)]
struct VerdictCounts {
    right: [usize; 3],
    wrong: [usize; 3],
}

impl VerdictCounts {
    fn add(&mut self, opinion: &JudgedAnswer) {
        let place = match opinion.verdict {
            AnswerVerdict::Accepted => 0,
            AnswerVerdict::Rejected => 1,
            AnswerVerdict::Unreadable => 2,
        };
        let row = if opinion.is_right {
            &mut self.right
        } else {
            &mut self.wrong
        };
        row[place] += 1;
    }

    fn plus(mut self, other: &VerdictCounts, times: usize) -> Self {
        for place in 0..3 {
            self.right[place] += times * other.right[place];
            self.wrong[place] += times * other.wrong[place];
        }
        self
    }

    fn count(&self) -> usize {
        self.right.iter().chain(&self.wrong).sum()
    }

    fn unreadable(&self) -> usize {
        self.right[2] + self.wrong[2]
    }

    /// A reply without a verdict counts as disagreement.
    fn agreement(&self) -> Option<f64> {
        (self.count() > 0).then(|| (self.right[0] + self.wrong[1]) as f64 / self.count() as f64)
    }

    /// Cohen's kappa. No verdict is a third category, which the grader never uses.
    fn kappa(&self) -> Option<f64> {
        let all = self.count() as f64;
        let share = |count: usize| count as f64 / all;
        let said = |place: usize| share(self.right[place] + self.wrong[place]);
        let graded = |row: &[usize; 3]| share(row.iter().sum());
        let by_chance = graded(&self.right) * said(0) + graded(&self.wrong) * said(1);
        let agreement = self.agreement()?;
        (by_chance < 1.0).then(|| (agreement - by_chance) / (1.0 - by_chance))
    }
}

/// A statistic of all verdicts that is at least `least`, with its interval over units.
fn estimate(
    tables: &[VerdictCounts],
    least: f64,
    statistic: impl Fn(&VerdictCounts) -> Option<f64>,
) -> MetricValue {
    let drawn = |times: &[u32]| {
        let pairs = tables.iter().zip(times);
        statistic(
            &pairs.fold(VerdictCounts::default(), |sum, (table, times)| {
                sum.plus(table, *times as usize)
            }),
        )
    };
    let Some(value) = drawn(&vec![1; tables.len()]) else {
        let reason = if tables.is_empty() {
            "nothing was judged"
        } else {
            "grades and verdicts are all alike"
        };
        return rounded(MetricUnit::Share, undefined(reason));
    };
    let interval = interval::of_statistic(tables.len(), tables.len(), drawn);
    rounded(
        MetricUnit::Share,
        within(
            MetricUnit::Share,
            least,
            defined(value, interval, tables.len()),
        ),
    )
}

/// The share of the grader's wrong answers that the judge accepts: over all, and by grade.
fn false_accepts(run: &ProtocolRun) -> BTreeMap<String, MetricValue> {
    let mut counts: BTreeMap<String, (usize, usize)> = BTreeMap::from([(ALL.to_owned(), (0, 0))]);
    let records = run.records();
    for opinion in records
        .flat_map(opinions)
        .filter(|opinion| !opinion.is_right)
    {
        let accepted = usize::from(opinion.verdict == AnswerVerdict::Accepted);
        for name in [ALL.to_owned(), label(&opinion.grade)] {
            let (accepts, count) = counts.entry(name).or_default();
            (*accepts, *count) = (*accepts + accepted, *count + 1);
        }
    }
    counts
        .into_iter()
        .map(|(name, (accepts, of))| (name, share(accepts, of, "no answer is wrong")))
        .collect()
}

/// Wrong answers of every grade.
pub(crate) const ALL: &str = "all";

/// A share of answers with Wilson's interval, which assumes independent answers.
fn share(hits: usize, of: usize, reason: &str) -> MetricValue {
    let share = defined(hits as f64 / of as f64, Some(wilson(hits, of)), of);
    rounded(
        MetricUnit::Share,
        if of == 0 { undefined(reason) } else { share },
    )
}

/// Warnings about a judge.
pub(crate) fn warnings(run: &ProtocolRun) -> Vec<String> {
    let Some(judge) = &run.manifest.judge else {
        return Vec::new();
    };
    let mut warnings = Vec::new();
    if judge == run.manifest.target_model() {
        warnings.push(format!(
            "{} judges its own answers: what it got wrong it may also accept",
            code(judge)
        ));
    }
    if is_mock(judge) {
        warnings.push(format!(
            "the judge {} is a mock: it compares words and understands nothing, so its verdicts are weak and say nothing of \
             a model's",
            code(judge)
        ));
    }
    warnings.extend(listed(
        run,
        "judgements without a verdict, counted as disagreement",
        |strategy| {
            strategy
                .records()
                .flat_map(opinions)
                .filter(|opinion| opinion.verdict == AnswerVerdict::Unreadable)
                .count()
        },
    ));
    warnings
}
