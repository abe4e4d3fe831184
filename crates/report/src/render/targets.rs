//! The sources' targets as a page shows them.

use compactometer_formats::summary::{Found, Group};
use serde::Serialize;

use crate::summary::targets::{self, SourceTarget};

/// The sources' own targets: one row each, one column a strategy.
#[derive(Serialize)]
pub(super) struct TargetTable<'p> {
    strategies: Vec<&'p str>,
    /// Target, source, cells.
    rows: Vec<(&'p str, &'p str, Vec<String>)>,
    notes: Vec<String>,
}

impl<'p> TargetTable<'p> {
    pub(super) fn of(group: &'p Group) -> Self {
        let strategies = group.targets.first().map_or(Vec::new(), |first| {
            let listed = group.strategies.iter().map(|strategy| strategy.name.as_str());
            listed.filter(|name| first.strategies.contains_key(*name)).collect()
        });
        let mut notes = Vec::new();
        let mut rows = Vec::new();
        for (row, target) in group.targets.iter().zip(targets::ALL) {
            let found = |name: &&str| row.strategies.get(*name);
            let cells =
                strategies.iter().map(|name| found(name).map_or(String::new(), |found| target_cell(target, found)));
            rows.push((row.target.as_str(), row.source.as_str(), cells.collect()));
            if !row.note.is_empty() {
                notes.push(format!("{}: {}", row.target, row.note));
            }
            let mut reasons = Vec::new();
            strategies.iter().filter_map(found).filter_map(|found| found.reason.as_ref()).for_each(|reason| {
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            });
            notes.extend(reasons.into_iter().map(|reason| format!("{}: no verdict: {reason}", row.target)));
        }
        TargetTable { strategies, rows, notes }
    }
}

fn target_cell(target: &SourceTarget, found: &Found) -> String {
    let value = found.value.map_or("-".to_owned(), |value| target.unit.show(value));
    match found.met {
        Some(true) => format!("{value} met"),
        Some(false) => format!("{value} missed"),
        None => value,
    }
}
