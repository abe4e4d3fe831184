//! The tables of a page: the metrics by section, fates, decisions, and recall by category and kind.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use compactometer_formats::fate::Fate;
use compactometer_formats::record::Family;
use compactometer_formats::summary::{Comparison, Decisions, Group, MetricValue, StrategySummary};

use super::cases::list_address;
use super::titled::{TitledTable, titled};
use crate::phrases::{label, seconds, slug};

use crate::data::fates::UNUSABLE;
use crate::document::TableRow;
use crate::metrics::bound::BOUND_RECALL;
use crate::metrics::chance_match::KEYWORD_LUCK;
use crate::metrics::compaction_trouble::{WAIT_MS_P50, WAIT_MS_P95};
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
pub(super) fn tables(group: &Group) -> Vec<TitledTable> {
    let mut tables = vec![fates_table(group)];
    tables.extend(MetricsSection::all().filter_map(|section| metrics_table(group, section)));
    tables.extend([
        decisions_table(group),
        categories_table(group),
        kinds_table(group),
    ]);
    tables.extend(positions_table(group));
    tables.extend(ideas_table(group));
    let mut parts = Vec::new();
    for (place, table) in tables.into_iter().enumerate() {
        for part in parted(table) {
            let id = format!("{}-table-{}", slug(group), parts.len() + 1);
            let is_open = place < OPEN;
            parts.push(TitledTable {
                id,
                is_open,
                ..part
            });
        }
    }
    parts
}

/// The table in parts that a screen has room for.
fn parted(whole: TitledTable) -> Vec<TitledTable> {
    let parts = parts(&whole.table.widths());
    if parts.len() < 2 {
        return vec![whole];
    }
    let part = |(place, columns): (usize, &Range<usize>)| TitledTable {
        title: format!("{}, part {} of {}", whole.title, place + 1, parts.len()),
        note: if place == 0 {
            whole.note.clone()
        } else {
            String::new()
        },
        table: whole.table.part(columns.clone()),
        id: String::new(),
        is_open: false,
    };
    parts.iter().enumerate().map(part).collect()
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

fn fates_table(group: &Group) -> TitledTable {
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
        |strategy| fates_cells(strategy, &names),
    )
}

fn fates_cells(strategy: &StrategySummary, fates: &[&str]) -> Vec<String> {
    let triggered = &strategy.triggered;
    let fired = format!(
        "{}/{}, {}",
        triggered.conversations, triggered.of, triggered.most_rounds
    );
    let waits = [&WAIT_MS_P50, &WAIT_MS_P95]
        .map(|metric| metric.value(strategy).map_or("-".to_owned(), seconds));
    let shares = fates.iter().map(|fate| strategy.fates.get(*fate).copied());
    let shares = shares
        .chain([STORED_SHARE.value(strategy)])
        .map(|share| share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share)));
    std::iter::once(fired).chain(waits).chain(shares).collect()
}

/// The metrics of a section that any strategy has a value of.
fn metrics_table(group: &Group, section: MetricsSection) -> Option<TitledTable> {
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
fn ideas_table(group: &Group) -> Option<TitledTable> {
    let ideas = group.strategies.iter();
    let rows = ideas
        .filter(|row| row.family == Family::Idea)
        .flat_map(|idea| {
            let made = group.comparisons.iter();
            made.filter(|made| made.strategy == idea.name)
                .map(|made| idea_row(group, idea, made))
        });
    let rows = rows.collect::<Vec<_>>();
    const NOTE: &str = "Each row is a strategy with one change beside the same strategy without it, in the same conversations.";
    let columns = IDEA_COLUMNS.map(str::to_owned);
    (!rows.is_empty()).then(|| titled("One change each", NOTE, columns, rows))
}

fn idea_row(group: &Group, idea: &StrategySummary, made: &Comparison) -> TableRow {
    let metric = metrics::ALL.iter().find(|metric| metric.id == made.metric);
    let value = |name: &str| {
        let row = group.strategies.iter().find(|row| row.name == name);
        let of_row = metric.zip(row).map(|(metric, row)| cell(metric, row));
        of_row.unwrap_or_else(|| "-".to_owned())
    };
    TableRow::new([
        idea.name.clone(),
        made.reference.clone(),
        vocabulary::name(&made.metric),
        value(&made.reference),
        value(&idea.name),
        difference(made),
        made.n.to_string(),
    ])
}

fn decisions_table(group: &Group) -> TitledTable {
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

fn categories_table(group: &Group) -> TitledTable {
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
fn kinds_table(group: &Group) -> TitledTable {
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
fn positions_table(group: &Group) -> Option<TitledTable> {
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
) -> TitledTable {
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
) -> TitledTable {
    let row = |strategy: &StrategySummary| {
        let cells = std::iter::once(label(strategy)).chain(cells(strategy));
        TableRow::new(cells)
            .with_page(list_address(group.protocol, &strategy.name))
            .of_control(strategy.family == Family::Control)
    };
    titled(title, note, columns, group.strategies.iter().map(row))
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
