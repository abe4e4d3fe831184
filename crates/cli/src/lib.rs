//! The program: arguments, wiring, progress and exit codes. [`run_with`] is the whole program with
//! strategies of your own; what else a library user wants is in the other crates.
#![warn(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "only `terminal` writes"
)]

mod arguments;
mod commands;
mod cost;
mod output;
mod resolve;

use std::process::ExitCode;

use anyhow::anyhow;
use compactometer_engine::strategy::StrategySpec;
use tracing_subscriber::filter::{EnvFilter, LevelFilter};

use crate::arguments::help;
use crate::output::failure::Failure;
use crate::output::terminal;

/// Runs the program with strategies of your own beside the built-in ones: every command takes them
/// by name, and lists, manifests and reports have them. A version in [`StrategySpec::source`] says
/// when a changed strategy runs its cases again.
///
/// ```no_run
/// use compactometer_engine::strategy::StrategySpec;
///
/// # static MINE: [&StrategySpec; 0] = [];
/// fn main() -> std::process::ExitCode {
///     compactometer::run_with(&MINE)
/// }
/// ```
pub fn run_with(own: &'static [&'static StrategySpec]) -> ExitCode {
    let added =
        compactometer_harness::entrants::add_own(own).map_err(|why| Failure::usage(anyhow!(why)));
    let done = added
        .and_then(|()| help::parse(commands::program(), commands::group_of))
        .and_then(|matches| {
            log(commands::verbosity(&matches));
            commands::run(&matches)
        });
    compactometer_external::finish();
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => terminal::fail(&failure),
    }
}

/// Shows the engine's messages that `RUST_LOG` or `--verbose` ask for.
fn log(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::OFF,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let asked = std::env::var("RUST_LOG").ok().filter(|_| verbose == 0);
    let filter = asked.and_then(|asked| match EnvFilter::builder().parse(&asked) {
        Ok(filter) => Some(filter),
        Err(error) => {
            terminal::note(&format!(
                "RUST_LOG is `{asked}`, which is not a filter ({error}); set it to `info`, for example"
            ));
            None
        }
    });
    terminal::log(filter.unwrap_or_else(|| EnvFilter::default().add_directive(level.into())));
}
