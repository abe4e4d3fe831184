//! `hook`: what an agent's program runs after a compaction, so that the next request holds a
//! ledger.
//!
//! It reads only the event and the transcript, calls no model and uses no network. It always
//! succeeds and soon, since the agent waits for it: what went wrong is said on stderr and in a log.

mod hook_answer;
mod hook_log;
mod install;
mod program_settings;
mod splice;

use std::io::Read;
use std::path::PathBuf;
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
    about: "Add a ledger to an agent's context after each compaction (`--install` sets it up)",
    group: HelpGroup::Everyday,
    arguments: HookArgs::augment_args,
    run: |matches| hook(&parsed(matches)?),
};

#[derive(clap::Args)]
#[command(
    after_help = "The program passes its event on stdin: `hook_event_name` `SessionStart`, `source` `compact`, and `transcript_path`. The command prints the JSON with the context to add, or nothing if there is nothing to add, and then always exits with 0."
)]
pub(crate) struct HookArgs {
    /// The program that runs the hook.
    #[arg(value_name = "PROGRAM", value_parser = program_settings::PROGRAMS.iter().map(|program| program.name).collect::<Vec<_>>(), required_unless_present = "print")]
    pub(crate) program: Option<String>,
    /// The most tokens of the ledger, of which the words of the user take at most 400.
    #[arg(long, value_name = "TOKENS", default_value = BUDGET, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) budget: u32,
    /// Print the settings to paste for the program, or for each, and how to remove them. Nothing is
    /// installed.
    #[arg(long, group = "setup")]
    pub(crate) print: bool,
    /// Add the hook to the program's settings. The change is shown, and made when you agree. What is
    /// there stays, and a copy of it is kept beside it.
    #[arg(long, group = "setup")]
    pub(crate) install: bool,
    /// Take the hook out again. If nothing else has changed, the settings are then as they were.
    #[arg(long, group = "setup")]
    pub(crate) uninstall: bool,
    /// Write the hook as a plugin of Claude Code into this folder, which a team can share.
    #[arg(long, value_name = "FOLDER", group = "setup")]
    pub(crate) plugin: Option<PathBuf>,
    /// Change this file instead of the user's own settings, such as `.claude/settings.json` of a
    /// project.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["print", "plugin"])]
    pub(crate) settings: Option<PathBuf>,
    /// Make the change without asking.
    #[arg(long, conflicts_with_all = ["print", "plugin"])]
    pub(crate) yes: bool,
}

fn hook(args: &HookArgs) -> Result<(), Failure> {
    let is_setup = args.print || args.install || args.uninstall || args.plugin.is_some();
    if is_setup {
        return set_up(args);
    }
    if args.settings.is_some() || args.yes {
        let what = anyhow!("--settings and --yes go with --install or --uninstall");
        return Err(Failure::usage(what));
    }
    let importer = args.program.as_deref().and_then(import::by_name);
    let importer = importer.ok_or_else(|| Failure::usage(anyhow!("no program is named")))?;
    let said = match answer_in_time(importer, args.budget) {
        Ok(Some(answer)) => say(&answer).map_err(|failure| failure.words()),
        Ok(None) => Ok(()),
        Err(error) => Err(crate::output::failure::words(&error)),
    };
    if let Err(words) = said {
        complain(&words);
    }
    Ok(())
}

/// The agent goes on, so it is said where a person may look.
fn complain(words: &str) {
    note(&format!("compactometer hook: {words}"));
    hook_log::append(words);
}

fn set_up(args: &HookArgs) -> Result<(), Failure> {
    let executable = std::env::current_exe()
        .context("find the path of this program")
        .map_err(Failure::failed)?;
    let named = program_settings::PROGRAMS
        .iter()
        .find(|program| args.program.as_deref() == Some(program.name));
    let Some(program) = named.filter(|_| !args.print) else {
        return say(&program_settings::text(
            args.program.as_deref(),
            &executable,
            args.budget,
        ));
    };
    let file = args.settings.as_deref();
    if args.uninstall {
        return install::uninstall(program, file, args.yes);
    }
    if let Some(folder) = &args.plugin {
        // Whoever else has the plugin has the program in another place.
        let command = program.command("compactometer".as_ref(), args.budget);
        return install::plugin(program, folder, &command);
    }
    install::must_stay(&executable).map_err(Failure::usage)?;
    let command = program.command(&executable, args.budget);
    install::install(program, file, &command, args.yes)
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
            .take(hook_answer::LONGEST_EVENT)
            .read_to_string(&mut text)?;
        let _ = events.send(text.clone());
        hook_answer::answer(&text, importer, budget, hook_answer::LAST)
    })?;
    if let Some(answered) = answered {
        return answered;
    }
    let event = event.try_recv().context("nothing came on stdin in time")?;
    let less = move || hook_answer::answer(&event, importer, budget, hook_answer::LAST_IF_SLOW);
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
