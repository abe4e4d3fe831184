//! Exact values: identifiers, numbers and paths that a reader must have letter for letter.
//!
//! A value has no blanks and 4 to 200 characters, at least two of which are ASCII letters or
//! digits. It contains a digit, or a separator that prose does not use: `_`, `@`, a single `#`, a
//! dot or colon between letters, or a path's slashes. Words joined by `-` or by `/` are not values,
//! unless a folder's name or an ending shows that they are a path. A number needs four significant
//! digits. Dates and times are ids, because thousands separators have no meaning in them.
//!
//! Names that any project may use are not values inside a text: keys of objects and calls of
//! members, by the characters around them, and common names, by their form. An argument that is
//! such a name, or such words with slashes, as a whole is still a value. An argument that names one
//! file is a value as it is, with blanks and brackets.

mod common;
mod paths;

use std::ops::Range;

use crate::matcher::ValueKind;
use crate::script::is_spaceless;

/// An exact value as it occurs in text. Numbers have no thousands separators.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exact {
    /// The value.
    pub value: String,
    /// An id, a number or a path.
    pub kind: ValueKind,
}

/// The fewest and the most characters of a value.
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=200;
/// The fewest significant digits of a number.
const DIGITS: usize = 4;

/// The exact values of an argument with that name: the whole text if it is one, otherwise those
/// inside.
pub fn of_argument(name: &str, text: &str) -> Vec<Exact> {
    let path = || {
        Some(Exact {
            value: paths::of_argument(name, text)?,
            kind: ValueKind::Path,
        })
    };
    match exact(trim(text.trim())).or_else(path) {
        Some(whole) => vec![whole],
        None => within(text).collect(),
    }
}

/// The exact values inside a text, in order. A value may occur more than once.
pub fn within(text: &str) -> impl Iterator<Item = Exact> {
    candidates(text).filter_map(exact)
}

/// Where the exact values inside a text are, in order.
pub(crate) fn places(text: &str) -> impl Iterator<Item = Range<usize>> {
    located(text, candidates(text))
}

/// Where a text has the form of an exact value, in order: the places of [`within`], and those of
/// keys and called members.
pub fn forms(text: &str) -> impl Iterator<Item = Range<usize>> {
    let formed = pieces_of(text).map(|(word, piece)| trim(&word[piece]));
    located(text, formed.filter(|value| !common::is_common(value)))
}

/// The place of the only exact value of an argument that is one as a whole.
pub fn whole(text: &str) -> Option<Range<usize>> {
    let inner = trim(text.trim());
    exact(inner)?;
    let start = inner.as_ptr() as usize - text.as_ptr() as usize;
    Some(start..start + inner.len())
}

fn located<'t>(
    text: &'t str,
    candidates: impl Iterator<Item = &'t str>,
) -> impl Iterator<Item = Range<usize>> {
    candidates
        .filter(|value| exact(value).is_some())
        .map(move |value| {
            let start = value.as_ptr() as usize - text.as_ptr() as usize;
            start..start + value.len()
        })
}

fn candidates(text: &str) -> impl Iterator<Item = &str> {
    let pieces = pieces_of(text);
    let stated = pieces.filter(|(word, piece)| !is_key(word, piece) && !is_call(word, piece));
    stated
        .map(|(word, piece)| trim(&word[piece]))
        .filter(|value| !common::is_common(value) && !paths::is_list_of_words(value))
}

/// The pieces of the words that may have a value.
fn pieces_of(text: &str) -> impl Iterator<Item = (&str, Range<usize>)> {
    let words = text
        .split_whitespace()
        .filter(|word| word.bytes().any(marks_value));
    words.flat_map(|word| pieces(word).into_iter().map(move |piece| (word, piece)))
}

/// The keys of objects inside a text that could be taken for values, as JSON and most programming
/// languages write them: `"saved_passengers":`. A key with a digit is not among them, because
/// objects may be keyed by the ids of what they hold.
pub fn keys(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split_whitespace().filter(|word| word.contains('_'));
    let pieces = words.flat_map(|word| pieces(word).into_iter().map(move |piece| (word, piece)));
    let keys = pieces
        .filter(|(word, piece)| is_key(word, piece))
        .map(|(word, piece)| &word[piece]);
    keys.filter(|key| key.contains('_'))
}

