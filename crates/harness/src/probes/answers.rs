//! Answer recall: each probe is asked once, at its point. Nothing returns to the session: it is
//! only read, and its meter does not count the calls.
//!
//! The request is the agent's next one, then a user turn with the question. If the strategy
//! retrieves something for the question, a second request has that before the question. Requests
//! are sent even if they exceed the window. Absent on purpose: questions about facts outside the
//! headline set, which any tail answers, and about generic values, which prove nothing.

use std::sync::Arc;

use compactometer_engine::message::{Part, Role, part_text};
use compactometer_engine::meter::{Call, Metered, Purpose};
use compactometer_engine::model::{ChatRequest, WireMessage};
use compactometer_engine::session::Session;
use compactometer_engine::tokens::TokenCounter;
use compactometer_engine::view::{Edit, Entry, View, WrittenPart};
use compactometer_formats::answer::AnswerRow;
use compactometer_formats::record::Observation;

use super::grade::{Graded, grade};
use super::prompted::{Retrieved, holds};
use crate::prepare::{Evidence, Given, PreparedScenario};

/// What is said after the conversation.
const PROMPT: &str = include_str!("answers.md");

/// Most tokens of an answer: enough for a sentence around one short line.
const MOST_TOKENS: u32 = 96;

/// The part of a case's identity that is about questions.
pub(crate) const IDENTITY: (&str, u32) = (PROMPT, MOST_TOKENS);

/// What precedes a question.
#[derive(Clone, Copy)]
enum Before<'a> {
    /// The context as it is.
    Context,
    /// The context with this in place of what was written.
    Given(&'a Given),
    /// The context, and what was retrieved for the question.
    Retrieved(&'a [WrittenPart]),
}

/// One point of a case at which questions are asked.
pub(crate) struct Questioner<'a> {
    pub(crate) prepared: &'a PreparedScenario,
    pub(crate) session: &'a Session<'a>,
    /// The meter of the answers.
    pub(crate) reader: &'a Metered<'a>,
    pub(crate) retrieved: &'a Retrieved,
    /// Whether a provider would refuse the next request.
    pub(crate) is_refused: bool,
    /// Chooses what is given in place of what was written.
    pub(crate) evidence: Option<Evidence>,
    /// Most tokens of what is given.
    pub(crate) retained: u32,
    pub(crate) counter: &'a dyn TokenCounter,
}

/// The probes whose questions are asked at the point of that observation.
pub(crate) fn due<'a>(
    prepared: &'a PreparedScenario,
    observation: &'a Observation,
) -> impl Iterator<Item = usize> + 'a {
    let counts = |fact: &u32| {
        observation.eligible.contains(fact) && !prepared.scenario.facts[*fact as usize].generic
    };
    let is_due = move |probe: &usize| {
        let (asked, row) = (
            &prepared.scenario.probes[*probe],
            &prepared.checks().keys.probes[*probe].row,
        );
        let has_answer_in_words = row.facts.is_empty() && asked.gold.is_some();
        asked.asked_after == observation.after
            && (row.abstain_expected
                || has_answer_in_words
                || (!row.facts.is_empty() && row.facts.iter().all(counts)))
    };
    (0..prepared.scenario.probes.len()).filter(is_due)
}

