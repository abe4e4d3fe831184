//! The protocols: how the limits of a run are set. Each is one file and one line in [`ALL`]; what
//! reports need to know of it is its row of [`Protocol::ALL`].

mod matched;
mod published;
pub(crate) mod recorded;

use std::collections::BTreeSet;
use std::sync::Arc;

use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::protocol::Protocol;

use crate::plan::{Entrant, LimitsError, PlanError, PlanOptions, Schedule, Sizes};
use crate::prepare::PreparedScenario;

/// How a plan gets its limits under one protocol.
pub(crate) struct ProtocolSpec {
    protocol: Protocol,
    /// Whether it sets all limits of a run with these options, so that no other protocol takes
    /// part; an error if the options contradict that.
    claims: fn(&PlanOptions) -> Result<bool, PlanError>,
    frame: for<'g> fn(&Ground<'g>) -> Result<LimitFrame<'g>, PlanError>,
}

/// Every protocol.
const ALL: &[&ProtocolSpec] = &[&matched::SPEC, &published::SPEC, &recorded::SPEC];

/// What a frame is made of.
pub(crate) struct Ground<'g> {
    pub(crate) suite: &'g [Arc<PreparedScenario>],
    /// The window of the run and where it comes from; nothing if recorded compactions set it.
    pub(crate) window: Option<(u32, String)>,
    pub(crate) options: &'g PlanOptions,
    pub(crate) counter: &'g dyn TokenCounter,
}

/// The limits of a suite under one protocol.
pub(crate) struct LimitFrame<'g> {
    /// The run's limits, which its manifest has.
    pub(crate) sizes: Sizes,
    /// Where the window comes from, for the user.
    pub(crate) reason: String,
    /// The places of the conversations that take part.
    pub(crate) places: Vec<usize>,
    pub(crate) entrant: Box<EntrantIn<'g>>,
}

/// An entrant under these sizes.
type EntrantIn<'g> =
    dyn for<'e> Fn(&'e Entrant, Sizes) -> Result<Box<ScheduleOf<'e>>, LimitsError> + 'g;

/// What it does with the conversation at that place; nothing if the conversation has no moment for
/// it.
pub(crate) type ScheduleOf<'g> = dyn Fn(usize) -> Result<Option<Scheduled>, LimitsError> + 'g;

/// When an entrant compacts, and the entrant with the settings that its limits scale.
pub(crate) type Scheduled = (Schedule, Arc<Entrant>);

/// The protocols of a run with these options.
pub(crate) fn of_run(options: &PlanOptions) -> Result<BTreeSet<Protocol>, PlanError> {
    for spec in ALL {
        if (spec.claims)(options)? {
            return Ok(BTreeSet::from([spec.protocol]));
        }
    }
    Ok(options.protocols.clone())
}

/// The limits of the suite under each of these protocols.
pub(crate) fn frames<'g>(
    ground: &Ground<'g>,
) -> Result<Vec<(Protocol, LimitFrame<'g>)>, PlanError> {
    let asked = ALL
        .iter()
        .filter(|spec| ground.options.protocols.contains(&spec.protocol));
    asked
        .map(|spec| Ok((spec.protocol, (spec.frame)(ground)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{ALL, Protocol};

    #[test]
    fn every_protocol_has_a_spec() {
        let specs = ALL.iter().map(|spec| spec.protocol).collect::<Vec<_>>();
        assert_eq!(
            specs,
            Protocol::ALL
                .iter()
                .map(|row| row.protocol)
                .collect::<Vec<_>>()
        );
    }
}