/// Whether the piece is a name without digits, between quotes that a colon follows.
fn is_key(word: &str, piece: &Range<usize>) -> bool {
    let Some(quote) = word[..piece.start]
        .chars()
        .next_back()
        .filter(|letter| matches!(letter, '"' | '\''))
    else {
        return false;
    };
    let after = word[piece.end..]
        .trim_start_matches('\\')
        .strip_prefix(quote);
    after.is_some_and(|after| after.starts_with(':')) && is_name(&word[piece.clone()])
}

/// Whether a text has letters and underscores only.
fn is_name(text: &str) -> bool {
    text.chars()
        .all(|letter| letter.is_alphabetic() || letter == '_')
}

/// Whether the piece is a member that is called, such as `items.map(` or, in Ruby and Elixir,
/// `Repo.get!(`.
fn is_call(word: &str, piece: &Range<usize>) -> bool {
    let called = &word[piece.clone()];
    word[piece.end..]
        .trim_start_matches(['!', '?'])
        .starts_with('(')
        && called.contains('.')
        && !called.contains(['/', '@'])
}

/// Whether a byte may distinguish a value from a word. Most words contain no such byte.
fn marks_value(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'_' | b'@' | b'#' | b'.' | b':' | b'/')
}

/// The text as an exact value, if it is one.
fn exact(text: &str) -> Option<Exact> {
    let solid = text.bytes().filter(u8::is_ascii_alphanumeric).count();
    if !LENGTHS.contains(&text.chars().count()) || solid < 2 || text.starts_with("masked:") {
        return None;
    }
    if let Some(value) = number(text) {
        let significant = value
            .trim_start_matches(['0', '.'])
            .bytes()
            .filter(u8::is_ascii_digit)
            .count();
        return (significant >= DIGITS).then_some(Exact {
            value,
            kind: ValueKind::Number,
        });
    }
    let is_url = text.contains("://");
    let is_on_drive = paths::is_on_drive(text);
    let is_broken = |letter: char| breaks(letter) && !(is_on_drive && letter == '\\');
    if text.contains(char::is_whitespace) || (!is_url && text.contains(is_broken)) {
        return None;
    }
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    (has_digit || is_url || is_on_drive || has_separator(text)).then(|| Exact {
        value: text.to_owned(),
        kind: kind(text, is_url),
    })
}

/// A number without its thousands separators.
fn number(text: &str) -> Option<String> {
    let (whole, fraction) = text
        .split_once('.')
        .map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut groups = whole.split(',');
    let first = groups.next().filter(|first| digits(first))?;
    let mut plain = first.to_owned();
    for group in groups {
        if group.len() != 3 || first.len() > 3 || !digits(group) {
            return None;
        }
        plain.push_str(group);
    }
    match fraction {
        None => Some(plain),
        Some(fraction) if digits(fraction) => Some(format!("{plain}.{fraction}")),
        Some(_) => None,
    }
}

/// Whether a text without digits contains a separator that prose does not use.
fn has_separator(text: &str) -> bool {
    let joined = |separator: char| {
        text.split(separator).count() > 1
            && text
                .split(separator)
                .skip(1)
                .any(|rest| rest.starts_with(char::is_alphanumeric))
    };
    let slashes = text.matches('/').count();
    let rooted = text.starts_with(['/', '~', '.']) && slashes > 0;
    // More than one `#` begins a heading or frames a mark such as `###STOP###`.
    let hash = text.contains('#') && !text.contains("##");
    text.contains(['_', '@']) || hash || joined('.') || joined(':') || rooted || slashes > 1
}

