//! The tables of a page: the metrics by section, fates, decisions, and recall by category and kind.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use compactometer_formats::fate::Fate;
use compactometer_formats::record::Family;
use compactometer_formats::summary::{Comparison, Decisions, Group, MetricValue, StrategySummary};
use serde_json::{Value, json};

use super::cases::list_address;
use crate::phrases::{label, seconds, slug};

use crate::data::fates::UNUSABLE;
use crate::metrics::bound::BOUND_RECALL;
use crate::metrics::chance_match::KEYWORD_LUCK;
use crate::metrics::compactions::{WAIT_MS_P50, WAIT_MS_P95};
use crate::metrics::recall::CONTEXT_RECALL;
use crate::metrics::storage::STORED_SHARE;
use crate::metrics::{self, Metric, MetricsSection};
use crate::numbers::grouped;
use crate::summary::difference;
use crate::vocabulary;

/// Tables that a page opens with; it folds the others.
const OPEN: usize = 1;
/// Most columns of a table beside the strategy's name.
const COLUMNS: usize = 11;
/// Characters that these columns have room for at 1,440 pixels.
const LETTERS: usize = 150;
/// Of the table of changes, beside the changed strategy.
const IDEA_COLUMNS: [&str; 6] = [
    "in place of",
    "measured",
    "without the change",
    "with it",
    "difference",
    "conversations",
];
/// Characters of the room around a cell, and least ones of a column.
const BLANK: usize = 3;
const LEAST: usize = 8;

/// Every table of a group, in the order in which a page shows them, each with an address.
pub(super) fn tables(group: &Group) -> Vec<Value> {
    let mut tables = vec![fates_table(group)];
    tables.extend(MetricsSection::all().filter_map(|section| metrics_table(group, section)));
    tables.extend([
        decisions_table(group),
        categories_table(group),
        kinds_table(group),
    ]);
    tables.extend(positions_table(group));
    tables.extend(ideas_table(group));
    let open = |(at, table): (usize, &Value)| {
        let parts = parted(table).into_iter();
        parts.map(move |mut part| {
            part["is_open"] = (at < OPEN).into();
            part
        })
    };
    let parts = tables.iter().enumerate().flat_map(open).enumerate();
    parts
        .map(|(at, table)| with_address(table, &format!("{}-table-{}", slug(group), at + 1)))
        .collect()
}

pub(super) fn with_address(mut table: Value, address: &str) -> Value {
    table["id"] = address.into();
    if table["heading"].is_null() {
        table["heading"] = table["title"].clone();
    }
    table
}

/// The table in parts that a screen has room for.
fn parted(table: &Value) -> Vec<Value> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (columns, rows) = (list(&table["columns"]), list(&table["rows"]));
    let parts = parts(&widths(columns.len(), &rows));
    let part = |(at, range): (usize, &Range<usize>)| {
        let row = |row: &Value| {
            let cells = list(&row["cells"]);
            json!({"name": row["name"], "address": row["address"], "is_control": row["is_control"], "cells": cells[range.clone()]})
        };
        let title = table["title"].as_str().unwrap_or_default();
        let (heading, is_continued) = (&table["title"], at > 0);
        let title = if parts.len() > 1 {
            format!("{title}, part {} of {}", at + 1, parts.len())
        } else {
            title.to_owned()
        };
        let note = if at == 0 {
            table["note"].clone()
        } else {
            "".into()
        };
        let rows = rows.iter().map(row).collect::<Vec<_>>();
        json!({
            "title": title, "heading": heading, "is_continued": is_continued, "note": note,
            "columns": columns[range.clone()], "rows": rows,
        })
    };
    if columns.is_empty() {
        vec![table.clone()]
    } else {
        parts.iter().enumerate().map(part).collect()
    }
}

/// Characters of each column's longest cell; a header is broken.
fn widths(columns: usize, rows: &[Value]) -> Vec<usize> {
    let letters = |row: &Value, at: usize| {
        row["cells"][at]
            .as_str()
            .map_or(0, |cell| cell.chars().count())
    };
    (0..columns)
        .map(|at| {
            rows.iter()
                .map(|row| letters(row, at))
                .max()
                .unwrap_or_default()
        })
        .collect()
}

/// Columns that stand together: as many as a screen holds.
fn parts(widths: &[usize]) -> Vec<Range<usize>> {
    let mut parts = Vec::<Range<usize>>::new();
    let mut used = 0;
    for (at, width) in widths.iter().enumerate() {
        let width = width.max(&LEAST) + BLANK;
        match parts.last_mut() {
            Some(last) if last.len() < COLUMNS && used + width <= LETTERS => {
                last.end = at + 1;
                used += width;
            }
            _ => {
                parts.push(at..at + 1);
                used = width;
            }
        }
    }
    parts
}

/// Every metric, in the order of the tables.
pub(super) fn in_order() -> impl Iterator<Item = &'static Metric> {
    MetricsSection::all().flat_map(of_section)
}

fn of_section(section: MetricsSection) -> impl Iterator<Item = &'static Metric> {
    metrics::ALL
        .iter()
        .filter(move |metric| metric.section == section)
}

