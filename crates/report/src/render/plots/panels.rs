//! One panel for each strategy, all with the same axes, which end where the values do. Random old
//! text of the same size is a grey band in each, so that a curve shows what it is worth.

use compactometer_formats::summary::{Group, MetricValue, StrategySummary};

use super::axes::{Axes, LINE, Scale, wrap};
use super::colours::{BAND, BLACK, GREY};
use super::draw::text_width;
use super::figure::{Anchor, Figure, RowStyle};
use super::{WIDTH, styled};
use crate::data::RANDOM_DROP;

/// Panels beside each other, and most panels.
const ACROSS: usize = 4;
const MOST: usize = 12;
/// Of a panel's inside.
const HEIGHT: f64 = 130.0;
const LEFT: f64 = 84.0;
const GAP: f64 = 18.0;
/// Values of fewer conversations than this are no point, where any have more.
const FEWEST: usize = 5;

/// A value for each round, of one strategy.
pub(super) type ByRound = Vec<(usize, MetricValue)>;

struct Panel<'s> {
    name: &'s str,
    style: RowStyle,
    points: ByRound,
}

/// What a picture of panels says of itself.
pub(super) struct Titles<'t> {
    pub(super) across: &'t str,
    pub(super) up: &'t str,
    /// Why there is nothing to draw.
    pub(super) none: &'t str,
}

/// The caption of what every such picture shows.
pub(super) const CAPTION: &str = "The grey band is random old text of the same size, with its 95 % interval; upright lines are 95 % intervals. \
     Later rounds have fewer conversations, and rounds of under five are left out where any has more. The data has every row.";

/// Panels of the strategies under test, or of all if there are none.
pub(super) fn draw(
    group: &Group,
    of: impl Fn(&StrategySummary) -> ByRound,
    titles: &Titles<'_>,
) -> Figure {
    let all: Vec<(Panel, &StrategySummary)> = styled(group)
        .into_iter()
        .map(|(style, strategy)| {
            let (name, points) = (strategy.name.as_str(), of(strategy));
            let panel = Panel {
                name,
                style,
                points,
            };
            (panel, strategy)
        })
        .collect();
    let most = all
        .iter()
        .flat_map(|(panel, _)| &panel.points)
        .map(|(_, value)| value.n)
        .max()
        .unwrap_or(0);
    let is_drawn =
        |(_, value): &(usize, MetricValue)| value.value.is_some() && value.n >= FEWEST.min(most);
    let has_tested = all.iter().any(|(_, strategy)| strategy.family.is_tested());
    let (mut panels, mut band) = (Vec::new(), Vec::new());
    for (mut panel, strategy) in all {
        panel.points.retain(is_drawn);
        if strategy.name == RANDOM_DROP {
            band.clone_from(&panel.points);
        }
        let is_wanted = strategy.family.is_tested() || !has_tested;
        if is_wanted && !panel.points.is_empty() {
            panels.push(panel);
        }
    }
    laid_out(panels, &band, titles)
}

fn laid_out(mut panels: Vec<Panel>, band: &ByRound, titles: &Titles<'_>) -> Figure {
    let hidden = panels.len().saturating_sub(MOST);
    panels.truncate(MOST);
    let rounds = || panels.iter().flat_map(|panel| &panel.points);
    let last = rounds().map(|(round, _)| *round).max().unwrap_or(0);
    let first = rounds().map(|(round, _)| *round).min().unwrap_or(0);
    if last == first {
        return sentence_panel(if panels.is_empty() {
            titles.none
        } else {
            super::axes::ONE_ROUND
        });
    }
    let levels = rounds()
        .chain(band)
        .flat_map(|(_, value)| [value.value, value.high])
        .flatten();
    let (x, y) = (Scale::counting(last).with_room(), Scale::covering(levels));
    let across = ACROSS.min(panels.len());
    let down = panels.len().div_ceil(across);
    let width = (WIDTH - LEFT - 16.0 - GAP * (across as f64 - 1.0)) / across as f64;
    let step = HEIGHT + LINE * 2.4;
    let bottom = LINE * 0.4 + step * down as f64;
    let mut figure = Figure::new(WIDTH, bottom + LINE * 1.6);
    for (at, panel) in panels.iter().enumerate() {
        let (column, row) = (at % across, at / across);
        let left = LEFT + column as f64 * (width + GAP);
        let top = LINE * 1.4 + step * row as f64;
        let axes = Axes {
            left,
            top,
            right: left + width,
            bottom: top + HEIGHT,
            x,
            y,
        };
        draw_band(&mut figure, &axes, band);
        axes.frame(&mut figure, column == 0);
        let points: Vec<_> = panel
            .points
            .iter()
            .map(|(round, value)| (*round as f64, value))
            .collect();
        axes.curve_with_intervals(&mut figure, &points, panel.style, Some(0));
        let name = shortened(panel.name, width);
        figure.text((left, top - LINE * 0.6), name, Anchor::Start);
    }
    let hidden = match hidden {
        0 => String::new(),
        1 => " (1 more row in the data)".to_owned(),
        _ => format!(" ({hidden} more rows in the data)"),
    };
    figure.text(
        ((LEFT + WIDTH - 16.0) / 2.0, bottom + LINE * 0.5),
        format!("{}{hidden}", titles.across),
        Anchor::Middle,
    );
    figure.vertical_text((LINE * 0.8, bottom / 2.0), titles.up);
    figure
}

/// Each round's interval, half a round to both sides; a value without one as a line.
fn draw_band(figure: &mut Figure, axes: &Axes, band: &ByRound) {
    for (round, value) in band {
        let (Some(middle), x) = (value.value, *round as f64) else {
            continue;
        };
        let ends = [x - 0.5, x + 0.5].map(|end| end.clamp(axes.x.min, axes.x.max));
        if let (Some(low), Some(high)) = (value.low, value.high) {
            let (from, to) = (axes.at(ends[0], high), axes.at(ends[1], low));
            figure.bar(from, to, BAND);
        }
        figure.line(
            ends.map(|end| axes.at(end, middle)).to_vec(),
            GREY,
            1.0,
            &[],
        );
    }
}

/// The name, its middle left out where a panel has no room for it.
fn shortened(name: &str, width: f64) -> String {
    let letters = name.chars().count();
    (4..=letters)
        .rev()
        .map(|most| compactometer_text::wrapping::clipped(name, most))
        .find(|short| text_width(short) <= width)
        .unwrap_or_default()
}

/// A picture of one sentence.
fn sentence_panel(why: &str) -> Figure {
    let lines = wrap(why, WIDTH - 80.0);
    let mut figure = Figure::new(WIDTH, LINE * (lines.len() as f64 + 1.0));
    for (at, line) in lines.into_iter().enumerate() {
        let place = (WIDTH / 2.0, LINE * (at as f64 + 1.0));
        figure.coloured_text(place, line, Anchor::Middle, BLACK);
    }
    figure
}
