//! How long turns wait for compactions and checkpoints: one wait, a whole conversation, and how
//! many turns wait at all.

use compactometer_formats::summary::{Group, StrategySummary};
use plotters::style::{RGBColor, WHITE};

use super::axes::{Axes, LINE, Scale, swatches};
use super::colours::{BLUE, GREY, ORANGE};
use super::draw::text_width;
use super::figure::{Anchor, Figure};
use super::{Plot, WIDTH, header, number};
use crate::data::{ProtocolRun, StrategyRecords};
use crate::metrics::compaction_trouble::{
    WAIT_MS_P50, WAIT_MS_P95, WAIT_MS_TOTAL, WAITING_SHARE, background_ms, waits_of,
};
use crate::phrases::row_name;
use crate::stats::quantile;

const ROW: f64 = 30.0;
/// Pixels between two panels.
const GAP: f64 = 30.0;

/// Shares of the waits that are shorter: the ends of the thin line, of the bar, and its middle.
const SHARES: [f64; 5] = [0.05, 0.25, 0.5, 0.75, 0.95];

/// A strategy under which some turn waits, in seconds and percent.
struct Waiting<'s> {
    name: &'s str,
    /// The waits at [`SHARES`].
    waits: [f64; 5],
    total: f64,
    background: f64,
    turns: f64,
}

pub(super) fn plot(run: &ProtocolRun, group: &Group) -> Plot {
    let columns = [
        "strategy",
        WAIT_MS_P50.id,
        WAIT_MS_P95.id,
        WAIT_MS_TOTAL.id,
        "wait_ms_total_low",
        "wait_ms_total_high",
        WAITING_SHARE.id,
        "background_ms_total",
        "latency",
    ];
    let mut rows = vec![header(&columns)];
    let (mut waiting, mut others) = (Vec::new(), Vec::new());
    for strategy in &group.strategies {
        let background = run.strategy(&strategy.name).and_then(background_ms);
        let total = WAIT_MS_TOTAL.get(strategy);
        let mut row = vec![strategy.name.clone()];
        row.extend(
            [&WAIT_MS_P50, &WAIT_MS_P95, &WAIT_MS_TOTAL]
                .map(|metric| number(metric.value(strategy))),
        );
        row.extend(
            [
                total.and_then(|total| total.low),
                total.and_then(|total| total.high),
            ]
            .map(number),
        );
        row.extend([number(WAITING_SHARE.value(strategy)), number(background)]);
        row.push(group.latency.remark().unwrap_or("measured").to_owned());
        rows.push(row);
        let waits = run.strategy(&strategy.name).and_then(waits_at);
        match waiting_of(strategy, waits, background) {
            Some(row) => waiting.push(row),
            None if strategy.unmetered => {}
            None => others.push(row_name(strategy)),
        }
    }
    let nobody = if others.is_empty() {
        String::new()
    } else {
        format!(" No turn waits under: {}.", others.join(", "))
    };
    let worth = group.latency.remark().map_or(String::new(), |remark| {
        format!(" These latencies are {remark}.")
    });
    Plot {
        name: "latency".to_owned(),
        title: "Waiting for compactions",
        caption: format!(
            "Left: the turns that wait: half of them within the bar, which the median divides, and nine of ten along the line. Middle: all waits of a conversation, \
             mean over conversations. Right: the share of turns that wait. Calls that no turn waits for are drawn apart, as background; a \
             replay compacts in the foreground.{nobody}{worth}"
        ),
        figure: draw(&waiting, group.latency.remark()),
        rows,
    }
}

fn waits_at(strategy: &StrategyRecords) -> Option<[f64; 5]> {
    let waits = waits_of(strategy)?;
    let at = |share| quantile(&waits, share).map(|wait| wait / 1_000.0);
    let found = SHARES.map(at);
    found
        .iter()
        .all(Option::is_some)
        .then(|| found.map(Option::unwrap_or_default))
}