fn fates_table(group: &Group) -> Value {
    let occurs = |name: &&str| {
        group
            .strategies
            .iter()
            .any(|strategy| strategy.fates.get(*name).is_some_and(|share| *share > 0.0))
    };
    let names: Vec<&str> = Fate::STATED
        .iter()
        .map(|fate| fate.name())
        .chain([UNUSABLE])
        .filter(occurs)
        .collect();
    let cells = |strategy: &StrategySummary| {
        let triggered = &strategy.triggered;
        let fired = format!(
            "{}/{}, {}",
            triggered.conversations, triggered.of, triggered.most_rounds
        );
        let share = |name: &&str| {
            strategy
                .fates
                .get(*name)
                .map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share))
        };
        let stored = STORED_SHARE
            .value(strategy)
            .map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
        let waits = [&WAIT_MS_P50, &WAIT_MS_P95]
            .map(|metric| metric.value(strategy).map_or("-".to_owned(), seconds));
        std::iter::once(fired)
            .chain(waits)
            .chain(names.iter().map(share))
            .chain([stored])
            .collect()
    };
    let remark = group
        .latency
        .remark()
        .map_or(String::new(), |remark| format!(" ({remark})"));
    let waits = [&WAIT_MS_P50, &WAIT_MS_P95]
        .map(|metric| format!("{}{remark}", vocabulary::name(metric.id)));
    const NOTE: &str = "In how many conversations a strategy compacted, with the most rounds of one; how long a turn waits for a \
                        compaction or checkpoint, if it waits; and where the stated facts ended, for the fates that occur. \
                        Context unusable: it exceeded its limit, or a compaction that was due had failed, so it counts \
                        as empty. Last: of what is out of the context, the share that storage still holds.";
    table(
        group,
        "Fates and waits",
        NOTE,
        ["compacted, rounds"]
            .into_iter()
            .map(str::to_owned)
            .chain(waits)
            .chain(names.iter().map(|name| vocabulary::name(name)))
            .chain(["out, still stored".to_owned()]),
        cells,
    )
}

/// The metrics of a section that any strategy has a value of.
fn metrics_table(group: &Group, section: MetricsSection) -> Option<Value> {
    let is_defined = |metric: &&Metric| {
        group
            .strategies
            .iter()
            .any(|strategy| metric.value(strategy).is_some())
    };
    let shown = of_section(section).filter(is_defined).collect::<Vec<_>>();
    let cells =
        |strategy: &StrategySummary| shown.iter().map(|metric| cell(metric, strategy)).collect();
    let (title, note) = section.heading();
    (!shown.is_empty()).then(|| {
        table(
            group,
            title,
            note,
            shown.iter().map(|metric| vocabulary::name(metric.id)),
            cells,
        )
    })
}

/// What one change to a strategy does, where the run has rows that differ in one.
fn ideas_table(group: &Group) -> Option<Value> {
    let row = |idea: &StrategySummary, made: &Comparison| {
        let metric = metrics::ALL.iter().find(|metric| metric.id == made.metric);
        let value = |name: &str| {
            let row = group.strategies.iter().find(|row| row.name == name);
            let of_row = metric.zip(row).map(|(metric, row)| cell(metric, row));
            of_row.unwrap_or_else(|| "-".to_owned())
        };
        json!({"name": idea.name, "is_control": false, "cells": [
            made.reference, vocabulary::name(&made.metric), value(&made.reference), value(&idea.name),
            difference(made), made.n.to_string(),
        ]})
    };
    let ideas = group.strategies.iter();
    let rows = ideas
        .filter(|row| row.family == Family::Idea)
        .flat_map(|idea| {
            let made = group.comparisons.iter();
            made.filter(|made| made.strategy == idea.name)
                .map(|made| row(idea, made))
        });
    let rows = rows.collect::<Vec<_>>();
    (!rows.is_empty()).then(|| {
        json!({
            "title": "One change each", "columns": IDEA_COLUMNS, "rows": rows,
            "note": "Each row is a strategy with one change beside the same strategy without it, in the same conversations.",
        })
    })
}

fn decisions_table(group: &Group) -> Value {
    const NOTE: &str = "What the engine decided in all conversations: compactions, checkpoints before a turn, calls; the longest \
                        series of failures is that of one conversation.";
    let cells = |strategy: &StrategySummary| {
        decisions(&strategy.decisions)
            .map(|(_, count)| grouped(count as f64))
            .to_vec()
    };
    table(
        group,
        "Decisions",
        NOTE,
        decisions(&Decisions::default()).map(|(name, _)| name.to_owned()),
        cells,
    )
}

