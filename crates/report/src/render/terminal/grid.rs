//! The table of a group: as many columns as the terminal has room for, the most important first.

use std::collections::BTreeSet;

use compactometer_formats::protocol::LimitsOf;
use compactometer_formats::record::Family;
use compactometer_formats::summary::{Comparison, Group, MetricValue, StrategySummary};
use compactometer_text::lines::{clipped, wrapped};

use super::Screen;
use crate::data::{FULL, RECENT_TALK, SAME_SIZE};
use crate::metrics::bound::BOUND_RECALL_CORRECTED;
use crate::metrics::cost::{COST_AGAINST_FULL, COST_USD};
use crate::metrics::failures::is_marked;
use crate::metrics::recall::{ADDRESS_USE_RECALL, CONTEXT_RECALL, CONTEXT_RECALL_CORRECTED};
use crate::metrics::scores::shown_recall;
use crate::metrics::{self, Column, Metric, MetricUnit};
use crate::numbers::short_share;
use crate::render::compared::OWN_REFERENCE;
use crate::render::phrases::seconds;
use crate::stats::sign_flip::FEWEST_UNITS;
use crate::summary::{common_reference, difference};

/// Most rows where not all are asked for, beside changed ideas.
const ROWS: usize = 11;
/// Of these, controls that are shown beside strategies however many those are.
const CONTROLS: usize = 3;
/// Blanks between columns.
const GAP: usize = 2;

/// Controls in the order in which they are shown: what nothing loses, what no model writes, then
/// the rest.
const FIRST_CONTROLS: [&str; 4] = [FULL, RECENT_TALK, SAME_SIZE[0], SAME_SIZE[1]];

/// A column with the texts of all rows.
struct Filled {
    place: u8,
    header: [String; 2],
    /// What the header does not say.
    about: String,
    cells: Vec<String>,
}

/// Rows under one heading.
type Rows<'g> = (Option<&'static str>, Vec<&'g StrategySummary>);

/// The lines of the table, and below it what its columns show.
pub(super) fn lines(group: &Group, screen: &Screen) -> Vec<String> {
    let (sections, hidden) = sections(group, screen.all_rows);
    let rows = sections
        .iter()
        .flat_map(|(_, rows)| rows.iter().copied())
        .collect::<Vec<_>>();
    // A narrow terminal needs its room for numbers.
    let most = (3 * screen.width / 10).max(12);
    let names = names(&rows, group, most);
    let name_width = names
        .iter()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or_default();
    let columns = that_fit(
        columns(group, &rows),
        screen.width.saturating_sub(name_width),
    );
    let mut lines = [0, 1]
        .map(|line| {
            laid_out(
                "",
                name_width,
                columns.iter().map(|column| &*column.header[line]),
                &columns,
            )
        })
        .to_vec();
    let mut at = 0;
    for (heading, rows) in sections {
        lines.extend(heading.map(str::to_owned));
        for _ in rows {
            lines.push(laid_out(
                &names[at],
                name_width,
                columns.iter().map(|column| &*column.cells[at]),
                &columns,
            ));
            at += 1;
        }
    }
    if hidden > 0 {
        lines.push(format!(
            "{hidden} more {}: --all",
            if hidden == 1 { "row" } else { "rows" }
        ));
    }
    if rows.iter().any(|row| is_marked(row)) {
        let mark =
            "* not compared: over 5 % of due compactions failed, or of turns exceeded the window";
        lines.extend(wrapped(mark, screen.width));
    }
    if rows.iter().any(|row| row.not_understood) {
        let mark = "‡ not compared: the summarizer wrote none of the facts that it was shown, so it did not understand this prompt";
        lines.extend(wrapped(mark, screen.width));
    }
    if rows.iter().any(|row| row.unmetered) {
        lines.extend(wrapped(
            "† not compared, without costs and waits: it asks a model past the meter",
            screen.width,
        ));
    }
    let key = columns
        .iter()
        .map(|column| column.about.as_str())
        .filter(|about| !about.is_empty())
        .collect::<Vec<_>>();
    lines.extend(wrapped(&key.join(" "), screen.width));
    lines
}

