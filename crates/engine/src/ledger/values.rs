//! Exact values in a text: paths, URLs, ids and numbers of four digits or more.
//!
//! The rule is the ledger's own. It reads each byte once, and shares nothing with whatever measures
//! what a ledger holds.

use super::paths::is_list_of_words;

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LedgerKind {
    /// The path of a file or folder.
    Path,
    /// An address with a scheme.
    Url,
    /// A name with digits or with a mark that prose does not use.
    Id,
    /// A number of at least four digits.
    Number,
    /// A date, a time or both.
    Time,
}

/// A value and the byte at which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValueInText<'t> {
    pub(super) value: &'t str,
    pub(super) at: usize,
    pub(super) kind: LedgerKind,
}

/// The fewest and the most bytes of a value.
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=200;
/// The same of a value with what may be around it, such as the number of a line.
const RUNS: std::ops::RangeInclusive<usize> = 4..=256;
/// The fewest digits of a number.
const DIGITS: usize = 4;
/// Folders whose files every system has.
const SYSTEM: &[&str] = &["/dev/", "/proc/", "/sys/", "/bin/", "/usr/bin/"];
/// How the text of a removed secret begins.
pub(super) const MASK: &str = "masked:";

/// The values in a text, in order.
pub(super) fn values(text: &str) -> impl Iterator<Item = ValueInText<'_>> {
    runs(text).filter_map(move |(start, end)| {
        let (from, to) = trimmed(&text[start..end]);
        let value = &text[start + from..start + to];
        let kind = kind(value).filter(|_| !is_call(value, &text[start + to..]))?;
        Some(ValueInText {
            value,
            at: start + from,
            kind,
        })
    })
}

/// Whether a byte may be inside a value.
fn is_inside(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'_' | b'.' | b'/' | b':' | b'@' | b'#' | b'~' | b'+' | b'-' | b'%'
        )
}

/// Whether a byte distinguishes a value from a word.
fn marks(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'_' | b'@' | b'#' | b'.' | b':' | b'/')
}

/// The ranges of bytes that may be a value and have a byte that marks one.
fn runs(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            let (mut is_marked, mut is_url) = (false, false);
            while let Some(length) = inside(text, at, is_url) {
                is_marked |= marks(bytes[at]);
                is_url |= bytes[at] == b'/' && bytes[start..at].ends_with(b":/");
                at += length;
            }
            let end = at;
            // What follows a backslash or an escape character is not part of a value.
            at += match bytes.get(at) {
                Some(0x1b) => 1 + control_sequence(&bytes[at + 1..]),
                Some(b'\\')
                    if matches!(bytes.get(at + 1), Some(b'n' | b't' | b'r' | b'"' | b'\\')) =>
                {
                    2
                }
                Some(byte) if *byte < 0x80 => 1,
                Some(_) => text[at..].chars().next().map_or(1, char::len_utf8),
                None => 0,
            };
            if is_marked && RUNS.contains(&(end - start)) {
                return Some((start, end));
            }
        }
        None
    })
}

