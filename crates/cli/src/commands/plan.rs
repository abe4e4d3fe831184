//! `plan`: the cases of a run, dealt out to shards that several processes run.

use anyhow::anyhow;
use clap::Args;
use clap::parser::ValueSource;
use compactometer_formats::shards::Shards;
use compactometer_harness::plan::PlannedCase;
use compactometer_harness::shards::{Named, PlanFolder};

use super::command_row::{CommandRow, parsed};
use super::run::failure;
use crate::arguments::RunArgs;
use crate::arguments::help::HelpGroup;
use crate::cost::forecast;
use crate::output::failure::Failure;
use crate::output::terminal::{note, say};
use crate::resolve::{self, ResolvedArguments};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "plan",
    about: "Deal out the replays of a run to shards, for several machines",
    group: HelpGroup::Rest,
    arguments: |command| {
        let command = PlanArgs::augment_args(command).mut_arg("out", |arg| {
            arg.required(true)
                .help("The plan's folder, on a file system that all workers share")
        });
        OF_WORKER.into_iter().fold(command, |command, id| {
            command.mut_arg(id, |arg| arg.hide(true))
        })
    },
    run: |matches| {
        let is_given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
        match OF_WORKER.into_iter().find(is_given) {
            Some(id) => Err(Failure::usage(anyhow!(
                "`--{}` is up to each worker; give it to `run --shard`, which keeps calls and finished replays in the plan's folder",
                id.replace('_', "-")
            ))),
            None => plan(parsed(matches)?),
        }
    },
};

/// Arguments of a run that a plan does not take.
const OF_WORKER: [&str; 4] = ["jobs", "max_cost", "record", "store"];

#[derive(Args)]
struct PlanArgs {
    /// The number of shards, fixed from here on: `N` or `hash:N` (a replay's shard depends on
    /// nothing but the replay), or `slice:N` (sizes differ by at most one replay).
    #[arg(long, value_name = "[RULE:]N")]
    shards: Shards,
    #[command(flatten)]
    run: RunArgs,
}

fn plan(args: PlanArgs) -> Result<(), Failure> {
    let PlanArgs { shards, mut run } = args;
    let prices = run.prices.table()?;
    run.strategies = run.rows().map_err(Failure::usage)?;
    run.sweep.get_or_insert(false);
    let (suite, entrants) = resolve::chosen_to_run(&run)?;
    let mut kept = Vec::new();
    suite.write(&mut kept).map_err(Failure::failed)?;
    let ResolvedArguments {
        plan,
        manifest,
        counter,
        budget,
        ..
    } = resolve::resolved(&run, (suite, entrants), run.sweep.unwrap_or(false), &prices)?;
    let estimate = || {
        forecast(
            &plan,
            counter,
            budget.tariffs(),
            run.setting.requests_per_minute,
        )
    };
    if run.estimate {
        return say(&format!("{}\n", estimate()?));
    }
    let dir = run.out.clone().unwrap_or_default();
    // The suite in the folder is what these have left of it.
    (run.split, run.sample) = (None, None);
    let arguments = serde_json::to_value(&run).map_err(Failure::failed)?;
    let folder = PlanFolder::create(
        &dir,
        shards,
        plan.cases.iter().map(name),
        manifest,
        arguments,
        |out| out.write_all(&kept),
    );
    let folder = folder.map_err(failure)?;
    if !run.quiet {
        let sizes = &folder.plan.cases;
        let (least, most) = (
            sizes.iter().min().copied().unwrap_or(0),
            sizes.iter().max().copied().unwrap_or(0),
        );
        note(&format!(
            "{} replays in {} shards of {least} to {most} replays",
            plan.cases.len(),
            sizes.len()
        ));
        // Last, since it takes longer than all the rest.
        note(&estimate()?);
    }
    say(&format!("{}\n", dir.display()))
}

fn name(case: &PlannedCase) -> Named<'_> {
    Named {
        key: &case.key,
        protocol: case.protocol.name(),
        conversation: &case.prepared.scenario.id,
        strategy: &case.entrant.name,
    }
}
