//! Questions and what a model answered to them, as records hold them: numbers and grades, no text of the scenario.

use compactometer_engine::message::MessageId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::record::CallRow;

/// What a report must know of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeRow {
    /// The probe's id.
    pub id: String,
    /// The facts that it asks for, as indices of [`crate::record::Record::facts`].
    pub facts: Vec<u32>,
    /// Whether the right answer is not to know.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub abstain_expected: bool,
    /// Whether what it asks for replaced an earlier value, so that an answer can be stale.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub updated: bool,
    /// Whether it asks for the order of its facts, which stand in the right one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ordered: bool,
}

/// One answer to a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerRow {
    /// Index of the probe in [`crate::record::Record::probes`].
    pub probe: u32,
    /// The last message of the log when it was asked.
    pub after: MessageId,
    /// Whether what was retrieved for the question stood before it, beside the context.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prompted: bool,
    /// Whether every fact that it asks for stood before it: in the context, or in what was retrieved.
    pub present: bool,
    /// What the answer is worth.
    pub grade: Grade,
    /// The order that it gives, each as its place in [`ProbeRow::facts`]: `[0, 1, 2]` is right. What it leaves out is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<u32>,
    /// What it does beyond its grade; none where there is no answer or an order is asked for, and in records of before it was
    /// looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signs: Option<Signs>,
    /// The call; none where the request was one that no provider takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallRow>,
    /// What a judge says of it; none where no judge was asked, or there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judgement>,
}

/// A model's opinion of an answer, beside the grade and never in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// What it says.
    pub verdict: Verdict,
    /// The call.
    pub call: CallRow,
}

/// What a judge says of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It is right.
    Accepted,
    /// It is not.
    Rejected,
    /// Nothing that was asked for: the call failed, or its text is neither of the two words.
    Unreadable,
}

/// What an answer does, whatever it is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Signs {
    /// It asserts the right value together with one that was replaced or is forbidden, or denies the right one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contradicts: bool,
    /// It states a value that the conversation had not stated by then: a foil, or an identifier, path or number of the asked
    /// form.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invents: bool,
}

impl ProbeRow {
    /// Whether an answer of that grade is right: the value, or not to know where nothing says it.
    pub fn is_right(&self, grade: Grade) -> bool {
        grade == if self.abstain_expected { Grade::Abstained } else { Grade::Right }
    }
}

/// What an answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// It states what was asked for, and nothing that was replaced, forbidden or never said; the whole order, where one was.
    Right,
    /// It states a value of that kind that is another: a foil, a forbidden one, or that of another fact.
    WrongValue,
    /// It states a value that was replaced.
    Stale,
    /// It says that it is not known.
    Abstained,
    /// It says none of these.
    Missing,
    /// There is no answer: the call failed, or the request was one that no provider takes.
    Failed,
}

impl Grade {
    /// Every grade, in the order of reports.
    pub const ALL: &[Grade] =
        &[Grade::Right, Grade::WrongValue, Grade::Stale, Grade::Abstained, Grade::Missing, Grade::Failed];
}
