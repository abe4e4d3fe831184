//! What a checkpoint gives up where it is too long.

use serde_json::{Map, Value};

use super::Checkpoint;

impl Checkpoint {
    /// Takes out one entry after the other until it fits or one is left. First go steps that are done; then names, which tools can find
    /// again; then preferences, decisions, steps to come from the last on, tasks, goals, and in the end the current step. The first
    /// entry of a list goes first.
    pub fn trim(&mut self, fits: impl Fn(&Checkpoint) -> bool) {
        while !fits(self) {
            let mut less = self.clone();
            if !less.take_least() || less.is_empty() {
                break;
            }
            *self = less;
        }
    }

    /// Takes out the entry that is needed least; `false` if there is none.
    fn take_least(&mut self) -> bool {
        let references = &mut self.context_references;
        let lists = [
            &mut self.workflow_state.completed_steps,
            &mut references.threads,
            &mut references.external_apis,
            &mut references.databases,
            &mut references.tables,
            &mut references.files,
        ];
        lists.into_iter().any(take_first)
            || [&mut self.user_preferences, &mut self.key_decisions].into_iter().any(take_first_key)
            || self.workflow_state.next_steps.pop().is_some()
            || take_first(&mut self.pending_tasks)
            || take_first(&mut self.active_goals)
            || !std::mem::take(&mut self.workflow_state.current_step).is_empty()
    }
}

fn take_first<T>(list: &mut Vec<T>) -> bool {
    let has_any = !list.is_empty();
    if has_any {
        list.remove(0);
    }
    has_any
}

fn take_first_key(map: &mut Map<String, Value>) -> bool {
    let first = map.keys().next().cloned();
    first.is_some_and(|key| map.remove(&key).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> Checkpoint {
        let json = serde_json::json!({
            "active_goals": ["g1"], "pending_tasks": [{"task": "t1"}], "key_decisions": {"d": "v1"},
            "user_preferences": {"p": "v2"},
            "context_references": {"files": ["f1", "f2"], "tables": ["tb1"], "databases": ["db1"], "threads": ["th1"], "external_apis": ["a1"]},
            "workflow_state": {"current_step": "s1", "completed_steps": ["s0"], "next_steps": ["s2", "s3"]}
        });
        serde_json::from_value(json).expect("parses")
    }

    #[test]
    fn entries_go_in_the_stated_order() {
        let values = ["s0", "th1", "a1", "db1", "tb1", "f1", "f2", "p: v2", "d: v1", "s3", "s2", "t1", "g1", "s1"];
        for kept in 1..=values.len() {
            let mut checkpoint = whole();
            let count = |checkpoint: &Checkpoint| {
                values.iter().filter(|value| checkpoint.to_section().contains(**value)).count()
            };
            checkpoint.trim(|checkpoint| count(checkpoint) <= kept);
            let section = checkpoint.to_section();
            for (at, value) in values.iter().enumerate() {
                assert_eq!(section.contains(value), at >= values.len() - kept, "{value}, {kept} kept: {section}");
            }
        }
        let mut checkpoint = whole();
        checkpoint.trim(|_| false);
        assert_eq!(checkpoint.workflow_state.current_step, "s1", "one entry stays");
        let mut empty = Checkpoint::default();
        empty.trim(|_| false);
        assert!(empty.is_empty());
    }
}
