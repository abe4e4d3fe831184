//! Terms of a text, whether they look like exact values, and their stems. Every conversation is
//! processed here, so ASCII text has a fast path by bytes.

use std::borrow::Cow;
use std::hash::BuildHasher;

use foldhash::fast::FixedState;

/// The number of a stem, so that stems are compared as integers. Two stems share a number with a
/// probability of 2^-64.
pub(crate) fn number(stem: &str) -> u64 {
    FixedState::default().hash_one(stem)
}

/// A word, number, path or identifier, without the punctuation around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadTerm<'t> {
    /// The term as written.
    pub(crate) text: &'t str,
    /// Its start in the text, in bytes.
    pub(crate) start: usize,
    pub(crate) is_value: bool,
}

impl<'t> ReadTerm<'t> {
    fn new(text: &'t str, start: usize) -> Self {
        ReadTerm {
            text,
            start,
            is_value: is_value(text),
        }
    }

    /// Whether it looks like an exact value: a number, a path, an identifier.
    pub(crate) fn is_value(&self) -> bool {
        self.is_value
    }

    /// Whether it looks like a file or a web address.
    pub(crate) fn is_path(&self) -> bool {
        let has_letters = self.text.chars().any(char::is_alphabetic);
        has_letters
            && (self.text.contains(['/', '\\']) || has_extension(self.text))
            && !self.text.contains('@')
    }
}

/// Whether the last name of a path has an extension of a file.
pub(crate) fn has_extension(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let has_letters = |text: &str| text.bytes().any(|byte| byte.is_ascii_alphabetic());
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && (1..=5).contains(&extension.len())
            && has_letters(stem)
            && has_letters(extension)
    })
}

fn is_value(text: &str) -> bool {
    if text.is_ascii() {
        is_ascii_value(text.as_bytes())
    } else {
        is_value_in_any_script(text)
    }
}

fn is_value_in_any_script(text: &str) -> bool {
    let inner_dot = || {
        text.split('.')
            .filter(|piece| piece.chars().any(char::is_alphanumeric))
            .count()
            > 1
    };
    text.chars()
        .any(|letter| letter.is_numeric() || MARKS.contains(&letter))
        || inner_dot()
        || is_camel(text)
}

/// Punctuation that plain words do not contain.
const MARKS: [char; 5] = ['_', '@', '\\', '/', '#'];

fn is_ascii_value(text: &[u8]) -> bool {
    let (mut pieces, mut in_piece, mut after_small) = (0, false, false);
    text.iter().any(|byte| {
        let is_camel = after_small && byte.is_ascii_uppercase();
        after_small = byte.is_ascii_lowercase();
        if *byte == b'.' {
            in_piece = false;
        } else if !in_piece && byte.is_ascii_alphabetic() {
            in_piece = true;
            pieces += 1;
        }
        is_camel || byte.is_ascii_digit() || MARKS.contains(&char::from(*byte)) || pieces > 1
    })
}

fn is_camel(text: &str) -> bool {
    let mut letters = text.chars().zip(text.chars().skip(1));
    letters.any(|(left, right)| left.is_lowercase() && right.is_uppercase())
}

/// The terms of a text, in order. Each ideograph is a separate term, because no blanks separate
/// them.
pub(crate) fn terms(text: &str) -> Vec<ReadTerm<'_>> {
    // A word and its blank take about six bytes.
    let mut terms = Vec::with_capacity(text.len() / 6 + 1);
    if text.is_ascii() {
        add_ascii_terms(text, &mut terms)
    } else {
        add_terms_in_any_script(text, &mut terms)
    }
    terms
}

