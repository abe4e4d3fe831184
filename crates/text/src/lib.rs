//! Text of any subject: values found in it and whether they belong to a subject, the purposes of a
//! call's arguments, a person's sentences, code spans, lines of a width, words of a shell, and suggestions of similar
//! names.
//!
//! Absent on purpose: conversations, files and the meaning of a text.

pub mod arguments;
pub mod behaviour;
pub mod binding;
pub mod code;
pub mod exact;
pub mod folders;
pub mod generic;
pub mod matcher;
mod script;
pub mod sentences;
pub mod shell;
pub mod suggest;
pub mod wrapping;
