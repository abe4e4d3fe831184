//! Properties of any suite, however it was made: checks of its questions and texts before any
//! strategy runs.
//!
//! Each property is one file and one line in `all`. Absent on purpose: strategies, models, records.
//! Properties are computed from the suite only.

mod closed_book;
mod decoys;
mod held_out;
mod overlap;
mod passages;
mod tools;

use compactometer_formats::property::Property;
use compactometer_formats::scenario::Scenario;
use compactometer_formats::suite::Suite;

use crate::walk::Walk;

/// Measures one property of conversations that it is shown one after the other.
trait PropertyMeasure {
    /// Takes the next conversation.
    fn add(&mut self, scenario: &Scenario);

    /// Whether every conversation must be shown once more, to [`PropertyMeasure::compare`].
    fn compares(&self) -> bool {
        false
    }

    /// Compares a conversation with what all of them have.
    fn compare(&mut self, _: &Scenario) {}

    /// What the conversations have.
    fn measure(&self) -> Property;
}

/// Every property, in the order of reports.
fn all() -> [Box<dyn PropertyMeasure>; 6] {
    [
        Box::new(closed_book::Questions::default()),
        Box::new(overlap::Overlap::default()),
        Box::new(decoys::Tally::default()),
        Box::new(passages::Passages::default()),
        Box::new(held_out::HeldOut::default()),
        Box::new(tools::Declared::default()),
    ]
}

/// Measures every property of the suite.
pub fn measure(suite: &Suite) -> Vec<Property> {
    let Ok(found) = measure_all(&mut suite.scenarios.as_slice());
    found
}

/// Measures every property of conversations that need not be in memory together.
///
/// # Errors
/// Those of the walk.
pub fn measure_all<W: Walk>(conversations: &mut W) -> Result<Vec<Property>, W::Error> {
    let mut all = all();
    conversations.walk(&mut |scenario| all.iter_mut().for_each(|measure| measure.add(scenario)))?;
    if all.iter().any(|measure| measure.compares()) {
        conversations
            .walk(&mut |scenario| all.iter_mut().for_each(|measure| measure.compare(scenario)))?;
    }
    Ok(all.iter().map(|measure| measure.measure()).collect())
}

#[cfg(test)]
pub(crate) mod tests {
    use compactometer_engine::message::{Message, MessageId, Part, Role};
    use compactometer_formats::scenario::{Category, Fact, Probe, Scenario, Split, ValueKind};
    use compactometer_formats::suite::{Header, Suite};

    use super::{PropertyMeasure, measure};

    /// One property of a suite.
    pub(in crate::properties) fn measured<M: PropertyMeasure + Default>(
        suite: &Suite,
    ) -> compactometer_formats::property::Property {
        let mut measure = M::default();
        suite
            .scenarios
            .iter()
            .for_each(|scenario| measure.add(scenario));
        suite
            .scenarios
            .iter()
            .for_each(|scenario| measure.compare(scenario));
        measure.measure()
    }

    /// A suite of conversations of one message each, given as group and text.
    pub(crate) fn suite(texts: &[(&str, &str)]) -> Suite {
        let scenario = |(at, (group, text)): (usize, &(&str, &str))| Scenario {
            id: format!("{group}-{at}"),
            group_id: (*group).to_owned(),
            projects: Vec::new(),
            version: 1,
            seed: None,
            source: "test".to_owned(),
            licence: None,
            split: Split::Dev,
            tools: Vec::new(),
            messages: vec![Message {
                id: MessageId(1),
                role: Role::User,
                at_ms: None,
                parts: vec![Part::Text {
                    text: (*text).to_owned(),
                }],
                usage: None,
            }],
            compactions: Vec::new(),
            shaped_after: None,
            log: Default::default(),
            unmeasured: Vec::new(),
            directories: Vec::new(),
            reattached: None,
            memory_notes: Vec::new(),
            said: Vec::new(),
            facts: Vec::new(),
            probes: Vec::new(),
        };
        let scenarios = texts.iter().enumerate().map(scenario).collect();
        Suite {
            header: Header::new("tiny", None, Vec::new()),
            scenarios,
        }
    }

    pub(crate) fn fact(id: &str, value: &str) -> Fact {
        Fact {
            category: Category::Decision,
            ..Fact::stated(id, "the gate", value, ValueKind::Free, vec![MessageId(1)])
        }
    }

    pub(crate) fn probe(fact: &str, question: &str, gold: &str) -> Probe {
        Probe {
            id: format!("p-{fact}"),
            fact_ids: vec![fact.to_owned()],
            question: question.to_owned(),
            asked_after: MessageId(1),
            gold: Some(gold.to_owned()),
            forbidden: Vec::new(),
            abstain_expected: false,
            order: Vec::new(),
            memory: None,
        }
    }

    #[test]
    fn a_suite_without_facts_has_no_verdict_and_no_violation() {
        let found = measure(&suite(&[("a", "hello")]));
        assert_eq!(found.len(), super::all().len());
        assert!(
            found
                .iter()
                .all(|property| property.value.is_none() && property.passed.is_none())
        );
    }
}