fn add_ascii_terms<'t>(text: &'t str, terms: &mut Vec<ReadTerm<'t>>) {
    let class = |at: usize| CLASSES[usize::from(text.as_bytes()[at])];
    let mut at = 0;
    while at < text.len() {
        if class(at) & JOINS == 0 {
            at += 1;
            continue;
        }
        let (mut start, mut all) = (at, 0);
        while at < text.len() && class(at) & JOINS != 0 {
            all |= class(at);
            at += 1;
        }
        let mut end = at;
        if class(start) & OPENS == 0 || class(end - 1) & CLOSES == 0 {
            start = (start..end)
                .find(|at| class(*at) & OPENS != 0)
                .unwrap_or(end);
            end = (start..end)
                .rfind(|at| class(*at) & CLOSES != 0)
                .map_or(start, |last| last + 1);
            all = (start..end).fold(0, |all, at| all | class(at));
        }
        if all & SAYS != 0 {
            let text = &text[start..end];
            let is_value =
                all & EXACT != 0 || (all & MAY_BE_EXACT != 0 && is_ascii_value(text.as_bytes()));
            terms.push(ReadTerm {
                text,
                start,
                is_value,
            });
        }
    }
}

/// Classes of ASCII bytes: may occur in a term, may begin one, may end one, is a letter or digit,
/// makes an exact value, makes one together with others.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let letter = byte as u8;
        classes[byte] = match letter {
            b'0'..=b'9' => JOINS | OPENS | CLOSES | SAYS | EXACT,
            b'a'..=b'z' => JOINS | OPENS | CLOSES | SAYS,
            b'A'..=b'Z' => JOINS | OPENS | CLOSES | SAYS | MAY_BE_EXACT,
            b'/' => JOINS | OPENS | CLOSES | EXACT,
            b'#' | b'@' => JOINS | OPENS | EXACT,
            b'$' | b'~' => JOINS | OPENS,
            b'.' => JOINS | OPENS | MAY_BE_EXACT,
            b'%' | b'+' => JOINS | CLOSES,
            b'_' | b'\\' => JOINS | EXACT,
            b'-' | b':' | b'\'' => JOINS,
            _ => 0,
        };
        byte += 1;
    }
    classes
};
const JOINS: u8 = 1;
const OPENS: u8 = 2;
const CLOSES: u8 = 4;
const SAYS: u8 = 8;
const EXACT: u8 = 16;
const MAY_BE_EXACT: u8 = 32;

fn add_terms_in_any_script<'t>(text: &'t str, terms: &mut Vec<ReadTerm<'t>>) {
    let mut open: Option<usize> = None;
    for (at, letter) in text.char_indices() {
        let joins = letter.is_alphanumeric()
            || matches!(
                letter,
                '_' | '-' | '.' | '/' | '\\' | ':' | '@' | '#' | '%' | '$' | '+' | '~' | '\''
            );
        if (!joins || is_ideograph(letter))
            && let Some(start) = open.take()
        {
            terms.extend(trimmed(text, start, at));
        }
        if is_ideograph(letter) {
            terms.push(ReadTerm::new(&text[at..at + letter.len_utf8()], at));
        } else if joins && open.is_none() {
            open = Some(at);
        }
    }
    terms.extend(open.and_then(|start| trimmed(text, start, text.len())));
}

/// Scripts from U+2E80 on have no blanks between words.
fn is_ideograph(letter: char) -> bool {
    letter >= '\u{2E80}' && letter.is_alphanumeric()
}

fn trimmed(text: &str, start: usize, end: usize) -> Option<ReadTerm<'_>> {
    let whole = &text[start..end];
    let left = whole.trim_start_matches(|letter: char| {
        !letter.is_alphanumeric() && !matches!(letter, '/' | '#' | '$' | '~' | '.' | '@')
    });
    let inside = left.trim_end_matches(|letter: char| {
        !letter.is_alphanumeric() && !matches!(letter, '%' | '/' | '+')
    });
    let skipped = whole.len() - left.len();
    inside
        .chars()
        .any(char::is_alphanumeric)
        .then(|| ReadTerm::new(inside, start + skipped))
}

