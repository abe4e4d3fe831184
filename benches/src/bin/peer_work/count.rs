//! Exact counts of a text in chunks of the length of messages. A peer counts the same bytes.

use std::error::Error;
use std::path::Path;

use compactometer_benches::cpu::timed;
use compactometer_benches::texts::chunks;
use compactometer_engine::tokens::{Encoding, TokenCounter};

/// Bytes of a chunk.
const CHUNK: usize = 4_096;

/// The tokens of each chunk, and the CPU seconds of a single pass over the text. A second pass
/// would measure the cache.
pub(crate) fn measure(encoding: &str, path: &Path) -> Result<serde_json::Value, Box<dyn Error>> {
    let encoding =
        Encoding::by_name(encoding).ok_or_else(|| format!("unknown encoding `{encoding}`"))?;
    let text = std::fs::read_to_string(path)?;
    let texts = chunks(&text, CHUNK);
    // Loads the vocabulary.
    encoding.count_text("ready");
    let (tokens, nanoseconds) = timed(|| {
        texts
            .iter()
            .map(|text| encoding.count_text(text))
            .collect::<Vec<_>>()
    });
    Ok(serde_json::json!({"tokens": tokens, "cpu_s": nanoseconds as f64 / 1e9}))
}
