//! Compactions of the recorded program: their places in a file become places in the conversation
//! that was read from it.
//!
//! A compaction of which the file does not hold what came before it or what it left is not
//! measured: it is listed apart, with the reason.

use compactometer_engine::message::{MessageId, Part, Role, part_text};
use compactometer_formats::scenario::{
    RecordedCompaction, Retained, Unmeasured, UnmeasuredCompaction,
};

use super::error::ImportError;
use super::place::Place;
use super::report::Recorder;
use super::session::{Compaction, Left, ReadSession};

/// The compactions of a session, those that can be measured and those that cannot.
#[derive(Debug, Default)]
pub(super) struct ResolvedCompactions {
    pub(super) measured: Vec<RecordedCompaction>,
    pub(super) unmeasured: Vec<UnmeasuredCompaction>,
}

/// The compactions of a session whose messages are settled. Message number `n` of the session has
/// the id `n`, from 1. A part may be all that was read of the session.
pub(super) fn resolve(
    session: &ReadSession,
    is_part: bool,
    recorder: &mut Recorder,
) -> Result<ResolvedCompactions, ImportError> {
    let judged = judged(session, is_part);
    let mut found = ResolvedCompactions::default();
    for (compaction, after, judgement) in judged {
        match judgement {
            Ok(context) => found.measured.push(RecordedCompaction {
                after,
                at_ms: compaction.at_ms,
                trigger: compaction.trigger.clone(),
                reported_tokens: compaction.reported_tokens,
                usage: compaction.usage,
                took_ms: compaction.took_ms,
                version: compaction
                    .version
                    .clone()
                    .or_else(|| session.version.clone()),
                compactor: compaction.compactor.clone(),
                line: compaction.place.line(),
                context,
            }),
            Err(reason) => {
                // These are no damage of the file, and say nothing about the requests that follow.
                let changed_nothing = reason.changed_nothing();
                if !changed_nothing {
                    let what = format!("compaction: {}: left out", reason.why());
                    recorder.repair(compaction.place, what)?;
                }
                recorder.not_measured(reason, 1);
                found.unmeasured.push(UnmeasuredCompaction {
                    after: (after != NOTHING && !changed_nothing).then_some(after),
                    at_ms: compaction.at_ms,
                    trigger: compaction.trigger.clone(),
                    reported_tokens: compaction.reported_tokens,
                    reason,
                });
            }
        }
    }
    recorder.report.compactions += found.measured.len();
    Ok(found)
}

/// The place before the first message, whose id is 1.
const NOTHING: MessageId = MessageId(0);

/// Each compaction with the last message before it, and what it left or why that is not measured.
type JudgedCompactions<'s> = (&'s Compaction, MessageId, Result<Vec<Retained>, Unmeasured>);

fn judged(session: &ReadSession, is_part: bool) -> Vec<JudgedCompactions<'_>> {
    let mut judged: Vec<JudgedCompactions<'_>> = Vec::new();
    for compaction in &session.compactions {
        let after = last_before(session, compaction);
        let changed_nothing = compaction
            .unmeasured
            .is_some_and(Unmeasured::changed_nothing);
        // What the one before it left was never a request.
        let mut measured = judged.iter_mut().rev().filter(|(.., last)| last.is_ok());
        if !changed_nothing
            && let Some((_, before, judgement)) = measured.next()
            && *before >= after
        {
            *judgement = Err(Unmeasured::CompactedAgain);
        }
        let is_first = judged.iter().all(|(_, before, _)| *before == NOTHING) && !is_part;
        judged.push((
            compaction,
            after,
            judge(session, compaction, after, is_first),
        ));
    }
    judged
}

/// The last message before a compaction; [`NOTHING`] if there is none.
fn last_before(session: &ReadSession, compaction: &Compaction) -> MessageId {
    let before = session
        .messages
        .iter()
        .rposition(|said| said.place < compaction.place);
    // The results of calls before it are part of what came before it, even if they came later.
    let answers = |index: &usize| {
        session
            .messages
            .get(*index)
            .is_some_and(|said| said.role == Role::Tool)
    };
    before.map_or(NOTHING, |index| {
        id_at(Some(index + 1).filter(answers).unwrap_or(index))
    })
}

/// What a compaction left, or why that is not measured.
fn judge(
    session: &ReadSession,
    compaction: &Compaction,
    after: MessageId,
    is_first: bool,
) -> Result<Vec<Retained>, Unmeasured> {
    let context = context(session, compaction, after);
    if let Some(reason) = compaction.unmeasured {
        return Err(reason);
    }
    match () {
        () if after == NOTHING => Err(Unmeasured::NothingBefore),
        () if context.is_empty() && !compaction.left_nothing => Err(Unmeasured::NothingLeft),
        () if is_first && holds_a_part(session, compaction, after) => Err(Unmeasured::PartBefore),
        () => Ok(context),
    }
}

/// Characters of a token of a transcript, on the low side, so that the file seems to hold more
/// tokens than it does.
const CHARACTERS_PER_TOKEN: f64 = 2.5;
/// Most tokens of instructions and tool definitions, which files do not hold.
const MOST_INSTRUCTIONS: f64 = 60_000.0;

/// Whether the file explains less than half of the tokens of the request before the first
/// compaction: its beginning is missing.
fn holds_a_part(session: &ReadSession, compaction: &Compaction, after: MessageId) -> bool {
    if session.starts_inside {
        return true;
    }
    let said = &session.messages[..(after.0 as usize).min(session.messages.len())];
    let has_media = said
        .iter()
        .flat_map(|said| &said.parts)
        .any(|part| matches!(part, Part::Media { .. }));
    // Nothing is known of the tokens of images.
    let Some(reported) = compaction.reported_tokens.filter(|_| !has_media) else {
        return false;
    };
    let letters = said
        .iter()
        .flat_map(|said| &said.parts)
        .map(letters)
        .sum::<usize>();
    letters as f64 / CHARACTERS_PER_TOKEN + MOST_INSTRUCTIONS < reported as f64 / 2.0
}

fn letters(part: &Part) -> usize {
    match part {
        Part::ToolCall {
            name, arguments, ..
        } => name.len() + arguments.len(),
        Part::Thinking { text, signature } => {
            text.len() + signature.as_ref().map_or(0, String::len)
        }
        other => part_text(other).map_or(0, str::len),
    }
}

fn id_at(index: usize) -> MessageId {
    MessageId(index as u32 + 1)
}

/// What it left, without kept messages that were dropped when the file was read.
fn context(session: &ReadSession, compaction: &Compaction, after: MessageId) -> Vec<Retained> {
    let mut context = Vec::new();
    for left in &compaction.context {
        match left {
            Left::Written(_, text) if text.trim().is_empty() => {}
            Left::Written(role, text) => context.push(Retained::Written {
                role: *role,
                text: text.clone(),
            }),
            Left::Kept(place) => {
                let kept = ids_at(session, *place)
                    .filter(|id| *id <= after)
                    .map(Retained::Kept);
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
fn ids_at(session: &ReadSession, place: Place) -> impl Iterator<Item = MessageId> {
    let start = session
        .messages
        .iter()
        .rposition(|said| said.place <= place)
        .map(|last| session.messages[last].place);
    // The system prompt is in every request.
    let at_start =
        move |said: &super::session::Spoken| Some(said.place) == start && said.role != Role::System;
    let is_kept = session.messages.iter().map(at_start).collect::<Vec<_>>();
    is_kept
        .into_iter()
        .enumerate()
        .filter(|(_, is_kept)| *is_kept)
        .map(|(index, _)| id_at(index))
}
