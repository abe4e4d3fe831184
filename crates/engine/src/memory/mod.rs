//! Memory: what left a conversation and can be found again (the agent loop, section 8). A note is a
//! record among a session's others, so every store keeps it and a reload has it; no request holds
//! it until somebody asks for it.
//!
//! Absent on purpose: an index that is kept up to date. A session has few notes beside what one
//! model call costs; a search reads them all, and live sessions, reloads and replays rank alike.

mod built_context;
mod ranking;
mod tool;

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::conversation::record::{NewRecord, RecordKind, SessionRecord};
use crate::conversation::render::{self, RenderLimits};
use crate::conversation::view::{Edit, Entry, View, kept_by};
use crate::message::{MessageId, Part, Role};

pub use built_context::{IMPORTANT, RELEVANT, built_context, document};
pub use tool::{MOST_RESULTS, NAME, RESULTS, answer, tool};

/// One fragment of memory: the body of a record of kind [`RecordKind::Note`], as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// What was said, as a summarizer would read it, or what the host noted.
    pub text: String,
    /// How important the host finds it, more is more; none on what a strategy noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<u8>,
}

impl Note {
    /// The note that a record is, where it is one.
    pub fn from_record(saved: &SessionRecord) -> Option<Note> {
        (saved.kind == RecordKind::Note)
            .then(|| serde_json::from_str(&saved.body).ok())
            .flatten()
    }

    /// The note as a new record; `covers` are the ends of what it holds.
    pub(crate) fn to_record(&self, covers: Option<(MessageId, MessageId)>) -> NewRecord {
        // A text and a number have a JSON form.
        let mut body = serde_json::to_string(self).unwrap_or_default();
        // Kept for as long as the session lives.
        body.shrink_to_fit();
        NewRecord::new(RecordKind::Note, covers, body)
    }
}

/// Every note of a session, oldest first.
pub fn notes(history: &[SessionRecord]) -> Vec<(&SessionRecord, Note)> {
    history
        .iter()
        .filter_map(|saved| Some((saved, Note::from_record(saved)?)))
        .collect()
}

/// The notes that share a word with the query, best first: BM25 over words, the newer one first of
/// equals.
pub fn search<'h>(
    history: &'h [SessionRecord],
    query: &str,
    most: usize,
) -> Vec<(&'h SessionRecord, Note)> {
    let notes = notes(history);
    let ranked = rank(&notes, &[query]).pop().unwrap_or_default();
    ranked
        .into_iter()
        .take(most)
        .map(|place| notes[place].clone())
        .collect()
}

/// As [`search`], for several queries at once; gives places among `notes`.
pub(crate) fn rank(notes: &[(&SessionRecord, Note)], queries: &[&str]) -> Vec<Vec<usize>> {
    let texts = notes
        .iter()
        .map(|(_, note)| note.text.as_str())
        .collect::<Vec<_>>();
    ranking::rank(&texts, queries)
}

/// A note for each message or call batch of the view that the edits do not keep whole, of at most
/// that many characters. What was written in place of messages is a record already; what a search
/// gave is noted where it came from.
pub(crate) fn of_leaving(view: &View, edits: &[Edit], most_characters: usize) -> Vec<NewRecord> {
    let keeps = kept_by(edits);
    let chat = view
        .entries()
        .iter()
        .filter(|entry| entry.role() != Role::System);
    let said = chat.filter_map(|entry| entry.log_message().map(|message| (entry, message.id)));
    let leaving = said
        .filter(|(_, id)| !keeps.contains(id))
        .collect::<Vec<_>>();
    let groups = leaving.chunk_by(|_, (next, _)| next.role() == Role::Tool);
    groups
        .filter_map(|group| of_group(group, most_characters))
        .collect()
}

fn of_group(group: &[(&Entry, MessageId)], most_characters: usize) -> Option<NewRecord> {
    let (caller, first) = group.first()?;
    let group = if only_searches(caller) {
        &group[..1]
    } else {
        group
    };
    let covers = (*first, group.last()?.1);
    let mut text = render::transcript(group.iter().map(|(entry, _)| *entry), RenderLimits::NONE);
    render::cut_from(&mut text, 0, most_characters);
    (!text.is_empty()).then(|| {
        Note {
            text,
            importance: None,
        }
        .to_record(Some(covers))
    })
}

fn only_searches(entry: &Entry) -> bool {
    let mut calls = entry.parts().filter_map(|(part, _)| match part {
        Part::ToolCall { name, .. } => Some(name),
        _ => None,
    });
    calls.next().is_some_and(|name| name == NAME) && calls.all(|name| name == NAME)
}

/// A note as a model may read it: labelled, and nothing in it ends its block.
pub(crate) fn labelled(saved: &SessionRecord, note: &Note) -> String {
    let mut text = format!("<note number=\"{}\"", saved.number);
    if let Some((first, last)) = saved.covers {
        let _ = write!(text, " messages=\"{}-{}\"", first.0, last.0);
    }
    if let Some(importance) = note.importance {
        let _ = write!(text, " importance=\"{importance}\"");
    }
    let _ = write!(text, ">\n{}\n</note>", render::neutralize(&note.text));
    text
}
