//! `hook`: what an agent's program runs after a compaction, so that the next request holds a
//! ledger.
//!
//! It reads only the event and the transcript, calls no model and uses no network. It always
//! succeeds and soon, since the agent waits for it: what went wrong is said on stderr and in a log.

mod answer;
mod log;
mod settings;

use std::io::Read;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use compactometer_suites::import::{self, Importer};

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
    let said = match answer_in_time(importer, args.budget) {
        Ok(Some(answer)) => say(&answer).map_err(|failure| failure.words()),
        Ok(None) => Ok(()),
        Err(error) => Err(crate::output::failure::words(&error)),
    };
    if let Err(words) = said {
        note(&format!("compactometer hook: {words}"));
        log::append(&words);
    }
    Ok(())
}

/// How long the end of the transcript may be read.
const PATIENCE: Duration = Duration::from_millis(1_300);
/// How long less of it may be read, if that took too long.
const LAST_PATIENCE: Duration = Duration::from_millis(600);

/// The answer to the event on stdin, within two seconds: if its ledger is not ready by then, that of
/// less of the transcript.
fn answer_in_time(importer: &'static Importer, budget: u32) -> Result<Option<String>> {
    let (events, event) = mpsc::channel();
    let answered = within(PATIENCE, move || {
        let mut text = String::new();
        std::io::stdin()
            .take(answer::LONGEST_EVENT)
            .read_to_string(&mut text)?;
        let _ = events.send(text.clone());
        answer::answer(&text, importer, budget, answer::LAST)
    })?;
    if let Some(answered) = answered {
        return answered;
    }
    let event = event.try_recv().context("nothing came on stdin in time")?;
    let less = move || answer::answer(&event, importer, budget, answer::LAST_IF_SLOW);
    within(LAST_PATIENCE, less)?.unwrap_or_else(|| bail!("two seconds were too few for a ledger"))
}

/// What something on a thread of its own gives, unless it takes longer.
fn within<T: Send + 'static>(
    patience: Duration,
    doing: impl FnOnce() -> T + Send + 'static,
) -> Result<Option<T>> {
    let (done, result) = mpsc::channel();
    std::thread::Builder::new().spawn(move || done.send(doing()))?;
    match result.recv_timeout(patience) {
        Ok(result) => Ok(Some(result)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => bail!("a defect of the program, see above"),
    }
}
