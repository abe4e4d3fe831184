//! Our exact counting compared with tiktoken-rs, the reference that must give the same counts.

use std::error::Error;

use compactometer_benches::cpu::timed;
use compactometer_benches::paths::{CHUNK, reference};
use compactometer_benches::texts::{Kind, chunks};
use compactometer_engine::tokens::{Encoding, TokenCounter};

/// Pairs of passes, after one that warms up both.
const ROUNDS: usize = 15;
const BYTES: usize = 1 << 20;

/// The ratios of tiktoken-rs's CPU time to ours, one per round, as JSON.
pub(crate) fn measure(encoding: &str, kind: &str) -> Result<String, Box<dyn Error>> {
    let kind = Kind::by_name(kind).ok_or_else(|| format!("unknown kind of text `{kind}`"))?;
    let ours =
        Encoding::by_name(encoding).ok_or_else(|| format!("unknown encoding `{encoding}`"))?;
    let reference = reference(ours);
    let text = kind.text(7, BYTES);
    let texts = chunks(&text, CHUNK);
    let mut ratios = Vec::with_capacity(ROUNDS);
    for round in 0..=ROUNDS {
        let (theirs, theirs_ns) = timed(|| {
            texts
                .iter()
                .map(|text| reference.count_ordinary(text) as u64)
                .sum::<u64>()
        });
        let (found, ours_ns) = timed(|| {
            texts
                .iter()
                .map(|text| u64::from(ours.count_text(text)))
                .sum::<u64>()
        });
        if found != theirs {
            return Err(format!(
                "{encoding} counts {found} tokens where tiktoken-rs counts {theirs}"
            )
            .into());
        }
        if round > 0 {
            ratios.push(theirs_ns as f64 / ours_ns.max(1) as f64);
        }
    }
    Ok(serde_json::json!({"ratios": ratios}).to_string())
}
