//! `run`: strategies on a suite, with records and without a report, or one shard of a plan.

mod shard;

pub(super) use shard::{failure, opened};

use std::num::NonZeroU32;

use clap::Args;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::manifest::Manifest;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::record::Record;
use compactometer_harness::plan::{Plan, PlanOptions, PlannedCase};
use compactometer_harness::run::{
    Models, RunError, RunOutcome, Stopped, StorePrices, read_records, run_in_store,
};
use compactometer_text::wrapping::wrapped;

use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::arguments::{RunArgs, agents, recordings, stores};
use crate::cost::{self, CostEstimate};
use crate::output::failure::Failure;
use crate::output::progress::{self, Forecast};
use crate::output::run_folder::{self};
use crate::output::terminal::{self, note, say, terminal_width};
use crate::output::tries;
use crate::resolve::{self, ResolvedArguments};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "run",
    about: "Run strategies on a suite and write records only",
    group: HelpGroup::Rest,
    arguments: RunCommand::augment_args,
    run: |matches| {
        let args = parsed::<RunCommand>(matches)?;
        match &args.shard {
            Some(named) => shard::run(&args, named, matches),
            None => run(&args.run),
        }
    },
};

#[derive(Args)]
struct RunCommand {
    #[command(flatten)]
    run: RunArgs,
    /// Run one shard of the plan whose folder is given in place of a suite: `3/24`, or `auto`,
    /// which takes the number from `SLURM_ARRAY_TASK_ID` or `JOB_COMPLETION_INDEX`.
    #[arg(hide_short_help = true, long, value_name = "I/N|auto")]
    shard: Option<String>,
    /// How many shards run at the same time, by which `--requests-per-minute` is divided. Default:
    /// all of them.
    #[arg(hide_short_help = true, long, value_name = "N", requires = "shard")]
    at_once: Option<NonZeroU32>,
}

/// Runs, and prints where the records are.
fn run(args: &RunArgs) -> Result<(), Failure> {
    let Some(finished) = execute(args, args.sweep.unwrap_or(false), &args.prices.table()?)? else {
        return Ok(());
    };
    say(&format!(
        "{}\n",
        finished.dir.join("records.jsonl").display()
    ))
}

/// Runs without printing to stdout.
pub(super) fn records(args: &RunArgs) -> Result<(), Failure> {
    execute(args, args.sweep.unwrap_or(false), &args.prices.table()?).map(drop)
}

/// A finished run and its folder.
pub(super) struct FinishedRun {
    pub(super) dir: PathBuf,
    pub(super) plan: Plan,
    pub(super) manifest: Manifest,
}

pub(super) fn records_of(dir: &Path) -> Result<Vec<Record>, Failure> {
    read_records(dir).map_err(Failure::failed)
}

/// Runs, with sweeps if `sweep`; returns nothing if only an estimate was requested.
pub(super) fn execute(
    args: &RunArgs,
    sweep: bool,
    prices: &(PriceTable, String),
) -> Result<Option<FinishedRun>, Failure> {
    let interrupt = Interrupt::listen();
    // This comes first, since opening a model creates the folder of its recording.
    let (suite, entrants) = resolve::chosen_to_run(args)?;
    let taped = args
        .setting
        .record
        .as_deref()
        .map(|folder| (folder, suite.clone()));
    let ResolvedArguments {
        counter,
        budget,
        opened,
        plan,
        manifest,
    } = resolve::resolved(args, (suite, entrants), sweep, prices)?;
    let dir = run_folder::folder(args.out.as_deref(), &manifest);
    if !args.quiet {
        announce(&plan, &manifest);
    }
    let done = cost::done(&dir)?;
    let missing = cost::missing(&plan, &done);
    if args.estimate {
        return say(&CostEstimate::new(&missing, counter, budget.tariffs())?.table())
            .map(|()| None);
    }
    budget.agree(&missing, args.quiet)?;
    run_folder::prepare(&dir, &manifest).map_err(Failure::usage)?;
    budget.keep_journal(&dir)?;
    let tries = compactometer_models::tries::read(&dir).map_err(Failure::usage)?;
    budget.count_spent(&done, &tries, &args.setting)?;
    if let Some((folder, suite)) = taped {
        args.rows()
            .and_then(|rows| recordings::keep(folder, &suite, &rows))
            .map_err(Failure::usage)?;
    }
    drop((done, tries));
    let outcome = run_cases(
        args,
        (&plan, &prices.0),
        opened.models(),
        &counter,
        &dir,
        &interrupt,
    );
    // Also where the limit on cost ended the run: what failed has its part in it.
    if !args.quiet {
        tries::tell(&dir).map_err(Failure::failed)?;
    }
    let outcome = outcome?;
    if !args.quiet {
        tell_outcome(&plan, &outcome);
    }
    Ok(Some(FinishedRun {
        dir,
        plan,
        manifest,
    }))
}

/// What the calls of records in a store cost.
fn store_prices(plan: &Plan, prices: &PriceTable) -> StorePrices {
    let PlanOptions {
        summarizer,
        checkpointer,
        ..
    } = &plan.options;
    let checkpointer = checkpointer.as_ref().unwrap_or(summarizer);
    StorePrices {
        summarizer: prices.summarizer_row(summarizer).cloned(),
        checkpointer: prices.checkpointer_row(checkpointer).cloned(),
    }
}

