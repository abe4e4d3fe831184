//! Recall against the tokens that a strategy retains.

use compactometer_formats::summary::{Group, MetricValue};

use super::axes::{Axes, LINE, Scale, legend, legend_width, wrap};
use super::draw::text_width;
use super::figure::{Anchor, Figure, GREY, Style, TEXT};
use crate::render::words::label;

use super::{Plot, WIDTH, header, number, styled};
use crate::data::ProtocolRun;
use crate::metrics::{BOUND_RECALL_CORRECTED, CONTEXT_RECALL, CONTEXT_RECALL_CORRECTED, Metric, TOKENS_RETAINED};

const HEIGHT: f64 = 470.0;

struct RecallPoint<'s> {
    style: Style,
    name: String,
    tokens: &'s MetricValue,
    recall: &'s MetricValue,
    at: (f64, f64),
}

pub(super) fn plot(_: &ProtocolRun, group: &Group) -> Plot {
    let has_any = |metric: &Metric| group.strategies.iter().any(|strategy| metric.value(strategy).is_some());
    let (metric, title) = if has_any(&BOUND_RECALL_CORRECTED) {
        (BOUND_RECALL_CORRECTED, "bound recall, corrected for rivals (BR*)")
    } else if has_any(&CONTEXT_RECALL_CORRECTED) {
        (CONTEXT_RECALL_CORRECTED, "context recall, corrected for chance (CR*)")
    } else {
        (CONTEXT_RECALL, "context recall (CR), not corrected for chance")
    };
    let caption = "Mean over units with 95 % intervals, upright for recall and level for size. Higher and further left is \
                   better; only points above each other compare strategies at one size. A strategy that fails, or exceeds the \
                   window, in over 5 % is marked."
        .to_owned();
    let figure = draw(group, &metric, title);
    Plot {
        name: "recall_by_tokens".to_owned(),
        title: "Recall against retained tokens",
        caption,
        figure,
        rows: rows(group, &metric),
    }
}

fn rows(group: &Group, metric: &Metric) -> Vec<Vec<String>> {
    let mut rows = vec![header(&["strategy", "tokens", "tokens_low", "tokens_high", metric.id, "low", "high", "n"])];
    for strategy in &group.strategies {
        let (Some(tokens), Some(recall)) = (TOKENS_RETAINED.of(strategy), metric.of(strategy)) else {
            continue;
        };
        let mut row = vec![strategy.name.clone()];
        row.extend([tokens.value, tokens.low, tokens.high, recall.value, recall.low, recall.high].map(number));
        row.push(recall.n.to_string());
        rows.push(row);
    }
    rows
}

fn draw(group: &Group, metric: &Metric, title: &str) -> Figure {
    let mut figure = Figure::new(WIDTH, HEIGHT);
    let (mut points, left_out) = points(group, metric);
    let note = if left_out.is_empty() {
        String::new()
    } else {
        format!("not shown, one of both is undefined: {}", left_out.join(", "))
    };
    let notes = wrap(&note, WIDTH - 120.0);
    let bottom = HEIGHT - LINE * (2.6 + notes.len() as f64);
    let tokens = points.iter().flat_map(|point| [point.tokens.value, point.tokens.high]).flatten();
    let recalls = points.iter().flat_map(|point| [point.recall.value, point.recall.low, point.recall.high]).flatten();
    let (x, y) = (Scale::covering(tokens), Scale::covering(recalls));
    let mut axes = Axes { left: 84.0, top: 20.0, right: WIDTH - 30.0, bottom, x, y };
    place(&mut points, &axes);
    let labels = labels(&points, &axes);
    if labels.is_none() {
        axes.right -= legend_width(points.iter().map(|point| point.name.as_str()));
        place(&mut points, &axes);
    }
    axes.draw(&mut figure, "retained tokens after a compaction", title);
    draw_points(&mut figure, &axes, &points);
    match labels {
        Some(labels) => {
            for (point, (at, anchor)) in points.iter().zip(labels) {
                figure.text(at, point.name.as_str(), anchor);
            }
        }
        None => {
            let entries: Vec<_> = points.iter().map(|point| (point.style, point.name.as_str())).collect();
            legend(&mut figure, (axes.right + 8.0, axes.top + 10.0), &entries, false);
        }
    }
    if points.is_empty() {
        axes.say_empty(&mut figure, "no strategy has both a recall and a size: see the reasons under the table");
    }
    for (at, line) in notes.iter().enumerate() {
        figure.coloured_text((axes.left, bottom + LINE * (2.9 + at as f64)), line.clone(), Anchor::Start, GREY);
    }
    figure
}

