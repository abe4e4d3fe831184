//! A scenario made ready for replay.

pub mod lists;
pub mod scenario;
pub(crate) mod sentences;
