//! What a compaction costs beside values, in the middle or on average.

use compactometer_formats::losses::{CompactionCosts, CompactionLosses};
use serde::Serialize;

/// What compactions cost beside values.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Typical {
    /// Tokens that were read again in the 50 calls after a compaction: the mean.
    pub read_again: f64,
    /// The same in the 50 calls before it.
    pub read_again_before: f64,
    /// The time that automatic compactions took, and that of the next reply; absent if no
    /// transcript shows it.
    pub waited_ms: Option<TypicalPair>,
    /// Tokens of the request before and after, as programs reported them; absent if no transcript
    /// shows them.
    pub request_tokens: Option<TypicalPair>,
}

/// Medians of two numbers that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TypicalPair {
    /// The number of compactions that have both.
    pub of: usize,
    /// The median of the first.
    pub first: u64,
    /// The median of the second.
    pub second: u64,
}

impl TypicalPair {
    fn new(pairs: impl Iterator<Item = (u64, u64)>) -> Option<Self> {
        let (first, second): (Vec<u64>, Vec<u64>) = pairs.unzip();
        Some(TypicalPair {
            of: first.len(),
            first: median(first)?,
            second: median(second)?,
        })
    }
}

impl Typical {
    pub(super) fn new(compactions: &[&CompactionLosses]) -> Self {
        let mean = |of| mean(compactions, of);
        // Nobody waits for a compaction that was started by hand.
        let automatic = compactions
            .iter()
            .filter(|one| one.trigger.as_deref() != Some("manual"));
        let waits =
            automatic.filter_map(|one| one.costs.waited_before_ms.zip(one.costs.waited_after_ms));
        let waits = waits
            .map(|(to_it, to_reply)| (to_it.max(0).unsigned_abs(), to_reply.max(0).unsigned_abs()));
        Typical {
            read_again: mean(|costs| costs.read_again.tokens),
            read_again_before: mean(|costs| costs.read_again_before.tokens),
            waited_ms: TypicalPair::new(waits),
            request_tokens: TypicalPair::new(
                compactions
                    .iter()
                    .filter_map(|one| one.costs.request_tokens),
            ),
        }
    }
}

fn mean(compactions: &[&CompactionLosses], of: fn(&CompactionCosts) -> u64) -> f64 {
    let each = compactions.iter().map(|compaction| of(&compaction.costs));
    each.sum::<u64>() as f64 / compactions.len().max(1) as f64
}

pub(super) fn median<T: Ord + Copy>(mut list: Vec<T>) -> Option<T> {
    list.sort_unstable();
    list.get(list.len() / 2).copied()
}
