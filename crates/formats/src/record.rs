//! One case's record: a line of `records.jsonl`. Reports and gates read these alone.

mod valid;

use std::collections::BTreeSet;
use std::io::{BufWriter, Write};

use compactometer_engine::budget::Budget;
use compactometer_engine::event::{CheckpointEvent, Event, Outcome, RecoveryEvent};
use compactometer_engine::message::{MessageId, Usage};
use compactometer_engine::meter::Purpose;
use compactometer_engine::model::{Finish, Served};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::{AnswerRow, ProbeRow};
use crate::fate::Fates;
use crate::scenario::{Category, ValueKind};
use crate::stands::{Storage, ViewParts};

/// The version of records that this program writes.
pub const VERSION: u32 = 1;

/// Everything that one case showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// At most [`VERSION`].
    pub version: u32,
    /// Hash of all that the case was resolved to.
    pub key: String,
    /// What was run.
    pub case: Case,
    /// Facts and decoys of the scenario; every list of this record that is by fact follows this order.
    pub facts: Vec<FactRow>,
    /// The facts at the scenario's observation points and after each applied compaction, in order of the log.
    pub observations: Vec<Observation>,
    /// Every decision of the session, in order.
    pub compactions: Vec<CompactionRow>,
    /// Every decision about a checkpoint before a turn, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<CheckpointRow>,
    /// Every decision about showing a checkpoint outside a compaction, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recoveries: Vec<RecoveryEvent>,
    /// The agent's turns: computed, not called.
    pub turns: Vec<Turn>,
    /// The scenario's probes, in its order; empty in records of before questions were answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<ProbeRow>,
    /// What was answered to them, in the order of asking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerRow>,
    /// What the session's records came to; absent in records of before it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
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
    /// The summarizer.
    pub model: String,
    /// The target model, which answers questions and takes the turns; absent where it is the summarizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Seed of everything random in the case.
    pub seed: u64,
    /// Tokens of the tool definitions; 0 in records of before it was kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tool_tokens: u32,
    /// Tokens of the recorded system prompt; 0 in records of before it was kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub system_tokens: u32,
    /// Whether the pending part alone exceeded the retained budget at some compaction.
    pub pending_over_budget: bool,
}

impl Case {
    /// The target model: the summarizer where the case has no other.
    pub fn target_model(&self) -> &str {
        self.target.as_deref().unwrap_or(&self.model)
    }
}

/// What a strategy is to a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// From the five sources, mended.
    Reference,
    /// From the five sources as they are written, defects and all.
    Faithful,
    /// A yardstick that every comparison carries.
    Control,
}

impl Family {
    /// Whether it is a strategy under test, not a yardstick.
    pub fn is_tested(self) -> bool {
        self != Family::Control
    }
}

/// How budgets were set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// The same window, trigger and retained budget for all.
    Matched,
    /// Each strategy's own limits, stretched or shrunk by one scale.
    Published,
}

impl Protocol {
    /// The name that users type and files use.
    pub const fn name(self) -> &'static str {
        match self {
            Protocol::Matched => "matched",
            Protocol::Published => "published",
        }
    }
}

/// What a report must know of a fact; its text stays outside.
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
    /// Whether it is a decoy: traced, but in no recall.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decoy: bool,
    /// Whether its value occurs in other groups too: traced, but unranked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generic: bool,
    /// The messages that state it, ascending; empty in records of before it was kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentions: Vec<MessageId>,
}

/// The facts at one point of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// The last message of the log at that point.
    pub after: MessageId,
    /// Why it was looked at.
    pub kind: ObservationKind,
    /// Applied compactions so far.
    pub round: u32,
    /// Tokens of the log since the last applied compaction, or since the start.
    pub tokens_since_compaction: u32,
    /// Tokens of the log; 0 in records of before it was kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub log_tokens: u32,
    /// What became of each fact.
    pub fates: Fates,
    /// Indices of the facts in the headline set: valid, last mentioned at least the trigger earlier, outside the system
    /// prompt, the last user message and the pending part. The same for every strategy.
    pub eligible: Vec<u32>,
    /// Indices of the facts that the next turn uses as an argument, distant by the same rule as the headline set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<u32>,
    /// Uses by the next turn that are left out because a recorded turn repeated the value within the trigger's distance.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub echoed: u32,
    /// For each eligible fact, in how many of [`RANDOM_DRAWS`] random-drop contexts of the same sizes it stood.
    pub random_hits: Vec<u32>,
    /// How often facts of foreign scenarios match what the context carries, by value kind.
    pub chance: Vec<ChanceCell>,
    /// The same in the random-drop contexts.
    pub random_chance: Vec<ChanceCell>,
    /// As `random_hits`, in contexts that keep the strategy's own verbatim tail; empty in records of before they were drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selection_hits: Vec<u32>,
    /// As `random_chance`, in these contexts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selection_chance: Vec<ChanceCell>,
    /// Foil values that match what the strategy wrote: invented values.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub foil_hits: u32,
    /// Foil values looked for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub foils: u32,
    /// Of the eligible facts, as indices, those for which the scenario has a question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<u32>,
    /// What the strategy retrieved for these questions, each on a copy; absent where it had nothing to look in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompted: Option<Prompted>,
}

/// What stands in the context together with what a strategy retrieved for a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Prompted {
    /// Of the facts asked for, as indices, those that context and retrieved text hold together.
    pub found: Vec<u32>,
    /// Tokens retrieved, over all questions.
    pub tokens: u64,
    /// How often facts of foreign scenarios match what the context carries together with what was retrieved, over all
    /// questions, by value kind.
    pub chance: Vec<ChanceCell>,
}

