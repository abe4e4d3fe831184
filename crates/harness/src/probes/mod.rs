//! Questions about a conversation, and what their answers are worth.

pub(crate) mod answers;
pub(crate) mod grade;
pub(crate) mod invented;
pub mod judge;
pub(crate) mod order;
pub(crate) mod prompted;
