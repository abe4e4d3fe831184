//! Whether a match is the whole value, not a part of a longer one.

use super::{ValueKind, is_word};
use crate::script::{is_one_word, is_spaceless};

pub(super) fn is_whole(kind: ValueKind, text: &str, start: usize, end: usize) -> bool {
    let value = &text[start..end];
    let (before, after) = (
        MatchSide::before(&text[..start], value),
        MatchSide::after(&text[end..], value),
    );
    let joins_before = before.joins() && !is_version_mark(&text[..start], value);
    let joins_after = after.joins() && !is_time_of_day(value, &text[end..]);
    if joins_before || joins_after || before.continues_version() || after.continues_version() {
        return false;
    }
    match kind {
        ValueKind::Number => !before.continues_number() && !after.continues_number(),
        ValueKind::Id | ValueKind::Nonce => !before.continues_id() && !after.continues_id(),
        ValueKind::Path => {
            !before.continues_id()
                && !after.continues_path()
                && !is_below_another(&text[..start], value)
        }
        ValueKind::Enum | ValueKind::Free => true,
    }
}

/// One edge of a match: the value's own last character, its neighbour, and the one beyond.
struct MatchSide {
    edge: Option<char>,
    neighbour: Option<char>,
    beyond: Option<char>,
}

impl MatchSide {
    fn before(text: &str, value: &str) -> Self {
        let mut letters = text.chars().rev();
        MatchSide {
            edge: value.chars().next(),
            neighbour: letters.next(),
            beyond: letters.next(),
        }
    }

    fn after(text: &str, value: &str) -> Self {
        let mut letters = text.chars();
        MatchSide {
            edge: value.chars().next_back(),
            neighbour: letters.next(),
            beyond: letters.next(),
        }
    }

    /// Whether the neighbour belongs to the same word. A value that itself ends in punctuation has
    /// no such neighbours, and a word ends where the script changes.
    fn joins(&self) -> bool {
        let words = self.edge.zip(self.neighbour);
        words.is_some_and(|(edge, neighbour)| {
            is_word(edge) && is_word(neighbour) && is_one_word(edge, neighbour)
        })
    }

    /// `1.1` in `1.1.2` is part of another version.
    fn continues_version(&self) -> bool {
        let is_digit = |letter: Option<char>| letter.is_some_and(|letter| letter.is_ascii_digit());
        self.neighbour == Some('.') && is_digit(self.edge) && is_digit(self.beyond)
    }

    /// `012` in `1,012` or `1'012` is part of another number; a full stop after it is not.
    fn continues_number(&self) -> bool {
        matches!(self.neighbour, Some('.' | ',' | '\''))
            && self.beyond.is_some_and(|letter| letter.is_ascii_digit())
    }

    /// `ab-12` in `ab-12-99` is part of another id; a dash between words is not.
    fn continues_id(&self) -> bool {
        self.neighbour == Some('-') && self.beyond.is_some_and(char::is_alphanumeric)
    }

    /// `a/b` in `a/b.old` and `a/b-old` is part of another path; in `a/b/c` it is a folder.
    fn continues_path(&self) -> bool {
        matches!(self.neighbour, Some('.' | '-')) && self.beyond.is_some_and(char::is_alphanumeric)
    }
}

/// A word directly before a version is its mark or the program's name: `v1.21`, `go1.21`.
fn is_version_mark(before: &str, value: &str) -> bool {
    let is_version = value.contains('.')
        && value
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_version
        && !before
            .trim_end_matches(|letter: char| letter.is_ascii_alphabetic())
            .ends_with(is_word)
}

/// The time of day after a date: `2024-11-05T09:00Z`.
fn is_time_of_day(value: &str, after: &str) -> bool {
    let is_date = value.len() == 10 && value.bytes().filter(|byte| *byte == b'-').count() == 2;
    let time = after.strip_prefix(['T', 't']).unwrap_or_default();
    is_date && time.starts_with(|hour: char| hour.is_ascii_digit()) && time.get(2..3) == Some(":")
}

/// Whether a path lies below other folders, so that it is another path. A relative one may lie
/// below a root, such as `./`, `/home/ann/`, `$HOME/` and the `a/` and `b/` of a diff, and any may
/// follow a host.
fn is_below_another(before: &str, value: &str) -> bool {
    let start = before
        .trim_end_matches(|letter: char| is_word(letter) || "/.-~:$@+%".contains(letter))
        .len();
    let above = &before[start..];
    if above.contains(':') || above.is_empty() {
        return false;
    }
    if value.starts_with('/') {
        return above.ends_with(|letter| is_word(letter) && !is_spaceless(letter));
    }
    let is_rooted =
        above.starts_with(['/', '.', '~', '$', '%', '@']) || matches!(above, "a/" | "b/");
    value.contains('/') && above.ends_with('/') && !is_rooted
}
