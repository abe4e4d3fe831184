//! The seam to a store: what a session commits after each decision that changed something.
//!
//! Absent on purpose: reading back. A store hands a [`State`] to
//! [`crate::session::Session::restored`] when a process starts.

use serde::{Deserialize, Serialize};

use crate::conversation::record::SessionRecord;
use crate::conversation::view::Edit;
use crate::message::MessageId;

/// Keeps what a session saved. Synchronous: a session calls it between awaits.
pub trait Store: Send {
    /// Keeps records and view together, or neither.
    ///
    /// # Errors
    /// [`StoreError`]; what was kept before stays as it was.
    fn commit(&mut self, commit: &Commit<'_>) -> Result<(), StoreError>;
}

/// One decision of a session.
#[derive(Clone, Copy, Debug)]
pub struct Commit<'c> {
    /// The records that the decision added, oldest first.
    pub saved: &'c [SessionRecord],
    /// The whole view after it.
    pub view: &'c [Edit],
    /// The last message of the log at that time.
    pub after: MessageId,
}

/// A session without its log: what a store gives back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Every record, oldest first.
    pub history: Vec<SessionRecord>,
    /// The view at the last commit; messages after [`State::after`] follow it as they were said.
    pub view: Vec<Edit>,
    /// The last message of the log at the last commit; none before the first.
    pub after: Option<MessageId>,
}

/// Why a store could not keep something. Its text names the place and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StoreError(pub String);