/// Why a row is not compared.
fn mark(row: &StrategySummary) -> &'static str {
    match () {
        () if row.unmetered => "†",
        () if row.not_understood => "‡",
        () if is_marked(row) => "*",
        () => "",
    }
}

fn laid_out<'c>(
    name: &str,
    name_width: usize,
    cells: impl Iterator<Item = &'c str>,
    columns: &[Filled],
) -> String {
    let mut line = format!("{name:<name_width$}");
    for (cell, column) in cells.zip(columns) {
        line.push_str(&format!("{cell:>width$}", width = GAP + width(column)));
    }
    line.trim_end().to_owned()
}

fn width(column: &Filled) -> usize {
    column
        .header
        .iter()
        .chain(&column.cells)
        .map(|text| text.chars().count())
        .max()
        .unwrap_or_default()
}

/// The first columns that fit, at least one.
fn that_fit(mut columns: Vec<Filled>, room: usize) -> Vec<Filled> {
    columns.sort_by_key(|column| column.place);
    let mut used = 0;
    let fitting = columns.iter().take_while(|column| {
        used += GAP + width(column);
        used <= room
    });
    let fitting = fitting.count().max(1);
    columns.truncate(fitting);
    columns
}

/// Names with their marks, clipped unless that makes two of them alike. A changed idea is indented
/// and leaves out the name of the row above it.
fn names(rows: &[&StrategySummary], group: &Group, most: usize) -> Vec<String> {
    let name = |row: &StrategySummary| {
        let base = base_of(row, group).filter(|_| row.family == Family::Idea);
        let idea = base.and_then(|base| row.name.strip_prefix(base)?.strip_prefix('-'));
        idea.map_or(row.name.clone(), |idea| format!("  {idea}"))
    };
    let of = |most: usize| {
        rows.iter()
            .map(move |row| clipped(&name(row), most) + mark(row))
    };
    let short = of(most).collect::<Vec<_>>();
    let different = short.iter().collect::<BTreeSet<_>>().len();
    if different == rows.len() {
        short
    } else {
        of(usize::MAX).collect()
    }
}

/// The rows to show, and the number of those left out.
fn sections(group: &Group, all: bool) -> (Vec<Rows<'_>>, usize) {
    let of = |family: fn(Family) -> bool| {
        group
            .strategies
            .iter()
            .filter(move |row| family(row.family))
    };
    let recorded = of(|family| family == Family::Recorded).collect::<Vec<_>>();
    let mut tested =
        of(|family| family.is_tested() && family != Family::Recorded).collect::<Vec<_>>();
    let mut controls = of(|family| family == Family::Control).collect::<Vec<_>>();
    let rank = |name: &str| {
        FIRST_CONTROLS
            .iter()
            .position(|first| *first == name)
            .unwrap_or(FIRST_CONTROLS.len())
    };
    controls.sort_by_key(|row| rank(&row.name));
    // So few cannot tell strategies apart; how far text and values of the same size get can be
    // seen.
    let leads = !recorded.is_empty() || group.units < FEWEST_UNITS;
    let is_first = |row: &&StrategySummary| leads && SAME_SIZE.contains(&row.name.as_str());
    let (first, mut last) = controls.into_iter().partition::<Vec<_>, _>(is_first);
    let most = ROWS + with_ideas(&mut tested, group);
    let before = recorded.len() + first.len() + tested.len() + last.len();
    if !all {
        let room = most.saturating_sub(recorded.len() + first.len());
        let kept = if leads { 0 } else { CONTROLS.min(last.len()) };
        keep(&mut tested, room.saturating_sub(kept), group);
        last.truncate(room.saturating_sub(tested.len()));
    }
    let shown = recorded.len() + first.len() + tested.len() + last.len();
    let strategies = if leads && !first.is_empty() {
        Some("strategies")
    } else {
        None
    };
    let mut sections = vec![
        (None, recorded),
        (Some("of the same size, without a summary"), first),
        (strategies, tested),
        (Some("controls"), last),
    ];
    sections.retain(|(_, rows)| !rows.is_empty());
    (sections, before - shown)
}

