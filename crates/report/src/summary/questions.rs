//! How many of a suite's questions were due, asked and answered.

use std::collections::BTreeSet;

use compactometer_formats::answer::{AnswerRow, Grade};

use super::by_strategy::listed;
use crate::data::ProtocolRun;

/// A line for the questions of the suite, if it has any.
pub(super) fn note(run: &ProtocolRun) -> Option<String> {
    let of_suite = run.strategies.first()?;
    let in_suite = of_suite
        .records()
        .map(|record| record.probes.len())
        .sum::<usize>();
    // Every strategy under the matched protocol is asked the same.
    let due = of_suite.records().map(|record| {
        record
            .answers
            .iter()
            .map(|row| row.probe)
            .collect::<BTreeSet<_>>()
            .len()
    });
    let asks = |row: &&AnswerRow| !row.prompted && row.call.is_none();
    let is_unanswered =
        |row: &&AnswerRow| !row.prompted && row.call.is_some() && row.grade == Grade::Failed;
    let lost = [
        (
            "not asked, since a provider would refuse the request",
            &asks as &dyn Fn(&&AnswerRow) -> bool,
        ),
        ("asked and not answered", &is_unanswered),
    ];
    let lost = lost.into_iter().filter_map(|(what, counts)| {
        listed(run, what, |strategy| {
            strategy
                .records()
                .flat_map(|record| &record.answers)
                .filter(counts)
                .count()
        })
    });
    let due = due.sum::<usize>();
    let lost = lost.map(|line| format!("; {line}")).collect::<String>();
    (in_suite > 0).then(|| {
        format!("questions: {in_suite} in the suite, {due} due, since what they ask for is distant enough{lost}")
    })
}
