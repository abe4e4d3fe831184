//! Recall against what it takes: the tokens that a strategy retains, and the cost of a
//! conversation.

use compactometer_formats::record::Family;
use compactometer_formats::summary::{Group, MetricValue};

use super::axes::{Axes, LINE, Scale, legend, legend_in_columns, legend_width, with_legend, wrap};
use super::colours::{BAND, GREY};
use super::draw::text_width;
use super::figure::{Anchor, Figure, RowStyle, TEXT};
use crate::numbers::grouped;
use crate::phrases::label;

use super::{COLUMN, Plot, WIDTH, header, number, styled};
use crate::data::{ProtocolRun, RANDOM_DROP};
use crate::metrics::Metric;
use crate::metrics::cost::COST_USD;
use crate::metrics::engine::TOKENS_RETAINED;
use crate::metrics::scores::shown_recall;
use crate::vocabulary;

const HEIGHT: f64 = 470.0;
/// A control that is so many times beyond the strategies under test is named and not drawn, since it
/// would leave the others no room.
const MOST_TIMES: f64 = 2.0;

struct RecallPoint<'s> {
    style: RowStyle,
    name: String,
    is_control: bool,
    across: &'s MetricValue,
    recall: &'s MetricValue,
    at: (f64, f64),
}

/// What recall is drawn against.
struct Across {
    metric: Metric,
    file: &'static str,
    title: &'static str,
    axis: &'static str,
    /// What a reader needs to know of it.
    caption: &'static str,
    /// Its columns in the data.
    columns: [&'static str; 3],
}

const TOKENS: Across = Across {
    metric: TOKENS_RETAINED,
    file: "recall_by_tokens",
    title: "Recall against retained tokens",
    axis: "retained tokens after a compaction",
    caption: "Only points above each other compare strategies at one size.",
    columns: ["tokens", "tokens_low", "tokens_high"],
};

pub(super) fn over_tokens(_: &ProtocolRun, group: &Group) -> Plot {
    plot(group, &TOKENS, WIDTH)
}

/// The same for a printed column.
pub(crate) fn over_tokens_in_column(group: &Group) -> Plot {
    plot(group, &TOKENS, COLUMN)
}

pub(super) fn over_cost(_: &ProtocolRun, group: &Group) -> Plot {
    const COST: Across = Across {
        metric: COST_USD,
        file: "recall_by_cost",
        title: "Recall against cost",
        axis: "cost of a conversation, US dollars",
        caption: "`full` never compacts.",
        columns: ["cost_usd", "cost_usd_low", "cost_usd_high"],
    };
    plot(group, &COST, WIDTH)
}

fn plot(group: &Group, across: &Across, width: f64) -> Plot {
    let metric = shown_recall(&group.strategies);
    let title = &vocabulary::name(metric.id);
    let caption = format!(
        "Mean over conversations with 95 % intervals, upright for recall and level for the other. Higher and further left is better. The grey band is random old text of the same size. {} A \
         strategy that fails, or exceeds the context window, in over 5 % is marked.",
        across.caption
    );
    let figure = draw(group, across, (metric, title), width);
    Plot {
        name: across.file.to_owned(),
        title: across.title,
        caption,
        figure,
        rows: rows(group, across, metric),
    }
}

fn rows(group: &Group, across: &Across, metric: &Metric) -> Vec<Vec<String>> {
    let [value, low, high] = across.columns;
    let mut rows = vec![header(&[
        "strategy", value, low, high, metric.id, "low", "high", "n",
    ])];
    for strategy in &group.strategies {
        let (Some(across), Some(recall)) = (across.metric.get(strategy), metric.get(strategy))
        else {
            continue;
        };
        let mut row = vec![strategy.name.clone()];
        row.extend(
            [
                across.value,
                across.low,
                across.high,
                recall.value,
                recall.low,
                recall.high,
            ]
            .map(number),
        );
        row.push(recall.n.to_string());
        rows.push(row);
    }
    rows
}

fn draw(group: &Group, across: &Across, (metric, title): (&Metric, &str), width: f64) -> Figure {
    let (mut points, left_out) = points(group, &across.metric, metric);
    let outside = outside(&mut points, group, &across.metric, metric);
    let note = |what: &str, names: &[String]| {
        (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
    };
    let notes = [
        note("outside of the picture", &outside),
        note("not shown, one of both is undefined", &left_out),
    ];
    let notes = notes
        .into_iter()
        .flatten()
        .flat_map(|note| wrap(&note, width - 120.0))
        .collect::<Vec<_>>();
    let bottom = HEIGHT - LINE * (2.6 + notes.len() as f64);
    let levels = points
        .iter()
        .flat_map(|point| [point.across.value, point.across.low, point.across.high])
        .flatten();
    let recalls = points
        .iter()
        .flat_map(|point| [point.recall.value, point.recall.low, point.recall.high])
        .flatten();
    let (x, y) = (Scale::around(levels), Scale::covering(recalls));
    let mut axes = Axes {
        left: 84.0,
        top: 20.0,
        right: width - 30.0,
        bottom,
        x,
        y,
    };
    place(&mut points, &axes);
    let labels = labels(&points, &axes);
    let mut height = HEIGHT;
    let has_room_beside = width >= WIDTH;
    if labels.is_none() && has_room_beside {
        height = with_legend(HEIGHT, points.len());
        axes.bottom += height - HEIGHT;
        axes.right -= legend_width(points.iter().map(|point| point.name.as_str()));
        place(&mut points, &axes);
    }
    let mut notes_from = axes.bottom + LINE * 2.9;
    let mut figure = Figure::new(width, height);
    draw_band(&mut figure, &axes, group, metric);
    axes.draw(&mut figure, across.axis, title);
    if let Some(labels) = &labels {
        join_far_labels(&mut figure, &points, labels);
    }
    draw_points(&mut figure, &axes, &points);
    let entries: Vec<_> = points
        .iter()
        .map(|point| (point.style, point.name.as_str()))
        .collect();
    match labels {
        Some(labels) => {
            for (point, label) in points.iter().zip(labels) {
                figure.text(label.at, point.name.as_str(), label.anchor);
            }
        }
        None if has_room_beside => {
            let beside = (axes.right + 8.0, axes.top + 10.0);
            legend(&mut figure, beside, &entries, false);
        }
        None => {
            let below = (8.0, notes_from);
            let taken = legend_in_columns(&mut figure, below, width - 16.0, &entries);
            figure.height += taken;
            notes_from += taken;
        }
    }
    if points.is_empty() {
        axes.say_empty(
            &mut figure,
            "no strategy has both: see the reasons under the table",
        );
    }
    for (at, line) in notes.iter().enumerate() {
        figure.coloured_text(
            (axes.left, notes_from + LINE * at as f64),
            line.clone(),
            Anchor::Start,
            GREY,
        );
    }
    figure
}

/// Takes the controls that lie too far outside to be drawn, in words.
fn outside(
    points: &mut Vec<RecallPoint>,
    group: &Group,
    across: &Metric,
    metric: &Metric,
) -> Vec<String> {
    let reach = [across, metric].map(|metric| reach_of_tested(group, metric));
    let is_outside = |point: &mut RecallPoint| {
        let places = [point.across, point.recall].map(|found| found.value.unwrap_or(0.0));
        let mut pairs = places.iter().zip(&reach);
        point.is_control && pairs.any(|(place, (low, high))| place < low || place > high)
    };
    let taken = points.extract_if(.., is_outside);
    taken.map(|point| shown(&point)).collect()
}

/// Where a control must lie to be drawn: from a fraction of the lowest end of an interval of the
/// strategies under test, if that is over 0, to a multiple of the highest.
fn reach_of_tested(group: &Group, metric: &Metric) -> (f64, f64) {
    let tested = group.strategies.iter();
    let tested = tested.filter(|strategy| strategy.family.is_tested());
    let found = tested.filter_map(|strategy| metric.get(strategy));
    let ends = found
        .flat_map(|found| [found.low, found.value, found.high])
        .flatten();
    let (low, high) = ends.fold((f64::INFINITY, 0.0_f64), |(low, high), end| {
        (low.min(end), high.max(end))
    });
    if high <= 0.0 {
        return (f64::NEG_INFINITY, f64::INFINITY);
    }
    let is_far_from_0 = low > high / MOST_TIMES;
    let least = if is_far_from_0 {
        low / MOST_TIMES
    } else {
        f64::NEG_INFINITY
    };
    (least, high * MOST_TIMES)
}

/// A point in words: its name, what it is drawn against, and its recall.
fn shown(point: &RecallPoint) -> String {
    let numbers = [point.across.value, point.recall.value].map(|value| value.unwrap_or(0.0));
    let across = if numbers[0] >= 100.0 {
        grouped(numbers[0])
    } else {
        format!("{:.2}", numbers[0])
    };
    format!("{} ({across}, {:.2})", point.name, numbers[1])
}

/// The points with both coordinates, and the names of the strategies without.
fn points<'s>(
    group: &'s Group,
    across: &Metric,
    metric: &Metric,
) -> (Vec<RecallPoint<'s>>, Vec<String>) {
    let (mut points, mut left_out) = (Vec::new(), Vec::new());
    for (style, strategy) in styled(group) {
        let defined = |metric: &Metric| metric.get(strategy).filter(|found| found.value.is_some());
        match (defined(across), defined(metric)) {
            (Some(across), Some(recall)) => {
                let is_control = strategy.family == Family::Control;
                points.push(RecallPoint {
                    style,
                    name: label(strategy),
                    is_control,
                    across,
                    recall,
                    at: (0.0, 0.0),
                })
            }
            _ => left_out.push(strategy.name.clone()),
        }
    }
    (points, left_out)
}

fn place(points: &mut [RecallPoint], axes: &Axes) {
    for point in points {
        point.at = axes.at(
            point.across.value.unwrap_or(0.0),
            point.recall.value.unwrap_or(0.0),
        );
    }
}

/// What random old text of the same size recalls, across the picture.
fn draw_band(figure: &mut Figure, axes: &Axes, group: &Group, metric: &Metric) {
    let random = group
        .strategies
        .iter()
        .find(|strategy| strategy.name == RANDOM_DROP);
    let ends = random
        .and_then(|random| metric.get(random))
        .and_then(|found| found.low.zip(found.high));
    if let Some((low, high)) = ends {
        let [low, high] =
            [low, high].map(|end| axes.at(axes.x.min, end.clamp(axes.y.min, axes.y.max)).1);
        figure.bar((axes.left, high), (axes.right, low), BAND);
    }
}

fn draw_points(figure: &mut Figure, axes: &Axes, points: &[RecallPoint]) {
    for point in points {
        let (across, recall) = (
            point.across.value.unwrap_or(0.0),
            point.recall.value.unwrap_or(0.0),
        );
        if let (Some(low), Some(high)) = (point.across.low, point.across.high) {
            figure.line(
                vec![axes.at(low, recall), axes.at(high, recall)],
                point.style.colour,
                1.5,
                &[],
            );
        }
        if let (Some(low), Some(high)) = (point.recall.low, point.recall.high) {
            figure.line(
                vec![axes.at(across, low), axes.at(across, high)],
                point.style.colour,
                1.5,
                &[],
            );
        }
        figure.symbol(point.at, point.style);
    }
}

fn join_far_labels(figure: &mut Figure, points: &[RecallPoint], labels: &[PlacedLabel]) {
    for (point, label) in points.iter().zip(labels).filter(|(_, label)| label.is_far) {
        figure.line(vec![point.at, label.end], GREY, 0.7, &[]);
    }
}

/// A name beside its point.
struct PlacedLabel {
    at: (f64, f64),
    anchor: Anchor,
    /// So far that a line joins both.
    is_far: bool,
    /// Where that line ends.
    end: (f64, f64),
}

/// Offsets of a label, the nearest first.
fn offers() -> impl Iterator<Item = (f64, f64)> {
    const UP_AND_DOWN: [f64; 12] = [
        -11.0, 12.0, -28.0, 28.0, -46.0, 46.0, -64.0, 64.0, -82.0, 82.0, -100.0, 100.0,
    ];
    const ASIDE: [f64; 6] = [12.0, -12.0, 50.0, -50.0, 100.0, -100.0];
    let mut all = UP_AND_DOWN
        .into_iter()
        .flat_map(|dy| ASIDE.map(|dx| (dx, dy)))
        .collect::<Vec<_>>();
    all.sort_by(|one, other| libm::hypot(one.0, one.1).total_cmp(&libm::hypot(other.0, other.1)));
    all.into_iter()
}

/// A place beside each point that is clear of other labels, symbols and intervals; nothing if a
/// label finds none.
fn labels(points: &[RecallPoint], axes: &Axes) -> Option<Vec<PlacedLabel>> {
    let mut taken: Vec<LabelBlock> = points
        .iter()
        .flat_map(|point| blocks(point, axes))
        .collect();
    let mut labels = Vec::new();
    for point in points {
        let (x, y) = point.at;
        let width = text_width(&point.name);
        let (label, block) = offers().find_map(|(dx, dy)| {
            let from = if dx > 0.0 { x + dx } else { x + dx - width };
            let block = LabelBlock {
                left: from,
                right: from + width,
                top: y + dy - TEXT / 2.0,
                bottom: y + dy + TEXT / 2.0,
            };
            let inside = block.left > axes.left
                && block.right < axes.right + 22.0
                && block.top > 0.0
                && block.bottom < axes.bottom;
            let anchor = if dx > 0.0 { Anchor::Start } else { Anchor::End };
            let own = block.distance(point.at);
            let is_far = libm::hypot(dx, dy) > 32.0;
            // A near label that is nearer to another point would name that one; a far one has a
            // line to its own.
            let is_nearest = is_far
                || points.iter().all(|other| {
                    std::ptr::eq(other, point) || block.distance(other.at) > own + 8.0
                });
            let is_free = inside && is_nearest && !taken.iter().any(|other| other.meets(&block));
            let at = (x + dx, y + dy);
            let end = (if dx > 0.0 { at.0 - 2.0 } else { at.0 + 2.0 }, at.1);
            is_free.then_some((
                PlacedLabel {
                    at,
                    anchor,
                    is_far,
                    end,
                },
                block,
            ))
        })?;
        taken.push(block);
        labels.push(label);
    }
    Some(labels)
}

/// What a point covers: its symbol and its intervals.
fn blocks(point: &RecallPoint, axes: &Axes) -> Vec<LabelBlock> {
    let (x, y) = point.at;
    let mut blocks = vec![LabelBlock {
        left: x - 7.0,
        right: x + 7.0,
        top: y - 7.0,
        bottom: y + 7.0,
    }];
    if let (Some(low), Some(high)) = (point.across.low, point.across.high) {
        blocks.push(LabelBlock {
            left: axes.at(low, 0.0).0,
            right: axes.at(high, 0.0).0,
            top: y - 2.0,
            bottom: y + 2.0,
        });
    }
    if let (Some(low), Some(high)) = (point.recall.low, point.recall.high) {
        blocks.push(LabelBlock {
            left: x - 2.0,
            right: x + 2.0,
            top: axes.at(0.0, high).1,
            bottom: axes.at(0.0, low).1,
        });
    }
    blocks
}

struct LabelBlock {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl LabelBlock {
    fn distance(&self, (x, y): (f64, f64)) -> f64 {
        libm::hypot(
            x - x.clamp(self.left, self.right),
            y - y.clamp(self.top, self.bottom),
        )
    }

    fn meets(&self, other: &LabelBlock) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}
