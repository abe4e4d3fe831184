//! A scenario: one conversation, the facts stated in it and the questions about them.

mod person_sentences;
mod program_log;
mod recorded_compaction;

use compactometer_engine::message::{Message, MessageId, Role};
use compactometer_engine::model::ToolDefinition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use compactometer_text::matcher::ValueKind;
use compactometer_text::matcher::{Said, Sought};
pub use person_sentences::{SaidSentence, SentenceKind, Wording};
pub use program_log::{ClearedResults, LogNotes, ModelFrom};
pub use recorded_compaction::{
    Reattached, RecordedCompaction, Retained, Unmeasured, UnmeasuredCompaction,
};

/// One conversation with what can be measured on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Unique in its suite.
    pub id: String,
    /// What conversations share (task, template instance, source session): the unit of statistics.
    pub group_id: String,
    /// The projects, such as working directories, whose sessions it was made of. If there are none,
    /// its group counts as one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<String>,
    /// Version of the scenario's content.
    #[serde(default = "one")]
    pub version: u32,
    /// The seed that it was generated from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Where it comes from: a generator and its spec, or a transcript's format and file name.
    pub source: String,
    /// SPDX licence of the text, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// Which part of a study it belongs to.
    #[serde(default)]
    pub split: Split,
    /// Tools that the agent had. They precede the conversation in every request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolDefinition>,
    /// The conversation; ids ascend.
    pub messages: Vec<Message>,
    /// Compactions that the recorded program made, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compactions: Vec<RecordedCompaction>,
    /// Compactions of the program that cannot be measured, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmeasured: Vec<UnmeasuredCompaction>,
    /// The last message before the first summary of the recorded program, where the compactions
    /// themselves are not known: such a summary shaped what came later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shaped_after: Option<MessageId>,
    /// What the log of the recorded program says beside the chat.
    #[serde(default, skip_serializing_if = "LogNotes::is_empty")]
    pub log: LogNotes,
    /// The directories that the recorded program worked in, absolute and in the order of their
    /// first use. Paths relative to them name the same files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<String>,
    /// What the recorded program is known to put back after a compaction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reattached: Option<Reattached>,
    /// Notes that the agent's memory holds when the conversation begins, such as those of an
    /// earlier conversation with the same person. No request has one until it is retrieved for a
    /// question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_notes: Vec<String>,
    /// What its user said without an exact value, where that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<SaidSentence>,
    /// What is stated in it, decoys included.
    #[serde(default)]
    pub facts: Vec<Fact>,
    /// Questions about it.
    #[serde(default)]
    pub probes: Vec<Probe>,
}

impl Scenario {
    /// The last message that the agent wrote from the whole conversation, before the recorded
    /// program first compacted; nothing if it never did. Message 0 means that the file begins with a
    /// summary.
    pub fn last_unshaped(&self) -> Option<MessageId> {
        let measured = self.compactions.iter().map(|made| made.after);
        let others = self
            .unmeasured
            .iter()
            .map(|made| made.after.unwrap_or(MessageId(0)));
        let all = measured.chain(others).chain(self.shaped_after);
        all.min()
    }

    /// Who wrote a message.
    pub fn speaker(&self, message: &Message) -> Speaker {
        if self.log.by_program.binary_search(&message.id).is_ok() {
            Speaker::Program
        } else {
            Speaker::from(message.role)
        }
    }

    /// The projects in which its values may occur without being [generic](Fact::generic).
    pub fn projects(&self) -> impl Iterator<Item = &str> {
        let group = self.projects.is_empty().then_some(self.group_id.as_str());
        self.projects.iter().map(String::as_str).chain(group)
    }

    /// Whether both were made of sessions of one project.
    pub fn shares_project(&self, other: &Scenario) -> bool {
        self.projects()
            .any(|project| other.projects().any(|known| known == project))
    }
}

fn one() -> u32 {
    1
}

/// Which part of a study a scenario belongs to.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// For development.
    #[default]
    Dev,
    /// For reported results.
    Test,
    /// For fitting the mock.
    Calibration,
}

/// One stated fact, or the decoy of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fact {
    /// Unique in its scenario.
    pub id: String,
    /// What kind of statement it is.
    pub category: Category,
    /// What the value is about.
    pub subject: String,
    /// The value, exactly as stated.
    pub value: String,
    /// Other accepted forms of the value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<String>,
    /// How the value is matched and pooled.
    pub value_kind: ValueKind,
    /// Every message that states the value.
    pub evidence_message_ids: Vec<MessageId>,
    /// Who stated it first.
    pub stated_by: Speaker,
    /// How prominent the statement is.
    #[serde(default)]
    pub salience: Salience,
    /// The fact that this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<String>,
    /// The message that makes it untrue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<MessageId>,
    /// Whether the statement affirms or denies.
    #[serde(default)]
    pub polarity: Polarity,
    /// Values of the same form that the conversation never states; at least five in generated
    /// suites.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foil_values: Vec<String>,
    /// Messages whose tool calls use the value as an argument.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used_at: Vec<MessageId>,
    /// Weight in a unit's mean.
    #[serde(default = "weight_one")]
    pub weight: f64,
    /// The fact whose decoy this is: same form, role and place, never probed and in no recall.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decoy_of: Option<String>,
    /// Whether the value also occurs in another project, so that holding it proves nothing;
    /// unranked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generic: bool,
}

