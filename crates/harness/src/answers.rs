//! Answer recall: one call per probe on a copy of the session, at the probe's point and never again (MEASUREMENT section 3).
//! Nothing of it returns: the session is borrowed, and its meter does not see the calls.
//!
//! The request is what the agent would be sent next, then a user turn with the question; where the strategy retrieves something
//! for the question, a second request has that before the question. It is sent also where it exceeds the window. Absent on purpose:
//! questions about facts outside the headline set, which any tail answers, and about generic values, which prove nothing.

use compactometer_engine::message::{Part, Role};
use compactometer_engine::meter::{Call, Metered, Purpose};
use compactometer_engine::model::{ChatRequest, WireMessage};
use compactometer_engine::session::Session;
use compactometer_engine::view::WrittenPart;
use compactometer_schema::answer::AnswerRow;
use compactometer_schema::fate::Fate;
use compactometer_schema::record::Observation;

use crate::grade::{Graded, grade};
use crate::loaded::Loaded;
use crate::prompted::holds;

/// What is said after the conversation.
const PROMPT: &str = include_str!("answers.md");

/// Most tokens of an answer: one short line, and room for a sentence that holds it.
const MOST_TOKENS: u32 = 96;

/// What of the asking is part of a case's identity.
pub(crate) const IDENTITY: (&str, u32) = (PROMPT, MOST_TOKENS);

/// One point of a case at which questions are asked.
pub(crate) struct Asking<'a> {
    pub(crate) loaded: &'a Loaded,
    pub(crate) session: &'a Session<'a>,
    /// The meter of the answers alone.
    pub(crate) reader: &'a Metered<'a>,
    /// Most tokens that may be retrieved for one question.
    pub(crate) room: u32,
    /// Whether a provider would refuse the next request.
    pub(crate) is_refused: bool,
}

impl Asking<'_> {
    /// The answers to the probes of that point, with their calls; `observation` is what was seen there.
    pub(crate) async fn ask(&self, observation: &Observation) -> Vec<(AnswerRow, Option<Call>)> {
        let due: Vec<usize> =
            (0..self.loaded.scenario.probes.len()).filter(|probe| self.is_due(*probe, observation)).collect();
        if due.is_empty() {
            return Vec::new();
        }
        let questions: Vec<&str> =
            due.iter().map(|probe| self.loaded.scenario.probes[*probe].question.as_str()).collect();
        let mut messages = self.session.view().to_wire();
        let mut answers = Vec::new();
        for (probe, question) in due.iter().zip(&questions) {
            let call = self.answer(&mut messages, question, &[]).await;
            answers.push(self.book(*probe, observation, None, call));
        }
        let retrieved = self.session.retrieve(&questions, self.room).await;
        for ((probe, question), parts) in due.iter().zip(&questions).zip(&retrieved) {
            if !parts.is_empty() {
                let call = self.answer(&mut messages, question, parts).await;
                answers.push(self.book(*probe, observation, Some(parts), call));
            }
        }
        answers
    }

    fn is_due(&self, probe: usize, observation: &Observation) -> bool {
        let (asked, row) = (&self.loaded.scenario.probes[probe], &self.loaded.keys.probes[probe].row);
        let counts =
            |fact: &u32| observation.eligible.contains(fact) && !self.loaded.scenario.facts[*fact as usize].generic;
        asked.asked_after == observation.after
            && (row.abstain_expected || (!row.facts.is_empty() && row.facts.iter().all(counts)))
    }

    /// One call; `messages` are the same afterwards. None where no provider would take the request.
    async fn answer(&self, messages: &mut Vec<WireMessage>, question: &str, parts: &[WrittenPart]) -> Option<Call> {
        if self.is_refused || !self.session.view().open_calls().is_empty() {
            return None;
        }
        let length = messages.len();
        let user = |parts| WireMessage { role: Role::User, parts };
        if !parts.is_empty() {
            messages.push(user(parts.iter().map(|written| written.part.clone()).collect()));
        }
        messages.push(user(vec![Part::Text { text: PROMPT.trim_end().replace("{question}", question) }]));
        let request = ChatRequest {
            messages: std::mem::take(messages),
            tools: Vec::new(),
            max_output_tokens: Some(MOST_TOKENS),
            temperature: Some(0.0),
            schema: None,
            seed: self.reader.seed(),
        };
        // A failed call is kept with its error.
        let _ = self.reader.complete(Purpose::Probe, request).await;
        let mut call = self.reader.take_calls().pop()?;
        // The conversation is long and asked about often, so it is taken back and not copied.
        *messages = std::mem::take(&mut call.request.messages);
        messages.truncate(length);
        Some(call)
    }

    fn book(
        &self,
        probe: usize,
        observation: &Observation,
        retrieved: Option<&Vec<WrittenPart>>,
        call: Option<Call>,
    ) -> (AnswerRow, Option<Call>) {
        let is_present = |fact: &u32| {
            let fate = observation.fates.0[*fact as usize];
            let finds = |parts: &Vec<WrittenPart>| holds(&self.loaded.facts, parts, *fact);
            fate.is_present() || (fate == Fate::StoredOnly && retrieved.is_some_and(finds))
        };
        let reply = call.as_ref().and_then(|call| call.outcome.as_ref().ok());
        let Graded { grade, order, signs } = reply.map_or(Graded::FAILED, |reply| grade(self.loaded, probe, reply));
        let row = AnswerRow {
            probe: probe as u32,
            after: observation.after,
            prompted: retrieved.is_some(),
            present: self.loaded.keys.probes[probe].row.facts.iter().all(is_present),
            grade,
            order,
            signs,
            call: None,
            judged: None,
        };
        (row, call)
    }
}
