//! Prompted probes: what a strategy retrieves for the questions about eligible facts, and whether context and retrieved text
//! hold the value together (MEASUREMENT section 3). Only questions reach the strategy, and nothing returns to the session.
//!
//! Absent on purpose: answers, which stand in [`crate::answers`]. No model is called here.

use compactometer_engine::session::Session;
use compactometer_engine::tokens::TokenCounter;
use compactometer_engine::view::WrittenPart;
use compactometer_schema::fate::Fate;
use compactometer_schema::matcher::{Matcher, part_text};
use compactometer_schema::record::{Observation, Prompted};

use crate::loaded::Loaded;
use crate::random::ChanceCounts;

/// One observation's questions and the session that is asked.
pub(crate) struct Prompt<'p> {
    pub(crate) loaded: &'p Loaded,
    pub(crate) session: &'p Session<'p>,
    pub(crate) counter: &'p dyn TokenCounter,
    /// Most tokens that may be retrieved for one question.
    pub(crate) room: u32,
    /// Foreign facts that match in what the view carries.
    pub(crate) foreign: &'p [u32],
}

impl Prompt<'_> {
    /// Asks for every eligible fact that has a question, and books what was found.
    pub(crate) async fn ask(&self, observation: &mut Observation) {
        let question = |fact: &u32| {
            let probe = self.loaded.asked_by[*fact as usize]?;
            Some((*fact, self.loaded.scenario.probes[probe].question.as_str()))
        };
        let (asked, questions): (Vec<u32>, Vec<&str>) = observation.eligible.iter().filter_map(question).unzip();
        if questions.is_empty() {
            return;
        }
        let retrieved = self.session.retrieve(&questions, self.room).await;
        observation.asked = asked;
        if !retrieved.is_empty() {
            observation.prompted = Some(self.book(observation, &retrieved));
        }
    }

    fn book(&self, observation: &Observation, retrieved: &[Vec<WrittenPart>]) -> Prompted {
        let mut found = Vec::new();
        let mut tokens = 0;
        let mut chance = ChanceCounts::new(self.loaded);
        for (fact, parts) in observation.asked.iter().zip(retrieved) {
            let fate = observation.fates.0[*fact as usize];
            // Of a fact that no store holds, a match is luck.
            if fate.is_present() || (fate == Fate::StoredOnly && holds(&self.loaded.facts, parts, *fact)) {
                found.push(*fact);
            }
            tokens += parts.iter().map(|written| u64::from(self.counter.count_part(&written.part))).sum::<u64>();
            let foreign = texts(parts).flat_map(|text| self.loaded.foreign.find(text)).map(|fact| fact as u32);
            chance.add(self.foreign.iter().copied().chain(foreign));
        }
        Prompted { found, tokens, chance: chance.cells() }
    }
}

/// Whether any of the parts holds the fact.
pub(crate) fn holds(facts: &Matcher, parts: &[WrittenPart], fact: u32) -> bool {
    texts(parts).any(|text| facts.find(text).any(|item| item as u32 == fact))
}

fn texts(parts: &[WrittenPart]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(|written| part_text(&written.part))
}
