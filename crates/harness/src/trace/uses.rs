//! Whether what a compaction left holds the values that the next call uses.

use compactometer_engine::view::View;
use compactometer_formats::fate::Fates;
use compactometer_formats::record::{Family, Held, Use, UseKind};

use crate::prepare::PreparedScenario;

/// The uses at the point where the log has that length. `compacted_at` is the length of the log at the last compaction.
pub(crate) fn seen_uses(
    prepared: &PreparedScenario,
    (view, fates): (&View, &Fates),
    (length, used): (usize, &[u32]),
    compacted_at: usize,
    family: Family,
) -> Vec<Use> {
    let holds_other = |fact: u32| {
        let index = |entry: &compactometer_engine::view::Entry| entry.kept().map(|kept| prepared.index_of(kept.id));
        prepared.names.as_ref().is_some_and(|names| names.holds(fact, view, index, compacted_at))
    };
    let seen = |fact: &u32| {
        let held = match fates.0[*fact as usize].is_present() {
            true => Held::AsSaid,
            false if holds_other(*fact) => Held::NamedOtherwise,
            false => Held::OutOfSight,
        };
        let is_held = held != Held::OutOfSight;
        let at_most = match family {
            Family::Recorded => prepared.attached_at(compacted_at).map(|attached| is_held || attached.contains(fact)),
            // The context of any other strategy is known.
            _ => Some(is_held),
        };
        let kind = prepared.uses.by(length, *fact).map_or(UseKind::Address, |used| used.kind);
        Use { kind, held, at_most }
    };
    used.iter().map(seen).collect()
}
