//! The size of a session's records, and how many fields of the strategic plan's checkpoint they
//! fill.

use compactometer_engine::checkpoint::Checkpoint;
use compactometer_engine::message::MessageId;
use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_formats::scenario::Category;
use compactometer_formats::view_breakdown::Storage;
use serde_json::Value;

use crate::prepare::PreparedScenario;

/// Each field of the strategic plan's checkpoint, and the category of the facts that belong there.
const FIELDS: [(&str, Category); 6] = [
    ("active_goals", Category::Goal),
    ("pending_tasks", Category::PendingTask),
    ("key_decisions", Category::Decision),
    ("user_preferences", Category::Preference),
    ("context_references", Category::Reference),
    ("workflow_state", Category::WorkflowState),
];

/// Totals over all records of a session.
pub(crate) fn storage(prepared: &PreparedScenario, history: &[SessionRecord]) -> Storage {
    let mut storage = Storage {
        records: history.len() as u32,
        ..Storage::default()
    };
    let fields = FIELDS.map(|(field, category)| (field, first_stated(prepared, category)));
    for saved in history {
        // A record is plain data, so it has a JSON form.
        storage.bytes += serde_json::to_vec(saved).map_or(0, |json| json.len() as u64);
        let populated = populated(saved);
        if saved.kind == RecordKind::Checkpoint {
            let filled = populated.as_ref().map_or(0, |filled| filled.len() as u32);
            storage.fewest_populated = Some(
                storage
                    .fewest_populated
                    .map_or(filled, |fewest| fewest.min(filled)),
            );
        }
        let Some(populated) = populated else { continue };
        let until = saved.covers.map_or(MessageId(u32::MAX), |(_, last)| last);
        for (field, stated) in fields {
            if stated.is_some_and(|stated| stated <= until) {
                storage.fields_supported += 1;
                storage.fields_populated += u32::from(populated.contains(&field));
            }
        }
    }
    storage
}

/// The fields that a checkpoint of the strategic plan fills. Nothing if the record is no such
/// checkpoint.
fn populated(saved: &SessionRecord) -> Option<Vec<&'static str>> {
    if saved.kind != RecordKind::Checkpoint {
        return None;
    }
    let checkpoint: Checkpoint = serde_json::from_str(&saved.body).ok()?;
    // Empty fields are left out of the JSON, those within a field too.
    let Ok(Value::Object(fields)) = serde_json::to_value(&checkpoint) else {
        return None;
    };
    let filled = FIELDS
        .iter()
        .map(|(field, _)| *field)
        .filter(|field| fields.contains_key(*field));
    Some(filled.collect::<Vec<_>>()).filter(|filled| !filled.is_empty())
}

/// The first message that states a fact of that category.
fn first_stated(prepared: &PreparedScenario, category: Category) -> Option<MessageId> {
    let facts = prepared
        .scenario
        .facts
        .iter()
        .filter(|fact| fact.decoy_of.is_none() && fact.category == category);
    facts
        .flat_map(|fact| &fact.evidence_message_ids)
        .min()
        .copied()
}
