//! `threshold-summary` as the threshold plan describes it: one text of a summary and of the recent
//! messages, rebuilt from all that was said.

use super::unread;
use crate::budget::Tail;
use crate::conversation::log::Log;
use crate::conversation::record::{RecordKind, SessionRecord};
use crate::conversation::view::{Edit, Entry, Origin, View, WrittenPart};
use crate::message::{Message, MessageId, Part, Role};
use crate::strategy::next_view::{edits_with, summary_turn};
use crate::strategy::params::{Param, parameters};
use crate::strategy::selection::Selection;
use crate::strategy::{Compacted, Context, PublishedForm};

/// As the document has it. Its prompt asks for no key facts. Where it contradicts itself its code
/// rules: 80,000, and enabled.
pub(super) const FORM: PublishedForm = PublishedForm {
    values: &[
        ("prompt", include_str!("published.md")),
        ("strict", "faithful"),
        ("reuse", "faithful"),
        ("limit", "faithful"),
        ("overlap", "faithful"),
        ("gapless", "faithful"),
        ("section", "faithful"),
        ("unguarded", "faithful"),
    ],
    breaks: &[1, 3, 5, 6, 8, 9, 21],
};

parameters! {
    /// How the source deviates.
    Deviations {
        strict: bool = Param::deviation().of_limits(), "starts above the threshold, not at it";
        reuse: bool = Param::deviation(), "the first summary is shown for ever; what leaves after it is never read";
        limit: bool = Param::deviation(), "reads only the latest 100 messages";
        overlap: bool = Param::deviation(), "reads what stays verbatim too";
        gapless: bool = Param::deviation(), "assumes that message ids have no gaps: a summary covers up to the last id minus the number of messages kept";
        section: bool = Param::deviation(), "rebuilds the context from all that was said, as one text";
        unguarded: bool = Param::deviation(), "one request of any size, and any answer is taken for a summary";
    }
}

/// How many messages `persistence_load_conversation_context` loads.
const HISTORY_LIMIT: usize = 100;

impl Deviations {
    /// The size at which a compaction starts.
    pub(super) fn trigger(self, threshold: u32) -> u32 {
        threshold + u32::from(self.strict)
    }

    /// Everything that was said, as a view: the source loads its history and not what was shown of
    /// it.
    pub(super) fn everything_said(self, log: &Log) -> Option<View> {
        self.section.then(|| {
            let mut view = View::default();
            log.messages().iter().for_each(|counted| view.push(counted));
            view
        })
    }

    /// The summary that there is, whatever has been said since (`compaction_get_checkpoint`).
    pub(super) fn summary_again(
        self,
        cx: &Context<'_>,
        selection: &Selection<'_>,
    ) -> Option<Compacted> {
        let earlier = latest_summary(cx).filter(|_| self.reuse)?;
        let edits = match self.section {
            true => edits(cx, selection, Some((earlier.number, &earlier.body))),
            false => edits_with(cx, selection, summary_turn(&earlier.body, earlier.number)),
        };
        Some(Compacted {
            edits,
            unread: unread(cx, selection, &[]),
            ..Compacted::default()
        })
    }

    /// What the summarizer is to read.
    pub(super) fn read_by_summarizer<'v>(
        self,
        cx: &Context<'_>,
        view: &'v View,
        selection: &Selection<'v>,
    ) -> Vec<&'v Entry> {
        let said = cx.log.messages();
        let first = said.len().saturating_sub(HISTORY_LIMIT);
        let oldest = said
            .get(first)
            .filter(|_| self.limit)
            .map(|counted| counted.message.id);
        let all = match self.overlap {
            true => view
                .entries()
                .iter()
                .filter(|entry| entry.role() != Role::System)
                .collect(),
            false => selection.leaving.clone(),
        };
        let is_loaded = |entry: &&Entry| {
            entry
                .message_id()
                .is_none_or(|id| oldest.is_none_or(|first| id >= first))
        };
        all.into_iter().filter(is_loaded).collect()
    }

    /// Shows and records an answer as the source does.
    pub(super) fn change(
        self,
        cx: &Context<'_>,
        selection: &Selection<'_>,
        compacted: &mut Compacted,
    ) {
        if self.section {
            let new = compacted
                .saved
                .first()
                .filter(|saved| saved.kind == RecordKind::Summary);
            let new = new.map(|saved| (cx.number_of_new(0), saved.body.as_str()));
            let shown = new.or(latest_summary(cx).map(|saved| (saved.number, saved.body.as_str())));
            compacted.edits = edits(cx, selection, shown);
        }
        if let Some(saved) = compacted.saved.first_mut().filter(|_| self.gapless) {
            let kept = match cx.budget.tail {
                Tail::Messages(messages) => messages,
                Tail::Tokens(_) => selection.kept.len() as u32,
            };
            saved.covers = covers_by_count(cx.log, kept);
        }
    }
}

fn latest_summary<'s>(cx: &Context<'s>) -> Option<&'s SessionRecord> {
    cx.history.latest(RecordKind::Summary)
}

/// The system message, and one user turn with a summary, where there is one, and the recent
/// messages as text.
fn edits(cx: &Context<'_>, selection: &Selection<'_>, summary: Option<(u32, &str)>) -> Vec<Edit> {
    let mut parts = match summary {
        Some((number, summary)) => vec![WrittenPart::text(
            format!("## Previous Context (Summarized)\n{summary}\n\n## Recent Conversation\n"),
            Origin::Summary(number),
        )],
        None => vec![WrittenPart::text(
            "## Recent Conversation\n",
            Origin::Filler,
        )],
    };
    let recent = selection.kept.iter().filter_map(|id| cx.log.get(*id));
    parts.extend(recent.map(|counted| {
        WrittenPart::text(line(&counted.message), Origin::Spoken(counted.message.id))
    }));
    let system = selection.system.map(|system| Edit::Keep(system.id));
    system
        .into_iter()
        .chain([Edit::Insert(Role::User, parts)])
        .collect()
}

/// From the session's first message to the one whose id is the last id minus the number of messages
/// kept.
fn covers_by_count(log: &Log, kept: u32) -> Option<(MessageId, MessageId)> {
    let first = log
        .messages()
        .iter()
        .find(|counted| counted.message.role != Role::System)?
        .message
        .id;
    Some((first, MessageId(log.last()?.0.saturating_sub(kept))))
}

fn line(message: &Message) -> String {
    let parts = message.parts.iter().filter_map(|part| match part {
        Part::Text { text } | Part::ToolResult { text, .. } => Some(text.clone()),
        Part::ToolCall {
            name, arguments, ..
        } => Some(format!("{name} {arguments}")),
        Part::Thinking { .. } | Part::Media { .. } | Part::Sealed { .. } => None,
    });
    format!(
        "{}: {}\n",
        message.role.name(),
        parts.collect::<Vec<_>>().join("\n")
    )
}
