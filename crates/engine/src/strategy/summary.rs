//! Whether a model's answer is a summary at all.
//!
//! In published runs 13 to 21 of 100 answers continued or refused the conversation instead of
//! summarizing it (`docs/measurement/recall.md`, on summarizers), so such an answer never takes the
//! place of messages that nobody read.

use serde::{Deserialize, Serialize};

/// Why an answer is not a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NotASummary {
    /// No text, or only blanks.
    #[error("it is empty")]
    Empty,
    /// Thoughts between `<think>` and `</think>`, or cut before their end, and nothing else.
    #[error("it holds only reasoning")]
    ReasoningAlone,
    /// It speaks as one of the chat's voices.
    #[error("it continues the chat")]
    ContinuesChat,
    /// It is as long as what it should condense.
    #[error("it is not shorter than its material")]
    NotShorter,
}

/// Checks an answer against the bytes of the text that it should condense.
///
/// # Errors
/// [`NotASummary`], by general signs: no text, only thoughts, a role label or a phrase of
/// conversation at the start, or a text that is not shorter.
///
/// ```
/// use compactometer_engine::summary::{self, NotASummary};
///
/// assert_eq!(summary::check("The user chose PostgreSQL.", 4_000), Ok(()));
/// assert_eq!(summary::check("Sure, I'll do that now!", 4_000), Err(NotASummary::ContinuesChat));
/// assert_eq!(summary::check("<think>What was said?</think>", 4_000), Err(NotASummary::ReasoningAlone));
/// ```
pub fn check(answer: &str, material: usize) -> Result<(), NotASummary> {
    let text = answer.trim();
    if text.is_empty() {
        return Err(NotASummary::Empty);
    }
    if is_reasoning_alone(text) {
        return Err(NotASummary::ReasoningAlone);
    }
    if continues_chat(text) {
        return Err(NotASummary::ContinuesChat);
    }
    if text.len() >= material {
        Err(NotASummary::NotShorter)
    } else {
        Ok(())
    }
}

/// Whether there is nothing but thoughts. Some servers open them in the prompt, so that the answer
/// only closes them.
fn is_reasoning_alone(text: &str) -> bool {
    let (open, close) = ("<think>", "</think>");
    let mut rest = match text.find(close) {
        Some(at) if !text[..at].contains(open) => &text[at + close.len()..],
        _ => text,
    };
    while let Some((before, thoughts)) = rest.split_once(open) {
        if !before.trim().is_empty() {
            return false;
        }
        rest = thoughts.split_once(close).map_or("", |(_, after)| after);
    }
    rest.trim().is_empty()
}

/// Openings of an answer that talks to somebody, in lower case.
const OPENINGS: &[&str] = &[
    "sure,",
    "sure!",
    "of course,",
    "of course!",
    "certainly,",
    "certainly!",
    "thank you",
    "thanks for",
    "you're welcome",
    "i'd be happy",
    "i'm happy to",
    "i'm sorry,",
    "i am sorry,",
    "i cannot",
    "i can't",
    "as an ai",
    "that's wonderful",
    "that's great",
    "great question",
    "how can i help",
    "hello!",
    "hi!",
    "hi there",
    "let me know if",
];

fn continues_chat(text: &str) -> bool {
    let end = text.char_indices().nth(60).map_or(text.len(), |(at, _)| at);
    let start = text[..end].to_lowercase().replace('\u{2019}', "'");
    let label = start
        .trim_start_matches(|letter: char| letter.is_ascii_digit() || "[]*# ".contains(letter));
    let role = ["user:", "assistant:", "human:", "tool:", "system:"]
        .iter()
        .any(|role| label.starts_with(role));
    role || OPENINGS.iter().any(|opening| start.starts_with(opening))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_are_no_summaries_are_told_apart() {
        let material = "[1] user:\nMove the service to the new cluster, please, and keep the old one for a week.";
        for (answer, expected) in [
            (
                "The user moves a service; the old cluster stays a week.",
                Ok(()),
            ),
            ("## Session Summary\n- Move the service", Ok(())),
            ("I decided to keep the old cluster.", Ok(())),
            (" \n\t", Err(NotASummary::Empty)),
            (
                "<think>The old cluster stays a week.</think>\n",
                Err(NotASummary::ReasoningAlone),
            ),
            (
                "<think>First</think> <think>and then",
                Err(NotASummary::ReasoningAlone),
            ),
            ("<think></think>", Err(NotASummary::ReasoningAlone)),
            (
                "The user moves it.\n</think>\n",
                Err(NotASummary::ReasoningAlone),
            ),
            ("<think>First</think>\n- Move the service", Ok(())),
            ("First</think>\n- Move the service", Ok(())),
            ("- Move the service <think>and then", Ok(())),
            ("- The prompt's <think> tag is gone", Ok(())),
            ("[2] assistant:\nI will.", Err(NotASummary::ContinuesChat)),
            ("**Assistant:** on it", Err(NotASummary::ContinuesChat)),
            (
                "That\u{2019}s wonderful that you move.",
                Err(NotASummary::ContinuesChat),
            ),
            ("Sure, I will move it.", Err(NotASummary::ContinuesChat)),
            (&material[9..], Ok(())),
            (&format!("Well, {material}"), Err(NotASummary::NotShorter)),
        ] {
            assert_eq!(check(answer, material.len()), expected, "{answer}");
        }
    }
}
