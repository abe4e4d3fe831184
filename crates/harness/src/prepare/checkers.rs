//! What a replay checks texts and answers with.

use std::sync::Arc;

use compactometer_engine::tokens::{CountedMessage, TokenCounter};
use compactometer_formats::scenario::{Fact, Scenario, ValueKind};
use compactometer_text::matcher::Matcher;

use super::answer_keys::AnswerKeys;
use super::{Bindings, Lists, Segments, Surroundings};

/// What a replay checks texts and answers with: whether a match of a value is its fact, another
/// value's, or chance.
#[derive(Default)]
pub struct Checks {
    /// What answers to the probes are compared with.
    pub(crate) keys: AnswerKeys,
    /// Finds the foils of all facts.
    pub foils: Matcher,
    /// Finds the facts of foreign scenarios: each match is a chance match.
    pub foreign: Matcher,
    /// The foreign scenarios.
    pub foreign_scenarios: Vec<String>,
    /// The value kind of each foreign fact.
    pub foreign_kinds: Vec<ValueKind>,
    /// Which subjects the values belong to; absent if no fact has a subject.
    pub bindings: Option<Bindings>,
    /// What is said around values without a subject; absent if facts have subjects.
    pub surroundings: Option<Surroundings>,
    /// The conversation cut into pieces, for random contexts.
    pub segments: Segments,
}

/// A conversation and where its facts are stated.
pub(super) struct Stated<'f> {
    pub(super) scenario: &'f Scenario,
    pub(super) messages: &'f [Arc<CountedMessage>],
    pub(super) facts: &'f Matcher,
    pub(super) mentions: &'f [Vec<usize>],
    pub(super) stated_in: &'f Lists,
}

impl Checks {
    /// `foreign` are facts of scenarios of other groups.
    pub(super) fn new(found: &Stated<'_>, foreign: &[&Fact], counter: &dyn TokenCounter) -> Self {
        let &Stated {
            scenario,
            messages,
            facts,
            mentions,
            stated_in,
        } = found;
        let rows = &scenario.facts;
        let foreign_kinds = foreign.iter().map(|fact| fact.value_kind).collect();
        let foreign = Matcher::new(foreign.iter().map(|fact| (fact.sought(), fact.forms())));
        let bindings = Bindings::new(rows, messages, mentions);
        Checks {
            keys: AnswerKeys::new(scenario, facts),
            foils: foils(rows),
            foreign_scenarios: Vec::new(),
            foreign_kinds,
            segments: Segments::new(
                messages,
                stated_in,
                bindings.as_ref(),
                (facts, &foreign),
                counter,
            ),
            foreign,
            bindings,
            surroundings: Surroundings::new(rows, messages, facts, mentions, stated_in),
        }
    }
}

fn foils(facts: &[Fact]) -> Matcher {
    Matcher::new(facts.iter().flat_map(|fact| {
        let foils = fact.foil_values.iter();
        foils.map(|foil| (fact.sought(), [foil.as_str()]))
    }))
}
