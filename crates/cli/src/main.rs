//! The program.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A run makes millions of short texts, on several threads.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    compactometer::run_with(&[])
}
