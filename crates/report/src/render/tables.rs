//! The tables of a page: which metrics stand together, and what is counted beside them.

use compactometer_formats::fate::Fate;
use compactometer_formats::record::Family;
use compactometer_formats::summary::{Group, MetricValue, StrategySummary};
use serde::Serialize;

use crate::metrics;
use crate::metrics::grouped;

/// One table, a row a strategy.
#[derive(Serialize)]
pub(super) struct Table {
    title: &'static str,
    note: &'static str,
    columns: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    is_control: bool,
    cells: Vec<String>,
}

/// Every table of a group, in the order in which a page shows them.
pub(super) fn of(group: &Group) -> Vec<Table> {
    let mut tables = vec![fates_table(group)];
    tables.extend(TABLES.iter().map(|(title, note, ids)| metrics_table(group, title, note, ids)));
    tables.extend([decisions_table(group), categories_table(group), kinds_table(group)]);
    tables
}

/// The ids of every metric that stands in a table.
pub(super) fn metric_ids() -> Vec<&'static str> {
    TABLES.iter().flat_map(|(_, _, ids)| *ids).copied().collect()
}

/// Which metrics stand together, and what to know of them.
const TABLES: &[(&str, &str, &[&str])] = &[
    (
        "Recall",
        "Shares of 1 with 95 % intervals over units. A replay measures what contexts hold, not whether a task succeeds.",
        &[
            "context_recall",
            "context_recall_corrected",
            "lift",
            "selection_lift",
            "needed_at_use_recall",
            "keyword_luck",
        ],
    ),
    (
        "Answers to questions",
        "One call per probe on a copy of the session, from the context alone; `closed_book` and the correction take `null` for a \
         reader without the conversation. Under a mock all of this depends on the mock: shown with its intervals, unranked.",
        &[
            "answer_recall",
            "answer_recall_corrected",
            "prompted_answer_recall",
            "answered_given_present",
            "answered_given_absent",
            "closed_book",
            "order",
        ],
    ),
    (
        "Answers that are not right",
        "A wrong value stands apart from none. Failed calls are misses of recall and abstention, and in no other rate here.",
        &[
            "wrong_value_rate",
            "staleness",
            "contradiction",
            "hallucination",
            "false_abstention",
            "abstention",
            "failed_probes",
            "cut_answers",
        ],
    ),
    (
        "Survival",
        "Facts since the compaction in which their last original left; `cliff` counts rounds. The picture shows the curves.",
        &["survival_first_round", "drift", "cliff"],
    ),
    (
        "Found again when asked",
        "What a strategy retrieves for the question of each eligible fact, within the retained budget, counts as well; no \
         model is called. `prompted_recall` is over facts with a question alone.",
        &["prompted_recall", "prompted_recall_corrected", "retrieved_tokens"],
    ),
    (
        "Stages of a summary",
        "Of the facts whose last original left: read by a summarizer, then written, then in the new context.",
        &["reached", "written", "kept"],
    ),
    (
        "Answers of the summarizer",
        "Failed calls count as misses. `summary.json` has the rungs and reasons.",
        &["is_summary", "extraction_success", "fields_populated"],
    ),
    (
        "Size, validity and waiting",
        "Waiting is over all turns, most of which wait for nothing.",
        &["tokens_retained", "compression_ratio", "request_validity", "added_latency_ms_p50", "added_latency_ms_p95"],
    ),
    (
        "Cost",
        "US dollars per conversation, compaction and checkpoint calls included, what asking the questions costs \
         apart, where turns without a time follow each other by \
         10 s; `10min`: by ten minutes, longer than most caches live.",
        &[
            "cost_usd",
            "cost_usd_10min",
            "cost_usd_compaction",
            "cost_usd_checkpoint",
            "cost_usd_probes",
            "cost_saving",
            "cost_saving_10min",
            "break_even_turns",
            "cache_hit_rate",
        ],
    ),
    ("Storage", "What a session's records take, uncompressed.", &["storage_bytes"]),
];

fn fates_table(group: &Group) -> Table {
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
    Table {
        title: "Fates",
        note: "Where the stated facts ended, for the fates that occur, and in how many conversations a strategy compacted, with the most rounds of one.",
        columns: std::iter::once("compacted").chain(names.iter().copied()).map(str::to_owned).collect(),
        rows: rows(group, cells),
    }
}

fn metrics_table(group: &Group, title: &'static str, note: &'static str, ids: &[&str]) -> Table {
    let cells = |strategy: &StrategySummary| ids.iter().map(|id| cell(strategy.metrics.get(*id), id)).collect();
    Table { title, note, columns: ids.iter().map(|id| (*id).to_owned()).collect(), rows: rows(group, cells) }
}

fn decisions_table(group: &Group) -> Table {
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
    Table {
        title: "Decisions",
        note: "What the engine decided in all conversations: compactions, checkpoints before a turn, calls; the longest series \
               of failures is that of one conversation.",
        columns: COLUMNS.map(str::to_owned).to_vec(),
        rows: rows(group, cells),
    }
}

fn categories_table(group: &Group) -> Table {
    let mut columns: Vec<String> =
        group.strategies.iter().flat_map(|strategy| strategy.by_category.keys().cloned()).collect();
    columns.sort_unstable();
    columns.dedup();
    let of = |strategy: &StrategySummary, category: &String| {
        let found = strategy.by_category.get(category).and_then(|metrics| metrics.get("context_recall"));
        found.and_then(|found| Some(format!("{:.2} (n {})", found.value?, found.n))).unwrap_or("-".to_owned())
    };
    let cells = |strategy: &StrategySummary| columns.iter().map(|category| of(strategy, category)).collect();
    let rows = rows(group, cells);
    Table {
        title: "Recall by category",
        note: "CR, exploratory: many small numbers, no intervals; n units.",
        columns,
        rows,
    }
}

/// Raw recall beside what it would be by luck.
fn kinds_table(group: &Group) -> Table {
    let mut columns: Vec<String> =
        group.strategies.iter().flat_map(|strategy| strategy.by_kind.keys().cloned()).collect();
    columns.sort_unstable();
    columns.dedup();
    let of = |strategy: &StrategySummary, kind: &String| {
        let value = |id: &str| strategy.by_kind.get(kind).and_then(|metrics| metrics.get(id)?.value);
        let show = |id: &str| value(id).map_or("-".to_owned(), |share| format!("{share:.2}"));
        format!("{} ({})", show("context_recall"), show("keyword_luck"))
    };
    let cells = |strategy: &StrategySummary| columns.iter().map(|kind| of(strategy, kind)).collect();
    let rows = rows(group, cells);
    Table {
        title: "Recall and keyword luck by value kind",
        note: "CR, not corrected, and in brackets how often values of that kind from other conversations match the same contexts.",
        columns,
        rows,
    }
}

fn rows(group: &Group, cells: impl Fn(&StrategySummary) -> Vec<String>) -> Vec<Row> {
    let row = |strategy: &StrategySummary| Row {
        name: strategy.name.clone(),
        is_control: strategy.family == Family::Control,
        cells: cells(strategy),
    };
    group.strategies.iter().map(row).collect()
}

fn cell(value: Option<&MetricValue>, id: &str) -> String {
    let (Some(found), Some(metric)) = (value, metrics::find(id)) else { return "-".to_owned() };
    let Some(value) = found.value else { return "-".to_owned() };
    match (found.low, found.high) {
        (Some(low), Some(high)) => {
            format!("{} [{}, {}]", metric.unit.show(value), metric.unit.show(low), metric.unit.show(high))
        }
        _ => metric.unit.show(value),
    }
}
