//! `handoff` as the agent loop's own code does it.

use crate::conversation::record::{NewRecord, RecordKind};
use crate::conversation::view::{Edit, Origin, WrittenPart};
use crate::message::{Part, Role};
use crate::strategy::params::{Param, parameters};
use crate::strategy::selection::Selection;
use crate::strategy::{Compacted, Context, FailReason, PublishedForm};

/// As the document has it.
pub(super) const FORM: PublishedForm = PublishedForm {
    values: &[
        ("prompt", include_str!("published.md")),
        ("off", "faithful"),
        ("intent", "faithful"),
        ("full_context", "faithful"),
        ("residue", "faithful"),
        ("unchecked", "faithful"),
    ],
    breaks: &[3, 5, 6, 8, 10],
};

parameters! {
    /// How the source deviates.
    Deviations {
        off: bool = Param::deviation().of_limits(), "threshold 0 compacts at every call instead of never";
        intent: bool = Param::deviation(), "nothing pending stays; the last user turn, be it a summary, is quoted behind the new summary";
        full_context: bool = Param::deviation(), "the prompt joins a context that it may no longer fit, and no room is kept for the answer";
        residue: bool = Param::deviation(), "the prompt of a failed call stays in the history";
        unchecked: bool = Param::deviation(), "any answer is taken for a summary";
    }
}

impl Deviations {
    /// The size at which a compaction starts.
    pub(super) fn trigger(self, threshold: u32) -> u32 {
        if threshold == 0 && self.off {
            1
        } else {
            threshold
        }
    }
}

/// `Compact`: the first message, and one user turn of the summary and the text of the last user
/// turn.
pub(super) fn with_intent(
    cx: &Context<'_>,
    selection: &Selection<'_>,
    summary: String,
) -> Compacted {
    let number = cx.number_of_new(0);
    let first = cx
        .log
        .messages()
        .first()
        .map(|counted| Edit::Keep(counted.message.id));
    let last_user = cx
        .view
        .entries()
        .iter()
        .rfind(|entry| entry.role() == Role::User);
    let intent = last_user.map(|entry| {
        let texts = entry.parts().filter_map(|(part, _)| match part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        let text = format!(
            "\n\nLast request from user was: {}",
            texts.collect::<String>()
        );
        let origin = entry
            .parts()
            .next()
            .map_or(Origin::Summary(number), |(_, origin)| origin);
        WrittenPart::text(text, origin)
    });
    let covers = selection.covers();
    let written = WrittenPart::text(&summary, Origin::Summary(number));
    let turn = Edit::Insert(Role::User, [written].into_iter().chain(intent).collect());
    let saved = NewRecord::new(RecordKind::Summary, covers, summary);
    Compacted {
        edits: first.into_iter().chain([turn]).collect(),
        saved: vec![saved],
        ..Compacted::default()
    }
}

/// The view as it is, and the prompt that nobody answered.
pub(super) fn with_residue(cx: &Context<'_>, prompt: String, reason: FailReason) -> Compacted {
    let mut edits = cx.view.to_edits();
    edits.push(Edit::turn(prompt, Origin::Summary(cx.number_of_new(0))));
    let saved = NewRecord::new(
        RecordKind::Failed,
        cx.log.last().map(|last| (last, last)),
        reason.to_string(),
    );
    Compacted {
        edits,
        saved: vec![saved],
        fallback: Some(reason),
        ..Compacted::default()
    }
}
