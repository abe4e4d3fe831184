//! What a thread holds, whichever store keeps it: its records, the views that one can go back to,
//! and what going back hides.

use std::ops::Range;

use compactometer_engine::message::MessageId;
use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_engine::store::State;
use compactometer_engine::view::Edit;
use serde::{Deserialize, Serialize};

/// All that a store keeps of one thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Contents {
    /// Ascends by one with each commit and each rollback; 0 is a thread that was never written.
    pub(crate) sequence: u64,
    /// Every record, oldest first; their numbers count from 0.
    pub(crate) history: Vec<SessionRecord>,
    /// Every rollback, oldest first.
    pub(crate) rollbacks: Vec<Rollback>,
    /// The views of the newest commits, oldest first.
    pub(crate) kept: Vec<CommittedView>,
}

/// The view after one commit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CommittedView {
    /// The numbers of the commit's records; empty for a rollback, or a cut without a summary.
    pub(crate) numbers: Range<u32>,
    pub(crate) view: Vec<Edit>,
    pub(crate) after: MessageId,
}

/// What a commit does beside adding records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rollback {
    /// How many records there were.
    pub(crate) at: u32,
    /// The newest record that still holds.
    pub(crate) to: u32,
}

/// One record, as a list of versions shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Version {
    /// Its number.
    pub number: u32,
    /// What it is.
    pub kind: RecordKind,
    /// When it was written, in milliseconds since the Unix epoch.
    pub created_at_ms: Option<i64>,
    /// First and last message that it covers.
    pub covers: Option<(MessageId, MessageId)>,
    /// Tokens of the view before its compaction.
    pub tokens_before: u32,
    /// Tokens of the view after it.
    pub tokens_after: u32,
    /// Bytes of its body.
    pub bytes: usize,
    /// Whether its view is still kept, so that a rollback can go back to it.
    pub restorable: bool,
    /// Whether a rollback hides it from the session.
    pub rolled_back: bool,
}

/// What a store takes on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Bytes of all its files.
    pub bytes: u64,
    /// How many files.
    pub files: u64,
}

/// Beyond any thread's sequence; a commit adds one to it.
const NO_SEQUENCE: u64 = 1 << 62;

impl Contents {
    /// Says what does not fit together in a changed store, such as a view or a rollback that names
    /// missing records.
    pub(crate) fn check(&self) -> Result<(), String> {
        let records = self.history.len() as u32;
        if self.sequence >= NO_SEQUENCE {
            return Err(format!("it counts {} commits", self.sequence));
        }
        if let Some(CommittedView { numbers, .. }) =
            self.kept.iter().find(|kept| kept.numbers.end > records)
        {
            return Err(format!(
                "a view names records {} to {} of {records}",
                numbers.start, numbers.end
            ));
        }
        let ends = self
            .rollbacks
            .iter()
            .map(|rollback| rollback.at)
            .chain([records]);
        let wrong = self
            .rollbacks
            .iter()
            .zip(ends.skip(1))
            .find(|(rollback, next)| rollback.to >= rollback.at || rollback.at > *next);
        match wrong {
            Some((Rollback { at, to }, _)) => Err(format!(
                "a rollback names records {to} and {at} of {records}"
            )),
            None => Ok(()),
        }
    }

    /// What a session starts from. Records that were rolled back keep their number, usage and time,
    /// as failed attempts: no strategy reads a failed attempt's text, and numbers stay without
    /// gaps.
    pub(crate) fn into_state(self) -> State {
        let hidden = self.rolled_back();
        let mut history = self.history;
        for saved in history
            .iter_mut()
            .filter(|saved| is_in(&hidden, saved.number))
        {
            saved.kind = RecordKind::Failed;
            saved.body = "rolled back".to_owned();
        }
        match self.kept.into_iter().last() {
            Some(kept) => State {
                history,
                view: kept.view,
                after: Some(kept.after),
            },
            None => State {
                history,
                ..State::default()
            },
        }
    }

    pub(crate) fn versions(&self) -> Vec<Version> {
        let hidden = self.rolled_back();
        let version = |saved: &SessionRecord| Version {
            number: saved.number,
            kind: saved.kind,
            created_at_ms: saved.created_at_ms,
            covers: saved.covers,
            tokens_before: saved.tokens_before,
            tokens_after: saved.tokens_after,
            bytes: saved.body.len(),
            restorable: self.kept_with(saved.number).is_some(),
            rolled_back: is_in(&hidden, saved.number),
        };
        self.history.iter().map(version).collect()
    }

    /// The commit that wrote this record, where its view is kept.
    pub(crate) fn kept_with(&self, number: u32) -> Option<&CommittedView> {
        self.kept.iter().find(|kept| kept.numbers.contains(&number))
    }

