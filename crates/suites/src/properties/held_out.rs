//! Whether subjects or values of the test split occur in another split.

use compactometer_engine::message::part_text;
use compactometer_formats::property::Property;
use compactometer_formats::scenario::{Fact, Scenario, Split, ValueKind};
use compactometer_formats::suite::Suite;
use compactometer_text::code::code;
use compactometer_text::matcher::Matcher;

/// Share of the test split's facts whose subject or value occurs in a conversation of another split.
pub(super) fn measure(suite: &Suite) -> Property {
    let (id, name) = ("held_out", "facts of the test split whose subject or value occurs in another split");
    let (test, others): (Vec<&Scenario>, Vec<&Scenario>) =
        suite.scenarios.iter().partition(|scenario| scenario.split == Split::Test);
    let facts: Vec<&Fact> = test.iter().flat_map(|scenario| &scenario.facts).collect();
    if others.is_empty() || facts.is_empty() {
        return Property::untold(id, name, "no facts of a test split beside another split");
    }
    let subjects = facts.iter().map(|fact| (ValueKind::Free, subject(fact)));
    let values = facts.iter().map(|fact| (fact.value_kind, fact.forms().collect::<Vec<_>>()));
    let matcher = Matcher::new(subjects.chain(values));
    let mut present = vec![false; matcher.len()];
    let messages = others.iter().flat_map(|scenario| &scenario.messages);
    messages
        .flat_map(|message| message.parts.iter().filter_map(part_text))
        .for_each(|text| matcher.mark(text, &mut present));
    let (subjects, values) = present.split_at(facts.len());
    let known = |at: &usize| subjects[*at] || values[*at];
    let found = (0..facts.len()).filter(known).collect::<Vec<_>>();
    let example = found.first().map(|at| format!("; {}: {}", code(&facts[*at].subject), code(&facts[*at].value)));
    let detail = format!(
        "{} of {} facts and decoys in {} conversations{}",
        found.len(),
        facts.len(),
        test.len(),
        example.unwrap_or_default()
    );
    Property::share(id, name, found.len(), facts.len(), 0.0, detail)
        .unwrap_or_else(|| Property::untold(id, name, "no facts"))
}

/// The subject, unless it is empty.
fn subject(fact: &Fact) -> Vec<&str> {
    Some(fact.subject.as_str()).filter(|subject| !subject.is_empty()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use compactometer_formats::scenario::Split;

    use super::measure;
    use crate::properties::tests::{fact, suite};

    #[test]
    fn a_subject_or_value_that_another_split_holds_is_counted() {
        let mut suite = suite(&[("a", "the tower is 7F-3K"), ("b", "it is 9Q-2D"), ("c", "nothing")]);
        suite.scenarios[1].split = Split::Test;
        suite.scenarios[1].facts = vec![fact("f", "9Q-2D")];
        suite.scenarios[1].facts[0].subject = "the lock".to_owned();
        assert_eq!(measure(&suite).value, Some(0.0));
        suite.scenarios[1].facts[0].subject = "the tower".to_owned();
        assert_eq!((measure(&suite).value, measure(&suite).passed), (Some(1.0), Some(false)));
        suite.scenarios[1].facts[0].subject = "the lock".to_owned();
        suite.scenarios[1].facts[0].value = "7f-3k".to_owned();
        assert_eq!(measure(&suite).value, Some(1.0));
        suite.scenarios[1].split = Split::Dev;
        assert_eq!(measure(&suite).value, None);
    }
}
