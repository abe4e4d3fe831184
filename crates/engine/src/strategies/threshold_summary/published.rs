//! What source 001 makes of a conversation: one text of a summary and of the recent messages, rebuilt from all that was said.

use crate::conversation::log::Log;
use crate::conversation::view::{Edit, Origin, View, WrittenPart};
use crate::message::{Message, MessageId, Part, Role};
use crate::strategy::Context;
use crate::strategy::selection::Selection;

/// The system message, and one user turn with a summary, where there is one, and the recent messages as text.
pub(super) fn edits(cx: &Context<'_>, selection: &Selection<'_>, summary: Option<(u32, &str)>) -> Vec<Edit> {
    let text = |text: String, origin| WrittenPart { part: Part::Text { text }, origin };
    let mut parts = match summary {
        Some((number, summary)) => vec![text(
            format!("## Previous Context (Summarized)\n{summary}\n\n## Recent Conversation\n"),
            Origin::Summary(number),
        )],
        None => vec![text("## Recent Conversation\n".to_owned(), Origin::Filler)],
    };
    let recent = selection.kept.iter().filter_map(|id| cx.log.get(*id));
    parts.extend(recent.map(|counted| text(line(&counted.message), Origin::Spoken(counted.message.id))));
    let system = selection.system.map(|system| Edit::Keep(system.id));
    system.into_iter().chain([Edit::Insert(Role::User, parts)]).collect()
}

/// Everything that was said, as a view: the source loads its history and not what was shown of it.
pub(super) fn everything_said(log: &Log) -> View {
    let mut view = View::default();
    log.messages().iter().for_each(|counted| view.push(counted));
    view
}

/// From the session's first message to the one whose id is as many less than the last as messages are kept.
pub(super) fn covers_by_count(log: &Log, kept: u32) -> Option<(MessageId, MessageId)> {
    let first = log.messages().iter().find(|counted| counted.message.role != Role::System)?.message.id;
    Some((first, MessageId(log.last()?.0.saturating_sub(kept))))
}

fn line(message: &Message) -> String {
    let parts = message.parts.iter().filter_map(|part| match part {
        Part::Text { text } | Part::ToolResult { text, .. } => Some(text.clone()),
        Part::ToolCall { name, arguments, .. } => Some(format!("{name} {arguments}")),
        Part::Thinking { .. } | Part::Media { .. } => None,
    });
    format!("{}: {}\n", message.role.name(), parts.collect::<Vec<_>>().join("\n"))
}
