//! How the user and the agent of a conversation talk and work: the tables of a spec that say so.

use crate::generate::agent::Agent;
use crate::generate::session::Session;

/// Both tables.
#[derive(Clone, Copy)]
pub(crate) struct Manner<'s> {
    pub(crate) session: &'s Session,
    /// Without it, an agent makes few calls for each request.
    pub(crate) agent: Option<Agent>,
}
