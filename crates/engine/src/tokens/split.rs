//! Cuts text into the pieces that an encoding merges by itself: what its pattern (OpenAI's
//! tiktoken) matches, in one pass that steps back by at most one piece. The patterns are written
//! out as code because matching them is most of the cost of counting, and their stack is what a
//! million blanks overflows.
//!
//! Absent on purpose: special tokens. Text is data, so `<|endoftext|>` is nine ordinary characters
//! and more.

use crate::tokens::Encoding;
use crate::tokens::classes::{
    BLANK, CASELESS, Classes, LETTER, LOWER, MARK, NEWLINE, NUMBER, OTHER, UPPER,
};

/// The pieces of a text, in order; together they are the text.
pub(super) fn pieces(encoding: Encoding, text: &str) -> impl Iterator<Item = &str> {
    let classes = Classes::shared();
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, tail) = rest.split_at(
            SplitScan {
                encoding,
                text: rest,
                classes,
            }
            .first_piece(),
        );
        rest = tail;
        Some(piece)
    })
}

/// Longest run of digits in one piece.
const DIGITS: usize = 3;

/// Text whose first piece is wanted. Places are in bytes.
struct SplitScan<'t> {
    encoding: Encoding,
    text: &'t str,
    classes: &'static Classes,
}

impl SplitScan<'_> {
    /// Where the first piece ends.
    fn first_piece(&self) -> usize {
        let (class, length) = self.class_at(0);
        if self.encoding == Encoding::Cl100k
            && let Some(end) = self.contraction(0)
        {
            return end;
        }
        if class & NUMBER != 0 {
            return self.digits();
        }
        // A word takes the one character before it along, whatever it is.
        let of_word = match self.encoding {
            Encoding::Cl100k => LETTER | NEWLINE,
            Encoding::O200k => LETTER | NEWLINE | MARK,
        };
        let prefix = if class & of_word == 0 { length } else { 0 };
        self.word(prefix)
            .or_else(|| self.symbols())
            .unwrap_or_else(|| self.blanks())
    }

    /// The end of the word that begins there.
    fn word(&self, start: usize) -> Option<usize> {
        match self.encoding {
            Encoding::Cl100k => Some(self.run(start, LETTER)).filter(|end| *end > start),
            Encoding::O200k => self
                .cased(start)
                .map(|end| self.contraction(end).unwrap_or(end)),
        }
    }

    /// Upper case, then lower case; marks and letters without case are both.
    fn cased(&self, start: usize) -> Option<usize> {
        let either = CASELESS | MARK;
        let upper_end = self.run(start, UPPER | either);
        let lower_end = self.run(upper_end, LOWER | either);
        if lower_end > upper_end {
            return Some(lower_end);
        }
        // The lower-case part needs one letter: the last that is both. Without one all of it is
        // upper case.
        let upper = self.text[start..upper_end].char_indices().rev();
        let mut both = upper.filter(|(_, letter)| self.classes.class(*letter) & either != 0);
        let last = both
            .next()
            .map(|(at, letter)| start + at + letter.len_utf8());
        last.or_else(|| (upper_end > start).then_some(upper_end))
    }

    /// The end of an English contraction that begins there.
    fn contraction(&self, start: usize) -> Option<usize> {
        let rest = self.text[start..].strip_prefix('\'')?;
        let mut letters = rest.chars().map(|letter| letter.to_ascii_lowercase());
        let length = match (letters.next()?, letters.next()) {
            // The old form of `s` is one of its cases.
            ('\u{17f}', _) => '\u{17f}'.len_utf8(),
            ('s' | 't' | 'm' | 'd', _) => 1,
            ('r' | 'v', Some('e')) | ('l', Some('l')) => 2,
            _ => return None,
        };
        Some(start + 1 + length)
    }

    fn digits(&self) -> usize {
        let digits = self
            .text
            .chars()
            .take(DIGITS)
            .take_while(|letter| self.classes.class(*letter) & NUMBER != 0);
        digits.map(char::len_utf8).sum()
    }

    /// Punctuation and symbols after one blank at most, with the line ends behind them.
    fn symbols(&self) -> Option<usize> {
        let start = usize::from(self.text.starts_with(' '));
        let end = self.run(start, OTHER | MARK);
        let is_trailing = |byte: &u8| {
            matches!(byte, b'\r' | b'\n') || (*byte == b'/' && self.encoding == Encoding::O200k)
        };
        let trailing = self.text.as_bytes()[end..]
            .iter()
            .take_while(|byte| is_trailing(byte))
            .count();
        (end > start).then_some(end + trailing)
    }

    /// White space: up to its last line end, else all but the blank that goes with the next word.
    fn blanks(&self) -> usize {
        let end = self.run(0, BLANK | NEWLINE);
        let at_end = end == self.text.len();
        if at_end && self.encoding == Encoding::Cl100k {
            return end;
        }
        let run = &self.text[..end];
        if let Some(last) = run.rfind(['\r', '\n']) {
            return last + 1;
        }
        let last = run.char_indices().next_back().map_or(0, |(at, _)| at);
        if at_end || last == 0 { end } else { last }
    }

    /// Where the run of these classes from there ends.
    fn run(&self, start: usize, accepted: u8) -> usize {
        let bytes = self.text.as_bytes();
        let mut end = start;
        loop {
            while bytes
                .get(end)
                .is_some_and(|byte| self.classes.of_byte(*byte) & accepted != 0)
            {
                end += 1;
            }
            if bytes.get(end).is_none_or(u8::is_ascii) {
                return end;
            }
            let (class, length) = self.class_at(end);
            if class & accepted == 0 {
                return end;
            }
            end += length;
        }
    }

    /// The class and length of the character there; no class at the end.
    fn class_at(&self, at: usize) -> (u8, usize) {
        match self.text.as_bytes().get(at) {
            None => (0, 0),
            Some(byte) if byte.is_ascii() => (self.classes.of_byte(*byte), 1),
            Some(_) => self.text[at..].chars().next().map_or((0, 0), |letter| {
                (self.classes.class(letter), letter.len_utf8())
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(encoding: Encoding, expected: &[&str]) {
        assert_eq!(
            pieces(encoding, &expected.concat()).collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn both_encodings_cut_words_numbers_symbols_and_blanks() {
        for encoding in Encoding::ALL {
            check(
                *encoding,
                &[
                    "It", " is", " ", " (", "very", ")\n\n", "123", "456", "7", " ", " x", " \t\n",
                    " y",
                ],
            );
        }
    }

    #[test]
    fn they_differ_in_contractions_case_slashes_and_marks() {
        check(
            Encoding::Cl100k,
            &[
                "we",
                "'ll",
                " HTTPServer",
                "://\n",
                "/a",
                "\u{301}",
                " b",
                "\n  \n  ",
            ],
        );
        check(
            Encoding::O200k,
            &[
                "we'll",
                " HTTPServer",
                "://\n/",
                "a\u{301}",
                " b",
                "\n  \n",
                "  ",
            ],
        );
        check(
            Encoding::O200k,
            &[
                "\u{5b57}",
                "ABC",
                " B\u{301}",
                "X'\u{17f}",
                "\n",
                "\u{301}",
                "AB",
                " \u{1c5}a",
                "B",
            ],
        );
    }
}
