//! What turns cost before and after compactions, and after how many turns a compaction was paid
//! for, by recorded usage.

use std::collections::BTreeSet;

use compactometer_formats::losses::{CompactionLosses, MeanUsage};
use compactometer_formats::prices::{PriceRow, PriceTable};
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
    /// By the prices of each compaction's own model. Nothing where the log names no model, or none
    /// of them has a price.
    pub(super) fn new(compactions: &[CompactionLosses], prices: &PriceTable) -> Option<Self> {
        let priced = |one: &CompactionLosses| {
            let (before, after) = one.costs.request_usage?;
            let row = prices.row_of_log(one.costs.model.as_deref()?)?;
            let [before, after, own] =
                [before, after, own_usage(one)].map(|usage| usd(row, &usage));
            Some(Priced {
                row: format!("{}, {}", row.name, row.date),
                is_assumed: one.costs.own_usage.is_none(),
                before,
                after,
                own,
            })
        };
        let known = compactions.iter().filter_map(priced).collect::<Vec<_>>();
        let of = |part: fn(&Priced) -> f64| median(known.iter().map(part).collect());
        let rows: BTreeSet<&str> = known.iter().map(|priced| priced.row.as_str()).collect();
        Some(Cost {
            prices_of: rows.into_iter().collect::<Vec<_>>().join("; "),
            compactions: known.len(),
            turn_before: of(|priced| priced.before)?,
            turn_after: of(|priced| priced.after)?,
            compaction: of(|priced| priced.own)?,
            is_assumed: known.iter().any(|priced| priced.is_assumed),
            paid_after_turns: of(Priced::turns).filter(|turns| turns.is_finite()),
        })
    }
}

/// US dollars of one compaction, and of the turns before and after it.
struct Priced {
    row: String,
    is_assumed: bool,
    before: f64,
    after: f64,
    own: f64,
}

impl Priced {
    /// Turns after which it was paid for.
    fn turns(&self) -> f64 {
        let saved = self.before - self.after;
        if saved > 0.0 {
            self.own / saved
        } else {
            f64::INFINITY
        }
    }
}

fn usd(row: &PriceRow, usage: &MeanUsage) -> f64 {
    let prices = row.at((usage.input + usage.cache_read + usage.cache_write) as u64);
    let millionths = usage.input * prices.input
        + usage.cache_read * prices.cache_read
        + usage.cache_write * prices.cache_write
        + usage.output * prices.output;
    millionths / 1e6
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