/// Random-drop contexts per case, for lift.
pub const RANDOM_DRAWS: u32 = 20;

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Why a conversation was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObservationKind {
    /// Right after an applied compaction: differs between strategies and enters no headline number.
    Compaction,
    /// A point that the scenario lists or implies: the same for every strategy.
    Point,
}

/// Matches of foreign facts of one kind: pairs of a fact and a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChanceCell {
    /// The facts' value kind.
    pub kind: ValueKind,
    /// Matches.
    pub hits: u32,
    /// Pairs looked at.
    pub pairs: u32,
}

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
    /// Of these, tokens of the longest prefix shared with the request before.
    pub shared_prefix: u32,
    /// Tokens of the recorded message.
    pub output: u32,
    /// Milliseconds that the turn waited for a compaction; a measured wait is in `timings.json` instead.
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

/// The hash by which records refer to a text.
pub fn text_hash(text: &str) -> String {
    short_hex(&blake3::hash(text.as_bytes()))
}

fn short_hex(hash: &blake3::Hash) -> String {
    hash.to_hex()[..32].to_owned()
}

/// A record with so many turns is long: some megabytes of JSON.
const MANY_TURNS: usize = 50_000;
/// Bytes of a long record that are hashed or written at once.
const WRITTEN_AT_ONCE: usize = 64 << 10;

impl Record {
    /// Applied compactions.
    pub fn rounds(&self) -> u32 {
        self.compactions.iter().filter(|row| row.event.outcome == Outcome::Applied).count() as u32
    }

    /// Every call that the session made: for compactions, then for checkpoints. Answers to probes are none of the session's.
    pub fn calls(&self) -> impl Iterator<Item = &CallRow> {
        let compactions = self.compactions.iter().flat_map(|row| &row.calls);
        compactions.chain(self.checkpoints.iter().flat_map(|row| &row.calls))
    }

    /// Every call that answered a question; part of no compaction's cost.
    pub fn probe_calls(&self) -> impl Iterator<Item = &CallRow> {
        self.answers.iter().filter_map(|answer| answer.call.as_ref())
    }

    /// The models that servers said they were, over all calls.
    pub fn served_models(&self) -> BTreeSet<&str> {
        let told = self.calls().chain(self.probe_calls()).filter_map(|call| call.served.as_ref()?.model.as_deref());
        told.collect()
    }

    /// Every call that judged an answer; part of no other cost.
    pub fn judge_calls(&self) -> impl Iterator<Item = &CallRow> {
        self.answers.iter().filter_map(|answer| Some(&answer.judged.as_ref()?.call))
    }

    /// The number of calls that the server rejected for their form.
    pub fn rejected_calls(&self) -> usize {
        let calls = self.calls().chain(self.probe_calls()).chain(self.judge_calls());
        calls.filter(|call| call.refusal == Some(Refusal::Form)).count()
    }

    /// The record as one line of `records.jsonl`, with a checksum of its bytes and without the line's end.
    ///
    /// # Errors
    /// Where a number in it has no JSON form.
    pub fn to_line(&self) -> serde_json::Result<String> {
        let json = serde_json::to_string(self)?;
        Ok(format!("{{\"checksum\":\"{}\",\"record\":{json}}}", text_hash(&json)))
    }

    /// Writes the line with its end, in one piece unless the record is so long that its JSON would take much of a run's memory.
    /// The JSON of a long record is made twice, first for the checksum.
    ///
    /// # Errors
    /// What the writer returns.
    pub fn write_line(&self, mut out: impl Write) -> std::io::Result<()> {
        if self.turns.len() < MANY_TURNS {
            let mut line = self.to_line()?;
            line.push('\n');
            return out.write_all(line.as_bytes());
        }
        let mut hasher = blake3::Hasher::new();
        let mut hashed = BufWriter::with_capacity(WRITTEN_AT_ONCE, &mut hasher);
        serde_json::to_writer(&mut hashed, self)?;
        hashed.flush()?;
        drop(hashed);
        let mut out = BufWriter::with_capacity(WRITTEN_AT_ONCE, out);
        write!(out, "{{\"checksum\":\"{}\",\"record\":", short_hex(&hasher.finalize()))?;
        serde_json::to_writer(&mut out, self)?;
        out.write_all(b"}\n")?;
        out.flush()
    }

    /// Reads a line that [`Record::to_line`] wrote.
    ///
    /// # Errors
    /// [`RecordError`] if the line is torn, edited, of a newer version, or says something impossible.
    pub fn from_line(line: &str) -> Result<Self, RecordError> {
        let line: Line = serde_json::from_str(line).map_err(|error| RecordError::Malformed(error.to_string()))?;
        if text_hash(line.record.get()) != line.checksum {
            return Err(RecordError::Checksum);
        }
        let record: Record =
            serde_json::from_str(line.record.get()).map_err(|error| RecordError::Malformed(error.to_string()))?;
        if record.version > VERSION {
            return Err(RecordError::Newer(record.version));
        }
        valid::check(&record).map_err(RecordError::Impossible)?;
        Ok(record)
    }
}

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Line<'l> {
    /// [`text_hash`] of the record's bytes.
    checksum: String,
    #[serde(borrow)]
    #[schemars(with = "Record")]
    record: &'l serde_json::value::RawValue,
}

/// A line that is no record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Not the JSON of a record.
    #[error("expected a record: {0}")]
    Malformed(String),
    /// The bytes are not those that were written.
    #[error("the checksum does not match: the line was edited or damaged")]
    Checksum,
    /// Numbers that do not fit together.
    #[error("no run writes such a record: {0}")]
    Impossible(String),
    /// Written by a later program.
    #[error("version `{0}` is newer than this program's, {VERSION}; update compactometer")]
    Newer(u32),
}
