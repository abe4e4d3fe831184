//! Ends compactions that do not help: a bounded number of tries, then an error, then quiet until something has changed.

use crate::budget::Budget;
use crate::event::FailReason;

/// Tries in a row that may leave the request at its trigger.
const MOST_TRIES: u32 = 3;

/// What the tries so far came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Breaker {
    /// Tries in a row that left the request at its trigger.
    tries: u32,
    /// Size that the request must reach before the next step.
    next_at: u32,
    /// What stood outside every compaction's reach when the last try failed.
    outside: u32,
}

/// What a session should do about a request that has reached its trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing has changed since the last try.
    Wait,
    /// Compact.
    Try,
    /// Say that trying does not help.
    GiveUp,
}

impl Breaker {
    /// The next step for a request of `tokens`, `outside` of which no compaction can take away.
    pub(crate) fn step(&self, tokens: u32, outside: u32) -> Step {
        let has_shrunk = self.tries > MOST_TRIES && outside < self.outside;
        match self.tries {
            _ if tokens < self.next_at && !has_shrunk => Step::Wait,
            MOST_TRIES => Step::GiveUp,
            _ => Step::Try,
        }
    }

    /// After a try, or after giving up, that left a request of `tokens`. The next comes when the request has grown by a
    /// quarter of what the window has beyond the trigger; after giving up, by all of it.
    pub(crate) fn record(&mut self, tokens: u32, outside: u32, budget: &Budget) {
        if tokens < budget.trigger {
            *self = Breaker::default();
            return;
        }
        let headroom = budget.window - budget.trigger;
        // After giving up a new series of tries starts.
        self.tries = if self.tries > MOST_TRIES { 1 } else { self.tries + 1 };
        let growth = if self.tries > MOST_TRIES { headroom } else { headroom / 4 };
        self.next_at = tokens.saturating_add(growth).saturating_add(1);
        self.outside = outside;
    }

    /// The error of giving up.
    pub(crate) fn error(tokens: u32, budget: &Budget) -> FailReason {
        FailReason::StaysAtTrigger { tries: MOST_TRIES, tokens, trigger: budget.trigger }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_are_bounded_until_something_changes() {
        let budget = Budget::matched(10_000, 8_000, 3_000, 0.5).expect("holds");
        let mut breaker = Breaker::default();
        let mut steps = Vec::new();
        for tokens in (8_000..=13_000).step_by(10) {
            let step = breaker.step(tokens, 7_900);
            if step != Step::Wait {
                steps.push((tokens, step));
                breaker.record(tokens, 7_900, &budget);
            }
        }
        let expected = [
            (8_000, Step::Try),
            (8_510, Step::Try),
            (9_020, Step::Try),
            (9_530, Step::GiveUp),
            (11_540, Step::Try),
            (12_050, Step::Try),
            (12_560, Step::Try),
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn less_outside_the_reach_or_a_success_starts_anew() {
        let budget = Budget::matched(10_000, 8_000, 3_000, 0.5).expect("holds");
        let mut breaker = Breaker::default();
        for _ in 0..4 {
            breaker.record(9_000, 7_900, &budget);
        }
        assert_eq!(breaker.step(9_100, 7_900), Step::Wait);
        assert_eq!(breaker.step(9_100, 500), Step::Try, "a huge result is no longer pending");
        breaker.record(4_000, 500, &budget);
        assert_eq!(breaker.step(8_000, 500), Step::Try);
    }
}
