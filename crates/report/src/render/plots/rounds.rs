//! Recall by round.

use compactometer_formats::summary::{Group, StrategySummary};

use super::axes::{Scale, beside_legend};
use super::figure::Figure;
use super::{Plot, WIDTH, header, styled};
use crate::data::ProtocolRun;
use crate::metrics::CONTEXT_RECALL;

const HEIGHT: f64 = 420.0;

pub(super) fn plot(_: &ProtocolRun, group: &Group) -> Plot {
    let mut rows = vec![header(&["strategy", "round", CONTEXT_RECALL.id, "n"])];
    for strategy in &group.strategies {
        for (round, recall, n) in line(strategy) {
            rows.push(vec![strategy.name.clone(), round.to_string(), recall.to_string(), n.to_string()]);
        }
    }
    Plot {
        name: "recall_by_round".to_owned(),
        title: "Recall by round",
        caption:
            "Context recall (CR) of observations by the number of compactions applied before them, those right after a \
                  compaction included; means over units. Later rounds stand on fewer conversations: the CSV holds n."
                .to_owned(),
        figure: draw(group),
        rows,
    }
}

/// Round, recall and units, where defined.
fn line(strategy: &StrategySummary) -> Vec<(usize, f64, usize)> {
    let values = strategy.by_round.iter().enumerate();
    let values = values.filter_map(|(round, metrics)| Some((round, metrics.get(CONTEXT_RECALL.id)?)));
    values.filter_map(|(round, metric)| Some((round, metric.value?, metric.n))).collect()
}

/// Fewer units than this make no point, where any round has more.
const FEWEST_UNITS: usize = 5;

fn draw(group: &Group) -> Figure {
    let strategies = styled(group);
    let mut figure = Figure::new(WIDTH, HEIGHT);
    let most = strategies.iter().flat_map(|(_, strategy)| line(strategy)).map(|(_, _, n)| n).max().unwrap_or(0);
    let drawn = |strategy: &StrategySummary| {
        let mut line = line(strategy);
        line.retain(|(_, _, n)| *n >= FEWEST_UNITS.min(most));
        line
    };
    let rounds = strategies.iter().flat_map(|(_, strategy)| drawn(strategy)).map(|(round, ..)| round);
    let x = Scale::counting(rounds.max().unwrap_or(0));
    let names = strategies.iter().map(|(_, strategy)| strategy.name.as_str());
    let axes = beside_legend(names, (0.0, HEIGHT), x, Scale::covering([1.0]));
    axes.draw(&mut figure, "compactions applied before the observation", "context recall (CR)");
    for (style, strategy) in &strategies {
        let points: Vec<_> = drawn(strategy).iter().map(|(round, recall, _)| (*round as f64, *recall)).collect();
        axes.curve(&mut figure, &points, *style);
    }
    let shown: Vec<_> = strategies.iter().filter(|(_, strategy)| !drawn(strategy).is_empty()).collect();
    if shown.is_empty() {
        axes.say_empty(&mut figure, "no fact was last mentioned a trigger's length before an observation");
    }
    let entries: Vec<_> = shown.iter().map(|(style, strategy)| (*style, strategy.name.as_str())).collect();
    axes.legend(&mut figure, &entries);
    figure
}
