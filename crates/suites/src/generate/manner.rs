//! How the user and the agent of a conversation talk and work: the tables of a spec that say so.

use crate::generate::agent::AgentTable;
use crate::generate::session::SessionTable;

/// Both tables.
#[derive(Clone, Copy)]
pub(crate) struct Manner<'s> {
    pub(crate) session: &'s SessionTable,
    /// Without it, an agent makes few calls for each request.
    pub(crate) agent: Option<AgentTable>,
}