/// Paths, file names and URLs are [`ValueKind::Path`]; everything else is an id.
fn kind(text: &str, is_url: bool) -> ValueKind {
    let has_letter = |text: &str| text.contains(char::is_alphabetic);
    let ending = text.rsplit_once('.').filter(|(stem, ending)| {
        has_letter(stem)
            && ending.starts_with(char::is_alphabetic)
            && ending.len() <= 5
            && !text.contains('@')
    });
    let has_folder = text.contains('/') || paths::is_on_drive(text);
    if is_url || (has_folder && has_letter(text)) || ending.is_some() {
        ValueKind::Path
    } else {
        ValueKind::Id
    }
}

/// Whether a character is one that no value except a URL contains.
fn breaks(letter: char) -> bool {
    !letter.is_ascii_alphanumeric() && "\"'`()[]{}<>|,;=&!?*\\“”’…→│".contains(letter)
}

/// The ranges of a text without blanks between the characters that no value has. Characters after a
/// backslash in embedded JSON are separators too, and so is the slash of a closing tag.
fn pieces(word: &str) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut after_scheme = false;
    let mut letters = word.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        after_scheme |= word[start..at].ends_with("://");
        if !letter.is_ascii() && ends_value(&word[start..at], &word[at..])
            || letter.is_ascii_alphanumeric() && follows_words(&word[start..at])
        {
            pieces.push(start..at);
            start = at;
        }
        let in_url = after_scheme && matches!(letter, '=' | '&' | '?' | '!' | '*');
        let on_drive = letter == '\\'
            && paths::is_on_drive(&word[start..at])
            && word[at + 1..].starts_with(char::is_alphanumeric);
        if !breaks(letter) || in_url || on_drive || (letter == ',' && separates_thousands(word, at))
        {
            continue;
        }
        pieces.push(start..at);
        start = at + letter.len_utf8();
        after_scheme = false;
        let goes_along = |next: char| match letter {
            '\\' => matches!(next, 'n' | 't' | 'r' | '"' | '\\'),
            '<' => next == '/',
            _ => false,
        };
        if let Some((at, next)) = letters.next_if(|(_, next)| goes_along(*next)) {
            start = at + next.len_utf8();
        }
    }
    pieces.push(start..word.len());
    pieces
}

/// Whether a value ends where letters of a script without blanks between words begin, as in
/// `a.rs` with such a word behind it. With a slash or a dot after them, they are a part of the
/// value's own names.
fn ends_value(value: &str, rest: &str) -> bool {
    let is_ascii = |letter: char| letter.is_ascii_alphanumeric();
    let own = rest.split(breaks).next().unwrap_or_default();
    value.ends_with(is_ascii) && rest.starts_with(is_spaceless) && !own.contains(['/', '.', '_'])
}

/// Whether only words of a script without blanks between words come before.
fn follows_words(before: &str) -> bool {
    !before.is_empty() && before.chars().all(is_spaceless)
}

/// Whether exactly three digits follow the comma, and a digit precedes it.
fn separates_thousands(word: &str, comma: usize) -> bool {
    let before = word[..comma].bytes().next_back();
    let after = word[comma + 1..]
        .bytes()
        .take(4)
        .take_while(u8::is_ascii_digit)
        .count();
    before.is_some_and(|byte| byte.is_ascii_digit()) && after == 3
}