/// The length of what follows an escape character to colour the text of a terminal.
fn control_sequence(bytes: &[u8]) -> usize {
    if bytes.first() != Some(&b'[') {
        return 0;
    }
    let length = 1 + bytes[1..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    length + usize::from(bytes.get(length).is_some_and(u8::is_ascii))
}

/// The length of the character at a byte, if it may be inside a value.
fn inside(text: &str, at: usize, is_url: bool) -> Option<usize> {
    match *text.as_bytes().get(at)? {
        byte if is_inside(byte) => Some(1),
        b'?' | b'&' | b'=' | b'!' | b'*' if is_url => Some(1),
        b',' if splits_thousands(text.as_bytes(), at) => Some(1),
        0x80.. => text[at..]
            .chars()
            .next()
            .filter(|letter| letter.is_alphanumeric())
            .map(char::len_utf8),
        _ => None,
    }
}

/// Whether a comma is between groups of a number's digits.
fn splits_thousands(bytes: &[u8], comma: usize) -> bool {
    let after = bytes[comma + 1..]
        .iter()
        .take(4)
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    comma > 0 && bytes[comma - 1].is_ascii_digit() && after == 3
}

/// The range of a run without the punctuation around it and without the line number behind a path.
fn trimmed(run: &str) -> (usize, usize) {
    let mut end = run
        .trim_end_matches(|letter: char| !letter.is_alphanumeric())
        .len();
    let start = run[..end].len()
        - run[..end]
            .trim_start_matches(|letter: char| {
                !letter.is_alphanumeric() && !"/~.@#_".contains(letter)
            })
            .len();
    if !run[start..end].contains("://") {
        end = start + without_line(&run[start..end]).len();
    }
    (start, end)
}

/// A path without the number of a line that a search puts behind it, and what follows: `a.rs:12:fn`
/// or `a.rs-12-`.
fn without_line(text: &str) -> &str {
    let is_number = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
    let name = text.rfind('/').map_or(0, |slash| slash + 1);
    let ends_as_file = |stem: &str| {
        stem.rsplit_once('.')
            .is_some_and(|(_, ending)| ENDINGS.contains(&ending))
    };
    let colon = text
        .find(':')
        .filter(|at| is_number(&text[at + 1..]) && text[..*at].contains(['/', '.']));
    let dash = text[name..].match_indices('-').map(|(at, _)| name + at);
    let dash = dash
        .take(MOST_DASHES)
        .find(|at| is_number(&text[at + 1..]) && ends_as_file(&text[..*at]));
    match colon
        .filter(|at| text[..*at].contains(char::is_alphabetic))
        .or(dash)
    {
        Some(at) => &text[..at],
        None => text,
    }
}

/// A name with more dashes is not looked at further.
const MOST_DASHES: usize = 20;

/// What a text without blanks is, if it is a value.
fn kind(text: &str) -> Option<LedgerKind> {
    let bytes = text.as_bytes();
    if !LENGTHS.contains(&text.len())
        || text.starts_with(MASK)
        || SYSTEM.iter().any(|folder| text.starts_with(folder))
    {
        return None;
    }
    let digits = bytes.iter().filter(|byte| byte.is_ascii_digit()).count();
    let letters = bytes
        .iter()
        .filter(|byte| byte.is_ascii_alphabetic())
        .count();
    if text.contains("://") {
        return (letters > 0).then_some(LedgerKind::Url);
    }
    if digits > 0
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
    {
        return (text.trim_start_matches(['0', '.']).len() >= DIGITS
            && digits >= DIGITS
            && text.matches('.').count() < 2)
            .then_some(LedgerKind::Number);
    }
    if is_path(text) {
        return Some(LedgerKind::Path);
    }
    if is_time(text) {
        return Some(LedgerKind::Time);
    }
    let is_name = digits > 0 && (letters > 0 || digits >= DIGITS);
    let is_marked =
        text.contains('_') && letters > 1 || (text.contains('@') && !text.starts_with('@'));
    (!text.contains('/') && (is_name || is_marked)).then_some(LedgerKind::Id)
}

/// Whether a text is a date, a time or both.
fn is_time(text: &str) -> bool {
    let is_mark = |letter: char| matches!(letter, '-' | ':' | '.' | 'T' | 'Z' | '+' | '/');
    let mut parts = text.split(is_mark).filter(|part| !part.is_empty());
    let are_short = parts
        .clone()
        .all(|part| part.bytes().all(|byte| byte.is_ascii_digit()) && part.len() <= 9);
    are_short && parts.nth(1).is_some() && text.contains([':', '-', '/'])
}

/// Whether a text is the path of a file or folder.
fn is_path(text: &str) -> bool {
    let rooted = text.starts_with(['/', '~', '.']);
    let slashes = text.matches('/').count();
    if !text.contains(char::is_alphabetic) || text.contains(['@', '#']) || text.contains("//") {
        return false;
    }
    let name = text.rsplit('/').next().unwrap_or(text);
    let has_ending = has_ending(name);
    match slashes {
        // `.env.staging` is a file; `.map` is more often a member.
        0 if name.starts_with('.') => name[1..]
            .split('.')
            .filter(|part| !part.is_empty())
            .nth(1)
            .is_some(),
        0 => {
            has_ending
                && name
                    .rsplit_once('.')
                    .is_some_and(|(_, ending)| ENDINGS.contains(&ending))
        }
        1 => has_ending || text.starts_with(['~', '.']) || (!rooted && text.contains('_')),
        _ => !is_list_of_words(text),
    }
}

fn has_ending(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, ending)| {
        ending.len() <= 5
            && ending.starts_with(char::is_alphabetic)
            && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && (!stem.is_empty() || name.len() > 2)
    })
}

/// Endings by which a name without a folder is that of a file. Any other name with a dot may be a
/// member in a program.
const ENDINGS: &[&str] = &[
    "c", "cc", "conf", "cpp", "cs", "css", "csv", "env", "ex", "exs", "go", "gradle", "h", "hpp",
    "html", "ini", "ipynb", "java", "js", "json", "jsonl", "jsx", "kt", "lock", "log", "lua", "md",
    "mdx", "mjs", "mod", "php", "png", "prisma", "proto", "py", "rb", "rs", "scss", "sh", "sql",
    "sum", "svelte", "svg", "swift", "tf", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml",
];

/// Whether a value is a member that is called.
fn is_call(value: &str, after: &str) -> bool {
    after.trim_start_matches(['!', '?']).starts_with('(') && !value.contains('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values_in(text: &str) -> Vec<(LedgerKind, &str)> {
        values(text)
            .map(|found| (found.kind, found.value))
            .collect()
    }

    #[test]
    fn values_are_found_in_prose_in_commands_and_in_listings() {
        assert_eq!(
            values_in(
                "Flight HAT136 leaves at 11:30; write to mia@example.com, see `src/app/page.tsx` or https://x.io/a?id=7&b=2."
            ),
            [
                (LedgerKind::Id, "HAT136"),
                (LedgerKind::Time, "11:30"),
                (LedgerKind::Id, "mia@example.com"),
                (LedgerKind::Path, "src/app/page.tsx"),
                (LedgerKind::Url, "https://x.io/a?id=7&b=2"),
            ]
        );
        assert_eq!(
            values_in(
                "cd /srv/shop && grep -n pay_total lib/pay.rs:12:fn lib/a.rs-14- 1,234,567 2026-02-19T22:49:31Z"
            ),
            [
                (LedgerKind::Path, "/srv/shop"),
                (LedgerKind::Id, "pay_total"),
                (LedgerKind::Path, "lib/pay.rs"),
                (LedgerKind::Path, "lib/a.rs"),
                (LedgerKind::Number, "1,234,567"),
                (LedgerKind::Time, "2026-02-19T22:49:31Z"),
            ]
        );
    }

    #[test]
    fn prose_escapes_masks_and_system_paths_hold_no_values() {
        for text in [
            "yes/no, e.g. the well-known and/or",
            "a .badge of .then... and so on",
            "items.map(x) and JSON.parse(text)",
            "[masked:aws:12] at /dev/null",
            "\u{1b}[39m a \u{1b}[2;36m b",
            "a 12 and 0.5",
            "MEMBER/OWNER/COLLABORATOR or P0/P1/P2, CPU/記憶體/I/O",
        ] {
            assert_eq!(values_in(text), [], "{text}");
        }
    }
}
