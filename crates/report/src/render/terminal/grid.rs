//! The table of a group: rows by how their strategies work, and as many columns as the terminal has
//! room for, the most important first.

use std::collections::BTreeSet;

use compactometer_engine::strategy::approach::Approach;
use compactometer_formats::protocol::LimitsOf;
use compactometer_formats::record::Family;
use compactometer_formats::summary::{Comparison, Group, MetricValue, StrategySummary};
use compactometer_text::wrapping::{clipped, wrapped};
use serde::Serialize;

use super::Screen;
use crate::data::{FULL, RECENT_TALK, SAME_SIZE, fates};
use crate::metrics::answered::{ANSWER_RECALL, PROMPTED_ANSWER_RECALL, reader_is_too_weak};
use crate::metrics::bound::BOUND_RECALL_CORRECTED;
use crate::metrics::cost::{COST_AGAINST_FULL, COST_USD};
use crate::metrics::failures::is_marked;
use crate::metrics::recall::{ADDRESS_USE_LIFT, ADDRESS_USE_RECALL};
use crate::metrics::scores::shown_recall;
use crate::metrics::{self, Metric, MetricUnit};
use crate::numbers::{percent, points};
use crate::phrases::{row_name, seconds};
use crate::render::cases::list_address;
use crate::render::compared::OWN_REFERENCE;
use crate::summary::{changes, common_reference, in_points};
use crate::vocabulary;

/// Most rows where not all are asked for, beside changed ideas.
const ROWS: usize = 11;
/// Of these, controls that are shown beside strategies however many those are.
const CONTROLS: usize = 3;
/// Blanks between columns.
const GAP: usize = 2;
/// Characters for the columns of a page's first table.
const ROOM: usize = 48;
/// Under this width, rows are shown without what they have in common.
const NARROW: usize = 80;
/// From this width on, intervals are shown.
const WIDE: usize = 110;

/// Controls in the order in which they are shown: what keeps as much without a model, what nothing
/// loses, then the rest.
const FIRST_CONTROLS: [&str; 4] = [RECENT_TALK, SAME_SIZE[1], SAME_SIZE[0], FULL];

/// A column with the texts of all rows.
struct Filled {
    place: u8,
    header: [String; 2],
    /// What the header does not say.
    about: String,
    cells: Vec<String>,
}

/// Rows with what they have in common.
type RowsInCommon<'g> = (&'static str, Vec<&'g StrategySummary>);

