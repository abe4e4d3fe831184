//! What a character is to the patterns of the encodings, by the Unicode tables that regular
//! expressions use.

use std::sync::LazyLock;

use regex_syntax::hir::{Class, HirKind};

/// Upper-case and title-case letters.
pub(super) const UPPER: u8 = 1;
/// Lower-case letters.
pub(super) const LOWER: u8 = 2;
/// Letters without case, and modifiers.
pub(super) const CASELESS: u8 = 4;
/// Any letter.
pub(super) const LETTER: u8 = UPPER | LOWER | CASELESS;
/// Combining marks.
pub(super) const MARK: u8 = 8;
/// Digits and other numbers.
pub(super) const NUMBER: u8 = 16;
/// Carriage return and line feed.
pub(super) const NEWLINE: u8 = 32;
/// All other white space.
pub(super) const BLANK: u8 = 64;
/// Everything else.
pub(super) const OTHER: u8 = 128;

const CLASSES: [(&str, u8); 7] = [
    (r"[\p{Lu}\p{Lt}]", UPPER),
    (r"\p{Ll}", LOWER),
    (r"[\p{Lm}\p{Lo}]", CASELESS),
    (r"\p{M}", MARK),
    (r"\p{N}", NUMBER),
    (r"\s", BLANK),
    (r"[\r\n]", NEWLINE),
];

/// The class of every character.
pub(super) struct Classes {
    /// By byte; no class where the byte is part of a longer character.
    bytes: [u8; 256],
    /// By code point; 0 is [`OTHER`], so that most of it is never touched.
    all: Vec<u8>,
}

impl Classes {
    /// The one table, made on first use.
    pub(super) fn shared() -> &'static Classes {
        static SHARED: LazyLock<Classes> = LazyLock::new(Classes::new);
        &SHARED
    }

    fn new() -> Self {
        let mut all = vec![0; char::MAX as usize + 1];
        for (pattern, class) in CLASSES {
            for (first, last) in ranges(pattern) {
                all[first as usize..=last as usize].fill(class);
            }
        }
        let mut bytes = [0; 256];
        for (place, class) in bytes.iter_mut().zip(&all[..128]) {
            *place = if *class == 0 { OTHER } else { *class };
        }
        Classes { bytes, all }
    }

    /// The class of an ASCII character; no class for any other byte.
    pub(super) fn of_byte(&self, byte: u8) -> u8 {
        self.bytes[usize::from(byte)]
    }

    pub(super) fn class(&self, letter: char) -> u8 {
        match self.all[letter as usize] {
            0 => OTHER,
            class => class,
        }
    }
}

/// The characters that a class of one of our own patterns holds, as ranges.
fn ranges(pattern: &str) -> Vec<(char, char)> {
    let parsed = regex_syntax::parse(pattern).map(regex_syntax::hir::Hir::into_kind);
    let Ok(HirKind::Class(Class::Unicode(class))) = parsed else {
        return Vec::new();
    };
    class
        .iter()
        .map(|range| (range.start(), range.end()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_is_found() {
        let classes = Classes::shared();
        for (letters, class) in [
            ("A\u{c4}\u{1c5}\u{10400}", UPPER),
            ("a\u{df}\u{10428}", LOWER),
            ("\u{5b57}\u{2b0}\u{5d0}", CASELESS),
            ("\u{301}\u{e0100}", MARK),
            ("7\u{663}\u{bd}", NUMBER),
            ("\r\n", NEWLINE),
            (" \t\u{b}\u{85}\u{2028}\u{3000}", BLANK),
            ("-\0\u{1f680}\u{10ffff}", OTHER),
        ] {
            letters
                .chars()
                .for_each(|letter| assert_eq!(classes.class(letter), class, "{letter:?}"));
        }
    }
}
