//! Which uses of exact values lie far enough from their last mention to be measured (MEASUREMENT section 3).

use std::collections::BTreeSet;

use compactometer_engine::log::{Counted, Log};
use compactometer_engine::message::MessageId;

use crate::scenario::{Fact, Scenario};

/// Uses of a scenario's values, one for each value and calling message, sorted by why they count or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UseCounts {
    /// The last mention ended at least the distance earlier: needed-at-use events.
    pub eligible: usize,
    /// An earlier mention did, and a repetition came nearer: left out because of an echo.
    pub echoed: usize,
    /// No mention did.
    pub near: usize,
    /// The value stood in the system prompt, the last user message or the pending call batch.
    pub outside: usize,
    /// The value also occurs in another group.
    pub generic: usize,
}

/// Counts the uses; `tokens` holds each message's tokens, `distance` is the trigger in tokens.
pub fn count(scenario: &Scenario, tokens: &[u32], distance: u64) -> UseCounts {
    let mut counts = UseCounts::default();
    // Tokens of all messages up to and with each.
    let ends = scenario.messages.iter().zip(tokens).scan(0_u64, |sum, (message, tokens)| {
        *sum += u64::from(*tokens);
        Some((message.id, *sum))
    });
    let ends = ends.collect::<std::collections::BTreeMap<_, _>>();
    let mut log = Log::default();
    for message in &scenario.messages {
        let facts = scenario.facts.iter().filter(|fact| fact.used_at.contains(&message.id)).collect::<Vec<_>>();
        if !facts.is_empty() {
            let start = log.messages().last().and_then(|last| ends.get(&last.message.id)).copied().unwrap_or(0);
            let far = |mention: &MessageId| ends.get(mention).is_some_and(|end| start.saturating_sub(*end) >= distance);
            let outside = outside(&log);
            for fact in facts {
                *class(fact, message.id, &outside, &far, &mut counts) += 1;
            }
        }
        // Ids ascend in every scenario that was read.
        let _ = log.push(Counted { message: message.clone().into(), tokens: 0 });
    }
    counts
}

fn class<'c>(
    fact: &Fact,
    at: MessageId,
    outside: &BTreeSet<MessageId>,
    far: &dyn Fn(&MessageId) -> bool,
    counts: &'c mut UseCounts,
) -> &'c mut usize {
    let mentions = fact.evidence_message_ids.iter().filter(|mention| **mention < at).collect::<Vec<_>>();
    if fact.generic {
        &mut counts.generic
    } else if mentions.iter().any(|mention| outside.contains(mention)) {
        &mut counts.outside
    } else if mentions.iter().all(|mention| far(mention)) {
        &mut counts.eligible
    } else if mentions.iter().any(|mention| far(mention)) {
        &mut counts.echoed
    } else {
        &mut counts.near
    }
}

/// Messages that stay under every strategy.
fn outside(log: &Log) -> BTreeSet<MessageId> {
    let pending = log.pending();
    let messages = log.messages().iter().enumerate().filter(|(index, _)| pending.contains(*index));
    log.system().into_iter().chain(messages.map(|(_, counted)| counted)).map(|counted| counted.message.id).collect()
}