/// The same, each with its name.
pub(in crate::render) type NamedRows<'g> = (&'static str, Vec<(String, &'g StrategySummary)>);

/// The lines of a table, what its columns show, and the number of rows that are left out.
pub(super) struct GridLines {
    pub(super) lines: Vec<String>,
    pub(super) key: String,
    pub(super) hidden: usize,
}

/// The table of a group.
pub(super) fn lines(group: &Group, screen: &Screen) -> GridLines {
    let (sections, hidden) = sections(group, screen.all_rows);
    let rows = sections
        .iter()
        .flat_map(|(_, rows)| rows.iter().copied())
        .collect::<Vec<_>>();
    // A narrow terminal needs its room for numbers.
    let names = names(&rows, group, (3 * screen.width / 10).max(12));
    let firsts: Vec<&str> = match screen.width < NARROW || sections.len() == 1 {
        true => vec![""; rows.len()],
        false => firsts(&sections).collect(),
    };
    let widest = |texts: &mut dyn Iterator<Item = &str>| {
        texts
            .map(|text| text.chars().count())
            .max()
            .unwrap_or_default()
    };
    let first_width = match widest(&mut firsts.iter().copied()) {
        0 => 0,
        width => width + 1,
    };
    let name_width = first_width + widest(&mut names.iter().map(String::as_str));
    let columns = that_fit(
        columns(group, &rows, screen),
        screen.width.saturating_sub(name_width),
    );
    let mut lines = [0, 1]
        .map(|line| {
            let cells = columns.iter().map(|column| &*column.header[line]);
            laid_out("", name_width, cells, &columns)
        })
        .to_vec();
    for (at, name) in names.iter().enumerate() {
        lines.push(laid_out(
            &format!("{:<first_width$}{name}", firsts[at]),
            name_width,
            columns.iter().map(|column| &*column.cells[at]),
            &columns,
        ));
    }
    let marks = marks_explained(&rows);
    lines.extend(marks.flat_map(|mark| wrapped(mark, screen.width)));
    let abouts = columns.iter().map(|column| column.about.as_str());
    let abouts = abouts.filter(|about| !about.is_empty());
    GridLines {
        key: abouts.collect::<Vec<_>>().join(" "),
        lines,
        hidden,
    }
}

/// The table that a page opens with.
#[derive(Serialize)]
pub(in crate::render) struct OpeningTable {
    pub(in crate::render) columns: Vec<String>,
    pub(in crate::render) rows: Vec<OpeningRow>,
    pub(in crate::render) note: String,
}

#[derive(Serialize)]
pub(in crate::render) struct OpeningRow {
    /// What it and the rows below have in common.
    pub(in crate::render) first: &'static str,
    pub(in crate::render) name: String,
    pub(in crate::render) is_idea: bool,
    pub(in crate::render) is_control: bool,
    pub(in crate::render) address: String,
    pub(in crate::render) cells: Vec<String>,
}

/// The columns that a narrow terminal shows, as a page's table.
pub(super) fn for_page(group: &Group) -> OpeningTable {
    let screen = Screen {
        width: NARROW,
        all_rows: false,
        all_notes: false,
    };
    let (sections, _) = sections(group, false);
    let rows = sections.iter().flat_map(|(_, rows)| rows.iter().copied());
    let rows = rows.collect::<Vec<_>>();
    let columns = that_fit(columns(group, &rows, &screen), ROOM);
    let names = names(&rows, group, usize::MAX);
    let cells = |at: usize| {
        columns
            .iter()
            .map(|column| column.cells[at].clone())
            .collect()
    };
    let lines = rows
        .iter()
        .zip(firsts(&sections))
        .enumerate()
        .map(|(at, (row, first))| OpeningRow {
            first,
            name: names[at].trim_start().to_owned(),
            is_idea: row.family == Family::Idea,
            is_control: row.family == Family::Control,
            address: list_address(group.protocol, &row.name),
            cells: cells(at),
        });
    let header = |column: &Filled| column.header.join(" ").trim().to_owned();
    let abouts = columns.iter().map(|column| column.about.as_str());
    let abouts = abouts.filter(|about| !about.is_empty());
    OpeningTable {
        columns: columns.iter().map(header).collect(),
        rows: lines.collect(),
        note: abouts.collect::<Vec<_>>().join(" "),
    }
}

/// Every row with its name, by what the rows have in common.
pub(super) fn named_sections<'g>(group: &'g Group) -> Vec<NamedRows<'g>> {
    let (sections, _) = sections(group, true);
    let named = |(first, rows): RowsInCommon<'g>| {
        let names = names(&rows, group, usize::MAX);
        (first, names.into_iter().zip(rows).collect())
    };
    sections.into_iter().map(named).collect()
}

/// What the rows have in common, at the first of them.
fn firsts<'s>(sections: &'s [RowsInCommon<'_>]) -> impl Iterator<Item = &'static str> + use<'s> {
    let of = |(name, rows): &RowsInCommon<'_>| {
        let blanks = rows.len().saturating_sub(1);
        std::iter::once(*name).chain(std::iter::repeat_n("", blanks))
    };
    sections.iter().flat_map(of)
}

