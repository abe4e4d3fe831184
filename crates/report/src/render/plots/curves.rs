//! Curves of recall with intervals, beside a legend: what the pictures of sweeps share.

use compactometer_formats::summary::{Group, Sweep, SweepPoint};

use super::axes::{Scale, beside_legend, with_legend};
use super::figure::{Figure, RowStyle};
use super::{header, number, styled};
use crate::numbers::grouped;
use crate::vocabulary;

const HEIGHT: f64 = 520.0;

/// One strategy's points, from left to right.
pub(super) struct RecallCurve<'s> {
    style: RowStyle,
    label: String,
    points: Vec<(f64, &'s SweepPoint)>,
}

impl<'s> RecallCurve<'s> {
    /// The points that can be compared: no curve leads through a failure.
    pub(super) fn sound_points(&self) -> impl Iterator<Item = (f64, &'s SweepPoint)> {
        self.points
            .iter()
            .copied()
            .filter(|(_, point)| point.fails.is_none())
    }
}

/// The strategies' points at the places that `x` gives them, in the styles of the group.
pub(super) fn collect<'s>(
    group: &Group,
    points: &'s [SweepPoint],
    x: impl Fn(&SweepPoint) -> Option<f64>,
) -> Vec<RecallCurve<'s>> {
    let curve = |(style, name): (RowStyle, &str)| {
        let own = points
            .iter()
            .filter(|point| point.strategy == name && point.recall.value.is_some());
        let mut points = own
            .filter_map(|point| Some((x(point)?, point)))
            .collect::<Vec<_>>();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let fails = points.iter().any(|(_, point)| point.fails.is_some());
        let label = if fails {
            format!("{name} (fails)")
        } else {
            name.to_owned()
        };
        RecallCurve {
            style,
            label,
            points,
        }
    };
    let styles = styled(group)
        .into_iter()
        .map(|(style, strategy)| (style, strategy.name.as_str()));
    styles
        .map(curve)
        .filter(|curve| !curve.points.is_empty())
        .collect()
}

pub(super) fn rows(sweep: &Sweep, curves: &[RecallCurve]) -> Vec<Vec<String>> {
    let columns = [
        "strategy",
        "retained",
        "split",
        "written_budget",
        "tokens",
        sweep.metric.as_str(),
        "low",
        "high",
        "n",
        "fails",
    ];
    let mut rows = vec![header(&columns)];
    for (_, point) in curves.iter().flat_map(|curve| &curve.points) {
        let mut row = vec![
            point.strategy.clone(),
            point.retained.to_string(),
            point.split.to_string(),
        ];
        row.extend([
            point.written_budget.to_string(),
            number(point.tokens_retained),
        ]);
        row.extend([point.recall.value, point.recall.low, point.recall.high].map(number));
        row.extend([
            point.recall.n.to_string(),
            point.fails.clone().unwrap_or_default(),
        ]);
        rows.push(row);
    }
    rows
}

pub(super) fn draw(sweep: &Sweep, curves: &[RecallCurve], x_title: &str, x: Scale) -> Figure {
    let height = with_legend(HEIGHT, curves.len());
    let mut figure = Figure::new(super::WIDTH, height);
    let recalls = curves
        .iter()
        .flat_map(RecallCurve::sound_points)
        .map(|(_, point)| &point.recall);
    let y = Scale::covering(
        recalls
            .flat_map(|recall| [recall.value, recall.low, recall.high])
            .flatten(),
    );
    let labels = curves.iter().map(|curve| curve.label.as_str());
    let axes = beside_legend(labels, (0.0, height), x, y);
    axes.draw(
        &mut figure,
        x_title,
        &format!("recall ({})", vocabulary::name(&sweep.metric)),
    );
    // The first strategies lie on top.
    for (place, curve) in curves.iter().enumerate().rev() {
        let aside = axes.aside(place);
        let points = curve
            .sound_points()
            .map(|(x, point)| (axes.within(x + aside), &point.recall))
            .collect::<Vec<_>>();
        axes.curve_with_intervals(&mut figure, &points, curve.style, Some(0));
    }
    let entries = curves
        .iter()
        .map(|curve| (curve.style, curve.label.as_str()))
        .collect::<Vec<_>>();
    axes.legend(&mut figure, &entries);
    if curves.is_empty() {
        axes.say_empty(&mut figure, "no strategy has a recall at any point");
    }
    figure
}

/// What each strategy may write at the run's size and its own split, for captions.
pub(super) fn written_sizes(points: &[SweepPoint], retained: u32) -> String {
    let own = points.iter().filter(|point| {
        point.retained == retained && point.is_own_split && point.family.is_tested()
    });
    let told = own.map(|point| {
        format!(
            "{} {}",
            point.strategy,
            grouped(f64::from(point.written_budget))
        )
    });
    format!(
        "Of {} retained tokens, at its own split each may write: {}.",
        grouped(f64::from(retained)),
        told.collect::<Vec<_>>().join(", ")
    )
}
