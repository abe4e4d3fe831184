//! The table of secrets, `rules.toml`, parsed and compiled once. A new kind of secret is a row
//! there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use regex::Regex;
use serde::Deserialize;

use super::checks::Check;
use super::known::{Known, Pattern};
use super::name::{Name, Setting};

/// The compiled table.
pub(super) struct Table {
    pub(super) rows: Rows,
    /// Matches the end of any name in a text.
    pub(super) end: Regex,
}

/// The file. Its comments explain the fields.
#[derive(Deserialize)]
pub(super) struct Rows {
    pub(super) known: Known,
    /// Secrets that no name announces.
    pub(super) form: Vec<Form>,
    pub(super) name: Vec<Name>,
    pub(super) context: Vec<Context>,
    /// Strings that only look random.
    pub(super) random: Vec<Form>,
}

/// A secret that needs no name.
#[derive(Deserialize)]
pub(super) struct Form {
    pub(super) kind: String,
    pub(super) about: String,
    pattern: Pattern,
    #[serde(default)]
    checks: Vec<Check>,
    unless_after: Option<Pattern>,
    unless_before: Option<Pattern>,
}

/// How a value follows a name.
#[derive(Deserialize)]
pub(super) struct Context {
    pub(super) about: String,
    pub(super) before: Option<Pattern>,
    pub(super) after: Pattern,
    #[serde(default)]
    pub(super) checks: Vec<Check>,
    #[serde(default)]
    pub(super) setting: Setting,
}

/// The range of a secret in a text.
pub(super) struct Found<'a> {
    pub(super) kind: &'a str,
    pub(super) at: Range<usize>,
}

/// The number of bytes before a secret that may identify it.
const NEAR: usize = 200;

impl Table {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let fragments = parsed::<Fragments>(text)?.fragments;
        let fill = |text: String, (name, piece): (&String, &String)| {
            text.replace(&format!("%{name}%"), piece)
        };
        let mut rows: Rows = parsed(&fragments.iter().fold(text.to_owned(), fill))?;
        let end = end_of(&rows.name);
        let join = |end: &mut String| end.retain(|letter| letter != ' ');
        rows.name
            .iter_mut()
            .for_each(|name| name.ends.iter_mut().for_each(join));
        Ok(Table {
            rows,
            end: end.map_err(|error| format!("ends of names: {error}"))?,
        })
    }

    /// The group that a name belongs to, or `None` for a harmless name.
    pub(super) fn name(&self, key: &str) -> Option<&Name> {
        Name::find(key, &self.rows.name, &self.rows.known.words)
    }
}

/// What finds the end of a name that is not that of a field.
fn end_of(names: &[Name]) -> Result<Regex, regex::Error> {
    let ends = names
        .iter()
        .filter(|name| !name.fields)
        .flat_map(|name| &name.ends)
        .map(|end| end.replace(' ', "[ _-]?"))
        .collect::<BTreeSet<_>>();
    // The longest ends come first.
    let ends = ends.into_iter().rev().collect::<Vec<_>>();
    Regex::new(&format!("(?i-u:{})s?", ends.join("|")))
}

impl Form {
    /// All secrets of this form in a text, in order.
    pub(super) fn find(&self, text: &str, known: &Known) -> Vec<Found<'_>> {
        let mut found = Vec::new();
        // Most texts contain no secret, and captures cost memory.
        let mut at = self.pattern.is_match(text).then_some(0);
        let next = |at| {
            self.pattern
                .captures_at(text, at)?
                .name("secret")
                .filter(|secret| !secret.is_empty())
        };
        while let Some(secret) = at.and_then(next) {
            // The end of one secret may begin the next.
            at = Some(secret.end());
            let elsewhere = within(&self.unless_after, before(text, secret.start()))
                || within(&self.unless_before, &text[secret.end()..]);
            let own = !elsewhere && !touches_mask(text, &secret.range());
            if own
                && self
                    .checks
                    .iter()
                    .all(|check| check.accepts(secret.as_str(), known))
            {
                found.push(Found {
                    kind: &self.kind,
                    at: secret.range(),
                });
            }
        }
        found
    }
}

fn within(pattern: &Option<Pattern>, text: &str) -> bool {
    pattern
        .as_ref()
        .is_some_and(|pattern| pattern.is_match(text))
}

/// The text directly before a place.
pub(super) fn before(text: &str, at: usize) -> &str {
    &text[text.floor_char_boundary(at.saturating_sub(NEAR))..at]
}

/// Whether a range overlaps a mask.
pub(super) fn touches_mask(text: &str, at: &Range<usize>) -> bool {
    const MASK: &str = "[masked:";
    let near = at.start - before(text, at.start).len();
    let mut masks = text[near..text.floor_char_boundary(at.end + MASK.len())].match_indices(MASK);
    masks.any(|(start, _)| {
        near + start < at.end && !text[near + start..at.start.max(near + start)].contains(']')
    })
}

/// The first part of the file.
#[derive(Deserialize)]
struct Fragments {
    fragments: BTreeMap<String, String>,
}

fn parsed<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|error| error.to_string())
}
