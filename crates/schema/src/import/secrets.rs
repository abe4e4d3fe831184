//! Masks secrets in transcripts: keys, tokens, passwords.
//!
//! A secret becomes `[masked:KIND:N]`, numbered by first appearance, so equal secrets stay equal and none can be guessed back.
//! What counts as one has the shape of a known issuer, stands where a command or a header takes a login, or follows a telling
//! name; hashes, uuids and plain ids are left alone. Where ASCII escapes such as `\u002d` hide a secret, the text's escapes are
//! undone. Absent on purpose: names, addresses and other personal data; passwords in prose, and those of several plain words.

mod forms;
mod named;
mod names;
mod values;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::LazyLock;

use compactometer_engine::message::Part;
use regex::Regex;
use serde_json::{Map, Value};

use super::error::ImportError;
use super::session::Session;

/// Masks every text and argument in place; returns how many were masked, by kind.
pub(super) fn mask(sessions: &mut [Session]) -> Result<BTreeMap<&'static str, usize>, ImportError> {
    let mut masker = Masker::new()?;
    for part in sessions.iter_mut().flat_map(|session| &mut session.messages).flat_map(|said| &mut said.parts) {
        masker.part(part);
    }
    Ok(masker.counts)
}

/// Where a secret stands in a text.
struct Found {
    kind: &'static str,
    at: Range<usize>,
}

/// All patterns, compiled once: that takes longer than masking a short session.
struct Patterns {
    forms: Vec<forms::Form>,
    named: named::Patterns,
    escape: Regex,
}

static PATTERNS: LazyLock<Result<Patterns, regex::Error>> = LazyLock::new(|| {
    Ok(Patterns {
        forms: forms::compile()?,
        named: named::Patterns::compile()?,
        // A backslash stays: it may escape what follows it.
        escape: Regex::new(r"\\+u00([2-7][0-9a-fA-F])")?,
    })
});

struct Masker {
    patterns: &'static Patterns,
    counts: BTreeMap<&'static str, usize>,
    numbers: BTreeMap<String, usize>,
}

impl Masker {
    fn new() -> Result<Self, ImportError> {
        let patterns = PATTERNS.as_ref().map_err(Clone::clone)?;
        Ok(Masker { patterns, counts: BTreeMap::new(), numbers: BTreeMap::new() })
    }

    fn part(&mut self, part: &mut Part) {
        match part {
            Part::Text { text } | Part::ToolResult { text, .. } => drop(self.replace(text)),
            Part::Thinking { text, signature } => {
                // A signature holds for the very bytes that it was made for.
                if self.replace(text) {
                    *signature = None;
                }
            }
            Part::ToolCall { arguments, .. } => self.arguments(arguments),
            Part::Media { .. } => {}
        }
    }

    /// Arguments stay valid JSON; without a secret they keep their bytes.
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
            Value::Array(items) => items.iter_mut().fold(false, |changed, item| self.value(item) | changed),
            Value::Object(fields) => self.fields(fields),
            _ => false,
        }
    }

    /// Fields by their names; the value of a pair `{name: ..., value: ...}` by the name that the pair gives.
    fn fields(&mut self, fields: &mut Map<String, Value>) -> bool {
        let pair = names::of_pair(fields);
        fields.iter_mut().fold(false, |changed, (key, field)| {
            let name = names::name(key).or_else(|| pair.filter(|_| key.eq_ignore_ascii_case("value")));
            let masked = match name {
                Some(name) => self.named(name, field),
                None => self.value(field),
            };
            masked | changed
        })
    }

    /// A named field: a text, or several. One that is no secret as a whole may still hold one.
    fn named(&mut self, name: names::Name, field: &mut Value) -> bool {
        match field {
            Value::String(text) => {
                if name.weak && self.replace(text) {
                    return true;
                }
                if !name.in_quotes(text) {
                    return self.replace(text);
                }
                *text = self.masked(name.kind, text);
                true
            }
            Value::Array(items) => items.iter_mut().fold(false, |changed, item| self.named(name, item) | changed),
            other => self.value(other),
        }
    }

    /// Masks a text; if only its escapes hide a secret from view, without them.
    fn replace(&mut self, text: &mut String) -> bool {
        if text.contains("\\u00") {
            let mut plain = self.patterns.escape.replace_all(text, unescaped).into_owned();
            if plain == *text || !self.replace_plain(&mut plain) {
                return self.replace_plain(text);
            }
            *text = plain;
            return true;
        }
        self.replace_plain(text)
    }

    fn replace_plain(&mut self, text: &mut String) -> bool {
        let mut changed = false;
        for form in &self.patterns.forms {
            let found = form.find(text);
            changed |= self.splice(text, &found);
        }
        for pattern in self.patterns.named.all() {
            let found = pattern.find(text);
            changed |= self.splice(text, &found);
        }
        changed
    }

    fn splice(&mut self, text: &mut String, found: &[Found]) -> bool {
        let mut masked = String::new();
        let mut copied = 0;
        for Found { kind, at } in found {
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

fn unescaped(escape: &regex::Captures<'_>) -> String {
    match u8::from_str_radix(&escape[1], 16) {
        Ok(byte) if byte.is_ascii_graphic() && byte != b'\\' => char::from(byte).to_string(),
        _ => escape[0].to_owned(),
    }
}

#[cfg(test)]
mod tests;
