//! A conversation as the engine holds it. Three words recur everywhere: the *log* is everything
//! that was said and only ever grows ([`log::Log`]); the *view* is the next request, with the
//! origin of each of its parts ([`view::View`]); a *record* is what a compaction wrote and the
//! session keeps ([`record::SessionRecord`]).

pub mod log;
pub(crate) mod outside;
pub mod record;
pub mod render;
pub(crate) mod vec_growth;
pub mod view;
