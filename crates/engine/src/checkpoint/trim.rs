//! What a checkpoint gives up where it is too long.

use serde_json::{Map, Value};

use super::Checkpoint;

impl Checkpoint {
    /// Takes out one entry after the other until it fits or one is left, the oldest of each list
    /// first. First go steps that are done; then names, which tools can find again; then
    /// preferences, decisions, steps to come, tasks and goals. The newest entry of each list stays
    /// until the others are gone; then these go in the same order, and in the end the current step.
    pub fn trim(&mut self, fits: impl Fn(&Checkpoint) -> bool) {
        if fits(self) {
            return;
        }
        let entries = self.lists().iter().map(|list| list.count()).sum::<usize>();
        let last = usize::from(!self.workflow_state.current_step.is_empty());
        let (mut least, mut most) = (0, (entries + last).saturating_sub(1));
        while least < most {
            let middle = least.midpoint(most);
            if fits(&self.without(middle)) {
                most = middle;
            } else {
                least = middle + 1;
            }
        }
        *self = self.without(least);
    }

    /// The checkpoint without that many entries.
    fn without(&self, mut entries: usize) -> Checkpoint {
        let mut less = self.clone();
        // The oldest of the steps to come are the last ones.
        less.workflow_state.next_steps.reverse();
        for spared in [1, 0] {
            for list in less.lists() {
                let dropped = entries.min(list.count().saturating_sub(spared));
                list.drop_first(dropped);
                entries -= dropped;
            }
        }
        if entries > 0 {
            less.workflow_state.current_step.clear();
        }
        less.workflow_state.next_steps.reverse();
        less
    }

    /// The lists, those first that are needed least.
    fn lists(&mut self) -> [&mut dyn Entries; 11] {
        let references = &mut self.context_references;
        [
            &mut self.workflow_state.completed_steps,
            &mut references.threads,
            &mut references.external_apis,
            &mut references.databases,
            &mut references.tables,
            &mut references.files,
            &mut self.user_preferences,
            &mut self.key_decisions,
            &mut self.workflow_state.next_steps,
            &mut self.pending_tasks,
            &mut self.active_goals,
        ]
    }
}

/// A list that can give up entries.
trait Entries {
    fn count(&self) -> usize;
    fn drop_first(&mut self, number: usize);
}

impl<T> Entries for Vec<T> {
    fn count(&self) -> usize {
        self.len()
    }

    fn drop_first(&mut self, number: usize) {
        self.drain(..number);
    }
}

impl Entries for Map<String, Value> {
    fn count(&self) -> usize {
        self.len()
    }

    fn drop_first(&mut self, number: usize) {
        *self = std::mem::take(self).into_iter().skip(number).collect();
    }
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
        let values = [
            "f1", "s3", "s0", "th1", "a1", "db1", "tb1", "f2", "p: v2", "d: v1", "s2", "t1", "g1",
            "s1",
        ];
        for kept in 1..=values.len() {
            let mut checkpoint = whole();
            let count = |checkpoint: &Checkpoint| {
                values
                    .iter()
                    .filter(|value| checkpoint.to_section().contains(**value))
                    .count()
            };
            checkpoint.trim(|checkpoint| count(checkpoint) <= kept);
            let section = checkpoint.to_section();
            for (at, value) in values.iter().enumerate() {
                assert_eq!(
                    section.contains(value),
                    at >= values.len() - kept,
                    "{value}, {kept} kept: {section}"
                );
            }
        }
        let mut checkpoint = whole();
        checkpoint.trim(|_| false);
        assert_eq!(
            checkpoint.workflow_state.current_step, "s1",
            "one entry stays"
        );
        let mut empty = Checkpoint::default();
        empty.trim(|_| false);
        assert!(empty.is_empty());
    }

    #[test]
    fn a_broken_answer_of_many_entries_is_trimmed_at_once() {
        let mut checkpoint = Checkpoint {
            active_goals: (0..100_000).map(|goal| goal.to_string()).collect(),
            ..whole()
        };
        checkpoint.trim(|checkpoint| checkpoint.active_goals.len() <= 3);
        assert_eq!(checkpoint.active_goals, ["99997", "99998", "99999"]);
        assert_eq!(
            checkpoint.key_decisions.len(),
            1,
            "the newest of each list stays"
        );
    }
}
