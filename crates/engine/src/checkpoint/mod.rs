//! A checkpoint: the structured state of the strategic plan. This file has its fields and how two
//! of them merge; how one is read from a model's answer in [`extract`], how it is shown to a model
//! in [`Checkpoint::to_section`], and what it gives up first in [`Checkpoint::trim`].

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
pub use ladder::{Extraction, LadderReading, Rung, Unreadable, extract};

/// Recoverable state of a conversation (the strategic plan, checkpoint schema). Fields without
/// values are left out.
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
    /// Both together. What `newer` says of a topic replaces what this says; lists are joined
    /// without repeats, and what is done is no longer to be done. What was said last comes last,
    /// except among the steps to come, so that [`Checkpoint::trim`] gives up the oldest first.
    ///
    /// ```
    /// use compactometer_engine::checkpoint::Checkpoint;
    ///
    /// let goals = |goal: &str| Checkpoint { active_goals: vec![goal.into()], ..Checkpoint::default() };
    /// let both = goals("ship the importer").merged_with(goals("write its page"));
    /// assert_eq!(both.active_goals, ["ship the importer", "write its page"]);
    /// ```
    #[must_use]
    pub fn merged_with(mut self, newer: Checkpoint) -> Self {
        join(&mut self.active_goals, newer.active_goals);
        join(&mut self.pending_tasks, newer.pending_tasks);
        replace(&mut self.key_decisions, newer.key_decisions);
        replace(&mut self.user_preferences, newer.user_preferences);
        let (own, other) = (&mut self.context_references, newer.context_references);
        join(&mut own.files, other.files);
        join(&mut own.tables, other.tables);
        join(&mut own.databases, other.databases);
        join(&mut own.threads, other.threads);
        join(&mut own.external_apis, other.external_apis);
        let (own, other) = (&mut self.workflow_state, newer.workflow_state);
        if !other.current_step.is_empty() {
            own.current_step = other.current_step;
        }
        join(&mut own.completed_steps, other.completed_steps);
        let mut steps = other.next_steps;
        join_behind(&mut steps, std::mem::take(&mut own.next_steps));
        let done = own.completed_steps.iter().collect::<HashSet<_>>();
        steps.retain(|step| !done.contains(step));
        self.pending_tasks
            .retain(|pending| !done.contains(&pending.task));
        own.next_steps = steps;
        self
    }
}

/// Appends what is newer, also what the list holds already. One pass with a set: a broken answer
/// may hold a hundred thousand items.
fn join<T: Clone + Eq + Hash>(list: &mut Vec<T>, newer: Vec<T>) {
    let older = std::mem::take(list);
    let mut seen = HashSet::new();
    let newer = newer
        .into_iter()
        .filter(|item| seen.insert(item.clone()))
        .collect::<Vec<_>>();
    list.extend(older.into_iter().filter(|item| seen.insert(item.clone())));
    list.extend(newer);
}

/// Appends what the list does not hold.
fn join_behind<T: Clone + Eq + Hash>(list: &mut Vec<T>, older: Vec<T>) {
    let mut seen = HashSet::new();
    list.retain(|item| seen.insert(item.clone()));
    list.extend(older.into_iter().filter(|item| seen.insert(item.clone())));
}

fn replace(map: &mut Map<String, Value>, newer: Map<String, Value>) {
    for (topic, value) in newer {
        map.shift_remove(&topic);
        map.insert(topic, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_joins_lists_and_takes_the_newer_word() {
        let parse = |json: &str| serde_json::from_str::<Checkpoint>(json).expect("parses");
        let old = parse(
            r#"{"active_goals":["a","b"],"pending_tasks":[{"task":"t1"},{"task":"t2"}],"key_decisions":{"cache":"none","db":"pg"},
                "workflow_state":{"current_step":"s1","next_steps":["s2","s3"]}}"#,
        );
        let new = parse(
            r#"{"active_goals":["c","a"],"key_decisions":{"cache":"redis"},
                "workflow_state":{"current_step":"s3","completed_steps":["s1","s2","t1"],"next_steps":["s4"]}}"#,
        );
        let expected = parse(
            r#"{"active_goals":["b","c","a"],"pending_tasks":[{"task":"t2"}],"key_decisions":{"db":"pg","cache":"redis"},
                "workflow_state":{"current_step":"s3","completed_steps":["s1","s2","t1"],"next_steps":["s4","s3"]}}"#,
        );
        let merged = old.merged_with(new);
        assert_eq!(merged, expected);
        let decided = merged
            .key_decisions
            .keys()
            .map(String::as_str)
            .collect::<Vec<_>>();
        assert_eq!(decided, ["db", "cache"], "what was decided last comes last");
    }
}
