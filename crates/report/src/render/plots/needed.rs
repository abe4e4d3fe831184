//! The old values that later calls needed: what each row held of them, between what it held without
//! its model's text and the most that any model could have kept.

use compactometer_formats::summary::{Group, StrategySummary};

use super::axes::{Axes, LINE, Scale, swatches};
use super::colours::{BAND, BLUE, GREY, RANGE};
use super::draw::text_width;
use super::figure::{Anchor, Figure, RowStyle, Symbol};
use super::{Plot, WIDTH, header, number};
use crate::data::ProtocolRun;
use crate::metrics::Metric;
use crate::metrics::recall::{
    ADDRESS_USE_CEILING, ADDRESS_USE_FLOOR, ADDRESS_USE_LIFT, ADDRESS_USE_RECALL,
};
use crate::phrases::row_name;
use crate::vocabulary;

const ROW: f64 = 26.0;
const METRICS: [&Metric; 4] = [
    &ADDRESS_USE_RECALL,
    &ADDRESS_USE_FLOOR,
    &ADDRESS_USE_CEILING,
    &ADDRESS_USE_LIFT,
];

/// A row, in percent.
struct NeededBar<'s> {
    name: &'s str,
    held: f64,
    low: f64,
    high: f64,
    least: f64,
    most: f64,
    random: Option<f64>,
}

/// The picture; nothing where the run has too few needed values.
pub(super) fn plot(_: &ProtocolRun, group: &Group) -> Option<Plot> {
    let rows = group.strategies.iter().filter_map(row).collect::<Vec<_>>();
    if rows.len() < 2 {
        return None;
    }
    Some(Plot {
        name: "needed_values".to_owned(),
        title: "Needed values held",
        caption: "Of the old values that later calls needed, the share held just before, with its 95 % interval over conversations. The bar \
                  reaches from what is outside of a model's text to the most that any model could keep, which was shown to it. The \
                  grey mark is as much random old text, beside the same tail."
            .to_owned(),
        figure: draw(&rows),
        rows: data(group),
    })
}

fn data(group: &Group) -> Vec<Vec<String>> {
    let mut rows = vec![header(&["strategy", "metric", "value", "low", "high", "n"])];
    for strategy in &group.strategies {
        let found = METRICS
            .iter()
            .filter_map(|metric| Some((metric.id, metric.get(strategy)?)));
        rows.extend(found.map(|(id, found)| {
            let mut cells = vec![strategy.name.clone(), id.to_owned()];
            cells.extend([found.value, found.low, found.high].map(number));
            cells.push(found.n.to_string());
            cells
        }));
    }
    rows
}

fn row(strategy: &StrategySummary) -> Option<NeededBar<'_>> {
    let percent = |value: f64| 100.0 * value;
    let of = |metric: &Metric| metric.value(strategy).map(percent);
    let found = ADDRESS_USE_RECALL.get(strategy)?;
    let held = percent(found.value?);
    Some(NeededBar {
        name: row_name(strategy),
        held,
        low: found.low.map_or(held, percent),
        high: found.high.map_or(held, percent),
        least: of(&ADDRESS_USE_FLOOR).unwrap_or(held),
        most: of(&ADDRESS_USE_CEILING).unwrap_or(held),
        random: of(&ADDRESS_USE_LIFT).map(|lift| held - lift),
    })
}

fn draw(rows: &[NeededBar]) -> Figure {
    let names = rows.iter().map(|row| text_width(row.name));
    let left = names.fold(60.0, f64::max) + 24.0;
    let mut figure = Figure::new(WIDTH, 0.0);
    let entries = [(RANGE, "at least to at most"), (BAND, "random old text")];
    let taken = swatches(&mut figure, (left, 18.0), WIDTH - left - 16.0, &entries);
    let top = 18.0 + taken;
    let bottom = top + ROW * rows.len() as f64;
    figure.height = bottom + LINE * 2.6;
    let axes = Axes {
        left,
        top,
        right: WIDTH - 60.0,
        bottom,
        x: Scale::covering([100.0]),
        y: Scale::covering([1.0]),
    };
    axes.draw_x(
        &mut figure,
        &format!("{}, %", vocabulary::name(ADDRESS_USE_RECALL.id)),
    );
    for (place, row) in rows.iter().enumerate() {
        draw_row(&mut figure, &axes, top + ROW * (place as f64 + 0.5), row);
    }
    figure
}

fn draw_row(figure: &mut Figure, axes: &Axes, y: f64, row: &NeededBar) {
    let x = |percent: f64| axes.at(percent, 0.0).0;
    figure.text((axes.left - 10.0, y), row.name, Anchor::End);
    if row.most - row.least >= 0.5 {
        figure.bar((x(row.least), y - 5.0), (x(row.most), y + 5.0), RANGE);
    }
    if let Some(random) = row.random {
        let middle = x(random);
        figure.bar((middle - 4.0, y - 10.0), (middle + 4.0, y + 10.0), BAND);
        figure.line(vec![(middle, y - 10.0), (middle, y + 10.0)], GREY, 1.5, &[]);
    }
    figure.line(vec![(x(row.low), y), (x(row.high), y)], BLUE, 2.0, &[]);
    let dot = RowStyle {
        colour: BLUE,
        symbol: Symbol::Disc,
        dash: &[],
    };
    figure.symbol((x(row.held), y), dot);
    let end = x(row.most.max(row.high)) + 8.0;
    figure.text((end, y), format!("{:.0}", row.held), Anchor::Start);
}
