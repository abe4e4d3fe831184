//! `compactometer.toml`: the defaults of arguments in a folder. A flag overrides the environment,
//! the environment overrides the file, and the file overrides the built-in default.
//!
//! A setting is an argument that also has an environment variable. Its key is the variable's name
//! without the prefix, in lower case. Absent on purpose: the most that a run may cost, which a
//! person decides, and hosts on the network, since a file that came with a folder must not choose
//! who is sent a key.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use anyhow::{Context, Result, anyhow, bail};
use clap::{Arg, Command};
use compactometer_disk::input::{InputKind, read_text};
use compactometer_text::suggest::unknown;

/// The file's name; it is read from the folder in which the program starts.
pub(crate) const FILE: &str = "compactometer.toml";
/// The prefix of the program's environment variables.
pub(crate) const PREFIX: &str = "COMPACTOMETER_";
/// Settings that a file may not hold.
const NOT_BY_FILE: [&str; 1] = ["max_cost"];

/// Commands that read no file: a hook runs in any folder that an agent works in, and must not depend
/// on what came with that.
pub(crate) const WITHOUT_FILE: [&str; 1] = ["hook"];

/// A setting with its built-in default.
pub(crate) struct FileSetting {
    /// Its name in the file.
    pub(crate) key: String,
    /// Its environment variable.
    pub(crate) variable: String,
    /// The built-in default; none if the program decides.
    pub(crate) default: Option<String>,
    /// The argument's help.
    pub(crate) help: String,
}

/// Every setting of the program, in the order of its help.
pub(crate) fn all(command: &Command) -> Vec<FileSetting> {
    let mut found: Vec<FileSetting> = Vec::new();
    let arguments = command.get_arguments().filter_map(setting);
    let below = command.get_subcommands().flat_map(all);
    for one in arguments.chain(below) {
        if !NOT_BY_FILE.contains(&one.key.as_str())
            && found.iter().all(|known| known.key != one.key)
        {
            found.push(one);
        }
    }
    found
}

fn setting(arg: &Arg) -> Option<FileSetting> {
    let defaults = arg
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy())
        .collect::<Vec<_>>();
    Some(FileSetting {
        key: key(arg)?,
        variable: arg.get_env()?.to_str()?.to_owned(),
        default: (!defaults.is_empty()).then(|| defaults.join(",")),
        help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
    })
}

fn key(arg: &Arg) -> Option<String> {
    Some(
        arg.get_env()?
            .to_str()?
            .strip_prefix(PREFIX)?
            .to_ascii_lowercase(),
    )
}

/// What the folder's file sets, by key; empty without a file.
///
/// # Errors
/// If the file cannot be read or sets an unknown key.
pub(crate) fn read(folder: &Path, command: &Command) -> Result<BTreeMap<String, String>> {
    let path = folder.join(FILE);
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let text =
        read_text(&path, InputKind::SETTINGS).with_context(|| format!("cannot read `{FILE}`"))?;
    let table = text
        .parse::<toml::Table>()
        .with_context(|| format!("`{FILE}` is not TOML"))?;
    let known = all(command);
    let mut set = BTreeMap::new();
    for (key, value) in &table {
        if NOT_BY_FILE.contains(&key.as_str()) {
            bail!("`{FILE}` sets `{key}`, which only a flag or the environment may set");
        }
        if !known.iter().any(|setting| setting.key == *key) {
            bail!(
                "`{FILE}`: {}",
                unknown(
                    "setting",
                    key,
                    known.iter().map(|setting| setting.key.as_str())
                )
            );
        }
        let value = as_argument(value).ok_or_else(|| {
            anyhow!("`{FILE}`: `{key}` must be a word, a number or a list of them")
        })?;
        names_no_program(key, &value)?;
        names_no_host(key, &value)?;
        names_no_file_elsewhere(folder, key, &value)?;
        set.insert(key.clone(), value);
    }
    Ok(set)
}

fn as_argument(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Array(items) => {
            let items = items.iter().map(as_argument).collect::<Option<Vec<_>>>()?;
            Some(items.join(","))
        }
        _ => None,
    }
}

fn names_no_host(key: &str, value: &str) -> Result<()> {
    let is_model = ["model", "summarizer", "checkpointer", "judge"].contains(&key);
    let elsewhere = || {
        compactometer_models::receiver(value)
            .ok()
            .flatten()
            .filter(|receiver| !receiver.is_here)
    };
    match is_model.then(elsewhere).flatten() {
        Some(receiver) if value.contains('@') => bail!(
            "`{FILE}` sends requests to `{}`; name another machine by `--{key}` or {PREFIX}{} instead",
            receiver.host,
            key.to_ascii_uppercase()
        ),
        _ => Ok(()),
    }
}

/// A file from elsewhere must not run anything.
fn names_no_program(key: &str, value: &str) -> Result<()> {
    match key == "strategy" && value.contains("exec:") {
        true => bail!(
            "`{FILE}` runs a program (`exec:`), which only `--strategy` or {PREFIX}STRATEGY may do"
        ),
        false => Ok(()),
    }
}

/// A file from elsewhere must not choose what is read on this machine, sent to a model or
/// overwritten.
fn names_no_file_elsewhere(folder: &Path, key: &str, value: &str) -> Result<()> {
    let names_file =
        ["prices", "store", "strategy"].contains(&key) || value.starts_with("cassette:");
    match value
        .split([',', ':', '='])
        .find(|path| names_file && is_elsewhere(folder, Path::new(path)))
    {
        Some(path) => bail!(
            "`{FILE}`: `{key}` names `{path}`, which is outside its folder; name it with `--{key}` or {PREFIX}{} instead",
            key.to_ascii_uppercase()
        ),
        None => Ok(()),
    }
}

/// Whether a path leaves the folder, by its words or by a link. A link to nothing could lead
/// anywhere.
fn is_elsewhere(folder: &Path, path: &Path) -> bool {
    if path.has_root() || path.components().any(|part| part == Component::ParentDir) {
        return true;
    }
    let Ok(folder) = Path::new(".").join(folder).canonicalize() else {
        return true;
    };
    let place = folder.join(path);
    let existing = place
        .ancestors()
        .find(|place| place.symlink_metadata().is_ok());
    existing.is_some_and(|place| {
        !place
            .canonicalize()
            .is_ok_and(|place| place.starts_with(&folder))
    })
}

/// The command with these values as its defaults.
pub(crate) fn applied(command: Command, set: &BTreeMap<String, String>) -> Command {
    let with_default = |arg: Arg| match key(&arg).and_then(|key| set.get(&key)) {
        Some(value) => arg.default_value(value.clone()),
        None => arg,
    };
    command
        .mut_args(with_default)
        .mut_subcommands(|one| applied(one, set))
}
