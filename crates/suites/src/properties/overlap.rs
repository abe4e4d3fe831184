//! Whether a question shares a distinctive word with its answer.

use std::collections::BTreeSet;

use compactometer_formats::property::Property;
use compactometer_formats::scenario::Scenario;
use compactometer_formats::suite::Suite;
use compactometer_text::code::code;

/// Words shorter than this are not distinctive; see `docs/measurement/facts.md`.
const MIN_WORD_LENGTH: usize = 4;

/// Share of questions with a word of four or more characters that also occurs in the answer or in another form of it.
pub(super) fn measure(suite: &Suite) -> Property {
    let (id, name) = ("question_overlap", "questions that share a word of four characters with the answer");
    let questions = suite.scenarios.iter().flat_map(shared_words);
    let found: Vec<(&str, BTreeSet<String>)> = questions.collect();
    let hits: Vec<_> = found.iter().filter(|(_, shared)| !shared.is_empty()).collect();
    let example = hits.first().map(|(question, shared)| {
        let words = shared.iter().map(|word| code(word)).collect::<Vec<_>>().join(", ");
        format!("; {} gives away {words}", code(question))
    });
    let detail = format!("{} of {} questions{}", hits.len(), found.len(), example.unwrap_or_default());
    Property::share(id, name, hits.len(), found.len(), 0.0, detail)
        .unwrap_or_else(|| Property::untold(id, name, "no questions"))
}

/// Each question that has an answer, with the words that it shares with the answer.
fn shared_words(scenario: &Scenario) -> impl Iterator<Item = (&str, BTreeSet<String>)> {
    scenario.probes.iter().filter_map(|probe| {
        let gold = probe.gold.as_deref()?;
        let facts = scenario.facts.iter().filter(|fact| probe.fact_ids.contains(&fact.id));
        let answers: BTreeSet<String> =
            facts.flat_map(|fact| fact.forms()).chain([gold]).flat_map(distinctive_words).collect();
        Some((
            probe.question.as_str(),
            distinctive_words(&probe.question).filter(|word| answers.contains(word)).collect(),
        ))
    })
}

fn distinctive_words(text: &str) -> impl Iterator<Item = String> {
    let lower = text.to_lowercase();
    let words =
        lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.chars().count() >= MIN_WORD_LENGTH);
    words.map(str::to_owned).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::measure;
    use crate::properties::tests::{fact, probe, suite};

    #[test]
    fn a_shared_word_of_four_characters_counts_and_a_short_one_does_not() {
        let mut suite = suite(&[("a", "hello")]);
        suite.scenarios[0].facts = vec![fact("long", "blue Harbour"), fact("short", "gate nr. 7")];
        suite.scenarios[0].probes = vec![
            probe("long", "Which harbour is it?", "blue Harbour"),
            probe("short", "What nr. has it?", "gate nr. 7"),
        ];
        let found = measure(&suite);
        assert_eq!((found.value, found.passed), (Some(0.5), Some(false)));
        assert_eq!(found.detail, "1 of 2 questions; `Which harbour is it?` gives away `harbour`");
        suite.scenarios[0].probes.remove(0);
        assert_eq!(measure(&suite).passed, Some(true));
    }
}
