//! Text of any subject: values found in it, code spans, and suggestions of similar names.
//!
//! Absent on purpose: conversations, files and the meaning of a text.

pub mod code;
pub mod exact;
pub mod matcher;
pub mod suggest;
