//! The moments and sizes of the compactions that a recorded program made. Under the protocol `recorded` they apply to all
//! strategies and controls.

use compactometer_engine::budget::{Budget, Tail};
use compactometer_engine::log::Pending;
use compactometer_engine::tokens::TokenCounter;

use super::{Entrant, LimitsError, Shares, Sizes};
use crate::prepare::PreparedScenario;
use crate::prepare::recorded::{Left, left};
use compactometer_formats::protocol::Protocol;

/// A recorded compaction as the limits of one entrant.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Length of the log at the compaction.
    pub length: usize,
    /// The pending part of the log then, which every strategy keeps beside its budget.
    pub pending: Pending,
    /// The limits up to this compaction.
    pub budget: Budget,
    /// Length of the log from which on the program's context is not known: that of the next compaction that cannot be measured.
    pub known_until: Option<usize>,
}

impl Moment {
    /// The last of these compactions before the log has that length, if it is known what the program had then.
    pub(super) fn last_before(moments: &[Moment], length: usize) -> Option<&Moment> {
        let last = moments.iter().rfind(|moment| moment.length <= length)?;
        last.known_until.is_none_or(|until| length < until).then_some(last)
    }
}

/// A recorded compaction in tokens of the measuring counter.
#[derive(Clone, Debug)]
pub(super) struct Size {
    length: usize,
    pending: Pending,
    /// Tokens of the request before it.
    trigger: u32,
    /// Tokens that it left beside the system prompt and the pending part.
    retained: u32,
    known_until: Option<usize>,
}

/// The sizes of a conversation's recorded compactions.
pub(super) fn sizes(prepared: &PreparedScenario, counter: &dyn TokenCounter) -> Vec<Size> {
    left(prepared, counter).iter().map(|left| size(prepared, left)).collect()
}

fn size(prepared: &PreparedScenario, left: &Left) -> Size {
    Size {
        length: left.length,
        pending: left.pending.clone(),
        trigger: left.before,
        // A compaction that left more than it found is no limit that others could keep.
        retained: left.retained.min(left.before.saturating_sub(1)),
        known_until: prepared.unmeasured().find(|next| *next > left.length),
    }
}

/// The moments of what compactions left, without limits for a strategy.
pub(crate) fn unlimited(prepared: &PreparedScenario, left: &[Left]) -> Vec<Moment> {
    let moment = |Size { length, pending, known_until, trigger, retained }| {
        let budget = Budget {
            window: trigger,
            assumed_window: false,
            trigger,
            retained: Some(retained),
            tail: Tail::Tokens(0),
            written: retained,
            estimator: Default::default(),
        };
        Moment { length, pending, known_until, budget }
    };
    left.iter().map(|left| moment(size(prepared, left))).collect()
}

/// The context window of which the largest trigger is the share `shares.trigger`.
pub(super) fn window(sizes: &[Size], shares: Shares) -> u32 {
    let largest = sizes.iter().map(|size| size.trigger).max().unwrap_or_default();
    (f64::from(largest) / shares.trigger).ceil() as u32
}

/// The largest of each, for a run's manifest.
pub(super) fn largest(sizes: &[Size], window: u32) -> Sizes {
    let most = |of: fn(&Size) -> u32| sizes.iter().map(of).max().unwrap_or_default();
    Sizes { window, trigger: most(|size| size.trigger), retained: most(|size| size.retained), split: None }
}

/// The moments of a conversation for one entrant, and the entrant with the settings that its limits scale.
pub(super) fn moments(entrant: &Entrant, sizes: &[Size], window: u32) -> Result<(Vec<Moment>, Entrant), LimitsError> {
    let (mut moments, mut resolved) = (Vec::with_capacity(sizes.len()), entrant.clone());
    for size in sizes {
        let limits = Sizes { window, trigger: size.trigger, retained: size.retained, split: None };
        let (budget, scaled) = entrant.resolve(Protocol::Recorded, limits, 1.0)?;
        resolved = scaled;
        let Size { length, ref pending, known_until, .. } = *size;
        moments.push(Moment { length, pending: pending.clone(), budget, known_until });
    }
    Ok((moments, resolved))
}
