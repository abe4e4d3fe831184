//! `config` and `init`: print the settings and where they come from, and write a file to change
//! them in.

use std::fmt::Write;
use std::path::Path;

use anyhow::anyhow;
use compactometer_disk::write_whole;

use super::command_row::CommandRow;
use super::program;
use crate::arguments::help::HelpGroup;
use crate::arguments::settings_file::{self, FILE, FileSetting};
use crate::output::failure::Failure;
use crate::output::run_folder::advice;
use crate::output::terminal::{note, say};

pub(super) const CONFIG: CommandRow = CommandRow {
    name: "config",
    about: "Show the settings and where they come from: the environment, `compactometer.toml`, or the default",
    group: HelpGroup::Rest,
    arguments: |command| command,
    run: |_| config(),
};

pub(super) const INIT: CommandRow = CommandRow {
    name: "init",
    about: "Write a `compactometer.toml` with every setting as a comment",
    group: HelpGroup::Rest,
    arguments: |command| command,
    run: |_| init(),
};

/// Prints each setting, its value and where it comes from.
fn config() -> Result<(), Failure> {
    let command = program();
    let set = settings_file::read(Path::new(""), &command).map_err(Failure::usage)?;
    let held = |setting: &FileSetting| {
        let by_environment = || {
            std::env::var(&setting.variable)
                .ok()
                .map(|value| (value, setting.variable.clone()))
        };
        let by_file = || {
            set.get(&setting.key)
                .map(|value| (value.clone(), FILE.to_owned()))
        };
        let by_default = || {
            (
                setting.default.clone().unwrap_or_else(|| "-".to_owned()),
                "default".to_owned(),
            )
        };
        by_environment().or_else(by_file).unwrap_or_else(by_default)
    };
    let rows = settings_file::all(&command)
        .into_iter()
        .map(|setting| (held(&setting), setting.key));
    let rows = rows
        .map(|((value, from), key)| [key, value, from])
        .collect::<Vec<_>>();
    let widths = [0, 1].map(|column| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or_default()
    });
    let line = |[key, value, from]: &[String; 3]| {
        format!("{key:<0$}  {value:<1$}  {from}\n", widths[0], widths[1])
    };
    say(&rows.iter().map(line).collect::<String>())
}

/// Writes a file that holds every setting and its default as comments.
fn init() -> Result<(), Failure> {
    let path = Path::new(FILE);
    if path.exists() {
        return Err(Failure::usage(anyhow!(
            "`{FILE}` exists; `compactometer config` shows what it sets"
        )));
    }
    let text = commented(&settings_file::all(&program()));
    write_whole(path, |out| out.write_all(text.as_bytes())).map_err(|error| {
        Failure::failed(anyhow!(
            "cannot write `{FILE}`: {error}; {}",
            advice(&error, "folder")
        ))
    })?;
    note(&format!("wrote {FILE}"));
    Ok(())
}

fn commented(settings: &[FileSetting]) -> String {
    let mut text =
        "# Defaults of this folder. Flags override the environment, and the environment overrides this file.\n"
            .to_owned();
    for FileSetting {
        key, default, help, ..
    } in settings
    {
        let default = match default {
            Some(number) if number.parse::<f64>().is_ok() => format!(" {number}"),
            Some(word) => format!(" {word:?}"),
            None => String::new(),
        };
        let about = help
            .split(". ")
            .next()
            .unwrap_or_default()
            .trim_end_matches('.');
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "\n# {}.\n# {key} ={default}\n",
            about.split_whitespace().collect::<Vec<_>>().join(" ")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_every_default_can_be_read() {
        let text = commented(&settings_file::all(&program()));
        let table = text
            .replace("\n# ", "\n")
            .lines()
            .filter(|line| line.contains(" = "))
            .collect::<Vec<_>>()
            .join("\n");
        let table = table.parse::<toml::Table>().expect("TOML");
        for key in ["model", "protocol", "trigger", "seed"] {
            assert!(table.contains_key(key), "{key} in {text}");
        }
        assert!(
            !table.contains_key("max_cost"),
            "a file must not set a cost limit"
        );
        let commented = text
            .lines()
            .all(|line| line.is_empty() || line.starts_with('#'));
        assert!(commented, "nothing is set: {text}");
    }
}
