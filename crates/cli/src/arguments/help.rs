//! The program's own help: its commands in groups, the everyday ones first.

use std::path::Path;

use anyhow::anyhow;
use clap::builder::Styles;
use clap::{ArgMatches, Command};

use super::settings::{self, FILE};
use crate::output::failure::Failure;
use crate::output::terminal;

/// Where the help lists a command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HelpGroup {
    Everyday,
    Data,
    Engine,
    Rest,
}

impl HelpGroup {
    const ALL: [HelpGroup; 4] = [HelpGroup::Everyday, HelpGroup::Data, HelpGroup::Engine, HelpGroup::Rest];

    const fn heading(self) -> &'static str {
        match self {
            HelpGroup::Everyday => "Everyday",
            HelpGroup::Data => "Data",
            HelpGroup::Engine => "Reference engine",
            HelpGroup::Rest => "The rest",
        }
    }
}

/// The arguments, with the folder's defaults; ends the program where they ask for help or cannot be used.
///
/// # Errors
/// Where the folder's settings cannot be used.
pub(crate) fn parse(bare: Command, group_of: impl Fn(&str) -> HelpGroup) -> Result<ArgMatches, Failure> {
    // Help is given whatever the file says.
    let set = settings::read(Path::new(""), &bare).map_err(Failure::usage);
    let command = match &set {
        Ok(set) => settings::applied(bare.clone(), set),
        Err(_) => bare.clone(),
    };
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}Arguments:\n{{positionals}}\n\nOptions:\n{{options}}{{after-help}}",
        groups(&command, group_of)
    );
    let command = command.help_template(template);
    let parsed = command.clone().try_get_matches().map_err(|error| match bare.try_get_matches() {
        // The arguments can be used without the file.
        Ok(_) => {
            Failure::usage(anyhow!("`{FILE}`: {}", plain(&command, &error).trim_start_matches("error: ").trim_end()))
        }
        Err(_) => terminal::exit(&error, &plain(&command, &error)),
    });
    set.and(parsed)
}

/// Clap's message without clap's colours: anything else in it that a terminal would obey came from outside.
fn plain(command: &Command, error: &clap::Error) -> String {
    let again = command.clone().styles(Styles::plain()).try_get_matches().err();
    again.as_ref().unwrap_or(error).render().ansi().to_string()
}

/// The program's commands under their headings.
pub(crate) fn groups(command: &Command, group_of: impl Fn(&str) -> HelpGroup) -> String {
    let width = command.get_subcommands().map(|one| one.get_name().len()).max().unwrap_or_default();
    let mut text = String::new();
    for group in HelpGroup::ALL {
        let listed = command.get_subcommands().filter(|one| group_of(one.get_name()) == group);
        let rows = listed.map(|one| {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            format!("  {:<width$}  {about}\n", one.get_name())
        });
        text.push_str(&format!("{}:\n{}\n", group.heading(), rows.collect::<String>()));
    }
    text
}
