//! The program: arguments, wiring, progress and exit codes. What a library user wants lives in the other crates.

mod args;
mod commands;
mod failure;
mod help;
mod output;
mod progress;
mod source;

use std::process::ExitCode;

use crate::args::Command;
use crate::failure::Failure;

fn main() -> ExitCode {
    let args = help::parse();
    let done = match args.command {
        None => commands::compare::compare(&args.compare),
        Some(Command::Compare(compare)) => commands::compare::compare(&compare),
        Some(Command::Run(run)) => commands::compare::run(&run),
        Some(Command::Explain(explain)) => commands::explain::explain(&explain),
        Some(Command::Import(import)) => commands::import::import(&import),
        Some(Command::Generate(generate)) => commands::generate::generate(&generate),
        Some(Command::List(list)) => commands::list::list(&list),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

/// Writes data to stdout. A reader that closes the pipe early, as `head` does, is no error.
fn print(text: &str) -> Result<(), Failure> {
    use std::io::Write;
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(Failure::failed(error)),
        _ => Ok(()),
    }
}
