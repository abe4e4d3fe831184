//! Patterns and words that values are compared with, as the table has them.

use std::collections::BTreeSet;
use std::ops::Deref;

use regex::Regex;
use serde::Deserialize;

/// Patterns and words that values are compared with.
#[derive(Deserialize)]
pub(super) struct KnownWords {
    pub(super) shapes: Shapes,
    pub(super) words: WordSet,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shapes {
    pub(super) escape: KnownPattern,
    pub(super) quoted: KnownPattern,
    pub(super) word: KnownPattern,
    pub(super) number: KnownPattern,
    pub(super) prose: KnownPattern,
    pub(super) passphrase: KnownPattern,
    pub(super) folder: KnownPattern,
    pub(super) session: KnownPattern,
    pub(super) type_name: KnownPattern,
    pub(super) placeholder: KnownPattern,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WordSet {
    pub(super) counted: BTreeSet<String>,
    pub(super) stand_ins: BTreeSet<String>,
    pub(super) sentence: BTreeSet<String>,
    pub(super) labels: BTreeSet<String>,
    pub(super) terms: BTreeSet<String>,
}

/// A compiled regular expression.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct KnownPattern(Regex);

impl TryFrom<String> for KnownPattern {
    type Error = regex::Error;

    fn try_from(text: String) -> Result<Self, regex::Error> {
        Regex::new(&text).map(KnownPattern)
    }
}

impl Deref for KnownPattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        &self.0
    }
}
