//! Prints the speed of exact counts relative to tiktoken-rs, by CPU time in one process, and fails
//! if a count differs. Then prints the speed on megabytes that are hard to split or to merge.
//! `cargo run --release -p compactometer-benches --example counters`

use std::error::Error;

use compactometer_benches::cpu::timed;
use compactometer_benches::paths::{CHUNK, reference};
use compactometer_benches::texts::{Kind, chunks, hard};
use compactometer_engine::tokens::{Encoding, TokenCounter};

const BYTES: usize = 1 << 20;
/// Pairs of passes, after one that warms up both.
const ROUNDS: usize = 9;

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "{:12} {:18} {:>8} {:>12} {:>6}",
        "encoding", "text", "MB/s", "tiktoken-rs", "ratio"
    );
    for encoding in Encoding::ALL {
        for (name, kind) in Kind::ALL {
            compare(*encoding, name, &chunks(&kind.text(7, BYTES), CHUNK))?;
        }
    }
    println!("\n{:12} {:18} {:>8}", "encoding", "megabyte of", "MB/s");
    for encoding in Encoding::ALL {
        // Loads the vocabulary.
        encoding.count_text("ready");
        for (name, text) in hard(BYTES) {
            let (tokens, nanoseconds) = timed(|| encoding.count_text(&text));
            if tokens == 0 {
                return Err(format!("a megabyte of {name} has no token").into());
            }
            println!(
                "{:12} {name:18} {:8.1}",
                encoding.name(),
                rate(text.len(), nanoseconds)
            );
        }
    }
    Ok(())
}

/// Runs both in turn, so that other load on the machine affects both equally.
fn compare(encoding: Encoding, name: &str, chunks: &[&str]) -> Result<(), String> {
    let reference = reference(encoding);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (found, own) = timed(|| {
            chunks
                .iter()
                .map(|chunk| u64::from(encoding.count_text(chunk)))
                .sum::<u64>()
        });
        let (expected, other) = timed(|| {
            chunks
                .iter()
                .map(|chunk| reference.count_ordinary(chunk) as u64)
                .sum::<u64>()
        });
        if found != expected {
            return Err(format!("{name}: {found} tokens, expected {expected}"));
        }
        if round > 0 {
            ours.push(own);
            theirs.push(other);
        }
    }
    let bytes = chunks.iter().map(|chunk| chunk.len()).sum::<usize>();
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = theirs as f64 / ours.max(1) as f64;
    println!(
        "{:12} {name:18} {:8.1} {:12.1} {ratio:6.2}",
        encoding.name(),
        rate(bytes, ours),
        rate(bytes, theirs)
    );
    Ok(())
}

/// Megabytes per second.
fn rate(bytes: usize, nanoseconds: u64) -> f64 {
    bytes as f64 * 1e3 / nanoseconds.max(1) as f64
}

fn median(mut nanoseconds: Vec<u64>) -> u64 {
    nanoseconds.sort_unstable();
    nanoseconds[nanoseconds.len() / 2]
}
