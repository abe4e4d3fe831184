//! The spec of a suite that is rendered from skeletons: a small TOML file.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use compactometer_disk::write_whole;
use compactometer_formats::suite::{Header, Suite};
use serde::Deserialize;

use super::{SkeletonError, Skeletons, read, render, write};
use crate::generate::check_suite;
use crate::import::auto_facts;

/// A suite's name and what it is rendered from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SkeletonSpec {
    name: String,
    /// The seed of all names and filler.
    seed: u64,
    /// The context window for which the suite is made, in tokens.
    window: u32,
    /// The file of skeletons, relative to the spec.
    skeletons: PathBuf,
}

impl SkeletonSpec {
    /// The spec in a text that has the key `skeletons`; nothing if another kind of spec is in it.
    ///
    /// # Errors
    /// If a key is wrong.
    pub fn parse(text: &str) -> Result<Option<Self>, toml::de::Error> {
        let keys: toml::Table = toml::from_str(text)?;
        if !keys.contains_key("skeletons") {
            return Ok(None);
        }
        toml::from_str(text).map(Some)
    }

    /// The suite, for a spec in `folder`.
    ///
    /// # Errors
    /// If a key is wrong, or the skeletons cannot be read or hold no value.
    pub fn suite(&self, folder: &Path) -> Result<Suite, SkeletonError> {
        check_suite(&self.name, self.window).map_err(SkeletonError::Spec)?;
        self.of(&open(&folder.join(&self.skeletons))?)
    }

    fn of(&self, skeletons: &Skeletons) -> Result<Suite, SkeletonError> {
        let note = format!(
            "conversations rendered from {} skeletons (spec `{}`, seed {}): real structure, invented names and text",
            skeletons.len(),
            self.name,
            self.seed
        );
        let mut suite = Suite {
            header: Header::new(&self.name, Some(self.window), vec![note]),
            scenarios: render(skeletons, &self.name, self.seed),
        };
        auto_facts(&mut suite).map_err(|error| SkeletonError::NoValue(error.to_string()))?;
        Ok(suite)
    }
}

/// Reads a file of skeletons, compressed if its name ends in `.zst`.
///
/// # Errors
/// [`SkeletonError`] with the file and the line.
pub fn open(path: &Path) -> Result<Skeletons, SkeletonError> {
    let opened = || {
        let file = compactometer_disk::input::open(path)?;
        let plain: Box<dyn Read> = match is_compressed(path) {
            true => Box::new(zstd::Decoder::new(file)?),
            false => Box::new(file),
        };
        read(&mut BufReader::new(plain.take(MOST_BYTES)))
    };
    opened().map_err(|what| in_file(path, what))
}

/// The most bytes of a file that are read, uncompressed. One that is longer ends within a line.
const MOST_BYTES: u64 = 1 << 30;

/// How hard a file is compressed: it is written once and read often.
const LEVEL: i32 = 19;

/// Writes a file of skeletons, compressed if its name ends in `.zst`, and returns its bytes.
///
/// # Errors
/// [`SkeletonError`] with the file; then it is as it was.
pub fn save(path: &Path, skeletons: &Skeletons) -> Result<usize, SkeletonError> {
    let mut written = Vec::new();
    write(&mut written, skeletons).map_err(|what| in_file(path, what))?;
    if is_compressed(path) {
        written =
            zstd::encode_all(&written[..], LEVEL).map_err(|error| in_file(path, error.into()))?;
    }
    write_whole(path, |out| out.write_all(&written))
        .map_err(|error| in_file(path, error.into()))?;
    Ok(written.len())
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "zst")
}

fn in_file(path: &Path, what: SkeletonError) -> SkeletonError {
    SkeletonError::File {
        path: path.to_owned(),
        what: Box::new(what),
    }
}
