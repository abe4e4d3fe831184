//! Whether what a compaction left holds the values that the next call uses.

use compactometer_engine::view::View;
use compactometer_formats::fate::Fates;
use compactometer_formats::record::{Family, Held, Use, UseKind};

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
        let held = prepared.held(
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
        let kind = prepared
            .uses
            .by(length, *fact)
            .map_or(UseKind::Address, |used| used.kind);
        Use {
            kind,
            held,
            at_most,
        }
    };
    used.iter().map(seen).collect()
}
