//! Two requests of one conversation, before and after a compaction, as one conversation with that
//! compaction.
//!
//! The request before it is the conversation. A message of the request after it that the first has
//! too, word for word, was kept; every other one was written by the compaction. The conversation
//! ends there, so later uses cannot be measured.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use compactometer_engine::message::{Message, MessageId, Part, Role, part_text};
use compactometer_formats::scenario::{RecordedCompaction, Retained, Scenario};

use super::error::ImportError;
use super::{Imported, Options, by_content, facts, import};

/// Reads the request before a compaction and the one after it, each in any known format.
///
/// # Errors
/// [`ImportError`] if a file cannot be read, holds several conversations, or the second keeps all
/// of the first.
pub fn import_pair(
    before: &PathBuf,
    after: &PathBuf,
    name: &str,
    options: &Options,
) -> Result<Imported, ImportError> {
    // Facts are those of the conversation, so they are found at the end.
    let plain = Options {
        auto_facts: false,
        concat: None,
        ..*options
    };
    let read = |file: &PathBuf, options| {
        import(by_content(file)?, std::slice::from_ref(file), name, options)
    };
    // Each file numbers its masked secrets, so messages are compared as they are.
    let unmasked = Options {
        keep_secrets: true,
        ..plain
    };
    let same = same_messages(
        &one(before, read(before, &unmasked)?)?,
        &one(after, read(after, &unmasked)?)?,
    );
    let (mut imported, left) = (read(before, &plain)?, read(after, &plain)?);
    let (said, shown) = (&mut imported.suite.scenarios[0], &left.suite.scenarios[0]);
    let compaction = compaction(said, shown, &same).ok_or_else(|| {
        let (before, after) = (before.display(), after.display());
        ImportError::Other(format!(
            "`{after}` leaves out nothing of `{before}`: give the request before a compaction first"
        ))
    })?;
    said.compactions = vec![compaction];
    let report = &mut imported.report;
    (report.files, report.compactions) = (2, 1);
    report.repairs.extend(left.report.repairs);
    for (kind, count) in left.report.ignored {
        *report.ignored.entry(kind).or_insert(0) += count;
    }
    if options.auto_facts {
        report.facts = Some(facts::find(
            &mut imported.suite.scenarios,
            facts::INCIDENTAL,
            facts::Foils::Made,
        ));
    }
    imported.suite.header.notes = report.notes();
    Ok(imported)
}

/// The only conversation of a file.
fn one(file: &Path, imported: Imported) -> Result<Scenario, ImportError> {
    let [scenario] = <[Scenario; 1]>::try_from(imported.suite.scenarios).map_err(|_| {
        ImportError::Other(format!(
            "`{}` holds several conversations: give a file with one request",
            file.display()
        ))
    })?;
    Ok(scenario)
}

/// For each message of the second request, the message of the first that says the same. A message
/// is kept at most once.
fn same_messages(before: &Scenario, after: &Scenario) -> Vec<Option<MessageId>> {
    let mut kept = HashSet::new();
    let same = |message: &Message| {
        let mut known = before
            .messages
            .iter()
            .filter(|known| is_same(known, message))
            .map(|known| known.id);
        known.find(|id| kept.insert(*id))
    };
    after.messages.iter().map(same).collect()
}

/// What the second request has of the first, and what is new in it; nothing if it has all of it.
fn compaction(
    before: &Scenario,
    after: &Scenario,
    same: &[Option<MessageId>],
) -> Option<RecordedCompaction> {
    let context = context(after, same);
    let kept = context
        .iter()
        .filter(|left| matches!(left, Retained::Kept(_)))
        .count();
    let leaves_out = kept < before.messages.iter().filter(spoken).count();
    (leaves_out && !context.is_empty()).then_some(RecordedCompaction {
        after: before.messages.last()?.id,
        at_ms: None,
        trigger: None,
        reported_tokens: None,
        usage: None,
        took_ms: None,
        version: None,
        compactor: None,
        line: None,
        context,
    })
}

/// What the later conversation shows of the earlier one.
fn context(after: &Scenario, same: &[Option<MessageId>]) -> Vec<Retained> {
    let shown = after.messages.iter().zip(same);
    shown
        .filter(|(message, _)| spoken(message))
        .filter_map(|(message, same)| {
            same.map(Retained::Kept)
                .or_else(|| written_message(message))
        })
        .collect()
}

fn spoken(message: &&Message) -> bool {
    message.role != Role::System
}

/// Whether both say the same. Each file has its own ids of calls, so they do not count.
fn is_same(one: &Message, other: &Message) -> bool {
    let content = |message: &Message| message.parts.iter().map(without_id).collect::<Vec<_>>();
    one.role == other.role && content(one) == content(other)
}

fn without_id(part: &Part) -> Part {
    let mut part = part.clone();
    match &mut part {
        Part::ToolCall { id, .. } => id.clear(),
        Part::ToolResult { call_id, .. } => call_id.clear(),
        Part::Text { .. } | Part::Thinking { .. } | Part::Media { .. } | Part::Sealed { .. } => {}
    }
    part
}

/// The texts of a message that the compaction wrote. A call or result that it changed counts as
/// what the agent said.
fn written_message(message: &Message) -> Option<Retained> {
    let text = message
        .parts
        .iter()
        .filter_map(part_text)
        .collect::<Vec<_>>()
        .join("\n");
    let role = if message.role == Role::User {
        Role::User
    } else {
        Role::Assistant
    };
    (!text.trim().is_empty()).then_some(Retained::Written { role, text })
}
