//! The program: arguments, wiring, progress and exit codes. What a library user wants lives in the other crates.
#![warn(clippy::print_stdout, clippy::print_stderr, reason = "only `terminal` writes")]

mod arguments;
mod commands;
mod cost;
mod output;

use std::process::ExitCode;

use tracing_subscriber::filter::{EnvFilter, LevelFilter};

use crate::arguments::help;
use crate::output::terminal;

fn main() -> ExitCode {
    let done = help::parse(commands::program(), commands::group_of).and_then(|matches| {
        log(commands::verbosity(&matches));
        commands::run(&matches)
    });
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
