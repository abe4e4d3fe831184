//! After how many turns a compaction is paid for.
//!
//! With r, w the prices of a read and of a written token: a compaction that makes the request of B
//! tokens one of A costs its calls and the void V = what the request after it costs, less what that
//! of B tokens would have cost, plus (B - A) r. From that request on, each saves (B - A) r, or (B -
//! A) w where the cache is cold at each turn. n = (calls + V) / saved per turn.

use compactometer_engine::event::Event;
use compactometer_formats::prices::PriceRow;
use compactometer_formats::record::{Record, Turn};

use super::cache::{ChargedInput, PromptCache};
use super::{ModelPrices, gap_ms, is_compaction, turns};
use crate::data::is_applied;

/// What a conversation's compactions cost, and what they save in each later turn, in US dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct BreakEven {
    pub(super) spent: f64,
    pub(super) saved_per_turn: f64,
}

impl BreakEven {
    pub(super) fn new(record: &Record, rows: ModelPrices<'_>, assumed_ms: i64) -> Self {
        let prices = rows.agent;
        let calls = record.calls().filter(|call| is_compaction(call));
        let recorded = record
            .compactions
            .iter()
            .filter_map(|row| row.recorded_usage);
        let recorded = recorded
            .map(|usage| rows.summarizer.dollars(&usage))
            .sum::<f64>();
        let spent = calls.map(|call| rows.dollars(call)).sum::<f64>() + recorded;
        let mut sum = BreakEven {
            spent,
            saved_per_turn: 0.0,
        };
        let mut cache = PromptCache::for_case(&prices.cache, &record.case);
        let mut applied = record
            .compactions
            .iter()
            .filter(|row| is_applied(row))
            .map(|row| &row.event)
            .peekable();
        let mut before: Option<Turn> = None;
        for turn in turns(record) {
            let gap = gap_ms(before.as_ref(), &turn, assumed_ms);
            let paid = cache.request(&turn, gap).dollars(prices);
            while let Some(event) = applied.next_if(|event| event.after < turn.message) {
                sum.add(event, (before.as_ref(), &turn), paid, gap, prices);
            }
            before = Some(turn);
        }
        sum
    }

    /// One compaction before `turn`, whose input cost `paid`.
    fn add(
        &mut self,
        event: &Event,
        turns: (Option<&Turn>, &Turn),
        paid: f64,
        gap: i64,
        prices: &PriceRow,
    ) {
        let (before, turn) = turns;
        let shortened = event.tokens_before.saturating_sub(event.tokens_after);
        let whole = turn.input + shortened;
        let earlier = before.map_or(0, |before| before.input).min(whole);
        let is_warm = PromptCache::is_read(&prices.cache, earlier, gap);
        let per_token = prices.at(whole.into());
        let (charged, price) = match (is_warm, whole >= prices.cache.minimum_tokens) {
            (true, _) => (
                ChargedInput {
                    read: earlier,
                    written: whole - earlier,
                    plain: 0,
                },
                per_token.cache_read,
            ),
            (false, true) => (
                ChargedInput {
                    written: whole,
                    ..ChargedInput::default()
                },
                per_token.cache_write,
            ),
            (false, false) => (
                ChargedInput {
                    plain: whole,
                    ..ChargedInput::default()
                },
                per_token.input,
            ),
        };
        let saved = f64::from(shortened) * price / 1e6;
        self.spent += paid - charged.dollars(prices) + saved;
        self.saved_per_turn += saved;
    }
}
