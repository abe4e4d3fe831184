//! Recall by round.

use compactometer_formats::summary::{Group, StrategySummary};

use super::panels::{self, ByRound, Titles};
use super::{Plot, header, number};
use crate::data::ProtocolRun;
use crate::metrics::recall::CONTEXT_RECALL;
use crate::vocabulary;

pub(super) fn plot(_: &ProtocolRun, group: &Group) -> Plot {
    let mut rows = vec![header(&[
        "strategy",
        "round",
        CONTEXT_RECALL.id,
        "low",
        "high",
        "n",
    ])];
    for strategy in &group.strategies {
        for (round, recall) in line(strategy) {
            let mut row = vec![strategy.name.clone(), round.to_string()];
            row.extend([recall.value, recall.low, recall.high].map(number));
            row.push(recall.n.to_string());
            rows.push(row);
        }
    }
    Plot {
        name: "recall_by_round".to_owned(),
        title: "Recall by round",
        caption: format!(
            "Values kept with chance, by the number of compactions applied before them, those right after a compaction \
             included; means over conversations. {}",
            panels::CAPTION
        ),
        figure: panels::draw(
            group,
            line,
            &Titles {
                across: "compactions applied before",
                up: &vocabulary::name(CONTEXT_RECALL.id),
                none: "no fact is old enough at any observation point",
            },
        ),
        rows,
    }
}

/// Round and recall, where defined.
fn line(strategy: &StrategySummary) -> ByRound {
    let values = strategy.by_round.iter().enumerate();
    values
        .filter_map(|(round, metrics)| Some((round, metrics.get(CONTEXT_RECALL.id)?.clone())))
        .filter(|(_, recall)| recall.value.is_some())
        .collect()
}
