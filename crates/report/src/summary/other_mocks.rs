//! How the order of strategies depends on the mock: the same cases under other mocks, and under
//! draws of what the run's own mock assumes.
//!
//! Absent on purpose: the drawing and the running, and any order of strategies that the mock does
//! not touch.

use std::collections::BTreeMap;

use compactometer_formats::manifest::TalkUnder;
use compactometer_formats::record::Record;
use compactometer_text::code::code;
use serde::{Deserialize, Serialize};

use super::findings::MARGIN;
pub use crate::data::RECENT_TALK as NEWEST_TALK;
use crate::data::StrategyRecords;
use crate::metrics::scores::{BOUND, RAW};
use crate::metrics::{bound, recall};
use crate::numbers::{range, short_share};
use crate::stats::kendall::tau_b;
use crate::stats::mean;
use crate::vocabulary;

/// Recall by strategy, as [`metric`] has it.
pub type Recalls = BTreeMap<String, f64>;

/// The recalls under one mock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnderMock {
    /// The mock.
    pub mock: String,
    /// Whether it is the run's own mock with other values of what that one assumes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_draw: bool,
    /// The recalls.
    pub recalls: Recalls,
}

/// The recalls under several mocks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnderMocks {
    /// The id of the metric.
    pub metric: String,
    /// The conversations, by id.
    pub scenarios: Vec<String>,
    /// The run's own mock.
    pub own: UnderMock,
    /// The others.
    pub others: Vec<UnderMock>,
    /// What the newest messages kept, which asks no mock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newest_talk: Option<f64>,
}

impl UnderMocks {
    /// How many strategies the newest messages exceed under each mock.
    pub fn talk(&self) -> Vec<TalkUnder> {
        let Some(talk) = self.newest_talk else {
            return Vec::new();
        };
        let named = self.others.iter().filter(|other| !other.is_draw);
        std::iter::once(&self.own)
            .chain(named)
            .map(|under| TalkUnder {
                mock: under.mock.clone(),
                above: under
                    .recalls
                    .values()
                    .filter(|recall| talk - **recall >= MARGIN)
                    .count(),
                of: under.recalls.len(),
            })
            .collect()
    }

    /// The note for a report.
    pub fn note(&self) -> String {
        let (draws, named): (Vec<_>, Vec<_>) = self.others.iter().partition(|other| other.is_draw);
        let other = |other: &&UnderMock| {
            let order = match agreement(&self.own.recalls, &other.recalls) {
                Some(tau) => format!("Kendall's tau with that order {}", short_share(tau)),
                None => "no order".to_owned(),
            };
            format!("under {} {} ({order})", other.mock, shown(&other.recalls))
        };
        let drawn = (!draws.is_empty()).then(|| self.drawn_note(&draws));
        let parts: Vec<_> = named.iter().map(other).chain(drawn).collect();
        format!(
            "order under other mocks, by {} over {} conversations: under {} the strategies recall {}; {}",
            vocabulary::name(&self.metric),
            self.scenarios.len(),
            self.own.mock,
            shown(&self.own.recalls),
            parts.join("; ")
        )
    }

    /// Which orders hold under too few draws.
    fn drawn_note(&self, draws: &[&UnderMock]) -> String {
        let pairs = pairs(&self.own.recalls, draws);
        let shaky: Vec<_> = pairs
            .iter()
            .filter(|pair| pair.depends_on_the_mock())
            .map(|pair| format!("{} over {} ({:.2})", pair.higher, pair.lower, pair.held))
            .collect();
        format!(
            "{} of {} pairs keep their order in under {LEAST_HELD} of {} draws of what it assumes: {}",
            shaky.len(),
            pairs.len(),
            draws.len(),
            if shaky.is_empty() {
                "none".to_owned()
            } else {
                shaky.join(", ")
            }
        )
    }
}

/// How far the order of two strategies holds under drawn parameters.
struct PairOrder {
    /// The strategy with the higher recall under the profile's own parameters.
    higher: String,
    /// The other one.
    lower: String,
    /// Whether they recall the same.
    is_tie: bool,
    /// Share of the draws in which `higher` is higher too.
    held: f64,
}

impl PairOrder {
    /// Whether it holds in fewer than [`LEAST_HELD`] of the draws, or is a tie.
    fn depends_on_the_mock(&self) -> bool {
        self.held < LEAST_HELD || self.is_tie
    }
}

/// An order that holds in a smaller share of the draws depends on the mock.
const LEAST_HELD: f64 = 0.95;

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
fn pairs(own: &Recalls, draws: &[&UnderMock]) -> Vec<PairOrder> {
    let all: Vec<_> = own.iter().collect();
    let mut pairs = Vec::new();
    for (at, one) in all.iter().enumerate() {
        for other in &all[at + 1..] {
            let (higher, lower) = if one.1 >= other.1 {
                (one, other)
            } else {
                (other, one)
            };
            pairs.push(PairOrder {
                higher: higher.0.clone(),
                lower: lower.0.clone(),
                is_tie: higher.1 <= lower.1,
                held: share_held(higher.0, lower.0, draws),
            });
        }
    }
    pairs.sort_by(|one, other| one.held.total_cmp(&other.held));
    pairs
}

