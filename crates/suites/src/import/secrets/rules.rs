//! The table of secrets, `rules.toml`, parsed and compiled once. A new kind of secret is a row
//! there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use regex::Regex;
use serde::Deserialize;

use super::known::{KnownPattern, KnownWords};
use super::looks::SecretCheck;
use super::name::{Name, NamedValue};

/// The compiled table.
pub(super) struct SecretTable {
    pub(super) rows: SecretRows,
    /// Matches the end of any name in a text.
    pub(super) end: Regex,
}

/// The file. Its comments explain the fields.
#[derive(Deserialize)]
pub(super) struct SecretRows {
    pub(super) known: KnownWords,
    /// Secrets that no name announces.
    pub(super) form: Vec<SecretForm>,
    pub(super) name: Vec<Name>,
    pub(super) context: Vec<SecretContext>,
    /// Strings that only look random.
    pub(super) random: Vec<SecretForm>,
}

/// A secret that needs no name.
#[derive(Deserialize)]
pub(super) struct SecretForm {
    pub(super) kind: String,
    pub(super) about: String,
    pattern: KnownPattern,
    #[serde(default)]
    checks: Vec<SecretCheck>,
    unless_after: Option<KnownPattern>,
    unless_before: Option<KnownPattern>,
}

/// How a value follows a name.
#[derive(Deserialize)]
pub(super) struct SecretContext {
    pub(super) about: String,
    pub(super) before: Option<KnownPattern>,
    pub(super) after: KnownPattern,
    #[serde(default)]
    pub(super) checks: Vec<SecretCheck>,
    #[serde(default)]
    pub(super) setting: NamedValue,
}

/// The range of a secret in a text.
pub(super) struct FoundSecret<'a> {
    pub(super) kind: &'a str,
    pub(super) at: Range<usize>,
}

/// The number of bytes before a secret that may identify it.
const NEAR: usize = 200;

impl SecretTable {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let fragments = parsed::<Fragments>(text)?.fragments;
        let fill = |text: String, (name, piece): (&String, &String)| {
            text.replace(&format!("%{name}%"), piece)
        };
        let mut rows: SecretRows = parsed(&fragments.iter().fold(text.to_owned(), fill))?;
        let end = end_of(&rows.name);
        let join = |end: &mut String| end.retain(|letter| letter != ' ');
        rows.name
            .iter_mut()
            .for_each(|name| name.ends.iter_mut().for_each(join));
        Ok(SecretTable {
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

impl SecretForm {
    /// All secrets of this form in a text, in order.
    pub(super) fn find(&self, text: &str, known: &KnownWords) -> Vec<FoundSecret<'_>> {
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
                found.push(FoundSecret {
                    kind: &self.kind,
                    at: secret.range(),
                });
            }
        }
        found
    }
}

fn within(pattern: &Option<KnownPattern>, text: &str) -> bool {
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
