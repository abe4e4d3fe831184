//! The gate's report as a document, for a pull request or a browser: every number and every changed
//! fact.

use compactometer_text::code::code;

use super::gate_text::{about, bounds, changed, fates, number, short};
use super::{FateChange, GateReport, GateVerdict, MetricGate, StrategyGate};
use crate::document::{Block, Document, Fold, Inline, Table, TableRow};
use crate::phrases::models;
use crate::vocabulary;

const COLUMNS: [&str; 12] = [
    "strategy",
    "protocol",
    "metric",
    "baseline",
    "run",
    "difference",
    "bounds",
    "p (Holm)",
    "conversations",
    "power",
    "equivalent",
    "verdict",
];

/// The report as Markdown.
pub fn markdown(report: &GateReport) -> String {
    document(report).markdown(2)
}

/// The report as a page of HTML that needs no other file.
///
/// # Errors
/// Where the template of pages does not render.
pub fn html(report: &GateReport) -> Result<String, minijinja::Error> {
    document(report).html()
}

fn document(report: &GateReport) -> Document {
    let mut document = Document::new(format!("Recall gate: {}", report.verdict.name()));
    let model = models(&report.model, report.target.as_deref());
    let what = format!(
        "Suite {}, summarizer {model}, margin {}.",
        report.suite, report.margin
    );
    document.add(Block::Paragraph(what.into()));
    let mut table = Table::of_text(COLUMNS).numbers(3..10);
    for strategy in &report.strategies {
        for metric in &strategy.metrics {
            table.add(TableRow::new(cells(strategy, metric)));
        }
    }
    document.add(Block::Table(table));
    document.extend(Block::list(lines(report)));
    for strategy in &report.strategies {
        let lost = changes(strategy, "newly lost", &strategy.newly_lost);
        let kept = changes(strategy, "newly kept", &strategy.newly_kept);
        document.extend(lost.into_iter().chain(kept).map(Block::Fold));
    }
    document
}

/// Facts whose fate changed; nothing without any.
fn changes(strategy: &StrategyGate, what: &str, changes: &[FateChange]) -> Option<Fold> {
    let summary = format!("{}: {} facts {what}", strategy.strategy, changes.len());
    (!changes.is_empty()).then(|| Fold::new(summary, Block::list(changes.iter().map(change))))
}

fn cells(strategy: &StrategyGate, metric: &MetricGate) -> [Inline; 12] {
    let verdict = metric.verdict.name();
    let verdict = match metric.verdict {
        GateVerdict::Regression | GateVerdict::Failed => Inline::default().strong(verdict),
        _ => verdict.into(),
    };
    let equivalent = match metric.equivalent {
        None => "-",
        Some(true) => "yes",
        Some(false) => "not shown",
    };
    let power = metric.power;
    [
        strategy.strategy.as_str().into(),
        strategy.protocol.name().into(),
        vocabulary::name(&metric.metric).into(),
        number(metric.baseline).into(),
        number(metric.run).into(),
        number(metric.difference).into(),
        bounds(metric).into(),
        number(metric.p_holm).into(),
        metric.units.to_string().into(),
        power
            .map_or("-".to_owned(), |power| format!("{power:.2}"))
            .into(),
        equivalent.into(),
        verdict,
    ]
}

/// Failed checks, what is said of each strategy, and notes.
fn lines(report: &GateReport) -> impl Iterator<Item = Inline> {
    let failed = report
        .checks
        .iter()
        .filter(|check| check.passed == Some(false));
    let failed = failed.map(|check| {
        let what = format!(": {}: {}", check.name, check.detail);
        Inline::default().strong("hard check failed").text(what)
    });
    let notes = report.notes.iter().map(|note| Inline::from(note.as_str()));
    failed
        .chain(report.strategies.iter().flat_map(lines_of))
        .chain(notes)
}

fn lines_of(strategy: &StrategyGate) -> Vec<Inline> {
    let reasons = strategy.metrics.iter().filter_map(|metric| {
        let name = vocabulary::name(&metric.metric);
        Some(format!("{name}: {}", metric.reason.as_ref()?))
    });
    let lines = changed(strategy)
        .into_iter()
        .chain(about(strategy))
        .chain(reasons);
    let name = &strategy.strategy;
    lines.map(|line| format!("{name}: {line}").into()).collect()
}

fn change(change: &FateChange) -> Inline {
    let [scenario, fact] = [&change.scenario, &change.fact].map(|id| code(id));
    let stated = change.stated.as_ref().map(|stated| {
        let [value, subject] = [&stated.value, &stated.subject].map(|text| short(text));
        format!("{} ({subject}), ", code(&value))
    });
    let stated = stated.unwrap_or_default();
    format!("{stated}{scenario} {fact}: {}", fates(change)).into()
}
