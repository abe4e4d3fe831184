//! Facts of other scenarios of a suite: what matches of them is a chance match.

use std::sync::{Arc, OnceLock};

use compactometer_engine::message::part_text;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::scenario::{Fact, Scenario};
use compactometer_text::matcher::Matcher;

use super::Checks;
use super::checkers::Stated;

/// How many foreign scenarios give facts to each case. With fewer there is no chance rate.
const FOREIGN_SCENARIOS: usize = 5;

/// The conversations of a suite, as those from which foreign facts come.
pub(super) struct ForeignPool {
    pub(super) suite_hash: String,
    /// All of them, set when the last one is ready.
    pub(super) scenarios: OnceLock<Vec<Arc<Scenario>>>,
}

impl ForeignPool {
    /// The checks of one of its scenarios.
    pub(super) fn checks(&self, found: &Stated<'_>, counter: &dyn TokenCounter) -> Checks {
        let foreign = self.foreign_to(found.scenario);
        let checks = Checks::new(found, &unshared(&foreign, found), counter);
        Checks {
            foreign_scenarios: foreign.iter().map(|other| other.id.clone()).collect(),
            ..checks
        }
    }

    /// Scenarios of other groups, which the suite's hash chooses. There are none if too few exist.
    fn foreign_to(&self, own: &Scenario) -> Vec<&Scenario> {
        // Kept short and sorted, since a large suite has a hundred million pairs.
        let mut first: Vec<([u8; 32], &Scenario)> = Vec::with_capacity(FOREIGN_SCENARIOS + 1);
        let mut text = format!("{}/{}/", self.suite_hash, own.id);
        let start = text.len();
        let all = self.scenarios.get().into_iter().flatten();
        for other in all.filter(|other| other.group_id != own.group_id) {
            text.truncate(start);
            text.push_str(&other.id);
            let hash = *blake3::hash(text.as_bytes()).as_bytes();
            let place = first.partition_point(|(known, _)| *known <= hash);
            if place < FOREIGN_SCENARIOS {
                first.insert(place, (hash, other));
                first.truncate(FOREIGN_SCENARIOS);
            }
        }
        if first.len() < FOREIGN_SCENARIOS {
            Vec::new()
        } else {
            first.into_iter().map(|(_, other)| other).collect()
        }
    }
}

/// What scenarios offer to others.
fn offered(scenarios: Vec<&Scenario>) -> impl Iterator<Item = &Fact> {
    let facts = scenarios.into_iter().flat_map(|scenario| &scenario.facts);
    facts.filter(|fact| fact.decoy_of.is_none() && !fact.generic)
}

/// Their facts, except what both conversations state because they are of one project. Such a value
/// is no matter of chance.
fn unshared<'s>(foreign: &[&'s Scenario], own: &Stated<'_>) -> Vec<&'s Fact> {
    let (related, unrelated) = foreign
        .iter()
        .copied()
        .partition(|other| share_a_project(own.scenario, other));
    let related = offered(related).collect::<Vec<_>>();
    let matcher = Matcher::new(related.iter().map(|fact| (fact.sought(), fact.forms())));
    let mut stated = vec![false; related.len()];
    let texts = own
        .messages
        .iter()
        .flat_map(|counted| &counted.message.parts)
        .filter_map(part_text);
    texts.for_each(|text| matcher.mark(text, &mut stated));
    let of_related = related
        .into_iter()
        .zip(stated)
        .filter(|(_, stated)| !stated)
        .map(|(fact, _)| fact);
    offered(unrelated).chain(of_related).collect()
}

fn share_a_project(one: &Scenario, other: &Scenario) -> bool {
    one.projects()
        .any(|project| other.projects().any(|known| known == project))
}
