//! A line of a session as it was read.

use serde_json::Value;

use crate::import::formats::claude_code::boundary::Boundary;
use crate::import::place::Place;

/// One line of the file.
pub(in crate::import) struct ClaudeCodeRow {
    pub(in crate::import) place: Place,
    pub(in crate::import) kind: String,
    pub(in crate::import) uuid: Option<String>,
    /// The row before it. After a compaction that the program made itself, the logical parent that
    /// the row names.
    pub(in crate::import) parent: Option<String>,
    pub(in crate::import) session: Option<String>,
    /// The working directory.
    pub(in crate::import) directory: Option<String>,
    /// The version of the program.
    pub(in crate::import) version: Option<String>,
    pub(in crate::import) sidechain: bool,
    /// Whether it is a summary that the program itself put in place of earlier messages.
    pub(in crate::import) summary: bool,
    /// The compaction of the program that begins here.
    pub(in crate::import) boundary: Option<Boundary>,
    /// The text of a file, a list or a hook that the program added to the conversation at this
    /// place.
    pub(in crate::import) attached: Option<String>,
    /// Whether no person wrote it, although it has the role of the user.
    pub(in crate::import) by_program: bool,
    /// The ids of the calls whose results the program took out of the context here.
    pub(in crate::import) cleared: Vec<String>,
    /// Whether the line is not valid JSON, so that only its links could be read.
    pub(in crate::import) broken: bool,
    pub(in crate::import) at_ms: Option<i64>,
    pub(in crate::import) message: Option<Value>,
}
