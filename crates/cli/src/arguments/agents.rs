//! Agents by the names that users type.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, anyhow};
use compactometer_agents::{AgentRow, Definition, abandon, all, by_name};
use compactometer_formats::record::Family;
use compactometer_harness::plan::{Entrant, EntrantKind};
use compactometer_text::suggest::unknown;

use crate::output::cache;

/// The variable that names the folder of installed agents.
const VARIABLE: &str = "COMPACTOMETER_AGENTS";

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
    names.iter().map(|name| row(name, logs)).collect()
}

/// Ends the program after Ctrl-C with the agents that it plays to: they head process groups, which a
/// terminal does not interrupt.
pub(crate) fn end_interrupted() -> ! {
    /// The exit code that shells use for a program ended by SIGINT.
    const INTERRUPTED: i32 = 130;
    abandon();
    std::process::exit(INTERRUPTED)
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
    let row = AgentRow::new(found, folder, logs.map(Path::to_owned)).map_err(|why| anyhow!(why))?;
    Ok(Entrant {
        name: name.to_owned(),
        family: Family::Agent,
        entry: EntrantKind::Custom(Arc::new(row)),
        addition: None,
        absence: None,
        trigger: None,
        reference: None,
    })
}
