//! A command as a row of the list.

use clap::{ArgMatches, FromArgMatches};

use crate::arguments::help::HelpGroup;
use crate::output::failure::Failure;

/// A command and everything that the program needs to know about it.
pub(super) struct CommandRow {
    pub(super) name: &'static str,
    /// Its line in the help.
    pub(super) about: &'static str,
    pub(super) group: HelpGroup,
    /// Adds its arguments.
    pub(super) arguments: fn(clap::Command) -> clap::Command,
    pub(super) run: fn(&ArgMatches) -> Result<(), Failure>,
}

/// The arguments of a command.
pub(super) fn parsed<A: FromArgMatches>(matches: &ArgMatches) -> Result<A, Failure> {
    A::from_arg_matches(matches).map_err(Failure::usage)
}