/// The stem of a lowercase word: common English endings are removed, exact values are unchanged.
pub(crate) fn stem(word: &str) -> Cow<'_, str> {
    // The common case.
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(without_ending(word));
    }
    let is_small = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    if word.bytes().fold(true, |all, byte| all & is_small(byte)) {
        return Cow::Borrowed(stem_of_lowercase(word));
    }
    let mut stem = if word.is_ascii() {
        word.to_ascii_lowercase()
    } else {
        word.to_lowercase()
    };
    stem.truncate(stem_of_lowercase(&stem).len());
    Cow::Owned(stem)
}

fn stem_of_lowercase(word: &str) -> &str {
    let is_word =
        word.bytes().all(|byte| byte.is_ascii_lowercase()) || word.chars().all(char::is_alphabetic);
    if is_word { without_ending(word) } else { word }
}

fn without_ending(word: &str) -> &str {
    let ending = match word.as_bytes() {
        [.., b'i', b'n', b'g'] if word.len() >= 6 => 3,
        [.., b'e', b'd'] if word.len() >= 5 => 2,
        [.., b's', b's'] => 0,
        [.., b'e', b's'] if word.len() >= 5 => 2,
        [.., b's'] if word.len() >= 4 => 1,
        _ => 0,
    };
    let stem = &word[..word.len() - ending];
    stem.strip_suffix('e')
        .filter(|_| stem.len() > 3)
        .unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_distinguished_from_words() {
        let values = |text| {
            terms(text)
                .into_iter()
                .filter(ReadTerm::is_value)
                .map(|term| term.text)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            values(
                "Use port 8042, (see /etc/app.conf), `user_id` or maxRetries; e-mail ops@x.io. Done."
            ),
            ["8042", "/etc/app.conf", "user_id", "maxRetries", "ops@x.io"]
        );
        assert!(values("Plain words, nothing exact... Well-known too!").is_empty());
    }

    #[test]
    fn ideographs_are_terms_of_their_own() {
        let texts = terms("使用 db7。é")
            .into_iter()
            .map(|term| term.text)
            .collect::<Vec<_>>();
        assert_eq!(texts, ["使", "用", "db7", "é"]);
    }

    #[test]
    fn stems_are_equal() {
        assert_eq!(stem("decided"), stem("decide"));
        assert_eq!(stem("files"), stem("file"));
        assert_eq!(stem("INV-77s"), "inv-77s");
    }

    proptest! {
        #[test]
        fn ascii_is_read_by_its_bytes_as_by_its_letters(word in "[a-zA-Z0-9_@#/.'-]{0,8}") {
            prop_assert_eq!(is_ascii_value(word.as_bytes()), is_value_in_any_script(&word), "{}", word);
            let small = word.to_lowercase();
            prop_assert_eq!(stem(&word), stem(&small), "{}", word);
        }

        #[test]
        fn a_text_in_ascii_has_the_terms_that_it_has_in_any_script(text in "[a-zA-Z0-9_@#/.'%$+~:\\\\ ,;(){}\"-]{0,60}") {
            let (mut read, mut in_any_script) = (Vec::new(), Vec::new());
            add_ascii_terms(&text, &mut read);
            add_terms_in_any_script(&text, &mut in_any_script);
            prop_assert_eq!(read, in_any_script, "{}", text);
        }

        #[test]
        fn a_stem_is_the_word_without_its_first_fitting_ending(word in "[a-ce]{0,4}(ing|ed|es|s|ss|e|ees|)") {
            let endings = [("ing", 6), ("ed", 5), ("es", 5), ("s", 4)];
            let ending = endings.iter().find(|(ending, least)| word.len() >= *least && word.ends_with(ending));
            let cut = ending.filter(|_| !word.ends_with("ss")).map_or(0, |(ending, _)| ending.len());
            let rest = &word[..word.len() - cut];
            let expected = if rest.len() > 3 { rest.strip_suffix('e').unwrap_or(rest) } else { rest };
            prop_assert_eq!(stem(&word), expected);
        }
    }
}
