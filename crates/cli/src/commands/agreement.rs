//! `agreement`: compares a mock's order of strategies with a model's.

use clap::Args;
use std::path::{Path, PathBuf};

use anyhow::Context;
use compactometer_formats::prices::PriceTable;
use compactometer_report::RunFiles;
use compactometer_report::agreement::agreement as compared;

use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::output::failure::Failure;
use crate::output::report_file::write_report;
use crate::output::terminal::{say, say_json, terminal_width};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "agreement",
    about: "Check whether a mock puts strategies in the same order as a model, from two runs of one suite",
    group: HelpGroup::Rest,
    arguments: AgreementArgs::augment_args,
    run: |matches| agreement(&parsed(matches)?),
};

#[derive(clap::Args)]
#[command(
    after_help = "The runs differ in `--model` or `--summarizer`, `--seed` and `--out` only. Skipped: strategies missing from a run,\n\
    failing over 5 % of their compactions, or over the context window in over 5 % of their turns.\n\
    Exit codes: 0 done, whatever the claim, 2 usage or mismatch."
)]
pub(crate) struct AgreementArgs {
    /// Folder of the mock's run.
    #[arg(value_name = "MOCK")]
    pub(crate) mock: PathBuf,
    /// Folder of the model's run, live or replayed from a recording.
    #[arg(value_name = "MODEL")]
    pub(crate) model: PathBuf,
    /// Folder of the same model's run with another seed, which shows how far the model agrees with
    /// itself. Default: none.
    #[arg(long, value_name = "DIR")]
    pub(crate) ceiling: Option<PathBuf>,
    /// Print the numbers as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the report as Markdown.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Write the same as an HTML page that needs no other file.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// Compares the runs of two or three folders.
fn agreement(args: &AgreementArgs) -> Result<(), Failure> {
    let prices = PriceTable::shipped()
        .context("the shipped price table")
        .map_err(Failure::failed)?;
    let read = |dir: &Path| RunFiles::read(dir).map_err(Failure::usage);
    let (mock, model) = (read(&args.mock)?, read(&args.model)?);
    let again = args.ceiling.as_deref().map(read).transpose()?;
    let found = compared(&mock, &model, again.as_ref(), &prices).map_err(Failure::usage)?;
    if let Some(file) = &args.markdown {
        write_report(file, &found.markdown(), "--markdown")?;
    }
    if let Some(file) = &args.html {
        write_report(file, &found.html().map_err(Failure::failed)?, "--html")?;
    }
    if args.json {
        say_json(&found)
    } else {
        say(&found.terminal(terminal_width()))
    }
}
