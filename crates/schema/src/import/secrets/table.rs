//! The table of secrets: `rules.toml`, read and compiled once. A new kind of secret is a row there.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use regex::Regex;
use serde::Deserialize;

use super::checks::Check;
use super::named::{Name, Setting};

/// A table that cannot be used: a bug of this program.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TableError {
    /// It is not TOML, or a row is not of its form.
    #[error("{0}")]
    Toml(String),
    /// A pattern is not accepted.
    #[error("row `{about}`: {source}")]
    Pattern {
        /// The row.
        about: String,
        /// Why.
        source: regex::Error,
    },
    /// A pattern has no group for what it finds.
    #[error("row `{about}`: expected a group `secret` in the pattern")]
    NoSecret {
        /// The row.
        about: String,
    },
}

/// All that an import looks for.
pub(super) struct Table {
    /// Secrets by themselves, in the order in which they are tried.
    pub(super) forms: Vec<Form>,
    /// Telling names; the first that fits counts.
    pub(super) names: Vec<Name>,
    /// How a value follows a name, in the order in which they are tried.
    pub(super) contexts: Vec<Context>,
    /// What only looks random, after all else.
    pub(super) random: Vec<Form>,
    pub(super) words: Words,
    /// The end of any name that a text may hold.
    pub(super) end: Regex,
    /// A value after a name.
    pub(super) value: Regex,
    /// An escaped letter that may hide a secret. A backslash stays: it may escape what follows it.
    pub(super) escape: Regex,
}

/// A secret that needs no name.
pub(super) struct Form {
    pub(super) kind: String,
    pub(super) about: String,
    pattern: Regex,
    checks: Vec<Check>,
    unless_after: Option<Regex>,
    unless_before: Option<Regex>,
}

/// How a value follows a name.
pub(super) struct Context {
    pub(super) about: String,
    pub(super) before: Option<Regex>,
    pub(super) after: Regex,
    pub(super) checks: Vec<Check>,
    pub(super) setting: Option<Setting>,
}

/// Lists of words.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub(super) counted: BTreeSet<String>,
    pub(super) stand_ins: BTreeSet<String>,
    pub(super) sentence: BTreeSet<String>,
    pub(super) labels: BTreeSet<String>,
    pub(super) terms: BTreeSet<String>,
}

/// Where a secret stands in a text.
pub(super) struct Found<'a> {
    pub(super) kind: &'a str,
    pub(super) at: Range<usize>,
}

/// Bytes around a secret that may say what it is.
const NEAR: usize = 200;

impl Form {
    /// All of this form in a text, in order.
    pub(super) fn find(&self, text: &str, words: &Words) -> Vec<Found<'_>> {
        let mut found = Vec::new();
        // Most texts hold none, and captures cost memory.
        let mut at = if self.pattern.is_match(text) { Some(0) } else { None };
        while let Some(secret) = at.and_then(|at| self.pattern.captures_at(text, at)?.name("secret")) {
            // What ends a secret may begin the next one.
            at = Some(secret.end());
            let passed = self.checks.iter().all(|check| check.accepts(secret.as_str(), words));
            if passed && !self.stands_elsewhere(text, secret.range()) {
                found.push(Found { kind: &self.kind, at: secret.range() });
            }
        }
        found
    }

    fn stands_elsewhere(&self, text: &str, at: Range<usize>) -> bool {
        let within = |pattern: &Option<Regex>, text| pattern.as_ref().is_some_and(|pattern| pattern.is_match(text));
        within(&self.unless_after, before(text, at.start)) || within(&self.unless_before, &text[at.end..])
    }
}

/// The bytes before a place.
pub(super) fn before(text: &str, at: usize) -> &str {
    &text[text.floor_char_boundary(at.saturating_sub(NEAR))..at]
}

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    fragments: BTreeMap<String, String>,
    words: Words,
    form: Vec<FormRow>,
    name: Vec<Name>,
    context: Vec<ContextRow>,
    random: Vec<FormRow>,
}

