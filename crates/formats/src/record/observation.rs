//! What a case showed at one point of its conversation.

use compactometer_engine::message::MessageId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::is_zero;
use crate::fate::{Fate, Fates};
use crate::scenario::ValueKind;

/// The facts at one point of the conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Observation {
    /// The last message of the log at that point.
    pub after: MessageId,
    /// Why the facts were observed there.
    pub kind: ObservationKind,
    /// Applied compactions so far.
    pub round: u32,
    /// Tokens of the log since the last applied compaction, or since the start.
    pub tokens_since_compaction: u32,
    /// Tokens of the log; 0 in records from before it was kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub log_tokens: u32,
    /// Why the context counts as empty; absent if it can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<Unusable>,
    /// What became of each fact.
    pub fates: Fates,
    /// Indices of the facts out of the context that storage still holds: the latest checkpoint, the
    /// latest pinned record or a note of a message that states them. Earlier records have the fate
    /// `stored_only` instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stored: Vec<u32>,
    /// Indices of the facts in the headline set: valid, last mentioned at least the trigger
    /// earlier, outside the system prompt, the last user message and the pending part. The same for
    /// every strategy.
    pub eligible: Vec<u32>,
    /// Indices of the facts that the next turn uses as an argument, distant by the same rule as the
    /// headline set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub used: Vec<u32>,
    /// What kind of use each of them is, in the same order, and whether what the last compaction
    /// left holds its value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uses: Vec<Use>,
    /// Uses by the next turn of values that were last said before the latest compaction of a row that
    /// keeps nothing, or of the recorded program: the same for every strategy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needed: Vec<Needed>,
    /// Uses by the next turn that are left out because a recorded turn repeated the value within
    /// the trigger's distance.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub echoed: u32,
    /// Indices of the eligible facts that the context holds and gives to their own subjects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound: Vec<u32>,
    /// The eligible facts whose values the context gives to wrong subjects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub misbound: Vec<Misbound>,
    /// Where no fact has a subject: indices of the eligible facts that a clause of the context says
    /// something about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<u32>,
    /// Where no fact has a subject: the eligible facts that written text holds, each with how well
    /// the words around it fit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fits: Vec<Fit>,
    /// How often facts of foreign scenarios match what the context carries, by value kind.
    pub chance: Vec<ChanceCell>,
    /// For each eligible fact, how many of [`RANDOM_DRAWS`] random contexts held it. They have the
    /// same size and keep the strategy's own verbatim tail. Empty in records from before they were
    /// drawn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selection_hits: Vec<u32>,
    /// As `chance`, in these contexts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selection_chance: Vec<ChanceCell>,
    /// For each eligible fact, in how many of these contexts it was given to its own subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selection_bound: Vec<u32>,
    /// Foil values that match what the strategy wrote: invented values.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub foil_hits: u32,
    /// The number of foil values searched for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub foils: u32,
    /// Indices of the eligible facts for which the scenario has a question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<u32>,
    /// The user's sentences that are distant by the same rule, by the number of applied compactions
    /// since they were last said: none, one, two, three, more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<SaidCount>,
    /// What the strategy retrieved for each of these questions; absent if it had nothing to search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompted: Option<Prompted>,
}

impl Observation {
    /// Whether the fact is out of the context and storage holds it.
    pub fn is_stored(&self, fact: u32) -> bool {
        self.stored.binary_search(&fact).is_ok()
            || self.fates.0.get(fact as usize) == Some(&Fate::StoredOnly)
    }
}

/// A number of sentences of the user, and how many of them the context says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SaidCount {
    /// How many there are.
    pub all: u32,
    /// How many of them the context says.
    pub held: u32,
}

/// A use of a value by a call of the next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Use {
    /// What kind of use it is.
    pub kind: UseKind,
    /// Whether the context holds the value.
    pub held: Held,
    /// Whether it may hold the value at most, with what a recorded program is known to put back
    /// unrecorded; absent if nothing is known of that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<bool>,
}

/// A use of an old value by a call of the next turn, and what bounds whether a context can hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Needed {
    /// The fact's index.
    pub fact: u32,
    /// What kind of use it is.
    pub kind: UseKind,
    /// Whether the context holds the value.
    pub held: Held,
    /// Whether the value is outside of everything that a model wrote: then no model can lose it.
    pub floor: bool,
    /// Whether the value is there, or was shown to a summarizer: otherwise no model can keep it.
    /// Absent if the requests are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<bool>,
    /// In how many of [`RANDOM_DRAWS`] random contexts of the same size the value is. They keep the
    /// row's own verbatim tail.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub random: u32,
    /// Whether the recorded program had compacted before: then its summary shaped what the agent
    /// did.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shaped: bool,
}

/// What a call uses a value for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum UseKind {
    /// The value says where or what to act on.
    Address,
    /// The value is part of a text that the agent writes.
    Authored,
    /// Any project may have the value.
    Generic,
}

/// Whether a context holds a value that a call uses.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// As it was said.
    AsSaid,
    /// By another name of the same file.
    NamedOtherwise,
    /// It does not: the value was out of sight when the call was made.
    OutOfSight,
}

/// Why a context holds nothing for recall.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Unusable {
    /// The request exceeds the window, so a provider refuses it.
    OverWindow,
    /// A compaction was due and failed.
    CompactionFailed,
}

/// The index of a fact, to how many rival subjects the context gives its value although no message
/// did, and the values of all its rivals over the values of its own subject: `[3,2,14.5]`. In
/// records before version 4, the last is the number of rivals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Misbound(pub u32, pub u32, pub f64);

/// The index of a fact, how often the words around its value fit its own first mention better than
/// that of another value of its kind (2 each; 1 for a tie), and the number of these values:
/// `[3,5,4]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fit(pub u32, pub u32, pub u32);

/// What the context holds together with what a strategy retrieved for a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Prompted {
    /// Indices of the facts asked for that context and retrieved text together hold.
    pub found: Vec<u32>,
    /// Tokens retrieved, over all questions.
    pub tokens: u64,
    /// How often facts of foreign scenarios match what the context carries together with what was
    /// retrieved, over all questions, by value kind.
    pub chance: Vec<ChanceCell>,
}

/// Random contexts for each case, for lift.
pub const RANDOM_DRAWS: u32 = 20;

/// Why a conversation was observed.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ObservationKind {
    /// Right after an applied compaction. Such points differ between strategies and enter no
    /// headline number.
    Compaction,
    /// A point that the conversation's length implies, which is the same for every strategy.
    Point,
    /// A place where a question is asked. It enters no recall.
    Question,
    /// A place before a turn that uses an old value, and nothing else is asked.
    Use,
}

/// Chance matches of one value kind, counted over pairs of a foreign fact and a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChanceCell {
    /// The facts' value kind.
    pub kind: ValueKind,
    /// Matches.
    pub hits: u32,
    /// Pairs.
    pub pairs: u32,
}
