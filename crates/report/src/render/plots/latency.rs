//! How long turns wait for compactions and checkpoints: one wait, a whole conversation, and how
//! many turns wait at all.

use compactometer_formats::summary::{Group, StrategySummary};
use plotters::style::RGBColor;

use super::axes::{Axes, LINE, Scale, swatches};
use super::colours::{BLUE, GREY, ORANGE, SKY};
use super::draw::text_width;
use super::figure::{Anchor, Figure};
use super::{Plot, WIDTH, header, number};
use crate::data::ProtocolRun;
use crate::metrics::Metric;
use crate::metrics::compactions::{
    WAIT_MS_P50, WAIT_MS_P95, WAIT_MS_TOTAL, WAITING_SHARE, background_ms,
};

const ROW: f64 = 30.0;
/// Pixels between two panels.
const GAP: f64 = 30.0;

/// A strategy under which some turn waits, in seconds and percent.
struct Waiting<'s> {
    name: &'s str,
    p50: f64,
    p95: f64,
    total: f64,
    background: f64,
    turns: f64,
}

/// A bar of two parts for each strategy.
struct Panel {
    title: String,
    parts: fn(&Waiting) -> [f64; 2],
    colours: [RGBColor; 2],
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
        match waiting_of(strategy, background) {
            Some(row) => waiting.push(row),
            None if strategy.unmetered => {}
            None => others.push(strategy.name.as_str()),
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
            "Left: the time of one turn that waits, up to its median and its 95th percentile. Middle: all waits of a conversation, \
             mean over units. Right: the share of turns that wait. Calls that no turn waits for are drawn apart, as background; a \
             replay compacts in the foreground.{nobody}{worth}"
        ),
        figure: draw(&waiting, group.latency.remark()),
        rows,
    }
}

fn waiting_of(strategy: &StrategySummary, background: Option<f64>) -> Option<Waiting<'_>> {
    let seconds = |metric: &Metric| Some(metric.value(strategy)? / 1_000.0);
    Some(Waiting {
        name: &strategy.name,
        p50: seconds(&WAIT_MS_P50)?,
        p95: seconds(&WAIT_MS_P95)?,
        total: seconds(&WAIT_MS_TOTAL)?,
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
    let mut entries = vec![
        (BLUE, "median, or all (blocking)"),
        (SKY, "95th percentile"),
    ];
    if waiting.iter().any(|row| row.background > 0.0) {
        entries.push((ORANGE, "background"));
    }
    let taken = swatches(&mut figure, (left, 18.0), WIDTH - left - 16.0, &entries);
    let top = 18.0 + taken;
    let bottom = top + ROW * waiting.len().max(3) as f64;
    figure.height = bottom + LINE * 2.6;
    let worth = remark.map_or(String::new(), |remark| format!(" ({remark})"));
    let panels = [
        Panel {
            title: format!("one wait, s{worth}"),
            parts: |row| [row.p50, row.p95 - row.p50],
            colours: [BLUE, SKY],
        },
        Panel {
            title: format!("conversation, s{worth}"),
            parts: |row| [row.total, row.background],
            colours: [BLUE, ORANGE],
        },
        Panel {
            title: "turns that wait, %".to_owned(),
            parts: |row| [row.turns, 0.0],
            colours: [BLUE, SKY],
        },
    ];
    let width = (WIDTH - 24.0 - left - 2.0 * GAP) / 3.0;
    for (at, panel) in panels.iter().enumerate() {
        let left = left + at as f64 * (width + GAP);
        let x = Scale::covering(waiting.iter().map(|row| (panel.parts)(row).iter().sum()));
        let axes = Axes {
            left,
            top,
            right: left + width,
            bottom,
            x,
            y: Scale::covering([1.0]),
        };
        axes.draw_x(&mut figure, &panel.title);
        for (place, row) in waiting.iter().enumerate() {
            draw_bar(
                &mut figure,
                &axes,
                top + ROW * (place as f64 + 0.5),
                &(panel.parts)(row),
                &panel.colours,
            );
        }
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

fn draw_bar(figure: &mut Figure, axes: &Axes, y: f64, parts: &[f64; 2], colours: &[RGBColor; 2]) {
    let mut sum = 0.0;
    for (part, colour) in parts.iter().zip(colours) {
        let (from, _) = axes.at(sum, 0.0);
        sum += part;
        let (to, _) = axes.at(sum, 0.0);
        if to - from >= 0.5 {
            figure.bar((from, y - 10.0), (to, y + 10.0), *colour);
        }
    }
    figure.line(
        vec![(axes.left, axes.top), (axes.left, axes.bottom)],
        GREY,
        1.0,
        &[],
    );
}
