//! `compare`: strategies on a suite, with a report.

pub(super) mod cases;
pub(super) mod mocks;
mod outcome;
mod reruns;

use std::path::Path;

use anyhow::anyhow;
use clap::Args;
use compactometer_formats::manifest::Manifest;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::summary::Summary;
use compactometer_harness::plan::{Plan, Prospects};
use compactometer_report::Screen;

use super::command_row::{CommandRow, parsed};
use super::run::{FinishedRun, execute, jobs, records_of};
use crate::arguments::help::HelpGroup;
use crate::arguments::{DEFAULT_MODEL, RunArgs, encoding};
use crate::output::failure::Failure;
use crate::output::run_folder;
use crate::output::terminal::{note, say, say_json, terminal_width};
use crate::output::tries;

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "compare",
    about: "Run strategies on a suite and report what each lost: the main job",
    group: HelpGroup::Everyday,
    arguments: CompareArgs::augment_args,
    run: |matches| compare(&parsed(matches)?),
};

#[derive(clap::Args)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
    /// Also run the strategies under these mocks, separated by commas, on one conversation of each
    /// of 4 conversations, and report how their order changes. A number asks for that many random draws of
    /// what the run's own mock assumes (weights, share read, noise, lists of files, length of
    /// replies); 50 is a good one. Default: `mock:strong,mock:lost-in-compaction-length` where
    /// nothing but defaults is asked for, otherwise none.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "MOCKS",
        value_delimiter = ','
    )]
    pub(crate) mocks: Option<Vec<mocks::MockItem>>,
    /// Which conversations have pages that show what each strategy lost of them, linked from the
    /// report: `none`, `some` (the first ones, up to 25 MB of pages), `all`, or a number of them.
    /// A finished run gets its other pages from the same command with `--cases all`, which calls no
    /// model.
    #[arg(
        hide_short_help = true,
        long,
        value_name = "WHICH",
        default_value = "some"
    )]
    pub(crate) cases: cases::WhichCases,
}

/// How much of a report is printed.
#[derive(clap::Args)]
pub(crate) struct ShownArgs {
    /// Print every row of the table instead of eleven.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print every note, every paired difference and the points of sweeps.
    #[arg(long)]
    pub(crate) notes: bool,
    /// Also print what the source documents ask of themselves, and which rows meet it.
    #[arg(hide_short_help = true, long)]
    pub(crate) targets: bool,
    /// Also print what the recorded program kept in each of its versions, from imported sessions.
    #[arg(hide_short_help = true, long, value_name = "PART", value_parser = ["version"])]
    pub(crate) by: Option<String>,
    /// Print `summary.json` instead of the table.
    #[arg(long)]
    pub(crate) json: bool,
}

impl ShownArgs {
    /// Prints the sentences and the table, or the summary's JSON.
    pub(crate) fn show(&self, summary: &Summary) -> Result<(), Failure> {
        if self.json {
            return say_json(summary);
        }
        let screen = Screen {
            width: terminal_width(),
            all_rows: self.all,
            all_notes: self.notes,
        };
        say(&compactometer_report::table(summary, &screen))?;
        if self.targets {
            let targets = compactometer_report::by_target(summary, terminal_width());
            say(&format!("\n{targets}"))?;
        }
        if self.by.is_none() {
            return Ok(());
        }
        let by_version = compactometer_report::by_version(summary).ok_or_else(|| {
            Failure::usage(anyhow!(
                "no conversation has the version of a program that compacted it; `compactometer import` keeps it where a transcript does"
            ))
        })?;
        say(&format!("\n{by_version}"))
    }
}

/// What is wrong with a suite in which nothing can be looked for, and what to do.
pub(super) const NO_FACT: &str = "the suite has no fact that recall could count; `compactometer import FORMAT FILE... --auto-facts` takes exact \
                                 values of transcripts as facts, `compactometer generate` writes conversations with facts";

/// Runs the strategies and writes the report.
pub(crate) fn compare(args: &CompareArgs) -> Result<(), Failure> {
    let prices = args.run.prices.table()?;
    let sweep = args.run.sweep.unwrap_or(is_default(&args.run));
    let setting = &args.run.setting;
    let summarizer = setting.summarizer.as_deref().unwrap_or(&setting.model);
    let mocks = mocks::wanted(args.mocks.as_deref(), summarizer, is_default(&args.run))?;
    let Some(finished) = execute(&args.run, sweep, &prices)? else {
        return Ok(());
    };
    let FinishedRun {
        dir,
        plan,
        mut manifest,
    } = finished;
    let (prices, _) = prices;
    under_mocks(args, &mocks, &dir, &plan, &mut manifest)?;
    tries::add_to(&mut manifest, std::slice::from_ref(&dir)).map_err(Failure::failed)?;
    cases::write(&dir, &plan, &manifest, args.cases, args.run.quiet)?;
    // A report reads only records. Dropping the plan keeps a large suite's conversations and
    // records from being in memory together.
    let prospects = Prospects::new(&plan);
    drop(plan);
    let records = records_of(&dir)?;
    let summary =
        compactometer_report::write(&dir, &manifest, &records, &prices).map_err(Failure::failed)?;
    run_folder::point_latest(&dir).map_err(Failure::failed)?;
    args.shown.show(&summary)?;
    if !args.run.quiet {
        note(&format!("report: {}", dir.join("index.html").display()));
    }
    verdict(&summary)?;
    outcome::check(&summary, &prospects)
}

/// Reruns some cases under other mocks, if any are wanted, and adds what that shows to the manifest.
fn under_mocks(
    args: &CompareArgs,
    mocks: &[mocks::Other],
    dir: &Path,
    plan: &Plan,
    manifest: &mut Manifest,
) -> Result<(), Failure> {
    if mocks.is_empty() {
        return Ok(());
    }
    let counter = encoding(&args.run.setting.tokenizer)?;
    let jobs = jobs(&args.run);
    if let Some(found) = mocks::test(plan, dir, mocks, &counter, jobs, args.run.quiet)? {
        mocks::write(dir, &found)?;
        mocks::add_to(manifest, &found);
    }
    Ok(())
}

/// Whether nothing is asked for but the program's own suite, strategies and mock: then the sweeps
/// and other mocks are part of the run.
fn is_default(args: &RunArgs) -> bool {
    let RunArgs {
        suites,
        split,
        sample,
        strategies,
        set,
        protocol,
        setting,
        judge,
        ..
    } = args;
    let is_of_defaults = suites.is_empty()
        && split.is_none()
        && sample.is_none()
        && set.is_empty()
        && judge.is_none();
    is_of_defaults
        && strategies.is_empty()
        && *protocol == [Protocol::default()]
        && setting.model == DEFAULT_MODEL
        && setting.summarizer.is_none()
        && setting.checkpointer.is_none()
        && setting.retain.is_empty()
}

/// Fails if a hard check failed.
pub(crate) fn verdict(summary: &Summary) -> Result<(), Failure> {
    let swept = summary
        .sweep
        .iter()
        .flat_map(|sweep| &sweep.replays)
        .flat_map(|replay| &replay.checks);
    let checks = summary
        .groups
        .iter()
        .flat_map(|group| &group.checks)
        .chain(swept);
    match checks.filter(|check| check.passed == Some(false)).count() {
        0 => Ok(()),
        failed => Err(Failure::failed(anyhow!(
            "hard checks failed: {failed}; the report is written, but its numbers cannot be trusted"
        ))),
    }
}