/// The share of the draws in which one strategy recalls more than the other.
fn share_held(higher: &str, lower: &str, draws: &[&UnderMock]) -> f64 {
    let is_higher = |draw: &&&UnderMock| {
        let of = |name| draw.recalls.get(name);
        of(higher)
            .zip(of(lower))
            .is_some_and(|(one, other)| one > other)
    };
    draws.iter().filter(is_higher).count() as f64 / draws.len().max(1) as f64
}

/// How the order under another mock agrees with a run's own: tau-b, where both put the strategies
/// in some order.
fn agreement(own: &Recalls, other: &Recalls) -> Option<f64> {
    let numbers = |of: &Recalls| {
        own.keys()
            .map(|name| of.get(name).copied().unwrap_or(0.0))
            .collect::<Vec<_>>()
    };
    tau_b(&numbers(own), &numbers(other))
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

    fn recalls(of: [f64; 3]) -> Recalls {
        ["a", "b", "c"]
            .map(str::to_owned)
            .into_iter()
            .zip(of)
            .collect()
    }

    fn under(mock: &str, of: [f64; 3]) -> UnderMock {
        UnderMock {
            mock: mock.to_owned(),
            is_draw: mock.contains('~'),
            recalls: recalls(of),
        }
    }

    fn under_mocks(own: [f64; 3], others: Vec<UnderMock>) -> UnderMocks {
        UnderMocks {
            metric: BOUND.to_owned(),
            scenarios: ["one", "two", "three", "four"].map(str::to_owned).to_vec(),
            own: under("mock:a", own),
            others,
            newest_talk: Some(0.36),
        }
    }

    #[test]
    fn the_newest_messages_are_counted_under_each_mock() {
        let found = under_mocks([0.3, 0.2, 0.1], vec![under("mock:b", [0.6, 0.5, 0.32])]);
        let counted = found
            .talk()
            .into_iter()
            .map(|under| (under.mock, under.above, under.of));
        assert_eq!(
            counted.collect::<Vec<_>>(),
            [("mock:a".to_owned(), 3, 3), ("mock:b".to_owned(), 0, 3)]
        );
    }

    #[test]
    fn other_mocks_are_named_with_their_order() {
        let others = vec![
            under("mock:b", [0.6, 0.5, 0.4]),
            under("mock:c", [0.1, 0.2, 0.3]),
        ];
        assert_eq!(
            under_mocks([0.3, 0.2, 0.1], others).note(),
            "order under other mocks, by facts kept over 4 conversations: under mock:a the strategies recall .10 to .30, `a` most; under \
             mock:b .40 to .60, `a` most (Kendall's tau with that order 1.00); under mock:c .10 to .30, `c` most (Kendall's tau with that order -1.00)"
        );
        let tied = under_mocks([0.3, 0.2, 0.1], vec![under("mock:b", [0.2; 3])]);
        assert!(tied.note().contains("(no order)"));
    }

    #[test]
    fn an_order_holds_from_95_percent_of_the_draws_on() {
        let draws: Vec<_> = (0..20)
            .map(|at| {
                under(
                    &format!("mock:a~{at}"),
                    [
                        0.3,
                        if at < 2 { 0.4 } else { 0.1 },
                        0.2 + f64::from(at) / 100.0,
                    ],
                )
            })
            .collect();
        let found = under_mocks([0.3, 0.2, 0.2], draws);
        let draws: Vec<_> = found.others.iter().collect();
        let told: Vec<_> = pairs(&found.own.recalls, &draws)
            .iter()
            .map(|pair| {
                (
                    format!("{}{}", pair.higher, pair.lower),
                    pair.held,
                    pair.depends_on_the_mock(),
                )
            })
            .collect();
        let expected = [("bc", 0.1), ("ac", 0.5), ("ab", 0.9)];
        assert_eq!(
            told,
            expected.map(|(pair, held)| (pair.to_owned(), held, true)),
            "`bc` is a tie"
        );
        assert!(
            found
                .note()
                .contains("; 3 of 3 pairs keep their order in under 0.95 of 20 draws of what it assumes: b over c (0.10)"),
            "{}",
            found.note()
        );
    }

    #[test]
    fn a_firm_order_depends_on_no_draw() {
        let firm = under_mocks(
            [0.9, 0.5, 0.1],
            vec![under("mock:a~1", [0.8, 0.4, 0.2]); 20],
        );
        assert!(firm.note().ends_with(": none"));
    }
}
