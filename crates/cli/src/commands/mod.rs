//! The commands. Each has a file with a row that holds its arguments, its group in the help and the
//! function that runs it.

mod add;
mod agreement;
mod checkpoint;
mod command_row;
mod compare;
mod completions;
mod config;
mod doctor;
#[cfg(test)]
mod dummy;
mod explain;
mod gate;
mod generate;
mod hook;
mod import;
mod ledger;
mod list;
mod losses;
mod merge;
mod plan;
mod play;
mod probes;
mod prompt;
mod report;
mod run;
mod schema;
mod serve;
mod skeleton;
mod sources;
mod status;

use std::path::PathBuf;

use anyhow::anyhow;
use clap::{ArgMatches, CommandFactory, Parser};
use compactometer_suites::embedded;
use compactometer_text::suggest::unknown;

use self::command_row::{CommandRow, parsed};
use self::compare::CompareArgs;
use crate::arguments::help::{self, HelpGroup};
use crate::output::failure::Failure;

/// Every command, in the order of the help within its group. A new one needs its file and one line
/// here.
const ALL: &[CommandRow] = &[
    compare::COMMAND,
    explain::COMMAND,
    import::COMMAND,
    losses::COMMAND,
    ledger::COMMAND,
    hook::COMMAND,
    gate::COMMAND,
    generate::COMMAND,
    skeleton::COMMAND,
    probes::COMMAND,
    prompt::COMMAND,
    run::COMMAND,
    plan::COMMAND,
    status::COMMAND,
    merge::COMMAND,
    report::COMMAND,
    agreement::COMMAND,
    checkpoint::COMMAND,
    list::COMMAND,
    schema::COMMAND,
    doctor::COMMAND,
    sources::COMMAND,
    config::CONFIG,
    config::INIT,
    add::COMMAND,
    completions::COMMAND,
    serve::COMMAND,
    play::COMMAND,
    #[cfg(test)]
    dummy::COMMAND,
];

/// Measures what a long conversation loses when it is compacted.
///
/// Without a command it runs the embedded suite through every reference strategy and control,
/// against a mock.
#[derive(Parser)]
#[command(
    name = "compactometer",
    version,
    args_conflicts_with_subcommands = true,
    max_term_width = 100
)]
#[command(
    after_help = "Exit codes: 0 done, 1 failed, 2 usage or mismatch, 3 regression, 4 inconclusive or incomplete, 75 try again later.\nNo telemetry; no network unless a model names a host."
)]
struct ProgramArgs {
    /// Log the engine's decisions to stderr; given twice, also each call. `RUST_LOG` sets a full
    /// filter.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    #[command(flatten)]
    compare: CompareArgs,
}

/// The whole command line.
pub(crate) fn program() -> clap::Command {
    let command = |row: &CommandRow| {
        (row.arguments)(clap::Command::new(row.name))
            .about(row.about)
            .long_about(None::<&'static str>)
    };
    help::with_help(ProgramArgs::command().subcommands(ALL.iter().map(command)))
}

/// The command's group in the help.
pub(crate) fn group_of(name: &str) -> HelpGroup {
    ALL.iter()
        .find(|row| row.name == name)
        .map_or(HelpGroup::Rest, |row| row.group)
}

/// How often `--verbose` was given.
pub(crate) fn verbosity(matches: &ArgMatches) -> u8 {
    matches.get_count("verbose")
}

/// Runs the command that was given; without one, `compare`.
pub(crate) fn run(matches: &ArgMatches) -> Result<(), Failure> {
    let Some((name, of_command)) = matches.subcommand() else {
        let ProgramArgs { compare, .. } = parsed(matches)?;
        mistyped(&compare.run.suites)?;
        return compare::compare(&compare);
    };
    // The parser knows no other name.
    ALL.iter()
        .find(|row| row.name == name)
        .map_or(Ok(()), |row| (row.run)(of_command))
}

/// Fails if the first word that is given names no suite: it is probably a mistyped command.
fn mistyped(suites: &[PathBuf]) -> Result<(), Failure> {
    let [path, ..] = suites else {
        return Ok(());
    };
    let word = path.to_str().filter(|word| {
        path.extension().is_none() && !path.exists() && embedded::by_name(word).is_none()
    });
    let names = ALL
        .iter()
        .map(|row| row.name)
        .chain(embedded::ALL.iter().map(|suite| suite.name));
    word.map_or(Ok(()), |word| {
        Err(Failure::usage(anyhow!(unknown(
            "command or suite",
            word,
            names
        ))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_command_needs_its_row_alone() {
        let name = dummy::COMMAND.name;
        let help = help::groups(&program(), group_of);
        assert!(
            help.lines().any(|line| line.trim_start().starts_with(name)),
            "{help}"
        );
        let mut script = Vec::new();
        clap_complete::generate(
            clap_complete::Shell::Bash,
            &mut program(),
            "compactometer",
            &mut script,
        );
        assert!(String::from_utf8_lossy(&script).contains(name));
        let matches = program()
            .try_get_matches_from(["compactometer", name])
            .expect("it is a command");
        assert!(run(&matches).is_ok());
    }

    #[test]
    fn every_command_stands_in_one_group() {
        let text = help::groups(&program(), group_of);
        for CommandRow { name, .. } in ALL {
            let rows = text
                .lines()
                .filter(|line| line.split_whitespace().next() == Some(name));
            assert_eq!(rows.count(), 1, "{name}");
        }
        assert!(text.starts_with("Everyday:\n  compare "), "{text}");
    }
}
