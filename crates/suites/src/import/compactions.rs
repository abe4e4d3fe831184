//! Compactions of the recorded program: their places in a file become places in the conversation that was read from it.
//!
//! A compaction is left out and reported if the file does not contain what came before it or what it left.

use compactometer_engine::message::{MessageId, Role};
use compactometer_formats::scenario::{RecordedCompaction, Retained};

use super::error::ImportError;
use super::report::Recorder;
use super::session::{Compaction, Left, Place, Session};

/// The compactions of a session whose messages are settled. Message number `n` of the session has the id `n`, from 1.
pub(super) fn resolve(session: &Session, recorder: &mut Recorder) -> Result<Vec<RecordedCompaction>, ImportError> {
    let mut found: Vec<RecordedCompaction> = Vec::new();
    for compaction in &session.compactions {
        let before = session.messages.iter().rposition(|said| said.place < compaction.place);
        // The results of calls before it are part of what came before it, even if they came later.
        let answers = |index: &usize| session.messages.get(*index).is_some_and(|said| said.role == Role::Tool);
        let before = before.map(|index| Some(index + 1).filter(answers).unwrap_or(index)).map(id_at);
        let context = before.map(|after| context(session, compaction, after)).unwrap_or_default();
        let missing = match before {
            None => "the messages before it are not in the file",
            Some(_) if context.is_empty() => "what it left is not in the file",
            Some(after) if found.last().is_some_and(|last| last.after >= after) => {
                "no message follows the one before it"
            }
            Some(_) => "",
        };
        match before {
            Some(after) if missing.is_empty() => found.push(RecordedCompaction {
                after,
                at_ms: compaction.at_ms,
                trigger: compaction.trigger.clone(),
                reported_tokens: compaction.reported_tokens,
                usage: compaction.usage,
                context,
            }),
            _ => recorder.repair(&session.file, compaction.place, format!("compaction: {missing}: left out"))?,
        }
    }
    recorder.report.compactions += found.len();
    Ok(found)
}

fn id_at(index: usize) -> MessageId {
    MessageId(index as u32 + 1)
}

/// What it left, without kept messages that were dropped when the file was read.
fn context(session: &Session, compaction: &Compaction, after: MessageId) -> Vec<Retained> {
    let mut context = Vec::new();
    for left in &compaction.context {
        match left {
            Left::Written(_, text) if text.trim().is_empty() => {}
            Left::Written(role, text) => context.push(Retained::Written { role: *role, text: text.clone() }),
            Left::Kept(place) => {
                let kept = ids_at(session, *place).filter(|id| *id <= after).map(Retained::Kept);
                for kept in kept {
                    // Several lines of a file may be one message.
                    if !context.contains(&kept) {
                        context.push(kept);
                    }
                }
            }
        }
    }
    context
}

/// The messages that were read at that place, or the one that took in what was read there.
fn ids_at(session: &Session, place: Place) -> impl Iterator<Item = MessageId> {
    let start = session.messages.iter().rposition(|said| said.place <= place).map(|last| session.messages[last].place);
    // The system prompt is in every request.
    let at_start = move |said: &super::session::Spoken| Some(said.place) == start && said.role != Role::System;
    let is_kept = session.messages.iter().map(at_start).collect::<Vec<_>>();
    is_kept.into_iter().enumerate().filter(|(_, is_kept)| *is_kept).map(|(index, _)| id_at(index))
}
