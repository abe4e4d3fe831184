//! What a conversation costs: the agent's turns, computed from their sizes and the provider's cache rules, and the calls
//! that compactions made.
//!
//! Absent on purpose: cache breakpoints. A prefix that two requests share counts as cached in full length.

use compactometer_schema::prices::PriceRow;
use compactometer_schema::record::{Record, Turn};
use compactometer_schema::summary::MetricValue;

use super::{Better, Metric, over_units, ratio, undefined};
use crate::data::{FULL, Run, Strategy, Unit as Group};
use crate::text::Unit;

/// Between turns without timestamps, in milliseconds.
const ASSUMED_GAP_MS: i64 = 10_000;

pub(super) const COST: Metric = Metric {
    id: "cost_usd",
    unit: Unit::Usd,
    better: Better::Lower,
    formula: "agent's input (cache read, cache write or uncached by the price row's rules) and output, and compaction calls; \
              mean over a unit's conversations, then over units",
    source: "MEASUREMENT section 4",
    compute: |run, strategy| priced(run, strategy, Unit::Usd, |parts| Some(parts.total())),
};

pub(super) const COST_COMPACTION: Metric = Metric {
    id: "cost_usd_compaction",
    unit: Unit::Usd,
    better: Better::Lower,
    formula: "the compaction calls' share of cost_usd",
    source: "MEASUREMENT section 4",
    compute: |run, strategy| priced(run, strategy, Unit::Usd, |parts| Some(parts.compaction)),
};

pub(super) const COST_SAVING: Metric = Metric {
    id: "cost_saving",
    unit: Unit::Share,
    better: Better::Higher,
    formula: "1 - cost / cost of `full`, both with caching and without the agent's output, by unit; mean over units",
    source: "MEASUREMENT section 4",
    compute: saving,
};

pub(super) const CACHE_HIT_RATE: Metric = Metric {
    id: "cache_hit_rate",
    unit: Unit::Share,
    better: Better::Higher,
    formula: "input tokens read from the cache / all input tokens, compaction calls included, by unit; mean over units",
    source: "MEASUREMENT section 4",
    compute: |run, strategy| priced(run, strategy, Unit::Share, |parts| ratio(parts.tokens_read, parts.tokens_in)),
};

/// One conversation's cost in US dollars, and its input tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Parts {
    pub(crate) agent_input: f64,
    pub(crate) agent_output: f64,
    pub(crate) compaction: f64,
    tokens_read: f64,
    tokens_in: f64,
}

impl Parts {
    pub(crate) fn total(&self) -> f64 {
        self.agent_input + self.agent_output + self.compaction
    }

    fn without_output(&self) -> f64 {
        self.agent_input + self.compaction
    }

    fn divided(self, by: f64) -> Self {
        Parts {
            agent_input: self.agent_input / by,
            agent_output: self.agent_output / by,
            compaction: self.compaction / by,
            tokens_read: self.tokens_read / by,
            tokens_in: self.tokens_in / by,
        }
    }

    fn plus(self, other: Self) -> Self {
        Parts {
            agent_input: self.agent_input + other.agent_input,
            agent_output: self.agent_output + other.agent_output,
            compaction: self.compaction + other.compaction,
            tokens_read: self.tokens_read + other.tokens_read,
            tokens_in: self.tokens_in + other.tokens_in,
        }
    }
}

/// The mean conversation of a strategy: over a unit's conversations, then over units. `None` without a price.
pub(crate) fn parts(run: &Run, strategy: &Strategy) -> Option<Parts> {
    let units: Option<Vec<Parts>> = strategy.units.iter().map(|unit| of_unit(run, unit)).collect();
    let units = units?;
    Some(units.iter().fold(Parts::default(), |sum, unit| sum.plus(*unit)).divided(units.len() as f64))
}

