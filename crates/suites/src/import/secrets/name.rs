//! A group of names that announce a secret, and what a value under such a name looks like.

use serde::Deserialize;

use super::known::{KnownWords, WordSet};
use super::looks::{
    SecretCheck, humps, joined_names, lettered, mixed, passphrase, path, placeholder,
};

/// A group of names that announce a secret; `rules.toml` explains the fields.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Name {
    pub(super) kind: String,
    pub(super) about: String,
    pub(super) ends: Vec<String>,
    glued: Vec<String>,
    counted: bool,
    whole: bool,
    pub(super) weak: bool,
    machine: bool,
    pub(super) fields: bool,
    checks: Vec<SecretCheck>,
    least: Least,
}

/// The fewest characters of a value, by how it is written.
#[derive(Default, Deserialize)]
struct Least {
    quoted: usize,
    bare: usize,
    shell: usize,
    line: Option<usize>,
}

/// How a value is written.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum NamedValue {
    /// In quotes, or as a field of JSON.
    Quoted,
    /// As a bare word, in a text that may be prose or a program.
    #[default]
    Bare,
    /// As a bare word assigned to a shell variable or a form field.
    Assigned,
    /// As a bare word after a command-line option.
    Option,
    /// As the last word of a line.
    Line,
}

impl Name {
    /// The first group that matches a name.
    pub(super) fn find<'a>(key: &str, names: &'a [Name], words: &WordSet) -> Option<&'a Name> {
        let parts = key
            .split(|letter: char| !letter.is_alphanumeric())
            .flat_map(humps)
            .map(str::to_lowercase);
        let parts = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>();
        let (last, rest) = parts.split_last()?;
        let (plain, before) = (parts.concat(), rest.last().map_or("", String::as_str));
        names.iter().find(|name| {
            name.ends
                .iter()
                .any(|end| name.fits(end, &plain, last, before, words))
        })
    }

    fn fits(&self, end: &str, plain: &str, last: &str, before: &str, words: &WordSet) -> bool {
        if self.whole {
            return plain == end;
        }
        let ended = |text: &str| text.strip_suffix(end).map(str::len);
        let head = |text: &str| ended(text).or_else(|| ended(text.strip_suffix('s')?));
        // The part of the last word before the end of the name.
        let glue = head(last).map_or("", |length| &last[..length]);
        let glued = glue.is_empty()
            || self.glued.is_empty()
            || self.glued.iter().any(|known| known == glue);
        let counted = self.counted
            && words
                .counted
                .contains(if glue.is_empty() { before } else { glue });
        head(plain).is_some() && glued && !counted
    }

    /// Whether a value under this name is a secret.
    pub(super) fn accepts(&self, value: &str, setting: NamedValue, known: &KnownWords) -> bool {
        let long = |least: usize| value.len() >= least;
        let (mixed, names) = (mixed(value), joined_names(value));
        let odd = !(self.machine && names) && (!self.weak || long(10) && mixed);
        let said =
            || known.shapes.prose.is_match(value) && (self.machine || !passphrase(value, known));
        let word = || long(self.least.shell) && !(names && value.contains(['.', '/']));
        let written = match setting {
            NamedValue::Quoted => long(self.least.quoted) && odd && !said(),
            NamedValue::Bare => {
                long(self.least.bare)
                    && odd
                    && mixed
                    && !names
                    && !known.shapes.number.is_match(value)
            }
            NamedValue::Assigned => word() && (!self.machine || mixed || lettered(value, known)),
            NamedValue::Option => word() && (!self.machine || mixed),
            NamedValue::Line => {
                let typed = known.shapes.type_name.is_match(value);
                self.least.line.is_some_and(long) && lettered(value, known) && !typed && !names
            }
        };
        let stood_in = || placeholder(value, known) || path(value);
        written && !stood_in() && self.checks.iter().all(|check| check.accepts(value, known))
    }
}
