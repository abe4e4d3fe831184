//! What a recording's folder holds beside its calls, so that its name is enough to replay it: the
//! conversations that it was made on, and `recording.toml`, which says which rows it holds and
//! whether its latencies are a result.
//!
//! Absent on purpose: the calls, which the cassette keeps.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use compactometer_disk::input::{InputKind, read_text};
use compactometer_disk::{create_folder, write_whole};
use compactometer_formats::scenario::Scenario;
use compactometer_formats::suite::Suite;
use compactometer_models::cassette;
use serde::{Deserialize, Serialize};

use crate::output::run_folder::{cannot, safe_name};

/// The suites that this recording was made on. Empty if the name is not that of a recording, or if
/// no suite was kept.
pub(crate) fn suites(model: &str) -> Result<Vec<PathBuf>> {
    let Some(folder) = cassette::folder(model)
        .map(suite_folder)
        .filter(|folder| folder.is_dir())
    else {
        return Ok(Vec::new());
    };
    let entries = std::fs::read_dir(&folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let entries = entries.with_context(|| format!("cannot read `{}`", folder.display()))?;
    let mut paths = entries
        .into_iter()
        .map(|entry| entry.path())
        .collect::<Vec<_>>();
    paths.retain(|path| {
        path.extension()
            .is_some_and(|extension| extension == "jsonl")
    });
    paths.sort();
    Ok(paths)
}

/// What `recording.toml` says.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct About {
    /// Whether the recorded latencies may be judged.
    pub(crate) latency_is_result: bool,
    /// The strategies and controls whose calls the recording holds, as `-s` takes them; empty if
    /// unknown.
    pub(crate) rows: Vec<String>,
}

impl Default for About {
    fn default() -> Self {
        About {
            latency_is_result: true,
            rows: Vec::new(),
        }
    }
}

/// What a recording says about itself. A model that is not a recording, or a recording without the
/// file, says nothing.
pub(crate) fn about(model: &str) -> Result<About> {
    cassette::folder(model).map_or_else(|| Ok(About::default()), read_about)
}

/// The file with what a recording says about itself, if there is one.
pub(crate) fn about_file(model: &str) -> Option<PathBuf> {
    cassette::folder(model)
        .map(|folder| folder.join(ABOUT))
        .filter(|file| file.exists())
}

fn read_about(folder: &Path) -> Result<About> {
    let path = folder.join(ABOUT);
    if !path.exists() {
        return Ok(About::default());
    }
    let text = read_text(&path, InputKind::SETTINGS)
        .with_context(|| format!("cannot read `{}`", path.display()))?;
    toml::from_str(&text).with_context(|| format!("`{}`", path.display()))
}

/// Keeps a suite in a recording's folder, and the names of the rows that are recorded.
pub(crate) fn keep(folder: &Path, suite: &Suite, rows: &[String]) -> Result<()> {
    keep_suite(folder, suite)?;
    let mut about = read_about(folder)?;
    let known = about.rows.len();
    for row in rows {
        if !about.rows.contains(row) {
            about.rows.push(row.clone());
        }
    }
    if about.rows.len() == known {
        return Ok(());
    }
    let path = folder.join(ABOUT);
    let text = toml::to_string(&about).context("a recording's rows cannot be written as TOML")?;
    write_whole(&path, |out| out.write_all(text.as_bytes()))
        .map_err(|error| cannot(&format!("write `{}`", path.display()), error, "--record"))
}

const ABOUT: &str = "recording.toml";

/// Keeps a suite in a recording's folder, beside the conversations already there. A newer
/// conversation replaces one with the same id.
fn keep_suite(folder: &Path, suite: &Suite) -> Result<()> {
    let path = suite_folder(folder).join(format!("{}.jsonl", safe_name(&suite.header.name)));
    let kept = if path.exists() {
        joined(Suite::read(&path)?.scenarios, suite)
    } else {
        suite.clone()
    };
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
    Suite {
        header: suite.header.clone(),
        scenarios: kept.chain(suite.scenarios.iter().cloned()).collect(),
    }
}
