//! Other lengths of the same hash: a version control system takes its first seven letters, or more,
//! for the whole.

use std::collections::HashMap;

/// Fewest letters of a hash.
const LETTERS: usize = 7;

/// Hashes by their first letters, each with its item.
#[derive(Default)]
pub(super) struct Hashes(HashMap<String, Vec<(String, usize)>>);

impl Hashes {
    pub(super) fn new<'v>(values: impl Iterator<Item = (&'v str, usize)>) -> Self {
        let mut by_start = HashMap::<String, Vec<(String, usize)>>::new();
        for (value, item) in values.filter(|(value, _)| is_hash(value)) {
            let found = by_start.entry(value[..LETTERS].to_owned()).or_default();
            found.push((value.to_owned(), item));
        }
        Hashes(by_start)
    }

    /// The items of hashes that a text has longer or shorter.
    pub(super) fn found_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        let words = words.filter(|word| !self.0.is_empty() && is_hash(word));
        words.flat_map(move |word| {
            let alike = self.0.get(&word[..LETTERS]).into_iter().flatten();
            let is_same = move |value: &str| {
                value != word && (value.starts_with(word) || word.starts_with(value))
            };
            alike
                .filter(move |(value, _)| is_same(value))
                .map(|(_, item)| *item)
        })
    }
}

/// Whether a word can be a hash: hexadecimal, of letters and digits.
pub(super) fn is_hash(word: &str) -> bool {
    let is_hex = |letter: u8| letter.is_ascii_digit() || (b'a'..=b'f').contains(&letter);
    (LETTERS..=64).contains(&word.len())
        && word.bytes().all(is_hex)
        && word.bytes().any(|letter| letter.is_ascii_digit())
        && word.bytes().any(|letter| letter.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_found_by_its_first_letters_and_as_a_whole() {
        let whole = "7f3a91c04be21d6a8e55f0c9b1a2d3e4f5a6b7c8";
        let hashes = Hashes::new(
            ["7f3a91c", whole, "deadbee", "1234567"]
                .into_iter()
                .zip(0..),
        );
        let found = |text: &str| hashes.found_in(text).collect::<Vec<_>>();
        assert_eq!(found(&format!("commit {whole}.")), [0]);
        assert_eq!(found("see 7f3a91c"), [1]);
        assert_eq!(found("(7f3a91c04b)"), [0, 1]);
        for other in ["7f3a91", "7f3a91d", "x7f3a91c0", "deadbeef", "12345678"] {
            assert!(found(other).is_empty(), "{other}");
        }
    }
}