fn priced(run: &Run, strategy: &Strategy, unit: Unit, number: impl Fn(&Parts) -> Option<f64>) -> MetricValue {
    let model = &run.manifest.model;
    let reason = format!("the price table has no row for model `{model}`");
    over_units(strategy, unit, &reason, |group| number(&of_unit(run, group)?))
}

fn saving(run: &Run, strategy: &Strategy) -> MetricValue {
    if strategy.name == FULL {
        return undefined(Unit::Share, "`full` is what the others are held against");
    }
    let Some(full) = run.strategy(FULL) else {
        return undefined(Unit::Share, "`full` was not run");
    };
    over_units(strategy, Unit::Share, "no unit has a cost of `full` to compare with", |unit| {
        let yardstick = full.units.iter().find(|other| other.group == unit.group)?;
        let share = ratio(of_unit(run, unit)?.without_output(), of_unit(run, yardstick)?.without_output())?;
        Some(1.0 - share)
    })
}

/// The saving against `full` where no token is read from a cache on either side, over units; or why there is none.
pub(crate) fn saving_without_cache(run: &Run, strategy: &Strategy) -> Result<f64, String> {
    let mut uncached = run.prices.clone();
    uncached.model.iter_mut().for_each(|row| row.cache_minimum_tokens = u32::MAX);
    let Run { protocol, manifest, .. } = *run;
    let full = run.strategy(FULL).cloned().into_iter().collect();
    let run = Run { protocol, manifest, prices: &uncached, strategies: full };
    let found = saving(&run, strategy);
    found.value.ok_or_else(|| found.reason.unwrap_or_else(|| "not computed".to_owned()))
}

fn of_unit(run: &Run, unit: &Group) -> Option<Parts> {
    let mut sum = Parts::default();
    for record in &unit.records {
        sum = sum.plus(of_record(record, run.prices.row(&record.case.model)?));
    }
    Some(sum.divided(unit.records.len() as f64))
}

fn of_record(record: &Record, prices: &PriceRow) -> Parts {
    let mut parts = Parts::default();
    let mut before: Option<&Turn> = None;
    for turn in &record.turns {
        let (input, read) = agent_input(turn, before, prices);
        parts.agent_input += input;
        parts.agent_output += dollars(f64::from(turn.output), prices.output);
        parts.tokens_read += read;
        parts.tokens_in += f64::from(turn.input);
        before = Some(turn);
    }
    for usage in record.calls().map(|call| &call.usage) {
        parts.compaction += dollars(usage.input as f64, prices.input)
            + dollars(usage.cache_read as f64, prices.cache_read)
            + dollars(usage.cache_write as f64, prices.cache_write)
            + dollars(usage.output as f64, prices.output);
        parts.tokens_read += usage.cache_read as f64;
        parts.tokens_in += usage.total_input() as f64;
    }
    parts
}

/// What a turn's input costs, and how many of its tokens are read from the cache.
fn agent_input(turn: &Turn, before: Option<&Turn>, prices: &PriceRow) -> (f64, f64) {
    if turn.input < prices.cache_minimum_tokens {
        return (dollars(f64::from(turn.input), prices.input), 0.0);
    }
    let is_warm = before.is_some_and(|before| gap_ms(before, turn) <= i64::from(prices.cache_lifetime_s) * 1000);
    let is_cached = is_warm && turn.shared_prefix >= prices.cache_minimum_tokens;
    let read = if is_cached { turn.shared_prefix.min(turn.input) } else { 0 };
    let cost = dollars(f64::from(read), prices.cache_read) + dollars(f64::from(turn.input - read), prices.cache_write);
    (cost, f64::from(read))
}

fn gap_ms(before: &Turn, turn: &Turn) -> i64 {
    match (before.at_ms, turn.at_ms) {
        (Some(before), Some(now)) => now - before,
        _ => ASSUMED_GAP_MS,
    }
}

fn dollars(tokens: f64, per_million: f64) -> f64 {
    tokens * per_million / 1e6
}
