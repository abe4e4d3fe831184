//! What a spec has stated in conversations that are rendered from skeletons: its table `[statements]`.

use serde::Deserialize;

use crate::generate::session::SessionTable;

/// What is stated in conversations that are there already: a table of a spec.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Statements {
    /// The domains of the statements, used in turn.
    pub(crate) domains: Vec<String>,
    /// The number of facts of the shortest and of the longest conversation, not counting decoys.
    pub(crate) facts: [usize; 2],
    /// The fewest and the most points of a conversation at which facts are asked for.
    pub(crate) points: [usize; 2],
    /// The number of questions per conversation that nothing in it answers.
    #[serde(default)]
    pub(crate) unanswerable: usize,
    /// The number of questions per conversation about the order in which facts were stated.
    #[serde(default)]
    pub(crate) orders: usize,
    /// The largest number of questions per conversation that ask for a value.
    pub(crate) probes: Option<usize>,
    /// Incidental statements for each statement of a fact or decoy.
    pub(crate) beside: usize,
    /// The number of rules, preferences and requests of each user that have no exact value.
    #[serde(default)]
    pub(crate) said: usize,
    /// Who states, and how often again.
    #[serde(default)]
    pub(crate) session: SessionTable,
}
