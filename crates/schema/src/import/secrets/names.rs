//! Names that tell a secret, and those that only sound like it.

use serde_json::{Map, Value};

/// What a telling name tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// The kind of secret.
    pub(super) kind: &'static str,
    /// Whether plain words stand under this name as often as secrets.
    pub(super) weak: bool,
    /// Whether folders stand under this name too.
    pub(super) folder: bool,
}

/// Ends of names, in lower case without separators.
const ENDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "credential",
    "creds",
    "pwd",
    "apikey",
    "accesskey",
    "privatekey",
    "secretkey",
    "signingkey",
    "encryptionkey",
    "accountkey",
];

/// What stands before `pass` where both are one word; others are words of their own, as in `bypass`.
const BEFORE_PASS: &[&str] =
    &["admin", "db", "ftp", "mail", "my", "mysql", "pg", "redis", "root", "smtp", "ssh", "user"];

/// Words before `token` or `pass` that make it something else: a place in a list, a symbol of a language, a round.
const HARMLESS: &[&str] = &[
    "added",
    "bos",
    "cached",
    "cancel",
    "cancellation",
    "cls",
    "completion",
    "continuation",
    "count",
    "current",
    "cursor",
    "end",
    "eof",
    "eos",
    "eot",
    "first",
    "image",
    "input",
    "last",
    "mask",
    "max",
    "min",
    "multi",
    "new",
    "next",
    "nextpage",
    "num",
    "output",
    "pad",
    "page",
    "pagination",
    "per",
    "prev",
    "previous",
    "prompt",
    "reasoning",
    "render",
    "second",
    "sep",
    "single",
    "special",
    "start",
    "stop",
    "sync",
    "test",
    "text",
    "to",
    "total",
    "unk",
    "word",
];

/// What a name tells; none of a harmless one.
pub(super) fn name(key: &str) -> Option<Name> {
    let words = words(key);
    let plain = words.concat();
    let telling = Name { kind: "password", weak: false, folder: plain.ends_with("pwd") };
    let last = words.last()?;
    let before = words.len().checked_sub(2).map_or("", |at| words[at].as_str());
    if let Some(head) = last.strip_suffix("token").or_else(|| last.strip_suffix("tokens")) {
        let harmless = HARMLESS.contains(&before) || HARMLESS.contains(&head) || plain == "tokens";
        let weak = plain == "token" || last.ends_with('s');
        return (!harmless).then_some(Name { kind: "token", weak, ..telling });
    }
    if let Some(head) = last.strip_suffix("pass") {
        let harmless = if head.is_empty() { HARMLESS.contains(&before) } else { !BEFORE_PASS.contains(&head) };
        return (!harmless).then_some(telling);
    }
    if plain.ends_with("authorization") {
        return Some(Name { kind: "authorization", weak: true, ..telling });
    }
    let single = plain.strip_suffix('s').unwrap_or(&plain);
    ENDS.iter().any(|end| single.ends_with(end) || plain.ends_with(end)).then_some(telling)
}

/// What the name in a pair such as `{name: DB_PASSWORD, value: ...}` tells.
pub(super) fn of_pair(fields: &Map<String, Value>) -> Option<Name> {
    let given = |key: &str| ["name", "key", "variable"].iter().any(|known| key.eq_ignore_ascii_case(known));
    fields.iter().filter(|(key, _)| given(key)).find_map(|(_, field)| name(field.as_str()?))
}

/// The words of a name, in lower case.
fn words(key: &str) -> Vec<String> {
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
