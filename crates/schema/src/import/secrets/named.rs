//! Secrets that a name before them tells: `DB_PASSWORD=...`, `"authToken": "..."`, `--password ...`, `name: API_KEY, value: ...`.
//!
//! A name in a text is a guess, so what a bare word must look like is stricter than for a text in quotes, and laxer after a
//! shell variable's name. Absent on purpose: numbers under these names.

use std::ops::Range;

use serde::Deserialize;

use super::checks::{Check, joined_names, lettered, mixed, numeral, passphrase, path, placeholder, prose};
use super::table::{Context, Found, Table, Words, before};

/// A group of telling names; `rules.toml` says what its fields mean.
#[derive(Deserialize)]
pub(super) struct Name {
    pub(super) kind: String,
    pub(super) about: String,
    pub(super) ends: Vec<String>,
    #[serde(default)]
    glued: Vec<String>,
    #[serde(default)]
    counted: bool,
    #[serde(default)]
    whole: bool,
    #[serde(default)]
    pub(super) weak: bool,
    #[serde(default)]
    machine: bool,
    #[serde(default)]
    pub(super) fields: bool,
    #[serde(default)]
    checks: Vec<Check>,
    least: Least,
}

/// Least characters of a value.
#[derive(Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
struct Least {
    quoted: usize,
    bare: usize,
    shell: usize,
    line: Option<usize>,
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Setting {
    /// In quotes, or as a field of JSON.
    Quoted,
    /// As a word, in a text that may be prose or a program.
    Bare,
    /// As a word that a shell's variable or a form's field is set to.
    Assigned,
    /// As a word after an option.
    Option,
    /// As the last word of a line.
    Line,
}

impl Name {
    /// Ends as they are compared: without blanks.
    pub(super) fn join_ends(&mut self) {
        self.ends.iter_mut().for_each(|end| end.retain(|letter| letter != ' '));
    }

    /// The first of these that fits a name.
    pub(super) fn of<'a>(key: &str, names: &'a [Name], words: &Words) -> Option<&'a Name> {
        let parts = parts(key);
        names.iter().find(|name| name.fits(&parts, words))
    }

    fn fits(&self, parts: &[String], words: &Words) -> bool {
        let plain = parts.concat();
        let (Some(last), before) = (parts.last(), parts.len().checked_sub(2).map_or("", |at| &parts[at])) else {
            return false;
        };
        let fits = |end: &String| {
            if self.whole {
                return plain == *end;
            }
            let ended = |text: &str| text.strip_suffix(end.as_str()).map(str::len);
            let singular = |text: &str| ended(text).or_else(|| ended(text.strip_suffix('s')?));
            let head = singular(last).map_or("", |length| &last[..length]);
            let glued = head.is_empty() || self.glued.is_empty() || self.glued.iter().any(|known| known == head);
            let before = if head.is_empty() { before } else { head };
            let counted = self.counted && words.counted.contains(before);
            singular(&plain).is_some() && glued && !counted
        };
        self.ends.iter().any(fits)
    }

    /// Whether a value under this name is a secret.
    pub(super) fn accepts(&self, value: &str, setting: Setting, words: &Words) -> bool {
        let long = |least: usize| value.len() >= least;
        let odd = || !(self.machine && joined_names(value)) && (!self.weak || long(10) && mixed(value));
        let said = || prose(value) && (self.machine || !passphrase(value, words));
        let word = || mixed(value) && !joined_names(value) && !numeral(value);
        let joined = || value.contains(['.', '/']) && joined_names(value);
        let lettered = || lettered(value, words);
        let written = match setting {
            Setting::Quoted => long(self.least.quoted) && odd() && !said(),
            Setting::Bare => long(self.least.bare) && odd() && word(),
            Setting::Assigned => long(self.least.shell) && !joined() && (!self.machine || mixed(value) || lettered()),
            Setting::Option => long(self.least.shell) && !joined() && (!self.machine || mixed(value)),
            Setting::Line => self.least.line.is_some_and(long) && lettered() && !joined_names(value),
        };
        written
            && !placeholder(value, words)
            && !path(value)
            && self.checks.iter().all(|check| check.accepts(value, words))
    }
}

