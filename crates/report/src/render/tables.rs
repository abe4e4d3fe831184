//! The tables of a page: the metrics by section, fates, decisions, and recall by category and kind.

use compactometer_formats::fate::Fate;
use compactometer_formats::record::Family;
use compactometer_formats::summary::{Group, StrategySummary};
use serde::Serialize;

use crate::metrics::grouped;
use crate::metrics::{self, CONTEXT_RECALL, KEYWORD_LUCK, Metric, Section};

/// One table, a row a strategy.
#[derive(Serialize)]
pub(super) struct PageTable {
    title: &'static str,
    note: &'static str,
    columns: Vec<String>,
    rows: Vec<TableRow>,
}

#[derive(Serialize)]
struct TableRow {
    name: String,
    is_control: bool,
    cells: Vec<String>,
}

/// Every table of a group, in the order in which a page shows them.
pub(super) fn of(group: &Group) -> Vec<PageTable> {
    let mut tables = vec![fates_table(group)];
    tables.extend(Section::ALL.map(|section| metrics_table(group, section)));
    tables.extend([decisions_table(group), categories_table(group), kinds_table(group)]);
    tables
}

/// Every metric, in the order of the tables.
pub(super) fn in_order() -> impl Iterator<Item = &'static Metric> {
    Section::ALL.into_iter().flat_map(of_section)
}

fn of_section(section: Section) -> impl Iterator<Item = &'static Metric> {
    metrics::ALL.iter().filter(move |metric| metric.section == section)
}

fn fates_table(group: &Group) -> PageTable {
    let occurs = |name: &&str| {
        group.strategies.iter().any(|strategy| strategy.fates.get(*name).is_some_and(|share| *share > 0.0))
    };
    let names: Vec<&str> = Fate::STATED.iter().map(|fate| fate.name()).filter(occurs).collect();
    let cells = |strategy: &StrategySummary| {
        let triggered = &strategy.triggered;
        let fired = format!("{} of {}, {} at most", triggered.conversations, triggered.of, triggered.most_rounds);
        let share =
            |name: &&str| strategy.fates.get(*name).map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        std::iter::once(fired).chain(names.iter().map(share)).collect()
    };
    PageTable {
        title: "Fates",
        note: "Where the stated facts ended, for the fates that occur, and in how many conversations a strategy compacted, with the most rounds of one.",
        columns: std::iter::once("compacted").chain(names.iter().copied()).map(str::to_owned).collect(),
        rows: rows(group, cells),
    }
}

fn metrics_table(group: &Group, section: Section) -> PageTable {
    let cells = |strategy: &StrategySummary| of_section(section).map(|metric| cell(metric, strategy)).collect();
    PageTable {
        title: section.title(),
        note: section.note(),
        columns: of_section(section).map(|metric| metric.id.to_owned()).collect(),
        rows: rows(group, cells),
    }
}

fn decisions_table(group: &Group) -> PageTable {
    const COLUMNS: [&str; 11] = [
        "applied",
        "skipped",
        "failed",
        "fell back",
        "asked again",
        "checkpoints",
        "checkpoints failed",
        "calls",
        "calls failed",
        "failures in a row",
        "unread in a row",
    ];
    let cells = |strategy: &StrategySummary| {
        let of = &strategy.decisions;
        let counts = [
            of.applied,
            of.skipped,
            of.failed,
            of.fallbacks,
            of.retries,
            of.checkpoints,
            of.checkpoints_failed,
            of.calls,
            of.calls_failed,
            of.most_failures_in_a_row,
            of.most_unread_in_a_row,
        ];
        counts.map(|count| grouped(count as f64)).to_vec()
    };
    PageTable {
        title: "Decisions",
        note: "What the engine decided in all conversations: compactions, checkpoints before a turn, calls; the longest series \
               of failures is that of one conversation.",
        columns: COLUMNS.map(str::to_owned).to_vec(),
        rows: rows(group, cells),
    }
}

fn categories_table(group: &Group) -> PageTable {
    let mut columns: Vec<String> =
        group.strategies.iter().flat_map(|strategy| strategy.by_category.keys().cloned()).collect();
    columns.sort_unstable();
    columns.dedup();
    let of = |strategy: &StrategySummary, category: &String| {
        let found = strategy.by_category.get(category).and_then(|metrics| metrics.get(CONTEXT_RECALL.id));
        found.and_then(|found| Some(format!("{:.2} (n {})", found.value?, found.n))).unwrap_or("-".to_owned())
    };
    let cells = |strategy: &StrategySummary| columns.iter().map(|category| of(strategy, category)).collect();
    let rows = rows(group, cells);
    PageTable {
        title: "Recall by category",
        note: "CR, exploratory: many small numbers, no intervals; n units.",
        columns,
        rows,
    }
}

/// Raw recall beside the rate of chance matches.
fn kinds_table(group: &Group) -> PageTable {
    let mut columns: Vec<String> =
        group.strategies.iter().flat_map(|strategy| strategy.by_kind.keys().cloned()).collect();
    columns.sort_unstable();
    columns.dedup();
    let of = |strategy: &StrategySummary, kind: &String| {
        let value = |id: &str| strategy.by_kind.get(kind).and_then(|metrics| metrics.get(id)?.value);
        let show = |id: &str| value(id).map_or("-".to_owned(), |share| format!("{share:.2}"));
        format!("{} ({})", show(CONTEXT_RECALL.id), show(KEYWORD_LUCK.id))
    };
    let cells = |strategy: &StrategySummary| columns.iter().map(|kind| of(strategy, kind)).collect();
    let rows = rows(group, cells);
    PageTable {
        title: "Recall and chance matches by value kind",
        note: "CR, not corrected, and in brackets how often values of that kind from other conversations match the same contexts.",
        columns,
        rows,
    }
}

fn rows(group: &Group, cells: impl Fn(&StrategySummary) -> Vec<String>) -> Vec<TableRow> {
    let row = |strategy: &StrategySummary| TableRow {
        name: strategy.name.clone(),
        is_control: strategy.family == Family::Control,
        cells: cells(strategy),
    };
    group.strategies.iter().map(row).collect()
}

fn cell(metric: &Metric, strategy: &StrategySummary) -> String {
    let show = |value| metric.unit.show(value);
    let Some(found) = metric.of(strategy) else { return "-".to_owned() };
    match (found.value, found.low, found.high) {
        (None, _, _) => "-".to_owned(),
        (Some(value), Some(low), Some(high)) => format!("{} [{}, {}]", show(value), show(low), show(high)),
        (Some(value), _, _) => show(value),
    }
}
