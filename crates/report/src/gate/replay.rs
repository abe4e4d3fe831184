//! The part of a run that a gate reads: the replay at the run's own sizes, under the matched
//! protocol or, without it, the run's first.
//!
//! Absent on purpose: what a sweep adds. Further sizes and splits are not candidates, and their
//! checks are not the gate's.

use std::collections::BTreeSet;

use compactometer_formats::protocol::Protocol;

use super::Mismatch;
use crate::data::{ProtocolRun, StrategyRecords};

/// The strategies of a run that a gate looks at.
pub(super) fn tested<'a, 'r>(
    run: &'a ProtocolRun<'r>,
) -> impl Iterator<Item = &'a StrategyRecords<'r>> {
    run.strategies
        .iter()
        .filter(|strategy| strategy.family.is_tested())
}

/// The default replay, known by its protocol and retained budget and not by its place.
pub(super) fn default_replay<'a, 'r>(
    runs: &'a [ProtocolRun<'r>],
) -> Result<&'a ProtocolRun<'r>, Mismatch> {
    let is_default = |run: &&ProtocolRun| {
        let protocols = &run.manifest.protocols;
        let protocol = protocols
            .iter()
            .find(|known| known.has_limits_of_run())
            .or(protocols.first());
        protocol == Some(&run.protocol)
            && has_default_size(run.protocol, run.retained, run.manifest.retained)
    };
    let run = runs
        .iter()
        .find(is_default)
        .ok_or(Mismatch::NoDefault { what: "group" })?;
    if run.strategies.is_empty() {
        return Err(Mismatch::NoDefault { what: "record" });
    }
    each_case_once(run)?;
    Ok(run)
}

fn has_default_size(protocol: Protocol, retained: Option<u32>, default: u32) -> bool {
    !protocol.has_limits_of_run() || retained == Some(default)
}

/// A case of another size, or a second case of one conversation, would be judged as if it were the
/// default.
fn each_case_once(run: &ProtocolRun) -> Result<(), Mismatch> {
    for strategy in tested(run) {
        let mut seen = BTreeSet::new();
        for case in strategy.records().map(|record| &record.case) {
            let of_strategy = || strategy.name.to_owned();
            if !has_default_size(run.protocol, case.budget.retained, run.manifest.retained) {
                return Err(Mismatch::OtherSize {
                    strategy: of_strategy(),
                    scenario: case.scenario.clone(),
                });
            }
            if !seen.insert(&case.scenario) {
                return Err(Mismatch::Twice {
                    strategy: of_strategy(),
                    scenario: case.scenario.clone(),
                });
            }
        }
    }
    Ok(())
}
