//! `completions`: prints a completion script, or writes manual pages.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use clap_complete::Shell;
use compactometer_disk::create_folder;

use super::command_row::{CommandRow, parsed};
use super::program;
use crate::arguments::help::HelpGroup;
use crate::output::failure::Failure;
use crate::output::terminal::say;

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "completions",
    about: "Print a script that completes commands and flags in a shell, or write manual pages",
    group: HelpGroup::Rest,
    arguments: CompletionsArgs::augment_args,
    run: |matches| completions(&parsed(matches)?),
};

#[derive(Args)]
struct CompletionsArgs {
    /// The shell.
    #[arg(required_unless_present = "man")]
    shell: Option<Shell>,
    /// Write the manual pages of the program and its commands into this folder, such as
    /// `~/.local/share/man/man1`.
    #[arg(long, value_name = "FOLDER", conflicts_with = "shell")]
    man: Option<PathBuf>,
}

fn completions(args: &CompletionsArgs) -> Result<(), Failure> {
    if let Some(folder) = &args.man {
        return manual(folder);
    }
    let mut script = Vec::new();
    if let Some(shell) = args.shell {
        clap_complete::generate(shell, &mut program(), "compactometer", &mut script);
    }
    say(&String::from_utf8_lossy(&script))
}

fn manual(folder: &Path) -> Result<(), Failure> {
    create_folder(folder)
        .and_then(|()| clap_mangen::generate_to(program(), folder))
        .with_context(|| format!("write manual pages into `{}`", folder.display()))
        .map_err(Failure::usage)
}
