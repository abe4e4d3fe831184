//! What is a path, and what only looks like one: words that prose joins by slashes, paths of
//! Windows, and arguments that name one file with blanks in its name.

use super::{LENGTHS, kind, trim};
use crate::matcher::ValueKind;

/// Folders whose names are hardly ever words of a list. A path without a root, without an ending
/// and without one of them in front of its last name is a list of words, such as `read/write/run`.
const FOLDERS: &[&str] = &[
    "apps",
    "assets",
    "cmd",
    "components",
    "controllers",
    "crates",
    "data",
    "dist",
    "docs",
    "etc",
    "examples",
    "fixtures",
    "handlers",
    "home",
    "include",
    "internal",
    "lib",
    "libs",
    "migrations",
    "modules",
    "node_modules",
    "opt",
    "packages",
    "pages",
    "pkg",
    "public",
    "scripts",
    "src",
    "templates",
    "tests",
    "tmp",
    "usr",
    "utils",
    "var",
    "vendor",
];

/// The most digits behind the letters of a word, as in `arm64`.
const DIGITS_OF_WORD: usize = 2;

/// Whether a text is a list of words that slashes join, such as `MEMBER/OWNER` or `P0/P1/P2`.
pub(super) fn is_list_of_words(text: &str) -> bool {
    let mut words = text.split('/').rev();
    let Some(last) = words.next().filter(|last| last.len() < text.len()) else {
        return false;
    };
    is_word(last) && words.all(|word| is_word(word) && !FOLDERS.contains(&word))
}

/// Whether a text is letters with at most two digits behind them, or several such words joined by
/// `-`.
fn is_word(text: &str) -> bool {
    text.split('-').all(|word| {
        let letters = word.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let digits = word.len() - letters.len();
        !letters.is_empty() && letters.chars().all(char::is_alphabetic) && digits <= DIGITS_OF_WORD
    })
}

/// Whether a text is the beginning of a path of Windows, such as `C:` or `C:\Users`.
pub(super) fn is_on_drive(text: &str) -> bool {
    let mut names = text.split('\\');
    let drive = names.next().unwrap_or_default().as_bytes();
    matches!(drive, [letter, b':'] if letter.is_ascii_alphabetic())
        && names.all(|name| !name.is_empty())
}

/// The path that an argument names, with all that the names of its folders have. An argument with
/// several lines, several files or a pattern names none.
pub(super) fn of_argument(name: &str, text: &str) -> Option<String> {
    let path = text.trim();
    let has_folder = path.contains(['/', '\\']);
    let is_one = LENGTHS.contains(&path.chars().count())
        && !path.contains(|letter: char| letter.is_control() || "*<>|\"`".contains(letter));
    let has_name = trim(path)
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .count()
        > 1;
    (is_path_name(name)
        && is_one
        && has_name
        && !are_several(path)
        && (has_folder || kind(path, false) == ValueKind::Path))
        .then(|| path.trim_end_matches(['/', '\\']).to_owned())
}

/// Whether a text names several files: each of its words has an ending, or commas separate them.
fn are_several(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let is_file = |word: &str| kind(word, false) == ValueKind::Path && word.contains('.');
    text.contains(", ") || (words.clone().nth(1).is_some() && words.all(is_file))
}

/// Arguments that name one file or folder, in small letters and without separators.
const NAMES: &[&str] = &[
    "cwd",
    "dir",
    "directory",
    "file",
    "filename",
    "filepaths",
    "files",
    "folder",
    "paths",
    "targetfile",
    "workdir",
];

fn is_path_name(name: &str) -> bool {
    let plain = name.chars().filter(char::is_ascii_alphanumeric);
    let plain = plain.collect::<String>().to_ascii_lowercase();
    plain.ends_with("path") || NAMES.contains(&plain.as_str())
}
