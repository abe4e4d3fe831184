//! The formats that an unknown file is nearest to, by the keys that their descriptions name.

use std::fmt::Write as _;

use super::ALL;

/// The number of formats that are named.
const NAMED: usize = 3;
/// The number of bytes that are looked at.
const BEGINNING: usize = 1 << 16;

/// A line for each of the nearest formats: what it expects, and which of its keys the beginning of
/// the file has and lacks.
pub(super) fn nearest(text: &str) -> String {
    let beginning = &text.as_bytes()[..text.len().min(BEGINNING)];
    let beginning = String::from_utf8_lossy(beginning);
    let mut formats = ALL
        .iter()
        .map(|importer| (keys(importer.about), importer))
        .collect::<Vec<_>>();
    let has = |key: &&str| beginning.contains(&format!("\"{key}\""));
    let share = |keys: &[&str]| {
        keys.iter().filter(|key| has(key)).count() as f64 / keys.len().max(1) as f64
    };
    formats.sort_by(|(one, _), (other, _)| share(other).total_cmp(&share(one)));
    let mut lines = String::new();
    for (keys, importer) in formats.into_iter().take(NAMED) {
        let (found, missing): (Vec<_>, Vec<_>) = keys.into_iter().partition(has);
        let _ = write!(lines, "\n  {}: expected {}", importer.name, importer.about);
        for (what, keys) in [("has", found), ("lacks", missing)]
            .into_iter()
            .filter(|(_, keys)| !keys.is_empty())
        {
            let keys = keys
                .iter()
                .map(|key| format!("`{key}`"))
                .collect::<Vec<_>>();
            let _ = write!(lines, "; it {what} {}", keys.join(", "));
        }
    }
    lines
}

/// The keys that a description names between backticks.
fn keys(about: &str) -> Vec<&str> {
    let is_key = |word: &&str| {
        word.chars()
            .all(|letter| letter.is_alphanumeric() || letter == '_')
    };
    about.split('`').skip(1).step_by(2).filter(is_key).collect()
}