fn weight_one() -> f64 {
    1.0
}

impl Fact {
    /// A value that these messages state, said once and affirmed by the user, with nothing else
    /// known about it: an incidental fact without variants, foils or uses.
    pub fn stated(
        id: impl Into<String>,
        subject: impl Into<String>,
        value: impl Into<String>,
        value_kind: ValueKind,
        evidence_message_ids: Vec<MessageId>,
    ) -> Self {
        Fact {
            id: id.into(),
            category: Category::Incidental,
            subject: subject.into(),
            value: value.into(),
            variants: Vec::new(),
            value_kind,
            evidence_message_ids,
            stated_by: Speaker::User,
            salience: Salience::Once,
            supersedes: None,
            valid_to: None,
            polarity: Polarity::Affirmed,
            foil_values: Vec::new(),
            used_at: Vec::new(),
            weight: weight_one(),
            decoy_of: None,
            generic: false,
        }
    }

    /// Whether the conversation says something about a subject by it. What an importer or a person
    /// found is only a value.
    pub fn has_subject(&self) -> bool {
        self.category != Category::Incidental
    }

    /// How a text must hold one of its forms. An importer's exact values count whatever is said
    /// about them.
    pub fn sought(&self) -> Sought {
        let said = match (self.category, self.polarity) {
            (Category::Incidental, _) => Said::Either,
            (_, Polarity::Affirmed) => Said::Affirmed,
            (_, Polarity::Negated) => Said::Denied,
        };
        Sought {
            kind: self.value_kind,
            said,
        }
    }

    /// The value and its variants: every form whose presence counts.
    pub fn forms(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.value.as_str()).chain(self.variants.iter().map(String::as_str))
    }
}

/// What kind of statement a fact is. No text carries these labels.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// What the user wants.
    Goal,
    /// Work to be done.
    PendingTask,
    /// A choice, with its reason.
    Decision,
    /// How the user likes things.
    Preference,
    /// A name of a file, table, database, thread or API.
    Reference,
    /// The state of a process of several steps.
    WorkflowState,
    /// A constraint that is said once.
    ConstraintOnce,
    /// Something that must not be done.
    Prohibition,
    /// A value that replaces an earlier one.
    Update,
    /// Something that is not so.
    Negation,
    /// A number or an identifier.
    NumberOrId,
    /// An order of events.
    TemporalOrder,
    /// What was made, where.
    ArtifactTrail,
    /// Something the agent said.
    AssistantSaid,
    /// Something a tool returned.
    ToolOutput,
    /// Similar to another fact in form, but about another thing.
    Distractor,
    /// Never stated, so the right answer is that it is not known.
    Abstention,
    /// An exact value that an importer found.
    Incidental,
}

/// Who states something.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// The system prompt.
    System,
    /// The user.
    User,
    /// The agent.
    Assistant,
    /// A tool result.
    Tool,
    /// The agent's program, in a message of role user: a notification, a reminder, the output of a
    /// command.
    Program,
}

impl From<Role> for Speaker {
    fn from(role: Role) -> Self {
        match role {
            Role::System => Speaker::System,
            Role::User => Speaker::User,
            Role::Assistant => Speaker::Assistant,
            Role::Tool => Speaker::Tool,
        }
    }
}

/// How prominent a statement is.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Salience {
    /// Announced as something to keep in mind.
    #[default]
    Explicit,
    /// Said once, in passing.
    Once,
    /// Only to be inferred.
    Implicit,
}

/// Whether a statement affirms or denies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Polarity {
    /// It is so.
    #[default]
    Affirmed,
    /// It is not so.
    Negated,
}

/// A question about facts, and how its answer is graded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Unique in its scenario.
    pub id: String,
    /// The facts that it asks for.
    pub fact_ids: Vec<String>,
    /// The question.
    pub question: String,
    /// It is asked before the call that follows this message: an observation point of the scenario.
    pub asked_after: MessageId,
    /// The right answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gold: Option<String>,
    /// Answers that are wrong in a way that matters, such as a replaced value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbidden: Vec<String>,
    /// Whether the right answer is that it is not known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub abstain_expected: bool,
    /// If it asks for the order in which its facts were stated: the label that the question gives
    /// to each fact, in the order of `fact_ids`, which is the right one. An answer lists labels.
    /// Empty if it asks for values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
    /// If only the agent's memory states the answer: which part of it. Such a probe has `gold` and
    /// asks for no fact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryPart>,
}

/// A part of an agent's memory.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum MemoryPart {
    /// The memory document, which is part of the system prompt.
    Document,
    /// The notes, which can be searched.
    Notes,
}
