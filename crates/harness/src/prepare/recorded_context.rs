//! What a recorded compaction left, as a context.

use std::collections::HashSet;
use std::sync::Arc;

use compactometer_engine::log::{Log, Pending};
use compactometer_engine::message::MessageId;
use compactometer_engine::session::retained_tokens;
use compactometer_engine::tokens::TokenCounter;
use compactometer_engine::view::{Edit, Entry, Origin, View, WrittenPart};
use compactometer_formats::scenario::{RecordedCompaction, Retained};

use super::PreparedScenario;
use super::cleared::ClearedUpTo;

/// What a recorded compaction left, in tokens of the measuring counter.
#[derive(Clone, Debug)]
pub(crate) struct LeftByProgram {
    /// Its place among the conversation's recorded compactions.
    pub(crate) place: usize,
    /// Length of the log at it.
    pub(crate) length: usize,
    /// What the log shows of the pending part in what was left.
    pub(crate) pending: Pending,
    /// Tokens of the rest of the pending part.
    pub(crate) dropped: u32,
    /// Tokens of the request before it.
    pub(crate) before: u32,
    /// Tokens that it left beside the system prompt and the pending part.
    pub(crate) retained: u32,
    /// The context after it.
    pub(crate) view: View,
}

/// What each recorded compaction of a conversation left.
pub(crate) fn left(prepared: &PreparedScenario, counter: &dyn TokenCounter) -> Vec<LeftByProgram> {
    let (mut log, mut view, mut found) = (Log::default(), View::default(), Vec::new());
    let mut cleared = ClearedUpTo::new(&prepared.scenario.log);
    let mut compactions = prepared.scenario.compactions.iter().enumerate().peekable();
    for counted in &prepared.messages {
        // The suite was validated when it was read.
        let _ = log.push(Arc::clone(counted));
        view.follow(counted, &log, counter);
        if cleared.up_to(counted.message.id) {
            view = cleared.out_of(view, &log, counter);
        }
        let Some((place, made)) = compactions.next_if(|(_, made)| made.after == counted.message.id)
        else {
            continue;
        };
        let before = prepared.tool_tokens + view.tokens();
        let system = log.system().map(|system| system.message.id);
        let Ok(left) = View::from_edits(edits(made, system, 0), &log, counter) else {
            continue;
        };
        view = cleared.out_of(left, &log, counter);
        let (length, retained) = (log.messages().len(), retained_tokens(&view, &log));
        let (pending, dropped) = kept_of_pending(&log, &view);
        found.push(LeftByProgram {
            place,
            length,
            pending,
            dropped,
            before,
            retained,
            view: view.clone(),
        });
    }
    found
}

/// What a context keeps of the pending part of a log, and the tokens of the rest.
fn kept_of_pending(log: &Log, view: &View) -> (Pending, u32) {
    let (pending, messages) = (log.pending(), log.messages());
    let kept = view.entries().iter().filter_map(Entry::log_message);
    let kept = kept.map(|kept| kept.id).collect::<HashSet<_>>();
    let is_kept = |index: &usize| kept.contains(&messages[*index].message.id);
    let found = Pending {
        last_user: pending.last_user.filter(is_kept),
        batch: match pending.batch.clone().all(|index| is_kept(&index)) {
            true => pending.batch.clone(),
            false => messages.len()..messages.len(),
        },
    };
    let dropped = (0..messages.len())
        .filter(|index| pending.contains(*index) && !found.contains(*index))
        .map(|index| messages[index].tokens)
        .sum();
    (found, dropped)
}

/// The system prompt, then what the compaction left. `number` is that of its record.
pub(crate) fn edits(
    made: &RecordedCompaction,
    system: Option<MessageId>,
    number: u32,
) -> Vec<Edit> {
    let left = made.context.iter().map(|retained| match retained {
        Retained::Kept(id) => Edit::Keep(*id),
        Retained::Written { role, text } => Edit::Insert(
            *role,
            vec![WrittenPart::text(text.as_str(), Origin::Summary(number))],
        ),
    });
    system.map(Edit::Keep).into_iter().chain(left).collect()
}

/// The texts that the program wrote.
pub(crate) fn written_texts(made: &RecordedCompaction) -> impl Iterator<Item = &str> {
    made.context.iter().filter_map(|retained| match retained {
        Retained::Written { text, .. } => Some(text.as_str()),
        Retained::Kept(_) => None,
    })
}
