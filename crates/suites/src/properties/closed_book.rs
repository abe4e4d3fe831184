//! How many questions can be answered without reading the conversation.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use compactometer_formats::property::Property;
use compactometer_formats::scenario::{Fact, Probe, Scenario, ValueKind};

use super::PropertyMeasure;

/// The largest acceptable share; see `docs/measurement/facts.md`.
const MAX_SHARE: f64 = 0.05;

/// Share of questions that at least one of three readers without the conversation answers. The
/// first gives the most frequent answer of other groups to the same question, the second that to
/// questions about the same kind of value, and the third a word of the question itself.
#[derive(Default)]
pub(super) struct Questions {
    all: Vec<BookQuestion>,
}

impl PropertyMeasure for Questions {
    fn add(&mut self, scenario: &Scenario) {
        self.all.extend(questions(scenario));
    }

    fn measure(&self) -> Property {
        let (id, name) = ("closed_book", "questions answered without the conversation");
        let by_text = Answers::new(&self.all, |question| question.text.as_str());
        let by_kind = Answers::new(&self.all, |question| question.kind);
        let (mut answered, mut any) = ([0; 3], 0);
        for question in &self.all {
            let says = |guess: Option<&str>| guess.is_some_and(|guess| question.accepts(guess));
            let right = [
                says(by_text.most_frequent(&question.text.as_str(), &question.group)),
                says(by_kind.most_frequent(&question.kind, &question.group)),
                question.gives_itself_away(),
            ];
            answered
                .iter_mut()
                .zip(right)
                .for_each(|(count, right)| *count += usize::from(right));
            any += usize::from(right.contains(&true));
        }
        let [text, kind, own] = answered;
        let detail = format!(
            "{any} of {} questions: {text} by the answer that is most frequent elsewhere for the question, {kind} by that for \
             the kind of value, {own} by the question's own words",
            self.all.len()
        );
        Property::share(id, name, any, self.all.len(), MAX_SHARE, detail)
            .unwrap_or_else(|| Property::untold(id, name, "no questions"))
    }
}

struct BookQuestion {
    group: String,
    /// The question without the subject that it asks about.
    text: String,
    asked: String,
    kind: ValueKind,
    gold: String,
    forms: Vec<String>,
}

fn questions(scenario: &Scenario) -> impl Iterator<Item = BookQuestion> {
    scenario.probes.iter().filter_map(|probe| {
        let gold = probe.gold.as_ref()?.to_lowercase();
        let fact = scenario
            .facts
            .iter()
            .find(|fact| probe.fact_ids.contains(&fact.id))?;
        Some(BookQuestion {
            group: scenario.group_id.clone(),
            text: without_subject(probe, fact),
            asked: probe.question.clone(),
            kind: fact.value_kind,
            forms: fact
                .forms()
                .map(str::to_lowercase)
                .chain([gold.clone()])
                .collect(),
            gold,
        })
    })
}

fn without_subject(probe: &Probe, fact: &Fact) -> String {
    if fact.subject.is_empty() {
        probe.question.clone()
    } else {
        probe.question.replace(&fact.subject, "")
    }
}

impl BookQuestion {
    fn accepts(&self, answer: &str) -> bool {
        self.forms.iter().any(|form| form == answer)
    }

    fn gives_itself_away(&self) -> bool {
        let asked = format!(" {} ", words(&self.asked));
        self.forms
            .iter()
            .any(|form| asked.contains(&format!(" {} ", words(form))))
    }
}

/// Lowercase words and numbers, separated by single spaces.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The answers to the questions of each key, those to most questions first and equal ones in
/// alphabetical order.
struct Answers<'q, K> {
    by_key: BTreeMap<K, Vec<BookAnswer<'q>>>,
}

struct BookAnswer<'q> {
    gold: &'q str,
    questions: usize,
    in_group: BTreeMap<&'q str, usize>,
}

