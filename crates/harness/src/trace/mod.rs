//! What became of every fact, and what the view and its records hold at each observation.

pub(crate) mod carriers;
pub(crate) mod random_contexts;
pub(crate) mod storage;
pub(crate) mod tracer;
pub mod views;
