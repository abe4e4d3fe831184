//! Prints the error of each estimator that reads text, by kind of text: for the whole text, and the
//! 5th and 95th percentile over chunks. `cargo run --release -p compactometer-benches --example
//! estimators`

use compactometer_benches::paths::CHUNK;
use compactometer_benches::texts::{Kind, chunks};
use compactometer_engine::estimate::Estimator;
use compactometer_engine::tokens::{Encoding, TokenCounter};

const BYTES: usize = 1 << 20;

fn main() {
    println!(
        "{:12} {:8} {:12} {:>8} {:>8} {:>8}",
        "encoding", "text", "estimator", "error", "p5", "p95"
    );
    for encoding in Encoding::ALL {
        for (kind, text) in Kind::ALL
            .iter()
            .map(|(name, kind)| (name, kind.text(7, BYTES)))
        {
            for (estimator, name) in Estimator::ALL.iter().zip(Estimator::NAMES) {
                // The other estimators only know what calls reported.
                if estimator.of_text("some words") > 0 {
                    let [whole, low, high] = errors(*estimator, *encoding, &chunks(&text, CHUNK));
                    println!(
                        "{:12} {kind:8} {name:12} {whole:+7.1}% {low:+7.1}% {high:+7.1}%",
                        encoding.name()
                    );
                }
            }
        }
    }
}

/// Errors in percent of the exact count: for all chunks together, then two percentiles over the
/// chunks.
fn errors(estimator: Estimator, encoding: Encoding, chunks: &[&str]) -> [f64; 3] {
    let counts = chunks.iter().map(|chunk| {
        (
            estimator.of_text(chunk).into(),
            encoding.count_text(chunk).into(),
        )
    });
    let counts = counts.collect::<Vec<(f64, f64)>>();
    let error = |(estimated, exact): (f64, f64)| 100.0 * (estimated / exact - 1.0);
    let whole = counts
        .iter()
        .fold((0.0, 0.0), |sum, count| (sum.0 + count.0, sum.1 + count.1));
    let mut each = counts.iter().copied().map(error).collect::<Vec<_>>();
    each.sort_by(f64::total_cmp);
    let share = |share: f64| each[((each.len() - 1) as f64 * share).round() as usize];
    [error(whole), share(0.05), share(0.95)]
}
