//! Patterns and words that values are compared with, as the table has them.

use std::collections::BTreeSet;
use std::ops::Deref;

use regex::Regex;
use serde::Deserialize;

/// Patterns and words that values are compared with.
#[derive(Deserialize)]
pub(super) struct Known {
    pub(super) shapes: Shapes,
    pub(super) words: Words,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shapes {
    pub(super) escape: Pattern,
    pub(super) quoted: Pattern,
    pub(super) word: Pattern,
    pub(super) number: Pattern,
    pub(super) prose: Pattern,
    pub(super) passphrase: Pattern,
    pub(super) folder: Pattern,
    pub(super) session: Pattern,
    pub(super) type_name: Pattern,
    pub(super) placeholder: Pattern,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub(super) counted: BTreeSet<String>,
    pub(super) stand_ins: BTreeSet<String>,
    pub(super) sentence: BTreeSet<String>,
    pub(super) labels: BTreeSet<String>,
    pub(super) terms: BTreeSet<String>,
}

/// A compiled regular expression.
#[derive(Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Pattern(Regex);

impl TryFrom<String> for Pattern {
    type Error = regex::Error;

    fn try_from(text: String) -> Result<Self, regex::Error> {
        Regex::new(&text).map(Pattern)
    }
}

impl Deref for Pattern {
    type Target = Regex;

    fn deref(&self) -> &Regex {
        &self.0
    }
}
