//! Results of tools that the recorded program took out of its context beside its compactions.

use std::collections::HashSet;

use compactometer_engine::log::Log;
use compactometer_engine::message::{MessageId, Part};
use compactometer_engine::tokens::TokenCounter;
use compactometer_engine::view::{Edit, Origin, View, WrittenPart};
use compactometer_formats::scenario::{ClearedResults, LogNotes};

/// The text that takes a result's place. Programs have texts of about this length.
const CLEARED: &str = "[cleared]";

/// The results that were taken out up to a message.
pub(crate) struct ClearedUpTo<'l> {
    to_come: std::slice::Iter<'l, ClearedResults>,
    calls: HashSet<&'l str>,
}

impl<'l> ClearedUpTo<'l> {
    /// None yet.
    pub(crate) fn new(log: &'l LogNotes) -> Self {
        ClearedUpTo {
            to_come: log.cleared.iter(),
            calls: HashSet::new(),
        }
    }

    /// Takes out what was taken out up to a message. Returns whether a result was named.
    pub(crate) fn up_to(&mut self, message: MessageId) -> bool {
        let before = self.calls.len();
        while let Some(next) = self.to_come.as_slice().first()
            && next.after <= message
        {
            self.calls.extend(next.calls.iter().map(String::as_str));
            self.to_come.next();
        }
        self.calls.len() > before
    }

    /// A view without the results.
    pub(crate) fn out_of(&self, view: View, log: &Log, counter: &dyn TokenCounter) -> View {
        if self.calls.is_empty() {
            return view;
        }
        let edits = self.out_of_edits(view.to_edits(), log);
        // The view's own messages are in its log.
        View::from_edits(edits, log, counter).unwrap_or(view)
    }

    /// Edits that keep the results out.
    pub(crate) fn out_of_edits(&self, edits: Vec<Edit>, log: &Log) -> Vec<Edit> {
        let edits = edits.into_iter().map(|edit| match edit {
            Edit::Keep(id) => {
                let message = log.get(id).map(|counted| &counted.message);
                let parts = message.map_or(&[][..], |message| &message.parts);
                match parts.iter().any(|part| self.has(part)) {
                    true => Edit::Replace(
                        id,
                        self.rest(parts.iter().map(|part| (part, Origin::Spoken(id)))),
                    ),
                    false => Edit::Keep(id),
                }
            }
            Edit::Replace(id, parts) => {
                let parts = parts.iter().map(|written| (&written.part, written.origin));
                Edit::Replace(id, self.rest(parts))
            }
            insert @ Edit::Insert(..) => insert,
        });
        edits.collect()
    }

    /// Whether a part is a result that was taken out.
    pub(crate) fn has(&self, part: &Part) -> bool {
        matches!(part, Part::ToolResult { call_id, .. } if self.calls.contains(call_id.as_str()))
    }

    /// Parts without the results.
    fn rest<'p>(&self, parts: impl Iterator<Item = (&'p Part, Origin)>) -> Vec<WrittenPart> {
        let rest = parts.map(|(part, mut origin)| {
            let mut part = part.clone();
            if self.has(&part)
                && let Part::ToolResult { text, .. } = &mut part
            {
                CLEARED.clone_into(text);
                origin = Origin::Filler;
            }
            WrittenPart { part, origin }
        });
        rest.collect()
    }
}
