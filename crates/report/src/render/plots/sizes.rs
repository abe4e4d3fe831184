//! Recall against size, a curve for each strategy, where several retained budgets were run.

use compactometer_formats::record::Protocol;
use compactometer_formats::summary::{Group, MetricValue};

use super::axes::{Scale, beside_legend};
use super::figure::{Figure, Style};
use super::{Plot, WIDTH, header, number, styled};
use crate::metrics::{CONTEXT_RECALL, TOKENS_RETAINED};

const HEIGHT: f64 = 470.0;

/// One strategy's sizes and recalls, by size.
struct SizeCurve<'g> {
    style: Style,
    name: &'g str,
    points: Vec<(f64, &'g MetricValue)>,
}

/// The plot; none if there is only one size.
pub(super) fn plot(groups: &[Group]) -> Option<Plot> {
    let matched = || groups.iter().filter(|group| group.protocol == Protocol::Matched);
    let first = matched().next().filter(|_| matched().count() > 1)?;
    let curves = styled(first).into_iter().map(|(style, strategy)| curve(style, &strategy.name, matched()));
    let curves = curves.filter(|curve| !curve.points.is_empty()).collect::<Vec<_>>();
    let mut rows = vec![header(&["strategy", "tokens", CONTEXT_RECALL.id, "low", "high", "n"])];
    for curve in &curves {
        for (tokens, recall) in &curve.points {
            let mut row = vec![curve.name.to_owned(), tokens.to_string()];
            row.extend([recall.value, recall.low, recall.high].map(number));
            row.push(recall.n.to_string());
            rows.push(row);
        }
    }
    let caption = "Context recall (CR) at each retained budget that was run: means over units with 95 % intervals, over the mean \
                   tokens that compactions retained. Strategies compare at one size, where need be between two points of a curve."
        .to_owned();
    Some(Plot { name: "recall_by_size".to_owned(), title: "Recall over sizes", caption, figure: draw(&curves), rows })
}

fn curve<'g>(style: Style, name: &'g str, groups: impl Iterator<Item = &'g Group>) -> SizeCurve<'g> {
    let strategies = groups.filter_map(|group| group.strategies.iter().find(|strategy| strategy.name == name));
    let point = |strategy: &'g compactometer_formats::summary::StrategySummary| {
        let recall = CONTEXT_RECALL.of(strategy).filter(|recall| recall.value.is_some())?;
        Some((TOKENS_RETAINED.value(strategy)?, recall))
    };
    let mut points = strategies.filter_map(point).collect::<Vec<_>>();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    SizeCurve { style, name, points }
}

fn draw(curves: &[SizeCurve]) -> Figure {
    let mut figure = Figure::new(WIDTH, HEIGHT);
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let x = Scale::covering(points().map(|(tokens, _)| *tokens));
    let axes = beside_legend(curves.iter().map(|curve| curve.name), (0.0, HEIGHT), x, Scale::covering([1.0]));
    axes.draw(&mut figure, "retained tokens after a compaction", "context recall (CR)");
    for SizeCurve { style, points, .. } in curves {
        for (tokens, recall) in points {
            if let (Some(low), Some(high)) = (recall.low, recall.high) {
                figure.line(vec![axes.at(*tokens, low), axes.at(*tokens, high)], style.colour, 1.5, &[]);
            }
        }
        let points: Vec<_> = points.iter().map(|(tokens, recall)| (*tokens, recall.value.unwrap_or(0.0))).collect();
        axes.curve(&mut figure, &points, *style);
    }
    let entries = curves.iter().map(|curve| (curve.style, curve.name)).collect::<Vec<_>>();
    axes.legend(&mut figure, &entries);
    if curves.is_empty() {
        axes.say_empty(&mut figure, "no strategy has both a recall and a size");
    }
    figure
}
