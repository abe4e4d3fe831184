//! A checkpoint as text for a model.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{Checkpoint, PendingTask};

impl Checkpoint {
    /// The checkpoint as a readable section of a system prompt (the strategic plan,
    /// `load_checkpoint_into_context`), with all of its fields.
    ///
    /// ```
    /// use compactometer_engine::checkpoint::Checkpoint;
    ///
    /// let checkpoint = Checkpoint { active_goals: vec!["ship the importer".into()], ..Checkpoint::default() };
    /// assert!(checkpoint.to_section().contains("ship the importer"));
    /// ```
    pub fn to_section(&self) -> String {
        let mut section = String::from("## Active Context Checkpoint\n");
        list(
            &mut section,
            "Active Goals",
            self.active_goals.iter().cloned(),
        );
        list(
            &mut section,
            "Pending Tasks",
            self.pending_tasks.iter().map(PendingTask::to_line),
        );
        list(&mut section, "Key Decisions", pairs(&self.key_decisions));
        list(
            &mut section,
            "User Preferences",
            pairs(&self.user_preferences),
        );
        let references = &self.context_references;
        let named = [
            ("Files", &references.files),
            ("Tables", &references.tables),
            ("Databases", &references.databases),
            ("Threads", &references.threads),
            ("External APIs", &references.external_apis),
        ];
        list(
            &mut section,
            "Context References",
            named
                .into_iter()
                .filter_map(|(name, values)| joined(name, values)),
        );
        let workflow = &self.workflow_state;
        let current = (!workflow.current_step.is_empty())
            .then(|| format!("Currently: {}", workflow.current_step));
        let steps = [
            ("Completed", &workflow.completed_steps),
            ("Next", &workflow.next_steps),
        ];
        let steps = steps
            .into_iter()
            .filter_map(|(name, values)| joined(name, values));
        list(
            &mut section,
            "Workflow State",
            current.into_iter().chain(steps),
        );
        section
    }
}

impl PendingTask {
    fn to_line(&self) -> String {
        if self.context.is_empty() {
            self.task.clone()
        } else {
            format!("{} ({})", self.task, self.context)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_shows_every_field() {
        let json = serde_json::json!({
            "active_goals": ["g1"], "pending_tasks": [{"task": "t1", "context": "c1"}], "key_decisions": {"d": "v1"},
            "user_preferences": {"p": "v2"},
            "context_references": {"files": ["f1"], "tables": ["tb1"], "databases": ["db1"], "threads": ["th1"], "external_apis": ["a1"]},
            "workflow_state": {"current_step": "s1", "completed_steps": ["s0"], "next_steps": ["s2"]}
        });
        let section = serde_json::from_value::<Checkpoint>(json)
            .expect("parses")
            .to_section();
        for value in [
            "g1", "t1 (c1)", "d: v1", "p: v2", "f1", "tb1", "db1", "th1", "a1", "s1", "s0", "s2",
        ] {
            assert!(section.contains(value), "{value} in {section}");
        }
    }
}
