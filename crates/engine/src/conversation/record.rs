//! What a session remembers: one record per summary, checkpoint or failed attempt.

use std::ops::Deref;

use serde::{Deserialize, Serialize};

use crate::message::{MessageId, Usage};

/// One thing that a compaction wrote. A strategy keeps no memory of its own: all of it is read from these.
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
}

/// What a [`SessionRecord`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordKind {
    /// Prose in place of messages.
    Summary,
    /// Structured state; the latest one stays retrievable.
    Checkpoint,
    /// What a strategy carries word for word, as JSON of its own; the latest one replaces all before it.
    Pinned,
    /// An attempt that failed; its body says why.
    Failed,
    /// What other threads share with this one, as the JSON of a checkpoint: see [`crate::recovery::Sharing`].
    Shared,
    /// A fragment of memory: see [`crate::memory::Note`].
    Note,
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
}

/// What a session saved, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History(pub Vec<SessionRecord>);

impl History {
    /// The latest record of that kind.
    pub fn latest(&self, kind: RecordKind) -> Option<&SessionRecord> {
        self.0.iter().rfind(|saved| saved.kind == kind)
    }
}

impl Deref for History {
    type Target = [SessionRecord];

    fn deref(&self) -> &[SessionRecord] {
        &self.0
    }
}
