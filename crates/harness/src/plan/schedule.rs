//! When a case compacts, and under which limits.

use compactometer_engine::budget::Budget;
use compactometer_engine::log::Pending;
use compactometer_engine::session::CompactionDue;

use super::{Now, Trigger};
use crate::prepare::PreparedScenario;

/// When a case compacts, and under which limits.
#[derive(Clone, Debug)]
pub enum Schedule {
    /// When a request reaches the trigger.
    AtTrigger(Budget),
    /// When the row's own condition is met.
    When {
        /// The limits.
        budget: Budget,
        /// The condition.
        trigger: Trigger,
    },
    /// At each of these moments, in the order of the conversation, under its limits.
    AtMoments {
        /// The limits of the first.
        first: Budget,
        /// All of them.
        moments: Vec<Moment>,
    },
}

/// A recorded compaction as the limits of one entrant.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Length of the log at the compaction.
    pub length: usize,
    /// The pending part of the log then, as far as the recorded program kept it. A strategy keeps
    /// all of it beside its budget.
    pub pending: Pending,
    /// The limits up to this compaction.
    pub budget: Budget,
    /// Length of the log from which on the program's context is not known: that of the next
    /// compaction that cannot be measured.
    pub known_until: Option<usize>,
}

impl Schedule {
    /// Compactions at these moments; nothing if there is none.
    pub(crate) fn at_moments(moments: Vec<Moment>) -> Option<Self> {
        Some(Schedule::AtMoments {
            first: moments.first()?.budget,
            moments,
        })
    }

    /// The limits of the first compaction.
    pub fn budget(&self) -> Budget {
        match self {
            Schedule::AtTrigger(budget)
            | Schedule::When { budget, .. }
            | Schedule::AtMoments { first: budget, .. } => *budget,
        }
    }

    /// The limits where the log has that length, and whether a compaction is due; nothing if the
    /// trigger decides, under limits that stay.
    pub(crate) fn at(
        &self,
        length: usize,
        now: impl FnOnce() -> Now,
    ) -> Option<(Budget, CompactionDue)> {
        let (first, moments) = match self {
            Schedule::AtTrigger(_) => return None,
            Schedule::When { budget, trigger } => {
                return Some((
                    *budget,
                    if trigger.is_met(now()) {
                        CompactionDue::Now
                    } else {
                        CompactionDue::NotYet
                    },
                ));
            }
            Schedule::AtMoments { first, moments } => (first, moments),
        };
        let next = moments.iter().find(|moment| moment.length >= length);
        let due = if next.is_some_and(|moment| moment.length == length) {
            CompactionDue::Now
        } else {
            CompactionDue::NotYet
        };
        Some((
            next.or(moments.last())
                .map_or(*first, |moment| moment.budget),
            due,
        ))
    }

    /// The same for a use that every row must be able to miss at the same place: before the last of
    /// its compactions, or before the last of the lengths that all rows share.
    pub(crate) fn distance_of_uses<'p>(&'p self, common: &'p [usize]) -> Distance<'p> {
        match self {
            Schedule::AtTrigger(_) | Schedule::When { .. } => Distance::Moments(common),
            Schedule::AtMoments { moments, .. } => Distance::Compactions(moments),
        }
    }

    /// Whether compactions come at moments of the conversation, also where the agent takes no turn.
    pub(crate) fn has_moments(&self) -> bool {
        matches!(self, Schedule::AtMoments { .. })
    }

    /// How far back a fact must have been said for the last time to count.
    pub(crate) fn distance(&self) -> Distance<'_> {
        match self {
            Schedule::AtTrigger(budget) | Schedule::When { budget, .. } => {
                Distance::Tokens(budget.trigger)
            }
            Schedule::AtMoments { moments, .. } => Distance::Compactions(moments),
        }
    }
}

impl Moment {
    /// The last of these compactions before the log has that length, if it is known what the
    /// program had then.
    fn last_before(moments: &[Moment], length: usize) -> Option<&Moment> {
        let last = moments.iter().rfind(|moment| moment.length <= length)?;
        last.known_until
            .is_none_or(|until| length < until)
            .then_some(last)
    }
}

/// How far back a fact must have been said for the last time to count.
#[derive(Clone, Copy, Debug)]
pub enum Distance<'p> {
    /// That many tokens: the distance at which a compaction starts.
    Tokens(u32),
    /// Before the last of these compactions, outside of what the program kept of the pending part.
    Compactions(&'p [Moment]),
    /// Before the log had the last of these lengths.
    Moments(&'p [usize]),
}

impl From<u32> for Distance<'_> {
    fn from(tokens: u32) -> Self {
        Distance::Tokens(tokens)
    }
}

impl<'p> Distance<'p> {
    /// The first index of a log of that length that is not that far back.
    pub(crate) fn old_before(self, prepared: &PreparedScenario, length: usize) -> usize {
        match self {
            Distance::Compactions(moments) => {
                let last = Moment::last_before(moments, length);
                last.map_or(0, |last| last.pending.batch.start)
            }
            Distance::Tokens(_) | Distance::Moments(_) => self.at(prepared, length).before,
        }
    }

    /// Whether a recorded program may have dropped a message that is that far back and still pending.
    /// A strategy never does.
    pub(super) fn may_drop(self) -> bool {
        matches!(self, Distance::Compactions(_))
    }

    /// What is that far back from a log of that length.
    pub(super) fn at(self, prepared: &PreparedScenario, length: usize) -> Reach<'p> {
        let (before, kept) = match self {
            Distance::Tokens(tokens) => {
                // Of the messages 1 to `length`, those that the distance begins before.
                let before = &prepared.tokens_before[1..=length];
                let is_over =
                    |before: &u64| prepared.tokens_before[length] - before >= u64::from(tokens);
                (before.partition_point(is_over), None)
            }
            Distance::Compactions(moments) => {
                let last = Moment::last_before(moments, length);
                last.map_or((0, None), |last| (last.length, Some(&last.pending)))
            }
            Distance::Moments(moments) => (last_of(moments, length), None),
        };
        Reach { before, kept }
    }
}

/// What is a distance back from a log of one length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach<'p> {
    /// Mentions before this index.
    before: usize,
    /// Except these.
    kept: Option<&'p Pending>,
}

impl Reach<'_> {
    /// Whether a mention is that far back.
    pub(super) fn is_over(&self, mention: usize) -> bool {
        mention < self.before && !self.kept.is_some_and(|kept| kept.contains(mention))
    }
}

/// The last of these lengths up to that length; 0 if there is none.
fn last_of(moments: &[usize], length: usize) -> usize {
    moments
        .iter()
        .rfind(|moment| **moment <= length)
        .copied()
        .unwrap_or(0)
}
