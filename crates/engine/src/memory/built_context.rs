//! The context that the threshold plan builds before the conversation (`build_context_prompt`), and
//! the document of the agent loop that persists beside it.
//!
//! Absent on purpose: where they stand. A host puts either into its system message, which no
//! compaction changes.

use std::fmt::Write as _;

use super::{Note, notes, rank};
use crate::conversation::record::SessionRecord;
use crate::conversation::render::neutralize;
use crate::message::Part;

/// Notes by importance (the threshold plan, architecture: "Important Memories (5)").
pub const IMPORTANT: usize = 5;

/// Notes by relevance to what the user says now (the threshold plan, architecture: "Relevant
/// Memories (3)").
pub const RELEVANT: usize = 3;

/// Project context, important notes, notes that fit the user's input, in the source's order; the
/// conversation and the user's input follow in the view. What is empty is left out, and no note
/// appears twice. Important are the notes to which the host gave an importance over 0: the greatest
/// first, the newer one of equals.
pub fn built_context(project: &str, history: &[SessionRecord], input: &str) -> String {
    let notes = notes(history);
    let mut important = (0..notes.len())
        .filter(|place| importance(&notes[*place].1) > 0)
        .collect::<Vec<_>>();
    important.sort_by_key(|place| std::cmp::Reverse((importance(&notes[*place].1), *place)));
    important.truncate(IMPORTANT);
    let ranked = rank(&notes, &[input]).pop().unwrap_or_default();
    let relevant = ranked
        .into_iter()
        .filter(|place| !important.contains(place))
        .take(RELEVANT)
        .collect::<Vec<_>>();

    let mut text = String::new();
    if !project.trim().is_empty() {
        let _ = writeln!(text, "## Project Context\n{}\n", neutralize(project.trim()));
    }
    for (title, places) in [
        ("Important Memories", important),
        ("Relevant Memories", relevant),
    ] {
        if !places.is_empty() {
            let _ = writeln!(text, "## {title}");
            places
                .iter()
                .for_each(|place| list(&mut text, &notes[*place].1));
            text.push('\n');
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn importance(note: &Note) -> u8 {
    note.importance.unwrap_or_default()
}

/// A note as one item: its further lines are indented, so that none of them is a heading.
fn list(text: &mut String, note: &Note) {
    let item = neutralize(note.text.trim()).replace('\n', "\n  ");
    let _ = writeln!(text, "- {item}");
}

/// A document of the host that persists across compactions (the agent loop, section 8:
/// `MEMORY.md`), as a labelled part of the system message.
///
/// ```
/// use compactometer_engine::memory;
/// use compactometer_engine::message::{Message, MessageId, Part, Role};
///
/// let parts = vec![Part::Text { text: "You are an agent.".into() }, memory::document("The user is called Ann.")];
/// let system = Message { id: MessageId(0), role: Role::System, at_ms: None, parts, usage: None };
/// assert_eq!(system.parts.len(), 2);
/// ```
pub fn document(text: &str) -> Part {
    Part::Text {
        text: format!(
            "<memory_document>\n{}\n</memory_document>",
            neutralize(text.trim_end())
        ),
    }
}
