//! Secrets announced by a name: `DB_PASSWORD=...`, `"authToken": "..."`, `--password ...`, "my password is ...".
//!
//! A name in a text is only a hint, so the rules are stricter for a bare word than for a quoted text, and laxer after the name of
//! a shell variable. Absent on purpose: numbers under such names.

use std::ops::Range;

use serde::Deserialize;

use super::checks::{Check, humps, joined_names, lettered, mixed, passphrase, path, placeholder};
use super::table::{Context, Found, Known, Table, Words, before, touches_mask};

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
    checks: Vec<Check>,
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
pub(super) enum Setting {
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
    pub(super) fn of<'a>(key: &str, names: &'a [Name], words: &Words) -> Option<&'a Name> {
        let parts = key.split(|letter: char| !letter.is_alphanumeric()).flat_map(humps).map(str::to_lowercase);
        let parts = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>();
        let (last, rest) = parts.split_last()?;
        let (plain, before) = (parts.concat(), rest.last().map_or("", String::as_str));
        names.iter().find(|name| name.ends.iter().any(|end| name.fits(end, &plain, last, before, words)))
    }

    fn fits(&self, end: &str, plain: &str, last: &str, before: &str, words: &Words) -> bool {
        if self.whole {
            return plain == end;
        }
        let ended = |text: &str| text.strip_suffix(end).map(str::len);
        let head = |text: &str| ended(text).or_else(|| ended(text.strip_suffix('s')?));
        // The part of the last word before the end of the name.
        let glue = head(last).map_or("", |length| &last[..length]);
        let glued = glue.is_empty() || self.glued.is_empty() || self.glued.iter().any(|known| known == glue);
        let counted = self.counted && words.counted.contains(if glue.is_empty() { before } else { glue });
        head(plain).is_some() && glued && !counted
    }

    /// Whether a value under this name is a secret.
    pub(super) fn accepts(&self, value: &str, setting: Setting, known: &Known) -> bool {
        let long = |least: usize| value.len() >= least;
        let (mixed, names) = (mixed(value), joined_names(value));
        let odd = !(self.machine && names) && (!self.weak || long(10) && mixed);
        let said = || known.shapes.prose.is_match(value) && (self.machine || !passphrase(value, known));
        let word = || long(self.least.shell) && !(names && value.contains(['.', '/']));
        let written = match setting {
            Setting::Quoted => long(self.least.quoted) && odd && !said(),
            Setting::Bare => long(self.least.bare) && odd && mixed && !names && !known.shapes.number.is_match(value),
            Setting::Assigned => word() && (!self.machine || mixed || lettered(value, known)),
            Setting::Option => word() && (!self.machine || mixed),
            Setting::Line => {
                let typed = known.shapes.type_name.is_match(value);
                self.least.line.is_some_and(long) && lettered(value, known) && !typed && !names
            }
        };
        let stood_in = || placeholder(value, known) || path(value);
        written && !stood_in() && self.checks.iter().all(|check| check.accepts(value, known))
    }
}

/// The largest number of bytes read of a word, because a text without blanks may contain a name every few bytes.
const LONGEST: usize = 512;
/// The largest number of values read of a list, for the same reason.
const MOST: usize = 100;

/// A name in a text that announces a secret.
struct Hit<'t, 'a> {
    text: &'t str,
    spoken: &'t str,
    /// The range of the name's end.
    end: Range<usize>,
    name: &'a Name,
}

