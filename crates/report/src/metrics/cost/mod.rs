//! What a conversation costs: the agent's turns, computed from their sizes and the provider's cache
//! rules, and the calls that the session made. A summarizer's calls have a prefix of their own, so
//! of it only that is cached which their usage says.
//!
//! Absent on purpose: the cost of the measurement's own calls, since no session makes them.

use compactometer_engine::meter::Purpose;
use compactometer_formats::prices::{PriceRow, PriceTable};
use compactometer_formats::record::{CallRow, Record, Turn};
use compactometer_formats::summary::MetricValue;

use self::break_even::BreakEven;
use self::cache::PromptCache;
use super::value::{defined, over_units, ratio, undefined};
use super::{Better, Metric, MetricsSection};
use crate::data::{FULL, ProtocolRun, StrategyRecords, UnitRecords};
use crate::metrics::MetricUnit;

mod break_even;
mod cache;
mod reported_cost;

pub(crate) use reported_cost::{COST_USD_RECORDED, FIXED_PREFIX_TOKENS};

/// Between turns without timestamps, in milliseconds: every gap is this long.
pub(crate) const SHORT_GAP_MS: i64 = 10_000;
/// The same for a slow user; longer than most caches live.
const LONG_GAP_MS: i64 = 600_000;

pub(crate) const COST_USD: Metric = Metric {
    id: "cost_usd",
    place: Some(30),
    unit: MetricUnit::Usd,
    better: Better::Lower,
    definition: "agent's input (cache read, cache write or uncached by the price row's rules; with fixed_prefix_tokens) and output, \
              compaction and checkpoint calls; turns without a time follow each other by 10 s; mean over conversations",
    compute: |run, strategy| priced(run, strategy, SHORT_GAP_MS, |parts| Some(parts.total())),
    ..Metric::share(MetricsSection::Cost, "Cost")
};

pub(crate) const COST_USD_10MIN: Metric = Metric {
    id: "cost_usd_10min",
    unit: MetricUnit::Usd,
    better: Better::Lower,
    definition: "as cost_usd, turns without a time following each other by 10 minutes",
    compute: |run, strategy| priced(run, strategy, LONG_GAP_MS, |parts| Some(parts.total())),
    ..Metric::share(MetricsSection::Cost, "Cost")
};

pub(crate) const COST_USD_COMPACTION: Metric = Metric {
    id: "cost_usd_compaction",
    unit: MetricUnit::Usd,
    better: Better::Lower,
    definition: "the compaction calls' share of cost_usd",
    compute: |run, strategy| priced(run, strategy, SHORT_GAP_MS, |parts| Some(parts.compaction)),
    ..Metric::share(MetricsSection::Cost, "Cost")
};

pub(crate) const COST_USD_CHECKPOINT: Metric = Metric {
    id: "cost_usd_checkpoint",
    unit: MetricUnit::Usd,
    better: Better::Lower,
    definition: "the share of cost_usd of calls that write checkpoints before a turn",
    compute: |run, strategy| priced(run, strategy, SHORT_GAP_MS, |parts| Some(parts.checkpoint)),
    ..Metric::share(MetricsSection::Cost, "Cost")
};

pub(crate) const COST_SAVING: Metric = Metric {
    id: "cost_saving",
    is_signed: true,
    definition: "1 - cost / cost of `full`, both with caching and without the agent's output, by conversation",
    compute: |run, strategy| saving(run, strategy, SHORT_GAP_MS),
    ..Metric::share(MetricsSection::Cost, "Cost")
};

pub(crate) const COST_SAVING_10MIN: Metric = Metric {
    id: "cost_saving_10min",
    is_signed: true,
    definition: "as cost_saving, turns without a time following each other by 10 minutes on both sides",
    compute: |run, strategy| saving(run, strategy, LONG_GAP_MS),
    ..Metric::share(MetricsSection::Cost, "Cost")
};

pub(crate) const COST_AGAINST_FULL: Metric = Metric {
    id: "cost_against_full",
    is_signed: true,
    better: Better::Lower,
    place: Some(70),
    definition: "cost_usd / cost_usd of `full` - 1: what a bill grows by, with the agent's output; long conversations weigh more than \
              in cost_saving",
    compute: |run, strategy| {
        if strategy.name == FULL {
            return undefined("`full` is what the others are compared with");
        }
        let Some(full) = run.strategy(FULL) else {
            return undefined("`full` was not run");
        };
        let total = |of| priced(run, of, SHORT_GAP_MS, |parts| Some(parts.total()));
        let (own, yardstick) = (total(strategy), total(full));
        if own.n != yardstick.n {
            return undefined("`full` has other conversations");
        }
        match own
            .value
            .zip(yardstick.value)
            .and_then(|(own, yardstick)| ratio(own, yardstick))
        {
            Some(ratio) => defined(ratio - 1.0, None, own.n),
            None => undefined(
                own.reason
                    .unwrap_or_else(|| "`full` costs nothing".to_owned()),
            ),
        }
    },
    ..Metric::share(MetricsSection::Cost, "Cost")
};

