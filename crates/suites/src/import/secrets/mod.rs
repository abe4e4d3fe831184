//! Masks secrets in transcripts: keys, tokens, passwords.
//!
//! A secret becomes `[masked:KIND:N]`, numbered by first appearance, so that equal secrets stay
//! equal and none can be reconstructed. Every kind of secret is a row of `rules.toml`: the form of
//! a known issuer, a place where a command or a header takes a login, a value after a name that
//! announces it, or a string that looks random. Hashes, UUIDs and plain ids are not masked. If
//! ASCII escapes such as `\u002d` hide a secret, the text is unescaped. Absent on purpose: names,
//! addresses and other personal data.

mod known;
mod looks;
mod name;
mod named;
mod rules;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use compactometer_engine::message::Part;
use serde_json::{Map, Value};

use super::error::ImportError;
use super::session::{ImportedQuestion, Left, ReadSession};
use name::{Name, NamedValue};
use rules::{FoundSecret, SecretTable};

/// The kind and description of each row. Empty if the table is invalid, which every import reports.
pub fn kinds() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = TABLE.as_ref().ok().map(|table| &table.rows).into_iter();
    rows.flat_map(|rows| {
        let forms = rows
            .form
            .iter()
            .chain(&rows.random)
            .map(|form| (form.kind.as_str(), form.about.as_str()));
        let names = rows
            .name
            .iter()
            .map(|name| (name.kind.as_str(), name.about.as_str()));
        forms.chain(names).chain(
            rows.context
                .iter()
                .map(|context| ("by name", context.about.as_str())),
        )
    })
}

/// Compiled once, because that takes longer than masking a short session. An error is a bug in this
/// program.
static TABLE: LazyLock<Result<SecretTable, String>> =
    LazyLock::new(|| SecretTable::parse(include_str!("rules.toml")));

/// The largest number of passes over a text. Two are enough unless a text was made to take long.
const PASSES: usize = 4;

/// Masks one session after the other, so that a secret has one number in all of them.
pub(super) struct Masker {
    table: &'static SecretTable,
    /// How many secrets were masked, by kind.
    pub(super) counts: BTreeMap<&'static str, usize>,
    numbers: BTreeMap<String, usize>,
}

impl Masker {
    pub(super) fn new() -> Result<Self, ImportError> {
        let table = TABLE
            .as_ref()
            .map_err(|error| ImportError::Other(format!("table of secrets: {error}")))?;
        Ok(Masker {
            table,
            counts: BTreeMap::new(),
            numbers: BTreeMap::new(),
        })
    }

    /// Masks every text and argument of a session in place.
    pub(super) fn session(&mut self, session: &mut ReadSession) {
        session
            .messages
            .iter_mut()
            .flat_map(|said| &mut said.parts)
            .for_each(|part| self.part(part));
        for text in session
            .questions
            .iter_mut()
            .flat_map(ImportedQuestion::texts_mut)
        {
            self.replace(text);
        }
        for left in session
            .compactions
            .iter_mut()
            .flat_map(|compaction| &mut compaction.context)
        {
            if let Left::Written(_, text) = left {
                self.replace(text);
            }
        }
    }

    fn part(&mut self, part: &mut Part) {
        match part {
            Part::Text { text } | Part::ToolResult { text, .. } => drop(self.replace(text)),
            Part::Thinking { text, signature } => {
                // A signature is valid only for the exact bytes that it was made for.
                if self.replace(text) {
                    *signature = None;
                }
            }
            Part::ToolCall { arguments, .. } => self.arguments(arguments),
            Part::Media { .. } | Part::Sealed { .. } => {}
        }
    }

    /// Masks arguments, which stay valid JSON. Without a secret they are unchanged byte for byte.
    fn arguments(&mut self, arguments: &mut String) {
        match serde_json::from_str::<Value>(arguments) {
            Ok(mut value) => {
                if self.value(&mut value) {
                    *arguments = value.to_string();
                }
            }
            Err(_) => drop(self.replace(arguments)),
        }
    }

