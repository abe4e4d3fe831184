//! The sources' targets as a page shows them.

use compactometer_formats::summary::{Found, Group};
use serde_json::{Value, json};

use super::reasons::by_reason;
use crate::summary::targets::{self, SourceTarget};

/// The sources' own targets: one row each with its source, one column a strategy.
pub(super) fn table(group: &Group) -> Value {
    let tested = group.targets.first().map(|first| &first.strategies);
    let names = group.strategies.iter().map(|strategy| &strategy.name);
    let strategies: Vec<_> = names
        .filter(|name| tested.is_some_and(|tested| tested.contains_key(*name)))
        .collect();
    let (mut notes, mut rows) = (Vec::new(), Vec::new());
    for (row, target) in group.targets.iter().zip(targets::ALL) {
        let found = strategies.iter().map(|name| row.strategies.get(*name));
        let cells = found
            .clone()
            .map(|found| found.map_or(String::new(), |found| target_cell(target, found)));
        rows.push(json!([row.target, row.source, cells.collect::<Vec<_>>()]));
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
    json!({"strategies": strategies, "rows": rows, "notes": notes})
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
