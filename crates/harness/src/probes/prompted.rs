//! Prompted probes: what a strategy retrieves for the questions about eligible facts, and whether
//! context and retrieved text together hold the value. Only questions reach the strategy, and
//! nothing returns to the session.
//!
//! Absent on purpose: answers ([`super::answers`]). No model is called here.

use std::collections::{BTreeMap, BTreeSet};

use compactometer_engine::message::part_text;
use compactometer_engine::session::Session;
use compactometer_engine::tokens::TokenCounter;
use compactometer_engine::view::WrittenPart;
use compactometer_formats::record::{Observation, Prompted};
use compactometer_text::matcher::Matcher;

use crate::prepare::PreparedScenario;
use crate::trace::ChanceCounts;

/// What a strategy retrieves for the questions of a point. It is asked once for both uses: prompted
/// recall and answers.
#[derive(Default)]
pub(crate) struct Retrieved(BTreeMap<usize, Vec<WrittenPart>>);

impl Retrieved {
    /// Retrieves for those probes, at most `room` tokens each.
    pub(crate) async fn new(
        prepared: &PreparedScenario,
        session: &Session<'_>,
        room: u32,
        probes: impl Iterator<Item = usize>,
    ) -> Self {
        let probes = probes.collect::<BTreeSet<_>>();
        if probes.is_empty() {
            return Retrieved::default();
        }
        let questions = probes
            .iter()
            .map(|probe| prepared.scenario.probes[*probe].question.as_str())
            .collect::<Vec<_>>();
        let found = session.retrieve(&questions, room).await;
        Retrieved(probes.into_iter().zip(found).collect())
    }

    /// What was found for a probe's question.
    pub(crate) fn parts(&self, probe: usize) -> &[WrittenPart] {
        self.0.get(&probe).map_or(&[], Vec::as_slice)
    }
}

/// The eligible facts of an observation that have a question, with its probe; none where nothing is
/// asked.
pub(crate) fn asked(
    prepared: &PreparedScenario,
    observation: &Observation,
) -> impl Iterator<Item = (u32, usize)> {
    let mut probes = prepared.scenario.probes.iter();
    let is_asked = probes.any(|probe| probe.asked_after == observation.after);
    let eligible = observation.eligible.iter().filter(move |_| is_asked);
    eligible.filter_map(|fact| Some((*fact, prepared.asked_by[*fact as usize]?)))
}

/// One observation's questions and what was found for them.
pub(crate) struct PromptedQuestions<'p> {
    pub(crate) prepared: &'p PreparedScenario,
    pub(crate) counter: &'p dyn TokenCounter,
    pub(crate) retrieved: &'p Retrieved,
    /// Foreign facts that match in what the view carries.
    pub(crate) foreign: &'p [u32],
}

impl PromptedQuestions<'_> {
    /// Records what was found for every eligible fact that has a question.
    pub(crate) fn book(&self, observation: &mut Observation) {
        let (asked, probes): (Vec<u32>, Vec<usize>) = asked(self.prepared, observation).unzip();
        observation.asked = asked;
        // A strategy that has nothing to search returns no lists at all.
        if !self.retrieved.0.is_empty() && !probes.is_empty() {
            let retrieved = probes
                .into_iter()
                .map(|probe| self.retrieved.parts(probe))
                .collect::<Vec<_>>();
            observation.prompted = Some(self.prompted(observation, &retrieved));
        }
    }

    fn prompted(&self, observation: &Observation, retrieved: &[&[WrittenPart]]) -> Prompted {
        let mut found = Vec::new();
        let mut tokens = 0;
        let mut chance = ChanceCounts::new(self.prepared);
        for (fact, parts) in observation.asked.iter().zip(retrieved) {
            let fate = observation.fates.0[*fact as usize];
            // If no store holds the fact, a match is a chance match.
            if fate.is_present()
                || (observation.is_stored(*fact) && holds(&self.prepared.facts, parts, *fact))
            {
                found.push(*fact);
            }
            tokens += self.tokens(parts);
            let sought = texts(parts).filter(|_| !self.prepared.checks().foreign.is_empty());
            let foreign = sought
                .flat_map(|text| self.prepared.checks().foreign.find(text))
                .map(|fact| fact as u32);
            chance.add(self.foreign.iter().copied().chain(foreign));
        }
        Prompted {
            found,
            tokens,
            chance: chance.cells(),
        }
    }

    fn tokens(&self, parts: &[WrittenPart]) -> u64 {
        let counted = parts
            .iter()
            .map(|written| self.counter.count_part(&written.part));
        counted.map(u64::from).sum()
    }
}

/// Whether any of the parts holds the fact.
pub(crate) fn holds(facts: &Matcher, parts: &[WrittenPart], fact: u32) -> bool {
    texts(parts).any(|text| facts.find(text).any(|item| item as u32 == fact))
}

fn texts(parts: &[WrittenPart]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(|written| part_text(&written.part))
}