/// The text without the punctuation around it.
fn trim(text: &str) -> &str {
    let text = text.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    let text = text
        .trim_start_matches(|letter: char| !letter.is_alphanumeric() && !"/~.@#_".contains(letter));
    let dots = text.len() - text.trim_start_matches('.').len();
    if dots > 2 { &text[dots..] } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        within(text)
            .map(|exact| format!("{:?} {}", exact.kind, exact.value))
            .collect()
    }

    #[test]
    fn prose_contains_only_exact_values() {
        let text = "Your well-known flight HAT136 (one-way and/or return) leaves at 11:30 on 2024-05-20, e.g. for $1,234.50; \
                    see `src/app/page.tsx`, ./config or https://x.io/a?id=7&b=2. Write to mia.li3818@example.com! I'd pay 250 or 45000.";
        assert_eq!(
            values(text),
            [
                "Id HAT136",
                "Id 11:30",
                "Id 2024-05-20",
                "Number 1234.50",
                "Path src/app/page.tsx",
                "Path ./config",
                "Path https://x.io/a?id=7&b=2",
                "Id mia.li3818@example.com",
                "Number 45000"
            ]
        );
    }

    #[test]
    fn embedded_json_and_commands_are_split() {
        assert_eq!(
            values(r#"{"id":"credit_card_4421486","zip":"78750","n":[12,3456]}"#),
            ["Id credit_card_4421486", "Number 78750", "Number 3456"]
        );
        assert_eq!(
            values(r#"{\"a\":\"x_1y\",\"b\":\"line\nuser_77\"}"#),
            ["Id x_1y", "Id user_77"]
        );
        assert_eq!(
            values("npm run build --max-depth=1200 && cat /tmp/out.log > ../b_c"),
            ["Number 1200", "Path /tmp/out.log", "Path ../b_c"]
        );
    }

    #[test]
    fn words_and_punctuation_are_not_values() {
        for text in [
            "economy",
            "round-trip",
            "yes/no",
            "----",
            "....",
            "// ##",
            "12.5",
            "0.0001",
            "a.b",
            "TODO:",
            "[masked:aws:0a1b2c3d]",
            "MEMBER/OWNER/COLLABORATOR",
            "P0/P1/P2/P3",
            "PRs/reviews/issues",
            "CPU/記憶體/I/O",
        ] {
            assert_eq!(values(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn an_argument_is_taken_whole_where_it_can() {
        let whole = |text: &str| taken("", text);
        assert_eq!(whole(" /path/to/Demo/ "), ["/path/to/Demo"]);
        assert_eq!(whole("1,250,000"), ["1250000"]);
        assert_eq!(whole("ls /a/b && ls /c/d"), ["/a/b", "/c/d"]);
        assert_eq!(whole("feature/search/ranking"), ["feature/search/ranking"]);
    }

    fn taken(name: &str, text: &str) -> Vec<String> {
        let taken = of_argument(name, text).into_iter();
        taken.map(|exact| exact.value).collect()
    }

    #[test]
    fn an_argument_that_names_a_file_is_one_value() {
        for path in [
            "/home/u/My Docs/final plan.md",
            "src/app/(auth)/[id]/page.tsx",
            r"C:\Users\Mike Moe\notes.txt",
            "final plan.md",
        ] {
            assert_eq!(taken("file_path", path), [path]);
        }
        assert_eq!(taken("path", "src/**/*.rs /srv/shop"), ["/srv/shop"]);
        assert_eq!(taken("path", "a word and another"), Vec::<String>::new());
        assert_eq!(
            taken("files", "src/a.rs lib/b.rs"),
            ["src/a.rs", "lib/b.rs"]
        );
        assert_eq!(taken("files", "src/a.rs, Makefile"), ["src/a.rs"]);
        assert_eq!(taken("command", "cat /a/b c.md"), ["/a/b", "c.md"]);
    }

    #[test]
    fn folders_and_endings_show_that_words_with_slashes_are_a_path() {
        assert_eq!(
            values(
                r"read docs/fixtures/binary, web/pay/refund.ts and C:\Users\ann\notes.txt on 2026/01/02"
            ),
            [
                "Path docs/fixtures/binary",
                "Path web/pay/refund.ts",
                r"Path C:\Users\ann\notes.txt",
                "Id 2026/01/02"
            ]
        );
    }

    proptest::proptest! {
        #[test]
        fn a_word_without_a_mark_contains_no_value(word in "([^0-9_@#.:/ ]|[a-zA-Z])(([^0-9_@#.:/ ]|[a-zA-Z]){3,20})") {
            proptest::prop_assert!(pieces(&word).into_iter().all(|piece| exact(trim(&word[piece])).is_none()));
        }

        #[test]
        fn every_value_is_exact_by_itself(text in ".{0,80}") {
            for found in within(&text) {
                proptest::prop_assert_eq!(exact(&found.value), Some(found.clone()));
            }
        }
    }
}
