//! The program: arguments, wiring, progress and exit codes. What a library user wants lives in the other crates.
#![warn(clippy::print_stdout, clippy::print_stderr, reason = "only `terminal` writes")]

mod args;
mod commands;
mod failure;
mod help;
mod money;
mod output;
mod progress;
mod recorded;
mod roles;
mod settings;
mod source;
mod stores;
mod terminal;

use std::process::ExitCode;

use tracing_subscriber::filter::{EnvFilter, LevelFilter};

use crate::args::Command;
use crate::failure::Failure;

fn main() -> ExitCode {
    let args = match help::parse() {
        Ok(args) => args,
        Err(failure) => return failure.report(),
    };
    log(args.verbose);
    let done = match args.command {
        None => commands::compare::compare(&args.compare),
        Some(Command::Compare(compare)) => commands::compare::compare(&compare),
        Some(Command::Run(run)) => commands::compare::run(&run),
        Some(Command::Explain(explain)) => commands::explain::explain(&explain),
        Some(Command::Import(import)) => commands::import::import(&import),
        Some(Command::Checkpoint(command)) => commands::checkpoint::checkpoint(&command),
        Some(Command::Gate(gate)) => commands::gate::gate(&gate),
        Some(Command::Generate(generate)) => commands::generate::generate(&generate),
        Some(Command::Probes(probes)) => commands::probes::probes(&probes),
        Some(Command::Report(report)) => commands::report::report(&report),
        Some(Command::Doctor(doctor)) => commands::doctor::doctor(&doctor),
        Some(Command::Agreement(runs)) => commands::agreement::agreement(&runs),
        Some(Command::Config) => commands::config::config(),
        Some(Command::Init) => commands::config::init(),
        Some(Command::Completions { shell }) => completions(shell),
        Some(Command::List(list)) => commands::list::list(&list),
        Some(Command::Schema(schema)) => commands::schema::schema(&schema),
        Some(Command::Serve(serve)) => commands::serve::serve(&serve),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut <args::Args as clap::CommandFactory>::command(), "compactometer", &mut script);
    terminal::say(&String::from_utf8_lossy(&script))
}

/// Shows the engine's messages as far as `RUST_LOG` or `--verbose` asks for them.
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
            terminal::note(&format!("RUST_LOG is `{asked}`, which is not a filter ({error}); set it to `info`, say"));
            None
        }
    });
    terminal::log(filter.unwrap_or_else(|| EnvFilter::default().add_directive(level.into())));
}
