//! Secrets that a name before them tells: `DB_PASSWORD=...`, `"authToken": "..."`, `--password ...`, `name: API_KEY, value: ...`.
//!
//! A name in a text is a guess, so what a bare word must look like is stricter than for a text in quotes, and laxer after a
//! shell variable's name. Absent on purpose: numbers under these names.

use std::ops::Range;

use regex::Regex;

use super::Found;
use super::names::{Name, name};
use super::values::{joined_names, mixed, numeral, path, placeholder, prose};

/// How a name that may tell a secret ends.
const NAME_END: &str = r"(?:pass(?:word|wd|phrase)?s?|pwd|secrets?|tokens?|credentials?|creds|(?:api|access|private|secret|signing|encryption|account)[ _-]?keys?)";
/// What stands between a name and its value; a type may.
const SEPARATOR: &str = r#"\\*["']?[ \t]*(?::[ \t]*[A-Za-z&'_<>]{1,20}[ \t]*=|={1,3}|:=|=>|:)[ \t]*"#;
/// A pair's name and what leads to its value.
const PAIR: &str = r#"(?i)(?:\b|\\[nrt])(?:name|key)\\*["']?\s*[:=]\s*\\*["']?([\w.-]{3,80})\\*["']?(?:[\s,]|\\[nrt]){1,40}\\*["']?value\\*["']?\s*[:=]\s*"#;
/// A value: in escaped quotes, in quotes, or bare. A text that was cut ends within its quotes.
const VALUE: &str = r#"^(?:\\+"([^"\n]*?)\\+"|[bfru]?"((?:[^"\\\n]|\\.)*)(?:"|\z)|[bfru]?'((?:[^'\\\n]|\\.)*)(?:'|\z)|`([^`\n]*)`|([^\s"'`\\:=][^\s"'`]*))"#;

/// The patterns of named secrets.
pub(super) struct Patterns {
    pair: Pattern,
    assigned: Pattern,
    option: Pattern,
}

impl Patterns {
    pub(super) fn compile() -> Result<Self, regex::Error> {
        let new = |lead: &str| Ok::<_, regex::Error>(Pattern { lead: Regex::new(lead)?, value: Regex::new(VALUE)? });
        Ok(Patterns {
            pair: new(PAIR)?,
            assigned: new(&format!("(?i)({NAME_END}){SEPARATOR}"))?,
            option: new(&format!(r"(?i)--(?:[a-z0-9]+-)*({NAME_END})[ \t]+"))?,
        })
    }

    /// All of them, in the order in which they are tried.
    pub(super) fn all(&self) -> [&Pattern; 3] {
        [&self.pair, &self.assigned, &self.option]
    }
}

/// A name, whose end is the group, up to where its value begins.
pub(super) struct Pattern {
    lead: Regex,
    value: Regex,
}

impl Pattern {
    pub(super) fn find(&self, text: &str) -> Vec<Found> {
        let (mut found, mut at) = (Vec::new(), 0);
        while let Some(lead) = self.lead.captures_at(text, at) {
            at = lead.get(0).map_or(text.len(), |lead| lead.end());
            let Some(end) = lead.get(1) else { continue };
            let spoken = spoken_name(text, end.range());
            let Some(name) = name(spoken) else { continue };
            let between = &text[end.end()..at];
            let secrets =
                self.values(text, at).into_iter().filter_map(|value| value.secret(text, name, spoken, between));
            for secret in secrets {
                at = secret.end;
                found.push(Found { kind: name.kind, at: secret });
            }
        }
        found
    }

    /// The value at that byte, or the texts of the list that begins there.
    fn values(&self, text: &str, at: usize) -> Vec<Value> {
        let Some(list) = text[at..].strip_prefix('[') else { return self.value(text, at).into_iter().collect() };
        let mut values = Vec::new();
        let skip = |rest: &str| text.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', ',']).len();
        let mut next = skip(list);
        while let Some(value) = self.value(text, next).filter(|value| value.quoted) {
            next = skip(text[value.at.end..].trim_start_matches(['\\', '"', '\'', '`']));
            values.push(value);
        }
        values
    }

    fn value(&self, text: &str, at: usize) -> Option<Value> {
        let found = self.value.captures(&text[at..])?;
        let (group, value) = (1..=5).find_map(|group| Some((group, found.get(group)?)))?;
        Some(Value { at: at + value.start()..at + value.end(), quoted: group < 5 })
    }
}

