//! Whether subjects or values of the test split occur in another split.

use compactometer_engine::message::part_text;
use compactometer_formats::property::Property;
use compactometer_formats::scenario::{Fact, Scenario, Split, ValueKind};
use compactometer_text::code::code;
use compactometer_text::matcher::Matcher;

use super::PropertyMeasure;

/// Share of the test split's facts whose subject or value occurs in a conversation of another
/// split.
#[derive(Default)]
pub(super) struct HeldOut {
    facts: Vec<SoughtWords>,
    /// Conversations of the test split, and of the others.
    test: usize,
    others: usize,
    /// Finds the subjects and then the values; made once all facts are known.
    matcher: Option<Matcher>,
    present: Vec<bool>,
}

struct SoughtWords {
    subject: String,
    kind: ValueKind,
    value: String,
    forms: Vec<String>,
}

impl PropertyMeasure for HeldOut {
    fn add(&mut self, scenario: &Scenario) {
        if scenario.split != Split::Test {
            self.others += 1;
            return;
        }
        self.test += 1;
        self.facts
            .extend(scenario.facts.iter().map(SoughtWords::new));
    }

    fn compares(&self) -> bool {
        self.others > 0 && !self.facts.is_empty()
    }

    fn compare(&mut self, scenario: &Scenario) {
        if scenario.split == Split::Test || !self.compares() {
            return;
        }
        let matcher = self.matcher.get_or_insert_with(|| matcher(&self.facts));
        self.present.resize(matcher.len(), false);
        let texts = scenario
            .messages
            .iter()
            .flat_map(|message| message.parts.iter().filter_map(part_text));
        texts.for_each(|text| matcher.mark(text, &mut self.present));
    }

    fn measure(&self) -> Property {
        let (id, name) = (
            "held_out",
            "facts of the test split whose subject or value occurs in another split",
        );
        if !self.compares() {
            return Property::untold(id, name, "no facts of a test split beside another split");
        }
        let found = self.known();
        let example = found
            .first()
            .map(|fact| format!("; {}: {}", code(&fact.subject), code(&fact.value)));
        let detail = format!(
            "{} of {} facts and decoys in {} conversations{}",
            found.len(),
            self.facts.len(),
            self.test,
            example.unwrap_or_default()
        );
        Property::share(id, name, found.len(), self.facts.len(), 0.0, detail)
            .unwrap_or_else(|| Property::untold(id, name, "no facts"))
    }
}

impl HeldOut {
    /// The facts of which another split states the subject or the value.
    fn known(&self) -> Vec<&SoughtWords> {
        let is_present = |at: usize| self.present.get(at) == Some(&true);
        (0..self.facts.len())
            .filter(|at| is_present(*at) || is_present(self.facts.len() + at))
            .map(|at| &self.facts[at])
            .collect()
    }
}

impl SoughtWords {
    fn new(fact: &Fact) -> Self {
        let forms = fact.forms().map(str::to_owned).collect();
        SoughtWords {
            subject: fact.subject.clone(),
            kind: fact.value_kind,
            value: fact.value.clone(),
            forms,
        }
    }
}

fn names_in(subject: &str) -> Vec<&str> {
    Some(subject)
        .filter(|subject| !subject.is_empty())
        .into_iter()
        .collect()
}

/// Finds the subjects of the facts, unless they are empty, and then their values.
fn matcher(facts: &[SoughtWords]) -> Matcher {
    let subjects = facts
        .iter()
        .map(|fact| (ValueKind::Free, names_in(&fact.subject)));
    let values = facts
        .iter()
        .map(|fact| (fact.kind, fact.forms.iter().map(String::as_str).collect()));
    Matcher::new(subjects.chain(values))
}

#[cfg(test)]
mod tests {
    use compactometer_formats::property::Property;
    use compactometer_formats::scenario::Split;
    use compactometer_formats::suite::Suite;

    use super::HeldOut;
    use crate::properties::tests::{fact, measured, suite};

    fn measure(suite: &Suite) -> Property {
        measured::<HeldOut>(suite)
    }

    #[test]
    fn a_subject_or_value_that_another_split_holds_is_counted() {
        let mut suite = suite(&[
            ("a", "the tower is 7F-3K"),
            ("b", "it is 9Q-2D"),
            ("c", "nothing"),
        ]);
        suite.scenarios[1].split = Split::Test;
        suite.scenarios[1].facts = vec![fact("f", "9Q-2D")];
        suite.scenarios[1].facts[0].subject = "the lock".to_owned();
        assert_eq!(measure(&suite).value, Some(0.0));
        suite.scenarios[1].facts[0].subject = "the tower".to_owned();
        assert_eq!(
            (measure(&suite).value, measure(&suite).passed),
            (Some(1.0), Some(false))
        );
        suite.scenarios[1].facts[0].subject = "the lock".to_owned();
        suite.scenarios[1].facts[0].value = "7f-3k".to_owned();
        assert_eq!(measure(&suite).value, Some(1.0));
        suite.scenarios[1].split = Split::Dev;
        assert_eq!(measure(&suite).value, None);
    }
}
