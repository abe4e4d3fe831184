//! What a session remembers: one record per summary, checkpoint or failed attempt.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::conversation::vec_growth;
use crate::message::{MessageId, Usage};

/// One thing that a compaction wrote. A strategy keeps no memory of its own: all of it is read from
/// these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionRecord {
    /// Ascending from 0 within a session, in order of writing.
    pub number: u32,
    /// What it is.
    pub kind: RecordKind,
    /// First and last message that it covers.
    pub covers: Option<(MessageId, MessageId)>,
    /// Tokens of the view before the compaction that wrote it.
    pub tokens_before: u32,
    /// Tokens of the view after it.
    pub tokens_after: u32,
    /// What the calls of that compaction used, all of it on the first of its records.
    pub usage: Usage,
    /// The session's time when it was written, in milliseconds since the Unix epoch.
    pub created_at_ms: Option<i64>,
    /// The text of a summary, or the JSON of a checkpoint, of what is pinned, or of a note.
    pub body: String,
    /// Which strategy of [`crate::strategy::composed::Composed`] wrote it, from 0.
    #[serde(default, skip_serializing_if = "is_first")]
    pub stage: u8,
}

fn is_first(stage: &u8) -> bool {
    *stage == 0
}

impl SessionRecord {
    /// Whether it is a checkpoint that was written before a turn, and not with a summary: the view
    /// stayed as it was.
    pub fn is_before_turn(&self) -> bool {
        self.kind == RecordKind::Checkpoint && self.tokens_before == self.tokens_after
    }
}

/// What a [`SessionRecord`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// Prose in place of messages.
    Summary,
    /// Structured state; the latest one stays retrievable.
    Checkpoint,
    /// What a strategy carries word for word, as JSON of its own; the latest one replaces all
    /// before it.
    Pinned,
    /// An attempt that failed; its body says why.
    Failed,
    /// What other threads share with this one, as the JSON of a checkpoint: see
    /// [`crate::recovery::Sharing`].
    Shared,
    /// A fragment of memory: see [`crate::memory::Note`].
    Note,
}

impl RecordKind {
    /// How many there are.
    const COUNT: usize = RecordKind::Note as usize + 1;
}

/// What a strategy asks the session to keep; the session adds number, usage, counts and time.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRecord {
    /// What it is.
    pub kind: RecordKind,
    /// First and last message that it covers.
    pub covers: Option<(MessageId, MessageId)>,
    /// The text of a summary, or the JSON of a checkpoint, of what is pinned, or of a note.
    pub body: String,
    /// See [`SessionRecord::stage`]; a strategy writes 0.
    pub stage: u8,
}

impl NewRecord {
    /// A record of a strategy.
    pub fn new(kind: RecordKind, covers: Option<(MessageId, MessageId)>, body: String) -> Self {
        NewRecord {
            kind,
            covers,
            body,
            stage: 0,
        }
    }
}

/// What a session saved, oldest first, and the place of the latest record of each kind, which a
/// session asks for before each turn, and a long history is not read for that.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    saved: Vec<SessionRecord>,
    /// By kind, the place behind the latest; 0 if there is none.
    behind: [u32; RecordKind::COUNT],
    /// How many records of the session are not in this history.
    hidden: u32,
}

impl History {
    /// The latest record of that kind.
    pub fn latest(&self, kind: RecordKind) -> Option<&SessionRecord> {
        self.saved
            .get(self.behind[kind as usize].checked_sub(1)? as usize)
    }

    /// The number that the session gives to its next record.
    pub(crate) fn next_number(&self) -> u32 {
        self.saved.len() as u32 + self.hidden
    }

    /// The history as one strategy of a composition sees it, `new` records later: its own records,
    /// and those of all, such as notes.
    pub(crate) fn of_stage(&self, stage: u8, new: usize) -> Self {
        let is_of_all = |kind| {
            matches!(
                kind,
                RecordKind::Failed | RecordKind::Shared | RecordKind::Note
            )
        };
        let own = self
            .saved
            .iter()
            .filter(|saved| saved.stage == stage || is_of_all(saved.kind))
            .cloned();
        let mut history = History::from(own.collect::<Vec<_>>());
        history.hidden = self.next_number() + new as u32 - history.saved.len() as u32;
        history
    }

    /// Adds newer records.
    pub fn extend(&mut self, newer: Vec<SessionRecord>) {
        vec_growth::reserve(&mut self.saved, newer.len());
        for saved in newer {
            let kind = saved.kind;
            self.saved.push(saved);
            self.behind[kind as usize] = self.saved.len() as u32;
        }
    }
}

impl Deref for History {
    type Target = [SessionRecord];

    fn deref(&self) -> &[SessionRecord] {
        &self.saved
    }
}

impl<'h> IntoIterator for &'h History {
    type Item = &'h SessionRecord;
    type IntoIter = std::slice::Iter<'h, SessionRecord>;

    fn into_iter(self) -> Self::IntoIter {
        self.saved.iter()
    }
}

impl From<Vec<SessionRecord>> for History {
    fn from(saved: Vec<SessionRecord>) -> Self {
        let mut history = History::default();
        history.extend(saved);
        history
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KINDS: [RecordKind; RecordKind::COUNT] = [
        RecordKind::Summary,
        RecordKind::Checkpoint,
        RecordKind::Pinned,
        RecordKind::Failed,
        RecordKind::Shared,
        RecordKind::Note,
    ];

    fn saved(number: u32, kind: RecordKind) -> SessionRecord {
        SessionRecord {
            number,
            kind,
            covers: None,
            tokens_before: 0,
            tokens_after: 0,
            usage: Usage::default(),
            created_at_ms: None,
            body: String::new(),
            stage: 0,
        }
    }

    proptest! {
        #[test]
        fn the_latest_of_a_kind_is_what_a_look_at_all_finds(
            commits in prop::collection::vec(prop::collection::vec(prop::sample::select(&KINDS[..]), 0..4), 0..12),
        ) {
            let (mut history, mut all) = (History::default(), Vec::new());
            for kinds in commits {
                let numbered = kinds.into_iter().zip(all.len() as u32..);
                let newer = numbered.map(|(kind, number)| saved(number, kind)).collect::<Vec<_>>();
                all.extend(newer.clone());
                history.extend(newer);
                prop_assert_eq!(&history[..], &all[..]);
                for kind in KINDS {
                    prop_assert_eq!(history.latest(kind), all.iter().rfind(|saved| saved.kind == kind));
                }
            }
            prop_assert_eq!(History::from(all), history);
        }
    }
}
