//! A context as records hold it: kept messages by their ids, what was written by origin and hash.

use compactometer_engine::memory::Note;
use compactometer_engine::message::part_text;
use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_engine::view::{Entry, View, Written};
use compactometer_formats::record::{ContextEntry, SavedRow};

use crate::prepare::{KeptTexts, PreparedScenario};

/// The view's entries in order. Texts go to the texts.
pub(crate) fn entries_of(
    prepared: &PreparedScenario,
    view: &View,
    texts: &mut KeptTexts,
) -> Vec<ContextEntry> {
    let mut entries = Vec::new();
    for entry in view.entries() {
        match entry {
            Entry::Written(written) => entries.push(written_entry(written, texts)),
            Entry::Kept(counted) => {
                let id = counted.message.id;
                match entries.last_mut() {
                    Some(ContextEntry::Kept(_, last))
                        if prepared.index_of(*last) + 1 == prepared.index_of(id) =>
                    {
                        *last = id
                    }
                    _ => entries.push(ContextEntry::Kept(id, id)),
                }
            }
        }
    }
    entries
}

fn written_entry(written: &Written, texts: &mut KeptTexts) -> ContextEntry {
    let said = written
        .parts
        .iter()
        .map(|part| (part.origin, part_text(&part.part).unwrap_or_default()));
    let parts = said
        .clone()
        .map(|(origin, text)| (origin, text.chars().count() as u32))
        .collect();
    let text = texts.keep(&said.map(|(_, text)| text).collect::<String>());
    ContextEntry::Written {
        role: written.role,
        replaces: written.replaces,
        parts,
        text,
    }
}

/// What was saved outside the context.
pub(crate) fn saved_rows(
    prepared: &PreparedScenario,
    saved: &[SessionRecord],
    texts: &mut KeptTexts,
) -> Vec<SavedRow> {
    let rows = saved.iter().filter_map(|saved| {
        let text = match saved.kind {
            RecordKind::Note => Note::from_record(saved)?.text,
            RecordKind::Checkpoint | RecordKind::Pinned => saved.body.clone(),
            RecordKind::Summary | RecordKind::Failed | RecordKind::Shared => return None,
        };
        let text = texts.keep(&prepared.shorten(&text, texts));
        Some(SavedRow {
            kind: saved.kind,
            covers: saved.covers,
            text,
        })
    });
    rows.collect()
}
