//! What turns cost before and after compactions, and after how many turns a compaction was paid
//! for, by recorded usage.

use compactometer_formats::losses::{CompactionLosses, MeanUsage};
use compactometer_formats::prices::PriceRow;
use serde::Serialize;

/// What compactions cost in US dollars: medians over those whose usage is recorded.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cost {
    /// The model whose prices these are, and their date.
    pub prices_of: String,
    /// The compactions that have usage before and after.
    pub compactions: usize,
    /// A turn before a compaction.
    pub turn_before: f64,
    /// A turn after it.
    pub turn_after: f64,
    /// The call that wrote the summary.
    pub compaction: f64,
    /// Whether that call's usage is assumed for some: the whole request from the cache, and the
    /// summary as output.
    pub is_assumed: bool,
    /// Turns after which a compaction was paid for; absent if most turns after one cost no less.
    pub paid_after_turns: Option<f64>,
}

impl Cost {
    pub(super) fn new(compactions: &[CompactionLosses], row: &PriceRow) -> Option<Self> {
        let usd = |usage: &MeanUsage| {
            let prices = row.at((usage.input + usage.cache_read + usage.cache_write) as u64);
            let millionths = usage.input * prices.input
                + usage.cache_read * prices.cache_read
                + usage.cache_write * prices.cache_write
                + usage.output * prices.output;
            millionths / 1e6
        };
        let known = compactions
            .iter()
            .filter_map(|one| Some((one, one.costs.request_usage?)))
            .collect::<Vec<_>>();
        let before = median(known.iter().map(|(_, (before, _))| usd(before)).collect())?;
        let after = median(known.iter().map(|(_, (_, after))| usd(after)).collect())?;
        let own = |one: &CompactionLosses| usd(&own_usage(one));
        let turns = |(one, (before, after)): &(&CompactionLosses, (MeanUsage, MeanUsage))| {
            let saved = usd(before) - usd(after);
            if saved > 0.0 {
                own(one) / saved
            } else {
                f64::INFINITY
            }
        };
        Some(Cost {
            prices_of: format!("{}, {}", row.name, row.date),
            compactions: known.len(),
            turn_before: before,
            turn_after: after,
            compaction: median(known.iter().map(|(one, _)| own(one)).collect())?,
            is_assumed: known.iter().any(|(one, _)| one.costs.own_usage.is_none()),
            paid_after_turns: median(known.iter().map(turns).collect())
                .filter(|turns| turns.is_finite()),
        })
    }
}

/// What the call used that wrote the summary. If it is not recorded, it read the whole request from
/// the cache.
fn own_usage(one: &CompactionLosses) -> MeanUsage {
    let whole = |tokens: u64| tokens as f64;
    if let Some(usage) = one.costs.own_usage {
        let (input, cache_read) = (whole(usage.input), whole(usage.cache_read));
        return MeanUsage {
            input,
            cache_read,
            cache_write: whole(usage.cache_write),
            output: whole(usage.output),
        };
    }
    let request = one
        .reported_tokens
        .unwrap_or(one.costs.request_tokens.map_or(0, |tokens| tokens.0));
    MeanUsage {
        cache_read: whole(request),
        output: f64::from(one.written_tokens),
        ..MeanUsage::default()
    }
}

fn median(mut list: Vec<f64>) -> Option<f64> {
    list.sort_by(f64::total_cmp);
    list.get(list.len() / 2).copied()
}
