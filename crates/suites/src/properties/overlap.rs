//! Whether a question shares a distinctive word with its answer.

use std::collections::BTreeSet;

use compactometer_formats::property::Property;
use compactometer_formats::scenario::Scenario;
use compactometer_text::code::code;

use super::PropertyMeasure;

/// Words shorter than this are not distinctive; see `docs/measurement/facts.md`.
const MIN_WORD_LENGTH: usize = 4;

/// Share of questions with a word of four or more characters that also occurs in the answer or in
/// another form of it.
#[derive(Default)]
pub(super) struct Overlap {
    questions: usize,
    hits: usize,
    /// The first question with such a word, in words.
    example: String,
}

impl PropertyMeasure for Overlap {
    fn add(&mut self, scenario: &Scenario) {
        for (question, shared) in shared_words(scenario) {
            self.questions += 1;
            if shared.is_empty() {
                continue;
            }
            if self.hits == 0 {
                let words = shared
                    .iter()
                    .map(|word| code(word))
                    .collect::<Vec<_>>()
                    .join(", ");
                self.example = format!("; {} gives away {words}", code(question));
            }
            self.hits += 1;
        }
    }

    fn measure(&self) -> Property {
        let (id, name) = (
            "question_overlap",
            "questions that share a word of four characters with the answer",
        );
        let detail = format!(
            "{} of {} questions{}",
            self.hits, self.questions, self.example
        );
        Property::share(id, name, self.hits, self.questions, 0.0, detail)
            .unwrap_or_else(|| Property::untold(id, name, "no questions"))
    }
}

/// Each question that has an answer, with the words that it shares with the answer.
fn shared_words(scenario: &Scenario) -> impl Iterator<Item = (&str, BTreeSet<String>)> {
    scenario.probes.iter().filter_map(|probe| {
        let gold = probe.gold.as_deref()?;
        let facts = scenario
            .facts
            .iter()
            .filter(|fact| probe.fact_ids.contains(&fact.id));
        let answers: BTreeSet<String> = facts
            .flat_map(|fact| fact.forms())
            .chain([gold])
            .flat_map(distinctive_words)
            .collect();
        Some((
            probe.question.as_str(),
            distinctive_words(&probe.question)
                .filter(|word| answers.contains(word))
                .collect(),
        ))
    })
}

fn distinctive_words(text: &str) -> impl Iterator<Item = String> {
    let lower = text.to_lowercase();
    let words = lower
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| word.chars().count() >= MIN_WORD_LENGTH);
    words.map(str::to_owned).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use compactometer_formats::property::Property;
    use compactometer_formats::suite::Suite;

    use super::Overlap;
    use crate::properties::tests::{fact, measured, probe, suite};

    fn measure(suite: &Suite) -> Property {
        measured::<Overlap>(suite)
    }

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
        assert_eq!(
            found.detail,
            "1 of 2 questions; `Which harbour is it?` gives away `harbour`"
        );
        suite.scenarios[0].probes.remove(0);
        assert_eq!(measure(&suite).passed, Some(true));
    }
}