impl Questioner<'_> {
    /// The answers to the probes of that point, with their calls.
    pub(crate) async fn ask(&self, observation: &Observation) -> Vec<(AnswerRow, Option<Call>)> {
        let due = due(self.prepared, observation).collect::<Vec<_>>();
        if due.is_empty() {
            return Vec::new();
        }
        let question = |probe: &usize| self.prepared.scenario.probes[*probe].question.as_str();
        let given = self.given(&due);
        let mut messages = self.messages(given.as_ref());
        let mut answers = Vec::new();
        for probe in &due {
            let call = self.answer(&mut messages, question(probe), &[]).await;
            let before = given.as_ref().map_or(Before::Context, Before::Given);
            answers.push(self.row(*probe, observation, before, call));
        }
        for probe in &due {
            let parts = self.retrieved.parts(*probe);
            if !parts.is_empty() {
                let call = self.answer(&mut messages, question(probe), parts).await;
                answers.push(self.row(*probe, observation, Before::Retrieved(parts), call));
            }
        }
        answers
    }

    /// What is given in place of the written parts, if the view has any.
    fn given(&self, due: &[usize]) -> Option<Given> {
        let is_written =
            |entry: &Entry| entry.role() == Role::User && entry.written_parts().is_some();
        let evidence = self
            .evidence
            .filter(|_| self.session.view().entries().iter().any(is_written))?;
        let facts = due
            .iter()
            .flat_map(|probe| &self.prepared.checks().keys.probes[*probe].row.facts);
        Some(evidence(
            self.prepared,
            &facts.copied().collect::<Vec<_>>(),
            self.retained,
            self.counter,
        ))
    }

    /// The next request, with its written parts replaced by what is given.
    fn messages(&self, given: Option<&Given>) -> Vec<WireMessage> {
        let view = self.session.view();
        let Some(given) = given else {
            return view.to_wire();
        };
        let replaced = view.to_edits().into_iter().filter_map(|edit| match edit {
            Edit::Insert(Role::User, _) if given.parts.is_empty() => None,
            Edit::Insert(Role::User, _) => Some(Edit::Insert(Role::User, given.parts.clone())),
            other => Some(other),
        });
        // The view is valid: its edits name messages of its own log.
        let made = View::from_edits(replaced.collect(), self.session.log(), self.counter);
        made.as_ref().unwrap_or(view).to_wire()
    }

    /// One call; `messages` are the same afterwards. There is none if every provider would refuse
    /// the request.
    async fn answer(
        &self,
        messages: &mut Vec<WireMessage>,
        question: &str,
        parts: &[WrittenPart],
    ) -> Option<Call> {
        if self.is_refused || !self.session.view().open_calls().is_empty() {
            return None;
        }
        let length = messages.len();
        let user = |parts: Vec<Part>| WireMessage {
            role: Role::User,
            parts: parts.into(),
        };
        if !parts.is_empty() {
            messages.push(user(
                parts.iter().map(|written| written.part.clone()).collect(),
            ));
        }
        messages.push(user(vec![Part::Text {
            text: PROMPT.trim_end().replace("{question}", question),
        }]));
        let request = ChatRequest {
            messages: std::mem::take(messages),
            tools: Vec::new(),
            max_output_tokens: Some(MOST_TOKENS),
            temperature: Some(0.0),
            schema: None,
            compaction: None,
            seed: self.reader.seed(),
        };
        // A failed call is kept with its error.
        let _ = self.reader.complete(Purpose::Probe, request).await;
        let mut call = self.reader.take_calls().pop()?;
        // The conversation is long and every question needs it, so it is moved back instead of
        // copied.
        *messages = std::mem::take(&mut Arc::make_mut(&mut call.request).messages);
        messages.truncate(length);
        Some(call)
    }

    /// Whether the request holds what only memory states: in the system prompt or in what was
    /// retrieved. A context that no provider would take holds nothing.
    fn holds_memory(&self, probe: usize, before: Before<'_>) -> bool {
        let keys = &self.prepared.checks().keys;
        let in_context = || {
            let parts = self.session.view().entries().iter().flat_map(Entry::parts);
            parts
                .filter_map(|(part, _)| part_text(part))
                .any(|text| keys.holds_gold(probe, text))
        };
        let retrieved = match before {
            Before::Retrieved(parts) => parts,
            Before::Context | Before::Given(_) => &[],
        };
        let in_retrieved = || {
            retrieved
                .iter()
                .filter_map(|written| part_text(&written.part))
        };
        !self.is_refused
            && (in_context() || in_retrieved().any(|text| keys.holds_gold(probe, text)))
    }

    fn row(
        &self,
        probe: usize,
        observation: &Observation,
        before: Before<'_>,
        call: Option<Call>,
    ) -> (AnswerRow, Option<Call>) {
        let is_present = |fact: &u32| {
            let fate = observation.fates.0[*fact as usize];
            match before {
                Before::Context => fate.is_present(),
                Before::Given(given) => given.facts.contains(fact),
                Before::Retrieved(parts) => {
                    fate.is_present()
                        || (observation.is_stored(*fact)
                            && holds(&self.prepared.facts, parts, *fact))
                }
            }
        };
        let asked = &self.prepared.checks().keys.probes[probe].row;
        let holds_facts = || !asked.facts.is_empty() && asked.facts.iter().all(is_present);
        let reply = call.as_ref().and_then(|call| call.outcome.as_ref().ok());
        let Graded {
            grade,
            order,
            signs,
        } = reply.map_or(Graded::FAILED, |reply| grade(self.prepared, probe, reply));
        let row = AnswerRow {
            probe: probe as u32,
            after: observation.after,
            prompted: matches!(before, Before::Retrieved(_)),
            present: if asked.memory.is_some() {
                self.holds_memory(probe, before)
            } else {
                holds_facts()
            },
            grade,
            order,
            signs,
            call: None,
            judged: None,
        };
        (row, call)
    }
}
