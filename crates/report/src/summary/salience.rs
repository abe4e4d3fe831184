//! Which orders of strategies depend on the mock: its weights of salience, what it reads, its noise
//! and the length of its replies are assumed, so rankings are rerun under draws of them.
//!
//! Absent on purpose: the drawing and the running, and any order of strategies that the mock does
//! not touch.

use std::collections::BTreeMap;

use compactometer_formats::record::Record;
use compactometer_text::code::code;
use serde::{Deserialize, Serialize};

use crate::data::StrategyRecords;
use crate::metrics::scores::{BOUND, RAW};
use crate::metrics::{bound, recall};
use crate::numbers::{range, short_share};
use crate::stats::kendall::tau_b;
use crate::stats::mean;
use crate::summary::sweep::short_name;

/// Recall by strategy, as [`metric`] has it.
pub type Recalls = BTreeMap<String, f64>;

/// How far the order of two strategies holds under drawn parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StrategyOrder {
    /// The strategy with the higher recall under the profile's own parameters.
    pub higher: String,
    /// The other one.
    pub lower: String,
    /// How much higher, under the profile's own parameters.
    pub difference: f64,
    /// Share of the draws in which it is higher too.
    pub held: f64,
    /// Whether the order depends on the mock: it holds in fewer than [`LEAST_HELD`] of the draws,
    /// or is a tie.
    pub depends_on_the_mock: bool,
}

/// An order that holds in a smaller share of the draws depends on the mock.
pub const LEAST_HELD: f64 = 0.95;

/// The id of the metric by which strategies are ordered: the headline, or CR where no fact has a
/// subject.
pub fn metric(records: &[Record]) -> &'static str {
    let has_subjects = records
        .iter()
        .flat_map(|record| &record.facts)
        .any(|fact| fact.has_subject);
    if has_subjects { BOUND } else { RAW }
}

/// The recall of each strategy under the matched protocol; of one without an observation, nothing.
pub fn recalls(records: &[Record]) -> Recalls {
    let of_unit = if metric(records) == BOUND {
        bound::of_unit
    } else {
        recall::of_unit
    };
    let mut by_strategy: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
    for record in records
        .iter()
        .filter(|record| record.case.protocol.has_limits_of_run())
    {
        by_strategy
            .entry(&record.case.strategy)
            .or_default()
            .push(record);
    }
    let recall = |(name, records): (&str, Vec<&Record>)| {
        let strategy = StrategyRecords::new(name, records)?;
        Some((
            name.to_owned(),
            mean(
                &strategy
                    .units
                    .iter()
                    .filter_map(of_unit)
                    .collect::<Vec<_>>(),
            )?,
        ))
    };
    by_strategy.into_iter().filter_map(recall).collect()
}

/// Each pair of strategies, least stable order first.
pub fn pairs(own: &Recalls, draws: &[Recalls]) -> Vec<StrategyOrder> {
    let all: Vec<_> = own.iter().collect();
    let mut pairs = Vec::new();
    for (at, one) in all.iter().enumerate() {
        for other in &all[at + 1..] {
            let ((higher, most), (lower, least)) = if one.1 >= other.1 {
                (*one, *other)
            } else {
                (*other, *one)
            };
            let is_higher = |draw: &&Recalls| {
                draw.get(higher)
                    .zip(draw.get(lower))
                    .is_some_and(|(one, other)| one > other)
            };
            let held = draws.iter().filter(is_higher).count() as f64 / draws.len().max(1) as f64;
            pairs.push(StrategyOrder {
                higher: higher.clone(),
                lower: lower.clone(),
                difference: most - least,
                held,
                depends_on_the_mock: held < LEAST_HELD || most <= least,
            });
        }
    }
    pairs.sort_by(|one, other| one.held.total_cmp(&other.held));
    pairs
}

/// The note for a report.
pub fn note(pairs: &[StrategyOrder], metric: &str, draws: usize, conversations: usize) -> String {
    let shaky: Vec<_> = pairs
        .iter()
        .filter(|pair| pair.depends_on_the_mock)
        .collect();
    let named = shaky
        .iter()
        .map(|pair| format!("{} over {} ({:.2})", pair.higher, pair.lower, pair.held));
    let named = if shaky.is_empty() {
        "none".to_owned()
    } else {
        named.collect::<Vec<_>>().join(", ")
    };
    format!(
        "depends on the mock: {} of {} orders by {} hold in under {LEAST_HELD} of {draws} draws of its weights, share \
         read, noise and reply length, over {conversations} conversations: {named}",
        shaky.len(),
        pairs.len(),
        short_name(metric)
    )
}

