//! The program's own help: its commands in groups, the everyday ones first.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use anyhow::anyhow;
use clap::builder::Styles;
use clap::{Arg, ArgAction, ArgMatches, Command};

use super::settings_file::{self, FILE};
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
    const ALL: [HelpGroup; 4] = [
        HelpGroup::Everyday,
        HelpGroup::Data,
        HelpGroup::Engine,
        HelpGroup::Rest,
    ];

    const fn heading(self) -> &'static str {
        match self {
            HelpGroup::Everyday => "Everyday",
            HelpGroup::Data => "Data",
            HelpGroup::Engine => "Reference engine",
            HelpGroup::Rest => "The rest",
        }
    }
}

/// The flag that shows every option in full.
const ALL: &str = "help-all";

/// The arguments, with the folder's defaults; ends the program where they ask for help or cannot be
/// used.
///
/// # Errors
/// Where the folder's settings cannot be used.
pub(crate) fn parse(
    bare: Command,
    group_of: impl Fn(&str) -> HelpGroup,
) -> Result<ArgMatches, Failure> {
    let words = std::env::args_os().collect::<Vec<_>>();
    let is_whole = words
        .iter()
        .any(|word| word.to_str().is_some_and(|word| word == format!("--{ALL}")));
    let words = flags_behind(words, &bare);
    let is_without_file = words.get(1).is_some_and(|word| {
        settings_file::WITHOUT_FILE
            .iter()
            .any(|command| word == command)
    });
    // Help is given whatever the file says.
    let set = match is_without_file {
        true => Ok(BTreeMap::new()),
        false => settings_file::read(Path::new(""), &bare).map_err(Failure::usage),
    };
    let command = match &set {
        Ok(set) => settings_file::applied(bare.clone(), set),
        Err(_) => bare.clone(),
    };
    let command = if is_whole {
        command
    } else {
        shortened(command)
    };
    let command = command
        .clone()
        .help_template(template(&command, is_whole, group_of));
    let parsed = command
        .clone()
        .try_get_matches_from(&words)
        .map_err(|error| {
            let plain =
                plain(&command, &words).unwrap_or_else(|| error.render().ansi().to_string());
            match bare.try_get_matches_from(&words) {
                // The arguments can be used without the file.
                Ok(_) => Failure::usage(anyhow!(
                    "`{FILE}`: {}",
                    plain.trim_start_matches("error: ").trim_end()
                )),
                Err(_) => terminal::exit(&error, &plain),
            }
        });
    set.and(parsed)
}

/// The words with flags of the whole program behind the command's name, where the parser takes them
/// too.
fn flags_behind(mut words: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let is_flag = |word: &OsString| word.to_str().is_some_and(|word| VERBOSE.contains(&word));
    let flags = words
        .iter()
        .skip(1)
        .take_while(|word| is_flag(word))
        .count();
    let is_command = |word: &OsString| {
        command
            .get_subcommands()
            .any(|one| *one.get_name() == **word)
    };
    if words.get(1 + flags).is_some_and(is_command) {
        words[1..=1 + flags].rotate_right(1);
    }
    words
}

/// The forms of the flag of the whole program.
const VERBOSE: [&str; 4] = ["-v", "-vv", "-vvv", "--verbose"];

/// The command and those below it with `--help` for the everyday options and `--help-all` for all.
pub(crate) fn with_help(command: Command) -> Command {
    let names = command
        .get_subcommands()
        .map(|one| one.get_name().to_owned())
        .collect::<Vec<_>>();
    let short = Arg::new("help")
        .short('h')
        .long("help")
        .help("Print the everyday options")
        .action(ArgAction::HelpShort);
    let long = Arg::new(ALL)
        .long(ALL)
        .help("Print every option in full")
        .action(ArgAction::HelpLong);
    let command = command
        .disable_help_flag(true)
        .disable_help_subcommand(true)
        .arg(short)
        .arg(long);
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, with_help)
    })
}

/// The command with one sentence for each option, and without variables.
fn shortened(command: Command) -> Command {
    let short = |arg: Arg| {
        let help = arg.get_help().map(|help| first_sentence(&help.to_string()));
        arg.help(help.unwrap_or_default()).hide_env(true)
    };
    let command = command.mut_args(short);
    let has_rare = command.get_arguments().any(Arg::is_hide_short_help_set);
    let more = has_rare.then(|| more(&command));
    let command = more.into_iter().fold(command, Command::after_help);
    command.mut_subcommands(shortened)
}

/// What is below the everyday options.
fn more(command: &Command) -> String {
    let own = command
        .get_after_help()
        .map(|text| format!("\n{text}"))
        .unwrap_or_default();
    format!("More options, and variables: `--{ALL}`.{own}")
}

/// The first sentence of a text, and the last one if it names the default.
fn first_sentence(text: &str) -> String {
    let Some((first, rest)) = text.split_once(". ") else {
        return text.to_owned();
    };
    let default = rest.rfind("Default: ").map_or("", |at| &rest[at..]);
    if default.is_empty() {
        first.to_owned()
    } else {
        format!("{first}. {default}")
    }
}

/// The program's own help: its commands in groups. Its options are those of `compare`, and are
/// listed with all others only.
fn template(command: &Command, is_whole: bool, group_of: impl Fn(&str) -> HelpGroup) -> String {
    let groups = groups(command, group_of);
    let head = format!("{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}");
    match is_whole {
        true => format!("{head}Arguments:\n{{positionals}}\n\nOptions:\n{{options}}{{after-help}}"),
        false => format!("{head}Without a command, options are those of `compare`.{{after-help}}"),
    }
}

/// Clap's message without clap's colours: anything else in it that a terminal would obey came from
/// outside.
fn plain(command: &Command, words: &[OsString]) -> Option<String> {
    let error = command
        .clone()
        .styles(Styles::plain())
        .try_get_matches_from(words)
        .err()?;
    Some(error.render().ansi().to_string())
}

/// The program's commands under their headings.
pub(crate) fn groups(command: &Command, group_of: impl Fn(&str) -> HelpGroup) -> String {
    let width = command
        .get_subcommands()
        .map(|one| one.get_name().len())
        .max()
        .unwrap_or_default();
    let mut text = String::new();
    for group in HelpGroup::ALL {
        let listed = command
            .get_subcommands()
            .filter(|one| group_of(one.get_name()) == group);
        let rows = listed.map(|one| {
            let about = one.get_about().map(ToString::to_string).unwrap_or_default();
            format!("  {:<width$}  {about}\n", one.get_name())
        });
        text.push_str(&format!(
            "{}:\n{}\n",
            group.heading(),
            rows.collect::<String>()
        ));
    }
    text
}
