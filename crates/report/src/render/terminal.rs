//! The table that a terminal shows: at most 100 columns wide, without colours.

use std::fmt::Write as _;

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use compactometer_formats::record::{Family, Protocol};
use compactometer_formats::summary::{Check, Comparison, Group, Latency, MetricValue, StrategySummary, Summary};

use super::{compared, judged, reasons, sweep};
use crate::metrics::scores::{BOUND, CORRECTED, RAW};
use crate::metrics::{
    self, ANSWER_RECALL, CONTEXT_RECALL, CONTEXT_RECALL_CORRECTED, Column, Metric, MetricUnit, PROMPTED_RECALL,
    RETRIEVED_TOKENS, STORED_SHARE, WAIT_MS_P50, is_marked,
};
use crate::render::words::{conditions, models, seconds, verdict};

/// Most characters in a line.
const WIDTH: usize = 100;

/// The numbers of every group as text.
pub fn table(summary: &Summary) -> String {
    let mut text = String::new();
    for group in &summary.groups {
        if !text.is_empty() {
            text.push('\n');
        }
        let _ = writeln!(text, "{}\n", heading(group, summary.groups.len() == 1));
        text.push_str(&grid(group));
        text.push_str(&compared(group));
        let swept = summary.sweep.as_ref().filter(|_| group.protocol == Protocol::Matched);
        text.push_str(&swept.map_or(String::new(), sweep::text));
        for finding in swept.iter().flat_map(|sweep| &sweep.findings) {
            push(&mut text, &format!("- {finding}"));
        }
        text.push_str(&below(group));
    }
    text
}

/// The protocol goes without saying where one matched group is all there is.
fn heading(group: &Group, is_alone: bool) -> String {
    let Group { suite, window, .. } = group;
    let model = models(&group.summarizer, group.target.as_deref());
    let protocol = conditions(group);
    match group.protocol {
        Protocol::Matched if is_alone => {
            format!("{suite} | summarizer {model} | window {window}")
        }
        Protocol::Matched => format!("{suite} | summarizer {model} | protocol {protocol} | window {window}"),
        Protocol::Recorded => {
            format!("{suite} | summarizer {model} | moments and sizes of the recorded compactions | window {window}")
        }
        Protocol::Published => {
            format!("{suite} | summarizer {model} | protocol {protocol} | window of controls {window}")
        }
    }
}

/// Columns before those of metrics: strategy and the fates that there is room for.
const FIRST_COLUMNS: [&str; 5] = ["", "held\n%", "\nunseen", "not\nwritten", "\neroded"];

/// The metrics that have a column of their own. Where no strategy has CR*, as in suites of few groups, CR takes its column, so
/// that the table shows what comparisons are made on.
fn columns(group: &Group) -> impl Iterator<Item = (Column, &'static Metric)> {
    let has_chance = group.strategies.iter().any(|strategy| CONTEXT_RECALL_CORRECTED.value(strategy).is_some());
    metrics::ALL.iter().filter_map(move |metric| {
        // Where no strategy has a value, the notes say why.
        let has_value = |metric: &Metric| group.strategies.iter().any(|strategy| metric.value(strategy).is_some());
        let column = metric.column.filter(|_| metric.id == CORRECTED || has_value(metric))?;
        let is_raw = metric.id == CORRECTED && !has_chance;
        Some(if is_raw { (Column { header: "CR", ..column }, &CONTEXT_RECALL) } else { (column, metric) })
    })
}

fn grid(group: &Group) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('-').junction('-')));
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(FIRST_COLUMNS.into_iter().chain(columns(group).map(|(column, _)| column.header)));
    for family in [Family::Recorded, Family::Reference, Family::Faithful, Family::Control] {
        let rows: Vec<_> = group.strategies.iter().filter(|strategy| strategy.family == family).collect();
        if family == Family::Control && !rows.is_empty() {
            table.add_row(["controls"]);
        }
        for strategy in rows {
            table.add_row(row(group, strategy));
        }
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 0));
        column.set_cell_alignment(if at == 0 { CellAlignment::Left } else { CellAlignment::Right });
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    let failing = "* over 5 % of its due compactions fail, or of its turns exceed the window: not compared\n";
    let failing = if group.strategies.iter().any(is_marked) { failing } else { "" };
    lines.join("\n") + "\n" + failing + &waits(group)
}

/// What the columns of waits show.
fn waits(group: &Group) -> String {
    if group.strategies.iter().all(|strategy| WAIT_MS_P50.value(strategy).is_none()) {
        return String::new();
    }
    let worth = match group.latency {
        Latency::Measured => "",
        Latency::Assumed => "; assumed by the mock, not measured",
        Latency::NoResult => "; the recording says that its latencies are no result",
    };
    format!("wait: of the turns that wait for a compaction or checkpoint{worth}\n")
}

fn row(group: &Group, strategy: &StrategySummary) -> Vec<Cell> {
    let fates = fates(strategy).map(|share| share.map_or("-".to_owned(), |share| format!("{:.0}", 100.0 * share)));
    let mark = if is_marked(strategy) { "*" } else { "" };
    let mut cells = vec![format!("{}{mark}", strategy.name)];
    cells.extend(fates);
    cells.extend(columns(group).map(|(column, metric)| match column.has_interval {
        true => with_interval(metric.of(strategy)),
        false => show(strategy, metric),
    }));
    cells.into_iter().map(Cell::new).collect()
}

