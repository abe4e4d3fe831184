//! Compaction strategies that run as programs, in any language: `exec:COMMAND` in a list of
//! strategies.
//!
//! A program speaks JSON, one object a line, on its standard input and output; the forms are in
//! [`compactometer_formats::strategy_protocol`]. [`open`] starts it, reads what it says of itself,
//! and gives a row that a plan takes like one of its own:
//!
//! ```no_run
//! use compactometer_harness::entrants::select_with;
//!
//! let names = ["summarize", "exec:python3 my_strategy.py", "exec:\"node other.mjs\":seconds=60"];
//! let entrants = select_with(names, [], &compactometer_external::open)?;
//! // ... a plan of these entrants is run, and then:
//! compactometer_external::finish();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How a program runs
//!
//! - Each case has a process of its own, which starts when the strategy is first asked and ends with
//!   the case. Nothing passes from one case to the next.
//! - Its model is an address on this machine, behind the meter of the case, so its calls have tokens,
//!   cost (US dollars) and time (milliseconds) like those of any strategy.
//! - An answer takes at most `seconds`, and the process with its children at most `memory` (MiB);
//!   both are parameters of every program. A program that breaks a rule of the protocol is asked no more in
//!   that case: what it broke is the reason in the records, and its facts count as lost.
//! - [`finish`] waits for what still ends. [`end_all`] ends at once everything that programs started,
//!   also what has left their process group ([`ProgramMark`]).
//!
//! # Errors
//!
//! [`open`] fails with a sentence that names the command: it does not start, says no hello, or says
//! one that cannot be used. Everything later is an outcome of the case, and never an error of the run.
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