/// What the marks of these rows say.
pub(in crate::render) fn marks_explained(
    rows: &[&StrategySummary],
) -> impl Iterator<Item = &'static str> + use<> {
    let marks = [
        (
            rows.iter().any(|row| is_marked(row)),
            "* not compared: over 5 % of due compactions failed, or of turns exceeded the context window",
        ),
        (
            rows.iter().any(|row| row.not_understood),
            "‡ not compared: the summarizer wrote none of the facts that it was shown, so it did not understand this prompt",
        ),
        (
            rows.iter().any(|row| row.unmetered),
            "† not compared, without costs and waits: it asks a model past the meter",
        ),
    ];
    marks
        .into_iter()
        .filter_map(|(is_there, mark)| is_there.then_some(mark))
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
        idea.map_or(row_name(row).to_owned(), |idea| format!("  {idea}"))
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
fn sections(group: &Group, all: bool) -> (Vec<RowsInCommon<'_>>, usize) {
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
        let mut first = FIRST_CONTROLS.iter();
        first
            .position(|first| *first == name)
            .unwrap_or(FIRST_CONTROLS.len())
    };
    controls.sort_by_key(|row| rank(&row.name));
    let before = group.strategies.len();
    if !all {
        keep(&mut tested, ROWS - CONTROLS.min(controls.len()), group);
        controls.truncate(ROWS.saturating_sub(recorded.len() + tested.len()));
    }
    let mut sections = vec![("recorded", recorded)];
    let (agents, tested): (Vec<_>, Vec<_>) = tested
        .into_iter()
        .partition(|row| row.family == Family::Agent);
    let (known, own): (Vec<_>, Vec<_>) = tested.into_iter().partition(|row| row.approach.is_some());
    sections.extend([("agent", agents), ("own", own)]);
    sections.extend(Approach::ALL.iter().map(|approach| {
        let name = approach.name();
        let is_of = |row: &&&StrategySummary| row.approach.as_deref() == Some(name);
        (name, known.iter().filter(is_of).copied().collect())
    }));
    for (_, rows) in &mut sections {
        with_ideas(rows, group, all);
    }
    sections.push(("no model", controls));
    let shown: usize = sections.iter().map(|(_, rows)| rows.len()).sum();
    sections.retain(|(_, rows)| !rows.is_empty());
    (sections, before - shown)
}

/// Puts the rows that change one idea behind those that they are compared with: all, or those of
/// which the change shows.
fn with_ideas<'g>(rows: &mut Vec<&'g StrategySummary>, group: &'g Group, all: bool) {
    let ideas = group.strategies.iter();
    let ideas: Vec<_> = ideas
        .filter(|row| row.family == Family::Idea && (all || !changes(group, row).is_empty()))
        .collect();
    for idea in ideas.iter().rev() {
        let base = base_of(idea, group);
        let mut places = rows.iter();
        if let Some(place) = places.position(|row| Some(row.name.as_str()) == base) {
            rows.insert(place + 1, idea);
        }
    }
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

fn columns(group: &Group, rows: &[&StrategySummary], screen: &Screen) -> Vec<Filled> {
    let mut columns = metric_columns(group, rows, screen.width >= WIDE);
    columns.extend(fates(rows));
    columns.extend(mostly(rows));
    columns.extend(difference_to_reference(group, rows));
    columns
}

/// The metrics that have a column of their own and a value in it.
fn metric_columns(group: &Group, rows: &[&StrategySummary], is_wide: bool) -> Vec<Filled> {
    let recall = shown_recall(&group.strategies);
    // Answers that are wrong with the whole conversation too would read as what a compaction lost.
    let unread = reader_is_too_weak(rows);
    let is_recording = group.protocol.limits() == LimitsOf::Recording;
    let place = |metric: &Metric| match metric.id {
        // What a program kept is judged by what its later calls needed.
        id if id == ADDRESS_USE_RECALL.id && is_recording => Some(0),
        id if group.headline_metrics.iter().any(|headline| headline == id) => Some(1),
        id if id == recall.id => BOUND_RECALL_CORRECTED.place,
        id if id == BOUND_RECALL_CORRECTED.id => None,
        _ => metric.place,
    };
    let has_values = |metric: &&Metric| {
        rows.iter().any(|row| metric.value(row).is_some())
            && !(unread && [ANSWER_RECALL.id, PROMPTED_ANSWER_RECALL.id].contains(&metric.id))
    };
    let column = |metric: &'static Metric| {
        let cell = |row: &&StrategySummary| match metric.id == recall.id && is_wide {
            true => with_interval(metric.get(row)),
            false => show(row, metric),
        };
        Some(Filled {
            place: place(metric)?,
            header: vocabulary::header(metric.id),
            about: about(metric, group),
            cells: rows.iter().map(cell).collect(),
        })
    };
    let shown = metrics::ALL.iter().filter(has_values);
    shown.filter_map(column).collect()
}

/// What the header of a metric's column does not say.
pub(in crate::render) fn about(metric: &Metric, group: &Group) -> String {
    let meaning = vocabulary::term(metric.id).map_or("", |term| term.meaning);
    let remark = group
        .latency
        .remark()
        .filter(|_| metric.unit == MetricUnit::Milliseconds && !meaning.is_empty());
    match remark {
        Some(remark) => format!("{} ({remark}).", meaning.trim_end_matches('.')),
        None => meaning.to_owned(),
    }
}