    fn value(&mut self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.replace(text),
            Value::Array(items) => items
                .iter_mut()
                .fold(false, |changed, item| self.value(item) | changed),
            Value::Object(fields) => self.fields(fields),
            _ => false,
        }
    }

    /// Masks fields by name, and the value of a pair `{name: ..., value: ...}` by the name in the
    /// pair.
    fn fields(&mut self, fields: &mut Map<String, Value>) -> bool {
        let given = |key: &str| {
            ["name", "key", "variable"]
                .iter()
                .any(|known| key.eq_ignore_ascii_case(known))
        };
        let pair = fields
            .iter()
            .filter(|(key, _)| given(key))
            .find_map(|(_, field)| self.table.name(field.as_str()?));
        fields.iter_mut().fold(false, |changed, (key, field)| {
            let name = self
                .table
                .name(key)
                .or_else(|| pair.filter(|_| key.eq_ignore_ascii_case("value")));
            let masked = match name {
                Some(name) => self.mask_field(name, field),
                None => self.value(field),
            };
            masked | changed
        })
    }

    /// Masks a named field, which is a text or a list of texts. A text that is not a secret as a
    /// whole may still contain one.
    fn mask_field(&mut self, name: &'static Name, field: &mut Value) -> bool {
        match field {
            Value::String(text) => {
                if name.weak && self.replace(text) {
                    return true;
                }
                if !name.accepts(text, NamedValue::Quoted, &self.table.rows.known) {
                    return self.replace(text);
                }
                *text = self.masked(&name.kind, text);
                true
            }
            Value::Array(items) => items
                .iter_mut()
                .fold(false, |changed, item| self.mask_field(name, item) | changed),
            other => self.value(other),
        }
    }

    /// Masks a text. A mask may reveal another secret, so a changed text is read again.
    fn replace(&mut self, text: &mut String) -> bool {
        (0..PASSES).take_while(|_| self.read(text)).count() > 0
    }

    /// Masks what one pass finds. If only a text's escapes hide a secret, the text is unescaped.
    fn read(&mut self, text: &mut String) -> bool {
        if text.contains("\\u00") {
            let mut plain = self
                .table
                .rows
                .known
                .shapes
                .escape
                .replace_all(text, unescaped)
                .into_owned();
            if plain != *text && self.replace_plain(&mut plain) {
                *text = plain;
                return true;
            }
        }
        self.replace_plain(text)
    }

    fn replace_plain(&mut self, text: &mut String) -> bool {
        let (table, rows) = (self.table, &self.table.rows);
        // All on the text as it is: a form that masks a public part would hide its neighbour, such as
        // an account's id before its password, from the next one.
        let found = rows
            .form
            .iter()
            .flat_map(|form| form.find(text, &rows.known));
        let mut changed = self.splice(text, &union(found.collect()));
        changed |= self.splice(text, &table.after_names(text));
        for form in &rows.random {
            changed |= self.splice(text, &form.find(text, &rows.known));
        }
        changed
    }

    fn splice(&mut self, text: &mut String, found: &[FoundSecret<'static>]) -> bool {
        let mut masked = String::new();
        let mut copied = 0;
        for FoundSecret { kind, at } in found {
            masked.push_str(&text[copied..at.start]);
            masked.push_str(&self.masked(kind, &text[at.clone()]));
            copied = at.end;
        }
        if copied > 0 {
            masked.push_str(&text[copied..]);
            *text = masked;
        }
        copied > 0
    }

    fn masked(&mut self, kind: &'static str, secret: &str) -> String {
        *self.counts.entry(kind).or_insert(0) += 1;
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(secret.to_owned()).or_insert(next);
        format!("[masked:{kind}:{number}]")
    }
}

/// Ranges in order, those that overlap as one of the first kind.
fn union(mut found: Vec<FoundSecret<'static>>) -> Vec<FoundSecret<'static>> {
    // Stable: of two that begin at one place, the row above comes first.
    found.sort_by_key(|one| one.at.start);
    let mut all = Vec::<FoundSecret<'static>>::new();
    for next in found {
        match all.last_mut().filter(|last| next.at.start < last.at.end) {
            Some(last) => last.at.end = last.at.end.max(next.at.end),
            None => all.push(next),
        }
    }
    all
}

fn unescaped(escape: &regex::Captures<'_>) -> String {
    match u8::from_str_radix(&escape[1], 16) {
        Ok(byte) if byte.is_ascii_graphic() && byte != b'\\' => char::from(byte).to_string(),
        _ => escape[0].to_owned(),
    }
}

#[cfg(test)]
mod tests;
