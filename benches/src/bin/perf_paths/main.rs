//! The key paths whose instructions `scripts/perf-gate` counts, one in a process, and exact counting against tiktoken-rs.
//!
//! ```text
//! perf-paths list                 names, and the size at which each is counted
//! perf-paths run NAME SIZE        prepares, then does the path's work once inside `counted`
//! perf-paths ratio ENCODING KIND  CPU time of tiktoken-rs over ours, both in this process, in turn
//! ```
//!
//! Absent on purpose: limits and verdicts, which are the script's; and times, of which only a ratio within one process says
//! something on a shared machine.

mod counting;
mod paths;
mod ratio;
mod sessions;
mod stored;

use std::error::Error;
use std::hint::black_box;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["list"] => paths::ALL.iter().for_each(|path| println!("{} {} {}", path.name, path.size, path.about)),
        ["run", name, size] => {
            let path = paths::by_name(name)?;
            let mut work = (path.prepare)(size.parse()?)?;
            let outcome = counted(&mut *work);
            if outcome == 0 {
                return Err(format!("path `{name}` did nothing at size `{size}`").into());
            }
            println!("{outcome}");
        }
        ["ratio", encoding, kind] => println!("{}", ratio::measure(encoding, kind)?),
        _ => return Err("expected `list`, `run NAME SIZE` or `ratio ENCODING KIND`".into()),
    }
    Ok(())
}

/// The only function in which callgrind counts; not inlined, so that it has a name.
#[inline(never)]
fn counted(work: &mut dyn FnMut() -> u64) -> u64 {
    black_box(work())
}
