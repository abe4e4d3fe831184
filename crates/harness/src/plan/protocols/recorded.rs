//! `recorded`: the moments and sizes of the compactions that the recorded program made apply to all
//! strategies and controls. Strategies also keep the share of them verbatim that it kept, unless their
//! own split was changed.

use std::sync::Arc;

use compactometer_engine::budget::{Budget, Tail};
use compactometer_engine::log::Pending;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::protocol::{LimitsOf, Protocol};
use compactometer_formats::record::Family;

use super::{Ground, LimitFrame, ProtocolSpec};
use crate::plan::{Entrant, LimitsError, Moment, PlanError, PlanOptions, Schedule, Shares, Sizes};
use crate::prepare::PreparedScenario;
use crate::prepare::recorded_context::{LeftByProgram, left};

pub(super) const SPEC: ProtocolSpec = ProtocolSpec {
    protocol: Protocol::Recorded,
    claims,
    frame,
};

/// It sets all limits wherever `recorded` takes part.
fn claims(options: &PlanOptions) -> Result<bool, PlanError> {
    let takes_part = options.protocols.contains(&Protocol::Recorded)
        || options
            .entrants
            .iter()
            .any(|entrant| entrant.family == Family::Recorded);
    let has_others = options
        .protocols
        .iter()
        .any(|protocol| protocol.limits() == LimitsOf::Strategy);
    let has_sizes =
        options.window.is_some() || options.sweep || !options.smaller_retained.is_empty();
    if takes_part && (has_others || has_sizes) {
        return Err(PlanError::RecordedOnly);
    }
    Ok(takes_part)
}

/// The limits of the conversations that their own program compacted.
fn frame<'g>(ground: &Ground<'g>) -> Result<LimitFrame<'g>, PlanError> {
    let &Ground {
        suite,
        options,
        counter,
        ..
    } = ground;
    let sizes = suite
        .iter()
        .map(|prepared| sizes(prepared, counter))
        .collect::<Vec<_>>();
    let places = (0..suite.len())
        .filter(|place| !suite[*place].scenario.compactions.is_empty())
        .collect::<Vec<_>>();
    if places.is_empty() {
        return Err(PlanError::NothingRecorded);
    }
    let all = sizes.concat();
    let (made, window) = (all.len(), window(&all, options.shares));
    let sizes = Arc::new(sizes);
    Ok(LimitFrame {
        sizes: largest(&all, window),
        reason: format!(
            "moments and sizes of {made} recorded compaction{}, in {} of {} conversations",
            if made == 1 { "" } else { "s" },
            places.len(),
            suite.len()
        ),
        places,
        entrant: Box::new(move |entrant, _| {
            let sizes = Arc::clone(&sizes);
            Ok(Box::new(move |place| {
                let (moments, entrant) = moments(entrant, &sizes[place], window)?;
                Ok(Schedule::at_moments(moments).map(|schedule| (schedule, Arc::new(entrant))))
            }))
        }),
    })
}

/// A recorded compaction in tokens of the measuring counter.
#[derive(Clone, Debug)]
struct RecordedSize {
    length: usize,
    /// The pending part, as far as the program kept it.
    pending: Pending,
    /// Tokens of the request before it.
    trigger: u32,
    /// Tokens that it left beside the system prompt and the pending part.
    retained: u32,
    /// The same without what a strategy keeps of that part and it did not, at least half.
    retained_by_others: u32,
    /// The share of these that are messages as they were said.
    split: f64,
    known_until: Option<usize>,
}

/// The sizes of a conversation's recorded compactions.
fn sizes(prepared: &PreparedScenario, counter: &dyn TokenCounter) -> Vec<RecordedSize> {
    left(prepared, counter)
        .iter()
        .map(|left| size(prepared, left))
        .collect()
}

fn size(prepared: &PreparedScenario, left: &LeftByProgram) -> RecordedSize {
    let written = left
        .view
        .entries()
        .iter()
        .filter(|entry| entry.message_id().is_none())
        .map(|entry| entry.tokens())
        .sum::<u32>();
    let said = left.retained.saturating_sub(written);
    // A compaction that left more than it found is not a limit that others could keep.
    let retained = left.retained.min(left.before.saturating_sub(1));
    RecordedSize {
        length: left.length,
        pending: left.pending.clone(),
        trigger: left.before,
        retained,
        retained_by_others: retained
            .saturating_sub(left.dropped)
            .max(retained - retained / 2),
        split: f64::from(said) / f64::from(left.retained.max(1)),
        known_until: prepared.unmeasured().find(|next| *next > left.length),
    }
}

/// The moments of what compactions left, without limits for a strategy.
pub(crate) fn unlimited(prepared: &PreparedScenario, left: &[LeftByProgram]) -> Vec<Moment> {
    let moment = |RecordedSize {
                      length,
                      pending,
                      known_until,
                      trigger,
                      retained,
                      retained_by_others: _,
                      split: _,
                  }| {
        let budget = Budget {
            window: trigger,
            assumed_window: false,
            trigger,
            retained: Some(retained),
            tail: Tail::Tokens(0),
            written: retained,
            estimator: Default::default(),
        };
        Moment {
            length,
            pending,
            known_until,
            budget,
        }
    };
    left.iter()
        .map(|left| moment(size(prepared, left)))
        .collect()
}

/// The context window of which the largest trigger is the share `shares.trigger`.
fn window(sizes: &[RecordedSize], shares: Shares) -> u32 {
    let largest = sizes
        .iter()
        .map(|size| size.trigger)
        .max()
        .unwrap_or_default();
    (f64::from(largest) / shares.trigger).ceil() as u32
}

/// The largest of each, for a run's manifest.
fn largest(sizes: &[RecordedSize], window: u32) -> Sizes {
    let most = |of: fn(&RecordedSize) -> u32| sizes.iter().map(of).max().unwrap_or_default();
    Sizes {
        window,
        trigger: most(|size| size.trigger),
        retained: most(|size| size.retained),
        split: None,
    }
}

/// The moments of a conversation for one entrant, and the entrant with the settings that its limits
/// scale.
fn moments(
    entrant: &Entrant,
    sizes: &[RecordedSize],
    window: u32,
) -> Result<(Vec<Moment>, Entrant), LimitsError> {
    let (mut moments, mut resolved) = (Vec::with_capacity(sizes.len()), entrant.clone());
    for size in sizes {
        let limits = Sizes {
            window,
            trigger: size.trigger,
            retained: match entrant.family {
                Family::Recorded => size.retained,
                _ => size.retained_by_others,
            },
            split: entrant.has_default_split().then_some(size.split),
        };
        let (budget, scaled) = entrant.resolve(Protocol::Recorded, limits, 1.0)?;
        resolved = scaled;
        let RecordedSize {
            length,
            ref pending,
            known_until,
            ..
        } = *size;
        moments.push(Moment {
            length,
            pending: pending.clone(),
            budget,
            known_until,
        });
    }
    Ok((moments, resolved))
}
