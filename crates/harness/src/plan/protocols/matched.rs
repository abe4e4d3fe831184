//! `matched`: one window, trigger and retained budget for all.

use std::sync::Arc;

use compactometer_engine::budget::Budget;
use compactometer_formats::protocol::{LimitsOf, Protocol};

use super::{Frame, Ground, ProtocolSpec};
use crate::plan::{PlanError, Schedule, choose, smallest_feasible};

pub(super) const SPEC: ProtocolSpec = ProtocolSpec {
    protocol: Protocol::Matched,
    claims: |_| Ok(false),
    frame: |ground| of_window(ground, Protocol::Matched),
};

/// The limits of a window: the one that is given, else the suite's, else one chosen by rule.
pub(super) fn of_window<'g>(
    ground: &Ground<'g>,
    protocol: Protocol,
) -> Result<Frame<'g>, PlanError> {
    let &Ground {
        suite,
        suite_window,
        options,
        ..
    } = ground;
    let given = options.window.map(|window| (window, "as given".to_owned()));
    let from_suite = || suite_window.map(|window| (window, "the suite's own".to_owned()));
    let (window, reason) = given
        .or_else(from_suite)
        .unwrap_or_else(|| choose(suite, options.shares.trigger));
    let smallest = smallest_feasible(suite, options.shares);
    if window < smallest {
        return Err(PlanError::Infeasible { window, smallest });
    }
    Ok(Frame {
        sizes: options.shares.sizes(window),
        reason,
        places: (0..suite.len()).collect(),
        entrant: Box::new(move |entrant, sizes| {
            let (budget, entrant) = entrant.resolve(protocol, sizes, options.scale)?;
            let own = entrant
                .trigger
                .clone()
                .filter(|_| protocol.limits() == LimitsOf::Strategy);
            let schedule = own.map_or(Schedule::AtTrigger(budget), |trigger| {
                let tokens = trigger.tokens(budget.window).unwrap_or(budget.trigger);
                Schedule::When {
                    budget: Budget {
                        trigger: tokens,
                        ..budget
                    },
                    trigger,
                }
            });
            let entrant = Arc::new(entrant);
            Ok(Box::new(move |_| {
                Ok(Some((schedule.clone(), Arc::clone(&entrant))))
            }))
        }),
    })
}
