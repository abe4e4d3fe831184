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
    /// How many facts left the context, by stage.
    pub stages: Stages,
    /// The calls it made.
    pub calls: Vec<CallRow>,
    /// Tokens of the call with which the recorded program made it: what the transcript reports,
    /// else the request before it and the tokens that it wrote. Absent for compactions of
    /// strategies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_usage: Option<Usage>,
    /// Messages that left the view, as first and last of each run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<(MessageId, MessageId)>,
    /// Hashes of the texts that it inserted, keys into `texts.jsonl`.
    pub inserted: Vec<String>,
    /// Whether the view holds the last message of the user after it; absent if the user has said
    /// nothing, and in records of version 2 and earlier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds_request: Option<bool>,
    /// What the view holds after it; absent if the view did not change, and in records from before
    /// it was kept.
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

/// How many facts and decoys reached each stage in one compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Stages {
    /// Facts whose last verbatim original left the context.
    pub left: u32,
    /// Left facts that an answered request to the summarizer held, in this compaction or an earlier one.
    pub reached: u32,
    /// Reached facts that a reply held.
    pub written: u32,
    /// Written facts that the new context carries.
    pub kept: u32,
    /// Facts that have a decoy: see `reached`; absent from records before they were counted.
    #[serde(default, skip_serializing_if = "crate::view_breakdown::is_zero")]
    pub paired_reached: u32,
    /// Facts that have a decoy: see `written`.
    #[serde(default, skip_serializing_if = "crate::view_breakdown::is_zero")]
    pub paired_written: u32,
    /// Decoys: see `left`.
    pub decoys_left: u32,
    /// Decoys: see `reached`.
    pub decoys_reached: u32,
    /// Decoys: see `written`.
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
    /// Why the answer ended; absent if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    /// Hash of the request's texts, a key into `texts.jsonl`, where `⟦12.0⟧` is the first part of
    /// message 12, `⟦HASH⟧` another text, and `⟦⟦` a plain `⟦`. Absent for questions and recounts,
    /// and in records from before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Hash of the reply's text, a key into `texts.jsonl`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// Why the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the server refused about the request, if the call failed because of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<Refusal>,
    /// What else a server reported, including its own usage. Models within the process report
    /// nothing.
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
    /// Whether the call is to the target model: to answer, or to count its next request.
    pub fn is_of_target(&self) -> bool {
        matches!(self.purpose, Purpose::Probe | Purpose::Recount)
    }
}
