//! The program.

use std::process::ExitCode;

fn main() -> ExitCode {
    compactometer::run_with(&[])
}
