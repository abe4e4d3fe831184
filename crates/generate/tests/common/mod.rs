//! An independent look at suites: how the tests find values in text.

use compactometer_engine::message::{Message, MessageId, Part};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_generate::Spec;
use compactometer_schema::scenario::Scenario;

/// The spec of a suite small enough for many draws.
pub(crate) fn spec_text(seed: u64) -> String {
    format!(
        "name = \"tiny\"\nseed = {seed}\nwindow = 4000\ndomains = [\"software\", \"operations\", \"service\"]\n\
         conversations = 3\nlengths = [9000, 14000]\nfacts = [24, 30]\npoints = [3, 4]\n"
    )
}

/// That spec, parsed.
pub(crate) fn spec_with(seed: u64) -> Spec {
    Spec::parse(&spec_text(seed), std::path::Path::new("tiny.toml")).expect("the spec is right")
}

/// Exact tokens of a message.
pub(crate) fn tokens_of(message: &Message) -> usize {
    Encoding::O200k.count_message(message) as usize
}

/// Exact tokens of each message.
pub(crate) fn sizes(scenario: &Scenario) -> Vec<usize> {
    scenario.messages.iter().map(tokens_of).collect()
}

/// All that a model would read of a message.
pub(crate) fn text_of(message: &Message) -> String {
    let texts = message.parts.iter().map(|part| match part {
        Part::Text { text } | Part::ToolResult { text, .. } => text.as_str(),
        Part::ToolCall { arguments, .. } => arguments.as_str(),
        Part::Thinking { .. } | Part::Media { .. } => panic!("generated suites hold none"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The texts of a conversation, lowercase.
pub(crate) struct Texts(Vec<(MessageId, String)>);

impl Texts {
    pub(crate) fn of(scenario: &Scenario) -> Self {
        Texts(scenario.messages.iter().map(|message| (message.id, text_of(message).to_lowercase())).collect())
    }

    /// The messages in which the value stands by itself, in any case.
    pub(crate) fn holding(&self, value: &str) -> Vec<MessageId> {
        let value = value.to_lowercase();
        self.0.iter().filter(|(_, text)| stands_in(text, &value)).map(|(id, _)| *id).collect()
    }
}

fn stands_in(text: &str, value: &str) -> bool {
    let part_of_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    text.match_indices(value).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + value.len()..].chars().next());
        !part_of_word(before) && !part_of_word(after)
    })
}

/// A word of four or more letters that the question has in common with one of the texts.
pub(crate) fn shared_words<'t>(question: &str, texts: impl Iterator<Item = &'t str>) -> Option<String> {
    let words = |text: &str| {
        let lower = text.to_lowercase();
        let long = lower.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.chars().count() >= 4);
        long.map(str::to_owned).collect::<Vec<_>>()
    };
    let asked = words(question);
    texts.flat_map(words).find(|word| asked.contains(word))
}
