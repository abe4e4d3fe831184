//! Terms of a text, whether they look like exact values, and their stems.

use std::borrow::Cow;

/// A word, number, path or identifier, without the punctuation around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term<'t> {
    /// The term as written.
    pub(crate) text: &'t str,
    /// Its start in the text, in bytes.
    pub(crate) start: usize,
    pub(crate) is_value: bool,
}

impl<'t> Term<'t> {
    /// The term between two positions, without the punctuation around it, if it says anything. `all` are the roles of its
    /// characters together.
    fn between(text: &'t str, start: usize, end: usize, all: u8) -> Option<Self> {
        let inside = text[start..end].trim_end_matches(|letter| roles(letter) & CLOSES == 0);
        let trimmed = inside.trim_start_matches(|letter| roles(letter) & OPENS == 0);
        let is_whole = trimmed.len() == end - start;
        let all = if is_whole { all } else { trimmed.chars().fold(0, |all, letter| all | roles(letter)) };
        let is_value = all & EXACT != 0 || (all & MAY_BE_EXACT != 0 && (is_dotted(trimmed) || is_camel(trimmed)));
        (all & SAYS != 0).then(|| Term { text: trimmed, start: start + inside.len() - trimmed.len(), is_value })
    }

    /// Whether it looks like an exact value: a number, a path, an identifier.
    pub(crate) fn is_value(&self) -> bool {
        self.is_value
    }

    /// Whether it looks like a file or a web address.
    pub(crate) fn is_path(&self) -> bool {
        let name = self.text.rsplit(['/', '\\']).next().unwrap_or_default();
        let extension = name.rsplit_once('.').map(|(stem, extension)| (stem, extension.len()));
        let has_letters = self.text.chars().any(char::is_alphabetic);
        let named = extension.is_some_and(|(stem, length)| !stem.is_empty() && (1..=5).contains(&length));
        has_letters && (self.text.contains(['/', '\\']) || named) && !self.text.contains('@')
    }
}

fn is_dotted(text: &str) -> bool {
    text.split('.').filter(|piece| piece.contains(char::is_alphanumeric)).count() > 1
}

fn is_camel(text: &str) -> bool {
    let mut letters = text.chars().zip(text.chars().skip(1));
    letters.any(|(left, right)| left.is_lowercase() && right.is_uppercase())
}

/// The terms of a text, in order. Each ideograph is a separate term, because no blanks separate them.
pub(crate) fn terms(text: &str) -> Vec<Term<'_>> {
    // A word and its blank take about six bytes.
    let mut terms = Vec::with_capacity(text.len() / 6 + 1);
    let mut open = None;
    let mut all = 0;
    for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        let own = roles(letter);
        // Scripts from U+2E80 on have no blanks between words.
        let is_ideograph = letter >= '\u{2E80}' && own != 0;
        if own != 0 && !is_ideograph {
            open.get_or_insert(at);
            all |= own;
            continue;
        }
        if let Some(start) = open.take() {
            terms.extend(Term::between(text, start, at, std::mem::take(&mut all)));
        }
        if is_ideograph {
            terms.extend(Term::between(text, at, at + letter.len_utf8(), own));
        }
    }
    terms
}

fn roles(letter: char) -> u8 {
    match u8::try_from(letter) {
        Ok(byte @ 0..128) => ASCII_ROLES[usize::from(byte)],
        _ if letter.is_numeric() => JOINS | OPENS | CLOSES | SAYS | EXACT,
        _ if letter.is_alphabetic() => JOINS | OPENS | CLOSES | SAYS | MAY_BE_EXACT,
        _ => 0,
    }
}

/// The roles of a character in a term: it may occur in one, begin one, end one, is a letter or digit, makes an exact value, makes
/// one together with others. Other characters separate terms.
const ASCII_ROLES: [u8; 128] = {
    let mut roles = [0; 128];
    let mut byte = 0;
    while byte < 128 {
        roles[byte as usize] = match byte {
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
    roles
};
const JOINS: u8 = 1;
const OPENS: u8 = 2;
const CLOSES: u8 = 4;
const SAYS: u8 = 8;
const EXACT: u8 = 16;
const MAY_BE_EXACT: u8 = 32;

/// The stem of a word in lower case: common English endings are removed, exact values are unchanged.
pub(crate) fn stem(word: &str) -> Cow<'_, str> {
    if word.bytes().fold(true, |all, byte| all & byte.is_ascii() & !byte.is_ascii_uppercase()) {
        return Cow::Borrowed(without_ending(word));
    }
    let mut stem = word.to_lowercase();
    stem.truncate(without_ending(&stem).len());
    Cow::Owned(stem)
}

fn without_ending(word: &str) -> &str {
    let is_word = word.bytes().all(|byte| byte.is_ascii_lowercase()) || word.chars().all(char::is_alphabetic);
    let ending = match word.as_bytes() {
        _ if !is_word => return word,
        [.., b'i', b'n', b'g'] if word.len() >= 6 => 3,
        [.., b'e', b'd'] if word.len() >= 5 => 2,
        [.., b's', b's'] => 0,
        [.., b'e', b's'] if word.len() >= 5 => 2,
        [.., b's'] if word.len() >= 4 => 1,
        _ => 0,
    };
    let stem = &word[..word.len() - ending];
    stem.strip_suffix('e').filter(|_| stem.len() > 3).unwrap_or(stem)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_are_distinguished_from_words() {
        let values = |text| terms(text).into_iter().filter(Term::is_value).map(|term| term.text).collect::<Vec<_>>();
        assert_eq!(
            values("Use port 8042, (see /etc/app.conf), `user_id` or maxRetries; e-mail ops@x.io. Done."),
            ["8042", "/etc/app.conf", "user_id", "maxRetries", "ops@x.io"]
        );
        assert!(values("Plain words, nothing exact... Well-known too!").is_empty());
    }

    #[test]
    fn ideographs_are_terms_of_their_own() {
        let texts = terms("使用 db7。é").into_iter().map(|term| term.text).collect::<Vec<_>>();
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
        fn a_stem_ignores_case(word in "[a-zA-Z0-9_@#/.'-]{0,8}") {
            let small = word.to_lowercase();
            prop_assert_eq!(stem(&word), stem(&small), "{}", word);
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
