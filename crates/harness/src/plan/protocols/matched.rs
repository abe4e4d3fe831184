//! `matched`: one window, trigger and retained budget for all.

use std::sync::Arc;

use compactometer_engine::budget::Budget;
use compactometer_formats::protocol::{LimitsOf, Protocol};

use super::{Ground, LimitFrame, ProtocolSpec};
use crate::plan::{PlanError, Schedule, smallest_feasible};

pub(super) const SPEC: ProtocolSpec = ProtocolSpec {
    protocol: Protocol::Matched,
    claims: |_| Ok(false),
    frame: |ground| of_window(ground, Protocol::Matched),
};

/// The limits of the run's window.
pub(super) fn of_window<'g>(
    ground: &Ground<'g>,
    protocol: Protocol,
) -> Result<LimitFrame<'g>, PlanError> {
    let &Ground {
        suite,
        ref window,
        options,
        ..
    } = ground;
    let (window, reason) = window.clone().ok_or(PlanError::NoProtocol)?;
    let smallest = smallest_feasible(suite, options.shares);
    if window < smallest {
        return Err(PlanError::Infeasible { window, smallest });
    }
    Ok(LimitFrame {
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
