//! Whether a sentence asks for a value or doubts it.

use super::clause::{LIMITS, OPENING, last_clause, sentence_after, sentence_before, words};

/// The largest number of words between a doubt and the value.
const WORDS: usize = 9;

/// Verbs that begin a question.
const INVERTED: &[&str] = &[
    "are", "aren't", "did", "didn't", "do", "does", "doesn't", "had", "has", "hasn't", "have", "haven't", "is",
    "isn't", "might", "or", "shall", "should", "was", "wasn't", "were", "weren't", "which",
];
/// Words before a question that do not belong to it.
const FILLERS: &[&str] = &["also", "and", "but", "hmm", "ok", "so", "then", "wait", "well"];
/// Words after a comma that turn a statement into a question.
const TAGS: &[&str] = &["correct", "isn't", "no", "or", "right", "was", "wasn't", "yes"];
const DOUBTS: &[&str] = &[
    "cannot recall",
    "cannot remember",
    "cannot tell",
    "can't recall",
    "can't remember",
    "can't tell",
    "do not know",
    "do not remember",
    "don't know",
    "don't remember",
    "no idea",
    "not certain",
    "not sure",
    "uncertain",
    "unclear",
    "unsure",
];
const GUESSES: &[&str] = &["maybe", "perhaps", "possibly"];
/// Words before a doubt, if it is the writer's.
const OWN: &[&str] = &[
    "although", "am", "and", "are", "but", "have", "i", "i'm", "is", "it's", "really", "still", "though", "we", "we're",
];
/// Words after a doubt that is about something else.
const ELSEWHERE: &[&str] = &["how", "what", "when", "where", "who", "why"];

/// Whether a value between these texts is asked for or doubted.
pub(super) fn is_open(before: &str, after: &str, is_number: bool) -> bool {
    let before = sentence_before(before).to_ascii_lowercase();
    let clause = last_clause(before.trim_end_matches(OPENING));
    let after = sentence_after(after).to_ascii_lowercase();
    let is_said_so = !is_asked(clause, &after) && !is_guessed(clause, is_number) && !ends_in_guess(&after);
    !is_said_so || doubts(clause, true) || doubts(&after, false)
}

fn is_asked(clause: &str, after: &str) -> bool {
    let Some(rest) = after.strip_suffix('?') else { return false };
    let mut words = words(clause).skip_while(|word| FILLERS.contains(word));
    let asks = match (words.next(), words.next()) {
        (None, _) => rest.split_whitespace().next().is_none_or(|next| next == "or"),
        (Some("do" | "should"), Some("not")) => false,
        (Some("can" | "could"), Some("it" | "that" | "this")) => true,
        (Some(first), _) => INVERTED.contains(&first),
    };
    let tag = rest.rsplit_once(',').and_then(|(_, tag)| tag.split_whitespace().next());
    asks || tag.is_some_and(|tag| TAGS.contains(&tag))
}

/// "Perhaps V", "it could be V", "it might have been V".
fn is_guessed(clause: &str, is_number: bool) -> bool {
    let words = words(clause).rev().take(4).collect::<Vec<_>>();
    let is_modal = |at: usize| words.get(at).is_some_and(|word| matches!(*word, "could" | "may" | "might"));
    let nearest = words.iter().enumerate().take_while(|(_, word)| !is_number || !LIMITS.contains(word));
    nearest.into_iter().any(|(at, word)| match *word {
        word if GUESSES.contains(&word) => true,
        // "We could have used V."
        "have" => matches!(words.get(at + 1), Some(&("could" | "would"))),
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

/// Whether a text around the value doubts it.
fn doubts(text: &str, is_before: bool) -> bool {
    DOUBTS.iter().any(|doubt| {
        let Some(at) = text.find(doubt) else { return false };
        let (earlier, later) = (&text[..at], &text[at + doubt.len()..]);
        let is_own = words(earlier).next_back().is_none_or(|word| OWN.contains(&word));
        let is_here = !words(later).next().is_some_and(|next| ELSEWHERE.contains(&next));
        is_own && is_here && !(is_before && words(later).count() > WORDS)
    })
}
