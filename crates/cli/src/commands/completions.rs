//! `completions`: prints a completion script.

use clap::Args;
use clap_complete::Shell;

use super::command_row::{CommandRow, parsed};
use super::program;
use crate::arguments::help::HelpGroup;
use crate::output::failure::Failure;
use crate::output::terminal::say;

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "completions",
    about: "Print a script that completes commands and flags in a shell",
    group: HelpGroup::Rest,
    arguments: CompletionsArgs::augment_args,
    run: |matches| completions(&parsed(matches)?),
};

#[derive(Args)]
struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program(), "compactometer", &mut script);
    say(&String::from_utf8_lossy(&script))
}
