//! Numbers by strategy, in a sentence of a warning.

use crate::data::{ProtocolRun, StrategyRecords};

/// A count by strategy, where any is above 0.
pub(super) fn listed(
    run: &ProtocolRun,
    what: &str,
    count: impl Fn(&StrategyRecords) -> usize,
) -> Option<String> {
    let counts = run
        .strategies
        .iter()
        .map(|strategy| (strategy.name, count(strategy)))
        .filter(|(_, count)| *count > 0);
    joined(what, counts.map(|(name, count)| format!("{name} {count}")))
}

/// What holds for these; nothing if there are none.
pub(super) fn joined(what: &str, of: impl Iterator<Item = String>) -> Option<String> {
    let of: Vec<_> = of.collect();
    (!of.is_empty()).then(|| format!("{what}: {}", of.join(", ")))
}