/// How the order under another mock agrees with a run's own: tau-b, where both put the strategies
/// in some order.
pub fn agreement(own: &Recalls, other: &Recalls) -> Option<f64> {
    let numbers = |of: &Recalls| {
        own.keys()
            .map(|name| of.get(name).copied().unwrap_or(0.0))
            .collect::<Vec<_>>()
    };
    tau_b(&numbers(own), &numbers(other))
}

/// The note of what other mocks make of the order: each with its recalls.
pub fn mocks_note(
    own: (&str, &Recalls),
    others: &[(&str, &Recalls)],
    metric: &str,
    conversations: usize,
) -> String {
    let other = |(mock, recalls): &(&str, &Recalls)| {
        let order = match agreement(own.1, recalls) {
            Some(tau) => format!("tau-b with that order {}", short_share(tau)),
            None => "no order".to_owned(),
        };
        format!("under {mock} {} ({order})", shown(recalls))
    };
    format!(
        "order under other mocks, by {} over {conversations} conversations: under {} the strategies recall {}; {}",
        short_name(metric),
        own.0,
        shown(own.1),
        others.iter().map(other).collect::<Vec<_>>().join("; ")
    )
}

fn shown(recalls: &Recalls) -> String {
    let most = recalls.iter().max_by(|one, other| one.1.total_cmp(other.1));
    let most = most.map_or(String::new(), |(name, _)| code(name));
    let range = range(recalls.values().copied(), short_share).unwrap_or_default();
    format!("{range}, {most} most")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_mocks_are_named_with_their_order() {
        let [own, same, other] = [[0.3, 0.2, 0.1], [0.6, 0.5, 0.4], [0.1, 0.2, 0.3]].map(recalls);
        let note = mocks_note(
            ("mock:a", &own),
            &[("mock:b", &same), ("mock:c", &other)],
            BOUND,
            4,
        );
        assert_eq!(
            note,
            "order under other mocks, by BR* over 4 conversations: under mock:a the strategies recall .10 to .30, `a` most; under \
             mock:b .40 to .60, `a` most (tau-b with that order 1.00); under mock:c .10 to .30, `c` most (tau-b with that order -1.00)"
        );
        let tied = recalls([0.2; 3]);
        assert!(
            mocks_note(("mock:a", &own), &[("mock:b", &tied)], BOUND, 4).contains("(no order)")
        );
    }

    fn recalls(of: [f64; 3]) -> Recalls {
        ["a", "b", "c"]
            .map(str::to_owned)
            .into_iter()
            .zip(of)
            .collect()
    }

    #[test]
    fn an_order_holds_from_95_percent_of_the_draws_on() {
        let own = recalls([0.3, 0.2, 0.2]);
        let draws: Vec<_> = (0..20)
            .map(|at| {
                recalls([
                    0.3,
                    if at < 2 { 0.4 } else { 0.1 },
                    0.2 + f64::from(at) / 100.0,
                ])
            })
            .collect();
        let pairs = pairs(&own, &draws);
        let told = |one: &str, other: &str| {
            let pair = pairs
                .iter()
                .find(|pair| [&*pair.higher, &*pair.lower] == [one, other])
                .unwrap();
            (pair.held, pair.depends_on_the_mock)
        };
        assert_eq!(told("a", "b"), (0.9, true));
        assert_eq!(told("a", "c"), (0.5, true));
        assert_eq!(told("b", "c"), (0.1, true), "a tie is not an order");
        assert!(
            note(&pairs, RAW, 20, 8).contains("3 of 3 orders by CR")
                && note(&pairs, RAW, 20, 8).contains("b over c (0.10)")
        );
        let firm = super::pairs(
            &recalls([0.9, 0.5, 0.1]),
            &vec![recalls([0.8, 0.4, 0.2]); 20],
        );
        assert!(
            firm.iter()
                .all(|pair| pair.held == 1.0 && !pair.depends_on_the_mock)
        );
        assert!(note(&firm, BOUND, 20, 8).ends_with("none"));
    }
}
