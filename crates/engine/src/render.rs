//! A transcript as text for a summarizer.
//!
//! Text of the conversation stays data: a tag in it cannot close ours.

use std::fmt::Write as _;

use crate::message::Part;
use crate::view::{Entry, Origin};

/// Limits on what is rendered of one message; characters, not bytes.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most characters of one message.
    pub message: usize,
    /// Most characters of one tool result.
    pub tool_result: usize,
}

impl Limits {
    /// Nothing is cut.
    pub const NONE: Limits = Limits { message: usize::MAX, tool_result: usize::MAX };
}

/// A text for a summarizer, and a number of tokens that it does not exceed, known without counting it again.
pub(crate) struct Material {
    /// The text.
    pub(crate) text: String,
    /// What its entries have, and what rendering adds at most.
    pub(crate) tokens_at_most: u32,
}

/// Most tokens that a rendered entry has beside its own: number, role and labels.
const LABELS: u32 = 16;

impl Material {
    /// Renders entries.
    pub(crate) fn new<'e>(entries: impl IntoIterator<Item = &'e Entry> + Clone, limits: Limits) -> Self {
        let tokens = entries.clone().into_iter().map(|entry| entry.tokens + LABELS).sum::<u32>();
        let text = transcript(entries, limits);
        // A broken closing tag takes two tokens more.
        let broken = text.matches("<\\/").count() as u32;
        Material { tokens_at_most: tokens + 2 * broken, text }
    }
}

/// Renders entries as `[n] role:` blocks. Thinking is left out, media is named, summaries are labelled as such.
pub fn transcript<'e>(entries: impl IntoIterator<Item = &'e Entry>, limits: Limits) -> String {
    let mut text = String::new();
    for (number, entry) in entries.into_iter().enumerate() {
        let block = block(entry, limits);
        if !block.is_empty() {
            let _ = write!(text, "[{}] {}:\n{}\n\n", number + 1, entry.role.name(), cut(&block, limits.message));
        }
    }
    neutralize(text.trim_end())
}

/// The first `most` characters, with a mark where something is missing.
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}\n[...truncated...]", &text[..at]),
        None => text.to_owned(),
    }
}

fn block(entry: &Entry, limits: Limits) -> String {
    let mut lines = Vec::new();
    for (part, origin) in entry.parts() {
        match part {
            Part::Text { text } if matches!(origin, Origin::Summary(_)) => {
                lines.push(format!("(earlier summary) {text}"))
            }
            Part::Text { text } => lines.push(text.clone()),
            Part::ToolCall { name, arguments, .. } => lines.push(format!("(calls {name}) {arguments}")),
            Part::ToolResult { text, is_error, .. } => {
                let label = if *is_error { "(error)" } else { "(result)" };
                lines.push(format!("{label} {}", cut(text, limits.tool_result)));
            }
            Part::Media { media_type, .. } => lines.push(format!("({media_type})")),
            Part::Thinking { .. } => {}
        }
    }
    lines.join("\n")
}

/// Breaks closing tags, so that no text of a conversation ends the block that our prompts put it in.
pub fn neutralize(text: &str) -> String {
    text.replace("</", "<\\/")
}