/// What is held at the end, and where the rest was lost; a transcript does not show where.
fn fates(rows: &[&StrategySummary]) -> Vec<Filled> {
    if rows.iter().all(|row| row.fates.is_empty()) {
        return Vec::new();
    }
    let column =
        |place, header: [String; 2], about: &str, fates: &[&str], of_recorded: bool| Filled {
            place,
            header,
            about: about.to_owned(),
            cells: rows
                .iter()
                .map(|row| {
                    // Requests are known where summaries are not.
                    let is_read = fates == ["dropped_unseen"] && !row.fates.is_empty();
                    let is_known = (is_read || fates::are_known(row))
                        && (of_recorded || row.family != Family::Recorded);
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
    let lost = |place, fate: &str, about: &str| {
        column(place, vocabulary::header(fate), about, &[fate], false)
    };
    vec![
        column(
            47,
            ["held", "at end"].map(str::to_owned),
            "Held at end: of all facts.",
            &["verbatim", "carried"],
            true,
        ),
        lost(55, "dropped_unseen", ""),
        lost(
            56,
            "unwritten",
            "Never read, left out, lost later: how the other facts went.",
        ),
        lost(57, "eroded", ""),
    ]
}

/// How most of the facts that are not held went.
fn mostly(rows: &[&StrategySummary]) -> Option<Filled> {
    let ways = ["dropped_unseen", "unwritten", "eroded"];
    let cell = |row: &&StrategySummary| {
        let share = |fate: &str| row.fates.get(fate).copied().unwrap_or_default();
        let most = ways
            .iter()
            .max_by(|one, other| share(one).total_cmp(&share(other)));
        let is_known = fates::are_known(row) && row.family != Family::Control;
        most.filter(|fate| is_known && share(fate) > 0.0)
            .map_or("-".to_owned(), |fate| vocabulary::name(fate))
    };
    let cells: Vec<String> = rows.iter().map(cell).collect();
    cells.iter().any(|cell| cell != "-").then(|| Filled {
        place: 41,
        header: ["lost".to_owned(), "mostly".to_owned()],
        about: "Lost mostly: left out by a summarizer that read them, never read, or lost later."
            .to_owned(),
        cells,
    })
}

/// The paired difference to the reference with its interval.
fn difference_to_reference(group: &Group, rows: &[&StrategySummary]) -> Option<Filled> {
    let mut made = group.comparisons.iter();
    let of_uses = made.find(|made| made.metric == ADDRESS_USE_RECALL.id && made.n > 0);
    let first = of_uses.or(group.comparisons.first())?;
    let cell = |row: &&StrategySummary| match comparison_of(group, &row.name, &first.metric) {
        Some(made) if made.difference.is_some() => in_points(made),
        Some(Comparison { verdict, .. }) => verdict.name().to_owned(),
        None => "-".to_owned(),
    };
    let reference = common_reference(&group.comparisons).unwrap_or(OWN_REFERENCE);
    let header = [
        match of_uses {
            Some(_) => "needed minus".to_owned(),
            None => "kept minus".to_owned(),
        },
        format!("{}, 95 %", clipped(reference, 13)),
    ];
    let about = match rows.iter().any(|row| row.family == Family::Idea) {
        true => {
            "The difference is taken in pairs, by conversation; that of an indented row is to the one which it changes."
        }
        false => "The difference is taken in pairs, by conversation.",
    };
    Some(Filled {
        place: 45,
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
            MetricUnit::Share if metric.id == ADDRESS_USE_LIFT.id => points(value),
            MetricUnit::Share => percent(value),
            MetricUnit::Usd if value < 9.995 => format!("${value:.2}"),
            MetricUnit::Usd => format!("${value:.1}"),
            // Whole seconds, so that eighty columns have room for how facts were lost.
            MetricUnit::Milliseconds if value >= 995.0 => format!("{:.0} s", value / 1_000.0),
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
    let ends = metric.and_then(|metric| metric.low.zip(metric.high));
    ends.map_or(percent(value), |(low, high)| {
        let [low, high] = [low, high].map(|end| percent(end).replace(" %", ""));
        format!("{} ({low}–{high})", percent(value))
    })
}
