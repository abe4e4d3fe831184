//! The sources' targets as a page and a terminal show them.

use compactometer_formats::summary::{Found, Group, Summary, Target};
use compactometer_text::wrapping::wrapped;
use serde::Serialize;

use super::reasons::by_reason;
use crate::phrases::conditions;
use crate::summary::targets::{self, SourceTarget};

/// The sources' own targets.
#[derive(Serialize)]
pub(super) struct TargetsTable {
    pub(super) strategies: Vec<String>,
    /// A target, its source, and what is found of each strategy.
    pub(super) rows: Vec<(String, String, Vec<String>)>,
    pub(super) notes: Vec<String>,
}

/// One row each with its source, one column a strategy.
pub(super) fn table(group: &Group) -> TargetsTable {
    let tested = group.targets.first().map(|first| &first.strategies);
    let names = group
        .strategies
        .iter()
        .map(|strategy| strategy.name.clone());
    let strategies = names.filter(|name| tested.is_some_and(|tested| tested.contains_key(name)));
    let strategies = strategies.collect::<Vec<_>>();
    let (mut notes, mut rows) = (Vec::new(), Vec::new());
    for (row, target) in group.targets.iter().zip(targets::ALL) {
        let found = strategies.iter().map(|name| row.strategies.get(name));
        let cells = found
            .clone()
            .map(|found| found.map_or(String::new(), |found| target_cell(target, found)));
        rows.push((row.target.clone(), row.source.clone(), cells.collect()));
        let note = Some(row.note.clone()).filter(|note| !note.is_empty());
        let reasons = by_reason(found.flatten().map(|found| (found.reason.as_ref(), "")));
        let reasons = reasons
            .into_iter()
            .map(|(reason, _)| format!("no verdict: {reason}"));
        notes.extend(
            note.into_iter()
                .chain(reasons)
                .map(|note| format!("{}: {note}", row.target)),
        );
    }
    TargetsTable {
        strategies,
        rows,
        notes,
    }
}

fn target_cell(target: &SourceTarget, found: &Found) -> String {
    let value = found
        .value
        .map_or("-".to_owned(), |value| target.unit.show(value));
    match found.met {
        Some(true) => format!("{value} met"),
        Some(false) => format!("{value} missed"),
        None => value,
    }
}

/// What each document asks of itself, with who meets it and who does not.
pub fn by_target(summary: &Summary, width: usize) -> String {
    let mut lines = Vec::new();
    for group in &summary.groups {
        lines.push(format!(
            "targets of the source documents, protocol {}",
            conditions(group)
        ));
        for (row, target) in group.targets.iter().zip(targets::ALL) {
            lines.extend(verdicts(row, target));
        }
    }
    lines
        .iter()
        .flat_map(|line| wrapped(line, width))
        .map(|line| line + "\n")
        .collect()
}

/// One target: who meets it, who misses it, and of whom nothing is known.
fn verdicts(row: &Target, target: &SourceTarget) -> Vec<String> {
    let of = |wanted: Option<bool>| {
        let found = row.strategies.iter();
        let found = found.filter(move |(_, found)| found.met == wanted);
        let shown = found.map(|(name, found)| match found.value {
            Some(value) => format!("{name} {}", target.unit.show(value)),
            None => name.clone(),
        });
        shown.collect::<Vec<_>>().join(", ")
    };
    let verdicts = [
        ("met", of(Some(true))),
        ("missed", of(Some(false))),
        ("no verdict", of(None)),
    ];
    let shown = verdicts.iter().filter(|(_, names)| !names.is_empty());
    let shown = shown.map(|(verdict, names)| format!("  {verdict}: {names}"));
    let found = row.strategies.iter();
    let reasons = by_reason(found.map(|(name, found)| (found.reason.as_ref(), &**name)));
    std::iter::once(format!("{} [{}]", row.target, row.source))
        .chain(shown)
        .chain(reasons.into_iter().map(|(why, _)| format!("  since {why}")))
        .collect()
}
