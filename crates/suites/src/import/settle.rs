//! Normalizes a session so that a replay can trust it: at most one system message, which comes
//! first; the first other message is a user turn; no message is empty; each call is answered in the
//! message directly after it; call ids are unique.
//!
//! Turns before the first user turn are dropped, because an invented user turn would falsify the
//! log.

use std::collections::{HashMap, HashSet};

use compactometer_engine::message::{Part, Role};

use super::error::ImportError;
use super::place::Place;
use super::report::Recorder;
use super::session::{ReadSession, Spoken};

/// The text for a missing result. The wording comes from the agent loop (`docs/sources.md`).
const NO_RESPONSE: &str = "Tool no response";

/// Normalizes a session. Returns `None` if it has no user turn.
pub(super) fn settle(
    mut session: ReadSession,
    recorder: &mut Recorder,
) -> Result<Option<ReadSession>, ImportError> {
    let place = session
        .messages
        .first()
        .map_or(Place::Line(1), |said| said.place);
    drop_empty(&mut session, recorder)?;
    drop_misplaced(&mut session, recorder)?;
    if !session.messages.iter().any(|said| said.role == Role::User) {
        recorder.repair(
            place,
            format!("`{}` holds no user turn: left out", session.stem),
        )?;
        recorder.without_conversation(session.compactions.len());
        return Ok(None);
    }
    let paired = pair(session.messages, recorder)?;
    recorder.report.repeated_call_ids += paired.repeated();
    for cleared in &mut session.notes.cleared {
        cleared.calls = paired.renamed(&cleared.calls);
    }
    Ok(Some(ReadSession {
        messages: paired.messages,
        ..session
    }))
}

/// Messages whose calls were renumbered.
pub(super) struct PairedMessages {
    pub(super) messages: Vec<Spoken>,
    /// The ids that the calls had before, in order.
    old_ids: Vec<String>,
}

impl PairedMessages {
    /// How many calls repeated an earlier id.
    fn repeated(&self) -> usize {
        let named = self.old_ids.iter().filter(|id| !id.is_empty());
        let ids = named.clone().collect::<HashSet<_>>();
        named.count() - ids.len()
    }

    /// The present ids of calls, of those that the messages have.
    fn renamed(&self, old: &[String]) -> Vec<String> {
        let old = old.iter().collect::<HashSet<_>>();
        let calls = self.old_ids.iter().enumerate();
        let found = calls.filter(|(_, id)| !id.is_empty() && old.contains(id));
        found.map(|(call, _)| new_id(call)).collect()
    }
}

/// Moves each call's result directly after it and renumbers the calls.
pub(super) fn pair(
    messages: Vec<Spoken>,
    recorder: &mut Recorder,
) -> Result<PairedMessages, ImportError> {
    let mut pairing = Pairing {
        recorder,
        out: Vec::new(),
        calls: Vec::new(),
        open: HashMap::new(),
    };
    for said in messages {
        match said.role {
            Role::Tool => pairing.push_results(said)?,
            _ => pairing.push_turn(said),
        }
    }
    pairing.finish()
}

fn drop_empty(session: &mut ReadSession, recorder: &mut Recorder) -> Result<(), ImportError> {
    let mut kept = Vec::with_capacity(session.messages.len());
    for mut said in std::mem::take(&mut session.messages) {
        said.parts
            .retain(|part| !matches!(part, Part::Text { text } if text.trim().is_empty()));
        if said.parts.is_empty() {
            recorder.repair(
                said.place,
                format!("empty {} message: dropped", said.role.name()),
            )?;
        } else {
            kept.push(said);
        }
    }
    session.messages = kept;
    Ok(())
}

/// Drops turns before the first user turn, and system messages other than the first message.
fn drop_misplaced(session: &mut ReadSession, recorder: &mut Recorder) -> Result<(), ImportError> {
    let mut opened = false;
    let mut kept: Vec<Spoken> = Vec::with_capacity(session.messages.len());
    for said in std::mem::take(&mut session.messages) {
        opened |= said.role == Role::User;
        let fits = if said.role == Role::System {
            kept.is_empty() && !opened
        } else {
            opened
        };
        if fits {
            kept.push(said);
            continue;
        }
        let what = if said.role == Role::System {
            "is not the first"
        } else {
            "comes before the first user turn"
        };
        recorder.repair(
            said.place,
            format!("{} message {what}: dropped", said.role.name()),
        )?;
    }
    session.messages = kept;
    Ok(())
}

