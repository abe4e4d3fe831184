//! What recorded compactions lost, session by session: the facts that `losses` reports are made of.

use compactometer_engine::message::Usage;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use crate::added_text::AddedText;
use crate::record::{Held, UseKind};
use crate::scenario::{Speaker, UnmeasuredCompaction, ValueKind};

/// One session of an agent.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SessionLosses {
    /// The conversation.
    pub session: String,
    /// The session that it is part of: the unit of statistics.
    pub group: String,
    /// The projects that it belongs to.
    pub projects: Vec<String>,
    /// The program's name, as importers have it.
    pub program: String,
    /// Its compactions that can be measured, in order.
    pub compactions: Vec<CompactionLosses>,
    /// Its compactions that cannot.
    pub unmeasured: Vec<UnmeasuredCompaction>,
    /// The results of tools that its program took out of the context beside its compactions.
    pub cleared_results: usize,
    /// Values in these results that a call acts on before anybody says them again and before the
    /// next compaction, and how many of them were held elsewhere.
    pub cleared_values: Count,
    /// Its messages behind compactions that it left behind when it went on from before them.
    pub left_behind: usize,
    /// Each later use of a value that was last said before a compaction.
    pub uses: Vec<UseSeen>,
    /// Each sentence of a person after each compaction, up to the third after it was last said.
    pub said: Vec<SentenceSeen>,
}

/// A sentence of a person after a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SentenceSeen {
    /// The conversation.
    pub session: String,
    /// The place of the compaction in the conversation's list.
    pub compaction: usize,
    /// The sentence.
    pub sentence: String,
    /// Whether it states a rule: what to do always or never.
    pub is_rule: bool,
    /// The message in which a person said it last.
    pub said_at: u32,
    /// How many compactions followed, this one among them.
    pub compactions: usize,
    /// Whether a line of what the compaction left still says it, by its content words.
    pub is_left: bool,
    /// Whether a line of that or of the ledger says it.
    pub with_ledger: bool,
    /// Whether a line of that or of what the hook added says it, for each hook.
    pub with_hooks: Vec<bool>,
}

/// The sizes of a ledger, in tokens, whose shares are always compared.
pub const LEDGER_SIZES: [u32; 3] = [600, 900, 1_800];

/// A number of things, and how many of them were found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// How many were found.
    pub found: usize,
    /// How many there were.
    pub of: usize,
}

impl Count {
    /// Counts one more.
    pub fn add(&mut self, is_found: bool) {
        self.found += usize::from(is_found);
        self.of += 1;
    }

    /// Both together.
    pub fn plus(self, other: Count) -> Count {
        Count {
            found: self.found + other.found,
            of: self.of + other.of,
        }
    }

    /// The share that was found; `None` if there was nothing to find.
    pub fn share(self) -> Option<f64> {
        (self.of > 0).then(|| self.found as f64 / self.of as f64)
    }
}

/// One compaction.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CompactionLosses {
    /// The conversation.
    pub session: String,
    /// Its place in the conversation's list.
    pub place: usize,
    /// The last message before it.
    pub after: u32,
    /// When it happened, in milliseconds since the Unix epoch.
    pub at_ms: Option<i64>,
    /// What started it, in the program's own word.
    pub trigger: Option<String>,
    /// The version of the program then, as the file has it.
    pub version: Option<String>,
    /// The extension that wrote it in place of the program.
    pub compactor: Option<String>,
    /// Tokens of the request before it, as the program reported them.
    pub reported_tokens: Option<u64>,
    /// Tokens of the conversation before it, of the measuring counter.
    pub tokens_before: u32,
    /// Tokens of the conversation after it, of the measuring counter.
    pub tokens_after: u32,
    /// Tokens of the first request after it that no record holds, as its provider counts; absent if
    /// they are not known.
    pub unlogged_tokens: Option<u32>,
    /// Exact values said before it that later calls use, and how many of them it left.
    pub used_values: Count,
    /// Exact values said before it that no later call uses, and how many of them it left.
    pub unused_values: Count,
    /// Values of the request that was open then, the last user message and the last batch of calls,
    /// that later calls needed before anybody said them again, and how many of them it left.
    pub open_request: Count,
    /// What it left in place of a summary, if it left none.
    pub total_loss: Option<TotalLoss>,
    /// Calls from it to the next compaction of the session; absent for the last one.
    pub calls_until_next: Option<usize>,
    /// What it cost the conversation beside values.
    pub costs: CompactionCosts,
    /// What each hook did after it, in the order of the hooks.
    pub hooks: Vec<HookRun>,
    /// Tokens of what the program wrote, of the measuring counter.
    pub written_tokens: u32,
    /// What the program wrote.
    pub written: Vec<String>,
}

/// What a compaction left in place of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TotalLoss {
    /// Nothing: the next request began after it.
    Nothing,
    /// The error of a model's server.
    Error,
}

/// What a hook did after a compaction.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HookRun {
    /// The context that it added; empty if it added none.
    #[serde(skip)]
    pub context: String,
    /// Tokens of the context, of the measuring counter.
    pub tokens: u32,
    /// Milliseconds that it took.
    pub took_ms: u64,
    /// Why it counts as having added nothing.
    pub failure: Option<HookFailure>,
}

/// Why a hook added nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HookFailure {
    /// The command could not be started, or ended with an error.
    Failed,
    /// It did not end in time.
    TimedOut,
    /// It printed more than a program reads.
    TooLong,
    /// It printed an object that is not the JSON which programs expect.
    BadJson,
    /// It changed the transcript.
    WroteTranscript,
    /// The transcript has no lines that could be cut at the compaction.
    NoTranscript,
}

