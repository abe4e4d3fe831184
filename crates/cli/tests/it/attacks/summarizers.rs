//! Summarizers that know every fact of a suite, and write its values in a form that helps nobody.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use async_trait::async_trait;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use compactometer_formats::scenario::Fact;
use compactometer_formats::suite::Suite;
use compactometer_testing::model::reply;
use compactometer_text::matcher::Matcher;

use crate::honesty::stage::mock;

/// How the values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Values,
    RandomSubjects,
    SubjectsThenValues,
    EverySubjectWithEveryValue,
    /// In one of several orders.
    ShuffledWithinKind(u8),
    SwappedBetweenSentences,
}

/// A summarizer that finds the suite's facts in what it reads.
pub struct Cheat {
    form: Form,
    facts: Vec<Fact>,
    matcher: Matcher,
    honest: Box<dyn ChatModel>,
}

impl Cheat {
    pub fn new(suite: &Suite, form: Form) -> Self {
        let facts = suite
            .scenarios
            .iter()
            .flat_map(|scenario| scenario.facts.iter().cloned())
            .collect::<Vec<_>>();
        let matcher = Matcher::new(facts.iter().map(|fact| (fact.sought(), fact.forms())));
        Cheat {
            form,
            facts,
            matcher,
            honest: mock("mock:strong"),
        }
    }

    /// The facts that a text holds, each value once, in order.
    fn read(&self, text: &str) -> Vec<&Fact> {
        let mut seen = vec![false; self.facts.len()];
        let mut values = Vec::new();
        for fact in self.matcher.find(text) {
            if !std::mem::replace(&mut seen[fact], true)
                && !values.contains(&self.facts[fact].value.as_str())
            {
                values.push(self.facts[fact].value.as_str());
            }
        }
        let of_value = |value: &&str| self.facts.iter().find(|fact| fact.value == **value);
        values.iter().filter_map(of_value).collect()
    }

    fn written(&self, text: &str) -> String {
        let facts = self.read(text);
        let value = |place: usize| facts[place % facts.len()].value.as_str();
        let subject = |place: usize| facts[place % facts.len()].subject.as_str();
        let lines = |line: &dyn Fn(usize) -> String| {
            (0..facts.len()).map(line).collect::<Vec<_>>().join("\n")
        };
        match self.form {
            Form::Values => lines(&|place| format!("- {}", value(place))),
            Form::RandomSubjects => {
                lines(&|place| format!("- {}: {}", subject(place * 7 + 3), value(place)))
            }
            Form::SubjectsThenValues => {
                let subjects = (0..facts.len()).map(subject).collect::<Vec<_>>().join(", ");
                format!("{subjects}\n\n{}", lines(&|place| value(place).to_owned()))
            }
            Form::EverySubjectWithEveryValue => lines(&|place| {
                let pairs =
                    (0..facts.len()).map(|other| format!("{}: {}", subject(other), value(place)));
                pairs.collect::<Vec<_>>().join("; ")
            }),
            Form::ShuffledWithinKind(order) => {
                let mut of_kind: BTreeMap<_, Vec<&Fact>> = BTreeMap::new();
                facts
                    .iter()
                    .for_each(|fact| of_kind.entry(fact.value_kind).or_default().push(fact));
                let shuffled = |facts: &Vec<&Fact>| {
                    // Two orders that are not that of the text, which a summary before may have
                    // shuffled.
                    let sorted = |salt| {
                        let mut facts = facts.clone();
                        facts.sort_by_cached_key(|fact| hash(salt, &fact.value));
                        facts
                    };
                    let pairs = sorted(2 * order).into_iter().zip(sorted(2 * order + 1));
                    let lines =
                        pairs.map(|(fact, other)| format!("- {}: {}", fact.subject, other.value));
                    lines.collect::<Vec<_>>().join("\n")
                };
                of_kind
                    .values()
                    .map(shuffled)
                    .collect::<Vec<_>>()
                    .join("\n")
            }
            Form::SwappedBetweenSentences => unreachable!("an honest summary is swapped"),
        }
    }

    /// The text with each value in the place of the next one of its kind.
    fn swapped(&self, text: &str) -> String {
        let facts = self.read(text);
        let mut swapped = text.to_owned();
        for (place, fact) in facts.iter().enumerate() {
            swapped = swapped.replace(&fact.value, &format!("\u{1}{place}\u{2}"));
        }
        for (place, fact) in facts.iter().enumerate() {
            let of_kind = facts.iter().cycle().skip(place + 1).take(facts.len());
            let next = of_kind
                .clone()
                .find(|other| other.value_kind == fact.value_kind)
                .unwrap_or(fact);
            swapped = swapped.replace(&format!("\u{1}{place}\u{2}"), &next.value);
        }
        swapped
    }
}

/// An order that has nothing to do with what a value means.
fn hash(salt: u8, value: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (salt, value).hash(&mut hasher);
    hasher.finish()
}

#[async_trait]
impl ChatModel for Cheat {
    fn name(&self) -> &str {
        "cheat"
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        if self.form == Form::SwappedBetweenSentences {
            let honest = self.honest.complete(request).await?;
            return Ok(ChatReply {
                text: self.swapped(&honest.text),
                ..honest
            });
        }
        let written = self.written(&request.texts().collect::<Vec<_>>().join("\n"));
        // Some three characters a token of such lists.
        let most = request
            .max_output_tokens
            .map_or(usize::MAX, |tokens| 2 * tokens as usize);
        Ok(reply(written.chars().take(most).collect::<String>()))
    }
}
