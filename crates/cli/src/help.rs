//! The program's own help: its commands in groups, the everyday ones first.

use std::path::Path;

use anyhow::anyhow;
use clap::builder::Styles;
use clap::{CommandFactory, FromArgMatches, Parser};

use crate::args::Args;
use crate::failure::Failure;
use crate::settings::{self, FILE};
use crate::terminal;

/// Headings and their commands; a command of no group stands under the last heading.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Everyday", &["compare", "explain", "import", "gate", "report"]),
    ("Data", &["generate", "probes"]),
    ("Reference engine", &["checkpoint"]),
    ("The rest", &[]),
];

/// The arguments, with the folder's defaults; ends the program where they ask for help or cannot be used.
///
/// # Errors
/// Where the folder's settings cannot be used.
pub(crate) fn parse() -> Result<Args, Failure> {
    let bare = Args::command();
    // Help is given whatever the file says.
    let set = settings::read(Path::new(""), &bare).map_err(Failure::usage);
    let command = match &set {
        Ok(set) => settings::applied(bare, set),
        Err(_) => bare,
    };
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Arguments:\n{{positionals}}\n\nOptions:\n{{options}}{{after-help}}",
        groups(&command)
    );
    let command = command.help_template(template);
    let parsed = read(command.clone()).map_err(|error| match Args::try_parse() {
        // The arguments can be used without the file.
        Ok(_) => {
            Failure::usage(anyhow!("`{FILE}`: {}", plain(&command, &error).trim_start_matches("error: ").trim_end()))
        }
        Err(_) => terminal::exit(&error, &plain(&command, &error)),
    });
    set.and(parsed)
}

fn read(command: clap::Command) -> Result<Args, clap::Error> {
    command.try_get_matches().and_then(|matches| Args::from_arg_matches(&matches))
}

/// Clap's message without clap's colours: anything else in it that a terminal would obey came from outside.
fn plain(command: &clap::Command, error: &clap::Error) -> String {
    let again = read(command.clone().styles(Styles::plain())).err();
    again.as_ref().unwrap_or(error).render().ansi().to_string()
}

fn groups(command: &clap::Command) -> String {
    let is_grouped = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let width = command.get_subcommands().map(|one| one.get_name().len()).max().unwrap_or_default();
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let is_last = names.is_empty();
        let listed = names.iter().filter_map(|name| command.find_subcommand(name));
        let others = command.get_subcommands().filter(|one| is_last && !is_grouped(one.get_name()));
        let rows = listed.chain(others).map(|one| {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            format!("  {:<width$}  {about}\n", one.get_name())
        });
        let rows: String = rows.collect();
        if !rows.is_empty() {
            text.push_str(&format!("{heading}:\n{rows}\n"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::groups;
    use crate::args::Args;

    #[test]
    fn every_command_stands_in_one_group() {
        let text = groups(&Args::command());
        for command in Args::command().get_subcommands() {
            let rows = text.lines().filter(|line| line.split_whitespace().next() == Some(command.get_name()));
            assert_eq!(rows.count(), 1, "{}", command.get_name());
        }
        assert!(text.starts_with("Everyday:\n  compare "), "{text}");
    }
}
