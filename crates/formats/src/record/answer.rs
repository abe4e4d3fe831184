//! Questions and a model's answers, as records hold them: numbers and grades, but no text of the
//! scenario.

use compactometer_engine::message::MessageId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model_calls::CallRow;
use crate::scenario::MemoryPart;

/// What a report needs to know about a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeRow {
    /// The probe's id.
    pub id: String,
    /// The facts that it asks for, as indices of [`crate::record::Record::facts`].
    pub facts: Vec<u32>,
    /// Whether the right answer is that it is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub abstain_expected: bool,
    /// Whether what it asks for replaced an earlier value, so that an answer can be stale.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub updated: bool,
    /// Whether it asks for the order of its facts, which are listed in the right order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ordered: bool,
    /// If only the agent's memory states the answer: which part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryPart>,
}

/// One answer to a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerRow {
    /// Index of the probe in [`crate::record::Record::probes`].
    pub probe: u32,
    /// The last message of the log when it was asked.
    pub after: MessageId,
    /// Whether the request held what was retrieved for the question, beside the context.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prompted: bool,
    /// Whether the request held every fact that it asks for, or the answer that memory states: in
    /// the context, or in what was retrieved. False if it asks for neither.
    pub present: bool,
    /// What the answer is worth.
    pub grade: Grade,
    /// The order that it gives, as indices into [`ProbeRow::facts`]: `[0, 1, 2]` is right. Facts
    /// that it leaves out are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<u32>,
    /// What it does beyond its grade; absent if there is no answer or an order is asked for, and in
    /// records from before it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signs: Option<Signs>,
    /// The call; absent if every provider would refuse the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallRow>,
    /// A judge's verdict; absent if no judge was asked or there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judgement>,
}

/// A model's opinion of an answer, beside the grade and never in its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judgement {
    /// What it says.
    pub verdict: AnswerVerdict,
    /// The call.
    pub call: CallRow,
}

/// A judge's verdict on an answer.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Verdict")]
pub enum AnswerVerdict {
    /// It is right.
    Accepted,
    /// It is wrong.
    Rejected,
    /// No verdict: the call failed, or its text is neither of the two words.
    Unreadable,
}

/// What an answer does beyond its grade.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Signs {
    /// It asserts the right value together with one that was replaced or is forbidden, or denies
    /// the right one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub contradicts: bool,
    /// It states a value that the conversation had not stated by then: a foil, or an identifier,
    /// path or number of the asked form.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub invents: bool,
}

impl ProbeRow {
    /// Whether an answer of that grade is right: it states the value, or says that it is not known
    /// where nothing states it.
    pub fn is_right(&self, grade: Grade) -> bool {
        grade
            == if self.abstain_expected {
                Grade::Abstained
            } else {
                Grade::Right
            }
    }
}

/// What an answer is worth.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// It states what was asked for, and nothing that was replaced, forbidden or never said. If an
    /// order was asked for, it states all of it.
    Right,
    /// It states a wrong value of that kind: a foil, a forbidden one, or another fact's value.
    WrongValue,
    /// It states a value that was replaced.
    Stale,
    /// It says that it is not known.
    Abstained,
    /// It says none of these.
    Missing,
    /// There is no answer: the call failed, or every provider would refuse the request.
    Failed,
}

impl Grade {
    /// Every grade, in the order of reports.
    pub const ALL: &[Grade] = &[
        Grade::Right,
        Grade::WrongValue,
        Grade::Stale,
        Grade::Abstained,
        Grade::Missing,
        Grade::Failed,
    ];
}
