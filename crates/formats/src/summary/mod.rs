//! `summary.json`: the stable machine interface to a report.

mod sweep;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::property::Property;
use crate::protocol::Protocol;
use crate::record::Family;
pub use sweep::{Sweep, SweepPoint, SweptReplay};

/// The version of summaries that this program writes. Version 1 called the summarizer `model`.
pub const VERSION: u32 = 2;

/// A report's numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Version of this form: see [`VERSION`].
    pub version: u32,
    /// One entry for each protocol, model, window and suite, at the run's retained budget and each
    /// strategy's own split. The first is what comparisons, gates and audits read.
    pub groups: Vec<Group>,
    /// What the first group's numbers and the sweep show, and what they cannot decide, in at most
    /// five sentences; absent in files of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// The matched protocol under further retained budgets and splits; absent if the run had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sweep: Option<Sweep>,
    /// The first group by the version of the recorded program, in the order of versions; absent
    /// where no transcript has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<VersionPart>,
}

/// The conversations that one version of a program compacted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VersionPart {
    /// The program and its version.
    pub version: String,
    /// Conversations.
    pub conversations: usize,
    /// Some metrics of these conversations, by strategy and id.
    pub strategies: BTreeMap<String, BTreeMap<String, MetricValue>>,
}

/// Strategies that were run under the same conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// How budgets were set.
    pub protocol: Protocol,
    /// What published limits were multiplied by; absent under the matched protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<f64>,
    /// The summarizer; `model` in files of earlier versions.
    #[serde(alias = "model")]
    pub summarizer: String,
    /// The target model; absent if it is the summarizer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// What the group's latencies are worth; measured in files of earlier versions.
    #[serde(default, skip_serializing_if = "Latency::is_measured")]
    pub latency: Latency,
    /// Context window, in tokens. Under the published protocol it is the window of the controls.
    pub window: u32,
    /// The suite's name.
    pub suite: String,
    /// Ids of the metrics that answer what the suite is for, which tables show first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headline_metrics: Vec<String>,
    /// Conversations of the suite; 0 in files of earlier versions, as in the three fields below.
    #[serde(default)]
    pub conversations: usize,
    /// Groups of conversations, which are the units of statistics.
    #[serde(default)]
    pub units: usize,
    /// The tokens of a request at which compaction starts. Under the recorded protocol it is the
    /// largest trigger.
    #[serde(default)]
    pub trigger: u32,
    /// Most tokens that a compaction may leave. Under the recorded protocol it is the largest
    /// budget.
    #[serde(default)]
    pub retained: u32,
    /// Notes that a reader needs before any number.
    pub warnings: Vec<String>,
    /// What was measured on the suite itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub properties: Vec<Property>,
    /// The hard checks, with their verdicts.
    pub checks: Vec<Check>,
    /// The sources' own targets; absent in summaries from before they were shown.
    #[serde(default)]
    pub targets: Vec<Target>,
    /// One entry for each strategy.
    pub strategies: Vec<StrategySummary>,
    /// Every strategy under test compared with one of them, paired by unit.
    pub comparisons: Vec<Comparison>,
    /// A judge's verdicts beside the grades; absent if none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
}

/// Where latencies come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Latency {
    /// A model took this time.
    #[default]
    Measured,
    /// A mock assumes it.
    Assumed,
    /// It was measured, and its recording says that it is not a result.
    NoResult,
}

impl Latency {
    fn is_measured(&self) -> bool {
        *self == Latency::Measured
    }

    /// What is printed beside the numbers; nothing if they were measured.
    pub fn remark(self) -> Option<&'static str> {
        match self {
            Latency::Measured => None,
            Latency::Assumed => Some("assumed"),
            Latency::NoResult => Some("no result"),
        }
    }
}

/// How well a judge agrees with the grader, over the answers of all strategies. No metric depends
/// on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// The judge.
    pub model: String,
    /// Answers that it was asked about.
    pub judgements: usize,
    /// The number of these without a verdict, which count as disagreement.
    pub unreadable: usize,
    /// Share of the answers on which both agree, with its interval over units.
    pub agreement: MetricValue,
    /// Cohen's kappa, with its interval over units.
    pub kappa: MetricValue,
    /// Of the answers that the grader calls wrong, the share that the judge accepts, for `all` and
    /// by grade; `n` counts answers, and the interval is Wilson's.
    pub false_accepts: BTreeMap<String, MetricValue>,
    /// Of the answers that the grader calls right, the share that the judge rejects; likewise.
    pub false_rejects: MetricValue,
    /// Calls to the judge.
    pub calls: usize,
    /// Tokens of their requests.
    pub tokens_in: u64,
    /// Tokens of their replies.
    pub tokens_out: u64,
    /// What they cost, in US dollars; null where the price is unknown. Part of no other cost.
    pub cost_usd: Option<f64>,
}