/// Where a value stands.
struct Value {
    at: Range<usize>,
    quoted: bool,
}

impl Value {
    /// The part of it that is a secret.
    fn secret(&self, text: &str, name: Name, spoken: &str, between: &str) -> Option<Range<usize>> {
        let value = &text[self.at.clone()];
        let at = |length| self.at.start..self.at.start + length;
        if value.eq_ignore_ascii_case(spoken) {
            return None;
        }
        if self.quoted {
            return name.in_quotes(value).then(|| self.at.clone());
        }
        let shouted = !spoken.bytes().any(|byte| byte.is_ascii_lowercase());
        if spoken.starts_with("--") || shouted && (between == "=" || between.contains("value")) {
            let word = shell_word(value)?;
            return name.in_shell(word).then(|| at(word.len()));
        }
        // `PASS: test` is how a test's result is told.
        if spoken.eq_ignore_ascii_case("pass") && spoken != "pass" && between.contains(':') {
            return None;
        }
        let word = bare_word(value)?;
        name.bare(word).then(|| at(word.len()))
    }
}

impl Name {
    /// Whether a text in quotes, or a field of JSON, is a secret under this name.
    pub(super) fn in_quotes(self, value: &str) -> bool {
        let odd = !self.weak || value.len() >= 10 && mixed(value) && !joined_names(value);
        odd && value.len() >= 6 && !placeholder(value) && !prose(value) && !path(value) && !self.is_folder(value)
    }

    fn bare(self, value: &str) -> bool {
        let length = if self.kind == "token" { 12 } else { 6 };
        value.len() >= length && mixed(value) && !joined_names(value) && !numeral(value) && self.in_quotes(value)
    }

    fn in_shell(self, value: &str) -> bool {
        let names = value.contains(['.', '/']) && joined_names(value);
        match self.kind {
            "token" => value.len() >= 8 && !names && mixed(value) && self.in_quotes(value),
            _ => value.len() >= 4 && !names && !placeholder(value) && !path(value) && !self.is_folder(value),
        }
    }

    /// `PWD` is a shell's folder far more often than a password.
    fn is_folder(self, value: &str) -> bool {
        self.folder && (value.starts_with(['/', '~', '.', '$']) || value.get(1..3) == Some(":\\"))
    }
}

/// The whole name of which an end was found. The letter of an escape such as `\n` is none of it.
fn spoken_name(text: &str, end: Range<usize>) -> &str {
    let part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    let mut start = text[..end.start].trim_end_matches(part).len();
    if text[..start].ends_with('\\') && start < end.start && text[start..].starts_with(['n', 'r', 't']) {
        start += 1;
    }
    &text[start..end.end]
}

/// A value up to where a program or a sentence goes on; none of an expression.
fn bare_word(value: &str) -> Option<&str> {
    let Some(end) = value.find(['\\', '(', ')', '[', ']', '{', '}', '<', '>', ';', ',', '&', '|']) else {
        return Some(value);
    };
    (!value[end..].starts_with(['(', '[', '{'])).then(|| &value[..end])
}

/// Words after an option in a sentence about it.
const SENTENCE: &[&str] = &[
    "option",
    "options",
    "flag",
    "flags",
    "argument",
    "parameter",
    "switch",
    "value",
    "field",
    "prompt",
    "stdin",
    "from",
    "with",
    "when",
    "that",
    "this",
    "must",
    "will",
    "should",
    "instead",
    "which",
    "have",
    "does",
    "into",
    "only",
    "also",
];

/// A value as a shell reads it; none of an expression or an option.
fn shell_word(value: &str) -> Option<&str> {
    let end = value.find(['\\', ';', '|', '&', '<', '>']).unwrap_or(value.len());
    let word = value[..end].trim_end_matches([')', ']', '}', ',']);
    let sentence = SENTENCE.contains(&word.trim_end_matches(['.', ':', '?']));
    let call = word.contains('(') && value[..end].ends_with(')');
    (!call
        && !sentence
        && !word.starts_with(['-', '[', '{', '('])
        && !word.starts_with("$(")
        && !word.starts_with("${"))
    .then_some(word)
}
