//! An importer as a row of the list.

use compactometer_formats::scenario::Reattached;

use super::error::ImportError;
use super::input::Input;
use super::kept::SessionFolder;
use super::report::Recorder;
use super::session::ReadSession;

/// Reads one foreign format.
#[derive(Debug)]
pub struct Importer {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it reads, in one line.
    pub about: &'static str,
    /// Where the format comes from.
    pub source: &'static str,
    /// What its compactions look like, and what is known of them.
    pub compactions: &'static str,
    /// What a user should know of it beyond what holds for every format.
    pub particulars: &'static str,
    /// Where its program keeps sessions, if that place is known.
    pub sessions: Option<SessionFolder>,
    /// What its program is known to put back after a compaction without a record of it.
    pub(super) reattaches: Option<fn() -> Reattached>,
    /// Whether the beginning of a file looks like this format.
    pub(super) recognises: fn(&str) -> bool,
    /// Whether it reads its files by line only, so that none is in memory as a whole.
    pub(super) by_line: bool,
    pub(super) read: fn(&Input, &mut Recorder) -> Result<Vec<ReadSession>, ImportError>,
}
