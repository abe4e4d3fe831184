//! The default suite: conversations rendered from skeletons, with statements of facts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use compactometer_engine::message::{Role, part_text};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_formats::scenario::{
    Category, Fact, SaidSentence, Scenario, SentenceKind, Wording,
};
use compactometer_formats::suite::Suite;
use compactometer_suites::embedded::agentic;
use compactometer_text::matcher::Matcher;

static SUITE: LazyLock<Suite> = LazyLock::new(|| agentic().expect("the embedded spec is right"));

fn stated(scenario: &Scenario) -> impl Iterator<Item = &Fact> {
    let facts = scenario.facts.iter();
    facts.filter(|fact| fact.category != Category::Incidental)
}

fn tokens(scenario: &Scenario) -> u32 {
    let messages = scenario.messages.iter();
    let counts = messages.map(|message| Encoding::O200k.count_message(message));
    counts.sum()
}

/// One test, since rendering the suite takes most of its time.
#[test]
fn agentic_keeps_its_promises() {
    // Changing the suite is a deliberate decision: it invalidates every baseline made with it.
    insta::assert_snapshot!(&SUITE.hash()[..16], @"b80f2c19113b5d89");
    lengths_and_sizes_are_those_of_production();
    every_statement_is_in_its_message();
    values_occur_where_they_are_stated_and_nowhere_else();
    wording_gives_no_fact_away();
    every_conversation_states_facts_of_several_speakers_and_asks_for_them();
    users_say_sentences_in_several_wordings_and_take_some_back();
}

fn users_say_sentences_in_several_wordings_and_take_some_back() {
    let (mut kinds, mut reworded, mut few) = (BTreeMap::<_, usize>::new(), 0, 0);
    for scenario in &SUITE.scenarios {
        let first = |said: &&SaidSentence| said.kind != SentenceKind::Correction;
        let count = scenario.said.iter().filter(first).count();
        assert!(count <= 10, "{}", scenario.id);
        // Some users type hardly anything.
        few += usize::from(count < 6);
        for said in &scenario.said {
            *kinds.entry(said.kind).or_default() += 1;
            let texts = said.wordings.iter().map(|wording| &wording.text);
            reworded += usize::from(texts.collect::<BTreeSet<_>>().len() > 1);
            for Wording { said_in, text } in &said.wordings {
                let message = scenario
                    .messages
                    .iter()
                    .find(|message| message.id == *said_in);
                let message = message.expect("it is there");
                let words = message
                    .parts
                    .iter()
                    .filter_map(part_text)
                    .collect::<String>();
                assert!(message.role == Role::User && words.contains(text), "{text}");
                assert!(
                    words.len() < 600,
                    "a longer message counts as pasted: {words}"
                );
            }
            if let Some(end) = said.valid_to {
                let corrects = |other: &&SaidSentence| {
                    other.kind == SentenceKind::Correction && other.wordings[0].said_in == end
                };
                assert!(scenario.said.iter().any(|other| corrects(&other)));
                assert!(said.wordings.iter().all(|wording| wording.said_in < end));
            }
        }
    }
    assert_eq!(kinds.len(), 4);
    assert!(kinds.values().all(|count| *count >= 10), "{kinds:?}");
    assert!(reworded >= 50 && few <= 3, "{reworded} {few}");
}

fn lengths_and_sizes_are_those_of_production() {
    let header = &SUITE.header;
    assert_eq!(
        (header.window, header.retained),
        (Some(128_000), Some(3_000))
    );
    let lengths: Vec<u32> = SUITE.scenarios.iter().map(tokens).collect();
    assert_eq!(lengths.len(), 24);
    assert!(
        lengths
            .iter()
            .all(|length| (130_000..=1_000_000).contains(length)),
        "{lengths:?}"
    );
    let long = lengths.iter().filter(|length| **length >= 300_000).count();
    assert!((7..=9).contains(&long), "{lengths:?}");
}

fn every_statement_is_in_its_message() {
    for scenario in &SUITE.scenarios {
        for fact in stated(scenario) {
            let value = Matcher::new([(fact.sought(), fact.forms())]);
            assert!(!fact.evidence_message_ids.is_empty(), "{}", fact.id);
            for id in &fact.evidence_message_ids {
                let mut messages = scenario.messages.iter();
                let message = messages
                    .find(|message| message.id == *id)
                    .expect("is there");
                let mut texts = message.parts.iter().filter_map(part_text);
                assert!(
                    texts.any(|text| value.find(text).next().is_some()),
                    "{}",
                    fact.id
                );
            }
        }
    }
}

/// No message but those that state a fact holds its value, and none holds a foil.
fn values_occur_where_they_are_stated_and_nowhere_else() {
    for scenario in &SUITE.scenarios {
        let facts: Vec<&Fact> = stated(scenario)
            .filter(|fact| fact.value.len() > 4)
            .collect();
        let values = Matcher::new(facts.iter().map(|fact| (fact.sought(), fact.forms())));
        let foils = Matcher::new(facts.iter().flat_map(|fact| {
            let foils = fact.foil_values.iter();
            foils.map(|foil| (fact.sought(), [foil.as_str()]))
        }));
        for message in &scenario.messages {
            for text in message.parts.iter().filter_map(part_text) {
                for found in values.find(text) {
                    let evidence = &facts[found].evidence_message_ids;
                    assert!(
                        evidence.contains(&message.id),
                        "{} in {}",
                        facts[found].value,
                        message.id.0
                    );
                }
                assert_eq!(
                    foils.find(text).count(),
                    0,
                    "{} {}",
                    scenario.id,
                    message.id.0
                );
            }
        }
    }
}

/// Who keeps whatever is worded as a fact would keep several times as much that is none, and more
/// than a compaction may leave.
fn wording_gives_no_fact_away() {
    let (mut facts, mut all) = (0, 0);
    let plain = {
        let spec = include_str!("../../../../datasets/agentic.toml");
        let end = spec.find("[statements]").expect("has the table");
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/plain.toml");
        compactometer_suites::SuiteSpec::parse(&spec[..end], &path)
            .and_then(|spec| spec.suite())
            .expect("is rendered")
    };
    for (with, without) in SUITE.scenarios.iter().zip(&plain.scenarios) {
        all += tokens(with) - tokens(without);
        let statements = stated(with).map(|fact| fact.evidence_message_ids.len());
        facts += statements.sum::<usize>();
    }
    // A statement has some 20 tokens.
    let of_facts = 20 * facts as u32;
    assert!(
        all > 4 * of_facts,
        "{all} tokens of statements, {of_facts} of facts"
    );
}

fn every_conversation_states_facts_of_several_speakers_and_asks_for_them() {
    let mut categories = BTreeMap::new();
    for scenario in &SUITE.scenarios {
        let speakers: BTreeSet<_> = stated(scenario).map(|fact| fact.stated_by).collect();
        assert!(speakers.len() == 3, "{} {speakers:?}", scenario.id);
        assert!(
            scenario.probes.len() >= 8,
            "{} {}",
            scenario.id,
            scenario.probes.len()
        );
        for fact in stated(scenario).filter(|fact| fact.decoy_of.is_none()) {
            *categories.entry(fact.category).or_insert(0) += 1;
        }
    }
    assert!(categories.len() >= 12, "{categories:?}");
}
