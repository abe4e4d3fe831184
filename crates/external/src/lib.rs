//! Compaction strategies that run as programs: `exec:COMMAND` in a list of strategies.
//!
//! A program speaks JSON, one object a line, on its standard input and output
//! ([`compactometer_formats::strategy_protocol`]). Each case has a process of its own. Its model is
//! an address on this machine, behind the meter of the case, so that the program's calls have
//! tokens, cost and time like those of any strategy.
//!
//! Absent on purpose: a sandbox. A program runs with the rights of the user who named it; only keys
//! are taken out of its environment.

mod bridge;
mod connections;
mod mark;
mod process;
mod program;
mod running;
mod runtime;
mod strategy;
mod views;

pub use mark::{ProgramMark, end_all};
pub use process::finish;
pub use program::open;
pub use runtime::runtime;
