//! The spec of a suite that is rendered from skeletons: a small TOML file.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use compactometer_disk::write_whole;
use compactometer_formats::suite::{Header, Suite};
use serde::Deserialize;

use super::{SkeletonError, Skeletons, read, render, write};
use crate::generate::{SpecError, Statements, check_suite, plant};
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
    /// What a compaction may leave, in tokens.
    retained: Option<u32>,
    /// Ids of the metrics that answer what the suite is for.
    #[serde(default)]
    headline_metrics: Vec<String>,
    /// The file of skeletons, relative to the spec.
    skeletons: PathBuf,
    /// The numbers of the skeletons that are rendered, from 0; without it, all of them.
    sessions: Option<Vec<usize>>,
    /// Facts that are stated in addition to the values of the structure.
    statements: Option<Statements>,
    /// The spec's own file.
    #[serde(skip)]
    path: PathBuf,
    /// The skeletons, if they are part of the program.
    #[serde(skip)]
    embedded: Option<&'static [u8]>,
}

impl SkeletonSpec {
    /// The spec in a text; errors name `path`.
    ///
    /// # Errors
    /// [`SpecError`] with the file and the key.
    pub(crate) fn parse(text: &str, path: &Path) -> Result<Self, SpecError> {
        let wrong = |what: String| SpecError {
            path: path.to_owned(),
            what,
        };
        let mut spec: Self =
            toml::from_str(text).map_err(|error| wrong(error.to_string().trim_end().to_owned()))?;
        check_suite(&spec.name, spec.window).map_err(wrong)?;
        if let Some(what) = spec.header(Vec::new()).fault() {
            return Err(wrong(what));
        }
        spec.path = path.to_owned();
        Ok(spec)
    }

    /// The spec of skeletons that are part of the program.
    pub(crate) fn of_embedded(self, skeletons: &'static [u8]) -> Self {
        SkeletonSpec {
            embedded: Some(skeletons),
            ..self
        }
    }

    /// The suite's name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The suite.
    ///
    /// # Errors
    /// [`SpecError`] if the skeletons cannot be read, hold no value, or a key does not fit them.
    pub fn suite(&self) -> Result<Suite, SpecError> {
        self.suite_from().map_err(|what| SpecError {
            path: self.path.clone(),
            what,
        })
    }

    fn suite_from(&self) -> Result<Suite, String> {
        let mut skeletons = self.opened().map_err(|error| error.to_string())?;
        if let Some(numbers) = &self.sessions {
            skeletons.choose(numbers)?;
        }
        let note = format!(
            "conversations rendered from {} skeletons (spec `{}`, seed {}): real structure, invented names and text",
            skeletons.len(),
            self.name,
            self.seed
        );
        let mut suite = Suite {
            header: self.header(vec![note]),
            scenarios: render(&skeletons, &self.name, self.seed),
        };
        auto_facts(&mut suite).map_err(|error| error.to_string())?;
        if let Some(statements) = &self.statements {
            let Self {
                name, seed, window, ..
            } = self;
            plant(statements, name, *seed, *window, &mut suite.scenarios)?;
        }
        Ok(suite)
    }

    fn header(&self, notes: Vec<String>) -> Header {
        Header {
            retained: self.retained,
            headline_metrics: self.headline_metrics.clone(),
            ..Header::new(&self.name, Some(self.window), notes)
        }
    }

    fn opened(&self) -> Result<Skeletons, SkeletonError> {
        match self.embedded {
            Some(bytes) => read(&mut BufReader::new(zstd::Decoder::new(bytes)?)),
            None => {
                let folder = self.path.parent().unwrap_or(Path::new(""));
                open(&folder.join(&self.skeletons))
            }
        }
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
