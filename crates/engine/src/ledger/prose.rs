//! Which lines of a message a person may have written, and which words of a sentence say something.
//!
//! The rule is the ledger's own, and shares nothing with whatever measures what a context still
//! says.

use std::hash::BuildHasher as _;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use foldhash::fast::FixedState;
use unicode_segmentation::UnicodeSegmentation as _;

/// The lines of a message that a person may have written. Code, quotes, what is inside a tag,
/// commands, and what looks like the output of a program are not among them.
pub(super) fn lines(message: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut is_code, mut inside) = (false, None::<String>);
    let mut rest = message;
    while !rest.is_empty() {
        let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
        rest = after;
        let trimmed = line.trim();
        if let Some(end) = &inside {
            if trimmed.contains(end.as_str()) {
                inside = None;
            }
        } else if trimmed.starts_with("```") {
            is_code = !is_code;
        } else if let Some(end) = closing(trimmed) {
            inside = (!trimmed.contains(&end) && rest.contains(&end)).then_some(end);
        } else if !is_code && is_prose(line) {
            found.push(trimmed);
        }
    }
    found
}

/// How the element ends that a line begins with.
fn closing(line: &str) -> Option<String> {
    let name = line.strip_prefix('<')?;
    let end = name.find(|letter: char| !letter.is_alphanumeric() && !"-_".contains(letter))?;
    (end > 0).then(|| format!("</{}>", &name[..end]))
}

fn is_prose(line: &str) -> bool {
    let is_marked =
        line.trim_start().starts_with(MARKS) || line.starts_with('\t') || line.starts_with("    ");
    let mut signs = 0;
    let letters = line.chars().filter(|letter| !letter.is_whitespace());
    let letters = letters
        .inspect(|_| signs += 1)
        .filter(|letter| letter.is_alphabetic())
        .count();
    let has_level = || {
        line.split(|letter: char| !letter.is_alphanumeric())
            .any(|word| LEVELS.contains(&word))
    };
    !is_marked && 3 * letters >= 2 * signs && !has_level()
}

/// What begins a line of code, of a quote, of a table or of a command.
const MARKS: [char; 10] = ['<', '>', '[', '{', '|', '$', '#', '/', '@', '+'];
/// What marks a line of a log.
const LEVELS: [&str; 5] = ["DEBUG", "ERROR", "INFO", "WARN", "WARNING"];

/// Hashes of the different words of a text that say something, sorted.
pub(super) fn words(text: &str) -> Box<[u64]> {
    let lower = text.to_lowercase();
    let words = lower
        .unicode_words()
        .flat_map(|word| word.split(['\'', '’']).take(1));
    let mut words = words
        .filter(|word| says_something(word))
        .map(|word| state().hash_one(beginning(word)))
        .collect::<Vec<_>>();
    words.sort_unstable();
    words.dedup();
    words.into()
}

fn says_something(word: &str) -> bool {
    !word.is_ascii() || word.len() > 2 && PASSING.binary_search(&word).is_err()
}

/// The first letters of a word, which its inflections share.
fn beginning(word: &str) -> &str {
    let without = |word: &'_ str, endings: &[&str]| {
        let rests = endings
            .iter()
            .filter_map(|ending| word.strip_suffix(ending));
        let rest = rests.map(str::len).find(|rest| *rest > 2);
        rest.unwrap_or(word.len())
    };
    let word = &word[..without(word, &["s"])];
    let word = &word[..without(word, &["ing", "ed", "e"])];
    let end = word.char_indices().nth(STEM).map(|(at, _)| at);
    &word[..end.unwrap_or(word.len())]
}

/// Letters after these say little of what a word means.
const STEM: usize = 5;

pub(super) fn state() -> FixedState {
    FixedState::default()
}

/// Words and phrases that are looked for at once, in letters of any case.
pub(super) struct Phrases(AhoCorasick);

impl Phrases {
    fn new(phrases: &[&str]) -> Self {
        let found = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(phrases);
        Phrases(found.expect("the phrases are few"))
    }

    /// Whether a text has one of them as whole words. Those of scripts without blanks may be
    /// anywhere.
    pub(super) fn are_in(&self, text: &str) -> bool {
        let is_letter = |letter: char| letter.is_alphanumeric();
        self.0.find_overlapping_iter(text).any(|found| {
            !text[found.range()].is_ascii()
                || !text[..found.start()].ends_with(is_letter)
                    && !text[found.end()..].starts_with(is_letter)
        })
    }
}

/// What a sentence has that is to hold from then on: a rule, a preference or a correction.
pub(super) static STANDING: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(&[
        "always",
        "avoid",
        "do not",
        "don't",
        "don’t",
        "dont",
        "ensure",
        "forbidden",
        "from now on",
        "immer",
        "instead",
        "jamais",
        "make sure",
        "must",
        "never",
        "niemals",
        "no longer",
        "not allowed",
        "nunca",
        "only",
        "prefer",
        "rather than",
        "remember",
        "siempre",
        "stick to",
        "stop",
        "toujours",
        "wrong",
        "不能",
        "不要",
        "必ず",
        "必须",
        "总是",
        "しないで",
        "禁止",
        "하지 마",
        "항상",
    ])
});

/// What a sentence has that takes back an earlier one.
pub(super) static WITHDRAWALS: LazyLock<Phrases> = LazyLock::new(|| {
    Phrases::new(&[
        "changed my mind",
        "disregard",
        "don't need",
        "forget",
        "ignore",
        "instead",
        "never mind",
        "nevermind",
        "no longer",
        "not anymore",
        "scratch that",
        "undo",
        "不再",
        "不用",
    ])
});

/// Words of English that say nothing on their own, sorted.
const PASSING: &[&str] = &[
    "about", "all", "also", "and", "any", "are", "because", "been", "but", "can", "could", "did",
    "does", "doing", "don", "for", "from", "get", "had", "has", "have", "here", "how", "into",
    "its", "just", "let", "like", "more", "not", "now", "one", "other", "our", "out", "please",
    "should", "some", "still", "sure", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "think", "this", "those", "too", "use", "very", "want", "was", "were", "what",
    "when", "where", "which", "who", "why", "will", "with", "would", "yes", "you", "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(PASSING.is_sorted());
    }

    #[test]
    fn inflections_share_their_beginning() {
        assert_eq!(
            words("configures migrations"),
            words("Migration, configured")
        );
        assert_eq!(words("file, matches"), words("files match"));
        assert_eq!(words("moved the axes"), words("moves an axe"));
        assert_eq!(words("and then, please: to it"), words(""));
    }
}