impl Table {
    /// All secrets after telling names, in order.
    pub(super) fn named(&self, text: &str) -> Vec<Found<'_>> {
        let mut found = Vec::<Found<'_>>::new();
        for end in self.end.find_iter(text) {
            if found.last().is_some_and(|last| end.start() < last.at.end) {
                continue;
            }
            let spoken = spoken_name(text, end.range());
            if let Some(name) = self.name(spoken) {
                let hit = Hit { text, spoken, end: end.range(), name };
                found.extend(
                    self.contexts
                        .iter()
                        .map(|context| self.after(&hit, context))
                        .find(|found| !found.is_empty())
                        .into_iter()
                        .flatten(),
                );
            }
        }
        found
    }

    /// What follows a name in one context.
    fn after<'a>(&self, hit: &Hit<'_, 'a>, context: &Context) -> Vec<Found<'a>> {
        let Hit { text, name, .. } = hit;
        let rest = &text[hit.end.end..];
        let fits = context.before.as_ref().is_none_or(|pattern| pattern.is_match(before(text, hit.end.start)));
        let Some(captures) = fits.then(|| context.after.captures(rest)).flatten() else { return Vec::new() };
        let found = |at: Range<usize>| Found { kind: name.kind.as_str(), at };
        let Some(secret) = captures.name("secret") else {
            let between = hit.end.end..hit.end.end + captures[0].len();
            return self
                .values(text, between.end)
                .iter()
                .filter_map(|value| self.judged(hit, value, between.clone()))
                .map(found)
                .collect();
        };
        let value = secret.as_str();
        let judged = context.setting.is_none_or(|setting| name.accepts(value, setting, &self.words));
        let passed = judged && context.checks.iter().all(|check| check.accepts(value, &self.words));
        passed.then(|| found(hit.end.end + secret.start()..hit.end.end + secret.end())).into_iter().collect()
    }

    /// The part of a value that is a secret.
    fn judged(&self, hit: &Hit<'_, '_>, value: &Value, between: Range<usize>) -> Option<Range<usize>> {
        let word = &hit.text[value.at.clone()];
        let between = &hit.text[between];
        let (word, setting) =
            if value.quoted { (word, Setting::Quoted) } else { self.bare(word, hit.spoken, between)? };
        let secret = !word.eq_ignore_ascii_case(hit.spoken) && hit.name.accepts(word, setting, &self.words);
        secret.then(|| value.at.start..value.at.start + word.len())
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

    /// The part of a bare value that may be a secret, and how it is written.
    fn bare<'t>(&self, value: &'t str, spoken: &str, between: &str) -> Option<(&'t str, Setting)> {
        if spoken.starts_with("--") {
            let setting = if between.contains('=') { Setting::Assigned } else { Setting::Option };
            return Some((shell_word(value, &self.words)?, setting));
        }
        let shouted = !spoken.bytes().any(|byte| byte.is_ascii_lowercase());
        if shouted && (between == "=" || between.contains("value")) {
            return Some((shell_word(value, &self.words)?, Setting::Assigned));
        }
        // `PASS: test` is how a test's result is told.
        let result = spoken.eq_ignore_ascii_case("pass") && spoken != "pass" && between.contains(':');
        Some((bare_word(value).filter(|_| !result)?, Setting::Bare))
    }
}

/// A telling name in a text.
struct Hit<'t, 'a> {
    text: &'t str,
    spoken: &'t str,
    /// Where its end stands.
    end: Range<usize>,
    name: &'a Name,
}

/// Where a value stands.
struct Value {
    at: Range<usize>,
    quoted: bool,
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

/// The words of a name, in lower case.
fn parts(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower = false;
    for letter in key.chars() {
        let start = !letter.is_alphanumeric() || lower && letter.is_uppercase();
        if start && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        lower = letter.is_lowercase() || letter.is_ascii_digit();
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A value up to where a program or a sentence goes on; none of an expression.
fn bare_word(value: &str) -> Option<&str> {
    let Some(end) = value.find(['\\', '(', ')', '[', ']', '{', '}', '<', '>', ';', ',', '&', '|']) else {
        return Some(value);
    };
    (!value[end..].starts_with(['(', '[', '{'])).then(|| &value[..end])
}

/// A value as a shell reads it; none of an expression or an option.
fn shell_word<'t>(value: &'t str, words: &Words) -> Option<&'t str> {
    let end = value.find(['\\', ';', '|', '&', '<', '>']).unwrap_or(value.len());
    let word = value[..end].trim_end_matches([')', ']', '}', ',']);
    let sentence = words.sentence.contains(word.trim_end_matches(['.', ':', '?']));
    let call = word.contains('(') && value[..end].ends_with(')');
    let expression = word.starts_with(['-', '[', '{', '(']) || word.starts_with("$(") || word.starts_with("${");
    (!call && !sentence && !expression).then_some(word)
}
