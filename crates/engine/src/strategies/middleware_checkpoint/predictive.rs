//! When a checkpoint is due by prediction (the strategic plan, part 8, "Predictive Checkpointing"):
//! the trigger would be reached within the next turns at the pace of the last ones, or the topic
//! has just changed.
//!
//! Absent on purpose: a learned model and feedback of users, which the source names and gives no
//! data for.

use crate::message::{Part, Role};
use crate::model::embed::{Lexical, similarity};
use crate::strategy::Context;
use crate::tokens::CountedMessage;
use std::sync::Arc;

/// Turns of the agent that the pace is measured over (ours).
const PACE_TURNS: usize = 8;
/// Messages on each side of a possible change of topic (ours). Odd, since a user opens a topic and
/// the agent is asked in every second message where it calls no tool: an even window would always
/// straddle the change.
const TOPIC_MESSAGES: usize = 3;
/// Fewest words on each side: with fewer, no topic shows (ours).
const TOPIC_WORDS: usize = 30;

/// Whether the request would reach its trigger within `turns` more turns of the agent.
pub(super) fn reaches_trigger(cx: &Context<'_>, turns: f64) -> bool {
    f64::from(cx.request_tokens) + turns * tokens_per_turn(cx.log.messages())
        >= f64::from(cx.budget.trigger)
}

/// Mean tokens from one turn of the agent to the next; 0 before there are two.
fn tokens_per_turn(messages: &[Arc<CountedMessage>]) -> f64 {
    let is_turn = |index: &usize| messages[*index].message.role == Role::Assistant;
    let starts = (0..messages.len())
        .rev()
        .filter(is_turn)
        .take(PACE_TURNS + 1)
        .collect::<Vec<_>>();
    let (Some(last), Some(first)) = (starts.first(), starts.last()) else {
        return 0.0;
    };
    let tokens = messages[*first..*last]
        .iter()
        .map(|counted| u64::from(counted.tokens))
        .sum::<u64>();
    tokens as f64 / (starts.len() - 1).max(1) as f64
}

/// Whether the last messages share so few words with those before them that their similarity is
/// under `bound`, 0 to 1.
pub(super) fn shifts_topic(cx: &Context<'_>, bound: f64) -> bool {
    let messages = cx.log.messages();
    let Some(middle) = messages.len().checked_sub(TOPIC_MESSAGES) else {
        return false;
    };
    let (before, last) = (
        texts(&messages[middle.saturating_sub(TOPIC_MESSAGES)..middle]),
        texts(&messages[middle..]),
    );
    let is_told = |text: &str| text.split_whitespace().count() >= TOPIC_WORDS;
    let alike = || f64::from(similarity(&Lexical.vector(&before), &Lexical.vector(&last)));
    is_told(&before) && is_told(&last) && alike() < bound
}

fn texts(messages: &[Arc<CountedMessage>]) -> String {
    let said = messages
        .iter()
        .filter(|counted| counted.message.role != Role::System);
    let texts = said
        .flat_map(|counted| &counted.message.parts)
        .filter_map(|part| match part {
            Part::Text { text } | Part::ToolResult { text, .. } => Some(text.as_str()),
            _ => None,
        });
    texts.collect::<Vec<_>>().join("\n")
}
