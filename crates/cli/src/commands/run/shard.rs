//! `run --shard`: one shard of a plan.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::anyhow;
use clap::ArgMatches;
use clap::parser::ValueSource;
use compactometer_formats::manifest::Manifest;
use compactometer_formats::shards::{Shard, ShardPlan};
use compactometer_harness::shards::{
    PlanFolder, ShardClaim, ShardError, ShardOutcome, Worker, tries_of,
};
use compactometer_models::tries;

use super::{Interrupt, RunCommand, jobs, run_error};
use crate::arguments::RunArgs;
use crate::output::failure::Failure;
use crate::output::progress;
use crate::output::run_folder;
use crate::output::terminal::note;
use crate::resolve::{self, ResolvedArguments};

/// Flags that a worker may have; everything else is the plan's.
const OF_WORKER: [&str; 10] = [
    "suites",
    "shard",
    "at_once",
    "requests_per_minute",
    "call_timeout",
    "jobs",
    "quiet",
    "max_cost",
    "prices",
    "verbose",
];

/// Runs a shard, and says how it ended.
pub(super) fn run(args: &RunCommand, named: &str, matches: &ArgMatches) -> Result<(), Failure> {
    let [dir] = &args.run.suites[..] else {
        return Err(Failure::usage(anyhow!(
            "`--shard` needs one folder, that of a plan: `compactometer run --shard {named} DIR`"
        )));
    };
    if let Some(flag) = flag_of_plan(matches) {
        return Err(Failure::usage(anyhow!(
            "the plan sets `--{flag}`; leave it out, or make another plan"
        )));
    }
    let folder = PlanFolder::open(dir).map_err(failure)?;
    let shard = shard(named, &folder.plan).map_err(Failure::usage)?;
    if folder.is_done(shard).map_err(failure)? {
        return told(&args.run, &format!("shard {shard} is already done"));
    }
    let claim = folder.claim(shard).map_err(failure)?;
    let planned = arguments(args, &folder, &claim)?;
    let prices = args.run.prices.table()?;
    let chosen = resolve::chosen_to_run(&planned)?;
    let ResolvedArguments {
        counter,
        budget,
        opened,
        plan,
        manifest,
    } = resolve::resolved(&planned, chosen, planned.sweep.unwrap_or(false), &prices)?;
    // The price table is that of whoever reports.
    let manifest = Manifest {
        prices_hash: folder.plan.manifest.prices_hash.clone(),
        ..manifest
    };
    if let Some(field) = run_folder::difference(&folder.plan.manifest, &manifest) {
        return Err(failure(ShardError::OtherCases {
            dir: dir.to_owned(),
            what: format!("{field} differs"),
        }));
    }
    let worker = Worker::new(&folder, &plan, shard).map_err(failure)?;
    let missing = worker
        .missing()
        .into_iter()
        .map(|place| &plan.cases[place])
        .collect::<Vec<_>>();
    budget.agree(&missing, planned.quiet)?;
    budget.keep_journal(&tries_of(&claim.calls))?;
    let earlier = claim
        .earlier
        .iter()
        .map(|calls| tries::read(&tries_of(calls)));
    let earlier = earlier
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::usage)?;
    budget.count_spent(&[], &earlier.concat(), &planned.setting)?;
    let cases = worker.cases();
    let bar = progress::bar(cases, "replays", planned.quiet);
    let interrupt = Interrupt::listen();
    interrupt.total.store(cases, Ordering::Relaxed);
    let told_progress = |done: usize| {
        interrupt.kept.store(done, Ordering::Relaxed);
        bar.set_position(done as u64);
    };
    let stop = on_termination().map_err(Failure::failed)?;
    let outcome = worker.run(
        &claim,
        opened.models(),
        &counter,
        jobs(&planned),
        &stop,
        &told_progress,
    );
    bar.finish_and_clear();
    how_it_ended(&planned, shard, cases, outcome.map_err(failure)?)
}