/// Held, dropped unseen, unwritten and eroded; the page has the others. A transcript does not show where a fact was lost.
fn fates(strategy: &StrategySummary) -> [Option<f64>; 4] {
    if strategy.fates.is_empty() {
        return [None; 4];
    }
    let of = |name: &str| strategy.fates.get(name).copied().unwrap_or(0.0);
    let held = of("verbatim") + of("carried");
    if strategy.family == Family::Recorded {
        return [Some(held), None, None, None];
    }
    [held, of("dropped_unseen"), of("unwritten"), of("eroded")].map(Some)
}

fn show(strategy: &StrategySummary, metric: &Metric) -> String {
    metric.value(strategy).map_or("-".to_owned(), |value| match metric.unit {
        MetricUnit::Share => short(value),
        MetricUnit::Milliseconds => seconds(value),
        other => other.show(value),
    })
}

fn with_interval(metric: Option<&MetricValue>) -> String {
    let Some(value) = metric.and_then(|metric| metric.value) else { return "-".to_owned() };
    match metric.and_then(|metric| metric.low.zip(metric.high)) {
        Some((low, high)) => format!("{} {}–{}", short(value), short(low), short(high)),
        None => short(value),
    }
}

/// A share without its leading zero: the table is narrow.
fn short(value: f64) -> String {
    MetricUnit::Share.show(value).replacen("0.", ".", usize::from(value.abs() < 0.995))
}

/// Every strategy against the reference, one line each.
fn compared(group: &Group) -> String {
    let Some(first) = group.comparisons.first() else { return String::new() };
    let mut text =
        format!("\nminus {}, paired by unit (95 %; p by Holm; MDE: smallest found with power .80)\n", first.reference);
    let name = |made: &Comparison| match made.metric.as_str() {
        BOUND => format!("{} BR*", made.strategy),
        CORRECTED => format!("{} CR*", made.strategy),
        RAW => format!("{} CR", made.strategy),
        _ => format!("{} AR", made.strategy),
    };
    let width = group.comparisons.iter().map(|made| name(made).chars().count()).max().unwrap_or(0);
    for made in &group.comparisons {
        let (p, least) = (compared::p(made.p_holm), compared::share(made.detectable));
        let difference = compared::difference(made);
        let _ = writeln!(
            text,
            "{:<width$}  {difference:<21} p {p:<6} MDE {least:<4} G {:<3} {}",
            name(made),
            made.n,
            made.verdict.name()
        );
    }
    text
}

fn below(group: &Group) -> String {
    let named = metrics::ALL.iter().filter(|metric| metric.column.is_some());
    let metrics = reasons::lines(group, named).into_iter();
    let noted = metrics.chain(group.strategies.iter().filter_map(found_again)).chain(answered(group));
    let judged = group.judged.iter().flat_map(judged::lines).map(|line| format!("judge: {line}"));
    let failures = reasons::failures(group).into_iter().map(|line| format!("most frequent failures of {line}"));
    let noted = noted.chain(failures).chain(judged).map(|line| format!("- {line}"));
    let warnings = group.warnings.iter().map(|warning| format!("! {warning}"));
    let mut text = String::from("\n");
    noted.chain(warnings).chain(group.checks.iter().map(check_line)).for_each(|line| push(&mut text, &line));
    text
}

/// Answer recall of every strategy that has one: the grid has no room for it.
fn answered(group: &Group) -> Option<String> {
    let has = |strategy: &&StrategySummary| ANSWER_RECALL.value(strategy).is_some();
    let of = |strategy: &StrategySummary| format!("{} {}", strategy.name, with_interval(ANSWER_RECALL.of(strategy)));
    let found: Vec<String> = group.strategies.iter().filter(has).map(of).collect();
    (!found.is_empty()).then(|| format!("questions answered right from the context (AR): {}", found.join(", ")))
}

/// What a strategy stores outside its context, if it retrieves any of it.
fn found_again(strategy: &StrategySummary) -> Option<String> {
    PROMPTED_RECALL.value(strategy)?;
    let stored = 100.0 * STORED_SHARE.value(strategy).filter(|share| *share > 0.0)?;
    let [found, tokens] = [PROMPTED_RECALL, RETRIEVED_TOKENS].map(|metric| show(strategy, &metric));
    Some(format!(
        "stored, not in the context ({}): {stored:.0} % of what is out of it; with what is retrieved for a question, {tokens} tokens on \
         average, prompted recall is {found}",
        strategy.name
    ))
}

fn check_line(check: &Check) -> String {
    format!("{:<6} {}: {}", verdict(check.passed), check.name, check.detail)
}

/// Adds a line, broken at spaces to the table's width; what follows is indented.
fn push(text: &mut String, line: &str) {
    let mut length = 0;
    for word in line.split(' ') {
        let size = word.chars().count();
        if length > 0 && length + 1 + size > WIDTH {
            text.push_str("\n  ");
            length = 2;
        } else if length > 0 {
            text.push(' ');
            length += 1;
        }
        text.push_str(word);
        length += size;
    }
    text.push('\n');
}
