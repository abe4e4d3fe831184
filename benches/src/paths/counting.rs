//! Exact counting, in chunks as long as messages are, each seen for the first time.

use std::error::Error;

use compactometer_benches::texts::{Kind, chunks};
use compactometer_engine::tokens::{Encoding, TokenCounter};

use crate::paths::Work;

/// Bytes of a chunk.
pub(crate) const CHUNK: usize = 4_096;
const SEED: u64 = 7;

pub(crate) fn prose(kilobytes: usize) -> Result<Work, Box<dyn Error>> {
    Ok(count(Kind::Prose, kilobytes))
}

pub(crate) fn code(kilobytes: usize) -> Result<Work, Box<dyn Error>> {
    Ok(count(Kind::Code, kilobytes))
}

pub(crate) fn json(kilobytes: usize) -> Result<Work, Box<dyn Error>> {
    Ok(count(Kind::Json, kilobytes))
}

pub(crate) fn mixed(kilobytes: usize) -> Result<Work, Box<dyn Error>> {
    Ok(count(Kind::Mixed, kilobytes))
}

fn count(kind: Kind, kilobytes: usize) -> Work {
    let text = kind.text(SEED, kilobytes * 1_024);
    // Loads the vocabulary.
    Encoding::Cl100k.count_text("ready");
    Box::new(move || chunks(&text, CHUNK).iter().map(|chunk| u64::from(Encoding::Cl100k.count_text(chunk))).sum())
}