fn how_it_ended(
    args: &RunArgs,
    shard: Shard,
    cases: usize,
    outcome: ShardOutcome,
) -> Result<(), Failure> {
    match outcome {
        ShardOutcome::Done => told(args, &format!("shard {shard} is done: {cases} replays")),
        ShardOutcome::NotCounted => told(
            args,
            &format!(
                "another worker finished shard {shard} first; the replays of this one do not count"
            ),
        ),
        ShardOutcome::Stopped { kept } => Err(Failure::later(anyhow!(
            "stopped: {kept} of {cases} replays of shard {shard} are kept; the same command resumes"
        ))),
    }
}

/// A flag of the command line that only a plan sets.
fn flag_of_plan(matches: &ArgMatches) -> Option<String> {
    let is_given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let mut ids = matches
        .ids()
        .map(clap::Id::as_str)
        .filter(|id| matches.try_contains_id(id).is_ok());
    let id = ids.find(|id| {
        is_given(id) && !OF_WORKER.contains(id) && !id.chars().any(char::is_uppercase)
    })?;
    Some(id.replace('_', "-"))
}

fn told(args: &RunArgs, what: &str) -> Result<(), Failure> {
    if !args.quiet {
        note(what);
    }
    Ok(())
}

/// Is set when the process is asked to end (SIGTERM, which schedulers send before they kill):
/// running cases are finished, and no other is begun.
fn on_termination() -> std::io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()?;
        let mut asked = {
            let _within = runtime.enter();
            signal(SignalKind::terminate())?
        };
        let shared = Arc::clone(&stop);
        std::thread::spawn(move || {
            runtime.block_on(asked.recv());
            shared.store(true, Ordering::Relaxed);
        });
    }
    Ok(stop)
}

/// The shard that is meant. Its number of shards must be the plan's.
fn shard(named: &str, plan: &ShardPlan) -> anyhow::Result<Shard> {
    let of = plan.shards;
    let shard = match named {
        "auto" => automatic(of, |name| std::env::var(name).ok())?,
        named => named
            .parse::<Shard>()
            .map_err(|expected| anyhow!("`--shard {named}`: {expected}, or `auto`"))?,
    };
    if shard.of != of {
        anyhow::bail!(
            "`--shard {named}`: the plan has {of} shards; their number is fixed, so that no replay is run twice or left out"
        );
    }
    Ok(shard)
}

/// Where job schedulers put the number of a task, and its first number.
const VARIABLES: [(&str, u32); 2] = [("SLURM_ARRAY_TASK_ID", 1), ("JOB_COMPLETION_INDEX", 0)];

fn automatic(of: u32, variable: impl Fn(&str) -> Option<String>) -> anyhow::Result<Shard> {
    let set = VARIABLES
        .into_iter()
        .filter_map(|(name, first)| Some((name, first, variable(name)?)));
    let set = set.collect::<Vec<_>>();
    let [(name, first, value)] = &set[..] else {
        return Err(undecided(set.is_empty(), of));
    };
    let index = value
        .parse::<u32>()
        .ok()
        .and_then(|index| index.checked_sub(*first));
    match index.filter(|index| *index < of) {
        Some(index) => Ok(Shard {
            number: index + 1,
            of,
        }),
        None => anyhow::bail!(
            "`{name}` is `{value}`; the plan has {of} shards, so it must be from {first} to {}",
            of - 1 + first
        ),
    }
}

fn undecided(is_unset: bool, of: u32) -> anyhow::Error {
    let names = VARIABLES.map(|(name, _)| format!("`{name}`")).join(" and ");
    let found = if is_unset {
        "neither is set"
    } else {
        "both are set"
    };
    anyhow::anyhow!(
        "`--shard auto` needs one of {names}, and {found}; name the shard, as in `--shard 3/{of}`"
    )
}

