//! What a view holds, and what a compaction changed in it.

use std::collections::HashSet;

use compactometer_engine::log::Log;
use compactometer_engine::message::part_text;
use compactometer_engine::message::{MessageId, Role};
use compactometer_engine::tokens::TokenCounter;
use compactometer_engine::view::{Entry, Origin, View};
use compactometer_formats::view_breakdown::ViewParts;

/// The texts that the strategy wrote into the view, which come from no message of the log.
pub(crate) fn inserted_texts(view: &View) -> Vec<String> {
    let written = view
        .entries()
        .iter()
        .flat_map(Entry::parts)
        .filter(|(_, origin)| !matches!(origin, Origin::Spoken(_)));
    written
        .filter_map(|(part, _)| part_text(part))
        .map(str::to_owned)
        .collect()
}

/// Whether a view holds the last message of the user, whole or in part.
pub(crate) fn holds_request(log: &Log, view: &View) -> Option<bool> {
    let request = log
        .messages()
        .iter()
        .rev()
        .find(|counted| counted.message.role == Role::User)?
        .message
        .id;
    let holds = |entry: &Entry| {
        let spoken = entry
            .parts()
            .any(|(_, origin)| matches!(origin, Origin::Spoken(id) if id == request));
        entry.message_id() == Some(request) || spoken
    };
    Some(view.entries().iter().any(holds))
}

/// The tokens of a view, by kind. An entry's overhead is counted with its first part.
pub(crate) fn parts_of(view: &View, counter: &dyn TokenCounter) -> ViewParts {
    let mut parts_by_kind = ViewParts::default();
    for entry in view.entries() {
        let mut parts = match entry.written_parts() {
            // A kept message is counted already.
            None => entry
                .parts()
                .take(1)
                .map(|(_, origin)| (entry.tokens(), origin))
                .collect(),
            Some(_) => entry
                .parts()
                .map(|(part, origin)| (counter.count_part(part), origin))
                .collect::<Vec<_>>(),
        };
        let within = parts.iter().map(|(tokens, _)| tokens).sum::<u32>();
        if let Some((tokens, _)) = parts.first_mut() {
            *tokens += entry.tokens().saturating_sub(within);
        }
        for (tokens, origin) in parts {
            match origin {
                Origin::Summary(number) => match parts_by_kind
                    .summaries
                    .iter_mut()
                    .find(|(seen, _)| *seen == number)
                {
                    Some((_, sum)) => *sum += tokens,
                    None => parts_by_kind.summaries.push((number, tokens)),
                },
                Origin::Checkpoint(_) => parts_by_kind.checkpoint += tokens,
                Origin::Ledger => parts_by_kind.ledger += tokens,
                Origin::Filler | Origin::Memory(_) => parts_by_kind.filler += tokens,
                Origin::Spoken(_) if entry.role() == Role::System => parts_by_kind.system += tokens,
                Origin::Spoken(_) => parts_by_kind.spoken += tokens,
            }
        }
    }
    parts_by_kind
}

/// Runs of messages that only the view before holds whole.
pub(crate) fn left_messages(before: &View, after: &View) -> Vec<(MessageId, MessageId)> {
    let whole = |view: &View| {
        // A system prompt never leaves: at most a section joins it.
        let kept = view
            .entries()
            .iter()
            .filter(|entry| entry.log_message().is_some() && entry.role() != Role::System);
        kept.filter_map(Entry::message_id).collect::<Vec<_>>()
    };
    let stays = whole(after).into_iter().collect::<HashSet<_>>();
    let mut runs: Vec<(MessageId, MessageId)> = Vec::new();
    let mut joined = false;
    for id in whole(before) {
        let leaves = !stays.contains(&id);
        match runs.last_mut().filter(|_| joined) {
            Some(run) if leaves => run.1 = id,
            _ if leaves => runs.push((id, id)),
            _ => {}
        }
        joined = leaves;
    }
    runs
}

/// Where the view's verbatim tail begins: from this index on, the view holds everything whole that
/// is not pending.
pub(crate) fn tail_start(view: &View, log: &Log) -> usize {
    let pending = log.pending();
    let kept = view
        .entries()
        .iter()
        .filter_map(Entry::log_message)
        .map(|message| message.id)
        .collect::<HashSet<_>>();
    let stays = |index: usize| {
        let message = &log.messages()[index].message;
        pending.contains(index) || (message.role != Role::System && kept.contains(&message.id))
    };
    (0..log.messages().len())
        .rev()
        .take_while(|index| stays(*index))
        .last()
        .unwrap_or(log.messages().len())
}

/// Tokens of the prefix that both views share: whole entries, then the equal leading parts of the
/// first that differs.
pub fn shared_tokens(before: &View, after: &View, counter: &dyn TokenCounter) -> u32 {
    let pairs = || before.entries().iter().zip(after.entries());
    let whole = pairs()
        .take_while(|(old, new)| reads_the_same(old, new))
        .count();
    let tokens = before.entries()[..whole]
        .iter()
        .map(|entry| entry.tokens())
        .sum::<u32>();
    let begun = pairs()
        .nth(whole)
        .filter(|(old, new)| old.role() == new.role());
    let parts = begun
        .into_iter()
        .flat_map(|(old, new)| old.parts().zip(new.parts()));
    let equal = parts
        .take_while(|((old, _), (new, _))| old == new)
        .map(|((part, _), _)| counter.count_part(part));
    tokens + equal.sum::<u32>()
}

fn reads_the_same(old: &Entry, new: &Entry) -> bool {
    old.role() == new.role()
        && old
            .parts()
            .map(|(part, _)| part)
            .eq(new.parts().map(|(part, _)| part))
}
