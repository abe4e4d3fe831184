//! `report`: reports recorded runs again, alone or joined.

use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::prices::PriceTable;
use compactometer_formats::record::{Record, text_hash};
use compactometer_harness::run::read_records;
use compactometer_report::{PAPER_FOLDER, ReportPart, write_formats, write_paper};

use super::command_row::{CommandRow, parsed};
use super::compare::{ShownArgs, mocks, verdict};
use crate::arguments::PricesArg;
use crate::arguments::help::HelpGroup;
use crate::output::failure::Failure;
use crate::output::room;
use crate::output::run_folder::{difference, of_latest, read_manifest};
use crate::output::tables::{self, TablesForm};
use crate::output::terminal::note;
use crate::output::tries;

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "report",
    about: "Report recorded runs again; runs of one suite and configuration may be joined",
    group: HelpGroup::Everyday,
    arguments: ReportArgs::augment_args,
    run: |matches| report(&parsed(matches)?),
};

#[derive(clap::Args)]
pub(crate) struct ReportArgs {
    /// Folders of runs; of a folder of several runs, its latest. Default: the latest run in
    /// `reports`.
    #[arg(value_name = "DIR", default_value = "reports")]
    pub(crate) dirs: Vec<PathBuf>,
    /// Folder for the report. Default: the run's own; several runs need one.
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// The parts to write, separated with commas. Default: all but `tables` and `parquet`, which
    /// write one run's records as tables in little memory.
    #[arg(long, value_name = "FORMAT", value_delimiter = ',', value_parser = FORMATS.map(|(name, _)| name).into_iter().chain(TABLES.map(|(name, _)| name)).collect::<Vec<_>>())]
    pub(crate) format: Vec<String>,
    /// `paper` writes `paper/` in place of a report: a LaTeX table, figures as PDF in one column's
    /// width, the command, commit and prices, and a BibTeX entry.
    #[arg(long, value_name = "STYLE", default_value = "report", value_parser = [PAGE, PAPER], conflicts_with = "format")]
    pub(crate) style: String,
    #[command(flatten)]
    pub(crate) shown: ShownArgs,
    #[command(flatten)]
    pub(crate) prices: PricesArg,
    /// Print only errors on stderr.
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

const PAGE: &str = "report";
const PAPER: &str = "paper";

/// The parts of a report, by name.
const FORMATS: [(&str, ReportPart); 5] = [
    ("html", ReportPart::Html),
    ("md", ReportPart::Markdown),
    ("csv", ReportPart::Csv),
    ("json", ReportPart::Json),
    ("plots", ReportPart::Plots),
];

/// The forms of tables, by name.
const TABLES: [(&str, TablesForm); 2] = [
    ("tables", TablesForm::Csv),
    ("parquet", TablesForm::Parquet),
];

fn report(args: &ReportArgs) -> Result<(), Failure> {
    let (prices, text) = args.prices.table()?;
    let dirs = args
        .dirs
        .iter()
        .map(|dir| of_latest(dir))
        .collect::<Result<Vec<_>>>()
        .map_err(Failure::usage)?;
    let out = match (&args.out, dirs.as_slice()) {
        (Some(out), _) => out,
        (None, [only]) => only,
        _ => {
            return Err(Failure::usage(anyhow!(
                "a report of several runs needs a folder of its own; name it with `--out`"
            )));
        }
    };
    write_tables(args, &dirs, out, &prices)?;
    if !args.format.is_empty()
        && args
            .format
            .iter()
            .all(|asked| TABLES.iter().any(|(name, _)| name == asked))
    {
        return Ok(());
    }
    room::check(&dirs).map_err(Failure::failed)?;
    let (mut manifest, records) = joined(&dirs).map_err(Failure::usage)?;
    manifest.prices_hash = text_hash(&text);
    for dir in &dirs {
        if let Some(found) = mocks::read(dir).map_err(Failure::usage)? {
            mocks::add_to(&mut manifest, &found);
        }
    }
    let is_asked = |(name, _): &(&str, ReportPart)| {
        args.format.is_empty() || args.format.iter().any(|asked| asked == name)
    };
    let formats = FORMATS
        .into_iter()
        .filter(is_asked)
        .map(|(_, format)| format)
        .collect::<Vec<_>>();
    let (written, place) = match args.style.as_str() {
        PAPER => {
            let written = write_paper(out, &manifest, &records, &prices);
            (written, out.join(PAPER_FOLDER))
        }
        _ => {
            let written = write_formats(out, &manifest, &records, &prices, &formats);
            (written, out.to_owned())
        }
    };
    let summary = written.map_err(Failure::failed)?;
    args.shown.show(&summary)?;
    if !args.quiet {
        note(&format!("{}: {}", args.style, place.display()));
    }
    verdict(&summary)
}

fn write_tables(
    args: &ReportArgs,
    dirs: &[PathBuf],
    out: &Path,
    prices: &PriceTable,
) -> Result<(), Failure> {
    for (name, form) in TABLES
        .into_iter()
        .filter(|(name, _)| args.format.iter().any(|asked| asked == name))
    {
        let [dir] = dirs else {
            return Err(Failure::usage(anyhow!(
                "`--format {name}` writes the tables of one run; {} are named",
                dirs.len()
            )));
        };
        tables::check(form).map_err(Failure::usage)?;
        let manifest = read_manifest(dir).map_err(Failure::usage)?;
        let written = tables::write(dir, out, (&manifest, prices), form, args.quiet)
            .map_err(Failure::failed)?;
        if !args.quiet {
            note(&format!("tables: {}", written.display()));
        }
    }
    Ok(())
}

/// The records of all folders, and their common manifest.
fn joined(dirs: &[PathBuf]) -> Result<(Manifest, Vec<Record>)> {
    let mut joined: Option<Manifest> = None;
    let mut records: BTreeMap<String, Record> = BTreeMap::new();
    let mut keys = Vec::new();
    for dir in dirs {
        let manifest = read_manifest(dir)?;
        joined = Some(match joined {
            None => manifest,
            Some(before) => {
                if let Some(field) = difference(&alike(&before), &alike(&manifest)) {
                    bail!(
                        "`{}` holds a run of another configuration: {field} differs",
                        dir.display()
                    );
                }
                join(before, manifest)
            }
        });
        for record in read_records(dir)? {
            if !records.contains_key(&record.key) {
                keys.push(record.key.clone());
                records.insert(record.key.clone(), record);
            }
        }
    }
    let records = keys
        .iter()
        .filter_map(|key| records.remove(key))
        .collect::<Vec<_>>();
    let mut manifest = joined.ok_or_else(|| anyhow!("no run is named"))?;
    tries::add_to(&mut manifest, dirs)?;
    refuse_twice(&records)?;
    Ok((
        if dirs.len() > 1 {
            counted(manifest, &records)
        } else {
            manifest
        },
        records,
    ))
}

/// The manifest of joined runs, with the cases that they have.
fn counted(manifest: Manifest, records: &[Record]) -> Manifest {
    let retained = manifest.retained;
    let swept = records
        .iter()
        .filter(|record| record.case.is_swept(retained))
        .count();
    let swept_cases = Some(swept).filter(|count| *count > 0);
    Manifest {
        cases: records.len(),
        swept_cases,
        ..manifest
    }
}

/// The manifest without the fields that may differ between joined runs.
fn alike(manifest: &Manifest) -> Manifest {
    Manifest {
        retained: 0,
        sweep: Vec::new(),
        splits: Vec::new(),
        swept_cases: None,
        strategies: Vec::new(),
        pairs: Default::default(),
        prompts: Default::default(),
        settings: Default::default(),
        settings_hash: String::new(),
        prices_hash: String::new(),
        commit: String::new(),
        latency_is_result: true,
        cases: 0,
        ..manifest.clone()
    }
}

fn join(mut one: Manifest, other: Manifest) -> Manifest {
    if one.settings_hash != other.settings_hash {
        one.settings_hash = text_hash(&format!("{}{}", one.settings_hash, other.settings_hash));
    }
    let mut sizes = [vec![one.retained, other.retained], one.sweep, other.sweep].concat();
    sizes.sort_unstable_by(|one, other| other.cmp(one));
    sizes.dedup();
    // Two runs of one size keep it, whatever they swept; of two sizes the larger is the joined
    // run's.
    let retained = one.retained.max(other.retained);
    sizes.retain(|size| *size != retained);
    (one.retained, one.sweep) = (retained, sizes);
    one.splits.extend(other.splits);
    one.splits.sort_by(f64::total_cmp);
    one.splits.dedup();
    one.prompts.extend(other.prompts);
    one.settings.extend(other.settings);
    one.pairs.extend(other.pairs);
    one.strategies.extend(other.strategies);
    one.latency_is_result &= other.latency_is_result;
    let mut seen = Vec::new();
    one.strategies.retain(|name| {
        !seen.contains(name) && {
            seen.push(name.clone());
            true
        }
    });
    one
}

/// Fails if a strategy has two records of one conversation under one protocol and budget.
fn refuse_twice(records: &[Record]) -> Result<()> {
    let mut seen = BTreeMap::new();
    for record in records {
        let case = &record.case;
        let identity = (
            case.protocol,
            case.budget.retained,
            case.split.map(f64::to_bits),
            &case.strategy,
            &case.scenario,
        );
        if seen.insert(identity, ()).is_some() {
            bail!(
                "`{}` was run with different settings in two of the folders; give each its own name",
                case.strategy
            );
        }
    }
    Ok(())
}
