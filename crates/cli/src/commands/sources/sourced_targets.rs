//! The documents' own targets, with what their strategies show.

use compactometer_report::targets;

use super::desk::{RunFolder, SourcesDesk, list};
use super::sourced_row::{Finding, SourceDocument, SourceRow, SourceVerdict};

/// The threshold plan against no compaction, with the model that it names for summaries.
const CHEAP: [&str; 6] = [
    "-s",
    "threshold-summary,full",
    "--sample",
    "8",
    "--summarizer-as",
    "claude-haiku-4-5",
];

pub(super) fn rows(document: SourceDocument, desk: &mut SourcesDesk) -> Vec<SourceRow> {
    let targets = targets::ALL
        .iter()
        .filter(|target| document.is_named_in(target.source));
    targets.map(|target| row(document, target, desk)).collect()
}

fn row(
    document: SourceDocument,
    target: &targets::SourceTarget,
    desk: &mut SourcesDesk,
) -> SourceRow {
    // A hundred rounds happen in one suite only, and costs are of the model that a document names.
    let run = match document {
        SourceDocument::ProgressivePlan => desk.rounds(),
        SourceDocument::ThresholdPlan => desk.compare("cheap", &CHEAP),
        _ => desk.default_run(),
    };
    let section = target
        .source
        .split_once(", ")
        .map_or("targets", |(_, section)| section);
    let found = match &run {
        Ok(run) => verdict(document, target, run),
        Err(error) => (SourceVerdict::Fails, format!("{error:#}"), String::new()),
    };
    SourceRow::new(document, (section, target.target), found).by(desk.command())
}

/// Met where every strategy of the document that can show it meets it. A missed target is a result,
/// and one that nothing decides says why.
fn verdict(document: SourceDocument, target: &targets::SourceTarget, run: &RunFolder) -> Finding {
    let found = list(&run.summary["groups"][0]["targets"]).find(|row| row["id"] == target.id);
    let Some(found) = found else {
        return (
            SourceVerdict::Fails,
            "the run has no such target".to_owned(),
            String::new(),
        );
    };
    let (mut shown, mut met, mut open) = (Vec::new(), Vec::new(), Vec::new());
    for name in document.strategies().map(|spec| spec.name) {
        let one = &found["strategies"][name];
        if let Some(value) = one["value"].as_f64() {
            shown.push(format!("`{name}` {}", target.unit.show(value)));
        }
        met.extend(one["met"].as_bool());
        open.extend(one["reason"].as_str().map(str::to_owned));
    }
    let value = shown.join(", ");
    match (met.iter().all(|met| *met), met.is_empty()) {
        (_, true) => {
            open.dedup();
            let why = open
                .first()
                .cloned()
                .unwrap_or_else(|| "no strategy of the document shows it here".to_owned());
            (SourceVerdict::Dropped, value, format!("not decided: {why}"))
        }
        (true, false) => (SourceVerdict::Holds, value, String::new()),
        (false, false) => {
            let note = if target.note.is_empty() {
                String::new()
            } else {
                format!(": {}", target.note)
            };
            (
                SourceVerdict::Fails,
                value,
                format!("missed, as measured with a simulated model{note}"),
            )
        }
    }
}
