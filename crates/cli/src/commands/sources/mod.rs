//! `sources`: the five documents as rows that can fail. For each number, rule, example, defect and
//! target it says whether the program has it, what was measured, and with which command.
//!
//! A row that needs a run makes it: this program in a folder of its own, with a simulated model.

mod agent_loop;
mod desk;
mod effects;
mod numbers;
mod progressive_plan;
mod sourced_row;
mod sourced_targets;
mod sources_page;
mod strategic_plan;
mod summary_chain;
mod threshold_plan;

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use compactometer_text::suggest::unknown;

use self::desk::SourcesDesk;
use self::sourced_row::{SourceClaim, SourceDocument, SourceRow, SourceVerdict};
use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::output::failure::Failure;
use crate::output::run_folder::cannot;
use crate::output::terminal::{known_width, note, say, say_json};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "sources",
    about: "Check what the five source documents say, row by row, and say what holds",
    group: HelpGroup::Rest,
    arguments: SourcesArgs::augment_args,
    run: |matches| sources(&parsed(matches)?),
};

#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 every row is as expected, 1 a row is not, 2 usage.\n\
    Rows that fail and say why, such as a target that is missed, are expected. It takes some two minutes and calls no real model."
)]
pub(crate) struct SourcesArgs {
    /// `strategic-plan`, `threshold-plan`, `progressive-plan`, `agent-loop` or `summary-chain`;
    /// without one, all of them.
    pub(crate) document: Option<String>,
    /// Print the rows as JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Also write a page of HTML.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print only the rows that are not as expected.
    #[arg(long)]
    pub(crate) failed: bool,
}

fn sources(args: &SourcesArgs) -> Result<(), Failure> {
    let documents = chosen(args.document.as_deref())?;
    let mut desk = SourcesDesk::new().map_err(Failure::failed)?;
    let rows = documents
        .into_iter()
        .flat_map(|document| checked(document, &mut desk));
    let rows = rows.collect::<Vec<_>>();
    let unexpected = rows.iter().filter(|row| !row.is_expected()).count();
    match args.json {
        true => say_json(&rows)?,
        false => say(&table(&rows, args.failed))?,
    }
    if let Some(path) = &args.html {
        let unwritten = |error| cannot(&format!("write `{}`", path.display()), error, "--html");
        sources_page::write(path, &rows).map_err(|error| Failure::usage(unwritten(error)))?;
    }
    match unexpected {
        0 => Ok(()),
        count => Err(Failure::failed(anyhow!(
            "rows that are not as expected: {count}"
        ))),
    }
}

/// The rows of a document.
fn checked(document: SourceDocument, desk: &mut SourcesDesk) -> Vec<SourceRow> {
    let claims: &[SourceClaim] = match document {
        SourceDocument::StrategicPlan => strategic_plan::CLAIMS,
        SourceDocument::ThresholdPlan => threshold_plan::CLAIMS,
        SourceDocument::ProgressivePlan => progressive_plan::CLAIMS,
        SourceDocument::AgentLoop => agent_loop::CLAIMS,
        SourceDocument::SummaryChain => summary_chain::CLAIMS,
    };
    note(&format!("{}: checking", document.name()));
    let mut rows = numbers::rows(document);
    rows.extend(claims.iter().map(|claim| claim.row(document, desk)));
    rows.extend(effects::rows(document, desk));
    rows.extend(sourced_targets::rows(document, desk));
    rows
}

fn chosen(name: Option<&str>) -> Result<Vec<SourceDocument>, Failure> {
    let all = SourceDocument::ALL.iter().copied();
    let Some(name) = name else {
        return Ok(all.collect());
    };
    let found = all.clone().find(|document| document.id() == name);
    found.map(|document| vec![document]).ok_or_else(|| {
        Failure::usage(anyhow!(unknown(
            "document",
            name,
            all.map(SourceDocument::id)
        )))
    })
}

/// The rows by document, and how many there are of each verdict.
fn table(rows: &[SourceRow], only_failed: bool) -> String {
    let width = known_width().unwrap_or(usize::MAX);
    let mut text = String::new();
    for document in SourceDocument::ALL {
        let of_document = rows.iter().filter(|row| row.document == *document);
        let shown = of_document.filter(|row| !only_failed || !row.is_expected());
        let mut command = "";
        let mut lines = String::new();
        for row in shown {
            lines.push_str(&row.lines(command, width));
            command = &row.command;
        }
        if !lines.is_empty() {
            text.push_str(&format!("{}\n{lines}\n", document.name()));
        }
    }
    format!("{text}{}\n", counts(rows))
}

/// How many rows there are of each verdict.
fn counts(rows: &[SourceRow]) -> String {
    let count = |verdict: &SourceVerdict| {
        let count = rows.iter().filter(|row| row.verdict == *verdict).count();
        format!("{count} {}", verdict.counted())
    };
    let counts = SourceVerdict::ALL
        .iter()
        .map(count)
        .collect::<Vec<_>>()
        .join(", ");
    let unexpected = rows.iter().filter(|row| !row.is_expected()).count();
    format!(
        "{} rows: {counts}; {unexpected} not as expected",
        rows.len()
    )
}