impl<'q, K: Ord> Answers<'q, K> {
    fn new(questions: &'q [BookQuestion], key: impl Fn(&'q BookQuestion) -> K) -> Self {
        let mut counted: BTreeMap<K, BTreeMap<&str, BTreeMap<&str, usize>>> = BTreeMap::new();
        for question in questions {
            let groups = counted
                .entry(key(question))
                .or_default()
                .entry(question.gold.as_str())
                .or_default();
            *groups.entry(question.group.as_str()).or_default() += 1;
        }
        let answer = |(gold, in_group): (_, BTreeMap<_, usize>)| {
            let questions = in_group.values().sum();
            BookAnswer {
                gold,
                questions,
                in_group,
            }
        };
        let ranked = |(key, answers): (K, BTreeMap<_, _>)| {
            let mut answers = answers.into_iter().map(answer).collect::<Vec<_>>();
            answers.sort_by_key(|answer| Reverse(answer.questions));
            (key, answers)
        };
        Answers {
            by_key: counted.into_iter().map(ranked).collect(),
        }
    }

    /// The answer to most questions of other groups; on a tie, the first in alphabetical order.
    fn most_frequent(&self, key: &K, group: &str) -> Option<&'q str> {
        let answers = self.by_key.get(key)?;
        // No answer after the first that is none of the group's own can be more frequent elsewhere.
        let own = answers
            .iter()
            .take_while(|answer| answer.in_group.contains_key(group))
            .count();
        let candidates = answers[..answers.len().min(own + 1)].iter();
        let elsewhere = candidates.map(|answer| {
            (
                answer,
                answer.questions - answer.in_group.get(group).unwrap_or(&0),
            )
        });
        let frequent = elsewhere.filter(|(_, count)| *count > 0);
        Some(
            frequent
                .min_by_key(|(answer, count)| (Reverse(*count), answer.gold))?
                .0
                .gold,
        )
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use compactometer_formats::property::Property;
    use compactometer_formats::scenario::ValueKind;
    use compactometer_formats::suite::Suite;
    use proptest::prelude::*;

    use super::{Answers, BookQuestion, Questions};
    use crate::properties::tests::{fact, measured, probe, suite};

    fn measure(suite: &Suite) -> Property {
        measured::<Questions>(suite)
    }

    #[test]
    fn frequent_answers_and_answers_in_the_question_count() {
        let one = |group: &str, question: &str, value: &str| {
            let mut suite = suite(&[(group, "hello")]);
            suite.scenarios[0].facts = vec![fact("f", value)];
            suite.scenarios[0].probes = vec![probe("f", question, value)];
            suite.scenarios.remove(0)
        };
        let header = suite(&[]).header;
        let scenarios = vec![
            one("a", "Which colour has the gate?", "red"),
            one("b", "Which colour has the gate?", "Red"),
            one("b2", "Which colour has the gate?", "red"),
            one("c", "Which colour has the gate?", "blue"),
            one("d", "Is the code of the gate 7F-3K?", "7f-3k"),
            one("e", "What is the code?", "9Q-2D"),
        ];
        let found = measure(&Suite { header, scenarios });
        // The three `red` answers are guessed from each other, and `d` contains its own answer.
        assert_eq!(
            (found.value, found.passed),
            (Some(0.666666667), Some(false))
        );
        assert_eq!(
            found.detail,
            "4 of 6 questions: 3 by the answer that is most frequent elsewhere for the question, 3 by that for the kind of \
             value, 1 by the question's own words"
        );
        assert_eq!(measure(&suite(&[("a", "hello")])).value, None);
    }

    proptest! {
        #[test]
        fn the_most_frequent_answer_is_that_of_a_count_of_all(asked in prop::collection::vec((0_usize..4, 0_usize..5), 1..40)) {
            let names = ["a", "b", "c", "d", "e"];
            let question = |(group, gold): &(usize, usize)| BookQuestion {
                group: names[*group].to_owned(),
                text: String::new(),
                asked: String::new(),
                kind: ValueKind::Id,
                gold: names[*gold].to_owned(),
                forms: Vec::new(),
            };
            let questions = asked.iter().map(question).collect::<Vec<_>>();
            let answers = Answers::new(&questions, |question| question.kind);
            for group in names {
                let mut elsewhere: BTreeMap<&str, usize> = BTreeMap::new();
                for question in questions.iter().filter(|question| question.group != group) {
                    *elsewhere.entry(&question.gold).or_default() += 1;
                }
                let most = elsewhere.values().max();
                let expected = elsewhere.iter().find(|(_, count)| Some(*count) == most).map(|(gold, _)| *gold);
                prop_assert_eq!(answers.most_frequent(&ValueKind::Id, group), expected);
            }
        }
    }
}