/// The points with both coordinates, and the names of the strategies without.
fn points<'s>(group: &'s Group, metric: &Metric) -> (Vec<RecallPoint<'s>>, Vec<&'s str>) {
    let (mut points, mut left_out) = (Vec::new(), Vec::new());
    for (style, strategy) in styled(group) {
        let defined = |metric: &Metric| metric.of(strategy).filter(|found| found.value.is_some());
        match (defined(&TOKENS_RETAINED), defined(metric)) {
            (Some(tokens), Some(recall)) => {
                points.push(RecallPoint { style, name: label(strategy), tokens, recall, at: (0.0, 0.0) })
            }
            _ => left_out.push(strategy.name.as_str()),
        }
    }
    (points, left_out)
}

fn place(points: &mut [RecallPoint], axes: &Axes) {
    for point in points {
        point.at = axes.at(point.tokens.value.unwrap_or(0.0), point.recall.value.unwrap_or(0.0));
    }
}

fn draw_points(figure: &mut Figure, axes: &Axes, points: &[RecallPoint]) {
    for point in points {
        let (tokens, recall) = (point.tokens.value.unwrap_or(0.0), point.recall.value.unwrap_or(0.0));
        if let (Some(low), Some(high)) = (point.tokens.low, point.tokens.high) {
            figure.line(vec![axes.at(low, recall), axes.at(high, recall)], point.style.colour, 1.5, &[]);
        }
        if let (Some(low), Some(high)) = (point.recall.low, point.recall.high) {
            figure.line(vec![axes.at(tokens, low), axes.at(tokens, high)], point.style.colour, 1.5, &[]);
        }
        figure.symbol(point.at, point.style);
    }
}

/// A place beside each point that is clear of other labels, symbols and intervals; nothing if a label finds none.
fn labels(points: &[RecallPoint], axes: &Axes) -> Option<Vec<((f64, f64), Anchor)>> {
    let mut taken: Vec<Block> = points.iter().flat_map(|point| blocks(point, axes)).collect();
    let mut labels = Vec::new();
    for point in points {
        let (x, y) = point.at;
        let width = text_width(&point.name);
        let offers = [
            (12.0, -11.0),
            (12.0, 12.0),
            (-12.0, -11.0),
            (-12.0, 12.0),
            (12.0, -28.0),
            (-12.0, -28.0),
            (12.0, 28.0),
            (-12.0, 28.0),
        ];
        let (at, anchor, block) = offers.iter().find_map(|(dx, dy)| {
            let from = if *dx > 0.0 { x + dx } else { x + dx - width };
            let block =
                Block { left: from, right: from + width, top: y + dy - TEXT / 2.0, bottom: y + dy + TEXT / 2.0 };
            let inside =
                block.left > axes.left && block.right < WIDTH - 8.0 && block.top > 0.0 && block.bottom < axes.bottom;
            let anchor = if *dx > 0.0 { Anchor::Start } else { Anchor::End };
            let own = block.distance(point.at);
            // A label nearer to another point would name that one.
            let is_nearest =
                points.iter().all(|other| std::ptr::eq(other, point) || block.distance(other.at) > own + 8.0);
            (inside && is_nearest && !taken.iter().any(|other| other.meets(&block))).then_some((
                (x + dx, y + dy),
                anchor,
                block,
            ))
        })?;
        taken.push(block);
        labels.push((at, anchor));
    }
    Some(labels)
}

/// What a point covers: its symbol and its intervals.
fn blocks(point: &RecallPoint, axes: &Axes) -> Vec<Block> {
    let (x, y) = point.at;
    let mut blocks = vec![Block { left: x - 7.0, right: x + 7.0, top: y - 7.0, bottom: y + 7.0 }];
    if let (Some(low), Some(high)) = (point.tokens.low, point.tokens.high) {
        blocks.push(Block { left: axes.at(low, 0.0).0, right: axes.at(high, 0.0).0, top: y - 2.0, bottom: y + 2.0 });
    }
    if let (Some(low), Some(high)) = (point.recall.low, point.recall.high) {
        blocks.push(Block { left: x - 2.0, right: x + 2.0, top: axes.at(0.0, high).1, bottom: axes.at(0.0, low).1 });
    }
    blocks
}

struct Block {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Block {
    fn distance(&self, (x, y): (f64, f64)) -> f64 {
        libm::hypot(x - x.clamp(self.left, self.right), y - y.clamp(self.top, self.bottom))
    }

    fn meets(&self, other: &Block) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }
}