#[derive(Deserialize)]
struct FormRow {
    kind: String,
    about: String,
    pattern: String,
    #[serde(default)]
    checks: Vec<Check>,
    unless_after: Option<String>,
    unless_before: Option<String>,
}

#[derive(Deserialize)]
struct ContextRow {
    about: String,
    before: Option<String>,
    after: String,
    #[serde(default)]
    checks: Vec<Check>,
    setting: Option<Setting>,
}

/// A value: in escaped quotes, in quotes, or bare. A text that was cut ends within its quotes.
const VALUE: &str = r#"^(?:\\+"([^"\n]*?)\\+"|[bfru]?"((?:[^"\\\n]|\\.)*)(?:"|\z)|[bfru]?'((?:[^'\\\n]|\\.)*)(?:'|\z)|`([^`\n]*)`|([^\s"'`\\:=][^\s"'`]*))"#;

impl Table {
    pub(super) fn parse(text: &str) -> Result<Self, TableError> {
        let mut file: File = toml::from_str(text).map_err(|error| TableError::Toml(error.to_string()))?;
        let end = compile("names", &ends(&file.name))?;
        file.name.iter_mut().for_each(Name::join_ends);
        let pieces = &file.fragments;
        let forms = |rows: Vec<FormRow>| rows.into_iter().map(|row| row.compile(pieces)).collect::<Result<_, _>>();
        Ok(Table {
            forms: forms(file.form)?,
            names: file.name,
            contexts: file.context.into_iter().map(|row| row.compile(pieces)).collect::<Result<_, _>>()?,
            random: forms(file.random)?,
            words: file.words,
            end,
            value: compile("values", VALUE)?,
            escape: compile("escapes", r"\\+u00([2-7][0-9a-fA-F])")?,
        })
    }

    /// What a name tells; none of a harmless one.
    pub(super) fn name(&self, key: &str) -> Option<&Name> {
        Name::of(key, &self.names, &self.words)
    }
}

impl FormRow {
    fn compile(self, fragments: &BTreeMap<String, String>) -> Result<Form, TableError> {
        let compiled = |pattern: &str| compile(&self.about, &filled(pattern, fragments));
        let pattern = compiled(&self.pattern)?;
        if !pattern.capture_names().flatten().any(|name| name == "secret") {
            return Err(TableError::NoSecret { about: self.about });
        }
        let unless_after = self.unless_after.map(|text| compiled(&ending(&text))).transpose()?;
        let unless_before = self.unless_before.map(|text| compiled(&beginning(&text))).transpose()?;
        Ok(Form { pattern, unless_after, unless_before, kind: self.kind, about: self.about, checks: self.checks })
    }
}

impl ContextRow {
    fn compile(self, fragments: &BTreeMap<String, String>) -> Result<Context, TableError> {
        let compiled = |pattern: &str| compile(&self.about, &filled(pattern, fragments));
        let before = self.before.map(|text| compiled(&ending(&text))).transpose()?;
        let after = compiled(&beginning(&self.after))?;
        Ok(Context { before, after, about: self.about, checks: self.checks, setting: self.setting })
    }
}

fn beginning(pattern: &str) -> String {
    format!(r"\A(?:{pattern})")
}

fn ending(pattern: &str) -> String {
    format!(r"(?:{pattern})\z")
}

/// A pattern with its fragments in place of their names.
fn filled(pattern: &str, fragments: &BTreeMap<String, String>) -> String {
    fragments.iter().fold(pattern.to_owned(), |pattern, (name, text)| pattern.replace(&format!("%{name}%"), text))
}

/// The end of any name that a text may hold, the longest first.
fn ends(names: &[Name]) -> String {
    let ends = names.iter().filter(|name| !name.fields).flat_map(|name| &name.ends);
    let ends = ends.map(|end| end.replace(' ', "[ _-]?")).collect::<BTreeSet<_>>();
    format!("(?i-u:{})s?", ends.into_iter().rev().collect::<Vec<_>>().join("|"))
}

fn compile(about: &str, pattern: &str) -> Result<Regex, TableError> {
    Regex::new(pattern).map_err(|source| TableError::Pattern { about: about.to_owned(), source })
}
