//! A checkpoint: the structured state of source 000, how it is read from a model's answer and how it is shown to one.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Recoverable state of a conversation (source 000, checkpoint schema). Fields without values are left out.
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
    /// Where a process of several steps stands.
    #[serde(skip_serializing_if = "WorkflowState::is_empty")]
    pub workflow_state: WorkflowState,
}

/// A task and what it needs to be picked up again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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

/// Where a process of several steps stands.
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
    /// Reads a checkpoint from a model's answer: the whole text, else a fenced block, else the first balanced object.
    /// No step invents or repairs data; an object without one known field is none.
    pub fn parse(text: &str) -> Option<Self> {
        let candidates = [Some(text.trim()), fenced(text), balanced(text)];
        let parsed = candidates.into_iter().flatten().find_map(|json| serde_json::from_str::<Checkpoint>(json).ok())?;
        (parsed != Checkpoint::default()).then_some(parsed)
    }

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

    /// The checkpoint as a readable section of a system prompt (source 000, `load_checkpoint_into_context`), with all of
    /// its fields.
    pub fn to_section(&self) -> String {
        let mut section = String::from("## Active Context Checkpoint\n");
        list(&mut section, "Active Goals", self.active_goals.iter().cloned());
        list(&mut section, "Pending Tasks", self.pending_tasks.iter().map(PendingTask::to_line));
        list(&mut section, "Key Decisions", pairs(&self.key_decisions));
        list(&mut section, "User Preferences", pairs(&self.user_preferences));
        let references = &self.context_references;
        let named = [
            ("Files", &references.files),
            ("Tables", &references.tables),
            ("Databases", &references.databases),
            ("Threads", &references.threads),
            ("External APIs", &references.external_apis),
        ];
        list(&mut section, "Context References", named.into_iter().filter_map(|(name, values)| joined(name, values)));
        let workflow = &self.workflow_state;
        let current = (!workflow.current_step.is_empty()).then(|| format!("Currently: {}", workflow.current_step));
        let steps = [("Completed", &workflow.completed_steps), ("Next", &workflow.next_steps)];
        let steps = steps.into_iter().filter_map(|(name, values)| joined(name, values));
        list(&mut section, "Workflow State", current.into_iter().chain(steps));
        section
    }
}

impl PendingTask {
    fn to_line(&self) -> String {
        if self.context.is_empty() { self.task.clone() } else { format!("{} ({})", self.task, self.context) }
    }
}

fn join<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

fn list(section: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let mut lines = lines.peekable();
    if lines.peek().is_some() {
        let _ = write!(section, "\n**{title}**:\n");
        for line in lines {
            let _ = writeln!(section, "- {line}");
        }
    }
}

fn pairs(map: &Map<String, Value>) -> impl Iterator<Item = String> {
    map.iter().map(|(topic, value)| match value {
        Value::String(text) => format!("{topic}: {text}"),
        other => format!("{topic}: {other}"),
    })
}

fn joined(name: &str, values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| format!("{name}: {}", values.join(", ")))
}

/// The inside of the first fenced block.
fn fenced(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("```")?;
    let (_, body) = after.split_once('\n')?;
    Some(body.split_once("```")?.0.trim())
}

/// The first balanced JSON object.
fn balanced(text: &str) -> Option<&str> {
    let start = text.find('{')?;
    let mut depth = 0_u32;
    let mut in_string = false;
    let mut escaped = false;
    for (at, letter) in text[start..].char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if in_string => escaped = true,
            '"' => in_string = !in_string,
            '{' if !in_string => depth += 1,
            '}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[start..=start + at]);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"active_goals": ["ship {it}"], "key_decisions": {"db": "use \"pg\""}}"#;

    #[test]
    fn reads_strict_fenced_and_embedded_json() {
        let expected = Checkpoint::parse(JSON).expect("strict JSON parses");
        assert_eq!(expected.active_goals, ["ship {it}"]);
        assert_eq!(Checkpoint::parse(&format!("Here:\n```json\n{JSON}\n```\nDone.")), Some(expected.clone()));
        assert_eq!(Checkpoint::parse(&format!("Here it is {JSON} and more }}")), Some(expected));
    }

    #[test]
    fn refuses_what_holds_no_checkpoint() {
        for text in ["", "no json", "{}", r#"{"other": 1}"#, r#"{"active_goals": ["cut"#, r#"{"active_goals": 3}"#] {
            assert_eq!(Checkpoint::parse(text), None, "{text}");
        }
    }

    #[test]
    fn merging_joins_lists_and_takes_the_finer_word() {
        let parse = |json: &str| Checkpoint::parse(json).expect("parses");
        let coarse = parse(r#"{"active_goals":["a","b"],"key_decisions":{"db":"pg","cache":"none"}}"#);
        let fine = parse(r#"{"active_goals":["b","c"],"key_decisions":{"cache":"redis"}}"#);
        let expected = parse(r#"{"active_goals":["a","b","c"],"key_decisions":{"db":"pg","cache":"redis"}}"#);
        assert_eq!(coarse.merged_with(fine), expected);
    }

    #[test]
    fn section_shows_every_field() {
        let json = serde_json::json!({
            "active_goals": ["g1"], "pending_tasks": [{"task": "t1", "context": "c1"}], "key_decisions": {"d": "v1"},
            "user_preferences": {"p": "v2"},
            "context_references": {"files": ["f1"], "tables": ["tb1"], "databases": ["db1"], "threads": ["th1"], "external_apis": ["a1"]},
            "workflow_state": {"current_step": "s1", "completed_steps": ["s0"], "next_steps": ["s2"]}
        });
        let section = Checkpoint::parse(&json.to_string()).expect("parses").to_section();
        for value in ["g1", "t1 (c1)", "d: v1", "p: v2", "f1", "tb1", "db1", "th1", "a1", "s1", "s0", "s2"] {
            assert!(section.contains(value), "{value} in {section}");
        }
    }
}
