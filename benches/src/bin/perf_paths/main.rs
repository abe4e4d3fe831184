//! The key paths whose instructions `scripts/perf-gate` counts, one per process, and exact counting
//! compared with tiktoken-rs.
//!
//! ```text
//! perf-paths list                 the name and the size of each path that is counted
//! perf-paths describe             the name of every path, and what one run of it does
//! perf-paths run NAME SIZE        prepares the path's work, then runs it once inside `counted`
//! perf-paths first ENCODING WHOSE the first count of a process, by `ours` or by `tiktoken-rs`
//! perf-paths ratio ENCODING KIND  CPU time of tiktoken-rs over ours, both in this process, in turn
//! ```
//!
//! Absent on purpose: limits and verdicts, which belong to the script, and times, because on a
//! shared machine only their ratio within one process is meaningful.

mod ratio;

use std::error::Error;
use std::hint::black_box;

use compactometer_benches::paths::{self, Measured};
use compactometer_engine::tokens::{Encoding, TokenCounter};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list"] => {
            let counted = paths::all()
                .into_iter()
                .filter(|path| path.measured == Measured::Instructions);
            counted.for_each(|path| println!("{} {} {}", path.name, path.size, path.about));
        }
        ["describe"] => paths::all()
            .iter()
            .for_each(|path| println!("{} {}", path.name, path.what())),
        ["run", name, size] => {
            let path = paths::by_name(name)?;
            let mut work = path.prepare(size.parse()?)?;
            let outcome = counted(&mut *work);
            if outcome == 0 {
                return Err(format!("path `{name}` did nothing at size `{size}`").into());
            }
            println!("{outcome}");
        }
        ["first", encoding, whose] => println!("{}", first(encoding, whose)?),
        ["ratio", encoding, kind] => println!("{}", ratio::measure(encoding, kind)?),
        _ => {
            return Err(
                "expected `list`, `describe`, `run NAME SIZE`, `first ENCODING WHOSE` or `ratio ENCODING KIND`".into(),
            );
        }
    }
    Ok(())
}

/// The tokens of one sentence, counted by a process that has counted nothing before.
fn first(encoding: &str, whose: &str) -> Result<u64, Box<dyn Error>> {
    const SENTENCE: &str = "The first count of a process waits for the vocabulary.";
    let encoding = Encoding::by_name(encoding).ok_or("unknown encoding")?;
    match whose {
        "ours" => Ok(encoding.count_text(SENTENCE).into()),
        "tiktoken-rs" => Ok(paths::reference(encoding).count_ordinary(SENTENCE) as u64),
        _ => Err("expected `ours` or `tiktoken-rs`".into()),
    }
}

/// The only function in which callgrind counts. It is not inlined, so that it has a name.
#[inline(never)]
fn counted(work: &mut dyn FnMut() -> u64) -> u64 {
    black_box(work())
}
