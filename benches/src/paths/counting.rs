//! Exact counting in chunks of the length of messages. The first pass counts every piece for the
//! first time, as does a process that counts instructions. Later passes use the cache.

use std::error::Error;

use compactometer_engine::tokens::{Encoding, TokenCounter};
use tiktoken_rs::CoreBPE;

use super::{Path, Work};
use crate::texts::{Kind, chunks};

/// Bytes of a chunk.
pub const CHUNK: usize = 4_096;
const SEED: u64 = 7;
/// In kilobytes.
const SIZE: usize = 128;

pub(super) fn paths() -> Vec<Path> {
    let mut paths = Vec::new();
    for (text, kind) in Kind::ALL {
        let cl100k = move |size| count(Encoding::Cl100k, *kind, size);
        let about = format!("cl100k count of SIZE KB of {text}");
        paths.push(Path::new(format!("count-{text}"), SIZE, about, cl100k).of_text());
        let o200k = move |size| count(Encoding::O200k, *kind, size);
        let about = format!("o200k count of SIZE KB of {text}");
        // Both encodings use the same code, so it is enough to count the instructions of one.
        paths.push(
            Path::new(format!("count-o200k-{text}"), SIZE, about, o200k)
                .of_text()
                .only_timed(),
        );
        for encoding in Encoding::ALL {
            paths.push(by_tiktoken(*encoding, *kind, text));
        }
    }
    paths
}

fn by_tiktoken(encoding: Encoding, kind: Kind, text: &str) -> Path {
    let name = encoding.name();
    let about = format!("{name} count of SIZE KB of {text} by tiktoken-rs");
    let name = format!("tiktoken-{}-{text}", name.trim_end_matches("_base"));
    let theirs = move |size| count_by_reference(encoding, kind, size);
    Path::new(name, SIZE, about, theirs).of_text().only_timed()
}

fn count(encoding: Encoding, kind: Kind, kilobytes: usize) -> Result<Work, Box<dyn Error>> {
    let text = kind.text(SEED, kilobytes * 1_024);
    // Loads the vocabulary.
    encoding.count_text("ready");
    Ok(Box::new(move || {
        chunks(&text, CHUNK)
            .iter()
            .map(|chunk| u64::from(encoding.count_text(chunk)))
            .sum()
    }))
}

/// Counting by tiktoken-rs, which must give the same number.
fn count_by_reference(
    encoding: Encoding,
    kind: Kind,
    kilobytes: usize,
) -> Result<Work, Box<dyn Error>> {
    let reference = reference(encoding);
    let text = kind.text(SEED, kilobytes * 1_024);
    let mut work: Work = Box::new(move || {
        chunks(&text, CHUNK)
            .iter()
            .map(|chunk| reference.count_ordinary(chunk) as u64)
            .sum()
    });
    let (expected, found) = (work(), count(encoding, kind, kilobytes)?());
    if found != expected {
        return Err(format!(
            "{} counts {found} tokens where tiktoken-rs counts {expected}",
            encoding.name()
        )
        .into());
    }
    Ok(work)
}

/// The encoder of tiktoken-rs.
pub fn reference(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::O200k => tiktoken_rs::o200k_base_singleton(),
        Encoding::Cl100k => tiktoken_rs::cl100k_base_singleton(),
    }
}
