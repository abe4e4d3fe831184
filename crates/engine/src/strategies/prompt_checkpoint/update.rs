//! How a checkpoint takes in the one before it.
//!
//! A model that rewrites its own checkpoint again and again loses a part of it each time, so a new
//! checkpoint is asked for without the last one in sight, and both are merged by rules. A prompt of
//! a user may show the last one (`{previous}`); what the model makes of it then replaces it.

use super::json;
use super::published::CheckpointDeviations;
use crate::checkpoint::Checkpoint;
use crate::conversation::record::RecordKind;
use crate::conversation::render;
use crate::recovery::latest_checkpoint;
use crate::strategy::Context;

/// The last checkpoint, as a prompt shows it.
pub(in crate::strategies) fn previous(cx: &Context<'_>) -> String {
    let previous = cx.history.latest(RecordKind::Checkpoint);
    previous.map_or("None: this is the first.".to_owned(), |saved| {
        render::neutralize(&saved.body)
    })
}

/// Whether a checkpoint that this prompt asks for replaces the last one.
pub(in crate::strategies) fn replaces(prompt: &str, deviations: CheckpointDeviations) -> bool {
    deviations.forgets || prompt.contains("{previous}")
}

/// The JSON of a new checkpoint, together with what the last one held.
pub(in crate::strategies) fn updated(
    cx: &Context<'_>,
    prompt: &str,
    body: String,
    deviations: CheckpointDeviations,
) -> String {
    match latest_checkpoint(cx.history).filter(|_| !replaces(prompt, deviations)) {
        Some((earlier, _)) => together(earlier, body),
        None => body,
    }
}

/// The JSON of both; of only the newer one if that is not a checkpoint.
pub(in crate::strategies) fn together(earlier: Checkpoint, newer: String) -> String {
    match serde_json::from_str::<Checkpoint>(&newer) {
        Ok(checkpoint) => json(&earlier.merged_with(checkpoint)),
        Err(_) => newer,
    }
}
