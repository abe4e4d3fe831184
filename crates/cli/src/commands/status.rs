//! `status`: how far the shards of a plan are.

use std::path::PathBuf;

use clap::Args;
use compactometer_harness::shards::status;

use super::command_row::{CommandRow, parsed};
use super::run::{failure, opened};
use crate::arguments::help::HelpGroup;
use crate::output::failure::Failure;
use crate::output::terminal::{say, say_json};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "status",
    about: "Print which shards of a plan are done and which are missing",
    group: HelpGroup::Rest,
    arguments: StatusArgs::augment_args,
    run: |matches| print(&parsed(matches)?),
};

#[derive(Args)]
struct StatusArgs {
    /// The folder of a plan.
    dir: PathBuf,
    /// Print JSON. Its `array` holds the missing shards as `sbatch --array` takes them.
    #[arg(long)]
    json: bool,
}

fn print(args: &StatusArgs) -> Result<(), Failure> {
    let status = status(&opened(&args.dir)?).map_err(failure)?;
    if args.json {
        return say_json(&status);
    }
    let mut text = format!(
        "shards  {} of {} are done\ncases   {} of {} are finished\n",
        status.done, status.shards, status.finished, status.cases
    );
    let begun = status
        .missing
        .iter()
        .filter(|shard| shard.attempts > 0)
        .collect::<Vec<_>>();
    if !begun.is_empty() {
        text.push_str("\nshard    finished   attempts\n");
    }
    for shard in begun {
        let finished = format!("{}/{}", shard.finished, shard.cases);
        text.push_str(&format!(
            "{:>5}  {finished:>10}  {:>9}\n",
            shard.shard, shard.attempts
        ));
    }
    if !status.array.is_empty() {
        text.push_str(&format!("\nmissing {}\n", status.array));
    }
    say(&text)
}
