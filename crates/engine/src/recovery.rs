//! How a checkpoint comes back into a conversation: as a section of the system prompt.

use crate::checkpoint::Checkpoint;
use crate::message::{Message, Part, Role};
use crate::saved::{Saved, SavedKind, latest};
use crate::view::{Edit, Origin, WrittenPart};

/// The newest checkpoint of a session and its number.
pub fn latest_checkpoint(history: &[Saved]) -> Option<(Checkpoint, u32)> {
    let saved = latest(history, SavedKind::Checkpoint)?;
    Some((serde_json::from_str(&saved.body).ok()?, saved.number))
}

/// The system message with the checkpoint's section; a conversation without one gets one that holds the section alone.
pub fn system_with(system: Option<&Message>, checkpoint: Option<(Checkpoint, u32)>) -> Option<Edit> {
    let Some((checkpoint, number)) = checkpoint else { return system.map(|system| Edit::Keep(system.id)) };
    let section =
        WrittenPart { part: Part::Text { text: checkpoint.to_section() }, origin: Origin::Checkpoint(number) };
    Some(match system {
        None => Edit::Insert(Role::System, vec![section]),
        Some(system) => {
            let spoken = |part: &Part| WrittenPart { part: part.clone(), origin: Origin::Spoken(system.id) };
            Edit::Replace(system.id, system.parts.iter().map(spoken).chain([section]).collect())
        }
    })
}