    /// What an agent would ask to see: the newest checkpoint that holds, else the newest summary.
    pub(crate) fn latest(&self) -> Option<&SessionRecord> {
        let hidden = self.rolled_back();
        let newest = |kind| {
            self.history
                .iter()
                .rev()
                .find(|saved: &&SessionRecord| saved.kind == kind && !is_in(&hidden, saved.number))
        };
        newest(RecordKind::Checkpoint).or_else(|| newest(RecordKind::Summary))
    }

    pub(crate) fn rolled_back(&self) -> Vec<Range<u32>> {
        rolled_back(&self.rollbacks)
    }
}

/// What the last rollback hides: all after its target, and what was hidden when its target was
/// written.
fn rolled_back(mut rollbacks: &[Rollback]) -> Vec<Range<u32>> {
    let mut hidden = Vec::new();
    while let Some(last) = rollbacks.last() {
        hidden.push(last.to + 1..last.at);
        rollbacks = &rollbacks[..rollbacks.partition_point(|rollback| rollback.at <= last.to)];
    }
    hidden
}

pub(crate) fn is_in(ranges: &[Range<u32>], number: u32) -> bool {
    ranges.iter().any(|range| range.contains(&number))
}

/// Which commit beyond `keep`, at least 1, loses its view next: one that no rollback can name, else
/// the oldest. Never the newest.
pub(crate) fn to_fold(names_version: &[bool], keep: usize) -> Option<usize> {
    if names_version.len() <= keep {
        return None;
    }
    let older = &names_version[..names_version.len() - 1];
    Some(older.iter().position(|names| !names).unwrap_or(0))
}

/// Whether a rollback can name a commit with these records: failed attempts and notes alone change
/// nothing that one could go back to.
pub(crate) fn names_version(saved: &[SessionRecord]) -> bool {
    saved
        .iter()
        .any(|saved| matches!(saved.kind, RecordKind::Summary | RecordKind::Checkpoint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn going_back_hides_what_came_after_and_going_forth_shows_it_again() {
        let back = |at, to| Rollback { at, to };
        let hidden = |rollbacks: &[Rollback]| {
            let ranges = rolled_back(rollbacks);
            (0..10)
                .filter(|number| is_in(&ranges, *number))
                .collect::<Vec<_>>()
        };
        assert!(hidden(&[]).is_empty());
        assert_eq!(hidden(&[back(5, 2)]), [3, 4]);
        // Records 5 and 6 were written after that; going back to 5 leaves 3 and 4 hidden.
        assert_eq!(hidden(&[back(5, 2), back(7, 5)]), [3, 4, 6]);
        // Going forth to 4 shows 3 and 4, and hides what took their place.
        assert_eq!(hidden(&[back(5, 2), back(7, 4)]), [5, 6]);
        // Changed one's mind at once.
        assert!(hidden(&[back(5, 2), back(5, 4)]).is_empty());
    }

    #[test]
    fn what_names_records_that_are_not_there_does_not_fit() {
        let fits = |rollbacks: &[(u32, u32)], numbers: Range<u32>| {
            let rollbacks = rollbacks
                .iter()
                .map(|(at, to)| Rollback { at: *at, to: *to })
                .collect();
            let kept = vec![CommittedView {
                numbers,
                view: Vec::new(),
                after: MessageId(0),
            }];
            Contents {
                rollbacks,
                kept,
                ..Contents::default()
            }
            .check()
        };
        assert_eq!(fits(&[], 0..0), Ok(()));
        assert_eq!(
            fits(&[], 0..u32::MAX),
            Err(format!("a view names records 0 to {} of 0", u32::MAX))
        );
        for wrong in [&[(0, 0)][..], &[(1, 0)], &[(0, u32::MAX)]] {
            assert!(fits(wrong, 0..0).is_err(), "{wrong:?}");
        }
        let endless = Contents {
            sequence: u64::MAX,
            ..Contents::default()
        };
        assert_eq!(
            endless.check(),
            Err(format!("it counts {} commits", u64::MAX))
        );
    }

    #[test]
    fn a_hundred_thousand_rollbacks_are_followed_back() {
        let rollbacks = (1..100_000)
            .map(|at| Rollback {
                at: 2 * at + 1,
                to: 2 * at - 1,
            })
            .collect::<Vec<_>>();
        assert_eq!(rolled_back(&rollbacks).len(), rollbacks.len());
    }

    #[test]
    fn failed_attempts_lose_their_view_before_checkpoints_do() {
        assert_eq!(to_fold(&[true, true], 2), None);
        assert_eq!(to_fold(&[true, true, true], 2), Some(0));
        assert_eq!(to_fold(&[true, false, true], 2), Some(1));
        assert_eq!(to_fold(&[true, true, false], 2), Some(0));
    }
}
