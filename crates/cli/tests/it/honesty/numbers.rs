//! Numbers that flatter: cost with one side cached, no intervals, characters for tokens.

use compactometer_engine::estimate::Estimator;
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_formats::prices::PriceTable;
use compactometer_formats::protocol::Protocol;
use compactometer_harness::plan::{Entrant, Sizes};
use compactometer_report::metrics;

use crate::honesty::stage::{PLAIN, named};

/// One tool's headline compared itself with caching to a baseline without.
#[test]
fn caching() {
    let prices = PriceTable::shipped().unwrap();
    let price = prices.row("mock").unwrap();
    let full: Vec<_> = PLAIN
        .records
        .iter()
        .filter(|record| record.case.strategy == "full")
        .collect();
    let turns = || full.iter().flat_map(|record| &record.turns);
    let input: f64 = turns().map(|turn| f64::from(turn.input)).sum();
    let output: f64 = turns().map(|turn| f64::from(turn.output)).sum();
    let uncached = (input * price.input + output * price.output) / 1e6 / full.len() as f64;
    let one_sided = 1.0 - PLAIN.value("summarize", "cost_usd") / uncached;
    let printed = PLAIN.value("summarize", "cost_saving");
    assert!(
        PLAIN.value("full", "cache_hit_rate") > 0.5,
        "the yardstick is cached too"
    );
    assert!(
        one_sided > printed + 0.2,
        "one-sided {one_sided:.2}, printed {printed:.2}"
    );
}

#[test]
fn intervals() {
    let mut shown = 0;
    for row in &PLAIN.group.strategies {
        for (id, metric) in row
            .metrics
            .iter()
            .filter(|(_, metric)| metric.value.is_some())
        {
            // Percentiles over pooled turns have no unit to resample, and say so.
            if metrics::ALL
                .iter()
                .any(|known| known.id == id && known.definition.ends_with("no interval"))
            {
                continue;
            }
            // A unit without what a metric is about has no part in it, and of under three no
            // interval says anything.
            assert!(
                (1..=8).contains(&metric.n),
                "{id} of {}: {}",
                row.name,
                metric.n
            );
            if metric.n < 3 {
                assert_eq!(
                    (metric.low, metric.high),
                    (None, None),
                    "{id} of {}",
                    row.name
                );
                continue;
            }
            // Units that are nearly all alike say nothing about others.
            assert_eq!(
                metric.low.is_some(),
                metric.high.is_some(),
                "{id} of {}",
                row.name
            );
            let Some((low, high)) = metric.low.zip(metric.high) else {
                continue;
            };
            let value = metric.value.unwrap();
            assert!(
                low <= value + 1e-9 && value <= high + 1e-9,
                "{id} of {}: {low} {value} {high}",
                row.name
            );
            shown += 1;
        }
    }
    assert!(shown > 100, "{shown} intervals");
}

/// A quarter of the characters said 1,597 for 2,835 tokens of logs and tables.
#[test]
fn characters() {
    let line = |at: u32| {
        let hash = at.wrapping_mul(2_654_435_761);
        format!(
            "|{hash:08x}|{}.{}.{}|0x{:04x}|{}%|{}|\n",
            at % 7,
            hash % 251,
            at * 3 % 99,
            hash >> 17,
            hash % 97,
            hash >> 3
        )
    };
    let table: String = (1..60).map(line).collect();
    // The exact count decides wherever strategies are compared.
    let exact = f64::from(Encoding::O200k.count_text(&table));
    let guessed = f64::from(Estimator::Characters.of_text(&table));
    assert!(exact > 1.4 * guessed, "{exact} tokens, {guessed} guessed");
    let source: Entrant = named(&["chained-faithful"]).remove(0);
    // A document that counts characters is run with them under its own limits alone.
    let estimator = |protocol| {
        source
            .resolve(
                protocol,
                Sizes {
                    window: 12_000,
                    trigger: 9_600,
                    retained: 3_600,
                    split: None,
                },
                1.0,
            )
            .unwrap()
            .0
            .estimator
    };
    assert_eq!(
        (estimator(Protocol::Matched), estimator(Protocol::Published)),
        (Estimator::Exact, Estimator::Characters)
    );
}