impl Table {
    /// All secrets that follow such names, in order.
    pub(super) fn named(&self, text: &str) -> Vec<Found<'_>> {
        let mut found = Vec::<Found<'_>>::new();
        for end in self.end.find_iter(text) {
            let masked = found.last().is_some_and(|last| end.start() < last.at.end);
            if masked || text[end.end()..].starts_with(in_name) {
                continue;
            }
            let spoken = spoken_name(text, end.range());
            let Some(name) = self.name(spoken) else { continue };
            let hit = Hit { text, spoken, end: end.range(), name };
            let mut secrets = self.rows.context.iter().map(|context| self.after(&hit, context));
            found.extend(secrets.find(|secrets| !secrets.is_empty()).unwrap_or_default());
        }
        found
    }

    /// The secrets that follow a name in one context.
    fn after<'a>(&self, hit: &Hit<'_, 'a>, context: &Context) -> Vec<Found<'a>> {
        let Hit { text, spoken, end, name } = hit;
        let known = &self.rows.known;
        let fits = context.before.as_ref().is_none_or(|pattern| pattern.is_match(before(text, end.start)));
        let Some(captures) = fits.then(|| context.after.captures(&text[end.end..])).flatten() else {
            return Vec::new();
        };
        let values = match captures.name("secret") {
            Some(secret) => vec![(end.end + secret.start()..end.end + secret.end(), context.setting)],
            None => self.values(hit, end.end + captures[0].len()),
        };
        let secret = |(at, setting): &(Range<usize>, Setting)| {
            let value = &text[at.clone()];
            let passed = context.checks.iter().all(|check| check.accepts(value, known)) && !touches_mask(text, at);
            passed && !value.eq_ignore_ascii_case(spoken) && name.accepts(value, *setting, known)
        };
        values.into_iter().filter(secret).map(|(at, _)| Found { kind: &name.kind, at: whole(text, at) }).collect()
    }

    /// The value at byte `at`, or the texts of a list that begins there, each with how it is written.
    fn values(&self, hit: &Hit<'_, '_>, at: usize) -> Vec<(Range<usize>, Setting)> {
        let text = hit.text;
        let Some(list) = text[at..].strip_prefix('[') else { return self.value(hit, at, at).into_iter().collect() };
        let mut values = Vec::new();
        let skip = |rest: &str| text.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', ',']).len();
        let mut next = skip(list);
        while let (Some((at, Setting::Quoted)), true) = (self.value(hit, at, next), values.len() < MOST) {
            next = skip(text[at.end..].trim_start_matches(['\\', '"', '\'', '`']));
            values.push((at, Setting::Quoted));
        }
        values
    }

    /// The value at byte `at`. The text from the name up to `lead` introduces it.
    fn value(&self, hit: &Hit<'_, '_>, lead: usize, at: usize) -> Option<(Range<usize>, Setting)> {
        let (rest, shapes) = (&hit.text[at..], &self.rows.known.shapes);
        if let Some(found) = shapes.quoted.captures(rest) {
            let value = (1..=4).find_map(|group| found.get(group))?;
            return Some((at + value.start()..at + value.end(), Setting::Quoted));
        }
        let word = shapes.word.find(&rest[..rest.floor_char_boundary(LONGEST)])?;
        let (word, setting) = self.bare(word.as_str(), hit.spoken, &hit.text[hit.end.end..lead])?;
        Some((at..at + word.len(), setting))
    }

    /// The part of a bare value that may be a secret, and how it is written.
    fn bare<'t>(&self, value: &'t str, spoken: &str, between: &str) -> Option<(&'t str, Setting)> {
        let shouted = !spoken.bytes().any(|byte| byte.is_ascii_lowercase());
        let option = spoken.starts_with("--");
        if option || shouted && (between == "=" || between.contains("value")) {
            let setting = if option && !between.contains('=') { Setting::Option } else { Setting::Assigned };
            return Some((shell_word(value, &self.rows.known.words)?, setting));
        }
        // `PASS: test` is the outcome of a test.
        let result = spoken.eq_ignore_ascii_case("pass") && spoken != "pass" && between.contains(':');
        Some((bare_word(value).filter(|_| !result)?, Setting::Bare))
    }
}

/// The whole name up to the given end, without the letter of an escape such as `\n`.
fn spoken_name(text: &str, end: Range<usize>) -> &str {
    let near = before(text, end.start);
    let mut start = end.start - (near.len() - near.trim_end_matches(in_name).len());
    if text[..start].ends_with('\\') && start < end.start && text[start..].starts_with(['n', 'r', 't']) {
        start += 1;
    }
    &text[start..end.end]
}

fn in_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

/// Characters that end a word in a program, a sentence or a shell command.
const ENDS: [char; 15] = ['\\', ')', ']', '}', '<', '>', ';', ',', '&', '|', ' ', '\n', '"', '\'', '`'];

/// The range of a secret extended to the end of its word, in case only its beginning was examined.
fn whole(text: &str, at: Range<usize>) -> Range<usize> {
    let more = if at.len() + 4 > LONGEST { &text[at.end..] } else { "" };
    at.start..at.end + more.find(ENDS).unwrap_or(more.len())
}

/// A value up to the point where a program or a sentence continues, or `None` for an expression.
fn bare_word(value: &str) -> Option<&str> {
    let Some(end) = value.find(['\\', '(', ')', '[', ']', '{', '}', '<', '>', ';', ',', '&', '|']) else {
        return Some(value);
    };
    (!value[end..].starts_with(['(', '[', '{'])).then(|| &value[..end])
}

/// A value as a shell parses it, or `None` for an expression or an option.
fn shell_word<'t>(value: &'t str, words: &Words) -> Option<&'t str> {
    let end = value.find(['\\', ';', '|', '&', '<', '>']).unwrap_or(value.len());
    let word = value[..end].trim_end_matches([')', ']', '}', ',']);
    let sentence = words.sentence.contains(word.trim_end_matches(['.', ':', '?']));
    let call = word.contains('(') && value[..end].ends_with(')');
    let expression = word.starts_with(['-', '[', '{', '(']) || word.starts_with("$(") || word.starts_with("${");
    (!call && !sentence && !expression).then_some(word)
}
