//! Chance matches and invented values in what a view carries beside the recent conversation.

use compactometer_engine::message::part_text;
use compactometer_engine::message::{MessageId, Role};
use compactometer_engine::view::{Origin, View};
use compactometer_formats::record::ChanceCell;

use super::chance::ChanceCounts;
use super::written::WrittenText;
use crate::prepare::PreparedScenario;

/// What was found in a view's carriers.
#[derive(Default)]
pub(crate) struct Carriers {
    /// Chance matches by value kind.
    pub(crate) chance: Vec<ChanceCell>,
    /// The foreign facts that match, each as often as it does.
    pub(crate) foreign: Vec<u32>,
    /// Foils in what was inserted.
    pub(crate) foil_hits: u32,
    /// The number of foils searched for; 0 if nothing was inserted.
    pub(crate) foils: u32,
}

/// Searches inserted text and originals before the index `old_before` for foreign facts, and
/// inserted text for foils.
pub(crate) fn search_carriers(
    prepared: &PreparedScenario,
    view: &View,
    old_before: usize,
) -> Carriers {
    let is_old = |id: MessageId| prepared.index_of(id) < old_before;
    let checks = prepared.checks();
    let mut foreign = Vec::new();
    let mut foils = vec![false; checks.foils.len()];
    let mut inserted = false;
    for entry in view.entries() {
        if let Some(message) = entry.log_message() {
            if message.role != Role::System && is_old(message.id) {
                foreign.extend_from_slice(
                    checks
                        .segments
                        .foreign_in_message
                        .get(prepared.index_of(message.id)),
                );
            }
            continue;
        }
        for (text, origin) in entry
            .parts()
            .filter_map(|(part, origin)| Some((part_text(part)?, origin)))
        {
            let counts = match origin {
                Origin::Spoken(id) => entry.role() != Role::System && is_old(id),
                Origin::Summary(_) | Origin::Checkpoint(_) | Origin::Memory(_) | Origin::Ledger => {
                    true
                }
                Origin::Filler => continue,
            };
            if counts && !checks.foreign.is_empty() {
                foreign.extend_from_slice(WrittenText::new(prepared, text).foreign());
            }
            if !matches!(origin, Origin::Spoken(_)) {
                inserted = true;
                for foil in WrittenText::new(prepared, text).foils() {
                    foils[*foil as usize] = true;
                }
            }
        }
    }
    let mut counts = ChanceCounts::new(prepared);
    counts.add(foreign.iter().copied());
    Carriers {
        chance: counts.cells(),
        foreign,
        foil_hits: foils.iter().filter(|hit| **hit).count() as u32,
        foils: if inserted { foils.len() as u32 } else { 0 },
    }
}