fn waiting_of(
    strategy: &StrategySummary,
    waits: Option<[f64; 5]>,
    background: Option<f64>,
) -> Option<Waiting<'_>> {
    Some(Waiting {
        name: row_name(strategy),
        waits: waits.filter(|_| !strategy.unmetered)?,
        total: WAIT_MS_TOTAL.value(strategy)? / 1_000.0,
        background: background.unwrap_or(0.0) / 1_000.0,
        turns: 100.0 * WAITING_SHARE.value(strategy)?,
    })
}

fn draw(waiting: &[Waiting], remark: Option<&str>) -> Figure {
    let mut figure = Figure::new(WIDTH, 0.0);
    let names = waiting
        .iter()
        .map(|row| text_width(row.name))
        .fold(60.0, f64::max);
    let left = names + 24.0;
    let mut entries = vec![(BLUE, "a turn waits (blocking)")];
    if waiting.iter().any(|row| row.background > 0.0) {
        entries.push((ORANGE, "background"));
    }
    let taken = swatches(&mut figure, (left, 18.0), WIDTH - left - 16.0, &entries);
    let top = 18.0 + taken;
    let bottom = top + ROW * waiting.len().max(3) as f64;
    figure.height = bottom + LINE * 2.6;
    let worth = remark.map_or(String::new(), |remark| format!(" ({remark})"));
    let [wide, narrow] = [0.46, 0.27].map(|share| share * (WIDTH - 24.0 - left - 2.0 * GAP));
    let most = |of: fn(&Waiting) -> f64| Scale::covering(waiting.iter().map(of));
    let scales = [
        (
            format!("one wait, s{worth}"),
            wide,
            most(|row| row.waits[4]),
        ),
        (
            format!("conversation, s{worth}"),
            narrow,
            most(|row| row.total + row.background),
        ),
        (
            "turns that wait, %".to_owned(),
            narrow,
            most(|row| row.turns),
        ),
    ];
    let mut start = left;
    for (at, (title, width, x)) in scales.into_iter().enumerate() {
        let axes = Axes {
            left: start,
            top,
            right: start + width,
            bottom,
            x,
            y: Scale::covering([1.0]),
        };
        start += width + GAP;
        axes.draw_x(&mut figure, &title);
        for (place, row) in waiting.iter().enumerate() {
            let y = top + ROW * (place as f64 + 0.5);
            match at {
                0 => draw_waits(&mut figure, &axes, y, &row.waits),
                1 => draw_bar(
                    &mut figure,
                    &axes,
                    y,
                    [(row.total, BLUE), (row.background, ORANGE)],
                ),
                _ => draw_bar(&mut figure, &axes, y, [(row.turns, BLUE)]),
            }
        }
        figure.line(
            vec![(axes.left, axes.top), (axes.left, axes.bottom)],
            GREY,
            1.0,
            &[],
        );
        if waiting.is_empty() {
            axes.say_empty(&mut figure, "no wait is recorded");
        }
    }
    for (place, row) in waiting.iter().enumerate() {
        figure.text(
            (left - 10.0, top + ROW * (place as f64 + 0.5)),
            row.name,
            Anchor::End,
        );
    }
    figure
}

/// A line from 5 to 95 %, a bar of the middle half, and its median.
fn draw_waits(figure: &mut Figure, axes: &Axes, y: f64, waits: &[f64; 5]) {
    let [first, low, median, high, last] = waits.map(|wait| axes.at(wait, 0.0).0);
    figure.line(vec![(first, y), (last, y)], BLUE, 1.5, &[]);
    for end in [first, last] {
        figure.line(vec![(end, y - 4.0), (end, y + 4.0)], BLUE, 1.5, &[]);
    }
    figure.bar((low, y - 9.0), (high.max(low + 1.0), y + 9.0), BLUE);
    figure.line(vec![(median, y - 9.0), (median, y + 9.0)], WHITE, 2.5, &[]);
}

fn draw_bar<const N: usize>(figure: &mut Figure, axes: &Axes, y: f64, parts: [(f64, RGBColor); N]) {
    let mut sum = 0.0;
    for (part, colour) in parts {
        let (from, _) = axes.at(sum, 0.0);
        sum += part;
        let (to, _) = axes.at(sum, 0.0);
        if to - from >= 0.5 {
            figure.bar((from, y - 10.0), (to, y + 10.0), colour);
        }
    }
}
