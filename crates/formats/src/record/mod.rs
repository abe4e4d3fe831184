//! One case's record: a line of `records.jsonl`. Reports and gates read nothing else about a case.

pub mod answer;
mod context;
mod line;
mod model_calls;
mod observation;
mod valid;

use std::collections::{BTreeMap, BTreeSet};

use compactometer_engine::budget::Budget;
use compactometer_engine::event::{Outcome, RecoveryEvent};
use compactometer_engine::message::{MessageId, Usage};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::protocol::Protocol;
use crate::record::answer::{AnswerRow, ProbeRow};
use crate::scenario::{Category, ValueKind};
use crate::view_breakdown::{Storage, is_zero};

/// The version of records that this program writes. Version 1 called the summarizer `model`;
/// version 2 had no subjects; version 3 counted each rival of a subject once, however many values
/// it had.
pub const VERSION: u32 = 5;

pub use context::{ContextEntry, ContextRow, SavedRow};
pub(crate) use line::LineOfRecord;
pub use line::text_hash;
pub use model_calls::{CallRow, CheckpointRow, CompactionRow, Refusal, Stages};
pub use observation::{
    ChanceCell, Fit, Held, Misbound, Needed, Observation, ObservationKind, Prompted, RANDOM_DRAWS,
    SaidCount, Unusable, Use, UseKind,
};

/// Everything that one case showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// At most [`VERSION`].
    pub version: u32,
    /// A hash of everything that the record depends on.
    pub key: String,
    /// What was run.
    pub case: Case,
    /// Facts and decoys of the scenario. Every list of this record with an entry for each fact has
    /// this order.
    pub facts: Vec<FactRow>,
    /// The facts at the scenario's observation points and after each applied compaction, in order
    /// of the log.
    pub observations: Vec<Observation>,
    /// Every decision of the session, in order.
    pub compactions: Vec<CompactionRow>,
    /// Every decision about a checkpoint before a turn, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<CheckpointRow>,
    /// Every decision about showing a checkpoint outside a compaction, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recoveries: Vec<RecoveryEvent>,
    /// What each decision changed in the context, in order; empty in records from before it was
    /// kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contexts: Vec<ContextRow>,
    /// The agent's turns: computed, not called.
    pub turns: Vec<Turn>,
    /// The scenario's probes, in its order; empty in records from before questions were answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeRow>,
    /// The answers, in the order of asking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerRow>,
    /// Totals over the session's records; absent in records from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// What the strategy counted of itself, by name; an agent counts what was played to it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counted: BTreeMap<String, u64>,
}

/// What was run: one strategy on one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// The scenario's id.
    pub scenario: String,
    /// The scenario's group: the unit of statistics.
    pub group: String,
    /// The strategy's name.
    pub strategy: String,
    /// Whether it is a strategy under test or a control.
    pub family: Family,
    /// How budgets were set.
    pub protocol: Protocol,
    /// Limits, in tokens of the measuring counter.
    pub budget: Budget,
    /// The share of the retained budget that a sweep gave to the verbatim tail; absent where the
    /// strategy's own share applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<f64>,
    /// The summarizer; `model` in files of earlier versions.
    #[serde(alias = "model")]
    pub summarizer: String,
    /// The target model, which answers questions and takes the turns; absent if it is the
    /// summarizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The model that writes checkpoints before turns; absent if it is the summarizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpointer: Option<String>,
    /// Seed of everything random in the case.
    pub seed: u64,
    /// Tokens of the tool definitions; 0 in records from before it was kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tool_tokens: u32,
    /// Tokens of the recorded system prompt; 0 in records from before it was kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub system_tokens: u32,
    /// An estimate of the tokens that the recorded agent's program put before each request and its
    /// file does not hold, such as system prompt and tools: what the provider reported for the
    /// first call, minus the messages before it. 0 where the file reports no usage.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub fixed_prefix_tokens: u32,
    /// The scenarios of other groups whose facts measure chance; empty if there are too few, and in
    /// records from before it was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<String>,
    /// Whether the pending part alone exceeded the retained budget at some compaction.
    pub pending_over_budget: bool,
}

impl Case {
    /// The target model, which is the summarizer unless the case has another.
    pub fn target_model(&self) -> &str {
        self.target.as_deref().unwrap_or(&self.summarizer)
    }

