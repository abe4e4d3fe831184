//! How a checkpoint comes back into a conversation: as a section of the system prompt (the
//! strategic plan, part 3). After a compaction strategies show it themselves; after absence, when
//! the agent appears lost, and on demand the session does ([`crate::session::Session::recover`]).
//!
//! Absent on purpose: any change of a checkpoint. What is selected is what is shown; the record
//! stays whole, and the next compaction shows all of it again.

mod check;
mod compared_words;
mod lost;
mod select;
mod sharing;

use crate::checkpoint::Checkpoint;
use crate::conversation::record::{History, RecordKind, SessionRecord};
use crate::conversation::view::{Edit, Origin, WrittenPart};
use crate::message::{Message, Part, Role};

pub use check::{Recall, Recalled, recall};
pub use lost::asks_for;
pub(crate) use lost::may_ask;
pub use select::{RecoverySection, section_for};
pub(crate) use select::{sections_for, whole};
pub use sharing::{OtherThread, SharedField, Sharing};

/// When a session shows the latest checkpoint by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// Milliseconds without a message after which the user counts as back from absence; none is
    /// never.
    pub absence_ms: Option<i64>,
    /// Whether an agent that asks for what the checkpoint holds is shown it: see [`asks_for`].
    pub lost: bool,
}

/// Eight hours, a night's rest: the strategic plan says "long absence" and gives no number.
pub const ABSENCE_MS: i64 = 8 * 60 * 60 * 1_000;

impl Default for Recovery {
    fn default() -> Self {
        Recovery {
            absence_ms: Some(ABSENCE_MS),
            lost: true,
        }
    }
}

/// How a strategy's checkpoints are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Showing {
    /// Each new checkpoint at once, which voids the cached prefix every time (the strategic plan,
    /// `get_system_prompt`); else with the next compaction, which voids it anyway.
    pub at_once: bool,
    /// Without threads and external APIs (the strategic plan, `load_checkpoint_into_context`).
    pub leaves_out: bool,
}

impl Showing {
    /// The checkpoint's section.
    pub fn section(self, checkpoint: &Checkpoint) -> String {
        if !self.leaves_out {
            return checkpoint.to_section();
        }
        let unseen = [
            "context_references.threads",
            "context_references.external_apis",
        ];
        checkpoint
            .only(|item| !unseen.contains(&item.field))
            .to_section()
    }
}

/// The newest checkpoint of a session and its number; none where the newest holds nothing.
pub fn latest_checkpoint(history: &History) -> Option<(Checkpoint, u32)> {
    let saved = history.latest(RecordKind::Checkpoint)?;
    let checkpoint = serde_json::from_str::<Checkpoint>(&saved.body).ok()?;
    (!checkpoint.is_empty()).then_some((checkpoint, saved.number))
}

/// What follows the system prompt's own words: the checkpoint, and the latest record of what other
/// threads share.
pub fn sections(
    checkpoint: Option<&(Checkpoint, u32)>,
    showing: Showing,
    shared: Option<&SessionRecord>,
) -> Vec<WrittenPart> {
    let own = checkpoint.map(|(checkpoint, number)| {
        WrittenPart::text(showing.section(checkpoint), Origin::Checkpoint(*number))
    });
    own.into_iter()
        .chain(shared.and_then(sharing::part))
        .collect()
}

/// The system message with these sections; a conversation without one gets one that holds only the
/// sections.
pub(crate) fn system_with(system: Option<&Message>, sections: Vec<WrittenPart>) -> Option<Edit> {
    match system {
        _ if sections.is_empty() => system.map(|system| Edit::Keep(system.id)),
        None => Some(Edit::Insert(Role::System, sections)),
        Some(system) => {
            let spoken = |part: &Part| WrittenPart {
                part: part.clone(),
                origin: Origin::Spoken(system.id),
            };
            Some(Edit::Replace(
                system.id,
                system.parts.iter().map(spoken).chain(sections).collect(),
            ))
        }
    }
}
