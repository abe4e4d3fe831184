//! A command for tests: it is named only in the registry, and must be found in help and completions.

use super::{CommandRow, HelpGroup};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "dummy-command",
    about: "Do nothing, in tests",
    group: HelpGroup::Data,
    arguments: |command| command,
    run: |_| Ok(()),
};
