//! Programs that the user has given a name: `strategies.toml` in the user's own configuration, with
//! lines `NAME = "COMMAND"`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use compactometer_disk::input::{InputKind, read_text};
use compactometer_disk::user::USER;
use compactometer_disk::{create_folder, write_whole};
use compactometer_harness::entrants::{alias_of, all, items, stages};

/// The strategies of a list, with commands in place of the names of programs.
pub(crate) fn rows(lists: &[String]) -> Result<Vec<String>> {
    let rows = lists
        .iter()
        .flat_map(|list| items(list))
        .collect::<Vec<_>>();
    if rows.iter().all(|row| {
        stages(alias_of(row).1)
            .into_iter()
            .all(|stage| program(stage).is_none())
    }) {
        return Ok(rows);
    }
    let programs = programs()?;
    Ok(rows
        .into_iter()
        .map(|row| with_commands(&row, &programs).unwrap_or(row))
        .collect())
}

/// The name and the parameters of a strategy that may be a program: one that is no group and no
/// command, and that no list has.
fn program(stage: &str) -> Option<(&str, &str)> {
    let (name, assigned) = stage.split_once(':').unwrap_or((stage, ""));
    let is_other = name.starts_with('@')
        || stage.starts_with("exec:")
        || all().any(|known| known.name == name);
    (!is_other).then_some((name, assigned))
}

/// A row with the commands of its named programs, if it has any. Without a name of its own it has
/// those of its strategies, as they were typed.
fn with_commands(row: &str, programs: &BTreeMap<String, String>) -> Option<String> {
    let (alias, base) = alias_of(row);
    let command = |stage: &str| {
        let (name, assigned) = program(stage)?;
        Some(format!("exec:\"{}\":{assigned}", programs.get(name)?))
    };
    let stages = stages(base);
    let commands = stages
        .iter()
        .map(|stage| command(stage))
        .collect::<Vec<_>>();
    if commands.iter().all(Option::is_none) {
        return None;
    }
    let named = stages
        .iter()
        .zip(commands)
        .map(|(stage, command)| command.unwrap_or_else(|| (*stage).to_owned()));
    let with_commands = named.collect::<Vec<_>>().join(">");
    let names = stages
        .iter()
        .map(|stage| stage.split(':').next().unwrap_or(stage))
        .collect::<Vec<_>>()
        .join(">");
    Some(format!("{}={with_commands}", alias.unwrap_or(&names)))
}

fn programs() -> Result<BTreeMap<String, String>> {
    let Some(path) = file().filter(|path| path.is_file()) else {
        return Ok(BTreeMap::new());
    };
    let text = read_text(&path, InputKind::SETTINGS)
        .with_context(|| format!("cannot read `{}`", path.display()))?;
    toml::from_str(&text).with_context(|| {
        format!(
            "`{}`: each line must be `NAME = \"COMMAND\"`",
            path.display()
        )
    })
}

/// Gives a command a name, in place of the one that the name had; or takes the name away.
pub(crate) fn name_program(name: &str, command: Option<&str>) -> Result<()> {
    let path = file().context("there is no configuration folder: set XDG_CONFIG_HOME to one")?;
    let named = programs()?;
    if named.get(name).map(String::as_str) == command {
        return Ok(());
    }
    let before = match path.is_file() {
        true => read_text(&path, InputKind::SETTINGS)?,
        false => String::new(),
    };
    let after = with_name(&before, name, command);
    let written = create_folder(path.parent().unwrap_or(&path))
        .and_then(|()| write_whole(&path, |out| out.write_all(after.as_bytes())));
    written.with_context(|| format!("write `{}`", path.display()))
}

/// The lines without those of the name, and with its new one.
fn with_name(lines: &str, name: &str, command: Option<&str>) -> String {
    let is_other = |line: &&str| {
        let key = line.split('=').next().unwrap_or_default();
        key.trim().trim_matches(['"', '\'']) != name
    };
    let line = command.map(|command| format!("{name} = {}", toml::Value::from(command)));
    let others = lines.lines().filter(is_other).map(str::to_owned);
    others.chain(line).map(|line| line + "\n").collect()
}

fn file() -> Option<PathBuf> {
    Some(USER.config()?.join("compactometer/strategies.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_commands() {
        let named = |name: &str, command: &str| (name.to_owned(), command.to_owned());
        let programs = BTreeMap::from([
            named("theirs", "node a,b.mjs"),
            named("chained", "touch ran"),
        ]);
        let with = |row| with_commands(row, &programs);
        assert_eq!(
            with("theirs").as_deref(),
            Some("theirs=exec:\"node a,b.mjs\":")
        );
        assert_eq!(
            with("x=theirs:keep=3:ledger=9").as_deref(),
            Some("x=exec:\"node a,b.mjs\":keep=3:ledger=9")
        );
        let both = with("theirs:keep=3>summarize");
        assert_eq!(
            both.as_deref(),
            Some("theirs>summarize=exec:\"node a,b.mjs\":keep=3>summarize")
        );
        assert_eq!(
            with("theirs>chained").as_deref(),
            Some("theirs>chained=exec:\"node a,b.mjs\":>chained")
        );
        // A name of the lists is what the lists have, however it is written.
        assert_eq!(
            (with("chained"), with("x=chained:tail=5"), with("@controls")),
            (None, None, None)
        );
    }
}
