//! Programs that the user has given a name: `strategies.toml` in the user's own configuration, with lines `NAME = "COMMAND"`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use compactometer_disk::input::{Kind, read_text};
use compactometer_harness::entrants::{all, items};

/// The strategies of a list, with commands in place of the names of programs.
pub(crate) fn rows(lists: &[String]) -> Result<Vec<String>> {
    let rows = lists.iter().flat_map(|list| items(list)).collect::<Vec<_>>();
    let is_known =
        |row: &String| row.starts_with('@') || row.contains("exec:") || all().any(|known| known.name == *row);
    if rows.iter().all(is_known) {
        return Ok(rows);
    }
    let programs = programs()?;
    Ok(rows.into_iter().map(|row| with_command(&row, &programs).unwrap_or(row)).collect())
}

/// A row whose strategy is a named program, with the program's command.
fn with_command(row: &str, programs: &BTreeMap<String, String>) -> Option<String> {
    let (alias, base) = row.split_once('=').unwrap_or((row, row));
    let (name, assigned) = base.split_once(':').unwrap_or((base, ""));
    let command = programs.get(name)?;
    Some(format!("{alias}=exec:\"{command}\":{assigned}"))
}

fn programs() -> Result<BTreeMap<String, String>> {
    let Some(path) = file().filter(|path| path.is_file()) else { return Ok(BTreeMap::new()) };
    let text = read_text(&path, Kind::SETTINGS).with_context(|| format!("cannot read `{}`", path.display()))?;
    toml::from_str(&text).with_context(|| format!("`{}`: each line must be `NAME = \"COMMAND\"`", path.display()))
}

fn file() -> Option<PathBuf> {
    let folder = |variable| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let config = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|home| home.join(".config")))?;
    Some(config.join("compactometer/strategies.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_commands() {
        let programs = BTreeMap::from([("theirs".to_owned(), "node a,b.mjs".to_owned())]);
        let with = |row| with_command(row, &programs);
        assert_eq!(with("theirs").as_deref(), Some("theirs=exec:\"node a,b.mjs\":"));
        assert_eq!(with("x=theirs:keep=3:ledger=9").as_deref(), Some("x=exec:\"node a,b.mjs\":keep=3:ledger=9"));
        assert_eq!(with("chained"), None);
    }
}
