//! The moments and sizes of the compactions that a recorded program made. Under the protocol `recorded` they apply to all
//! strategies and controls.

use std::sync::Arc;

use compactometer_engine::budget::{Budget, Tail};
use compactometer_engine::log::{Log, Pending};
use compactometer_engine::session::retained_tokens;
use compactometer_engine::tokens::TokenCounter;
use compactometer_engine::view::View;

use super::{Entrant, LimitsError, Shares, Sizes};
use crate::prepare::PreparedScenario;
use crate::prepare::recorded::edits;
use compactometer_formats::record::Protocol;

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
    let (mut log, mut view, mut sizes) = (Log::default(), View::default(), Vec::new());
    let mut compactions = prepared.scenario.compactions.iter().peekable();
    for counted in &prepared.messages {
        // The suite was validated when it was read.
        let _ = log.push(Arc::clone(counted));
        view.follow(counted, &log, counter);
        let Some(made) = compactions.next_if(|made| made.after == counted.message.id) else { continue };
        let trigger = prepared.tool_tokens + view.tokens();
        let system = log.system().map(|system| system.message.id);
        let Ok(left) = View::from_edits(edits(made, system, 0), &log, counter) else { continue };
        view = left;
        // A compaction that left more than it found is no limit that others could keep.
        let retained = retained_tokens(&view, &log).min(trigger.saturating_sub(1));
        let length = log.messages().len();
        let known_until = prepared.unmeasured().find(|next| *next > length);
        sizes.push(Size { length, pending: log.pending(), trigger, retained, known_until });
    }
    sizes
}

/// The moments of a conversation without limits for a strategy.
pub(crate) fn unlimited(prepared: &PreparedScenario, counter: &dyn TokenCounter) -> Vec<Moment> {
    let moment = |Size { length, pending, known_until, trigger, retained }| {
        let budget = Budget {
            window: trigger,
            trigger,
            retained: Some(retained),
            tail: Tail::Tokens(0),
            written: retained,
            estimator: Default::default(),
        };
        Moment { length, pending, known_until, budget }
    };
    sizes(prepared, counter).into_iter().map(moment).collect()
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
