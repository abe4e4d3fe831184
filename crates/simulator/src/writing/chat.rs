//! Continues a chat, like a model that mistakes the conversation to be condensed for its own.

use rand_chacha::ChaCha8Rng;

use crate::draw::uniform;

/// The next turn after a message.
pub(crate) fn continued(last: Option<&str>, rng: &mut ChaCha8Rng) -> String {
    let openers = [
        "Sure, I'll go on with that.",
        "Understood.",
        "Good point, thank you.",
    ];
    let at = (uniform(rng) * openers.len() as f64) as usize;
    let mut text = openers[at.min(openers.len() - 1)].to_owned();
    if let Some(line) = last.and_then(|last| last.lines().rfind(|line| !line.trim().is_empty())) {
        let start = line
            .split_whitespace()
            .take(MOST_QUOTED)
            .collect::<Vec<_>>()
            .join(" ");
        text.push_str(&format!(" About \"{start}\":"));
    }
    text.push_str(
        " I'll look at the current state first, then make the change and tell you how it went. ",
    );
    text + "Is there anything else that I should keep in mind?"
}

/// The largest number of words quoted from the last line.
const MOST_QUOTED: usize = 12;
