//! What other threads of the same user share (the strategic plan, part 8, "Cross-Thread
//! Checkpoints"). Its part 9.5 advises against it, for privacy: so nothing is shared but the fields
//! that a host's opt-in names, of threads of the user that it names.
//!
//! One way only: what is shared is shown and never becomes part of a checkpoint of this thread, nor
//! of another's.

use crate::checkpoint::Checkpoint;
use crate::conversation::record::SessionRecord;
use crate::conversation::view::{Origin, WrittenPart};

/// A host's consent to share, for one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// The user whose threads share.
    pub user: String,
    /// What is shared; usually only [`SharedField::UserPreferences`].
    pub fields: Vec<SharedField>,
}

/// A field of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedField {
    /// [`Checkpoint::active_goals`].
    ActiveGoals,
    /// [`Checkpoint::pending_tasks`].
    PendingTasks,
    /// [`Checkpoint::key_decisions`].
    KeyDecisions,
    /// [`Checkpoint::user_preferences`].
    UserPreferences,
    /// [`Checkpoint::context_references`].
    ContextReferences,
    /// [`Checkpoint::workflow_state`].
    WorkflowState,
}

impl SharedField {
    fn name(self) -> &'static str {
        match self {
            SharedField::ActiveGoals => "active_goals",
            SharedField::PendingTasks => "pending_tasks",
            SharedField::KeyDecisions => "key_decisions",
            SharedField::UserPreferences => "user_preferences",
            SharedField::ContextReferences => "context_references",
            SharedField::WorkflowState => "workflow_state",
        }
    }
}

/// The latest checkpoint of another thread.
#[derive(Clone, Copy, Debug)]
pub struct OtherThread<'t> {
    /// Whose thread it is.
    pub user: &'t str,
    /// Its latest checkpoint.
    pub checkpoint: &'t Checkpoint,
}

impl Sharing {
    /// What the threads share, merged; of one topic the later thread's word holds.
    pub fn shared(&self, threads: &[OtherThread<'_>]) -> Checkpoint {
        let own = threads.iter().filter(|thread| thread.user == self.user);
        let is_shared = |name: &str| {
            self.fields
                .iter()
                .any(|field| name.split('.').next() == Some(field.name()))
        };
        own.fold(Checkpoint::default(), |shared, thread| {
            shared.merged_with(thread.checkpoint.only(|item| is_shared(item.field)))
        })
    }
}

/// Opens what other threads share.
const LABEL: &str = "Shared by the user's other threads; it may not hold for this one.";

/// The labelled part of the section, where something is shared.
pub(super) fn part(saved: &SessionRecord) -> Option<WrittenPart> {
    let shared = serde_json::from_str::<Checkpoint>(&saved.body).ok()?;
    let section = shared.to_section();
    let (_, fields) = section.split_once('\n')?;
    let text = format!("## Shared Context\n\n{LABEL}\n{fields}");
    (!shared.is_empty()).then(|| WrittenPart::text(text, Origin::Checkpoint(saved.number)))
}
