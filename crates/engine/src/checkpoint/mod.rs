//! A checkpoint: the structured state of the strategic plan. This file has its fields and how two of them merge; how one is read
//! from a model's answer in [`extract`], how it is shown to a model in [`Checkpoint::to_section`],
//! and what it gives up first in [`Checkpoint::trim`].

mod example;
mod items;
mod ladder;
mod reader;
mod section;
mod shape;
mod trim;

use std::collections::HashSet;
use std::hash::Hash;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use example::Examples;
pub use items::Item;
pub use ladder::{Extraction, Reading, Rung, Unreadable, extract};

/// Recoverable state of a conversation (the strategic plan, checkpoint schema). Fields without values are left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checkpoint {
    /// What the user is trying to accomplish.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub active_goals: Vec<String>,
    /// Work that is under way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pending_tasks: Vec<PendingTask>,
    /// Topic to decision.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub key_decisions: Map<String, Value>,
    /// Domain to preference.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub user_preferences: Map<String, Value>,
    /// Kind of reference to names.
    #[serde(skip_serializing_if = "ContextReferences::is_empty")]
    pub context_references: ContextReferences,
    /// The state of a process of several steps.
    #[serde(skip_serializing_if = "WorkflowState::is_empty")]
    pub workflow_state: WorkflowState,
}

/// A task and what it needs to be picked up again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct PendingTask {
    /// What is to be done.
    pub task: String,
    /// What one must know to do it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub context: String,
}

/// Names of things that the work refers to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContextReferences {
    /// File paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Database tables.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tables: Vec<String>,
    /// Databases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub databases: Vec<String>,
    /// Conversation threads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub threads: Vec<String>,
    /// External APIs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub external_apis: Vec<String>,
}

impl ContextReferences {
    fn is_empty(&self) -> bool {
        *self == ContextReferences::default()
    }
}

/// The state of a process of several steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkflowState {
    /// What is being done now.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub current_step: String,
    /// What is done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub completed_steps: Vec<String>,
    /// What comes after.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_steps: Vec<String>,
}

impl WorkflowState {
    fn is_empty(&self) -> bool {
        *self == WorkflowState::default()
    }
}

impl Checkpoint {
    /// Both together: what `finer` says of a topic replaces what this says, lists are joined without repeats.
    #[must_use]
    pub fn merged_with(mut self, finer: Checkpoint) -> Self {
        join(&mut self.active_goals, finer.active_goals);
        join(&mut self.pending_tasks, finer.pending_tasks);
        self.key_decisions.extend(finer.key_decisions);
        self.user_preferences.extend(finer.user_preferences);
        let (own, other) = (&mut self.context_references, finer.context_references);
        join(&mut own.files, other.files);
        join(&mut own.tables, other.tables);
        join(&mut own.databases, other.databases);
        join(&mut own.threads, other.threads);
        join(&mut own.external_apis, other.external_apis);
        let (own, other) = (&mut self.workflow_state, finer.workflow_state);
        if !other.current_step.is_empty() {
            own.current_step = other.current_step;
        }
        join(&mut own.completed_steps, other.completed_steps);
        join(&mut own.next_steps, other.next_steps);
        self
    }
}

/// Appends new items in one pass with a set: a broken answer may hold a hundred thousand items.
fn join<T: Clone + Eq + Hash>(list: &mut Vec<T>, more: Vec<T>) {
    let mut seen = list.iter().cloned().collect::<HashSet<_>>();
    list.extend(more.into_iter().filter(|item| seen.insert(item.clone())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_joins_lists_and_takes_the_finer_word() {
        let parse = |json: &str| serde_json::from_str::<Checkpoint>(json).expect("parses");
        let coarse = parse(r#"{"active_goals":["a","b"],"key_decisions":{"db":"pg","cache":"none"}}"#);
        let fine = parse(r#"{"active_goals":["b","c"],"key_decisions":{"cache":"redis"}}"#);
        let expected = parse(r#"{"active_goals":["a","b","c"],"key_decisions":{"db":"pg","cache":"redis"}}"#);
        assert_eq!(coarse.merged_with(fine), expected);
    }
}