pub(crate) const BREAK_EVEN_TURNS: Metric = Metric {
    id: "break_even_turns",
    unit: MetricUnit::Count,
    better: Better::Lower,
    definition: "turns after which a compaction is paid for: (its calls + V) / S; S = tokens taken out x cache read price (write \
              price where the cache is cold), saved at each turn; V = input cost of the turn after it - that of the same turn \
              uncompacted + S, the price of the voided prefix; sums over a conversation's compactions, failed calls included; mean \
              over conversations",
    compute: break_even_turns,
    ..Metric::share(MetricsSection::Cost, "Cost")
};

pub(crate) const CACHE_HIT_RATE: Metric = Metric {
    id: "cache_hit_rate",
    definition: "input tokens read from the cache / all input tokens, the session's calls included, by conversation",
    compute: |run, strategy| {
        priced(run, strategy, SHORT_GAP_MS, |parts| {
            ratio(parts.tokens_read, parts.tokens_in)
        })
    },
    ..Metric::share(MetricsSection::Cost, "Cost")
};

/// One conversation's cost in US dollars, and its input tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CostParts {
    pub(crate) agent_input: f64,
    pub(crate) agent_output: f64,
    pub(crate) compaction: f64,
    pub(crate) checkpoint: f64,
    tokens_read: f64,
    tokens_in: f64,
}

impl CostParts {
    pub(crate) fn total(&self) -> f64 {
        self.agent_input + self.agent_output + self.compaction + self.checkpoint
    }

    fn without_output(&self) -> f64 {
        self.agent_input + self.compaction + self.checkpoint
    }

    fn combined(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        CostParts {
            agent_input: of(self.agent_input, other.agent_input),
            agent_output: of(self.agent_output, other.agent_output),
            compaction: of(self.compaction, other.compaction),
            checkpoint: of(self.checkpoint, other.checkpoint),
            tokens_read: of(self.tokens_read, other.tokens_read),
            tokens_in: of(self.tokens_in, other.tokens_in),
        }
    }

    fn divided(self, by: f64) -> Self {
        self.combined(self, |one, _| one / by)
    }

    fn plus(self, other: Self) -> Self {
        self.combined(other, |one, other| one + other)
    }
}

/// The mean conversation of a strategy: over a unit's conversations, then over units. `None`
/// without a price.
pub(crate) fn parts(run: &ProtocolRun, strategy: &StrategyRecords) -> Option<CostParts> {
    let units: Option<Vec<CostParts>> = strategy
        .units
        .iter()
        .map(|unit| of_unit(run, unit, SHORT_GAP_MS))
        .collect();
    let units = units?;
    Some(
        units
            .iter()
            .fold(CostParts::default(), |sum, unit| sum.plus(*unit))
            .divided(units.len() as f64),
    )
}

fn priced(
    run: &ProtocolRun,
    strategy: &StrategyRecords,
    gap_ms: i64,
    number: impl Fn(&CostParts) -> Option<f64>,
) -> MetricValue {
    over_units(strategy, &run.no_price(), |group| {
        number(&of_unit(run, group, gap_ms)?)
    })
}

fn saving(run: &ProtocolRun, strategy: &StrategyRecords, gap_ms: i64) -> MetricValue {
    if strategy.name == FULL {
        return undefined("`full` is what the others are compared with");
    }
    let Some(full) = run.strategy(FULL) else {
        return undefined("`full` was not run");
    };
    over_units(
        strategy,
        "no conversation has a cost of `full` to compare with",
        |unit| {
            let yardstick = full.units.iter().find(|other| other.group == unit.group)?;
            let cost = |unit: &UnitRecords| Some(of_unit(run, unit, gap_ms)?.without_output());
            Some(1.0 - ratio(cost(unit)?, cost(yardstick)?)?)
        },
    )
}

/// The saving against `full` without caching on either side, over units.
pub(crate) fn saving_without_cache(run: &ProtocolRun, strategy: &StrategyRecords) -> MetricValue {
    let mut uncached = run.prices.clone();
    uncached
        .model
        .iter_mut()
        .for_each(|row| row.cache.minimum_tokens = u32::MAX);
    let ProtocolRun {
        protocol,
        retained,
        split,
        manifest,
        ..
    } = *run;
    let full = run.strategy(FULL).cloned().into_iter().collect();
    let run = ProtocolRun {
        protocol,
        retained,
        split,
        manifest,
        prices: &uncached,
        strategies: full,
    };
    saving(&run, strategy, SHORT_GAP_MS)
}

