//! Facts and questions that a user adds to a suite or removes from it: a complaint that something was forgotten becomes a test.
//!
//! Absent on purpose: finding values, which is the importers' job, and wording questions, which is the user's.

use crate::import::foils;
use compactometer_engine::message::part_text;
use compactometer_formats::scenario::{Fact, Probe, Scenario, Speaker, ValueKind};
use compactometer_formats::suite::Suite;
use compactometer_text::exact;
use compactometer_text::matcher::{Matcher, Said, Sought};

use compactometer_engine::message::{Message, MessageId};

/// A value that must not be lost, and the question that it answers.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'w> {
    /// The value, as a message of the conversation states it.
    pub value: &'w str,
    /// The question.
    pub question: &'w str,
    /// The question is asked before the call that follows this message. Defaults to the last message.
    pub asked_after: Option<MessageId>,
}

/// Adds a fact with that value, and a question about it, to a conversation of the suite. Returns the fact's id.
///
/// # Errors
/// [`CurateError`] if no message before the question states the value, or if the question contains it.
pub fn add(suite: &mut Suite, scenario: usize, wanted: Wanted<'_>) -> Result<String, CurateError> {
    let value = wanted.value.trim();
    let (kind, matcher) = sought(value);
    let group = &suite.scenarios[scenario].group_id;
    let elsewhere = suite.scenarios.iter().filter(|other| other.group_id != *group).flat_map(|other| &other.messages);
    let generic = elsewhere.into_iter().any(|message| states(&matcher, message));
    let texts = suite.scenarios.iter().flat_map(|scenario| &scenario.messages).flat_map(|message| &message.parts);
    let foil_values = match generic {
        true => Vec::new(),
        false => foils::make(&[(kind, value)], texts.filter_map(part_text)).remove(0),
    };
    let scenario = &mut suite.scenarios[scenario];
    if let Some(known) = scenario.facts.iter().find(|fact| fact.forms().any(|form| form == value)) {
        return Err(CurateError::Known { value: value.to_owned(), fact: known.id.clone() });
    }
    let evidence = scenario.messages.iter().filter(|message| states(&matcher, message));
    let evidence_message_ids = evidence.map(|message| message.id).collect::<Vec<_>>();
    let Some(first) = scenario.messages.iter().find(|message| evidence_message_ids.first() == Some(&message.id)) else {
        return Err(CurateError::NotStated { value: value.to_owned(), scenario: scenario.id.clone() });
    };
    let id = free_id(scenario.facts.iter().map(|fact| fact.id.as_str()));
    let fact = Fact {
        stated_by: Speaker::from(first.role),
        foil_values,
        generic,
        ..Fact::stated(id, wanted.question, value, kind, evidence_message_ids)
    };
    let id = fact.id.clone();
    scenario.facts.push(fact);
    match ask(scenario, &id, wanted.question, wanted.asked_after) {
        Ok(()) => Ok(id),
        Err(error) => {
            scenario.facts.pop();
            Err(error)
        }
    }
}

/// Adds a question about an existing fact.
///
/// # Errors
/// [`CurateError`] if the fact does not exist or is a decoy, or if the question contains the value, comes before the value is
/// stated, or follows a message that does not exist.
pub fn ask(
    scenario: &mut Scenario,
    fact: &str,
    question: &str,
    asked_after: Option<MessageId>,
) -> Result<(), CurateError> {
    let found = known(scenario, fact)?;
    if let Some(of) = &found.decoy_of {
        return Err(CurateError::Decoy { fact: fact.to_owned(), of: of.clone() });
    }
    if question.trim().is_empty() {
        return Err(CurateError::NoQuestion);
    }
    let matcher = Matcher::new([(Sought { kind: found.value_kind, said: Said::Either }, found.forms())]);
    if matcher.find(question).next().is_some() {
        return Err(CurateError::GivenAway { value: found.value.clone() });
    }
    let last = scenario.messages.last().map(|message| message.id).unwrap_or(MessageId(0));
    let asked_after = asked_after.unwrap_or(last);
    if !scenario.messages.iter().any(|message| message.id == asked_after) {
        return Err(CurateError::NoMessage { message: asked_after.0, last: last.0 });
    }
    if found.evidence_message_ids.iter().all(|id| *id > asked_after) {
        return Err(CurateError::TooEarly { value: found.value.clone(), asked_after: asked_after.0 });
    }
    scenario.probes.push(Probe {
        id: free_id(scenario.probes.iter().map(|probe| probe.id.as_str())),
        fact_ids: vec![fact.to_owned()],
        question: question.trim().to_owned(),
        asked_after,
        gold: None,
        forbidden: Vec::new(),
        abstain_expected: false,
        order: Vec::new(),
    });
    Ok(())
}

