//! The normal form in which text and values are compared. It is idempotent.
//!
//! JSON string escapes are resolved. Compatibility forms (full width, ligatures, composed and
//! decomposed letters) are unified. Letters beyond ASCII become lower case. Typographic hyphens and
//! quotes become plain ones, consecutive blanks become one, and characters without width are
//! removed. An em dash remains, because it separates words. A backslash that escapes nothing
//! becomes a slash.
//!
//! Absent on purpose: lower case for ASCII letters, since the index ignores their case.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// The normal form of a text, borrowed if the text already has it.
pub(crate) fn normal(text: &str) -> Cow<'_, str> {
    if is_normal(text.as_bytes()) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(rewritten(&without_escapes(text)))
    }
}

/// Examines all bytes without stopping at the first that is not plain: most texts are plain, and
/// the loops need no branches.
fn is_normal(bytes: &[u8]) -> bool {
    let is_blank = |byte: u8| byte == b' ' || byte == b'\n';
    let is_plain = |byte: u8| is_blank(byte) | (byte.is_ascii_graphic() & (byte != b'\\'));
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    bytes.iter().fold(true, |all, byte| all & is_plain(*byte))
        && pairs.fold(true, |all, (left, right)| {
            all & !(is_blank(*left) & is_blank(*right))
        })
}

/// Copies plain runs as they are and rewrites the rest character by character.
fn rewritten(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let plain = plain_length(rest.as_bytes());
        // An ASCII letter before a character beyond ASCII may be the base of an accent.
        let ends_in_mark = rest[plain..]
            .chars()
            .next()
            .is_some_and(|next| !next.is_ascii());
        let (copied, special) = rest.split_at(plain - usize::from(ends_in_mark && plain > 0));
        out.push_str(copied);
        let base = usize::from(ends_in_mark && plain > 0);
        let length = special[base..]
            .find(|letter: char| letter.is_ascii_graphic())
            .unwrap_or(special.len() - base);
        let (special, tail) = special.split_at(base + length);
        push_folded(&mut out, special, tail);
        rest = tail;
    }
    out
}

/// The number of bytes of graphic ASCII with single blanks between at the start of a text. Eight
/// bytes are examined at once.
fn plain_length(text: &[u8]) -> usize {
    // Whether the previous byte was graphic. A leading blank does not count.
    let (mut length, mut after_graphic) = (0, false);
    while let Some(eight) = text[length..].first_chunk::<8>() {
        let (graphic, blank) = graphic_and_blank(u64::from_le_bytes(*eight));
        let before = graphic << 8 | (u64::from(after_graphic) << 7);
        let others = !(graphic | (blank & before)) & HIGHEST;
        if others != 0 {
            length += others.trailing_zeros() as usize / 8;
            break;
        }
        after_graphic = graphic >> 63 == 1;
        length += 8;
    }
    let is_plain = |at: &usize| {
        let is_blank =
            matches!(text[*at], b' ' | b'\n') && *at > 0 && text[*at - 1].is_ascii_graphic();
        text[*at].is_ascii_graphic() || is_blank
    };
    length += (length..text.len()).take_while(is_plain).count();
    // A trailing blank does not count.
    length - usize::from(length > 0 && !text[length - 1].is_ascii_graphic())
}

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGHEST: u64 = ONES << 7;

/// For eight bytes: the highest bit of each byte of graphic ASCII, and of each blank or line feed.
fn graphic_and_blank(bytes: u64) -> (u64, u64) {
    let rest = bytes & !HIGHEST;
    let ascii = !bytes & HIGHEST;
    let at_least = |first: u8| rest + ONES * u64::from(0x80 - first);
    let equals = |byte: u8| !((rest ^ (ONES * u64::from(byte))) + ONES * 0x7f);
    let graphic = at_least(b'!') & !at_least(0x7f) & ascii;
    (graphic, (equals(b' ') | equals(b'\n')) & ascii)
}

/// Appends blanks and letters beyond ASCII, with the ASCII letter that may carry an accent. `tail`
/// is the following text.
fn push_folded(out: &mut String, special: &str, tail: &str) {
    if special.is_empty() {
        return;
    }
    if special.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return push_blank(out, special.contains('\n'));
    }
    if is_separator_of_thousands(out, special, tail) {
        let digit = special.chars().next().filter(char::is_ascii_digit);
        out.extend(digit);
        return out.push(',');
    }
    let folded = special
        .chars()
        .filter(|letter| has_width(*letter))
        .nfkc()
        .flat_map(small)
        .nfkc();
    for letter in folded {
        match plain(letter) {
            blank if blank.is_whitespace() || blank.is_control() => {
                push_blank(out, is_line_end(blank))
            }
            letter if has_width(letter) => out.push(letter),
            _ => {}
        }
    }
}

/// ASCII letters keep their case, because they may have been copied as they were.
fn small(letter: char) -> impl Iterator<Item = char> {
    let kept = letter.is_ascii().then_some(letter);
    kept.into_iter()
        .chain(letter.to_lowercase().filter(move |_| kept.is_none()))
}

fn push_blank(out: &mut String, ends_line: bool) {
    if out.ends_with([' ', '\n']) {
        if !ends_line {
            return;
        }
        out.pop();
    }
    out.push(if ends_line { '\n' } else { ' ' });
}

