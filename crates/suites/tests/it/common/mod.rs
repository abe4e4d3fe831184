//! An independent reading of suites: how the tests find values in text.

use aho_corasick::AhoCorasick;
use compactometer_engine::message::{Message, MessageId, Part};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_formats::scenario::Scenario;
use compactometer_formats::suite::Suite;
use compactometer_suites::generate::Spec;

/// The spec of a suite small enough to be generated many times.
pub(crate) fn spec_text(seed: u64) -> String {
    format!(
        "name = \"tiny\"\nseed = {seed}\nwindow = 4000\ndomains = [\"software\", \"operations\", \"service\", \"research\"]\n\
         conversations = 4\nlengths = [9000, 14000]\nfacts = [24, 30]\npoints = [3, 4]\n[splits]\ndev = 2\ntest = 2\n"
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

/// The text of a message that a model would read.
pub(crate) fn text_of(message: &Message) -> String {
    let texts = message.parts.iter().map(|part| match part {
        Part::Text { text } | Part::ToolResult { text, .. } => text.as_str(),
        Part::ToolCall { arguments, .. } => arguments.as_str(),
        Part::Thinking { .. } | Part::Media { .. } | Part::Sealed { .. } => {
            panic!("generated suites hold none")
        }
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The whole-word occurrences of each value, ignoring case, as the conversation's number and the
/// message.
pub(crate) fn find_all(suite: &Suite, values: &[&str]) -> Vec<Vec<(usize, MessageId)>> {
    let patterns = values.iter().map(|value| value.to_lowercase());
    let finder = AhoCorasick::new(patterns).expect("the values make an automaton");
    let mut found = vec![Vec::new(); values.len()];
    for (number, scenario) in suite.scenarios.iter().enumerate() {
        for message in &scenario.messages {
            let text = text_of(message).to_lowercase();
            for hit in finder.find_overlapping_iter(&text) {
                let place = (number, message.id);
                let known: &mut Vec<_> = &mut found[hit.pattern().as_usize()];
                if is_whole_word(&text, hit.start(), hit.end()) && known.last() != Some(&place) {
                    known.push(place);
                }
            }
        }
    }
    found
}

fn is_whole_word(text: &str, start: usize, end: usize) -> bool {
    let part_of_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    !part_of_word(text[..start].chars().next_back()) && !part_of_word(text[end..].chars().next())
}

/// A word of four or more letters that the question shares with one of the texts.
pub(crate) fn shared_words<'t>(
    question: &str,
    texts: impl Iterator<Item = &'t str>,
) -> Option<String> {
    let words = |text: &str| {
        let lower = text.to_lowercase();
        let long = lower
            .split(|letter: char| !letter.is_alphanumeric())
            .filter(|word| word.chars().count() >= 4);
        long.map(str::to_owned).collect::<Vec<_>>()
    };
    let asked = words(question);
    texts.flat_map(words).find(|word| asked.contains(word))
}
