//! `merge`: the finished shards of a plan as one run.

use std::path::PathBuf;

use clap::Args;
use compactometer_harness::shards::merge;

use super::command_row::{CommandRow, parsed};
use super::run::{failure, opened};
use crate::arguments::help::HelpGroup;
use crate::output::failure::Failure;
use crate::output::progress;
use crate::output::terminal::{note, say};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "merge",
    about: "Merge the finished shards of a plan into the folder of a run",
    group: HelpGroup::Rest,
    arguments: MergeArgs::augment_args,
    run: |matches| write(&parsed(matches)?),
};

#[derive(Args)]
struct MergeArgs {
    /// The folder of a plan.
    dir: PathBuf,
    /// The folder to create: that of the run as one process would have written it. `report` and `gate` read it.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Print only errors on stderr.
    #[arg(short, long)]
    quiet: bool,
}

fn write(args: &MergeArgs) -> Result<(), Failure> {
    let folder = opened(&args.dir)?;
    let cases = folder.plan.cases.iter().map(|cases| *cases as usize).sum();
    let bar = progress::bar(cases, "cases", args.quiet);
    let merged = merge(&folder, &args.out, &|done| bar.set_position(done as u64));
    bar.finish_and_clear();
    let merged = merged.map_err(failure)?;
    if !args.quiet {
        note(&format!("merged {} shards: {} cases, {} texts", folder.plan.shards, merged.cases, merged.texts));
    }
    say(&format!("{}\n", args.out.display()))
}
