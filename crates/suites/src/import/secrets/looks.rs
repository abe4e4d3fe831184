//! What secrets look like, and the text that programs, forms and examples have in their place.

use serde::Deserialize;

use super::known::KnownWords;
use crate::import::readers::base64;

/// Additional checks on a value's text, named in the table.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SecretCheck {
    Coded,
    Cookie,
    /// The credential in a header: a login, or letters and digits that are neither words nor names.
    Credential,
    Login,
    Mixed,
    NotDashedWords,
    NotFolder,
    NotNames,
    NotNumber,
    NotPlaceholder,
    NotTerm,
    Random,
    Varied,
}

impl SecretCheck {
    pub(super) fn accepts(self, value: &str, known: &KnownWords) -> bool {
        match self {
            SecretCheck::Coded => coded(value),
            SecretCheck::Cookie => value.split(';').any(|pair| cookie(pair, known)),
            SecretCheck::Credential => {
                login(value) || mixed(value) && !dashed_words(value) && !joined_names(value)
            }
            SecretCheck::Login => login(value),
            SecretCheck::Mixed => mixed(value),
            SecretCheck::NotDashedWords => !dashed_words(value),
            SecretCheck::NotFolder => !known.shapes.folder.is_match(value),
            SecretCheck::NotNames => !joined_names(value),
            SecretCheck::NotNumber => !known.shapes.number.is_match(value),
            SecretCheck::NotPlaceholder => !placeholder(value, known),
            SecretCheck::NotTerm => !has_term(value, known),
            SecretCheck::Random => random(value),
            SecretCheck::Varied => varied(value),
        }
    }
}

fn has_term(value: &str, known: &KnownWords) -> bool {
    value
        .split(['-', '/', ','])
        .any(|word| known.words.terms.contains(&*word.to_lowercase()))
}

