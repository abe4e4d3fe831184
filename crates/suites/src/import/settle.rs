//! Normalizes a session so that a replay can trust it: at most one system message, which comes first; the first other message is
//! a user turn; no message is empty; each call is answered in the message directly after it; call ids are unique.
//!
//! Turns before the first user turn are dropped, because an invented user turn would falsify the log.

use std::collections::HashMap;

use compactometer_engine::message::{Part, Role};

use super::error::ImportError;
use super::report::Recorder;
use super::session::{Place, Session, Spoken};

/// The text for a missing result. The wording comes from the agent loop (`docs/sources.md`).
const NO_RESPONSE: &str = "Tool no response";

/// Normalizes a session. Returns `None` if it has no user turn.
pub(super) fn settle(mut session: Session, recorder: &mut Recorder) -> Result<Option<Session>, ImportError> {
    let place = session.messages.first().map_or(Place::Line(1), |said| said.place);
    drop_empty(&mut session, recorder)?;
    drop_misplaced(&mut session, recorder)?;
    if !session.messages.iter().any(|said| said.role == Role::User) {
        recorder.repair(&session.file, place, format!("`{}` holds no user turn: left out", session.stem))?;
        return Ok(None);
    }
    let (messages, repeated) = pair(&session.file, session.messages, recorder)?;
    recorder.report.repeated_call_ids += repeated;
    Ok(Some(Session { messages, ..session }))
}

/// Moves each call's result directly after it and renumbers the calls. Also returns how many calls repeated an earlier id.
pub(super) fn pair(
    file: &str,
    messages: Vec<Spoken>,
    recorder: &mut Recorder,
) -> Result<(Vec<Spoken>, usize), ImportError> {
    let mut pairing = Pairing { file, recorder, out: Vec::new(), batches: Vec::new(), open: HashMap::new(), calls: 0 };
    for said in messages {
        pairing.push(said)?;
    }
    let repeated = pairing.calls - pairing.open.len();
    Ok((pairing.finish()?, repeated))
}

fn drop_empty(session: &mut Session, recorder: &mut Recorder) -> Result<(), ImportError> {
    let mut kept = Vec::with_capacity(session.messages.len());
    for mut said in std::mem::take(&mut session.messages) {
        said.parts.retain(|part| !matches!(part, Part::Text { text } if text.trim().is_empty()));
        if said.parts.is_empty() {
            recorder.repair(&session.file, said.place, format!("empty {} message: dropped", said.role.name()))?;
        } else {
            kept.push(said);
        }
    }
    session.messages = kept;
    Ok(())
}

/// Drops turns before the first user turn, and system messages other than the first message.
fn drop_misplaced(session: &mut Session, recorder: &mut Recorder) -> Result<(), ImportError> {
    let mut opened = false;
    let mut kept: Vec<Spoken> = Vec::with_capacity(session.messages.len());
    for said in std::mem::take(&mut session.messages) {
        opened |= said.role == Role::User;
        let fits = if said.role == Role::System { kept.is_empty() && !opened } else { opened };
        if fits {
            kept.push(said);
            continue;
        }
        let what = if said.role == Role::System { "is not the first" } else { "comes before the first user turn" };
        recorder.repair(&session.file, said.place, format!("{} message {what}: dropped", said.role.name()))?;
    }
    session.messages = kept;
    Ok(())
}

/// Pairs calls with their results.
struct Pairing<'r> {
    file: &'r str,
    recorder: &'r mut Recorder,
    out: Vec<Slot>,
    batches: Vec<Batch>,
    /// Unanswered calls by their old id, in order.
    open: HashMap<String, Vec<(usize, usize)>>,
    calls: usize,
}

enum Slot {
    Said(Spoken),
    /// The results of the batch with this index.
    Results(usize),
}

struct Batch {
    place: Place,
    slot: usize,
    at_ms: Option<i64>,
    calls: Vec<Call>,
}

