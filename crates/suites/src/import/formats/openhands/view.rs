//! What a request of OpenHands holds: the events before it, without those that condensations made
//! it forget.

use std::collections::HashSet;

use compactometer_engine::message::Role;
use serde_json::Value;

use crate::import::place::Place;
use crate::import::session::{Compaction, Left};

/// The events that the next request holds, and the condensations so far.
#[derive(Default)]
pub(in crate::import) struct EventView {
    held: Vec<ViewItem>,
    pub(in crate::import) compactions: Vec<Compaction>,
}

/// An event or a summary.
struct ViewItem {
    id: String,
    /// What it left; nothing for events that are not a turn.
    left: Option<Left>,
}

/// Ids are texts, or the numbers of older versions.
fn id_of(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

impl EventView {
    /// Adds an event; `place` is that of its message, if it is a turn.
    pub(in crate::import) fn push(&mut self, id: &Value, place: Option<Place>) {
        self.held.push(ViewItem {
            id: id_of(id),
            left: place.map(Left::Kept),
        });
    }

    /// Applies a condensation of the SDK, whose summary is an event that later ones may forget.
    pub(in crate::import) fn condense(&mut self, place: Place, at_ms: Option<i64>, row: &Value) {
        self.apply(place, at_ms, row, &format!("{}-summary", id_of(&row["id"])));
    }

    /// Applies a condensation of older versions, where only the last summary counts.
    pub(in crate::import) fn condense_run(
        &mut self,
        place: Place,
        at_ms: Option<i64>,
        arguments: &Value,
    ) {
        if arguments["summary"].is_string() {
            self.held
                .retain(|held| !matches!(held.left, Some(Left::Written(..))));
        }
        self.apply(place, at_ms, arguments, "summary");
    }

    fn apply(&mut self, place: Place, at_ms: Option<i64>, about: &Value, id: &str) {
        let forgotten = about["forgotten_event_ids"]
            .as_array()
            .into_iter()
            .flatten()
            .map(id_of)
            .collect::<HashSet<_>>();
        let range = about["forgotten_events_start_id"]
            .as_u64()
            .zip(about["forgotten_events_end_id"].as_u64());
        let in_range = |id: &str| {
            let number = id.parse::<u64>().ok();
            number
                .zip(range)
                .is_some_and(|(number, (first, last))| (first..=last).contains(&number))
        };
        self.held
            .retain(|held| !forgotten.contains(&held.id) && !in_range(&held.id));
        if let Some(summary) = about["summary"].as_str() {
            let offset = about["summary_offset"]
                .as_u64()
                .and_then(|offset| usize::try_from(offset).ok())
                .unwrap_or(0);
            let left = Some(Left::Written(Role::User, summary.to_owned()));
            self.held.insert(
                offset.min(self.held.len()),
                ViewItem {
                    id: id.to_owned(),
                    left,
                },
            );
        }
        let context = self
            .held
            .iter()
            .filter_map(|held| held.left.clone())
            .collect();
        self.compactions.push(Compaction {
            at_ms,
            context,
            ..Compaction::at(place)
        });
    }
}
