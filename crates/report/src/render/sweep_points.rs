//! The points of sweeps as a table: for the page and the terminal.

use compactometer_formats::record::Family;
use compactometer_formats::summary::{Sweep, SweepPoint};
use compactometer_text::wrapping::{clipped, wrapped};

use super::titled::{TitledTable, titled};
use crate::document::TableRow;
use crate::metrics::MetricUnit;
use crate::numbers::grouped;
use crate::vocabulary;

/// A strategy's points, in the order of the columns.
struct SweepRow<'s> {
    name: &'s str,
    is_control: bool,
    /// At its own split and the run's size.
    own: Option<&'s SweepPoint>,
    points: Vec<Option<&'s SweepPoint>>,
}

/// The table of a page.
pub(super) fn table(sweep: &Sweep) -> TitledTable {
    let cell = |point: &Option<&SweepPoint>| point.map_or("-".to_owned(), with_interval);
    let row = |row: &SweepRow| {
        let written = row
            .own
            .map_or("-".to_owned(), |own| grouped(f64::from(own.written_budget)));
        let cells = [row.name.to_owned(), written]
            .into_iter()
            .chain(row.points.iter().map(cell));
        TableRow::new(cells).of_control(row.is_control)
    };
    let columns = std::iter::once("may write".to_owned()).chain(columns(sweep));
    let rows = rows(sweep);
    let table = titled(
        "Recall over size and split",
        note(sweep),
        columns,
        rows.iter().map(row),
    );
    TitledTable {
        id: "sweep".to_owned(),
        ..table
    }
}

/// The table of a terminal.
pub(super) fn lines(sweep: &Sweep, width: usize) -> Vec<String> {
    let rows = rows(sweep);
    let longest = rows.iter().map(|row| row.name.chars().count()).max();
    let names = longest.unwrap_or(0).min((3 * width / 10).max(12));
    let metric = vocabulary::name(&sweep.metric);
    let mut lines = wrapped(
        &format!(
            "{metric} over retained tokens and over the share kept verbatim ({} of {} conversations)",
            sweep.conversations, sweep.of
        ),
        width,
    );
    let columns = columns(sweep)
        .iter()
        .map(|column| format!(" {column:>7}"))
        .collect::<String>();
    lines.push(format!("{:<names$}{columns}", ""));
    for row in rows {
        let cells = row.points.iter().map(cell).collect::<String>();
        lines.push(format!("{:<names$}{cells}", clipped(row.name, names)));
    }
    lines.push(String::new());
    lines
}

fn cell(point: &Option<&SweepPoint>) -> String {
    format!(" {:>7}", point.map_or("-".to_owned(), short))
}

/// What the table and the pictures are of.
pub(super) fn note(sweep: &Sweep) -> String {
    let sample = match sweep.conversations == sweep.of {
        true => "all conversations".to_owned(),
        false => format!(
            "the {} of {} conversations at every point (`--sweep` takes the shortest independent ones with an old fact)",
            sweep.conversations, sweep.of
        ),
    };
    format!(
        "{} with 95 % intervals over conversations, in {sample}. A column of tokens is a retained budget, at each strategy's own split; \
         a column of percent is the share of the run's retained budget that is kept verbatim, and the rest may be written. `!` \
         marks a strategy that fails, or exceeds the context window, in over 5 %. No other table has these replays.",
        vocabulary::name(&sweep.metric)
    )
}

/// Retained budgets, then shares, each strategy's own last.
fn columns(sweep: &Sweep) -> Vec<String> {
    let sizes = budgets(sweep)
        .into_iter()
        .map(|retained| grouped(f64::from(retained)));
    let splits = shares(sweep);
    let own = (!splits.is_empty()).then(|| "own".to_owned());
    sizes
        .chain(
            splits
                .into_iter()
                .map(|split| format!("{:.0} %", 100.0 * split)),
        )
        .chain(own)
        .collect()
}

fn rows(sweep: &Sweep) -> Vec<SweepRow<'_>> {
    let (sizes, splits) = (budgets(sweep), shares(sweep));
    let mut rows: Vec<SweepRow> = Vec::new();
    for first in sweep.sizes.iter().chain(&sweep.splits) {
        let name = first.strategy.as_str();
        if rows.iter().any(|row| row.name == name) {
            continue;
        }
        let at_size =
            |retained: &u32| find(&sweep.sizes, name, |point| point.retained == *retained);
        let at_split = |split: &f64| find(&sweep.splits, name, |point| point.split == *split);
        let own = find(&sweep.splits, name, |point| point.is_own_split);
        let points = sizes.iter().map(at_size).chain(splits.iter().map(at_split));
        let points = points.chain((!splits.is_empty()).then_some(own)).collect();
        rows.push(SweepRow {
            name,
            is_control: first.family == Family::Control,
            own,
            points,
        });
    }
    rows
}

fn find<'s>(
    points: &'s [SweepPoint],
    name: &str,
    is: impl Fn(&SweepPoint) -> bool,
) -> Option<&'s SweepPoint> {
    points
        .iter()
        .find(|point| point.strategy == name && is(point))
}

fn budgets(sweep: &Sweep) -> Vec<u32> {
    let mut found = sweep
        .sizes
        .iter()
        .map(|point| point.retained)
        .collect::<Vec<_>>();
    found.sort_unstable();
    found.dedup();
    found
}

/// Those of the sweep, without the strategies' own.
fn shares(sweep: &Sweep) -> Vec<f64> {
    let mut found = sweep
        .splits
        .iter()
        .filter(|point| !point.is_own_split)
        .map(|point| point.split)
        .collect::<Vec<_>>();
    found.sort_by(f64::total_cmp);
    found.dedup();
    found
}

fn with_interval(point: &SweepPoint) -> String {
    let show = |value| MetricUnit::Share.show(value);
    let Some(value) = point.recall.value else {
        return "-".to_owned();
    };
    let interval = point.recall.low.zip(point.recall.high);
    let interval = interval.map_or(String::new(), |(low, high)| {
        format!(" [{}, {}]", show(low), show(high))
    });
    format!("{}{interval}{}", show(value), mark(point))
}

fn short(point: &SweepPoint) -> String {
    let shown = point
        .recall
        .value
        .map_or("-".to_owned(), |value| MetricUnit::Share.show(value));
    format!("{shown}{}", mark(point))
}

fn mark(point: &SweepPoint) -> &'static str {
    if point.fails.is_some() { " !" } else { "" }
}