fn is_line_end(letter: char) -> bool {
    matches!(letter, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// `4 500` with a narrow or non-breaking space is one number.
fn is_separator_of_thousands(out: &str, special: &str, tail: &str) -> bool {
    let blank = special.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits_before =
        out.bytes().rev().take_while(u8::is_ascii_digit).count() + special.len() - blank.len();
    let digits_after = tail.bytes().take_while(u8::is_ascii_digit).count();
    matches!(blank, "\u{a0}" | "\u{2009}" | "\u{202f}")
        && (1..=3).contains(&digits_before)
        && digits_after == 3
}

fn plain(letter: char) -> char {
    match letter {
        '\u{2010}'..='\u{2013}' | '\u{2212}' => '-',
        '‘' | '’' | '‚' | '‛' | '′' | 'ʼ' => '\'',
        '“' | '”' | '„' | '‟' | '«' | '»' => '"',
        '\\' => '/',
        'ς' => 'σ',
        other => other,
    }
}

/// Soft hyphens, joiners, direction marks and similar characters are invisible.
fn has_width(letter: char) -> bool {
    !matches!(
        letter,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
    )
}

/// Resolves `\n`, `\"`, `\/`, `\u00e9` and similar escapes, including repeated ones. A backslash
/// before a letter that it cannot escape separates folders and becomes a slash.
fn without_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let after = rest[at..].trim_start_matches('\\');
        let count = rest.len() - at - after.len();
        let (letter, used) = escaped(after, count % 2 == 1);
        out.extend(letter);
        rest = &after[used..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character that a run of backslashes and the following text denote, and the number of bytes
/// of that text used.
fn escaped(after: &str, is_odd: bool) -> (Option<char>, usize) {
    match after.chars().next() {
        Some('n' | 'r') if is_odd => (Some('\n'), 1),
        Some('t' | 'b' | 'f') if is_odd => (Some(' '), 1),
        Some('u') => code_unit(after).map_or((Some('/'), 0), |(letter, used)| (Some(letter), used)),
        Some(letter) if letter.is_ascii_punctuation() => (None, 0),
        _ => (Some('/'), 0),
    }
}

/// `uXXXX`, or a surrogate pair with the backslashes between.
fn code_unit(after: &str) -> Option<(char, usize)> {
    let first = hexadecimal(after)?;
    let second = || {
        let rest = after[5..].trim_start_matches('\\');
        let used = after.len() - rest.len() + 5;
        (used > 10).then_some(())?;
        Some((hexadecimal(rest)?, used))
    };
    let (letter, used) = match (char::from_u32(u32::from(first)), second()) {
        (Some(letter), _) => (letter, 5),
        (None, Some((low, used))) => (char::decode_utf16([first, low]).next()?.ok()?, used),
        (None, None) => return None,
    };
    Some((if letter == '\\' { '/' } else { letter }, used))
}

fn hexadecimal(after: &str) -> Option<u16> {
    let digits = after.strip_prefix('u')?.get(..4)?;
    digits
        .bytes()
        .all(|digit| digit.is_ascii_hexdigit())
        .then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn texts_become_plain() {
        for (text, expected) in [
            (
                "plain text, as it stands\n- x",
                "plain text, as it stands\n- x",
            ),
            ("two  blanks\tand\r\n\r\na line", "two blanks and\na line"),
            ("Cafe\u{301} \u{ff32}\u{ff25}\u{ff24}", "Café RED"),
            ("caf\\u00e9 \\\"quoted\\\" a\\/b", "café \"quoted\" a/b"),
            ("line\\nnext\\ttab", "line\nnext tab"),
            ("\\ud83d\\ude00 and \\\\ud83d\\\\ude00", "😀 and 😀"),
            (
                "C:\\\\Users\\\\ann and C:\\Users\\ann",
                "C:/Users/ann and C:/Users/ann",
            ),
            ("snake\\_case", "snake_case"),
            ("QRM\u{2011}48213 – don’t “x”", "QRM-48213 - don't \"x\""),
            ("a—b", "a—b"),
            ("in\u{200b}visi\u{ad}ble", "invisible"),
            ("4\u{202f}500\u{a0}ms", "4,500 ms"),
            ("in 2024\u{a0}500 rows", "in 2024 500 rows"),
            ("\\ud83d alone, \\", "/ud83d alone, /"),
        ] {
            assert_eq!(normal(text), expected, "{text}");
            assert_eq!(normal(expected), expected, "{text}");
        }
    }

    #[test]
    fn one_pass_normalizes_every_letter() {
        for letter in '\0'..=char::MAX {
            let once = normal(&format!("a{letter}b")).into_owned();
            assert_eq!(normal(&once), once, "{letter:?}");
        }
    }

    proptest! {
        #[test]
        fn a_plain_run_ends_at_a_byte_that_is_neither_graphic_nor_a_single_blank(text in "([!-~]{0,9}( |\n|  |\t|é|\u{7f})?){0,6}") {
            let bytes = text.as_bytes();
            let is_graphic = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_graphic);
            let is_between = |at: usize| matches!(bytes[at], b' ' | b'\n') && at > 0 && is_graphic(at - 1) && is_graphic(at + 1);
            let expected = (0..bytes.len()).take_while(|at| is_graphic(*at) || is_between(*at)).count();
            prop_assert_eq!(plain_length(bytes), expected, "{:?}", text);
        }

        #[test]
        fn twice_is_once(text in "(\\PC|[\\\\\"u0-9a-fn\\s]|\u{301}|\u{a0}|\u{202f}|\u{1112}|\u{1161}|\u{200b}){0,40}") {
            let once = normal(&text).into_owned();
            prop_assert_eq!(normal(&once), once.as_str());
        }
    }
}
