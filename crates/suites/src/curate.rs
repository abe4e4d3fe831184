//! Facts and questions that a user adds to a suite or removes from it: a complaint that something
//! was forgotten becomes a test.
//!
//! Absent on purpose: finding values, which is the importers' job, and wording questions, which is
//! the user's.

use crate::import::foils;
use compactometer_engine::message::part_text;
use compactometer_formats::scenario::{Fact, Probe, Scenario, ValueKind};
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
    /// The question is asked before the call that follows this message. Defaults to the last
    /// message.
    pub asked_after: Option<MessageId>,
}

/// Adds a fact with that value, and a question about it, to a conversation of the suite. Returns
/// the fact's id.
///
/// # Errors
/// [`CurateError`] if no message before the question states the value, or if the question contains
/// it.
pub fn add(suite: &mut Suite, scenario: usize, wanted: Wanted<'_>) -> Result<String, CurateError> {
    let value = wanted.value.trim();
    let (kind, matcher) = sought(value);
    let own = &suite.scenarios[scenario];
    let elsewhere = suite
        .scenarios
        .iter()
        .filter(|other| !other.shares_project(own))
        .flat_map(|other| &other.messages);
    let generic = elsewhere
        .into_iter()
        .any(|message| states(&matcher, message));
    let texts = suite
        .scenarios
        .iter()
        .flat_map(|scenario| &scenario.messages)
        .flat_map(|message| &message.parts);
    let foil_values = match generic {
        true => Vec::new(),
        false => foils::make(&[(kind, value)], texts.filter_map(part_text)).remove(0),
    };
    let scenario = &mut suite.scenarios[scenario];
    if let Some(known) = scenario
        .facts
        .iter()
        .find(|fact| fact.forms().any(|form| form == value))
    {
        let id = known.id.clone();
        return ask(scenario, &id, wanted.question, wanted.asked_after).map(|()| id);
    }
    let evidence = scenario
        .messages
        .iter()
        .filter(|message| states(&matcher, message));
    let evidence_message_ids = evidence.map(|message| message.id).collect::<Vec<_>>();
    let Some(first) = scenario
        .messages
        .iter()
        .find(|message| evidence_message_ids.first() == Some(&message.id))
    else {
        return Err(CurateError(format!(
            "no message of `{}` states `{value}` as whole words; give it as the conversation writes it",
            scenario.id
        )));
    };
    let id = free_id(scenario.facts.iter().map(|fact| fact.id.as_str()));
    let fact = Fact {
        stated_by: scenario.speaker(first),
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
/// [`CurateError`] if the fact does not exist or is a decoy, or if the question contains the value,
/// comes before the value is stated, or follows a message that does not exist.
pub fn ask(
    scenario: &mut Scenario,
    fact: &str,
    question: &str,
    asked_after: Option<MessageId>,
) -> Result<(), CurateError> {
    let found = known(scenario, fact)?;
    let (value, refused) = (&found.value, |why: String| Err(CurateError(why)));
    if let Some(of) = &found.decoy_of {
        return refused(format!(
            "fact `{fact}` is the decoy of `{of}`, and no question may ask for a decoy"
        ));
    }
    if question.trim().is_empty() {
        return refused("the question is empty; give its text with `--question`".to_owned());
    }
    let matcher = Matcher::new([(
        Sought {
            kind: found.value_kind,
            said: Said::Either,
        },
        found.forms(),
    )]);
    if matcher.find(question).next().is_some() {
        return refused(format!(
            "the question contains the answer `{value}`; reword it"
        ));
    }
    let last = scenario
        .messages
        .last()
        .map(|message| message.id)
        .unwrap_or(MessageId(0));
    let asked_after = asked_after.unwrap_or(last);
    if !scenario
        .messages
        .iter()
        .any(|message| message.id == asked_after)
    {
        return refused(format!(
            "there is no message `{}`; the last one is `{}`",
            asked_after.0, last.0
        ));
    }
    if found
        .evidence_message_ids
        .iter()
        .all(|id| *id > asked_after)
    {
        let at = asked_after.0;
        return refused(format!(
            "`{value}` is not yet stated at message `{at}`; ask after a later message"
        ));
    }
    scenario.probes.push(Probe {
        id: free_id(scenario.probes.iter().map(|probe| probe.id.as_str())),
        fact_ids: vec![fact.to_owned()],
        question: question.trim().to_owned(),
        asked_after,
        ..Probe::default()
    });
    Ok(())
}

/// Removes a fact, its decoys and every question about it. Returns the number of questions removed.
///
/// # Errors
/// [`CurateError`] if the fact does not exist, or if another fact replaces it.
pub fn reject(scenario: &mut Scenario, fact: &str) -> Result<usize, CurateError> {
    known(scenario, fact)?;
    if let Some(newer) = scenario
        .facts
        .iter()
        .find(|other| other.supersedes.as_deref() == Some(fact))
    {
        let newer = &newer.id;
        return Err(CurateError(format!(
            "fact `{fact}` is replaced by `{newer}`; reject that one first"
        )));
    }
    let before = scenario.probes.len();
    scenario
        .facts
        .retain(|other| other.id != fact && other.decoy_of.as_deref() != Some(fact));
    scenario
        .probes
        .retain(|probe| !probe.fact_ids.iter().any(|asked| asked == fact));
    Ok(before - scenario.probes.len())
}

fn known<'s>(scenario: &'s Scenario, fact: &str) -> Result<&'s Fact, CurateError> {
    let ids = || scenario.facts.iter().map(|fact| fact.id.as_str());
    let found = scenario.facts.iter().find(|known| known.id == fact);
    found.ok_or_else(|| CurateError(compactometer_text::suggest::unknown("fact", fact, ids())))
}

/// Whether a message of the conversation states the value, as [`add`] requires.
pub fn is_stated(scenario: &Scenario, value: &str) -> bool {
    let (_, matcher) = sought(value.trim());
    scenario
        .messages
        .iter()
        .any(|message| states(&matcher, message))
}

fn sought(value: &str) -> (ValueKind, Matcher) {
    let kind = exact::within(value)
        .find(|found| found.value == value)
        .map_or(ValueKind::Free, |found| found.kind);
    (
        kind,
        Matcher::new([(
            Sought {
                kind,
                said: Said::Either,
            },
            [value],
        )]),
    )
}

fn states(matcher: &Matcher, message: &Message) -> bool {
    message
        .parts
        .iter()
        .filter_map(part_text)
        .any(|text| matcher.find(text).next().is_some())
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

/// A requested change that is not possible, and what to do instead.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct CurateError(String);
