//! `import`: turns transcripts of another program into a suite.

use clap::Args;
use std::path::PathBuf;

use anyhow::anyhow;
use compactometer_suites::import::{self, Options};
use compactometer_suites::properties::measure;
use compactometer_text::suggest::unknown;

use super::{CommandRow, HelpGroup, parsed};
use crate::arguments::suites;
use crate::output::failure::Failure;
use crate::output::terminal::note;

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "import",
    about: "Turn transcripts of another program into a suite",
    group: HelpGroup::Everyday,
    arguments: ImportArgs::augment_args,
    run: |matches| import(&parsed(matches)?),
};

#[derive(clap::Args)]
pub(crate) struct ImportArgs {
    /// The transcripts' format; `compactometer list formats` names them.
    pub(crate) format: String,
    /// The transcripts.
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The suite to write.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Find exact values (ids, numbers, paths) and the calls that use them, so that recall can be measured without labels.
    #[arg(long)]
    pub(crate) auto_facts: bool,
    /// Join N sessions of different groups, interleaved by user turn, into one long conversation.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(2..))]
    pub(crate) concat: Option<u16>,
    /// Keep secrets instead of masking them.
    #[arg(long)]
    pub(crate) keep_secrets: bool,
    /// Refuse input that needs a repair instead of repairing and reporting it.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Overwrite the file at `--out`.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print only errors on stderr.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

fn import(args: &ImportArgs) -> Result<(), Failure> {
    let Some(importer) = import::by_name(&args.format) else {
        let choices = import::ALL.iter().map(|importer| importer.name);
        return Err(Failure::usage(anyhow!(unknown("format", &args.format, choices))));
    };
    suites::must_be_free(&args.out, args.force).map_err(Failure::usage)?;
    let name = args.out.file_stem().map_or_else(|| args.format.clone(), |stem| stem.to_string_lossy().into_owned());
    let options = Options {
        auto_facts: args.auto_facts,
        concat: args.concat.map(usize::from),
        keep_secrets: args.keep_secrets,
        strict: args.strict,
    };
    let imported = import::import(importer, &args.files, &name, &options).map_err(Failure::usage)?;
    suites::write(&args.out, &imported.suite).map_err(Failure::failed)?;
    if !args.quiet {
        for line in imported.report.lines() {
            note(&line);
        }
        for property in measure(&imported.suite) {
            note(&property.line());
        }
        note(&format!("wrote {}", args.out.display()));
    }
    Ok(())
}
