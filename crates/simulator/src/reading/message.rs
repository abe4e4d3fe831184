//! Reads one message of the material line by line: the position, speaker and heading of each line.
//!
//! Absent on purpose: the meaning of a line by itself, which [`crate::reading::pieces`] reads.

use std::sync::Arc;

use crate::reading::cues::Cues;
use crate::reading::pieces::{Line, Piece, Word};
use crate::reading::statements::Speaker;

/// A line of a message that contains statements. Positions are in bytes of the message's text.
#[derive(Debug)]
pub(crate) struct Placed {
    /// The start of the line.
    start: u32,
    /// The start of the part that was read, after the label.
    content: u32,
    /// What the heading above it is about, if that is known.
    heading: Option<Arc<Cues>>,
    read: Arc<Line>,
}

/// A statement of a message.
#[derive(Clone, Copy)]
pub(crate) struct Said<'m> {
    /// Its text, on one line.
    pub(crate) text: &'m str,
    /// The start of its line, in bytes of the message's text.
    pub(crate) line: usize,
    /// What the heading above it is about, if that is known.
    pub(crate) heading: Option<&'m Cues>,
    /// What was read of it without its context.
    pub(crate) piece: &'m Piece,
    /// Its terms.
    pub(crate) words: &'m [Word],
}

/// The statements of a message whose lines have been read.
pub(crate) fn said<'m>(text: &'m str, lines: &'m [Placed]) -> impl Iterator<Item = Said<'m>> {
    lines.iter().flat_map(move |placed| {
        let content = &text[placed.content as usize..];
        placed.read.pieces.iter().map(move |piece| Said {
            text: piece.text(content),
            line: placed.start as usize,
            heading: placed.heading.as_deref(),
            piece,
            words: placed.read.words(piece),
        })
    })
}

/// The number of statements in these lines.
pub(crate) fn count(lines: &[Placed]) -> usize {
    lines.iter().map(|placed| placed.read.pieces.len()).sum()
}

/// The lines of a message of the speaker. `read` reads one line without its label, given its speaker and whether it is inside a
/// code fence.
pub(crate) fn read(text: &str, mut speaker: Speaker, read: impl Fn(&str, Speaker, bool) -> Arc<Line>) -> Vec<Placed> {
    let mut layout = Layout { heading: None, fenced: false };
    let mut placed = Vec::new();
    let mut at = 0;
    let mut lines = text.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let content = line.trim();
        let start = at;
        at += line.len();
        let is_table_rule = |next: &str| !next.is_empty() && is_rule(next);
        let heads_a_table = is_row(content) && lines.peek().is_some_and(|next| is_table_rule(next.trim()));
        let (label, content) = transcript_label(content);
        let content = content.trim();
        speaker = label.unwrap_or(speaker);
        if layout.takes(content) || heads_a_table {
            continue;
        }
        let read = read(content, speaker, layout.fenced);
        if !read.pieces.is_empty() {
            let heading = layout.heading.clone().filter(|_| speaker == Speaker::Summary);
            let content = content.as_ptr() as usize - text.as_ptr() as usize;
            placed.push(Placed { start: start as u32, content: content as u32, heading, read });
        }
    }
    placed
}

/// What the earlier lines imply for the next one.
struct Layout {
    heading: Option<Arc<Cues>>,
    fenced: bool,
}

impl Layout {
    /// Layout is not a statement, but a heading shows what the lines below it are about.
    fn takes(&mut self, content: &str) -> bool {
        if content.starts_with("```") {
            self.fenced = !self.fenced;
            return true;
        }
        let is_heading = !self.fenced && content.starts_with('#') && content.trim_start_matches('#').starts_with(' ');
        let is_bold_heading = content.starts_with("**") && content.trim_end_matches(':').ends_with("**");
        if is_heading || is_bold_heading {
            self.heading = Some(Arc::new(Cues::of(content)));
            return true;
        }
        is_rule(content) || is_tag(content)
    }
}

/// The label of a line in a rendered transcript, such as `(earlier summary)`, `(result)` or `(calls NAME)`. It identifies the
/// speaker of the text after it.
fn transcript_label(line: &str) -> (Option<Speaker>, &str) {
    let Some((label, rest)) = line.strip_prefix(['(', '[']).and_then(|line| line.split_once([')', ']', ':'])) else {
        return (None, line);
    };
    let label = label.to_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| label.starts_with(word));
    if label.contains("summary") && label.split_whitespace().count() <= 3 {
        (Some(Speaker::Summary), rest)
    } else if is(&["result", "error", "call", "tool"]) && label.split_whitespace().count() <= 3 {
        (Some(Speaker::Tool), rest)
    } else {
        (None, line)
    }
}

fn is_row(line: &str) -> bool {
    line.starts_with('|')
}

/// Lines that consist of dashes, bars and similar characters.
fn is_rule(line: &str) -> bool {
    line.chars().all(|letter| matches!(letter, '-' | '|' | '=' | ':' | '_' | '*' | ' ' | '\t'))
}

fn is_tag(line: &str) -> bool {
    line.starts_with('<') && line.ends_with('>') && !line.contains(' ')
        || line.starts_with('[') && line.ends_with(']') && line.len() > 2 && !line.contains(['"', ',', '{'])
}
