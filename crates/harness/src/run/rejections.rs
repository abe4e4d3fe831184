//! Ends a run if the server rejects the form of every request, since that shows nothing about a
//! strategy. The same rejection of the first request in five consecutive cases ends the run, and
//! none of the five is recorded. A run in which the server took no first request at all records none
//! that it rejected, however few there are.
//!
//! Requests to write, to answer and to judge are counted separately, since a server may take some
//! and reject others. An accepted first request of the same use resets the count: a strategy with
//! rejected requests is then reported beside those that work.

use compactometer_formats::record::{CallRow, Record, Refusal};

/// This many consecutive cases end a run.
const CASES: usize = 5;

/// Results in the order of their cases, held back until it is clear that the server takes such
/// requests.
pub(crate) struct HeldBack<T> {
    results: Vec<T>,
    /// How many results came before `results`.
    released: usize,
    rows: [Option<RejectionRow>; 3],
    /// Whether a first request was ever taken.
    is_any_taken: bool,
    /// The words of the first rejection, and the number of cases with one.
    rejected: Option<(String, usize)>,
}

/// Consecutive cases with the same rejection of their first request.
struct RejectionRow {
    what: Vec<String>,
    cases: usize,
    /// How many results came before these cases.
    since: usize,
}

/// A server that rejects every request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the server rejected the first request of {replays}: {words}; choose a model or a server that takes such \
     requests, or leave out the strategies that make them with `-s`; these replays are not recorded"
)]
pub struct RejectedByAll {
    /// The server's words.
    words: String,
    /// Of which replays.
    replays: String,
}

impl<T> Default for HeldBack<T> {
    fn default() -> Self {
        HeldBack {
            results: Vec::new(),
            released: 0,
            rows: [None, None, None],
            is_any_taken: false,
            rejected: None,
        }
    }
}

impl<T> HeldBack<T> {
    /// Results of a run that goes on: the server took requests before.
    pub(crate) fn resumed() -> Self {
        HeldBack {
            is_any_taken: true,
            ..HeldBack::default()
        }
    }

    /// Takes the next result with the outcome of its first calls, and returns the results that can
    /// be recorded now.
    pub(crate) fn take(&mut self, result: T, first: FirstCalls) -> Result<Vec<T>, RejectedByAll> {
        let number = self.released + self.results.len();
        let rejected = first.iter().flatten().find_map(|first| match first {
            First::Rejected(words) => Some(words.clone()),
            First::Taken => None,
        });
        if let Some(words) = rejected {
            self.rejected.get_or_insert((words, 0)).1 += 1;
        }
        for (row, first) in self.rows.iter_mut().zip(first) {
            match first {
                None => {}
                Some(First::Rejected(words)) => RejectionRow::extend(row, words, number)?,
                Some(First::Taken) => {
                    self.is_any_taken = true;
                    *row = None;
                }
            }
        }
        self.results.push(result);
        if !self.is_any_taken && self.rejected.is_some() {
            return Ok(Vec::new());
        }
        let kept_from = self
            .rows
            .iter()
            .flatten()
            .map(|row| row.since)
            .min()
            .unwrap_or(number + 1);
        let free = kept_from - self.released;
        self.released = kept_from;
        Ok(self.results.drain(..free).collect())
    }

    /// The results left at the end of a run, which are too few to blame the server, if it took any
    /// request.
    pub(crate) fn rest(self) -> Result<Vec<T>, RejectedByAll> {
        match self.rejected {
            Some((words, cases)) if !self.is_any_taken => Err(RejectedByAll {
                words,
                replays: format!("all {cases} replays that made one"),
            }),
            _ => Ok(self.results),
        }
    }
}

impl RejectionRow {
    fn extend(
        row: &mut Option<RejectionRow>,
        words: String,
        number: usize,
    ) -> Result<(), RejectedByAll> {
        // Places and ids differ from request to request.
        let what = words
            .split_whitespace()
            .filter(|word| !word.contains(|letter: char| letter.is_ascii_digit()));
        let what = what.map(str::to_owned).collect::<Vec<_>>();
        let row = match row {
            Some(row) if row.what == what => row,
            other => other.insert(RejectionRow {
                what,
                cases: 0,
                since: number,
            }),
        };
        row.cases += 1;
        if row.cases < CASES {
            Ok(())
        } else {
            Err(RejectedByAll {
                words,
                replays: format!("{CASES} replays in a row"),
            })
        }
    }
}

