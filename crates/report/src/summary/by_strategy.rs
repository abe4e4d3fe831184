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
        .filter(|(_, count)| *count > 0)
        .collect::<Vec<_>>();
    if counts.len() > MOST_NAMED {
        let numbers = || counts.iter().map(|(_, count)| *count);
        let (least, most) = (numbers().min()?, numbers().max()?);
        let number = match least == most {
            true => most.to_string(),
            false => format!("{least} to {most}"),
        };
        let rows = run.strategies.len();
        let (named, all) = (counts.len(), if counts.len() == rows { "all " } else { "" });
        return Some(format!("{what}: {number} in {all}{named} rows"));
    }
    let counts = counts.into_iter();
    joined(what, counts.map(|(name, count)| format!("{name} {count}")))
}

/// More rows than these are counted and not named.
const MOST_NAMED: usize = 8;

/// What holds for these; nothing if there are none.
pub(super) fn joined(what: &str, of: impl Iterator<Item = String>) -> Option<String> {
    let of: Vec<_> = of.collect();
    (!of.is_empty()).then(|| format!("{what}: {}", of.join(", ")))
}