fn break_even_turns(run: &ProtocolRun, strategy: &StrategyRecords) -> MetricValue {
    if run
        .manifest
        .models()
        .any(|model| run.prices.row(model).is_none())
    {
        return undefined(run.no_price());
    }
    let reason = match strategy.rows().any(crate::data::is_applied) {
        true => "no compaction makes a later request cheaper, so none ever pays",
        false => "nothing was compacted",
    };
    over_units(strategy, reason, |unit| {
        let each = unit.records.iter().filter_map(|record| {
            Some(BreakEven::new(
                record,
                ModelPrices::new(run.prices, record)?,
                SHORT_GAP_MS,
            ))
        });
        let sum = each.fold((0.0, 0.0), |sum, of| {
            (sum.0 + of.spent, sum.1 + of.saved_per_turn)
        });
        ratio(sum.0, sum.1)
    })
}

/// One conversation's cost, where turns without a time follow each other by `gap_ms`; nothing if a
/// model has no price.
pub(crate) fn of_conversation(
    prices: &PriceTable,
    record: &Record,
    gap_ms: i64,
) -> Option<CostParts> {
    Some(of_record(record, ModelPrices::new(prices, record)?, gap_ms))
}

fn of_unit(run: &ProtocolRun, unit: &UnitRecords, gap_ms: i64) -> Option<CostParts> {
    let mut sum = CostParts::default();
    for record in &unit.records {
        sum = sum.plus(of_conversation(run.prices, record, gap_ms)?);
    }
    Some(sum.divided(unit.records.len() as f64))
}

/// The prices of a conversation's models.
#[derive(Clone, Copy)]
struct ModelPrices<'p> {
    /// The target model, which makes the turns and has the caches.
    agent: &'p PriceRow,
    summarizer: &'p PriceRow,
    /// Who writes checkpoints before turns.
    checkpointer: &'p PriceRow,
}

impl<'p> ModelPrices<'p> {
    fn new(prices: &'p PriceTable, record: &Record) -> Option<Self> {
        let Record { case, .. } = record;
        let checkpointer = case.checkpointer.as_deref().unwrap_or(&case.summarizer);
        Some(ModelPrices {
            agent: prices.row(case.target_model())?,
            summarizer: prices.summarizer_row(&case.summarizer)?,
            checkpointer: prices.checkpointer_row(checkpointer)?,
        })
    }

    fn dollars(&self, call: &CallRow) -> f64 {
        let row = match call.purpose {
            _ if call.is_of_target() => self.agent,
            Purpose::Checkpoint => self.checkpointer,
            _ => self.summarizer,
        };
        row.dollars(&call.usage)
    }
}

fn of_record(record: &Record, rows: ModelPrices<'_>, assumed_ms: i64) -> CostParts {
    let prices = rows.agent;
    let mut parts = CostParts::default();
    let mut cache = PromptCache::for_case(&prices.cache, &record.case);
    let mut before: Option<Turn> = None;
    for turn in turns(record) {
        let input = cache.request(&turn, gap_ms(before.as_ref(), &turn, assumed_ms));
        parts.agent_input += input.dollars(prices);
        parts.agent_output += f64::from(turn.output) * prices.at(turn.input.into()).output / 1e6;
        parts.tokens_read += f64::from(input.read);
        parts.tokens_in += f64::from(turn.input);
        before = Some(turn);
    }
    for call in record.calls() {
        let part = if is_compaction(call) {
            &mut parts.compaction
        } else {
            &mut parts.checkpoint
        };
        *part += rows.dollars(call);
        parts.tokens_read += call.usage.cache_read as f64;
        parts.tokens_in += call.usage.total_input() as f64;
    }
    for usage in record
        .compactions
        .iter()
        .filter_map(|row| row.recorded_usage)
    {
        parts.compaction += rows.summarizer.dollars(&usage);
        parts.tokens_read += usage.cache_read as f64;
        parts.tokens_in += usage.total_input() as f64;
    }
    parts
}

/// A checkpoint before a turn is counted apart; a recount belongs to the compaction that it
/// follows.
fn is_compaction(call: &CallRow) -> bool {
    call.purpose != Purpose::Checkpoint
}

/// The agent's turns, each with the fixed prefix that its recorded request had.
fn turns(record: &Record) -> impl Iterator<Item = Turn> {
    let prefix = record.case.fixed_prefix_tokens;
    let with_prefix = move |turn: &Turn| Turn {
        input: turn.input.saturating_add(prefix),
        shared_prefix: turn.shared_prefix.saturating_add(prefix),
        ..*turn
    };
    record.turns.iter().map(with_prefix)
}

fn gap_ms(before: Option<&Turn>, turn: &Turn, assumed_ms: i64) -> i64 {
    match before.map(|before| (before.at_ms, turn.at_ms)) {
        None => 0,
        Some((Some(before), Some(now))) => now - before,
        Some(_) => assumed_ms,
    }
}