/// Puts the rows that change one idea behind those that they are compared with, and counts them.
fn with_ideas<'g>(tested: &mut Vec<&'g StrategySummary>, group: &'g Group) -> usize {
    let ideas = group.strategies.iter();
    let ideas: Vec<_> = ideas.filter(|row| row.family == Family::Idea).collect();
    for idea in ideas.iter().rev() {
        let base = base_of(idea, group);
        let place = tested
            .iter()
            .position(|row| Some(row.name.as_str()) == base);
        tested.insert(place.map_or(tested.len(), |place| place + 1), idea);
    }
    ideas.len()
}

/// The row that one with a changed idea is compared with.
fn base_of<'g>(idea: &StrategySummary, group: &'g Group) -> Option<&'g str> {
    let mut made = group.comparisons.iter();
    let made = made.find(|made| made.strategy == idea.name)?;
    Some(&made.reference)
}

/// The first rows, among them the one that others are compared with.
fn keep(rows: &mut Vec<&StrategySummary>, most: usize, group: &Group) {
    let reference = group
        .comparisons
        .first()
        .map(|made| made.reference.as_str());
    let place = rows
        .iter()
        .position(|row| Some(row.name.as_str()) == reference);
    if let Some(place) = place.filter(|place| *place >= most && most > 0) {
        let row = rows.remove(place);
        rows.insert(most - 1, row);
    }
    rows.truncate(most);
}

fn columns(group: &Group, rows: &[&StrategySummary]) -> Vec<Filled> {
    let mut columns = metric_columns(group, rows);
    columns.extend(fates(rows));
    columns.extend(difference_to_reference(group, rows));
    columns
}

/// The metrics that have a column of their own and a value in it.
fn metric_columns(group: &Group, rows: &[&StrategySummary]) -> Vec<Filled> {
    let recall = shown_recall(&group.strategies);
    let place = |metric: &Metric, column: &Column| match metric.id {
        // What a program kept is judged by what its later calls needed.
        id if id == ADDRESS_USE_RECALL.id && group.protocol.limits() == LimitsOf::Recording => 0,
        _ => column.place,
    };
    let filled = |metric: &'static Metric, column: Column| {
        let is_known = rows.iter().any(|row| metric.value(row).is_some());
        let cell = |row: &&StrategySummary| match column.has_interval {
            true => with_interval(metric.get(row)),
            false => show(row, metric),
        };
        is_known.then(|| Filled {
            place: place(metric, &column),
            header: column.header.map(str::to_owned),
            about: about(metric, &column, group),
            cells: rows.iter().map(cell).collect(),
        })
    };
    let first = BOUND_RECALL_CORRECTED.column.and_then(|column| {
        filled(
            recall,
            Column {
                about: about_plain(recall).unwrap_or(column.about),
                ..column
            },
        )
    });
    let others = metrics::ALL
        .iter()
        .filter(|metric| metric.id != BOUND_RECALL_CORRECTED.id && metric.id != recall.id);
    first
        .into_iter()
        .chain(others.filter_map(|metric| filled(metric, metric.column?)))
        .collect()
}

/// What the header of a metric's column does not say.
fn about(metric: &Metric, column: &Column, group: &Group) -> String {
    let remark = group
        .latency
        .remark()
        .filter(|_| metric.unit == MetricUnit::Milliseconds && !column.about.is_empty());
    match remark {
        Some(remark) => format!("{} ({remark}).", column.about.trim_end_matches('.')),
        None => column.about.to_owned(),
    }
}

/// What recall is where facts have no subjects.
fn about_plain(recall: &Metric) -> Option<&'static str> {
    match recall.id {
        id if id == CONTEXT_RECALL_CORRECTED.id => Some(
            "Recall: share of the values said long before that the context holds, less chance.",
        ),
        id if id == CONTEXT_RECALL.id => Some(
            "Recall: share of the values said long before that the context holds; chance is in it.",
        ),
        _ => None,
    }
}

