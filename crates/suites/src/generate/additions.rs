//! Sentences and lines that are added to messages that are there already.

use compactometer_engine::message::{Message, Part, Role};
use compactometer_formats::scenario::Speaker;

use crate::dice::SeededDice;

/// The text of a message to which the speaker may add.
pub(super) fn place_of(message: &mut Message, by: Speaker) -> Option<&mut String> {
    let role = match by {
        Speaker::User | Speaker::Program => Role::User,
        Speaker::Assistant => Role::Assistant,
        Speaker::Tool => Role::Tool,
        Speaker::System => Role::System,
    };
    let is_spoken = message.role == role;
    let mut parts = message.parts.iter_mut().filter(|_| is_spoken);
    parts.find_map(|part| match part {
        Part::Text { text } => Some(text),
        Part::ToolResult { text, is_error, .. } if !*is_error => Some(text),
        _ => None,
    })
}

/// Adds a sentence to what a person or the agent says, or a line anywhere in a result.
pub(super) fn append(said: &mut String, text: &str, by: Speaker, dice: &mut SeededDice) {
    if by != Speaker::Tool {
        let gap = if said.is_empty() { "" } else { "\n\n" };
        said.extend([gap, text]);
        return;
    }
    let lines: Vec<usize> = said.match_indices('\n').map(|(at, _)| at + 1).collect();
    match lines.is_empty() {
        true => said.extend(["\n", text]),
        false => said.insert_str(dice.pick(&lines), &format!("{text}\n")),
    }
}
