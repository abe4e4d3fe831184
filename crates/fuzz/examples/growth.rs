//! Prints how the time of each target grows with its input. Each seed is enlarged in every way to a
//! size and to four times that size. A line is printed if four times the input takes more than
//! eight times as long.
//!
//! `cargo run --release -p compactometer-fuzz --example growth [TARGET...]`. The times are for
//! reading only; no verdict depends on them.
#![allow(missing_docs, reason = "an example")]

use std::time::{Duration, Instant};

use compactometer_fuzz::{ALL, FuzzTarget, swell};

const BYTES: usize = 32 << 10;
const TIMES: usize = 4;
/// Shorter times are not significant.
const LEAST: Duration = Duration::from_millis(40);

fn main() {
    let chosen = std::env::args().skip(1).collect::<Vec<_>>();
    for target in ALL
        .iter()
        .filter(|target| chosen.is_empty() || chosen.iter().any(|name| name == target.name))
    {
        for path in target.seeds().into_iter().chain(target.regressions()) {
            let seed = std::fs::read(&path).expect("a seed");
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            look(target, &name, &seed);
        }
    }
}

fn look(target: &FuzzTarget, name: &str, seed: &[u8]) {
    for swelling in swell::swellings(seed) {
        let (small, large) = (swelling.to(BYTES), swelling.to(BYTES * TIMES));
        let slow = time(target, &large);
        if slow < LEAST {
            continue;
        }
        let quick = time(target, &small);
        let (ratio, growth) = (
            slow.as_secs_f64() / quick.as_secs_f64(),
            large.len() as f64 / small.len() as f64,
        );
        if ratio > 2.0 * growth {
            println!(
                "{}: {name}, more of `{}`: {} KiB take {slow:.1?}, {} KiB {quick:.1?}: {ratio:.1} times as long",
                target.name,
                swelling.piece,
                large.len() >> 10,
                small.len() >> 10
            );
        }
    }
}

/// The shorter of two runs.
fn time(target: &FuzzTarget, data: &[u8]) -> Duration {
    let once = || {
        let start = Instant::now();
        (target.run)(data);
        start.elapsed()
    };
    once().min(once())
}