fn run_cases(
    args: &RunArgs,
    (plan, prices): (&Plan, &PriceTable),
    models: Models<'_>,
    counter: &dyn TokenCounter,
    dir: &Path,
    interrupt: &Interrupt,
) -> Result<RunOutcome, Failure> {
    let store = args
        .store
        .as_deref()
        .map(stores::open)
        .transpose()
        .map_err(Failure::usage)?;
    let bar = progress::bar(plan.cases.len(), "replays", args.quiet);
    let forecast = Forecast::new(
        plan.cases.len(),
        args.quiet || terminal::can_show_progress(),
    );
    interrupt.total.store(plan.cases.len(), Ordering::Relaxed);
    let jobs = jobs(args);
    let told = |done| {
        interrupt.kept.store(done, Ordering::Relaxed);
        forecast.done(done);
        bar.set_position(done as u64);
    };
    let outcome = match &store {
        Some(store) => run_in_store(
            plan,
            models,
            counter,
            jobs,
            dir,
            (store, store_prices(plan, prices)),
            &told,
        ),
        None => compactometer_harness::run::run(plan, models, counter, jobs, dir, &told),
    };
    bar.finish_and_clear();
    outcome.map_err(run_error)
}

/// The exit code of a run's failure.
fn run_error(error: RunError) -> Failure {
    match error {
        RunError::Journal(_) | RunError::Foreign { .. } => Failure::usage(error),
        RunError::Model(Stopped { later: true, .. }) => Failure::later(error),
        RunError::Model(_)
        | RunError::Rejected(_)
        | RunError::Write(_)
        | RunError::Runtime(_)
        | RunError::Keep(_) => Failure::failed(error),
    }
}

/// The number of threads: the given one, else one for each core.
pub(super) fn jobs(args: &RunArgs) -> usize {
    let cores = || std::thread::available_parallelism().ok().map(usize::from);
    args.jobs.map(usize::from).or_else(cores).unwrap_or(1)
}

/// What Ctrl-C prints.
#[derive(Default)]
struct Interrupt {
    /// Cases that are recorded.
    kept: AtomicUsize,
    /// Cases of the run; 0 before it begins.
    total: AtomicUsize,
}

impl Interrupt {
    /// Prints what is kept on Ctrl-C, and ends the agents. Nothing else is needed, since records are
    /// written whole.
    fn listen() -> Arc<Self> {
        let interrupt = Arc::new(Interrupt::default());
        let shared = Arc::clone(&interrupt);
        // Without a handler Ctrl-C still ends the program, only silently.
        let _ = ctrlc::set_handler(move || {
            let [kept, total] =
                [&shared.kept, &shared.total].map(|count| count.load(Ordering::Relaxed));
            note(&match total {
                0 => "\ninterrupted before the first replay; nothing is kept".to_owned(),
                _ => format!(
                    "\ninterrupted: {kept} of {total} replays are kept; the same command resumes"
                ),
            });
            agents::end_interrupted();
        });
        interrupt
    }
}

/// Prints what is run in one line.
fn announce(plan: &Plan, manifest: &Manifest) {
    let line = format!(
        "{}: {} replays of {} conversation{}; context window {} tokens ({})",
        manifest.suite,
        plan.cases.len(),
        manifest.conversations,
        if manifest.conversations == 1 { "" } else { "s" },
        plan.sizes.window,
        plan.window_reason
    );
    wrapped(&line, terminal_width())
        .iter()
        .for_each(|line| note(line));
}

/// Prints what a reader of the records would not expect: what was resumed, refused, or never
/// compacted.
fn tell_outcome(plan: &Plan, outcome: &RunOutcome) {
    if outcome.resumed > 0 {
        note(&format!(
            "resumed: {} of {} replays were already recorded",
            outcome.resumed,
            plan.cases.len()
        ));
    }
    if outcome.continued > 0 {
        note(&format!(
            "continued {} unfinished conversations from their store",
            outcome.continued
        ));
    }
    if outcome.rejected > 0 {
        note(&format!(
            "the server rejected the form of {} requests; each counts as a failed call",
            outcome.rejected
        ));
    }
    let idle = idle(plan, outcome);
    if !idle.is_empty() {
        note(&format!(
            "not every conversation was compacted: {}",
            idle.join(", ")
        ));
    }
}

/// Those that left conversations as they were, with the number of conversations that they
/// compacted, for each protocol.
fn idle(plan: &Plan, outcome: &RunOutcome) -> Vec<String> {
    let mut found = Vec::new();
    for protocol in &plan.options.protocols {
        let prefix = if plan.options.protocols.len() > 1 {
            format!("{}: ", protocol.name())
        } else {
            String::new()
        };
        for entrant in plan
            .options
            .entrants
            .iter()
            .filter(|entrant| entrant.compacts())
        {
            let is_of = |case: &PlannedCase| {
                case.protocol == *protocol
                    && case.entrant.name == entrant.name
                    && !plan.is_swept(case)
            };
            let cases = plan
                .cases
                .iter()
                .zip(&outcome.rounds)
                .filter(|(case, _)| is_of(case));
            let (all, compacted) = (
                cases.clone().count(),
                cases.filter(|(_, rounds)| **rounds > 0).count(),
            );
            if compacted < all {
                found.push(format!("{prefix}{} {compacted} of {all}", entrant.name));
            }
        }
    }
    found
}
