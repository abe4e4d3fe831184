//! `hook`: what an agent's program runs after a compaction, so that the next request holds a
//! ledger.
//!
//! It reads only the event and the transcript, calls no model and uses no network. It always
//! succeeds, since a failing hook would stand in the way of the agent: what went wrong is said on
//! stderr and in a log.

mod answer;
mod log;
mod settings;

use std::io::Read;

use anyhow::anyhow;
use clap::Args;
use compactometer_suites::import;

use super::command_row::{CommandRow, parsed};
use super::ledger::BUDGET;
use crate::arguments::help::HelpGroup;
use crate::output::failure::Failure;
use crate::output::terminal::{note, say};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "hook",
    about: "Add a ledger to an agent's context after each compaction (`--print` shows how to set it up)",
    group: HelpGroup::Everyday,
    arguments: HookArgs::augment_args,
    run: |matches| hook(&parsed(matches)?),
};

#[derive(clap::Args)]
#[command(
    after_help = "The program passes its event on stdin: `hook_event_name` `SessionStart`, `source` `compact`, and `transcript_path`. The command prints the JSON with the context to add, or nothing if there is nothing to add, and always exits with 0."
)]
pub(crate) struct HookArgs {
    /// The program that runs the hook.
    #[arg(value_name = "PROGRAM", value_parser = ["claude-code", "codex"], required_unless_present = "print")]
    pub(crate) program: Option<String>,
    /// The most tokens of the ledger, of which the words of the user take at most 400.
    #[arg(long, value_name = "TOKENS", default_value = BUDGET, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget: u32,
    /// Print the settings to paste for the program, or for each, and how to remove them. Nothing is
    /// installed.
    #[arg(long)]
    pub(crate) print: bool,
}

fn hook(args: &HookArgs) -> Result<(), Failure> {
    if args.print {
        return say(&settings::text(args.program.as_deref(), args.budget)?);
    }
    let importer = args.program.as_deref().and_then(import::by_name);
    let importer = importer.ok_or_else(|| Failure::usage(anyhow!("no program is named")))?;
    let mut event = String::new();
    let read = std::io::stdin()
        .take(answer::LONGEST_EVENT)
        .read_to_string(&mut event);
    match read
        .map_err(anyhow::Error::from)
        .and_then(|_| answer::answer(&event, importer, args.budget))
    {
        Ok(Some(answer)) => say(&answer),
        Ok(None) => Ok(()),
        Err(error) => {
            let words = crate::output::failure::words(&error);
            note(&format!("compactometer hook: {words}"));
            log::append(&words);
            Ok(())
        }
    }
}
