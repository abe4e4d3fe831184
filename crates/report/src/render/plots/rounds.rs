//! Recall by round.

use compactometer_formats::record::Family;
use compactometer_formats::summary::{Group, MetricValue, StrategySummary};

use super::axes::{ONE_ROUND, Scale, beside_legend, with_legend};
use super::figure::Figure;
use super::{Plot, WIDTH, header, number, styled};
use crate::data::ProtocolRun;
use crate::metrics::recall::CONTEXT_RECALL;

const HEIGHT: f64 = 420.0;

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
        caption:
            "Context recall (CR) of observations by the number of compactions applied before them, those right after a \
                  compaction included; means over units. Upright lines are 95 % intervals of strategies under test, whose \
                  points lie a little right of their places; the CSV has them all. Later rounds have fewer conversations, and rounds of under five are left out where any has more."
                .to_owned(),
        figure: draw(group),
        rows,
    }
}

/// Round and recall, where defined.
fn line(strategy: &StrategySummary) -> Vec<(usize, &MetricValue)> {
    let values = strategy.by_round.iter().enumerate();
    let values =
        values.filter_map(|(round, metrics)| Some((round, metrics.get(CONTEXT_RECALL.id)?)));
    values
        .filter(|(_, recall)| recall.value.is_some())
        .collect()
}

/// Fewer units than this make no point, where any round has more.
const FEWEST_UNITS: usize = 5;

fn draw(group: &Group) -> Figure {
    let strategies = styled(group);
    let height = with_legend(HEIGHT, strategies.len());
    let mut figure = Figure::new(WIDTH, height);
    let most = strategies
        .iter()
        .flat_map(|(_, strategy)| line(strategy))
        .map(|(_, recall)| recall.n)
        .max()
        .unwrap_or(0);
    let is_drawn = |recall: &MetricValue| recall.n >= FEWEST_UNITS.min(most);
    let drawn = |strategy| {
        line(strategy)
            .into_iter()
            .filter(move |(_, recall)| is_drawn(recall))
    };
    let rounds = strategies
        .iter()
        .flat_map(|(_, strategy)| drawn(strategy))
        .map(|(round, _)| round);
    let (first, last) = rounds.fold((usize::MAX, 0), |(first, last), round| {
        (first.min(round), last.max(round))
    });
    let x = Scale::counting(last).with_room();
    let names = strategies
        .iter()
        .map(|(_, strategy)| strategy.name.as_str());
    let axes = beside_legend(names, (0.0, height), x, Scale::covering([1.0]));
    axes.draw(
        &mut figure,
        "compactions applied before the observation",
        "context recall (CR)",
    );
    for (place, (style, strategy)) in strategies.iter().enumerate().filter(|_| first < last) {
        let points: Vec<_> = drawn(strategy)
            .map(|(round, recall)| (round as f64, recall))
            .collect();
        let apart = (strategy.family != Family::Control).then_some(place);
        axes.curve_with_intervals(&mut figure, &points, *style, apart);
    }
    let shown: Vec<_> = strategies
        .iter()
        .filter(|(_, strategy)| drawn(strategy).next().is_some())
        .collect();
    if shown.is_empty() {
        axes.say_empty(
            &mut figure,
            "no fact is old enough at any observation point",
        );
    } else if first == last {
        axes.say_empty(&mut figure, ONE_ROUND);
    }
    let entries: Vec<_> = shown
        .iter()
        .map(|(style, strategy)| (*style, strategy.name.as_str()))
        .collect();
    axes.legend(&mut figure, &entries);
    figure
}
