//! Rows that name the row before them: the chain to the last one is the conversation, and the
//! others are abandoned branches.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::place::Place;
use crate::import::report::Recorder;

/// How the rows of a format name themselves and the row before them.
pub(in crate::import) struct Links {
    pub(in crate::import) id: fn(&Value) -> Option<&str>,
    pub(in crate::import) parent: fn(&Value) -> Option<&str>,
}

/// The rows on the way from the last linked one to its root, and all rows without an id. A row
/// whose parent is not in the file follows the linked row before it, since a torn line must not cut
/// the conversation.
pub(in crate::import) fn chain(
    rows: &[(Place, Value)],
    links: &Links,
    recorder: &mut Recorder,
) -> Result<HashSet<usize>, ImportError> {
    let id = |at: usize| (links.id)(&rows[at].1);
    let by_id = (0..rows.len())
        .filter_map(|at| Some((id(at)?, at)))
        .collect::<HashMap<_, _>>();
    let mut kept = (0..rows.len())
        .filter(|at| id(*at).is_none())
        .collect::<HashSet<_>>();
    let linked_before = |at: usize| (0..at).rev().find(|at| id(*at).is_some());
    let mut next = linked_before(rows.len());
    while let Some(at) = next.filter(|at| kept.insert(*at)) {
        let (place, row) = &rows[at];
        let Some(parent) = (links.parent)(row) else {
            break;
        };
        next = by_id.get(parent).copied();
        if next.is_none() {
            next = linked_before(at);
            recorder.repair(*place, without_parent(parent, next.map(|at| rows[at].0)))?;
        }
    }
    Ok(kept)
}

fn without_parent(parent: &str, linked_to: Option<Place>) -> String {
    let taken = match linked_to {
        Some(place) => format!("linked to {place}"),
        None => "taken as the start".to_owned(),
    };
    format!("parent `{parent}` is not in the file: {taken}")
}
