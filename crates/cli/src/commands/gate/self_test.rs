//! Tests the gate on runs that differ in their seed.

use anyhow::{Context, anyhow};
use compactometer_formats::mock_name::is_mock;
use compactometer_formats::prices::PriceTable;
use compactometer_report::RunFiles;
use compactometer_report::gate;
use tempfile::TempDir;

use super::{GateArgs, as_run, read_run, run_args};
use crate::commands::run;
use crate::output::failure::Failure;
use crate::output::terminal::{note, say, say_json};

/// Tests the gate on two runs that differ in their seed: two given runs, one given run and a
/// repetition of its command, or two runs of the suite `smoke`.
pub(super) fn self_test(args: &GateArgs, prices: &PriceTable) -> Result<(), Failure> {
    let scratch = tempfile::tempdir()
        .context("cannot make a temporary folder")
        .map_err(Failure::failed)?;
    let (first, second) = two_runs(args, &scratch)?;
    let found = gate::self_test(
        &first,
        &second,
        prices,
        args.margin,
        usize::from(args.gates),
    )
    .map_err(Failure::usage)?;
    if args.json {
        say_json(&found)?;
    } else {
        say(&gate::self_test_text(&found))?;
    }
    if found.ok {
        return Ok(());
    }
    Err(Failure::failed(anyhow!(
        "the gate does not keep its error rates on these runs"
    )))
}

fn two_runs(args: &GateArgs, scratch: &TempDir) -> Result<(RunFiles, RunFiles), Failure> {
    match &args.dirs[..] {
        [first, second] => Ok((read_run(first)?, read_run(second)?)),
        [first] => {
            let first = read_run(first)?;
            let second = again(&first, scratch)?;
            Ok((first, second))
        }
        [] => {
            let run = |seed: u64| embedded(seed, args.quiet, scratch);
            Ok((run(0)?, run(1)?))
        }
        more => Err(Failure::usage(anyhow!(
            "a self-test takes at most two runs' folders; there are {}",
            more.len()
        ))),
    }
}

/// The strategies of a self-test without a given run: they make few calls and summarize in
/// different ways.
const SELF_TESTED: &str = "summarize,progressive,chained";

fn embedded(seed: u64, quiet: bool, scratch: &TempDir) -> Result<RunFiles, Failure> {
    if !quiet {
        note(&format!("running the suite `smoke`, seed {seed}"));
    }
    repeat(
        &[
            "run",
            "smoke",
            "-s",
            SELF_TESTED,
            "--seed",
            &seed.to_string(),
        ]
        .map(str::to_owned),
        scratch,
    )
}

/// Repeats a run's command under the next seed, if that costs nothing.
fn again(first: &RunFiles, scratch: &TempDir) -> Result<RunFiles, Failure> {
    let manifest = &first.manifest;
    let models = [manifest.summarizer.as_str(), manifest.target_model()];
    if let Some(model) = models.into_iter().find(|model| !is_mock(model)) {
        return Err(Failure::usage(anyhow!(
            "a second run with `{model}` may cost money: run the same command with another `--seed` and name both folders"
        )));
    }
    let mut command = Vec::new();
    let mut words = as_run(manifest).into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--seed" => drop(words.next()),
            word if word.starts_with("--seed=") => {}
            _ => command.push(word),
        }
    }
    let seed = manifest.seed.wrapping_add(1).to_string();
    command.extend(["--seed".to_owned(), seed]);
    repeat(&command, scratch)
}

/// Runs a command line of this program in a folder of its own.
fn repeat(command: &[String], scratch: &TempDir) -> Result<RunFiles, Failure> {
    let seed = command.last().cloned().unwrap_or_default();
    let dir = scratch.path().join(seed);
    let mut args = run_args(command)?;
    args.out = Some(dir.clone());
    args.quiet = true;
    run::records(&args)?;
    read_run(&dir)
}
