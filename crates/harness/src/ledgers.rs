//! The ledger of an imported conversation: what a hook adds after a compaction.

use std::collections::HashSet;

use compactometer_engine::ledger::{Ledger, Page};
use compactometer_engine::message::{Message, MessageId, part_text};
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::scenario::{RecordedCompaction, Retained, Scenario, Speaker};

use crate::prepare::recorded_context::written_texts;

/// A ledger of a conversation up to a message.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerAt {
    /// The page, without what the next request holds.
    pub page: Page,
    /// The number of messages that it was made of.
    pub messages: usize,
    /// The last compaction before its end, by the last message before it.
    pub compacted_after: Option<MessageId>,
}

/// The ledger after a message, or at the end. The next request holds what the last compaction
/// before it left and what was said since; without a compaction it is taken to hold nothing, as if
/// everything were compacted away.
pub fn ledger_at(
    scenario: &Scenario,
    until: Option<MessageId>,
    budget: u32,
    counter: &dyn TokenCounter,
) -> LedgerAt {
    let is_said = |id: MessageId| until.is_none_or(|until| id <= until);
    let said = &scenario.messages[..scenario
        .messages
        .partition_point(|message| is_said(message.id))];
    let mut ledger = Ledger::in_directories(&scenario.directories);
    said.iter()
        .for_each(|message| read(&mut ledger, scenario, message));
    let made = scenario
        .compactions
        .iter()
        .rfind(|made| is_said(made.after));
    let unread = scenario
        .unmeasured
        .iter()
        .filter_map(|left_out| left_out.after)
        .filter(|after| is_said(*after))
        .max();
    // Nothing is known of what a later compaction left whose summary cannot be read.
    let made = made.filter(|made| unread.is_none_or(|unread| unread <= made.after));
    let compacted_after = made.map(|made| made.after).max(unread);
    let kept = made
        .into_iter()
        .flat_map(kept_messages)
        .collect::<HashSet<_>>();
    let is_held = |message: &&Message| {
        kept.contains(&message.id) || compacted_after.is_some_and(|after| message.id > after)
    };
    let held = texts(said.iter().filter(is_held));
    let page = ledger.page(
        budget,
        held.chain(made.into_iter().flat_map(written_texts)),
        counter,
    );
    LedgerAt {
        page,
        messages: said.len(),
        compacted_after,
    }
}

/// The values that calls had needed most when a recorded compaction was made, at most `most`: those
/// that it left, and those that it did not leave, the most needed first.
pub fn needed_at(
    scenario: &Scenario,
    made: &RecordedCompaction,
    most: usize,
) -> (Vec<String>, Vec<String>) {
    let end = scenario
        .messages
        .partition_point(|message| message.id <= made.after);
    let said = &scenario.messages[..end];
    let mut ledger = Ledger::in_directories(&scenario.directories);
    said.iter()
        .for_each(|message| read(&mut ledger, scenario, message));
    let kept = kept_messages(made).collect::<HashSet<_>>();
    let held = texts(said.iter().filter(|message| kept.contains(&message.id)));
    let lack = ledger.lack(held.chain(written_texts(made)));
    let lacking = lack.values().collect::<HashSet<_>>();
    let all = ledger.lack([]);
    let needed = all.needed_by_calls().take(most).map(str::to_owned);
    needed.partition(|value| !lacking.contains(value.as_str()))
}

/// A ledger reads a message of a scenario, which says whether a person wrote it.
pub(crate) fn read(ledger: &mut Ledger, scenario: &Scenario, message: &Message) {
    match scenario.speaker(message) {
        Speaker::Program => ledger.add_by_program(message),
        _ => ledger.add(message),
    }
}

fn texts<'m>(messages: impl Iterator<Item = &'m Message>) -> impl Iterator<Item = &'m str> {
    messages.flat_map(|message| message.parts.iter().filter_map(part_text))
}

fn kept_messages(made: &RecordedCompaction) -> impl Iterator<Item = MessageId> {
    made.context.iter().filter_map(|retained| match retained {
        Retained::Kept(id) => Some(*id),
        Retained::Written { .. } => None,
    })
}