impl HookFailure {
    /// What happened, in words.
    pub fn why(self) -> &'static str {
        match self {
            HookFailure::Failed => "failed",
            HookFailure::TimedOut => "did not end in time",
            HookFailure::TooLong => "printed too much",
            HookFailure::BadJson => "printed JSON that programs do not accept",
            HookFailure::WroteTranscript => "changed the transcript",
            HookFailure::NoTranscript => "could not be run: the file has no lines to cut",
        }
    }
}

/// What a compaction cost a conversation beside values.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CompactionCosts {
    /// Milliseconds from the last record before it to its own.
    pub waited_before_ms: Option<i64>,
    /// Milliseconds from its record to the next reply.
    pub waited_after_ms: Option<i64>,
    /// Reads in the next calls of what was read before it.
    pub read_again: Reads,
    /// The same for as many calls before it, for comparison.
    pub read_again_before: Reads,
    /// Values that it lost and that the user said again in later messages.
    pub said_again: Vec<String>,
    /// Calls in the next calls that failed on a value that was never said, although one like it
    /// was.
    pub wrong_values: Vec<WrongValue>,
    /// Calls in the next calls that failed on a value that the summary was the first to say, one
    /// letter from one that it lost.
    pub altered_values: Vec<WrongValue>,
    /// Reported input tokens of the last requests before it, and of the first requests after it;
    /// the median of up to ten each.
    pub request_tokens: Option<(u64, u64)>,
    /// Reported input tokens of the last request before it, and of the next one.
    pub next_request_tokens: Option<(u64, u64)>,
    /// What their calls used on average, as reported.
    pub request_usage: Option<(MeanUsage, MeanUsage)>,
    /// What the call used that wrote the summary, as reported; absent in the files of most
    /// programs.
    pub own_usage: Option<Usage>,
    /// The model of the requests before it, as far as the log names one.
    pub model: Option<String>,
}

/// What calls used on average, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MeanUsage {
    /// Uncached input.
    pub input: f64,
    /// Input read from the cache.
    pub cache_read: f64,
    /// Input written to the cache.
    pub cache_write: f64,
    /// Output.
    pub output: f64,
}

/// Reads of what was read before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reads {
    /// Calls.
    pub calls: usize,
    /// Tokens of their results, of the measuring counter.
    pub tokens: u64,
}

/// A call that failed on a value that was never said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrongValue {
    /// The message of the call.
    pub used_at: u32,
    /// What the call took.
    pub value: String,
    /// The value of the same name that was said before.
    pub said: String,
}

/// A use of a value that was last said before a compaction.
#[derive(Clone, Debug, Serialize)]
pub struct UseSeen {
    /// The conversation.
    pub session: String,
    /// The place of the last compaction before it in the conversation's list.
    pub compaction: usize,
    /// The value.
    pub value: String,
    /// Its kind.
    pub value_kind: ValueKind,
    /// Who said it first.
    pub said_by: Speaker,
    /// The message that said it first.
    pub said_at: u32,
    /// The message of the call.
    pub used_at: u32,
    /// The tool that was called.
    pub tool: String,
    /// The argument that holds the value.
    pub argument: String,
    /// The words around the value in the message that said it first.
    pub statement: String,
    /// The words around it in the call.
    pub call: String,
    /// What kind of use it is.
    pub kind: UseKind,
    /// Whether what the compaction left holds the value.
    pub held: Held,
    /// Whether it may hold the value at most; absent if it is not known what the program puts back.
    pub at_most: Option<bool>,
    /// Whether texts of the budget's size hold it.
    #[serde(flatten)]
    pub in_added: InAdded,
    /// Whether ledgers of [`LEDGER_SIZES`] hold it.
    pub in_ledger_of: [bool; LEDGER_SIZES.len()],
    /// Whether what each hook added holds it, in the order of the hooks.
    pub in_hooks: Vec<bool>,
}

/// Whether added texts hold a value: for each text by its place, a bit for each of its draws. As
/// JSON, a text of one draw has a boolean, and another one a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InAdded([u32; AddedText::ROWS.len()]);

impl InAdded {
    /// Whether each draw of each text holds it.
    pub fn new(is_in: impl Fn(AddedText, usize) -> bool) -> Self {
        InAdded(AddedText::ROWS.map(|row| {
            let bits = (0..row.draws).map(|draw| u32::from(is_in(row.text, draw)) << draw);
            bits.fold(0, |all, bit| all | bit)
        }))
    }

    /// Whether a draw of the text holds it.
    pub fn is_in(self, text: AddedText, draw: usize) -> bool {
        self.0[text.place()] >> draw & 1 == 1
    }

    /// The share of the text's draws that hold it.
    pub fn share(self, text: AddedText) -> f64 {
        f64::from(self.0[text.place()].count_ones()) / text.row().draws as f64
    }
}

impl Serialize for InAdded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(AddedText::ROWS.len()))?;
        for row in AddedText::ROWS {
            let key = format!("in_{}", row.key);
            match row.draws {
                1 => map.serialize_entry(&key, &self.is_in(row.text, 0))?,
                draws => {
                    let drawn = (0..draws).map(|draw| self.is_in(row.text, draw));
                    map.serialize_entry(&key, &drawn.collect::<Vec<_>>())?;
                }
            }
        }
        map.end()
    }
}

impl UseSeen {
    /// Whether the log shows that what the compaction left holds the value.
    pub fn is_held(&self) -> bool {
        self.held != Held::OutOfSight
    }

    /// The tool, and its argument if it has a name.
    pub fn by(&self) -> String {
        match self.argument.is_empty() {
            true => self.tool.clone(),
            false => format!("{}.{}", self.tool, self.argument),
        }
    }

    /// Whether it may hold it at most; what the log shows if nothing more is known.
    pub fn is_held_at_most(&self) -> bool {
        self.at_most.unwrap_or_else(|| self.is_held())
    }
}
