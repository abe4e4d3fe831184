//! The registry of paths.

use std::error::Error;

use crate::{counting, sessions, stored};

/// Work that is ready to be done: gives a number that is never 0 where it was done, and the same at each run.
pub(crate) type Work = Box<dyn FnMut() -> u64>;
/// Makes the work of one size ready.
pub(crate) type Prepare = fn(usize) -> Result<Work, Box<dyn Error>>;

/// One path.
pub(crate) struct Path {
    pub(crate) name: &'static str,
    /// What is done once.
    pub(crate) about: &'static str,
    /// The size whose instructions the baseline holds; growth is looked at from here to its double.
    pub(crate) size: usize,
    pub(crate) prepare: Prepare,
}

const fn path(name: &'static str, size: usize, about: &'static str, prepare: Prepare) -> Path {
    Path { name, about, size, prepare }
}

/// Every path.
pub(crate) const ALL: &[Path] = &[
    path("count-prose", 128, "exact count of SIZE KB of prose", counting::prose),
    path("count-code", 128, "exact count of SIZE KB of code", counting::code),
    path("count-json", 128, "exact count of SIZE KB of JSON", counting::json),
    path("count-mixed", 128, "exact count of SIZE KB in nine scripts", counting::mixed),
    path("trigger", 4_000, "SIZE messages said, the trigger asked before each", sessions::trigger),
    path("selection", 4_000, "what leaves and what stays of SIZE messages, ten times", sessions::selection),
    path("aging", 40, "SIZE rounds of `progressive`", sessions::aging),
    path("checkpoint", 400, "a checkpoint of SIZE tasks read from an answer", sessions::checkpoint),
    path("mock", 32, "the mock's summary of SIZE KB", sessions::mock),
    path("trace", 300, "SIZE turns counted and their facts found", sessions::trace),
    path("replay-full", 300, "a case of SIZE turns without compaction", sessions::replay_full),
    path("replay-summarize", 300, "a case of SIZE turns under `summarize`, with the mock", sessions::replay_summarize),
    path("store-folder", 30, "SIZE commits to a folder, then all read", stored::folder),
    path("store-sqlite", 30, "SIZE commits to a database, then all read", stored::sqlite),
    path("report", 12, "the summary of SIZE records", stored::report),
];

/// The path of that name.
pub(crate) fn by_name(name: &str) -> Result<&'static Path, String> {
    let names = || ALL.iter().map(|path| path.name).collect::<Vec<_>>().join(", ");
    ALL.iter().find(|path| path.name == name).ok_or_else(|| format!("unknown path `{name}`; choose one of {}", names()))
}
