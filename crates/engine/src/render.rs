//! A transcript as text for a summarizer.
//!
//! Text of the conversation stays data: a tag in it cannot close ours. Absent on purpose: thinking, which no later turn may
//! read as said, and the content of media, of which a summarizer is told the kind.

use std::fmt::Write as _;

use crate::message::{MessageId, Part};
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

/// A text for a summarizer.
pub(crate) struct Material {
    /// The text.
    pub(crate) text: String,
    /// A number of tokens that the text does not exceed, known without counting it again.
    pub(crate) tokens_at_most: u32,
    /// Messages of which the limits cut something off, in order.
    pub(crate) cut: Vec<MessageId>,
}

/// Most tokens that a rendered entry has beside its parts: number and role.
const LABELS: u32 = 16;
/// Most tokens that a rendered part has beside its own: its label and the line break before it.
const PART_LABEL: u32 = 8;

impl Material {
    /// Renders entries.
    pub(crate) fn new<'e>(entries: impl IntoIterator<Item = &'e Entry>, limits: Limits) -> Self {
        let mut material = Material { text: String::new(), tokens_at_most: 0, cut: Vec::new() };
        for (number, entry) in entries.into_iter().enumerate() {
            let (block, is_cut) = block(entry, limits);
            if !block.is_empty() {
                let _ = write!(material.text, "[{}] {}:\n{block}\n\n", number + 1, entry.role.name());
            }
            let tokens = entry.tokens.saturating_add(LABELS + label_tokens(entry));
            material.tokens_at_most = material.tokens_at_most.saturating_add(tokens);
            material.cut.extend(entry.message_id().filter(|_| is_cut));
        }
        let text = neutralize(material.text.trim_end());
        // A broken closing tag takes a letter more, and two tokens at most.
        let broken = (text.len() - material.text.trim_end().len()) as u32;
        material.tokens_at_most = material.tokens_at_most.saturating_add(2 * broken);
        Material { text, ..material }
    }
}

/// Tokens at most of what names an entry's parts; a token has a byte or more.
fn label_tokens(entry: &Entry) -> u32 {
    let of_part = |part: &Part| match part {
        Part::Media { media_type, .. } => PART_LABEL + media_type.len() as u32,
        _ => PART_LABEL,
    };
    entry.parts().map(|(part, _)| of_part(part)).sum()
}

/// Renders entries as `[n] role:` blocks. Thinking is left out, media is named, summaries are labelled as such.
pub fn transcript<'e>(entries: impl IntoIterator<Item = &'e Entry>, limits: Limits) -> String {
    Material::new(entries, limits).text
}

/// The first `most` characters, with a mark where something is missing.
pub fn cut(text: &str, most: usize) -> String {
    // A letter has a byte or more: most texts are told short without being read.
    match (text.len() > most).then(|| text.char_indices().nth(most)).flatten() {
        Some((at, _)) => format!("{}{CUT}", &text[..at]),
        None => text.to_owned(),
    }
}

/// Stands where something is missing.
const CUT: &str = "\n[...truncated...]";

/// The text of an entry, and whether the limits cut something off it.
fn block(entry: &Entry, limits: Limits) -> (String, bool) {
    let mut lines = Vec::new();
    let mut is_cut = false;
    for (part, origin) in entry.parts() {
        match part {
            Part::Text { text } if matches!(origin, Origin::Summary(_)) => {
                lines.push(format!("(earlier summary) {text}"))
            }
            Part::Text { text } => lines.push(text.clone()),
            Part::ToolCall { name, arguments, .. } => lines.push(format!("(calls {name}) {arguments}")),
            Part::ToolResult { text, is_error, .. } => {
                let label = if *is_error { "(error)" } else { "(result)" };
                is_cut |= is_longer(text, limits.tool_result);
                lines.push(format!("{label} {}", cut(text, limits.tool_result)));
            }
            Part::Media { media_type, .. } => lines.push(format!("({media_type})")),
            Part::Thinking { .. } => {}
        }
    }
    let block = lines.join("\n");
    is_cut |= is_longer(&block, limits.message);
    (cut(&block, limits.message), is_cut)
}

fn is_longer(text: &str, most: usize) -> bool {
    text.len() > most && text.chars().nth(most).is_some()
}

/// Breaks closing tags, so that no text of a conversation ends the block that our prompts put it in.
pub fn neutralize(text: &str) -> String {
    text.replace("</", "<\\/")
}