/// One strategy compared with the declared reference in one metric. What cannot be computed is
/// null.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The strategy.
    pub strategy: String,
    /// What it is compared with.
    pub reference: String,
    /// The metric's id.
    pub metric: String,
    /// What the data show.
    pub verdict: Compared,
    /// Why they show no more, or what else a reader needs to know.
    pub reason: Option<String>,
    /// Mean retained tokens at which both are compared, read off their curves over size; absent for
    /// the sizes that they have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<f64>,
    /// Units that have a value on both sides.
    pub n: usize,
    /// Mean difference over units: strategy minus reference.
    pub difference: Option<f64>,
    /// Lower end of its 95 % interval over units; where the tests do not support a difference, the
    /// interval is extended to 0.
    pub low: Option<f64>,
    /// Upper end of that interval.
    pub high: Option<f64>,
    /// Standard deviation of the units' differences.
    pub sd: Option<f64>,
    /// Two-sided p of the paired t test.
    pub p_t: Option<f64>,
    /// Two-sided p of the sign-flip test.
    pub p_sign_flip: Option<f64>,
    /// The larger of both (from 30 units on that of t), adjusted for all comparisons of the group
    /// by Holm's method.
    pub p_holm: Option<f64>,
    /// The one-sided p against a difference of the margin, adjusted for all comparisons of the
    /// group by Holm's method: the larger of both sides for strategies of one size, else that of
    /// the strategy that retains less against a loss of the margin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_margin: Option<f64>,
    /// The smallest true difference that this number of units with this spread detects with
    /// probability .80, before Holm.
    pub detectable: Option<f64>,
    /// Intraclass correlation of the differences of a unit's facts, for planning.
    pub icc: Option<f64>,
    /// The factor by which that increases the variance of a mean of facts, for planning.
    pub design_effect: Option<f64>,
}

/// What a comparison shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Compared {
    /// The units support a difference at 5 % after Holm.
    SupportedDifference,
    /// It retains fewer tokens by more than a tenth, and the units support that its recall is
    /// better, or not worse by the margin.
    Dominates,
    /// The same the other way round: the reference dominates it.
    Dominated,
    /// The units support a difference under the margin of .05 on either side, at 5 % after Holm.
    Equivalent,
    /// The units do not support a difference. It does not prove that they are equal.
    #[default]
    NoSupportedDifference,
    /// With so few units no difference could be significant.
    TooFewUnits,
    /// Mean retained tokens differ by more than a tenth, and neither dominates the other.
    SizesDiffer,
    /// One of the two never compacted anything.
    DidNotTrigger,
    /// One of the two fails, or exceeds the window, too often.
    FailsTooOften,
    /// One of the two asks a model past the meter.
    Unmetered,
    /// The summarizer of one of the two wrote no fact of all that it was shown.
    NotUnderstood,
    /// It holds values without words around them much more often than the reference, as a bare list
    /// does.
    ListsValues,
    /// One of the two has no value.
    Undefined,
}

impl Compared {
    /// The words that reports print.
    pub const fn name(self) -> &'static str {
        match self {
            Compared::SupportedDifference => "supported difference",
            Compared::Dominates => "dominates",
            Compared::Dominated => "is dominated",
            Compared::Equivalent => "equivalent within .05",
            Compared::NoSupportedDifference => "no supported difference",
            Compared::TooFewUnits => "too few conversations",
            Compared::SizesDiffer => "sizes differ",
            Compared::DidNotTrigger => "did not trigger",
            Compared::FailsTooOften => "fails too often",
            Compared::Unmetered => "unmetered",
            Compared::NotUnderstood => "prompt not understood",
            Compared::ListsValues => "lists values",
            Compared::Undefined => "undefined",
        }
    }
}

/// A hard check: a condition without which the numbers mean nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// What must hold.
    pub name: String,
    /// Whether it holds; absent if it cannot be decided.
    pub passed: Option<bool>,
    /// The value found, or why there is none.
    pub detail: String,
}

/// A target that a source document sets, and what each strategy under test shows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Target {
    /// Its id.
    pub id: String,
    /// What is asked for.
    pub target: String,
    /// The document that asks, and where.
    pub source: String,
    /// The values' unit.
    pub unit: String,
    /// What a reader needs to know about it; may be empty.
    pub note: String,
    /// What was found, by strategy.
    pub strategies: BTreeMap<String, Found>,
}

/// What a strategy shows for a target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// The value; null with a `reason` if there is none.
    pub value: Option<f64>,
    /// Whether it meets the target; null with a `reason` if that cannot be decided.
    pub met: Option<bool>,
    /// Why something is null.
    pub reason: Option<String>,
}

