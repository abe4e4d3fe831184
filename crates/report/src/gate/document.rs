//! The gate's report as a document, for a pull request, a browser or a terminal: every number and
//! every changed fact.

use compactometer_text::code::code;

use super::gate_text::{about, bounds, change_line, changed, equivalence, number, power};
use super::{FateChange, GateReport, GateVerdict, MetricGate, StrategyGate};
use crate::document::{Block, Document, Fold, Inline, Table, TableRow};
use crate::phrases::models;
use crate::vocabulary;

const COLUMNS: [&str; 12] = [
    "strategy",
    "metric",
    "baseline",
    "run",
    "difference",
    "bounds",
    "p of a pass",
    "p of a regression",
    "p (Holm)",
    "conversations",
    "power",
    "verdict",
];

/// The whole report for a terminal of that many columns.
pub fn whole(report: &GateReport, columns: usize) -> String {
    document(report).terminal(columns)
}

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
    let mut table = Table::of_text(COLUMNS).numbers(2..11);
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
    (!changes.is_empty()).then(|| {
        Fold::new(
            summary,
            Block::list(changes.iter().map(|change| change_line(change, code))),
        )
    })
}

fn cells(strategy: &StrategyGate, metric: &MetricGate) -> [Inline; 12] {
    let verdict = metric.verdict.name();
    let verdict = match metric.verdict {
        GateVerdict::Regression | GateVerdict::Failed => Inline::default().strong(verdict),
        _ => verdict.into(),
    };
    let p = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.4}"));
    [
        format!("{} ({})", strategy.strategy, strategy.protocol.name()).into(),
        vocabulary::name(&metric.metric).into(),
        number(metric.baseline).into(),
        number(metric.run).into(),
        number(metric.difference).into(),
        bounds(metric).into(),
        p(metric.p_pass).into(),
        p(metric.p_regression).into(),
        p(metric.p_holm).into(),
        metric.units.to_string().into(),
        metric
            .power
            .map_or("-".to_owned(), |power| format!("{power:.2}"))
            .into(),
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
        .chain(
            report
                .strategies
                .iter()
                .flat_map(|one| lines_of(one, report.margin)),
        )
        .chain(notes)
}

fn lines_of(strategy: &StrategyGate, margin: f64) -> Vec<Inline> {
    let metrics = strategy.metrics.iter().filter_map(|metric| {
        let known = [
            metric.reason.clone(),
            equivalence(metric, margin),
            power(metric, margin),
        ];
        let known = known.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let name = vocabulary::name(&metric.metric);
        (!known.is_empty()).then(|| format!("{name}: {known}"))
    });
    let lines = changed(strategy)
        .into_iter()
        .chain(about(strategy))
        .chain(metrics);
    let name = &strategy.strategy;
    lines.map(|line| format!("{name}: {line}").into()).collect()
}
