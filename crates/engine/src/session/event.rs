//! What a session decided, and why.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Extraction;
use crate::message::MessageId;
use crate::strategy::journey::Journey;

pub use crate::strategy::declined::{FailReason, SkipReason};

/// One decision about a compaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Event {
    /// The last message of the log at that time.
    pub after: MessageId,
    /// What came of it.
    pub outcome: Outcome,
    /// Tokens of the view before.
    pub tokens_before: u32,
    /// Tokens of the view after; equal to `tokens_before` unless applied.
    pub tokens_after: u32,
    /// Tokens after, without the system prompt and the pending part: what counts against the
    /// retained budget.
    pub tokens_retained: u32,
    /// Whether `tokens_retained` exceeds the budget even after a retry.
    pub over_budget: bool,
    /// How many times the strategy was asked.
    pub attempts: u32,
    /// Why the strategy fell back to a lesser answer, such as truncation: what left then is
    /// dropped, not summarized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<FailReason>,
    /// What became of each checkpoint that was asked for with the summary, one for each time that
    /// the strategy was asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extractions: Vec<Extraction>,
    /// Messages that left with some of their text in no request whose answer was used, ascending.
    /// Thinking and media never enter a summarizer's text and do not count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<MessageId>,
    /// The summaries that the context shows since, from a strategy that keeps several side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journey: Option<Journey>,
}

/// One decision about a checkpoint before a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct CheckpointEvent {
    /// The last message of the log at that time.
    pub after: MessageId,
    /// Tokens of the request at that time.
    pub tokens: u32,
    /// Why no checkpoint was written; absent where one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<FailReason>,
    /// What became of the answer; absent in records of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extraction: Option<Extraction>,
}

/// One decision about showing a checkpoint outside a compaction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RecoveryEvent {
    /// The last message of the log at that time.
    pub after: MessageId,
    /// The session's time, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
    /// Why.
    pub reason: RecoveryReason,
    /// What came of it.
    pub outcome: RecoveryOutcome,
    /// Tokens of the view before.
    pub tokens_before: u32,
    /// Tokens of the view after.
    pub tokens_after: u32,
    /// Why words were compared in place of what the embedder says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<FailReason>,
}

/// Why a checkpoint is shown outside a compaction (the strategic plan, part 3, "When to inject").
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecoveryReason {
    /// The user is back after that many milliseconds.
    Absence(i64),
    /// The agent asks for what the checkpoint holds.
    Lost,
    /// The host asks.
    OnDemand,
    /// A checkpoint was written, and the strategy shows each at once.
    Written,
    /// Other threads share something, or no longer.
    Shared,
}

/// What came of a decision about showing a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RecoveryOutcome {
    /// The system prompt now shows this many items of so many in the checkpoint.
    Shown(u32, u32),
    /// There is no checkpoint, nothing of it has to do with the query, or it is already shown.
    NothingToShow,
    /// The view stayed because something failed.
    Failed(FailReason),
}

impl Event {
    /// Logs it, which was decided after these, without any text of the conversation.
    pub(crate) fn log(&self, earlier: &[Event]) {
        let Event {
            after,
            tokens_before: before,
            tokens_after,
            tokens_retained: retained,
            attempts,
            ..
        } = self;
        match &self.outcome {
            Outcome::Applied => match &self.fallback {
                Some(why) => {
                    tracing::warn!(after = after.0, before, tokens_after, retained, attempts, %why, "compaction fell back")
                }
                None => tracing::info!(
                    after = after.0,
                    before,
                    tokens_after,
                    retained,
                    attempts,
                    "compaction applied"
                ),
            },
            Outcome::Skipped(why) => {
                tracing::info!(after = after.0, before, attempts, %why, "compaction skipped")
            }
            Outcome::Failed(why) => {
                tracing::warn!(after = after.0, before, attempts, %why, "compaction failed")
            }
        }
        if let Some(journey) = self
            .journey
            .as_ref()
            .filter(|_| tracing::enabled!(tracing::Level::INFO))
        {
            let was = earlier
                .iter()
                .rev()
                .find_map(|event| event.journey.as_ref());
            let changes = journey.changes_since(was.map_or(&[], |was| &was.summaries));
            let Journey {
                total: summaries,
                by_level: levels,
                tokens,
                ..
            } = journey;
            tracing::info!(
                after = after.0,
                summaries,
                ?levels,
                tokens,
                ?changes,
                "summaries shown"
            );
        }
    }
}

impl CheckpointEvent {
    /// Logs it, without any text of the conversation.
    pub(crate) fn log(&self) {
        let reading = self.extraction.map(|extraction| extraction.reading);
        match &self.failed {
            Some(why) => {
                tracing::warn!(after = self.after.0, tokens = self.tokens, ?reading, %why, "checkpoint failed")
            }
            None => tracing::info!(
                after = self.after.0,
                tokens = self.tokens,
                ?reading,
                "checkpoint written"
            ),
        }
    }
}

impl RecoveryEvent {
    /// Logs it, without any text of the conversation.
    pub(crate) fn log(&self) {
        let (after, reason, tokens) = (self.after.0, &self.reason, self.tokens_after);
        match &self.outcome {
            RecoveryOutcome::Shown(items, of) => {
                tracing::info!(after, ?reason, items, of, tokens, "checkpoint shown")
            }
            RecoveryOutcome::NothingToShow => {
                tracing::info!(after, ?reason, tokens, "no checkpoint to show")
            }
            RecoveryOutcome::Failed(why) => {
                tracing::warn!(after, ?reason, tokens, %why, "checkpoint not shown")
            }
        }
    }
}

/// What came of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(tag = "outcome", content = "reason", rename_all = "snake_case")]
pub enum Outcome {
    /// The view changed.
    Applied,
    /// The view stayed, for a reason that is not a failure.
    Skipped(SkipReason),
    /// The view stayed because something failed.
    Failed(FailReason),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_older_records_read_and_write_as_they_were() {
        let old = r#"{"after":7,"outcome":{"outcome":"applied"},"tokens_before":900,"tokens_after":300,"tokens_retained":250,"over_budget":false,"attempts":1}"#;
        let event: Event = serde_json::from_str(old).unwrap();
        assert!(event.unread.is_empty());
        assert_eq!(serde_json::to_string(&event).unwrap(), old);
        let unread = Event {
            unread: vec![MessageId(3), MessageId(5)],
            ..event
        };
        let json = serde_json::to_string(&unread).unwrap();
        assert!(json.contains(r#""unread":[3,5]"#), "{json}");
        assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), unread);
    }
}