/// What the engine decided in all conversations of a strategy, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Decisions {
    /// Compactions that changed the view.
    pub applied: usize,
    /// Compactions that left the view unchanged for a reason that is not a failure.
    pub skipped: usize,
    /// Compactions that failed.
    pub failed: usize,
    /// Applied compactions that fell back to a lesser answer.
    pub fallbacks: usize,
    /// Times that a strategy was asked again.
    pub retries: usize,
    /// Checkpoints written before a turn.
    pub checkpoints: usize,
    /// Checkpoints before a turn that failed.
    pub checkpoints_failed: usize,
    /// Calls to the summarizer.
    pub calls: usize,
    /// The number of these that got no answer.
    pub calls_failed: usize,
    /// Most compactions in a row that failed or fell back, in one conversation.
    pub most_failures_in_a_row: usize,
    /// Most checkpoints in a row that could not be read, in one conversation.
    pub most_unread_in_a_row: usize,
    /// Conversations with three or more of either.
    pub alerts: usize,
}

/// One strategy's numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StrategySummary {
    /// The strategy's name.
    pub name: String,
    /// The strategy that its name stands for; absent if it is the name itself, or not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Whether it is under test or a control.
    pub family: Family,
    /// How it works: `prompt`, `middleware`, `chain` or `levels`; absent for controls and strategies
    /// of the user's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approach: Option<String>,
    /// The document that describes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// Whether it asks a model past the meter, and so has no costs and waits and is compared with
    /// nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unmetered: bool,
    /// Whether its summarizer wrote no fact of the many that it was shown, so that it did not
    /// understand the prompt.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_understood: bool,
    /// Conversations in which at least one compaction was applied, of those run.
    pub triggered: Triggered,
    /// Shares of the fates of all stated facts at the last observation point, by name; they sum to
    /// 1. `stored_only` occurs in reports of early records only.
    pub fates: BTreeMap<String, f64>,
    /// The metrics, by id.
    pub metrics: BTreeMap<String, MetricValue>,
    /// What became of the checkpoints that were asked for; absent if none was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extractions: Option<Extractions>,
    /// What the engine decided.
    #[serde(default)]
    pub decisions: Decisions,
    /// The most frequent reasons of failures, at most three, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureCount>,
    /// Recall by category of fact: exploratory.
    pub by_category: BTreeMap<String, BTreeMap<String, MetricValue>>,
    /// Recall and chance matches by value kind: exploratory.
    #[serde(default)]
    pub by_kind: BTreeMap<String, BTreeMap<String, MetricValue>>,
    /// Recall by round, in order from round 0.
    pub by_round: Vec<BTreeMap<String, MetricValue>>,
    /// Recall by the fifth of the conversation in which a fact was first stated, the first fifth
    /// first: exploratory. Empty where records do not say which messages state their facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_position: Vec<BTreeMap<String, MetricValue>>,
}

/// How often something failed for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailureCount {
    /// The reason.
    pub reason: String,
    /// Compactions and checkpoints that failed for it, and compactions that fell back to a lesser
    /// answer for it.
    pub count: usize,
}

/// What became of the checkpoints that a strategy asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Extractions {
    /// Checkpoints asked for, failed calls included.
    pub attempts: usize,
    /// Those that were read, by the rung of the ladder.
    pub by_rung: BTreeMap<String, usize>,
    /// Those that were not read, by reason.
    pub unreadable: BTreeMap<String, usize>,
    /// Values of the prompt's own example that were taken out.
    pub leaked: usize,
    /// Values of a wrong type that could not be kept whole and were left out.
    pub left_out: usize,
}

/// How many conversations a strategy was active in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Triggered {
    /// Conversations with at least one applied compaction.
    pub conversations: usize,
    /// Conversations that were run.
    pub of: usize,
    /// Most applied compactions in one conversation.
    pub most_rounds: u32,
}

/// A metric's value, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricValue {
    /// The estimate; null with a `reason` if it is undefined.
    pub value: Option<f64>,
    /// Lower end of the 95 % interval over units.
    pub low: Option<f64>,
    /// Upper end of the 95 % interval over units.
    pub high: Option<f64>,
    /// The number of units.
    pub n: usize,
    /// The value's unit.
    pub unit: String,
    /// Why `value` is null.
    pub reason: Option<String>,
}

impl MetricValue {
    /// An undefined value.
    pub fn undefined(unit: &str, reason: impl Into<String>) -> Self {
        MetricValue {
            value: None,
            low: None,
            high: None,
            n: 0,
            unit: unit.to_owned(),
            reason: Some(reason.into()),
        }
    }
}
