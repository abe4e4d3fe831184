//! Whether a sentence asks for a value or doubts it.

use super::clause::{ClauseWords, LIMITS, sentence_after, words};

/// The largest number of words between a doubt and the value.
const WORDS: usize = 9;

/// Verbs that begin a question.
const INVERTED: &[&str] = &[
    "are", "aren't", "did", "didn't", "do", "does", "doesn't", "had", "has", "hasn't", "have",
    "haven't", "is", "isn't", "might", "or", "shall", "should", "was", "wasn't", "were", "weren't",
    "which",
];
/// Words before a question that do not belong to it.
const FILLERS: &[&str] = &[
    "also", "and", "but", "hmm", "ok", "so", "then", "wait", "well",
];
/// Words after a comma that turn a statement into a question.
const TAGS: &[&str] = &[
    "correct", "isn't", "no", "or", "right", "was", "wasn't", "yes",
];
const GUESSES: &[&str] = &["maybe", "perhaps", "possibly"];
/// Words before a doubt, if it is the writer's.
const OWN: &[&str] = &[
    "although", "am", "and", "are", "but", "do", "have", "i", "i'm", "is", "it's", "really",
    "still", "though", "we", "we're",
];
/// Words after a doubt that is about something else.
const ELSEWHERE: &[&str] = &["how", "what", "when", "where", "who", "why"];

/// Whether a value between these words and this text is asked for or doubted.
pub(super) fn is_open(before: &ClauseWords<'_>, after: &str, is_number: bool) -> bool {
    let after = sentence_after(after);
    is_asked(before, after)
        || is_guessed(before, is_number)
        || ends_in_guess(after)
        || (0..WORDS).any(|at| is_doubt(before, at, |by| at.checked_add_signed(-by)))
        || {
            let words = ClauseWords::after(after);
            (0..words.0.len()).any(|at| is_doubt(&words, at, |by| at.checked_add_signed(by)))
        }
}

fn is_asked(before: &ClauseWords<'_>, after: &str) -> bool {
    let Some(rest) = after.strip_suffix('?') else {
        return false;
    };
    let mut words = before
        .0
        .iter()
        .rev()
        .copied()
        .skip_while(|word| FILLERS.contains(word));
    let asks = match (words.next(), words.next()) {
        (None, _) => rest
            .split_whitespace()
            .next()
            .is_none_or(|next| next == "or"),
        (Some("do" | "should"), Some("not")) => false,
        (Some("can" | "could"), Some("it" | "that" | "this")) => true,
        (Some(first), _) => INVERTED.contains(&first),
    };
    let tag = rest
        .rsplit_once(',')
        .and_then(|(_, tag)| tag.split_whitespace().next());
    asks || tag.is_some_and(|tag| TAGS.contains(&tag))
}

/// "Perhaps V", "it could be V", "it might have been V".
fn is_guessed(words: &ClauseWords<'_>, is_number: bool) -> bool {
    let is_modal = |at: usize| matches!(words.get(at), "could" | "may" | "might");
    let mut nearest = words
        .0
        .iter()
        .take(4)
        .enumerate()
        .take_while(|(_, word)| !is_number || !LIMITS.contains(word));
    nearest.any(|(at, word)| match *word {
        word if GUESSES.contains(&word) => true,
        // "We could have used V."
        "have" => matches!(words.get(at + 1), "could" | "would"),
        "be" => at < 2 && is_modal(at + 1),
        "been" => at < 2 && is_modal(at + 2),
        _ => false,
    })
}

/// "V, maybe."
fn ends_in_guess(after: &str) -> bool {
    let tag = after.rsplit_once(',').map_or("", |(_, tag)| tag);
    let mut words = words(tag);
    words.next().is_some_and(|first| GUESSES.contains(&first)) && words.next().is_none()
}

/// Whether a doubt of the writer ends at this word, and is not about something else.
fn is_doubt(words: &ClauseWords<'_>, at: usize, step: impl Fn(isize) -> Option<usize>) -> bool {
    let near = |by: isize| step(by).map_or("", |at| words.get(at));
    let has_two = match (near(-1), words.get(at)) {
        (_, "uncertain" | "unclear" | "unsure") => false,
        ("cannot" | "can't" | "don't" | "not", "know" | "recall" | "remember" | "tell") => true,
        ("not", "certain" | "sure") | ("no", "idea") => true,
        _ => return false,
    };
    let subject = if has_two { near(-2) } else { near(-1) };
    (subject.is_empty() || OWN.contains(&subject)) && !ELSEWHERE.contains(&near(1))
}
