//! What a secret's value looks like, and what stands in its place in programs, forms and examples.

use serde::Deserialize;

use super::super::base64;
use super::table::Words;

/// What a value must pass beside its form; the table names these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Check {
    /// Letters and at least four digits, as keys have.
    Coded,
    /// A cookie whose value is no plain word.
    Cookie,
    /// What a header carries: a login, or letters and digits.
    Credential,
    /// A user and a password, encoded.
    Login,
    /// Letters and digits: no word of prose.
    Mixed,
    /// No run of words joined by dashes.
    NotDashedWords,
    NotFolder,
    NotLabel,
    NotNames,
    NotNumber,
    NotPath,
    NotPlaceholder,
    NotTerm,
    /// Drawn from letters of both cases and digits.
    Random,
    /// At least ten different characters.
    Varied,
}

impl Check {
    pub(super) fn accepts(self, value: &str, words: &Words) -> bool {
        match self {
            Check::Coded => coded(value),
            Check::Cookie => value.split(';').any(|pair| cookie(pair, words)),
            Check::Credential => login(value) || mixed(value) && !dashed_words(value) && !joined_names(value),
            Check::Login => login(value),
            Check::Mixed => mixed(value),
            Check::NotDashedWords => !dashed_words(value),
            // `PWD` is a shell's folder far more often than a password.
            Check::NotFolder => !value.starts_with(['/', '~', '.', '$']) && value.get(1..3) != Some(":\\"),
            Check::NotLabel => !label(value, words),
            Check::NotNames => !joined_names(value),
            Check::NotNumber => !numeral(value),
            Check::NotPath => !path(value),
            Check::NotPlaceholder => !placeholder(value, words),
            Check::NotTerm => !value.split(['-', '/', ',']).any(|word| words.terms.contains(&*word.to_lowercase())),
            Check::Random => random(value),
            Check::Varied => varied(value),
        }
    }
}

/// Letters and digits: no word of prose.
pub(super) fn mixed(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit()) && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// A word that is no constant and no remark.
pub(super) fn lettered(value: &str, words: &Words) -> bool {
    value.bytes().any(|byte| byte.is_ascii_lowercase()) && !label(value, words)
}

fn coded(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let words = value.split(['-', '_', '.', '/']);
    let plain = |word: &str| {
        word.bytes().all(|byte| byte.is_ascii_lowercase()) || word.bytes().all(|byte| byte.is_ascii_digit())
    };
    mixed(value) && digits >= 4 && !joined_names(value) && !words.into_iter().all(plain)
}

fn varied(value: &str) -> bool {
    let mut seen = [false; 128];
    value.bytes().for_each(|byte| seen[usize::from(byte & 127)] = true);
    seen.iter().filter(|seen| **seen).count() >= 10
}

/// One pair of a name and a value that is neither a word nor a setting.
fn cookie(pair: &str, words: &Words) -> bool {
    let value = pair.split_once('=').map_or("", |(_, value)| value);
    value.len() >= 12 && mixed(value) && !joined_names(value) && !placeholder(value, words)
}

/// Characters drawn at random: three or more of both cases and a digit; the class changes in two of five places; at most two of five
/// stand in runs of small letters, of which names, words and paths are made. Hashes, uuids and most ids have letters of one case; ids
/// of known programs begin with a word.
fn random(value: &str) -> bool {
    let bytes = value.as_bytes();
    let class = |byte: &u8| (byte.is_ascii_lowercase(), byte.is_ascii_uppercase(), byte.is_ascii_digit());
    let runs = || bytes.chunk_by(|one, next| class(one) == class(next));
    let spelled = runs().filter(|run| run.len() > 2 && run[0].is_ascii_lowercase()).map(<[u8]>::len).sum::<usize>();
    let drawn = spelled * 5 <= bytes.len() * 2 && (runs().count() - 1) * 5 >= (bytes.len() - 1) * 2;
    let count = |of: fn(&u8) -> bool| bytes.iter().filter(|byte| of(byte)).count();
    let all = count(u8::is_ascii_lowercase) > 2 && count(u8::is_ascii_uppercase) > 2 && count(u8::is_ascii_digit) > 0;
    drawn && all && !known_id(value) && !encodes_text(value)
}

/// An id of a known program, a content id, a public key.
fn known_id(value: &str) -> bool {
    let plain = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let prefixed = value.split_once(['_', '-']).is_some_and(|(word, _)| (2..=12).contains(&word.len()) && plain(word));
    prefixed || value.starts_with("AAAA") || value.starts_with("Qm") && value.len() == 46
}

fn encodes_text(value: &str) -> bool {
    base64::decode(value).is_some_and(|bytes| bytes.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n')))
}

/// What a login is encoded as.
fn login(value: &str) -> bool {
    let plain = base64::decode(value).unwrap_or_default();
    plain.contains(&b':') && plain.iter().all(|byte| matches!(byte, b' '..=b'~'))
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
pub(super) fn placeholder(value: &str, words: &Words) -> bool {
    let lower = value.to_lowercase();
    let word = lower.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    let marked = ["your", "process.env", "os.environ", "xxxx"].iter().any(|start| lower.starts_with(start));
    let hidden = ["[masked:", "redacted", "***", "..."].iter().any(|sign| lower.contains(sign));
    let mut letters = value.chars();
    let first = letters.next();
    let repeated = letters.all(|letter| Some(letter) == first);
    marked || hidden || repeated || words.stand_ins.contains(word) || expression(value)
}

/// A remark or a type, as one word.
fn label(value: &str, words: &Words) -> bool {
    let lower = value.to_lowercase();
    let mut letters = value.bytes();
    let first = letters.next().is_some_and(|first| first.is_ascii_uppercase());
    let class = first && letters.next().is_some_and(|second| second.is_ascii_lowercase());
    let typed = class && value.bytes().all(|byte| byte.is_ascii_alphabetic());
    typed || words.stand_ins.contains(&lower) || words.labels.contains(&lower)
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

/// Several plain words: a label, a sentence or a passphrase.
pub(super) fn prose(value: &str) -> bool {
    let plain = |word: &str| {
        let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
        let letters = word.chars().all(|letter| letter.is_alphabetic() || matches!(letter, '\'' | '’' | '-'));
        letters || word.bytes().all(|byte| byte.is_ascii_digit())
    };
    value.contains(char::is_whitespace) && value.split_whitespace().all(plain)
}

/// Four small words or more, none of which a label or a sentence is made with.
pub(super) fn passphrase(value: &str, words: &Words) -> bool {
    let drawn = |word: &str| {
        (3..=12).contains(&word.len())
            && word.bytes().all(|byte| byte.is_ascii_lowercase())
            && !words.labels.contains(word)
    };
    value.split(' ').count() >= 4 && value.split(' ').all(drawn)
}

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
