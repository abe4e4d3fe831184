//! What people read: one set of texts and tables, as HTML and as Markdown.

use compactometer_formats::manifest::Manifest;
use compactometer_formats::protocol::LimitsOf;
use compactometer_formats::summary::{Check, Group, Summary, Sweep};
use compactometer_text::shell::shell_word;
use serde_json::{Value, json};

use super::cases::WrittenCases;
use super::{compared, judged, reasons, sweep, tables, targets, terminal};
use crate::metrics::{self, Metric};
use crate::numbers::grouped;
use crate::phrases::{conditions, slug, verdict};
use crate::vocabulary;

/// Everything that a page shows; `pictures` are those of each group, and `cases` what it can lead
/// to.
pub(super) fn values(
    manifest: &Manifest,
    summary: &Summary,
    pictures: Vec<Vec<Value>>,
    cases: Option<&WrittenCases>,
) -> Value {
    let of_group = |(group, plots): (&Group, Vec<Value>)| {
        of_group(
            group,
            summary
                .sweep
                .as_ref()
                .filter(|_| group.protocol.has_limits_of_run()),
            &plots,
        )
    };
    json!({
        "title": format!("Compaction report: {}", manifest.suite),
        "opening": summary.groups.first().map(terminal::opening),
        "shows": summary.findings,
        "run": run_facts(manifest),
        "has_cases": cases.is_some(),
        "cases_note": cases.and_then(WrittenCases::note),
        "sections": Value::from_iter(summary.groups.iter().zip(pictures).map(of_group).enumerate().map(|(at, mut section)| {
            section["is_first"] = (at == 0).into();
            section
        })),
        "definitions": metrics::ALL.iter().map(definition).collect::<Vec<_>>(),
        "command": shell(&manifest.command),
    })
}

fn of_group(group: &Group, swept: Option<&Sweep>, plots: &[Value]) -> Value {
    let swept_table = swept.map(|sweep| tables::with_address(sweep::table(sweep), "sweep"));
    let tables = tables::tables(group).into_iter().chain(swept_table);
    json!({
        // The anchor.
        "id": slug(group),
        "heading": format!("Protocol {}", conditions(group)),
        "warnings": group.warnings,
        "findings": swept.map_or(&[][..], |sweep| &sweep.findings),
        "tables": tables.collect::<Vec<_>>(),
        "reasons": reasons::lines(group, tables::in_order()),
        "failures": reasons::failures(group),
        "plots": plots,
        "compared": compared::table(group),
        "judged": group.judged.as_ref().map_or(Vec::new(), judged::lines),
        "targets": targets::table(group),
        "has_failed": group.checks.iter().any(|check| check.passed == Some(false)),
        "checks": checks(group),
    })
}

fn checks(group: &Group) -> Value {
    let row = |check: &Check| json!([verdict(check.passed), check.name, check.detail]);
    group.checks.iter().map(row).collect()
}

pub(super) fn run_facts(manifest: &Manifest) -> Vec<(&'static str, String)> {
    let tokens = |count: u32| format!("{} tokens", grouped(f64::from(count)));
    let protocols = manifest
        .protocols
        .iter()
        .map(|protocol| protocol.name())
        .collect::<Vec<_>>()
        .join(", ");
    let retained = std::iter::once(&manifest.retained).chain(&manifest.sweep);
    let mut facts = vec![
        (
            "suite",
            format!("{} ({})", manifest.suite, manifest.suite_hash),
        ),
        (
            "conversations",
            format!(
                "{}, of which {} are independent",
                manifest.conversations, manifest.groups
            ),
        ),
        ("replays", manifest.cases.to_string()),
        ("summarizer", manifest.summarizer.clone()),
        ("protocol", protocols),
    ];
    let sets = |limits: LimitsOf| {
        manifest
            .protocols
            .iter()
            .any(|protocol| protocol.limits() == limits)
    };
    if sets(LimitsOf::Strategy) {
        let limits = format!(
            "multiplied by {}; the limits below are those of the matched protocol and of controls",
            manifest.scale
        );
        facts.push(("published limits", limits));
    }
    if sets(LimitsOf::Recording) {
        let limits = "moments and sizes of the recorded compactions; the limits below are the largest of them";
        facts.push(("recorded limits", limits.to_owned()));
    }
    facts.extend([
        ("context window", tokens(manifest.window)),
        ("trigger", tokens(manifest.trigger)),
        (
            "retained budget",
            retained
                .map(|most| tokens(*most))
                .collect::<Vec<_>>()
                .join(", "),
        ),
        ("measuring counter", manifest.tokenizer.clone()),
        ("settings", manifest.settings_hash.clone()),
        ("prices", manifest.prices_hash.clone()),
        ("seed", manifest.seed.to_string()),
        (
            "program",
            format!(
                "compactometer {}, commit {}",
                manifest.program, manifest.commit
            ),
        ),
    ]);
    facts.extend(
        manifest
            .target
            .clone()
            .map(|target| ("target model", target)),
    );
    facts.extend(
        manifest
            .checkpointer
            .clone()
            .map(|checkpointer| ("checkpointer", checkpointer)),
    );
    facts.extend(manifest.judge.clone().map(|judge| ("judge", judge)));
    facts
}

/// Name, id, unit, better, definition and chapter.
fn definition(metric: &Metric) -> [String; 6] {
    let [id, unit, better, definition, chapter] = [
        metric.id,
        metric.unit.name(),
        metric.better.name(),
        metric.definition,
        metric.chapter,
    ]
    .map(str::to_owned);
    [vocabulary::name(&id), id, unit, better, definition, chapter]
}

/// A command line as a shell reads it.
pub(super) fn shell(command: &[String]) -> String {
    let words = command.iter().map(|word| shell_word(word));
    words.collect::<Vec<_>>().join(" ")
}