/// Pairs calls with their results.
struct Pairing<'r> {
    recorder: &'r mut Recorder,
    /// A message with calls is followed by one for their results.
    out: Vec<Spoken>,
    calls: Vec<SettledCall>,
    /// Unanswered calls by their old id, in order.
    open: HashMap<String, Vec<usize>>,
}

struct SettledCall {
    old: String,
    /// The place of the message for its result.
    slot: usize,
    answer: Vec<Part>,
}

/// The id of the call with this index.
fn new_id(call: usize) -> String {
    format!("call_{}", call + 1)
}

impl Pairing<'_> {
    fn push_turn(&mut self, mut said: Spoken) {
        let (first, slot) = (self.calls.len(), self.out.len() + 1);
        for part in &mut said.parts {
            if let Part::ToolCall { id, .. } = part {
                let old = std::mem::replace(id, new_id(self.calls.len()));
                self.open
                    .entry(old.clone())
                    .or_default()
                    .push(self.calls.len());
                self.calls.push(SettledCall {
                    old,
                    slot,
                    answer: Vec::new(),
                });
            }
        }
        let results = Spoken {
            place: said.place,
            role: Role::Tool,
            at_ms: None,
            parts: Vec::new(),
            usage: None,
        };
        self.out.push(said);
        self.out
            .extend((self.calls.len() > first).then_some(results));
    }

    fn push_results(&mut self, said: Spoken) -> Result<(), ImportError> {
        let mut current = None;
        for part in said.parts {
            if let Part::ToolResult { call_id, .. } = &part {
                current = self.take_open(call_id);
                let wrong = match current {
                    None => Some("answers no open call: dropped"),
                    Some(call) if self.is_last(&self.calls[call]) => None,
                    Some(_) => Some("came after other messages: moved to its call"),
                };
                if let Some(wrong) = wrong {
                    self.recorder
                        .repair(said.place, format!("result for `{call_id}` {wrong}"))?;
                }
            }
            // Media stays with the preceding result.
            if let Some(call) = current {
                let is_last = self.is_last(&self.calls[call]);
                let call = &mut self.calls[call];
                let results = &mut self.out[call.slot];
                if is_last {
                    results.place = said.place;
                }
                results.at_ms = results.at_ms.max(said.at_ms);
                call.answer.push(part);
            }
        }
        Ok(())
    }

    /// Whether no message follows that of the call.
    fn is_last(&self, call: &SettledCall) -> bool {
        call.slot + 1 == self.out.len()
    }

    /// The latest unanswered call with the id. Without an id, the first unanswered call of the
    /// message directly before.
    fn take_open(&mut self, call_id: &str) -> Option<usize> {
        if !call_id.is_empty() {
            return self.open.get_mut(call_id)?.pop();
        }
        let first = self.calls.partition_point(|call| !self.is_last(call));
        let call = first
            + self.calls[first..]
                .iter()
                .position(|call| call.answer.is_empty())?;
        self.open
            .get_mut(&self.calls[call].old)?
            .retain(|open| *open != call);
        Some(call)
    }

    fn finish(mut self) -> Result<PairedMessages, ImportError> {
        let mut old_ids = Vec::with_capacity(self.calls.len());
        for (
            number,
            SettledCall {
                old,
                slot,
                mut answer,
            },
        ) in self.calls.into_iter().enumerate()
        {
            let results = &mut self.out[slot];
            if answer.is_empty() {
                let what = format!("call `{old}` has no result: answered with `{NO_RESPONSE}`");
                self.recorder.repair(results.place, what)?;
                let text = NO_RESPONSE.to_owned();
                answer.push(Part::ToolResult {
                    call_id: String::new(),
                    text,
                    is_error: false,
                });
            }
            for part in &mut answer {
                if let Part::ToolResult { call_id, .. } = part {
                    *call_id = new_id(number);
                }
            }
            results.parts.extend(answer);
            old_ids.push(old);
        }
        Ok(PairedMessages {
            messages: self.out,
            old_ids,
        })
    }
}
