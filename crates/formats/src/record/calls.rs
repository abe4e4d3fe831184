//! The decisions of a session and the model calls that they made.

use compactometer_engine::event::{CheckpointEvent, Event};
use compactometer_engine::message::{MessageId, Usage};
use compactometer_engine::meter::Purpose;
use compactometer_engine::model::{Finish, Served};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::view_breakdown::ViewParts;

/// One decision of a session, and what it called and wrote.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompactionRow {
    /// The decision.
    #[serde(flatten)]
    pub event: Event,
    /// Facts, decoys left out, whose last carrier or one of whose originals left, by stage.
    pub stages: Stages,
    /// The calls it made.
    pub calls: Vec<CallRow>,
    /// Messages that left the view, as first and last of each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<(MessageId, MessageId)>,
    /// Hashes of the texts that it inserted, keys into `texts.jsonl`.
    pub inserted: Vec<String>,
    /// What stands in the view after it; absent where the view stayed, and in records of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<ViewParts>,
}

/// One checkpoint before a turn, or the failed attempt at one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointRow {
    /// The decision.
    #[serde(flatten)]
    pub event: CheckpointEvent,
    /// The calls it made.
    pub calls: Vec<CallRow>,
}

/// How far facts came in one compaction, for facts and for decoys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stages {
    /// Facts of which the last verbatim original left the context.
    pub left: u32,
    /// Of these, those that stood in a request to the summarizer, of this compaction or an earlier one.
    pub reached: u32,
    /// Of the reached, those that a reply held.
    pub written: u32,
    /// Of the written, those that the new context carries.
    pub kept: u32,
    /// Decoys, by the same stages.
    pub decoys_left: u32,
    /// See `reached`.
    pub decoys_reached: u32,
    /// See `written`.
    pub decoys_written: u32,
}

/// One call to a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallRow {
    /// What it was for.
    pub purpose: Purpose,
    /// Tokens used.
    pub usage: Usage,
    /// Time to the last byte, in milliseconds; a measured time is in `timings.json` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
    /// Why the answer ended; absent where the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    /// Hash of the reply's text, a key into `texts.jsonl`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// Why the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the server refused about the request, if the call failed because of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// What a server reported beside, its own usage included; models in the process report nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub served: Option<Box<Served>>,
}

/// What a server refused about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// Its text: too long, or withheld by a filter.
    Text,
    /// Its form.
    Form,
}

impl CallRow {
    /// Whether the target model was called, where it is not the summarizer: to answer, or to count its next request.
    pub fn is_of_target(&self) -> bool {
        matches!(self.purpose, Purpose::Probe | Purpose::Recount)
    }
}