fn decisions(of: &Decisions) -> [(&'static str, usize); 11] {
    [
        ("applied", of.applied),
        ("skipped", of.skipped),
        ("failed", of.failed),
        ("fell back", of.fallbacks),
        ("asked again", of.retries),
        ("checkpoints", of.checkpoints),
        ("checkpoints failed", of.checkpoints_failed),
        ("calls", of.calls),
        ("calls failed", of.calls_failed),
        ("failures in a row", of.most_failures_in_a_row),
        ("unread in a row", of.most_unread_in_a_row),
    ]
}

fn categories_table(group: &Group) -> Value {
    const NOTE: &str =
        "Values kept with chance; exploratory: many small numbers, no intervals; n conversations.";
    let cell = |category: Option<&Metrics>| {
        let found = category.and_then(|metrics| metrics.get(CONTEXT_RECALL.id));
        found
            .and_then(|found| Some(format!("{:.2} (n {})", found.value?, found.n)))
            .unwrap_or("-".to_owned())
    };
    table_of_kinds(
        group,
        "Recall by category",
        NOTE,
        |strategy| &strategy.by_category,
        cell,
    )
}

/// Raw recall beside the rate of chance matches.
fn kinds_table(group: &Group) -> Value {
    const NOTE: &str = "Values kept with chance, and in brackets how often values of that kind from other conversations match the same \
                        contexts.";
    let cell = |kind: Option<&Metrics>| {
        let value = |id: &str| kind.and_then(|metrics| metrics.get(id)?.value);
        let show = |id: &str| value(id).map_or("-".to_owned(), |share| format!("{share:.2}"));
        format!("{} ({})", show(CONTEXT_RECALL.id), show(KEYWORD_LUCK.id))
    };
    table_of_kinds(
        group,
        "Recall and chance matches by value kind",
        NOTE,
        |strategy| &strategy.by_kind,
        cell,
    )
}

/// A column for each fifth of the conversation; nothing where no record says which messages state
/// its facts.
fn positions_table(group: &Group) -> Option<Value> {
    const NOTE: &str = "Values kept with chance, of the facts that each fifth of a conversation's messages first states, and in brackets facts kept with chance, where \
                        facts have subjects; exploratory: no intervals; n conversations.";
    const FIFTHS: [&str; 5] = ["first fifth", "second", "third", "fourth", "last fifth"];
    group
        .strategies
        .iter()
        .any(|strategy| !strategy.by_position.is_empty())
        .then(|| {
            let cells = |strategy: &StrategySummary| {
                (0..FIFTHS.len())
                    .map(|fifth| position_cell(strategy.by_position.get(fifth)))
                    .collect()
            };
            table(
                group,
                "Recall by position",
                NOTE,
                FIFTHS.map(str::to_owned),
                cells,
            )
        })
}

fn position_cell(row: Option<&Metrics>) -> String {
    let of = |id: &str| {
        row.and_then(|metrics| metrics.get(id))
            .filter(|found| found.value.is_some())
    };
    let show = |found: Option<&MetricValue>| {
        found
            .and_then(|found| found.value)
            .map(|value| format!("{value:.2}"))
    };
    let Some(context) = of(CONTEXT_RECALL.id) else {
        return "-".to_owned();
    };
    let bound = show(of(BOUND_RECALL.id)).map_or(String::new(), |share| format!(" ({share})"));
    format!(
        "{}{bound} (n {})",
        show(Some(context)).unwrap_or_default(),
        context.n
    )
}

/// Metrics by id.
type Metrics = BTreeMap<String, MetricValue>;

/// A column for each kind of fact that any strategy has.
fn table_of_kinds(
    group: &Group,
    title: &str,
    note: &str,
    of: impl Fn(&StrategySummary) -> &BTreeMap<String, Metrics>,
    cell: impl Fn(Option<&Metrics>) -> String,
) -> Value {
    let kinds: BTreeSet<&str> = group
        .strategies
        .iter()
        .flat_map(|strategy| of(strategy).keys().map(String::as_str))
        .collect();
    let cells = |strategy: &StrategySummary| {
        kinds
            .iter()
            .map(|kind| cell(of(strategy).get(*kind)))
            .collect()
    };
    table(
        group,
        title,
        note,
        kinds.iter().map(|kind| (*kind).to_owned()),
        cells,
    )
}

/// A row for each strategy.
fn table(
    group: &Group,
    title: &str,
    note: &str,
    columns: impl IntoIterator<Item = String>,
    cells: impl Fn(&StrategySummary) -> Vec<String>,
) -> Value {
    let row = |strategy: &StrategySummary| {
        let is_control = strategy.family == Family::Control;
        let address = list_address(group.protocol, &strategy.name);
        json!({"name": label(strategy), "address": address, "is_control": is_control, "cells": cells(strategy)})
    };
    let (columns, rows) = (
        Value::from_iter(columns),
        Value::from_iter(group.strategies.iter().map(row)),
    );
    json!({"title": title, "note": note, "columns": columns, "rows": rows})
}

fn cell(metric: &Metric, strategy: &StrategySummary) -> String {
    let show = |value| metric.unit.show(value);
    let Some(found) = metric.get(strategy) else {
        return "-".to_owned();
    };
    match (found.value, found.low, found.high) {
        (None, _, _) => "-".to_owned(),
        (Some(value), Some(low), Some(high)) => {
            format!("{} [{}, {}]", show(value), show(low), show(high))
        }
        (Some(value), _, _) => show(value),
    }
}
