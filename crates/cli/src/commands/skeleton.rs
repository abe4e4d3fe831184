//! `skeleton`: the structure of sessions as numbers, without a word of them.

use clap::Args;
use std::path::PathBuf;

use anyhow::anyhow;
use compactometer_formats::scenario::Scenario;
use compactometer_formats::suite::is_suite_file;
use compactometer_suites::import::{self, Options};
use compactometer_suites::skeletons::{extract, save};

use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::arguments::suites;
use crate::arguments::transcripts::format_and_files;
use crate::output::destination::Destination;
use crate::output::failure::Failure;
use crate::output::terminal::note;

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "skeleton",
    about: "Write the structure of sessions as numbers, without a word",
    group: HelpGroup::Data,
    arguments: SkeletonArgs::augment_args,
    run: |matches| skeleton(&parsed(matches)?),
};

#[derive(clap::Args)]
#[command(
    after_help = "The file holds numbers and no text: sizes, pauses, and which values stand where. Whoever has the session may \
                  recognize it by them. To make a suite of it, name it in a spec:\n\n  \
                  name = \"mine\"\n  seed = 1\n  window = 128000\n  skeletons = \"mine.jsonl.zst\"\n\nand run `compactometer compare mine.toml`."
)]
pub(crate) struct SkeletonArgs {
    /// Transcripts as `import` takes them, or suites that it wrote.
    #[arg(value_names = ["FORMAT|FILE", "FILE"], num_args = 1.., required = true)]
    pub(crate) inputs: Vec<PathBuf>,
    /// The file to write, compressed if its name ends in `.zst`; `-` for standard output.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Overwrite the file at `--out`.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print only errors on stderr.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

fn skeleton(args: &SkeletonArgs) -> Result<(), Failure> {
    let out = Destination::new(&args.out, args.force).map_err(Failure::usage)?;
    let skeletons = extract(&conversations(args)?);
    let bytes = save(out.path(), &skeletons).map_err(Failure::failed)?;
    let written = out.finish()?;
    if !args.quiet {
        let projects: std::collections::BTreeSet<u32> = skeletons.projects().collect();
        note(&format!(
            "wrote {written}: sessions {}, projects {}, {bytes} bytes, numbers and no text",
            skeletons.len(),
            projects.len()
        ));
    }
    Ok(())
}

fn conversations(args: &SkeletonArgs) -> Result<Vec<Scenario>, Failure> {
    if is_suite_file(&args.inputs[0]) {
        return Ok(suites::join(&args.inputs)
            .map_err(Failure::usage)?
            .scenarios);
    }
    let (importer, files) = format_and_files(&args.inputs)?;
    let imported = import::import(importer, &files, "sessions", &Options::default());
    let scenarios = imported.map_err(Failure::usage)?.suite.scenarios;
    if scenarios.is_empty() {
        return Err(Failure::usage(anyhow!("the files hold no session")));
    }
    Ok(scenarios)
}
