//! What the imported files report about their own calls, beside what is computed.

use compactometer_engine::message::Usage;
use compactometer_formats::record::Record;

use super::{ModelPrices, over_units};
use crate::data::UnitRecords;
use crate::metrics::{Better, Metric, MetricUnit, MetricsSection};
use crate::stats::mean;

pub(crate) const COST_USD_RECORDED: Metric = Metric {
    id: "cost_usd_recorded",
    unit: MetricUnit::Usd,
    better: Better::Lower,
    definition: "what the calls of imported files cost, by the token counts that the files report and the prices of this run; the \
              same for every strategy, to be compared with cost_usd of `full`; mean over conversations that report every \
              call",
    compute: |run, strategy| {
        over_units(
            strategy,
            "no conversation of the suite reports the tokens of every call",
            |unit| {
                of_each(unit, |record| {
                    let prices = ModelPrices::new(run.prices, record)?;
                    // Some of its calls are not a conversation.
                    let is_whole = !record.turns.is_empty()
                        && record.turns.iter().all(|turn| turn.recorded.is_some());
                    is_whole.then(|| {
                        reported(record)
                            .map(|usage| prices.agent.dollars(usage))
                            .sum()
                    })
                })
            },
        )
    },
    ..Metric::share(MetricsSection::Cost, "Cost")
};

pub(crate) const FIXED_PREFIX_TOKENS: Metric = Metric {
    id: "fixed_prefix_tokens",
    unit: MetricUnit::Tokens,
    better: Better::Lower,
    definition: "tokens before every recorded request that an imported file does not hold, such as system prompt and tools: reported \
              input of its first call - the messages before it; every cost includes them, context windows and budgets do not; mean \
              over conversations",
    compute: |_, strategy| {
        over_units(strategy, NO_USAGE, |unit| {
            of_each(unit, |record| {
                reported(record)
                    .next()
                    .map(|_| f64::from(record.case.fixed_prefix_tokens))
            })
        })
    },
    ..Metric::share(MetricsSection::Cost, "Cost")
};

const NO_USAGE: &str = "the suite holds no token counts of recorded calls";

fn reported(record: &Record) -> impl Iterator<Item = &Usage> {
    record
        .turns
        .iter()
        .filter_map(|turn| turn.recorded.as_ref())
}

fn of_each(unit: &UnitRecords, number: impl Fn(&Record) -> Option<f64>) -> Option<f64> {
    mean(
        &unit
            .records
            .iter()
            .filter_map(|record| number(record))
            .collect::<Vec<_>>(),
    )
}
