//! The conversations that a recording was made on. They are kept in its folder, so that its name is enough to replay it.
//!
//! Absent on purpose: the calls, which the cassette keeps.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use compactometer_disk::{create_folder, write_whole};
use compactometer_formats::scenario::Scenario;
use compactometer_formats::suite::Suite;
use compactometer_models::cassette;

use crate::output::run_folder::{cannot, safe_name};

/// The suites that this recording was made on. Empty if the name is not that of a recording, or if no suite was kept.
pub(crate) fn suites(model: &str) -> Result<Vec<PathBuf>> {
    let Some(folder) = cassette::folder(model).map(suite_folder).filter(|folder| folder.is_dir()) else {
        return Ok(Vec::new());
    };
    let entries = std::fs::read_dir(&folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let entries = entries.with_context(|| format!("cannot read `{}`", folder.display()))?;
    let mut paths = entries.into_iter().map(|entry| entry.path()).collect::<Vec<_>>();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    Ok(paths)
}

/// Keeps a suite in a recording's folder, beside the conversations already there. A newer conversation replaces one with the
/// same id.
pub(crate) fn keep(folder: &Path, suite: &Suite) -> Result<()> {
    let path = suite_folder(folder).join(format!("{}.jsonl", safe_name(&suite.header.name)));
    let kept = if path.exists() { joined(Suite::read(&path)?.scenarios, suite) } else { suite.clone() };
    create_folder(&suite_folder(folder))
        .and_then(|()| write_whole(&path, |out| kept.write(out)))
        .map_err(|error| cannot(&format!("write `{}`", path.display()), error, "--record"))
}

fn suite_folder(folder: &Path) -> PathBuf {
    folder.join("suite")
}

fn joined(kept: Vec<Scenario>, suite: &Suite) -> Suite {
    let is_new = |scenario: &Scenario| suite.scenarios.iter().any(|new| new.id == scenario.id);
    let kept = kept.into_iter().filter(|scenario| !is_new(scenario));
    Suite { header: suite.header.clone(), scenarios: kept.chain(suite.scenarios.iter().cloned()).collect() }
}