/// The outcome of a case's first call to write, to answer and to judge, if it made one.
pub(crate) type FirstCalls = [Option<First>; 3];

/// The outcome of a call.
pub(crate) enum First {
    /// The server took its form.
    Taken,
    /// The server rejected it in these words.
    Rejected(String),
}

/// The first calls of a case.
pub(crate) fn first_calls(record: &Record) -> FirstCalls {
    let compaction = record
        .compactions
        .iter()
        .find_map(|row| Some((row.event.after, row.calls.first()?)));
    let checkpoint = record
        .checkpoints
        .iter()
        .find_map(|row| Some((row.event.after, row.calls.first()?)));
    let wrote = compaction
        .into_iter()
        .chain(checkpoint)
        .min_by_key(|(after, _)| *after)
        .map(|(_, call)| call);
    let first = |call: &CallRow| match call.refusal {
        Some(Refusal::Form) => First::Rejected(call.error.clone().unwrap_or_default()),
        _ => First::Taken,
    };
    [
        wrote,
        record.probe_calls().next(),
        record.judge_calls().next(),
    ]
    .map(|call| call.map(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes cases by their first call to write (accepted, rejected in words, or none); gives what
    /// can be recorded after each.
    fn taken(cases: &[Option<&str>]) -> Vec<Result<Vec<usize>, RejectedByAll>> {
        let mut held = HeldBack::default();
        let first = |words: &str| {
            if words.is_empty() {
                First::Taken
            } else {
                First::Rejected(words.to_owned())
            }
        };
        let mut take =
            |(index, case): (usize, &Option<&str>)| held.take(index, [case.map(first), None, None]);
        cases.iter().enumerate().map(&mut take).collect()
    }

    #[test]
    fn a_rejection_waits_until_another_case_is_taken() {
        let cases = taken(&[
            Some(""),
            Some("bad role at 1"),
            None,
            Some("bad role at 2"),
            Some(""),
            Some("bad role"),
        ]);
        assert_eq!(
            cases,
            [vec![0], vec![], vec![], vec![], vec![1, 2, 3, 4], vec![]].map(Ok)
        );
    }

    #[test]
    fn the_same_rejection_of_five_cases_in_a_row_ends_the_run() {
        let words = (0..5)
            .map(|number| format!("`messages.{number}` has a bad role, id req_{number}"))
            .collect::<Vec<_>>();
        let cases = taken(
            &words
                .iter()
                .map(|words| Some(words.as_str()))
                .collect::<Vec<_>>(),
        );
        assert!(
            cases[..4].iter().all(|free| *free == Ok(Vec::new())),
            "{cases:?}"
        );
        assert_eq!(
            cases[4],
            Err(RejectedByAll {
                words: words[4].clone(),
                replays: "5 replays in a row".to_owned(),
            })
        );
    }

    #[test]
    fn a_server_that_took_nothing_is_no_result_however_few_cases_there_are() {
        let rejected = |words: &str| Some(First::Rejected(words.to_owned()));
        // A case whose requests to write and to answer are both rejected counts once.
        let first = |words: &str| [rejected(words), rejected(words), None];
        let all = |mut held: HeldBack<usize>| {
            for (number, words) in ["bad role", "bad tool", "bad key"].into_iter().enumerate() {
                assert!(held.take(number, first(words)).is_ok());
            }
            held.rest()
        };
        let refused = all(HeldBack::default()).map_err(|error| (error.words, error.replays));
        assert_eq!(
            refused,
            Err((
                "bad role".to_owned(),
                "all 3 replays that made one".to_owned()
            ))
        );
        assert_eq!(all(HeldBack::resumed()), Ok(vec![2]));
        let mut unasked = HeldBack::default();
        assert_eq!(unasked.take(0, [None, None, None]), Ok(vec![0]));
        assert_eq!(unasked.rest(), Ok(Vec::new()));
    }

    #[test]
    fn another_rejection_begins_another_row_and_frees_the_one_before() {
        let cases = taken(&[
            Some(""),
            Some("bad role"),
            Some("bad role"),
            Some("bad tool"),
            Some("bad tool"),
        ]);
        let free = [vec![0], vec![], vec![], vec![1, 2], vec![]];
        assert_eq!(cases, free.map(Ok));
    }
}