    /// Whether it belongs to a sweep of a run that may leave so many tokens, and not to the replay
    /// whose numbers are reported first.
    pub fn is_swept(&self, retained: u32) -> bool {
        self.split.is_some()
            || (self.protocol.has_limits_of_run() && self.budget.retained != Some(retained))
    }
}

/// Whether something compared is a strategy under test, and in which form, or a control.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// From the five sources, corrected.
    Reference,
    /// From the five sources as published, with their deviations from the corrected form.
    Faithful,
    /// What the program that wrote the transcript did itself.
    Recorded,
    /// A strategy of the sources that differs in one idea from the row that it is compared with.
    Idea,
    /// A strategy of the user's own.
    Custom,
    /// An agent of others, to which the conversation was played.
    Agent,
    /// A yardstick for every comparison.
    Control,
}

impl Family {
    /// Whether it is a strategy under test, not a yardstick or a variant of another row.
    pub fn is_tested(self) -> bool {
        !matches!(self, Family::Control | Family::Idea)
    }

    /// Whether it is compared with a reference.
    pub fn is_compared(self) -> bool {
        self != Family::Control
    }
}

/// What a report needs to know about a fact; its text stays outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FactRow {
    /// The fact's id.
    pub id: String,
    /// What kind of statement it is.
    pub category: Category,
    /// How its value is matched and pooled.
    pub value_kind: ValueKind,
    /// Weight in a unit's mean.
    pub weight: f64,
    /// Whether it is a decoy, which is traced but enters no recall.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decoy: bool,
    /// Whether its value also occurs in other projects. Such a fact is traced but unranked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generic: bool,
    /// The messages that state it, ascending; empty in records from before it was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<MessageId>,
    /// Whether it counts in bound recall: it has a subject, to which the message that first states
    /// it gives its value. Never in records of version 2 and earlier.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_subject: bool,
}

/// One turn of the agent. Its input is the view, its output the recorded message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// The recorded message.
    pub message: MessageId,
    /// When it was said, in milliseconds since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<i64>,
    /// Tokens of the request: tool definitions and view.
    pub input: u32,
    /// Tokens of the longest prefix that the request shares with the one before.
    pub shared_prefix: u32,
    /// Tokens of the recorded message.
    pub output: u32,
    /// What the provider reported for the recorded call; absent where the file holds no usage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Usage>,
    /// Milliseconds that the turn waited for a compaction; a measured wait is in `timings.json`
    /// instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<u64>,
    /// Whether the request exceeded the window.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_window: bool,
    /// What a provider would refuse in the request.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub violations: u32,
}

/// A text that records refer to by hash: a line of `texts.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextRow {
    /// blake3 of the text, in hex, first 32 characters.
    pub hash: String,
    /// The text.
    pub text: String,
}

impl Record {
    /// Applied compactions.
    pub fn rounds(&self) -> u32 {
        self.compactions
            .iter()
            .filter(|row| row.event.outcome == Outcome::Applied)
            .count() as u32
    }

    /// Every call that the session made: for compactions, then for checkpoints. It does not make
    /// the calls for probes.
    pub fn calls(&self) -> impl Iterator<Item = &CallRow> {
        let compactions = self.compactions.iter().flat_map(|row| &row.calls);
        compactions.chain(self.checkpoints.iter().flat_map(|row| &row.calls))
    }

    /// Every call that answered a question; part of no compaction's cost.
    pub fn probe_calls(&self) -> impl Iterator<Item = &CallRow> {
        self.answers
            .iter()
            .filter_map(|answer| answer.call.as_ref())
    }

    /// The models that servers reported, over all calls.
    pub fn served_models(&self) -> BTreeSet<&str> {
        let told = self
            .calls()
            .chain(self.probe_calls())
            .filter_map(|call| call.served.as_ref()?.model.as_deref());
        told.collect()
    }

    /// Every call that judged an answer; part of no other cost.
    pub fn judge_calls(&self) -> impl Iterator<Item = &CallRow> {
        self.answers
            .iter()
            .filter_map(|answer| Some(&answer.judged.as_ref()?.call))
    }

    /// The number of calls that the server rejected for their form.
    pub fn rejected_calls(&self) -> usize {
        let calls = self
            .calls()
            .chain(self.probe_calls())
            .chain(self.judge_calls());
        calls
            .filter(|call| call.refusal == Some(Refusal::Form))
            .count()
    }
}
