//! A checkpoint item by item: what can be shown, asked for or recalled by itself.

use serde_json::{Map, Value};

use super::Checkpoint;

/// One thing that a checkpoint holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Its field, for example `key_decisions` or `context_references.files`.
    pub field: &'static str,
    /// What it is about: the key of an entry, the context of a task; empty where it has none.
    pub topic: String,
    /// What it says.
    pub value: String,
}

impl Item {
    /// Topic and value, for a comparison of words.
    pub fn text(&self) -> String {
        format!("{} {}", self.topic, self.value).trim().to_owned()
    }
}

impl Checkpoint {
    /// Everything that it holds, in the order of its section.
    pub fn items(&self) -> Vec<Item> {
        let mut items = Vec::new();
        let _all = self.only(|item| {
            items.push(item.clone());
            true
        });
        items
    }

    /// The checkpoint with only those items that `keeps` wants; it is asked in the order of
    /// [`Checkpoint::items`].
    #[must_use]
    pub fn only(&self, mut keeps: impl FnMut(&Item) -> bool) -> Checkpoint {
        let mut keep = |field, topic: &str, value: &str| {
            keeps(&Item {
                field,
                topic: topic.to_owned(),
                value: value.to_owned(),
            })
        };
        let mut kept = self.clone();
        kept.active_goals
            .retain(|goal| keep("active_goals", "", goal));
        kept.pending_tasks
            .retain(|task| keep("pending_tasks", &task.context, &task.task));
        retain(&mut kept.key_decisions, |topic, value| {
            keep("key_decisions", topic, value)
        });
        retain(&mut kept.user_preferences, |topic, value| {
            keep("user_preferences", topic, value)
        });
        let references = &mut kept.context_references;
        references
            .files
            .retain(|name| keep("context_references.files", "", name));
        references
            .tables
            .retain(|name| keep("context_references.tables", "", name));
        references
            .databases
            .retain(|name| keep("context_references.databases", "", name));
        references
            .threads
            .retain(|name| keep("context_references.threads", "", name));
        references
            .external_apis
            .retain(|name| keep("context_references.external_apis", "", name));
        let workflow = &mut kept.workflow_state;
        if !workflow.current_step.is_empty()
            && !keep("workflow_state.current_step", "", &workflow.current_step)
        {
            workflow.current_step.clear();
        }
        workflow
            .completed_steps
            .retain(|step| keep("workflow_state.completed_steps", "", step));
        workflow
            .next_steps
            .retain(|step| keep("workflow_state.next_steps", "", step));
        kept
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        *self == Checkpoint::default()
    }
}

fn retain(entries: &mut Map<String, Value>, mut keep: impl FnMut(&str, &str) -> bool) {
    entries.retain(|topic, value| match value {
        Value::String(text) => keep(topic, text),
        other => keep(topic, &other.to_string()),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_an_item_and_can_stand_alone() {
        let json = r#"{"active_goals":["g"],"pending_tasks":[{"task":"t","context":"c"}],"key_decisions":{"db":"pg","port":80},"user_preferences":{"p":"v"},"context_references":{"files":["f"],"tables":["tb"],"databases":["d"],"threads":["th"],"external_apis":["a"]},"workflow_state":{"current_step":"s1","completed_steps":["s0"],"next_steps":["s2"]}}"#;
        let checkpoint = serde_json::from_str::<Checkpoint>(json).expect("parses");
        let items = checkpoint.items();
        let values = items
            .iter()
            .map(|item| item.value.as_str())
            .collect::<Vec<_>>();
        assert_eq!(
            values,
            [
                "g", "t", "pg", "80", "v", "f", "tb", "d", "th", "a", "s1", "s0", "s2"
            ]
        );
        assert_eq!(checkpoint.only(|_| true), checkpoint);
        assert!(checkpoint.only(|_| false).is_empty());
        for item in &items {
            let alone = checkpoint.only(|other| other == item);
            assert_eq!(alone.items(), std::slice::from_ref(item), "{item:?}");
        }
    }
}