/// What is held at the end, and where the rest was lost; a transcript does not show where.
fn fates(rows: &[&StrategySummary]) -> Vec<Filled> {
    if rows.iter().all(|row| row.fates.is_empty()) {
        return Vec::new();
    }
    let column =
        |place, header: [&str; 2], about: &str, fates: &[&str], of_recorded: bool| Filled {
            place,
            header: header.map(str::to_owned),
            about: about.to_owned(),
            cells: rows
                .iter()
                .map(|row| {
                    let is_known =
                        !row.fates.is_empty() && (of_recorded || row.family != Family::Recorded);
                    let share = fates
                        .iter()
                        .filter_map(|fate| row.fates.get(*fate))
                        .sum::<f64>();
                    if is_known {
                        format!("{:.0} %", 100.0 * share)
                    } else {
                        "-".to_owned()
                    }
                })
                .collect(),
        };
    vec![
        column(
            47,
            ["held", "at end"],
            "Held at end: of all facts.",
            &["verbatim", "carried"],
            true,
        ),
        column(55, ["never", "read"], "", &["dropped_unseen"], false),
        column(
            56,
            ["not", "written"],
            "Never read, not written, lost later: how the other facts went.",
            &["unwritten"],
            false,
        ),
        column(57, ["lost", "later"], "", &["eroded"], false),
    ]
}

/// The paired difference to the reference with its interval.
fn difference_to_reference(group: &Group, rows: &[&StrategySummary]) -> Option<Filled> {
    let mut made = group.comparisons.iter();
    let of_uses = made.find(|made| made.metric == ADDRESS_USE_RECALL.id && made.n > 0);
    let first = of_uses.or(group.comparisons.first())?;
    let cell = |row: &&StrategySummary| match comparison_of(group, &row.name, &first.metric) {
        Some(made) if made.difference.is_some() => difference(made).replace("0.", "."),
        Some(Comparison { verdict, .. }) => verdict.name().to_owned(),
        None => "-".to_owned(),
    };
    let reference = common_reference(&group.comparisons).unwrap_or(OWN_REFERENCE);
    let header = [
        match of_uses {
            Some(_) => "at use minus".to_owned(),
            None => "recall minus".to_owned(),
        },
        format!("{}, 95 %", clipped(reference, 13)),
    ];
    let about = match rows.iter().any(|row| row.family == Family::Idea) {
        true => {
            "The difference is taken in pairs, by group of conversations; that of an indented row is to the one which it changes."
        }
        false => "The difference is taken in pairs, by group of conversations.",
    };
    Some(Filled {
        place: 42,
        header,
        about: about.to_owned(),
        cells: rows.iter().map(cell).collect(),
    })
}

fn comparison_of<'g>(group: &'g Group, strategy: &str, metric: &str) -> Option<&'g Comparison> {
    let mut all = group.comparisons.iter();
    all.find(|made| made.strategy == strategy && made.metric == metric)
}

pub(super) fn show(strategy: &StrategySummary, metric: &Metric) -> String {
    if metric.id == COST_AGAINST_FULL.id && strategy.name == FULL {
        return COST_USD
            .value(strategy)
            .map_or("-".to_owned(), |cost| format!("${cost:.2}"));
    }
    metric
        .value(strategy)
        .map_or("-".to_owned(), |value| match metric.unit {
            MetricUnit::Share if metric.id == COST_AGAINST_FULL.id => growth(value),
            MetricUnit::Share => short_share(value),
            MetricUnit::Milliseconds => seconds(value),
            other => other.show(value),
        })
}

/// A share by which something grows, in whole per cent.
fn growth(share: f64) -> String {
    let percent = (100.0 * share).round();
    if percent == 0.0 {
        "0 %".to_owned()
    } else {
        format!("{percent:+.0} %")
    }
}

pub(super) fn with_interval(metric: Option<&MetricValue>) -> String {
    let Some(value) = metric.and_then(|metric| metric.value) else {
        return "-".to_owned();
    };
    match metric.and_then(|metric| metric.low.zip(metric.high)) {
        Some((low, high)) => format!(
            "{} {}–{}",
            short_share(value),
            short_share(low),
            short_share(high)
        ),
        None => short_share(value),
    }
}