/// Both letters and digits: not an ordinary word.
pub(super) fn mixed(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// A word that is neither a constant nor a remark.
pub(super) fn lettered(value: &str, known: &KnownWords) -> bool {
    let lower = value.to_lowercase();
    let remark = known.words.stand_ins.contains(&lower) || known.words.labels.contains(&lower);
    !remark && value.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Both letters and digits, but not words and numbers joined by punctuation.
fn coded(value: &str) -> bool {
    let plain = |word: &str| is_word(word) || word.bytes().all(|byte| byte.is_ascii_digit());
    mixed(value) && !joined_names(value) && !value.split(['-', '_', '.', '/']).all(plain)
}

/// At least ten different characters.
fn varied(value: &str) -> bool {
    let mut seen = [false; 128];
    value
        .bytes()
        .for_each(|byte| seen[usize::from(byte & 127)] = true);
    seen.iter().filter(|seen| **seen).count() >= 10
}

/// A name and a value that is neither a word nor a setting.
fn cookie(pair: &str, known: &KnownWords) -> bool {
    let (name, value) = pair.split_once('=').unwrap_or_default();
    let session = || known.shapes.session.is_match(name);
    value.len() >= 12
        && (mixed(value) || session())
        && !joined_names(value)
        && !placeholder(value, known)
}

/// Random characters: at least three of each case and a digit; at least two of five neighbouring
/// pairs differ in class; at most two of five characters are in runs of small letters, which names,
/// words and paths mostly consist of. Hashes, UUIDs and most ids use letters of one case. Ids of
/// known programs begin with a word.
fn random(value: &str) -> bool {
    let bytes = value.as_bytes();
    let class = |byte: &u8| {
        (
            byte.is_ascii_lowercase(),
            byte.is_ascii_uppercase(),
            byte.is_ascii_digit(),
        )
    };
    let runs = || bytes.chunk_by(|one, next| class(one) == class(next));
    let spelled = runs()
        .filter(|run| run.len() > 2 && run[0].is_ascii_lowercase())
        .map(<[u8]>::len)
        .sum::<usize>();
    let drawn = spelled * 5 <= bytes.len() * 2 && (runs().count() - 1) * 5 >= (bytes.len() - 1) * 2;
    let count = |of: fn(&u8) -> bool| bytes.iter().filter(|byte| of(byte)).count();
    let all = count(u8::is_ascii_lowercase) > 2
        && count(u8::is_ascii_uppercase) > 2
        && count(u8::is_ascii_digit) > 0;
    drawn && all && !known_id(value) && !encodes_text(value)
}

/// An id of a known program, a content id, or a public key.
fn known_id(value: &str) -> bool {
    let plain = |word: &str| {
        word.bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let prefixed = value
        .split_once(['_', '-'])
        .is_some_and(|(word, _)| (2..=12).contains(&word.len()) && plain(word));
    // An address with a checksum has hexadecimal digits in both cases.
    let is_hex = value
        .strip_prefix("0x")
        .unwrap_or(value)
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit());
    prefixed || is_hex || value.starts_with("AAAA") || value.starts_with("Qm") && value.len() == 46
}

fn encodes_text(value: &str) -> bool {
    base64::decode(value)
        .is_some_and(|bytes| bytes.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n')))
}

/// Base64 of `user:password`.
fn login(value: &str) -> bool {
    let plain = base64::decode(value).unwrap_or_default();
    plain.contains(&b':') && plain.iter().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Joined names, as programs and stores use them: `config.apiKey2`, `user_id_column_1`,
/// `userInput1`, `ref:vault/path`.
pub(super) fn joined_names(value: &str) -> bool {
    let words = value
        .split(['.', '_', '/', ':'])
        .filter(|word| !word.is_empty());
    let words = words.flat_map(humps).collect::<Vec<_>>();
    let separated = value.contains(['.', '_', '/', ':'])
        || value.starts_with(|first: char| first.is_ascii_lowercase());
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let lettered = words.iter().filter(|word| {
        word.len() > 1 && word.starts_with(|first: char| first.is_ascii_alphabetic())
    });
    separated && digits <= 2 && lettered.count() >= 2 && words.iter().all(|word| is_word(word))
}

/// A path made of names, as in `ref:vault/path` and `/run/secrets/db`.
pub(super) fn path(value: &str) -> bool {
    let bare = value.trim_start_matches(['/', '.', '~']);
    let names = bare
        .split(['/', ':'])
        .filter(|name| !name.is_empty())
        .flat_map(|name| name.split(['-', '_', '.']));
    let words = names.flat_map(humps);
    value.contains('/')
        && bare.len() > 3
        && words
            .into_iter()
            .all(|word| is_word(word) && word.len() < 13)
}

/// A stand-in for a value: a placeholder, a type, an expression, a mask, or one character repeated.
pub(super) fn placeholder(value: &str, known: &KnownWords) -> bool {
    let lower = value.to_lowercase();
    let word = lower.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    let repeated = value.chars().all(|letter| value.starts_with(letter));
    repeated || known.words.stand_ins.contains(word) || known.shapes.placeholder.is_match(value)
}

/// Several words, none of which is usual in labels or sentences.
pub(super) fn passphrase(value: &str, known: &KnownWords) -> bool {
    let plain = |word: &str| known.words.labels.contains(&*word.to_lowercase());
    known.shapes.passphrase.is_match(value) && !value.split(' ').any(plain)
}

/// `sk-e2e-tests-for-checkout-flow-2024`: short words, at least three of them of letters only.
fn dashed_words(value: &str) -> bool {
    let words = value.split(['-', '_']).collect::<Vec<_>>();
    let lettered =
        |word: &&&str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let short = |word: &str| {
        word.len() < 5
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
            || word.len() < 15 && word.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    words.iter().filter(lettered).count() >= 3 && words.iter().all(|word| short(word))
}

/// Letters followed by at most two digits, or digits only.
fn is_word(word: &str) -> bool {
    let letters = word.trim_end_matches(|last: char| last.is_ascii_digit());
    word.len() - letters.len() <= 2
        && letters.len() < 16
        && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// The words of `camelCase`.
pub(super) fn humps(name: &str) -> Vec<&str> {
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
