//! Ends compactions that do not help: a bounded number of tries, then an error, then quiet until
//! something has changed.

use crate::budget::Budget;
use crate::strategy::declined::FailReason;

/// Tries in a row that may leave the request at its trigger.
const MOST_TRIES: u32 = 3;

/// What the tries so far came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Breaker {
    /// Tries in a row that left the request at its trigger.
    tries: u32,
    /// Whether the last step was to give up.
    gave_up: bool,
    /// Size that the request must reach before the next step.
    next_at: u32,
    /// What stood outside every compaction's reach when it gave up.
    outside: u32,
}

/// What the window has beyond the trigger; nothing where a budget made by hand has its trigger
/// beyond the window.
fn headroom(budget: &Budget) -> u32 {
    budget.window.saturating_sub(budget.trigger)
}

/// What a session should do about a request that has reached its trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BreakerStep {
    /// Nothing has changed since the last try.
    Wait,
    /// Compact.
    Try,
    /// Say that trying does not help.
    GiveUp,
}

impl Breaker {
    /// The next step for a request of `tokens`, where no compaction can take `outside` of them
    /// away.
    pub(crate) fn step(&self, tokens: u32, outside: u32) -> BreakerStep {
        let has_shrunk = self.gave_up && outside < self.outside;
        match self.tries {
            _ if tokens < self.next_at && !has_shrunk => BreakerStep::Wait,
            MOST_TRIES if !self.gave_up => BreakerStep::GiveUp,
            _ => BreakerStep::Try,
        }
    }

    /// After a try that left a request of `tokens`. The next step comes when it has grown by a
    /// quarter of what the window has beyond the trigger.
    pub(crate) fn tried(&mut self, tokens: u32, budget: &Budget) {
        if tokens < budget.trigger {
            *self = Breaker::default();
            return;
        }
        let before = if self.gave_up { 0 } else { self.tries };
        let next_at = tokens.saturating_add(headroom(budget) / 4 + 1);
        *self = Breaker {
            tries: (before + 1).min(MOST_TRIES),
            next_at,
            ..Breaker::default()
        };
    }

    /// After giving up. A new series of tries starts when the request has grown by all that the
    /// window has beyond the trigger, or less is outside a compaction's reach.
    pub(crate) fn gave_up(&mut self, tokens: u32, outside: u32, budget: &Budget) {
        let next_at = tokens.saturating_add(headroom(budget)).saturating_add(1);
        *self = Breaker {
            tries: self.tries,
            gave_up: true,
            next_at,
            outside,
        };
    }

    /// The error of giving up.
    pub(crate) fn error(tokens: u32, budget: &Budget) -> FailReason {
        FailReason::StaysAtTrigger {
            tries: MOST_TRIES,
            tokens,
            trigger: budget.trigger,
        }
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
            if step != BreakerStep::Wait {
                steps.push((tokens, step));
                match step {
                    BreakerStep::GiveUp => breaker.gave_up(tokens, 7_900, &budget),
                    _ => breaker.tried(tokens, &budget),
                }
            }
        }
        let expected = [
            (8_000, BreakerStep::Try),
            (8_510, BreakerStep::Try),
            (9_020, BreakerStep::Try),
            (9_530, BreakerStep::GiveUp),
            (11_540, BreakerStep::Try),
            (12_050, BreakerStep::Try),
            (12_560, BreakerStep::Try),
        ];
        assert_eq!(steps, expected);
    }

    #[test]
    fn less_outside_the_reach_or_a_success_starts_anew() {
        let budget = Budget::matched(10_000, 8_000, 3_000, 0.5).expect("holds");
        let mut breaker = Breaker::default();
        // Compactions by hand count too, and do not hide that it has to give up.
        for _ in 0..5 {
            breaker.tried(9_000, &budget);
        }
        assert_eq!(breaker.step(9_501, 7_900), BreakerStep::GiveUp);
        breaker.gave_up(9_501, 7_900, &budget);
        assert_eq!(breaker.step(9_600, 7_900), BreakerStep::Wait);
        assert_eq!(
            breaker.step(9_600, 500),
            BreakerStep::Try,
            "a huge result is no longer pending"
        );
        breaker.tried(4_000, &budget);
        assert_eq!(breaker.step(8_000, 500), BreakerStep::Try);
    }
}
