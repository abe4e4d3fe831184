//! A command for tests: it is named only in the registry, and must be found in help and
//! completions.

use super::command_row::CommandRow;
use crate::arguments::help::HelpGroup;

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "dummy-command",
    about: "Do nothing, in tests",
    group: HelpGroup::Data,
    arguments: |command| command,
    run: |_| Ok(()),
};
