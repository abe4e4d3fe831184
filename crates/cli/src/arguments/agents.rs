//! Agents by the names that users type.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow};
use compactometer_agents::{Definition, Row, abandon, all, by_name};
use compactometer_formats::record::Family;
use compactometer_harness::plan::{Entrant, Entry};
use compactometer_text::suggest::unknown;

use crate::output::cache;

/// The variable that names the folder of installed agents.
const VARIABLE: &str = "COMPACTOMETER_AGENTS";
/// The exit code of a program that Ctrl-C has ended.
const INTERRUPTED: i32 = 130;

/// Where agents are installed.
pub(crate) fn folder() -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty());
    named
        .map(PathBuf::from)
        .or_else(|| Some(cache::folder()?.join("agents")))
}

/// The rows of agents, by the names that users type: `NAME` or `NAME@VERSION`; with a folder for the
/// logs of their plays.
pub(crate) fn rows(names: &[String], logs: Option<&Path>) -> Result<Vec<Entrant>> {
    if !names.is_empty() {
        // An agent is no child of the terminal, so that Ctrl-C does not end it.
        let _ = ctrlc::set_handler(|| {
            abandon();
            std::process::exit(INTERRUPTED);
        });
    }
    names.iter().map(|name| row(name, logs)).collect()
}

/// The definition of an agent.
pub(crate) fn definition(name: &str) -> Result<Definition> {
    by_name(name).ok_or_else(|| {
        let names = all().iter().map(|agent| agent.name.as_str());
        anyhow!(unknown("agent", name, names))
    })
}

fn row(name: &str, logs: Option<&Path>) -> Result<Entrant> {
    let found = definition(name)?;
    let folder =
        folder().ok_or_else(|| anyhow!("no folder of agents; set `{VARIABLE}` to a folder"))?;
    let row = Row::new(found, folder, logs.map(Path::to_owned)).map_err(|why| anyhow!(why))?;
    Ok(Entrant {
        name: name.to_owned(),
        family: Family::Agent,
        entry: Entry::Custom(Arc::new(row)),
        addition: None,
        absence: None,
        trigger: None,
        reference: None,
    })
}
