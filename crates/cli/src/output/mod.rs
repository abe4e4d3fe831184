//! What leaves the program: text on a terminal, a run's folder, and the exit code.

pub(crate) mod cache;
pub(crate) mod destination;
pub(crate) mod failure;
pub(crate) mod progress;
pub(crate) mod report_file;
pub(crate) mod room;
pub(crate) mod run_folder;
pub(crate) mod tables;
pub(crate) mod terminal;
pub(crate) mod tries;
