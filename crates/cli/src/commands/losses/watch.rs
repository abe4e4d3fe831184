//! `losses --watch`: what each compaction of a running session left, said when it happens.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::anyhow;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::scenario::Scenario;
use compactometer_harness::ledgers::needed_at;
use compactometer_report::losses::{NeededValues, moment_lines};
use compactometer_suites::import::{self, Importer, Options};
use compactometer_text::wrapping::wrapped;

use super::LossesArgs;
use crate::arguments::transcripts::by_format;
use crate::commands::ledger::longest;
use crate::output::failure::Failure;
use crate::output::terminal::{note, say_while_read, terminal_width};

/// How often the file is looked at.
const OFTEN: Duration = Duration::from_millis(500);
/// Of the time, the reading of a session takes at most one part in so many.
const REST: u32 = 10;
/// The values that calls needed most.
const VALUES: usize = 30;

/// Follows a session until the program is ended, or nobody reads what it says.
pub(super) fn watch(args: &LossesArgs, counter: &dyn TokenCounter) -> Result<(), Failure> {
    let (importer, file) = session(&args.inputs)?;
    let mut told = None;
    let (mut seen, mut read) = (None, None);
    loop {
        let now = state(&file).map_err(|error| {
            Failure::usage(anyhow!("cannot read `{}`: {error}", file.display()))
        })?;
        let started = Instant::now();
        // A compaction is several rows, and between two of them it would seem to leave nothing.
        let is_at_rest = seen.replace(now) == Some(now);
        if is_at_rest && read.replace(now) != Some(now) {
            match (scenario(importer, &file, args), told) {
                (Ok(scenario), _) => {
                    let from = told.unwrap_or_else(|| last_of(&scenario, &file, args.quiet));
                    if !say_moments(&scenario, from, args.budget, counter)? {
                        return Ok(());
                    }
                    told = Some(from.max(scenario.compactions.len()));
                }
                (Err(error), None) => return Err(error),
                (Err(_), Some(_)) => {}
            }
        }
        std::thread::sleep(OFTEN.max(started.elapsed() * REST));
    }
}

/// The one session that is named or chosen.
fn session(inputs: &[PathBuf]) -> Result<(&'static Importer, PathBuf), Failure> {
    let mut found = by_format(inputs)?;
    match found.formats.as_mut_slice() {
        [(importer, files)] if files.len() == 1 => Ok((importer, files.remove(0))),
        _ => Err(Failure::usage(anyhow!(
            "`--watch` follows one session; name one file"
        ))),
    }
}

/// What changes when a file is written.
fn state(file: &Path) -> std::io::Result<(u64, SystemTime)> {
    let found = std::fs::metadata(file)?;
    Ok((found.len(), found.modified()?))
}

fn scenario(importer: &Importer, file: &Path, args: &LossesArgs) -> Result<Scenario, Failure> {
    let options = Options {
        keep_secrets: args.keep_secrets,
        ..Options::default()
    };
    let imported = import::import(importer, &[file.to_owned()], "session", &options);
    let mut suite = imported.map_err(Failure::usage)?.suite;
    import::all_facts(&mut suite);
    longest(&suite.scenarios)
        .cloned()
        .ok_or_else(|| Failure::usage(anyhow!("`{}` has no conversation", file.display())))
}

/// Says what is followed. What was compacted last is said at once.
fn last_of(scenario: &Scenario, file: &Path, quiet: bool) -> usize {
    let made = scenario.compactions.len();
    if !quiet {
        note(&format!(
            "following {}: {} messages, {made} compaction{} so far; Ctrl-C ends this",
            file.display(),
            scenario.messages.len(),
            if made == 1 { "" } else { "s" },
        ));
    }
    made.saturating_sub(1)
}

/// Says what the compactions from a place on left; false if nobody reads it.
fn say_moments(
    scenario: &Scenario,
    from: usize,
    budget: u32,
    counter: &dyn TokenCounter,
) -> Result<bool, Failure> {
    if from >= scenario.compactions.len() {
        return Ok(true);
    }
    let lost = compactometer_harness::losses::losses(scenario.clone(), budget, &[], counter);
    for (place, made) in scenario.compactions.iter().enumerate().skip(from) {
        let (held, gone) = needed_at(scenario, made, VALUES);
        let needed = NeededValues {
            held: held.len(),
            gone,
        };
        for line in moment_lines(&lost, place, &needed).into_iter().flatten() {
            let line = wrapped(&line, terminal_width()).join("\n");
            if !say_while_read(&(line + "\n"))? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
