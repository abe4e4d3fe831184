//! What a suite is generated from: a small TOML file.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::domains::{self, Domain};

/// A checked spec. Made by [`Spec::parse`] alone, so that [`crate::generate`] cannot fail.
#[derive(Clone, Debug)]
pub struct Spec {
    /// The suite's name; conversations are named after it.
    pub(crate) name: String,
    /// Seed of everything random.
    pub(crate) seed: u64,
    /// The context window that the suite is made for, in tokens.
    pub(crate) window: u32,
    /// What conversations are about, in turn.
    pub(crate) domains: Vec<&'static Domain>,
    /// Length of each conversation, in tokens.
    pub(crate) lengths: Vec<u32>,
    /// Facts of the shortest and of the longest conversation, decoys not counted.
    pub(crate) facts: (usize, usize),
    /// Fewest and most observation points of a conversation.
    pub(crate) points: (usize, usize),
}

/// Context windows that a spec may ask for, in tokens.
const WINDOWS: RangeInclusive<u32> = 4_000..=200_000;
/// Facts a conversation: room for each category; no more than the forms hold values for over a whole suite.
const FACTS: RangeInclusive<usize> = 24..=60;
/// Observation points a conversation.
const POINTS: RangeInclusive<usize> = 2..=12;
/// Conversations of a suite; no more than the forms hold values for.
const CONVERSATIONS: RangeInclusive<usize> = 1..=100;
/// Longest conversation, in tokens.
const LONGEST: u32 = 1_000_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: String,
    seed: u64,
    window: u32,
    domains: Vec<String>,
    conversations: usize,
    lengths: Vec<u32>,
    facts: [usize; 2],
    points: [usize; 2],
}

impl Spec {
    /// Reads a spec; `path` names it in errors.
    ///
    /// # Errors
    /// [`SpecError`] naming the file, the key, the value and what it may be.
    pub fn parse(text: &str, path: &Path) -> Result<Self, SpecError> {
        let raw: Raw = toml::from_str(text).map_err(|error| SpecError::Toml {
            path: path.to_owned(),
            what: error.to_string().trim_end().to_owned(),
        })?;
        raw.check().map_err(|what| SpecError::Value { path: path.to_owned(), what })
    }
}

impl Raw {
    fn check(self) -> Result<Spec, String> {
        check_name(&self.name)?;
        within("window", self.window, &WINDOWS)?;
        within("conversations", self.conversations, &CONVERSATIONS)?;
        let facts = ordered("facts", self.facts, &FACTS)?;
        let points = ordered("points", self.points, &POINTS)?;
        let lengths = check_lengths(&self.lengths, self.window)?;
        let domains = check_domains(&self.domains)?;
        let lengths = lengths.iter().copied().cycle().take(self.conversations).collect();
        Ok(Spec { name: self.name, seed: self.seed, window: self.window, domains, lengths, facts, points })
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    if name.is_empty() || !name.chars().all(plain) {
        return Err(format!("`name` is `{name}`; expected lowercase letters, digits and hyphens"));
    }
    Ok(())
}

/// Twice the window leaves something to forget, and room in which to ask for it.
fn check_lengths(lengths: &[u32], window: u32) -> Result<&[u32], String> {
    if lengths.is_empty() {
        return Err("`lengths` is empty; expected the length of each conversation in tokens, used in turn".to_owned());
    }
    let range = 2 * window..=LONGEST;
    lengths.iter().try_for_each(|length| within("lengths", *length, &range))?;
    Ok(lengths)
}

fn check_domains(names: &[String]) -> Result<Vec<&'static Domain>, String> {
    let known: Vec<&str> = domains::ALL.iter().map(|domain| domain.name).collect();
    let find = |name: &String| {
        let found = domains::ALL.iter().copied().find(|domain| domain.name == name);
        found.ok_or_else(|| format!("`domains` holds `{name}`; expected some of `{}`", known.join("`, `")))
    };
    if names.is_empty() {
        return Err(format!("`domains` is empty; expected some of `{}`", known.join("`, `")));
    }
    names.iter().map(find).collect()
}

fn ordered(key: &str, [low, high]: [usize; 2], range: &RangeInclusive<usize>) -> Result<(usize, usize), String> {
    within(key, low, range)?;
    within(key, high, range)?;
    if low > high {
        return Err(format!("`{key}` is `[{low}, {high}]`; expected the smaller number first"));
    }
    Ok((low, high))
}

fn within<N: PartialOrd + std::fmt::Display>(key: &str, value: N, range: &RangeInclusive<N>) -> Result<(), String> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(format!("`{key}` holds `{value}`; expected `{}` to `{}`", range.start(), range.end()))
}

/// A spec that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// It is not the TOML that was expected.
    #[error("`{}`: {what}", path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// What the parser says, with line and key.
        what: String,
    },
    /// A value is out of range.
    #[error("`{}`: {what}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// The key, the value and what it may be.
        what: String,
    },
}
