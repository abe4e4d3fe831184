//! A whole suite made ready. Each scenario also gets facts of other scenarios: what matches of them is a chance match.

use compactometer_engine::message::part_text;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::scenario::{Fact, Scenario};
use compactometer_text::matcher::Matcher;

use super::PreparedScenario;

/// How many foreign scenarios give facts to each case. With fewer there is no chance rate.
const FOREIGN_SCENARIOS: usize = 5;

/// Makes every scenario ready.
pub(crate) fn prepare_all(
    scenarios: Vec<Scenario>,
    suite_hash: &str,
    counter: &dyn TokenCounter,
) -> Vec<PreparedScenario> {
    let facts = scenarios.iter().map(FactsOf::new).collect::<Vec<_>>();
    // Conversations are moved, since a copy of a large suite would double the memory.
    let with_own = scenarios.into_iter().zip(&facts);
    let prepare = |(scenario, own): (Scenario, _)| {
        let foreign = foreign_scenarios(own, &facts, suite_hash);
        let facts = unshared(&foreign, &scenario);
        let mut prepared = PreparedScenario::new(scenario, &facts, counter);
        prepared.foreign_scenarios = foreign.iter().map(|other| other.id.clone()).collect();
        prepared
    };
    with_own.map(prepare).collect()
}

/// Their facts, except what both conversations state because they are of one project. Such a value is no matter of chance.
fn unshared<'s>(foreign: &[&'s FactsOf], own: &Scenario) -> Vec<&'s Fact> {
    let is_related =
        |other: &&&FactsOf| own.projects().any(|project| other.projects.iter().any(|known| known == project));
    let (related, unrelated): (Vec<&FactsOf>, Vec<_>) = foreign.iter().partition(is_related);
    let related = related.into_iter().flat_map(|other| &other.facts).collect::<Vec<_>>();
    let matcher = Matcher::new(related.iter().map(|fact| (fact.sought(), fact.forms())));
    let mut stated = vec![false; related.len()];
    let texts = own.messages.iter().flat_map(|message| &message.parts).filter_map(part_text);
    texts.for_each(|text| matcher.mark(text, &mut stated));
    let of_related = related.into_iter().zip(stated).filter(|(_, stated)| !stated).map(|(fact, _)| fact);
    unrelated.into_iter().flat_map(|other| &other.facts).chain(of_related).collect()
}

/// What one scenario offers to others.
struct FactsOf {
    id: String,
    group: String,
    projects: Vec<String>,
    facts: Vec<Fact>,
}

impl FactsOf {
    fn new(scenario: &Scenario) -> Self {
        let ranked = scenario.facts.iter().filter(|fact| fact.decoy_of.is_none() && !fact.generic);
        let projects = scenario.projects().map(str::to_owned).collect();
        let (id, group) = (scenario.id.clone(), scenario.group_id.clone());
        FactsOf { id, group, projects, facts: ranked.cloned().collect() }
    }
}

/// Scenarios of other groups, which the suite's hash chooses. There are none if too few exist.
fn foreign_scenarios<'s>(own: &FactsOf, all: &'s [FactsOf], suite_hash: &str) -> Vec<&'s FactsOf> {
    // Kept short and sorted, since a large suite has a hundred million pairs.
    let mut first: Vec<([u8; 32], &FactsOf)> = Vec::with_capacity(FOREIGN_SCENARIOS + 1);
    let mut text = format!("{suite_hash}/{}/", own.id);
    let start = text.len();
    for other in all.iter().filter(|other| other.group != own.group) {
        text.truncate(start);
        text.push_str(&other.id);
        let hash = *blake3::hash(text.as_bytes()).as_bytes();
        let place = first.partition_point(|(known, _)| *known <= hash);
        if place < FOREIGN_SCENARIOS {
            first.insert(place, (hash, other));
            first.truncate(FOREIGN_SCENARIOS);
        }
    }
    if first.len() < FOREIGN_SCENARIOS { Vec::new() } else { first.into_iter().map(|(_, other)| other).collect() }
}
