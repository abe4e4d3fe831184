//! Questions that a format brings: their places in a file become messages, and their answers facts
//! and probes.
//!
//! An answer becomes a fact only if its evidence contains it word for word. All other questions are
//! asked as well and have only the right answer. Questions come after the last message.

use std::collections::BTreeSet;

use compactometer_engine::message::{Message, MessageId, part_text};
use compactometer_formats::scenario::{Fact, Probe, Scenario, ValueKind};
use compactometer_text::matcher::Matcher;

use super::place::Place;
use super::session::ImportedQuestion;

/// Longest answer that becomes a fact, in characters.
const LONGEST: usize = 1_000;

/// The messages at each place, which are those that the scenario gets.
pub(super) type MessagePlaces = Vec<(Place, MessageId)>;

/// Adds the questions to a scenario.
pub(super) fn add(
    questions: Vec<ImportedQuestion>,
    places: &MessagePlaces,
    scenario: &mut Scenario,
) {
    let Some(asked_after) = scenario.messages.last().map(|message| message.id) else {
        return;
    };
    for (number, question) in (1..).zip(questions) {
        let fact = fact(format!("a{number}"), &question, places, &scenario.messages);
        scenario.probes.push(Probe {
            id: format!("q{number}"),
            fact_ids: fact.iter().map(|fact| fact.id.clone()).collect(),
            question: question.text,
            asked_after,
            gold: question.gold,
            forbidden: question.forbidden,
            abstain_expected: question.abstains,
            order: Vec::new(),
            memory: None,
        });
        scenario.facts.extend(fact);
    }
}

fn fact(
    id: String,
    question: &ImportedQuestion,
    places: &MessagePlaces,
    messages: &[Message],
) -> Option<Fact> {
    let value = question
        .gold
        .as_ref()
        .filter(|gold| gold.chars().count() <= LONGEST)?;
    let kind = if value.bytes().all(|byte| byte.is_ascii_digit()) {
        ValueKind::Number
    } else {
        ValueKind::Free
    };
    let matcher = Matcher::new([(kind, [value.as_str()])]);
    let named = places
        .iter()
        .filter(|(place, _)| question.evidence.contains(place))
        .map(|(_, id)| *id);
    let named = named.collect::<BTreeSet<_>>();
    let states = |message: &&Message| {
        named.contains(&message.id)
            && message
                .parts
                .iter()
                .filter_map(part_text)
                .any(|text| matcher.find(text).next().is_some())
    };
    let stating = messages.iter().filter(states).collect::<Vec<_>>();
    let stated_by = stating.first()?.role.into();
    let evidence = stating.iter().map(|message| message.id).collect();
    Some(Fact {
        stated_by,
        ..Fact::stated(id, question.text.clone(), value.clone(), kind, evidence)
    })
}