/// The plan's arguments, with what this worker decides for itself.
fn arguments(
    command: &RunCommand,
    folder: &PlanFolder,
    claim: &ShardClaim,
) -> Result<RunArgs, Failure> {
    let given = &command.run;
    let planned = serde_json::from_value::<RunArgs>(folder.plan.arguments.clone());
    let mut planned = planned.map_err(|error| {
        Failure::usage(anyhow!(
            "the plan's arguments cannot be read ({error}): use the program that made the plan"
        ))
    })?;
    planned.suites = vec![folder.suite()];
    planned.jobs = given.jobs;
    planned.quiet = given.quiet;
    planned.max_cost = given.max_cost;
    planned.setting.call_timeout = given.setting.call_timeout;
    planned.setting.requests_per_minute = share(
        given.setting.requests_per_minute,
        command.at_once,
        folder.plan.shards,
    )?;
    // What a server answered is paid for once, whatever happens to the process.
    let setting = &mut planned.setting;
    let models = [
        Some(&setting.model),
        setting.summarizer.as_ref(),
        setting.checkpointer.as_ref(),
        planned.judge.as_ref(),
    ];
    let is_served = |spec: &&String| matches!(compactometer_models::receiver(spec), Ok(Some(_)));
    if models.into_iter().flatten().any(|spec| is_served(&spec)) {
        setting.record = Some(claim.calls.clone());
        setting.earlier.clone_from(&claim.earlier);
    }
    Ok(planned)
}

/// This worker's share of the requests that all workers may make in a minute.
fn share(
    all: Option<NonZeroU32>,
    at_once: Option<NonZeroU32>,
    shards: u32,
) -> Result<Option<NonZeroU32>, Failure> {
    let Some(all) = all else { return Ok(None) };
    let at_once = at_once.map_or(shards, NonZeroU32::get).min(shards);
    NonZeroU32::new(all.get() / at_once).map(Some).ok_or_else(|| {
        Failure::usage(anyhow!(
            "{all} requests per minute are fewer than one for each of {at_once} workers; run fewer at once and name their number with \
             `--at-once`"
        ))
    })
}

/// The exit code of a failure: 4 if shards are missing, 75 if the same command may work later.
pub(in crate::commands) fn failure(error: ShardError) -> Failure {
    match error {
        ShardError::Run(error) => run_error(error),
        ShardError::Incomplete { .. } => Failure::inconclusive(error),
        ShardError::NoLinks { .. } => Failure::failed(error),
        _ => Failure::usage(error),
    }
}

/// For plans that are named by a path.
pub(in crate::commands) fn opened(dir: &Path) -> Result<PlanFolder, Failure> {
    PlanFolder::open(dir).map_err(failure)
}

#[cfg(test)]
mod tests {
    use super::automatic;

    #[test]
    fn the_number_of_a_task_counts_from_where_its_scheduler_does() {
        let shard = |set: &[(&str, &str)]| {
            let found = |name: &str| {
                set.iter()
                    .find(|(other, _)| *other == name)
                    .map(|(_, value)| (*value).to_owned())
            };
            automatic(24, found)
                .map(|shard| shard.number)
                .map_err(|error| error.to_string())
        };
        assert_eq!(shard(&[("SLURM_ARRAY_TASK_ID", "24")]), Ok(24));
        assert_eq!(shard(&[("JOB_COMPLETION_INDEX", "0")]), Ok(1));
        for set in [
            &[("SLURM_ARRAY_TASK_ID", "0")][..],
            &[("SLURM_ARRAY_TASK_ID", "25")],
            &[("JOB_COMPLETION_INDEX", "24")],
            &[("JOB_COMPLETION_INDEX", "x")],
            &[],
            &[("SLURM_ARRAY_TASK_ID", "1"), ("JOB_COMPLETION_INDEX", "1")],
        ] {
            assert!(shard(set).is_err(), "{set:?}");
        }
    }
}