struct Call {
    old: String,
    new: String,
    answer: Vec<Part>,
}

impl Pairing<'_> {
    fn push(&mut self, said: Spoken) -> Result<(), ImportError> {
        if said.role == Role::Tool {
            self.push_results(said)
        } else {
            self.push_turn(said);
            Ok(())
        }
    }

    fn push_turn(&mut self, mut said: Spoken) {
        let mut calls = Vec::new();
        for part in &mut said.parts {
            if let Part::ToolCall { id, .. } = part {
                self.calls += 1;
                let old = std::mem::replace(id, format!("call_{}", self.calls));
                let open = self.open.entry(old.clone()).or_default();
                open.push((self.batches.len(), calls.len()));
                calls.push(Call { old, new: id.clone(), answer: Vec::new() });
            }
        }
        let place = said.place;
        self.out.push(Slot::Said(said));
        if !calls.is_empty() {
            self.batches.push(Batch { place, slot: self.out.len(), at_ms: None, calls });
            self.out.push(Slot::Results(self.batches.len() - 1));
        }
    }

    fn push_results(&mut self, said: Spoken) -> Result<(), ImportError> {
        let mut current = None;
        for part in said.parts {
            if let Part::ToolResult { call_id, .. } = &part {
                current = self.take_open(call_id);
                if let Some((batch, _)) = current
                    && self.batches[batch].slot + 1 != self.out.len()
                {
                    let what = format!("result for `{call_id}` came after other messages: moved to its call");
                    self.recorder.repair(self.file, said.place, what)?;
                }
                if current.is_none() {
                    let what = format!("result for `{call_id}` answers no open call: dropped");
                    self.recorder.repair(self.file, said.place, what)?;
                }
            }
            // Media stays with the preceding result.
            if let Some((batch, call)) = current {
                let batch = &mut self.batches[batch];
                batch.at_ms = batch.at_ms.max(said.at_ms);
                batch.calls[call].answer.push(part);
            }
        }
        Ok(())
    }

    /// The latest unanswered call with the id. Without an id, the first unanswered call of the batch directly before.
    fn take_open(&mut self, call_id: &str) -> Option<(usize, usize)> {
        if !call_id.is_empty() {
            return self.open.get_mut(call_id)?.pop();
        }
        let batch = self.batches.len().checked_sub(1).filter(|last| self.batches[*last].slot + 1 == self.out.len())?;
        let call = self.batches[batch].calls.iter().position(|call| call.answer.is_empty())?;
        self.open.get_mut(&self.batches[batch].calls[call].old)?.retain(|open| *open != (batch, call));
        Some((batch, call))
    }

    fn finish(mut self) -> Result<Vec<Spoken>, ImportError> {
        let mut messages = Vec::with_capacity(self.out.len());
        for slot in std::mem::take(&mut self.out) {
            match slot {
                Slot::Said(said) => messages.push(said),
                Slot::Results(batch) => messages.push(self.results(batch)?),
            }
        }
        Ok(messages)
    }

    fn results(&mut self, batch: usize) -> Result<Spoken, ImportError> {
        let Batch { place, at_ms, calls, .. } = &mut self.batches[batch];
        let mut parts = Vec::new();
        for call in calls {
            if call.answer.is_empty() {
                let what = format!("call `{}` has no result: answered with `{NO_RESPONSE}`", call.old);
                self.recorder.repair(self.file, *place, what)?;
                let text = NO_RESPONSE.to_owned();
                call.answer.push(Part::ToolResult { call_id: String::new(), text, is_error: false });
            }
            for mut part in std::mem::take(&mut call.answer) {
                if let Part::ToolResult { call_id, .. } = &mut part {
                    call_id.clone_from(&call.new);
                }
                parts.push(part);
            }
        }
        Ok(Spoken { place: *place, role: Role::Tool, at_ms: *at_ms, parts, usage: None })
    }
}
