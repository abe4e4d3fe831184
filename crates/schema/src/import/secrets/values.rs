//! What a secret's value looks like, and what stands in its place in programs, forms and examples.

use super::super::base64;

/// Every match of a shape that nothing else has.
pub(super) fn any(_: &str) -> bool {
    true
}

/// Letters and digits: no word of prose.
pub(super) fn mixed(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit()) && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Letters and digits, and no run of words joined by dashes.
pub(super) fn issued(value: &str) -> bool {
    mixed(value) && !dashed_words(value)
}

/// What a login is encoded as.
pub(super) fn login(value: &str) -> bool {
    let plain = base64::decode(value).unwrap_or_default();
    plain.contains(&b':') && plain.iter().all(|byte| matches!(byte, b' '..=b'~'))
}

/// What a header carries.
pub(super) fn credential(value: &str) -> bool {
    login(value) || (issued(value) && !joined_names(value))
}

/// A value where nothing but a password can stand.
pub(super) fn password(value: &str) -> bool {
    !placeholder(value)
}

/// Names as programs and stores join them: `config.apiKey2`, `user_id_column_1`, `userInput1`, `ref:vault/path`.
pub(super) fn joined_names(value: &str) -> bool {
    let words = value.split(['.', '_', '/', ':']).filter(|word| !word.is_empty());
    let words = words.flat_map(humps).collect::<Vec<_>>();
    let separated = value.contains(['.', '_', '/', ':']) || value.starts_with(|first: char| first.is_ascii_lowercase());
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let lettered =
        words.iter().filter(|word| word.len() > 1 && word.starts_with(|first: char| first.is_ascii_alphabetic()));
    separated && digits <= 2 && lettered.count() >= 2 && words.iter().all(|word| is_word(word))
}

/// A path of names, as in `ref:vault/path` and `/run/secrets/db`.
pub(super) fn path(value: &str) -> bool {
    let bare = value.trim_start_matches(['/', '.', '~']);
    let names = bare.split(['/', ':']).filter(|name| !name.is_empty()).flat_map(|name| name.split(['-', '_', '.']));
    let words = names.flat_map(humps);
    value.contains('/') && bare.len() > 3 && words.into_iter().all(|word| is_word(word) && word.len() < 13)
}

/// What stands where a value would: a placeholder, a type, an expression of a program, a mask.
pub(super) fn placeholder(value: &str) -> bool {
    let lower = value.to_lowercase();
    let word = lower.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    let marked = ["your", "process.env", "os.environ", "xxxx"].iter().any(|start| lower.starts_with(start));
    let hidden = ["[masked:", "redacted", "***", "..."].iter().any(|sign| lower.contains(sign));
    let mut letters = value.chars();
    let first = letters.next();
    let repeated = letters.all(|letter| Some(letter) == first);
    marked || hidden || repeated || STAND_INS.contains(&word) || expression(value)
}

/// A number as programs write it: `65536u32`, `0xC000006B_u32`.
pub(super) fn numeral(value: &str) -> bool {
    let plain = value.trim_start_matches('-');
    let number = plain.trim_end_matches(|last: char| last.is_ascii_digit()).strip_suffix(['i', 'u']).unwrap_or(plain);
    let number = number.trim_end_matches('_');
    let digits = |number: &str| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    match number.strip_prefix("0x") {
        Some(hex) => hex.len() <= 16 && hex.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'_'),
        None => digits(number) || digits(plain),
    }
}

/// Several plain words: a label or a sentence.
pub(super) fn prose(value: &str) -> bool {
    let plain = |word: &str| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let letters = word.chars().all(|letter| letter.is_alphabetic() || matches!(letter, '\'' | '’' | '-'));
        letters || word.bytes().all(|byte| byte.is_ascii_digit())
    };
    value.contains(char::is_whitespace) && value.split_whitespace().all(plain)
}

/// Words that stand where a value would, in schemas, forms and examples.
const STAND_INS: &[&str] = &[
    "string",
    "password",
    "pass",
    "required",
    "optional",
    "undefined",
    "example",
    "changeme",
    "include",
    "same-origin",
    "none",
    "null",
    "true",
    "false",
];

/// A variable or a template: `$NAME`, `${name}`, `{{ name }}`, `$(command)`, `<name>`, `%NAME%`.
fn expression(value: &str) -> bool {
    let inside = |open: &str, close: &str| value.split_once(open).is_some_and(|(_, rest)| rest.contains(close));
    let around = |open: char, close: char| value.len() > 1 && value.starts_with(open) && value.ends_with(close);
    let template = [("${", "}"), ("{{", "}}"), ("#{", "}"), ("$(", ")"), ("%(", ")s")]
        .iter()
        .any(|(open, close)| inside(open, close));
    let enclosed = around('<', '>') || around('{', '}') || around('%', '%') || around('[', ']');
    template || enclosed || variable(value) || holds_name(value)
}

/// `{name}` within a text, as a program fills it in.
fn holds_name(value: &str) -> bool {
    let names = value.split('{').skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name);
    let name = |name: &str| name.len() > 1 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    names.into_iter().any(name)
}

/// `$NAME` or `$name`. A dollar before a mix of cases and digits opens a password as often.
fn variable(value: &str) -> bool {
    let Some(name) = value.strip_prefix('$') else { return false };
    let plain = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let upper = !name.bytes().any(|byte| byte.is_ascii_lowercase());
    plain && (upper || !name.bytes().any(|byte| byte.is_ascii_digit()))
}

/// `sk-e2e-tests-for-checkout-flow-2024`: short words, at least three of them of letters alone.
fn dashed_words(value: &str) -> bool {
    let words = value.split(['-', '_']).collect::<Vec<_>>();
    let lettered = |word: &&&str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let short = |word: &str| {
        word.len() < 5 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            || word.len() < 15 && word.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    words.iter().filter(lettered).count() >= 3 && words.iter().all(|word| short(word))
}

/// Letters, then at most two digits; or a number as short.
fn is_word(word: &str) -> bool {
    let letters = word.trim_end_matches(|last: char| last.is_ascii_digit());
    word.len() - letters.len() <= 2 && letters.len() < 16 && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// The words of `camelCase`.
fn humps(name: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut lower) = (0, false);
    for (at, letter) in name.char_indices() {
        if lower && letter.is_ascii_uppercase() {
            words.push(&name[start..at]);
            start = at;
        }
        lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
    }
    words.push(&name[start..]);
    words
}
