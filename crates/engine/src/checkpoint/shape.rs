//! A JSON value as a checkpoint. A value of another type than its field's is kept where all of it
//! can be, as a single text where a list is expected or a number where a text is; else it is left
//! out and counted. Blanks carry nothing and go.

use serde_json::{Map, Value};

use super::{Checkpoint, ContextReferences, PendingTask, WorkflowState};

/// The checkpoint that a value holds, and how many of its values were left out. Unknown fields are
/// not read.
pub(super) fn checkpoint(value: Value) -> (Checkpoint, u32) {
    let mut shaper = Shaper { left_out: 0 };
    let mut fields = shaper.fields(value);
    let mut take = |name: &str| fields.remove(name).unwrap_or_default();
    let checkpoint = Checkpoint {
        active_goals: shaper.texts(take("active_goals")),
        pending_tasks: shaper.tasks(take("pending_tasks")),
        key_decisions: shaper.map(take("key_decisions")),
        user_preferences: shaper.map(take("user_preferences")),
        context_references: shaper.references(take("context_references")),
        workflow_state: shaper.workflow(take("workflow_state")),
    };
    (checkpoint, shaper.left_out)
}

struct Shaper {
    left_out: u32,
}

impl Shaper {
    fn references(&mut self, value: Value) -> ContextReferences {
        let mut fields = self.fields(value);
        let mut take = |name: &str| self.texts(fields.remove(name).unwrap_or_default());
        ContextReferences {
            files: take("files"),
            tables: take("tables"),
            databases: take("databases"),
            threads: take("threads"),
            external_apis: take("external_apis"),
        }
    }

    fn workflow(&mut self, value: Value) -> WorkflowState {
        let mut fields = self.fields(value);
        let mut take = |name: &str| fields.remove(name).unwrap_or_default();
        WorkflowState {
            current_step: self.text(take("current_step")),
            completed_steps: self.texts(take("completed_steps")),
            next_steps: self.texts(take("next_steps")),
        }
    }

    /// Tasks in a list, or one alone; a text is a task without context.
    fn tasks(&mut self, value: Value) -> Vec<PendingTask> {
        let task = match value {
            Value::Array(items) => {
                return items
                    .into_iter()
                    .flat_map(|item| self.tasks(item))
                    .collect();
            }
            Value::Object(mut fields) => {
                let mut take = |name: &str| fields.remove(name).unwrap_or_default();
                let (task, context) = (take("task"), take("context"));
                if is_blank(&task) && is_blank(&context) {
                    self.leave_out(&Value::Object(fields));
                }
                PendingTask {
                    task: self.text(task),
                    context: self.text(context),
                }
            }
            other => PendingTask {
                task: self.text(other),
                context: String::new(),
            },
        };
        if task == PendingTask::default() {
            Vec::new()
        } else {
            vec![task]
        }
    }

    /// An object, or a list of objects with one entry each.
    fn map(&mut self, value: Value) -> Map<String, Value> {
        let mut map = Map::new();
        let items = match value {
            Value::Array(items) => items,
            other => return self.fields(other),
        };
        for item in items {
            match item {
                Value::Object(entry)
                    if entry.len() == 1 && entry.keys().all(|topic| !map.contains_key(topic)) =>
                {
                    map.extend(entry.into_iter().filter(|(_, value)| !is_blank(value)));
                }
                other => self.leave_out(&other),
            }
        }
        map
    }

    /// The entries of an object that hold something.
    fn fields(&mut self, value: Value) -> Map<String, Value> {
        match value {
            Value::Object(fields) => fields
                .into_iter()
                .filter(|(_, value)| !is_blank(value))
                .collect(),
            other => {
                self.leave_out(&other);
                Map::new()
            }
        }
    }

    /// A list of texts, or one alone; numbers and words as they were written.
    fn texts(&mut self, value: Value) -> Vec<String> {
        match value {
            value if is_blank(&value) => Vec::new(),
            Value::Array(items) => items
                .into_iter()
                .flat_map(|item| self.texts(item))
                .collect(),
            Value::String(text) => vec![text],
            Value::Bool(_) | Value::Number(_) => vec![value.to_string()],
            other => {
                self.leave_out(&other);
                Vec::new()
            }
        }
    }

    /// One text; several in a list cannot be one.
    fn text(&mut self, value: Value) -> String {
        let mut texts = self.texts(value);
        if texts.len() > 1 {
            self.left_out += texts.len() as u32;
            return String::new();
        }
        texts.pop().unwrap_or_default()
    }

    fn leave_out(&mut self, value: &Value) {
        self.left_out += u32::from(!is_blank(value));
    }
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shaped(value: Value) -> (Value, u32) {
        let (checkpoint, left_out) = checkpoint(value);
        (
            serde_json::to_value(checkpoint).expect("a checkpoint is JSON"),
            left_out,
        )
    }

    #[test]
    fn what_can_be_kept_whole_is_kept() {
        for (written, expected) in [
            (
                json!({"active_goals": "ship"}),
                json!({"active_goals": ["ship"]}),
            ),
            (
                json!({"active_goals": [["a"], 3, true, null, " "]}),
                json!({"active_goals": ["a", "3", "true"]}),
            ),
            (
                json!({"pending_tasks": "test"}),
                json!({"pending_tasks": [{"task": "test"}]}),
            ),
            (
                json!({"pending_tasks": {"context": "why"}}),
                json!({"pending_tasks": [{"task": "", "context": "why"}]}),
            ),
            (
                json!({"key_decisions": [{"db": "pg"}, {"port": 80}]}),
                json!({"key_decisions": {"db": "pg", "port": 80}}),
            ),
            (
                json!({"workflow_state": {"current_step": ["one"]}}),
                json!({"workflow_state": {"current_step": "one"}}),
            ),
        ] {
            assert_eq!(shaped(written), (expected, 0));
        }
    }

    #[test]
    fn what_cannot_is_left_out_and_counted() {
        for written in [
            json!({"active_goals": [{"goal": "ship"}]}),
            json!({"pending_tasks": [{"name": "test"}]}),
            json!({"key_decisions": ["use pg"]}),
            json!({"key_decisions": "use pg"}),
            json!({"context_references": ["a.rs"]}),
            json!({"workflow_state": "testing"}),
            json!(["active_goals"]),
        ] {
            assert_eq!(shaped(written.clone()), (json!({}), 1), "{written}");
        }
        assert_eq!(
            shaped(json!({"workflow_state": {"current_step": ["a", "b"]}})),
            (json!({}), 2)
        );
        assert_eq!(
            shaped(json!({"key_decisions": [{"db": "pg"}, {"db": "sqlite"}]})).1,
            1
        );
    }
}
