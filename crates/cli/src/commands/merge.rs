//! `merge`: the finished shards of a plan as one run.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use compactometer_formats::prices::PriceTable;
use compactometer_harness::shards::{PlanFolder, merge, tries_of};
use compactometer_models::cassette::{Answered, Cassette};

use super::command_row::{CommandRow, parsed};
use super::run::{failure, opened};
use crate::arguments::PricesArg;
use crate::arguments::help::HelpGroup;
use crate::arguments::roles::ModelRole;
use crate::output::failure::Failure;
use crate::output::progress;
use crate::output::tables::{self, TablesForm};
use crate::output::terminal::{note, say};
use crate::output::tries;

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
    /// The folder to create: that of the run as one process would have written it. `report` and
    /// `gate` read it.
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Also write the records as tables, Parquet files in the folder's `tables`, through Python
    /// with DuckDB.
    #[arg(long)]
    parquet: bool,
    #[command(flatten)]
    prices: PricesArg,
    /// Print only errors on stderr.
    #[arg(short, long)]
    quiet: bool,
}

fn write(args: &MergeArgs) -> Result<(), Failure> {
    if args.parquet {
        tables::check(TablesForm::Parquet).map_err(Failure::usage)?;
    }
    let folder = opened(&args.dir)?;
    let cases = folder.plan.cases.iter().map(|cases| *cases as usize).sum();
    let (prices, _) = args.prices.table()?;
    let spending = Spending::of(&folder)?;
    let mut notes = spending.note().into_iter().collect::<Vec<_>>();
    let spent = folder.spent().map_err(failure)?;
    let folders = spent.iter().flat_map(|spent| &spent.calls);
    let folders = folders.map(|calls| tries_of(calls)).collect::<Vec<_>>();
    notes.extend(tries::sentences_of(&folders).map_err(Failure::usage)?);
    let bar = progress::bar(cases, "replays", args.quiet);
    let merged = merge(&folder, &args.out, &notes, &|done| {
        bar.set_position(done as u64)
    });
    bar.finish_and_clear();
    let merged = merged.map_err(failure)?;
    if !args.quiet {
        note(&format!(
            "merged {} shards: {} replays, {} texts",
            folder.plan.shards, merged.cases, merged.texts
        ));
        spending.lines(&prices).iter().for_each(|line| note(line));
    }
    if args.parquet {
        let manifest = &folder.plan.manifest;
        let written = tables::write(
            &args.out,
            &args.out,
            (manifest, &prices),
            TablesForm::Parquet,
            args.quiet,
        );
        written.map_err(|error| {
            let out = args.out.display();
            Failure::failed(error.context(format!(
                "the run is merged; `compactometer report {out} --format parquet` writes its tables"
            )))
        })?;
    }
    say(&format!("{}\n", args.out.display()))
}

/// What the attempts at a plan's shards asked servers for.
#[derive(Default)]
struct Spending {
    /// Model and tokens of each answered call that no earlier attempt had made.
    once: Vec<Answered>,
    /// Those that an earlier attempt at the same shard had made.
    again: Vec<Answered>,
    /// Attempts that did not end by themselves.
    open: u32,
    /// The most calls in flight when they ended.
    in_flight: u32,
}

impl Spending {
    fn of(folder: &PlanFolder) -> Result<Self, Failure> {
        let mut spending = Spending::default();
        for spent in folder.spent().map_err(failure)? {
            let mut known = HashSet::new();
            for call in spent
                .calls
                .iter()
                .map(|calls| answered(calls))
                .collect::<Result<Vec<_>, _>>()?
                .concat()
            {
                let is_new = known.insert((call.model.clone(), call.key.clone()));
                if is_new {
                    &mut spending.once
                } else {
                    &mut spending.again
                }
                .push(call);
            }
            if spent.calls.iter().any(|calls| calls.exists()) {
                spending.open += spent.open;
                spending.in_flight += spent.in_flight;
            }
        }
        Ok(spending)
    }

    /// What a report says of calls that were paid twice, if any may have been.
    fn note(&self) -> Option<String> {
        let Spending {
            again,
            open,
            in_flight,
            ..
        } = self;
        (!again.is_empty() || *in_flight > 0).then(|| {
            format!(
                "merged from shards: {} calls were answered twice; {open} attempts did not end by themselves, so at most {in_flight} calls \
                 that were in flight may have been paid for without a recorded answer",
                again.len()
            )
        })
    }

    /// Calls and cost, with and without what was paid twice.
    fn lines(&self, prices: &PriceTable) -> Vec<String> {
        if self.once.is_empty() {
            return Vec::new();
        }
        let cost = |calls: &[Answered]| {
            let dollars = calls
                .iter()
                .map(|call| prices.row(&call.model).map(|row| row.dollars(&call.usage)));
            dollars
                .sum::<Option<f64>>()
                .map_or("unknown".to_owned(), |dollars| {
                    format!("{dollars:.2} US dollars")
                })
        };
        let all = [&self.once[..], &self.again[..]].concat();
        let mut lines = vec![
            format!(
                "calls: {} answered, {} of them again",
                all.len(),
                self.again.len()
            ),
            format!(
                "cost spent: {}; with each call once: {}",
                cost(&all),
                cost(&self.once)
            ),
        ];
        if self.in_flight > 0 {
            lines.push(format!(
                "{} attempts did not end by themselves: at most {} more calls",
                self.open, self.in_flight
            ));
        }
        lines
    }
}

/// The answered calls in a recording, of all roles.
fn answered(recording: &Path) -> Result<Vec<Answered>, Failure> {
    let roles = [
        ModelRole::Model,
        ModelRole::Summarizer,
        ModelRole::Checkpointer,
        ModelRole::Judge,
    ]
    .into_iter();
    let of_roles = roles.map(|role| Cassette::answered(&role.folder(recording)));
    Ok(of_roles
        .collect::<Result<Vec<_>, _>>()
        .map_err(Failure::usage)?
        .concat())
}