/// Removes a fact, its decoys and every question about it. Returns the number of questions removed.
///
/// # Errors
/// [`CurateError`] if the fact does not exist, or if another fact replaces it.
pub fn reject(scenario: &mut Scenario, fact: &str) -> Result<usize, CurateError> {
    known(scenario, fact)?;
    if let Some(newer) = scenario.facts.iter().find(|other| other.supersedes.as_deref() == Some(fact)) {
        return Err(CurateError::Replaced { fact: fact.to_owned(), by: newer.id.clone() });
    }
    let before = scenario.probes.len();
    scenario.facts.retain(|other| other.id != fact && other.decoy_of.as_deref() != Some(fact));
    scenario.probes.retain(|probe| !probe.fact_ids.iter().any(|asked| asked == fact));
    Ok(before - scenario.probes.len())
}

fn known<'s>(scenario: &'s Scenario, fact: &str) -> Result<&'s Fact, CurateError> {
    let ids = || scenario.facts.iter().map(|fact| fact.id.as_str());
    let found = scenario.facts.iter().find(|known| known.id == fact);
    found.ok_or_else(|| CurateError::NoFact(compactometer_text::suggest::unknown("fact", fact, ids())))
}

/// Whether a message of the conversation states the value, as [`add`] requires.
pub fn is_stated(scenario: &Scenario, value: &str) -> bool {
    let (_, matcher) = sought(value.trim());
    scenario.messages.iter().any(|message| states(&matcher, message))
}

fn sought(value: &str) -> (ValueKind, Matcher) {
    let kind = exact::within(value).find(|found| found.value == value).map_or(ValueKind::Free, |found| found.kind);
    (kind, Matcher::new([(Sought { kind, said: Said::Either }, [value])]))
}

fn states(matcher: &Matcher, message: &Message) -> bool {
    message.parts.iter().filter_map(part_text).any(|text| matcher.find(text).next().is_some())
}

/// The first unused id among `added-1`, `added-2` and so on.
fn free_id<'i>(taken: impl Iterator<Item = &'i str> + Clone) -> String {
    let mut number = 1;
    loop {
        let id = format!("added-{number}");
        if !taken.clone().any(|other| other == id) {
            return id;
        }
        number += 1;
    }
}

/// A requested change that is not possible.
#[derive(Debug, thiserror::Error)]
pub enum CurateError {
    /// No message states the value.
    #[error("no message of `{scenario}` states `{value}` as whole words; give it as the conversation writes it")]
    NotStated {
        /// The value.
        value: String,
        /// The conversation.
        scenario: String,
    },
    /// The value is already a fact.
    #[error("`{value}` is already fact `{fact}`; add a question about it with `--accept {fact}`")]
    Known {
        /// The value.
        value: String,
        /// Its fact.
        fact: String,
    },
    /// The fact does not exist; the message suggests a similar id.
    #[error("{0}")]
    NoFact(String),
    /// The fact is a decoy, and questions never ask for decoys.
    #[error("fact `{fact}` is the decoy of `{of}`, and no question may ask for a decoy")]
    Decoy {
        /// The decoy.
        fact: String,
        /// The fact that it is a decoy of.
        of: String,
    },
    /// A newer fact replaces the one to be removed.
    #[error("fact `{fact}` is replaced by `{by}`; reject that one first")]
    Replaced {
        /// The older fact.
        fact: String,
        /// The newer one.
        by: String,
    },
    /// The question is empty.
    #[error("the question is empty; give its text with `--question`")]
    NoQuestion,
    /// The question contains the answer.
    #[error("the question contains the answer `{value}`; reword it")]
    GivenAway {
        /// The value.
        value: String,
    },
    /// The message does not exist.
    #[error("there is no message `{message}`; the last one is `{last}`")]
    NoMessage {
        /// The id that was given.
        message: u32,
        /// The id of the conversation's last message.
        last: u32,
    },
    /// The value is stated only after the question.
    #[error("`{value}` is not yet stated at message `{asked_after}`; ask after a later message")]
    TooEarly {
        /// The value.
        value: String,
        /// The message after which it was to be asked.
        asked_after: u32,
    },
}
