//! What strategies find for a question in a session's records: no model call, and nothing of it
//! enters the view by itself.

use crate::conversation::view::{Entry, Origin, WrittenPart};
use crate::memory::{self, RESULTS};
use crate::message::Part;
use crate::model::embed::Lexical;
use crate::recovery::{self, RecoverySection};
use crate::strategy::Context;

/// For each question the notes that fit it best: [`RESULTS`] at most, those left out that find no
/// room.
pub(crate) fn notes(cx: &Context<'_>, questions: &[&str], room: u32) -> Vec<Vec<WrittenPart>> {
    let notes = memory::notes(cx.history);
    if notes.is_empty() {
        return Vec::new();
    }
    let of_question = |ranked: Vec<usize>| {
        let mut room = room;
        let mut fitting = Vec::new();
        for (saved, note) in ranked.into_iter().take(RESULTS).map(|place| &notes[place]) {
            let (part, tokens) = sized(
                cx,
                memory::labelled(saved, note),
                Origin::Memory(saved.number),
            );
            if let Some(left) = room.checked_sub(tokens) {
                room = left;
                fitting.push(part);
            }
        }
        fitting
    };
    memory::rank(&notes, questions)
        .into_iter()
        .map(of_question)
        .collect()
}

/// For each question the items of the latest checkpoint that it is about, where the view does not
/// show that checkpoint.
pub(crate) async fn checkpoint(
    cx: &Context<'_>,
    questions: &[&str],
    room: u32,
) -> Vec<Vec<WrittenPart>> {
    let Some((_, number)) = recovery::latest_checkpoint(cx.history) else {
        return Vec::new();
    };
    let is_shown = cx
        .view
        .entries()
        .iter()
        .flat_map(Entry::parts)
        .any(|(_, origin)| origin == Origin::Checkpoint(number));
    if is_shown {
        return Vec::new();
    }
    // Lexical, as everything that is asked without a model; it cannot fail.
    let sections = recovery::sections_for(cx.history, questions, room, &Lexical, cx.counter)
        .await
        .unwrap_or_default();
    let part =
        |section: RecoverySection| sized(cx, section.text, Origin::Checkpoint(section.number)).0;
    sections
        .into_iter()
        .map(|section| section.map(part).into_iter().collect())
        .collect()
}

fn sized(cx: &Context<'_>, text: String, origin: Origin) -> (WrittenPart, u32) {
    let part = Part::Text { text };
    let tokens = cx.counter.count_part(&part);
    (WrittenPart { part, origin }, tokens)
}
