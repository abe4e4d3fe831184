//! Whether what a compaction left holds the values that the next call uses.

use compactometer_engine::message::part_text;
use compactometer_engine::view::{Origin, View};
use compactometer_formats::fate::{Fate, Fates};
use compactometer_formats::record::{Family, Held, Needed, Use};

use super::Tracer;
use crate::prepare::PreparedScenario;

/// The uses at the point where the log has that length. `compacted_at` is the length of the log at
/// the last compaction.
pub(crate) fn seen_uses(
    prepared: &PreparedScenario,
    (view, fates): (&View, &Fates),
    (length, used): (usize, &[u32]),
    compacted_at: usize,
    family: Family,
) -> Vec<Use> {
    let seen = |fact: &u32| {
        let held = prepared.is_in_left(
            *fact,
            fates.0[*fact as usize].is_present(),
            view,
            compacted_at,
        );
        let at_most = match family {
            Family::Recorded => prepared.held_at_most(*fact, held, compacted_at),
            // The context of any other strategy is known.
            _ => Some(held != Held::OutOfSight),
        };
        Use {
            kind: prepared.uses.kind(length, *fact),
            held,
            at_most,
        }
    };
    used.iter().map(seen).collect()
}

/// The uses of old values at the point where the log has that length, with the bounds of what a
/// context can hold and in how many random contexts each value is.
pub(crate) fn seen_needed(
    prepared: &PreparedScenario,
    tracer: &Tracer<'_>,
    (view, fates): (&View, &Fates),
    (length, needed, random): (usize, &[u32], &[u32]),
    compacted_at: usize,
) -> Vec<Needed> {
    if needed.is_empty() {
        return Vec::new();
    }
    let unwritten = unwritten(prepared, view);
    let shaped = prepared.is_shaped(length);
    let seen = |(fact, random): (&u32, &u32)| {
        let fate = fates.0[*fact as usize];
        let held = prepared.is_in_left(*fact, fate.is_present(), view, compacted_at);
        let floor = fate == Fate::Verbatim
            || unwritten[*fact as usize]
            || prepared.is_named_unwritten(*fact, view, compacted_at);
        let shown = tracer.was_shown(*fact);
        Needed {
            fact: *fact,
            kind: prepared.uses.kind(length, *fact),
            held,
            floor,
            ceiling: shown.map(|shown| floor || shown),
            random: *random,
            shaped,
        }
    };
    needed.iter().zip(random).map(seen).collect()
}

/// The facts that a view's texts hold which nobody said as such and no model wrote.
fn unwritten(prepared: &PreparedScenario, view: &View) -> Vec<bool> {
    let mut held = vec![false; prepared.mentions.len()];
    let written = view
        .entries()
        .iter()
        .filter_map(|entry| entry.written_parts());
    let by_rule = written
        .flatten()
        .filter(|part| matches!(part.origin, Origin::Ledger | Origin::Memory(_)));
    by_rule
        .filter_map(|part| part_text(&part.part))
        .for_each(|text| prepared.facts.mark(text, &mut held));
    held
}
