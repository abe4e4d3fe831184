//! Programs that the user has given a name: `strategies.toml` in the user's own configuration, with lines `NAME = "COMMAND"`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use compactometer_disk::input::{Kind, read_text};
use compactometer_harness::entrants::{all, items};

/// The strategies of a list, with commands in place of the names of programs.
pub(crate) fn rows(lists: &[String]) -> Result<Vec<String>> {
    let rows = lists.iter().flat_map(|list| items(list)).collect::<Vec<_>>();
    if rows.iter().all(|row| program(row).is_none()) {
        return Ok(rows);
    }
    let programs = programs()?;
    Ok(rows.into_iter().map(|row| with_command(&row, &programs).unwrap_or(row)).collect())
}

/// The alias, name and parameters of a row that may be a program: one that is no group and no command, and that no list has.
fn program(row: &str) -> Option<(&str, &str, &str)> {
    let (alias, base) = row.split_once('=').unwrap_or((row, row));
    let (name, assigned) = base.split_once(':').unwrap_or((base, ""));
    let is_other = name.starts_with('@') || row.contains("exec:") || all().any(|known| known.name == name);
    (!is_other).then_some((alias, name, assigned))
}

/// A row whose strategy is a named program, with the program's command.
fn with_command(row: &str, programs: &BTreeMap<String, String>) -> Option<String> {
    let (alias, name, assigned) = program(row)?;
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
        let named = |name: &str, command: &str| (name.to_owned(), command.to_owned());
        let programs = BTreeMap::from([named("theirs", "node a,b.mjs"), named("chained", "touch ran")]);
        let with = |row| with_command(row, &programs);
        assert_eq!(with("theirs").as_deref(), Some("theirs=exec:\"node a,b.mjs\":"));
        assert_eq!(with("x=theirs:keep=3:ledger=9").as_deref(), Some("x=exec:\"node a,b.mjs\":keep=3:ledger=9"));
        // A name of the lists is what the lists have, however it is written.
        assert_eq!((with("chained"), with("x=chained:tail=5"), with("@controls")), (None, None, None));
    }
}
