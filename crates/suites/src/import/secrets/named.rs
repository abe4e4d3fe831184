//! Secrets announced by a name: `DB_PASSWORD=...`, `"authToken": "..."`, `--password ...`, "my
//! password is ...".
//!
//! A name in a text is only a hint, so the rules are stricter for a bare word than for a quoted
//! text, and laxer after the name of a shell variable. Absent on purpose: numbers under such names.

use std::ops::Range;

use super::known::WordSet;
use super::name::{Name, NamedValue};
use super::rules::{FoundSecret, SecretContext, SecretTable, before, touches_mask};

/// The largest number of bytes read of a word, because a text without blanks may contain a name
/// every few bytes.
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

impl SecretTable {
    /// All secrets that follow such names, in order.
    pub(super) fn after_names(&self, text: &str) -> Vec<FoundSecret<'_>> {
        let mut found = Vec::<FoundSecret<'_>>::new();
        for end in self.end.find_iter(text) {
            let masked = found.last().is_some_and(|last| end.start() < last.at.end);
            if masked || text[end.end()..].starts_with(in_name) {
                continue;
            }
            let spoken = spoken_name(text, end.range());
            let Some(name) = self.name(spoken) else {
                continue;
            };
            let hit = Hit {
                text,
                spoken,
                end: end.range(),
                name,
            };
            let mut secrets = self
                .rows
                .context
                .iter()
                .map(|context| self.after(&hit, context));
            found.extend(
                secrets
                    .find(|secrets| !secrets.is_empty())
                    .unwrap_or_default(),
            );
        }
        found
    }

    /// The secrets that follow a name in one context.
    fn after<'a>(&self, hit: &Hit<'_, 'a>, context: &SecretContext) -> Vec<FoundSecret<'a>> {
        let Hit {
            text,
            spoken,
            end,
            name,
        } = hit;
        let known = &self.rows.known;
        let fits = context
            .before
            .as_ref()
            .is_none_or(|pattern| pattern.is_match(before(text, end.start)));
        let Some(captures) = fits
            .then(|| context.after.captures(&text[end.end..]))
            .flatten()
        else {
            return Vec::new();
        };
        let values = match captures.name("secret") {
            Some(secret) => vec![(
                end.end + secret.start()..end.end + secret.end(),
                context.setting,
            )],
            None => self.values(hit, end.end + captures[0].len()),
        };
        let secret = |(at, setting): &(Range<usize>, NamedValue)| {
            let value = &text[at.clone()];
            let passed = context
                .checks
                .iter()
                .all(|check| check.accepts(value, known))
                && !touches_mask(text, at);
            passed && !value.eq_ignore_ascii_case(spoken) && name.accepts(value, *setting, known)
        };
        values
            .into_iter()
            .filter(secret)
            .map(|(at, _)| FoundSecret {
                kind: &name.kind,
                at: whole(text, at),
            })
            .collect()
    }

    /// The value at byte `at`, or the texts of a list that begins there, each with how it is
    /// written.
    fn values(&self, hit: &Hit<'_, '_>, at: usize) -> Vec<(Range<usize>, NamedValue)> {
        let text = hit.text;
        let Some(list) = text[at..].strip_prefix('[') else {
            return self.value(hit, at, at).into_iter().collect();
        };
        let mut values = Vec::new();
        let skip =
            |rest: &str| text.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', ',']).len();
        let mut next = skip(list);
        while let (Some((at, NamedValue::Quoted)), true) =
            (self.value(hit, at, next), values.len() < MOST)
        {
            next = skip(text[at.end..].trim_start_matches(['\\', '"', '\'', '`']));
            values.push((at, NamedValue::Quoted));
        }
        values
    }

    /// The value at byte `at`. The text from the name up to `lead` introduces it.
    fn value(
        &self,
        hit: &Hit<'_, '_>,
        lead: usize,
        at: usize,
    ) -> Option<(Range<usize>, NamedValue)> {
        let (rest, shapes) = (&hit.text[at..], &self.rows.known.shapes);
        if let Some(found) = shapes.quoted.captures(rest) {
            let value = (1..=4).find_map(|group| found.get(group))?;
            return Some((at + value.start()..at + value.end(), NamedValue::Quoted));
        }
        let word = shapes
            .word
            .find(&rest[..rest.floor_char_boundary(LONGEST)])?;
        let (word, setting) = self.bare(word.as_str(), hit.spoken, &hit.text[hit.end.end..lead])?;
        Some((at..at + word.len(), setting))
    }

    /// The part of a bare value that may be a secret, and how it is written.
    fn bare<'t>(
        &self,
        value: &'t str,
        spoken: &str,
        between: &str,
    ) -> Option<(&'t str, NamedValue)> {
        let shouted = !spoken.bytes().any(|byte| byte.is_ascii_lowercase());
        let option = spoken.starts_with("--");
        if option || shouted && (between == "=" || between.contains("value")) {
            let setting = if option && !between.contains('=') {
                NamedValue::Option
            } else {
                NamedValue::Assigned
            };
            return Some((shell_word(value, &self.rows.known.words)?, setting));
        }
        // `PASS: test` is the outcome of a test.
        let result =
            spoken.eq_ignore_ascii_case("pass") && spoken != "pass" && between.contains(':');
        Some((bare_word(value).filter(|_| !result)?, NamedValue::Bare))
    }
}

/// The whole name up to the given end, without the letter of an escape such as `\n`.
fn spoken_name(text: &str, end: Range<usize>) -> &str {
    let near = before(text, end.start);
    let mut start = end.start - (near.len() - near.trim_end_matches(in_name).len());
    if text[..start].ends_with('\\')
        && start < end.start
        && text[start..].starts_with(['n', 'r', 't'])
    {
        start += 1;
    }
    &text[start..end.end]
}

fn in_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')
}

/// Characters that end a word in a program, a sentence or a shell command.
const ENDS: [char; 15] = [
    '\\', ')', ']', '}', '<', '>', ';', ',', '&', '|', ' ', '\n', '"', '\'', '`',
];

/// The range of a secret extended to the end of its word, in case only its beginning was examined.
fn whole(text: &str, at: Range<usize>) -> Range<usize> {
    let more = if at.len() + 4 > LONGEST {
        &text[at.end..]
    } else {
        ""
    };
    at.start..at.end + more.find(ENDS).unwrap_or(more.len())
}

/// A value up to the point where a program or a sentence continues, or `None` for an expression.
fn bare_word(value: &str) -> Option<&str> {
    let Some(end) = value.find([
        '\\', '(', ')', '[', ']', '{', '}', '<', '>', ';', ',', '&', '|',
    ]) else {
        return Some(value);
    };
    (!value[end..].starts_with(['(', '[', '{'])).then(|| &value[..end])
}

/// A value as a shell parses it, or `None` for an expression or an option.
fn shell_word<'t>(value: &'t str, words: &WordSet) -> Option<&'t str> {
    let end = value
        .find(['\\', ';', '|', '&', '<', '>'])
        .unwrap_or(value.len());
    let word = value[..end].trim_end_matches([')', ']', '}', ',']);
    let sentence = words
        .sentence
        .contains(word.trim_end_matches(['.', ':', '?']));
    let call = word.contains('(') && value[..end].ends_with(')');
    let expression =
        word.starts_with(['-', '[', '{', '(']) || word.starts_with("$(") || word.starts_with("${");
    (!call && !sentence && !expression).then_some(word)
}
