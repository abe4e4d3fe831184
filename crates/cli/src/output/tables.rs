//! The folder of a run's tables: comma-separated values, or Parquet, which DuckDB writes through
//! Python. A Parquet writer of Rust would be a tenth of the time that a build of everything takes.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::prices::PriceTable;
use compactometer_harness::run::each_record;
use compactometer_report::record_tables::Tables;

use super::progress;
use super::terminal::note;

/// The form of the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TablesForm {
    Csv,
    Parquet,
}

/// The Python interpreter that has DuckDB.
const PYTHON: &str = "COMPACTOMETER_PYTHON";
/// The name of the tables' folder.
const FOLDER: &str = "tables";
const SCRIPT: &str = include_str!("to_parquet.py");

/// Fails if tables of that form cannot be written here.
pub(crate) fn check(form: TablesForm) -> Result<()> {
    if form == TablesForm::Csv {
        return Ok(());
    }
    let python = python();
    let found = Command::new(&python)
        .args(["-c", "import duckdb"])
        .stderr(Stdio::null())
        .status();
    if found.is_ok_and(|status| status.success()) {
        return Ok(());
    }
    bail!(
        "Parquet is written by DuckDB, and `{python}` has none: install it with `{python} -m pip install duckdb`, name another Python \
         in `{PYTHON}`, or write comma-separated values with `compactometer report DIR --format tables`"
    )
}

/// Writes the folder `tables` into `out` from the records of a run. Earlier tables are replaced
/// when the new ones are complete.
pub(crate) fn write(
    dir: &Path,
    out: &Path,
    (manifest, prices): (&Manifest, &PriceTable),
    form: TablesForm,
    quiet: bool,
) -> Result<PathBuf> {
    fs::create_dir_all(out).with_context(|| format!("cannot make `{}`", out.display()))?;
    let half = tempfile::Builder::new().prefix(".tables-").tempdir_in(out);
    let half = half.with_context(|| format!("cannot write into `{}`", out.display()))?;
    let failed = |error| {
        let advice = "free space there, or make it writable for this user";
        anyhow::Error::new(error).context(format!(
            "cannot write tables into `{}`; {advice}",
            out.display()
        ))
    };
    // A temporary folder is its owner's only; this one has the rights that other folders have.
    let folder = half.path().join(FOLDER);
    fs::create_dir(&folder).map_err(|error| failed(error.into()))?;
    let mut tables = Tables::create(&folder, manifest, prices).map_err(failed)?;
    let bar = progress::bar(manifest.cases, "replays", quiet);
    let mut found = 0;
    each_record(dir, |record| {
        found += 1;
        bar.set_position(found);
        tables.add(&record).map_err(failed)
    })?;
    tables.finish().map_err(failed)?;
    bar.finish_and_clear();
    if found < manifest.cases as u64 && !quiet {
        note(&format!(
            "the run is not finished: the tables hold {found} of {} replays",
            manifest.cases
        ));
    }
    if form == TablesForm::Parquet {
        to_parquet(&folder)?;
    }
    let path = out.join(FOLDER);
    let moved = match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => fs::rename(&folder, &path),
    };
    moved.with_context(|| format!("cannot replace `{}`", path.display()))?;
    Ok(path)
}

fn python() -> String {
    std::env::var(PYTHON).unwrap_or_else(|_| "python3".to_owned())
}

fn to_parquet(folder: &Path) -> Result<()> {
    let ended = Command::new(python())
        .args(["-c", SCRIPT])
        .arg(folder)
        .stdin(Stdio::null())
        .output();
    let ended = ended.context("cannot start Python")?;
    if ended.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&ended.stderr);
    Err(anyhow!(
        "DuckDB cannot write Parquet: {}",
        said.lines().last().unwrap_or("it said nothing")
    ))
}
