//! How long what was written lasts, by rounds and by tokens since the last original left.

use compactometer_formats::summary::{Group, MetricValue, StrategySummary};

use super::panels::{self, ByRound, Titles};
use super::{Plot, header, number};
use crate::data::{ProtocolRun, StrategyRecords};
use crate::metrics::survival;

pub(super) fn plot(run: &ProtocolRun, group: &Group) -> Plot {
    let lines: Vec<SurvivalCurves> = group
        .strategies
        .iter()
        .filter_map(|summary| SurvivalCurves::new(run, summary))
        .collect();
    let by_round = |summary: &StrategySummary| -> ByRound {
        let line = lines.iter().find(|line| line.name == summary.name);
        line.map_or(Vec::new(), |line| {
            (1..).zip(line.rounds.iter().cloned()).collect()
        })
    };
    let mut rows = vec![header(&[
        "strategy", "by", "since", "survival", "low", "high", "n",
    ])];
    for line in &lines {
        for (at, found) in line.rounds.iter().enumerate() {
            let mut row = vec![
                line.name.to_owned(),
                "rounds".to_owned(),
                (at + 1).to_string(),
            ];
            row.extend([found.value, found.low, found.high].map(number));
            row.push(found.n.to_string());
            rows.push(row);
        }
        rows.extend(line.tokens.iter().map(|(tokens, share)| {
            let share = crate::stats::nine_digits(*share).to_string();
            let [none, no_low, no_high] = [const { String::new() }; 3];
            vec![
                line.name.to_owned(),
                "tokens".to_owned(),
                tokens.to_string(),
                share,
                none,
                no_low,
                no_high,
            ]
        }));
    }
    Plot {
        name: "survival".to_owned(),
        title: "Survival",
        caption: format!(
            "The share of facts that the context has held ever since their last original left, by Kaplan-Meier: at 1 the compaction \
             in which it left. Facts leave the count at the end, at a restatement and at a replacement; each conversation weighs the \
             same. {} It also has survival by tokens.",
            panels::CAPTION
        ),
        figure: panels::draw(
            group,
            by_round,
            &Titles {
                across: "rounds since the last original left",
                up: "survival",
                none: "the last original of no fact left",
            },
        ),
        rows,
    }
}

/// One strategy's curves.
struct SurvivalCurves<'s> {
    name: &'s str,
    rounds: Vec<MetricValue>,
    tokens: Vec<(u64, f64)>,
}

impl<'s> SurvivalCurves<'s> {
    /// None where no fact's last original left.
    fn new(run: &ProtocolRun, summary: &'s StrategySummary) -> Option<Self> {
        let strategy: &StrategyRecords = run.strategy(&summary.name)?;
        if strategy.is_sealed {
            return None;
        }
        let (rounds, tokens) = (survival::by_rounds(strategy), survival::by_tokens(strategy));
        (!rounds.is_empty()).then_some(SurvivalCurves {
            name: &summary.name,
            rounds,
            tokens,
        })
    }
}
