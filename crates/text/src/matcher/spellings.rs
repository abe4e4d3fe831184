//! The spellings under which a value that is not a number is searched, in normal form.
//!
//! Absent on purpose: dates such as 11/05/2024, whose order nobody knows.

use super::ValueKind;
use super::normal::normal;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
/// The fewest digits of a code that is found with other separators.
const DIGITS: usize = 3;

/// The value as it is, with its backslashes read as folder separators or written twice as in JSON,
/// and in the other usual forms of a date, a version or a code of letters and digits.
pub(super) fn spellings(kind: ValueKind, value: &str) -> Vec<String> {
    let plain = with_plain_blanks(&normal(value));
    let mut all = Vec::new();
    if matches!(kind, ValueKind::Id | ValueKind::Nonce) {
        all.extend(date(&plain));
        all.extend(version(&plain));
        all.extend(code(&plain));
    }
    all.push(plain);
    if value.contains('\\') {
        for separator in ["/", "\\\\"] {
            all.push(with_plain_blanks(&normal(&value.replace('\\', separator))));
        }
    }
    all.retain(|text| !text.is_empty());
    all.sort_unstable();
    all.dedup();
    all
}

/// Single blanks between words, as in the index.
fn with_plain_blanks(text: &str) -> String {
    text.split([' ', '\n'])
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// `2024-11-05` in words and with the year first or last.
fn date(value: &str) -> Vec<String> {
    let parts = value
        .split('-')
        .map(str::parse)
        .collect::<Result<Vec<usize>, _>>()
        .unwrap_or_default();
    let lengths = value.split('-').map(str::len).collect::<Vec<_>>();
    let ([year, month, day], [4, 2, 2]) = (&parts[..], &lengths[..]) else {
        return Vec::new();
    };
    let Some(name) = month.checked_sub(1).and_then(|month| MONTHS.get(month)) else {
        return Vec::new();
    };
    let mut all = vec![
        format!("{year}/{month:02}/{day:02}"),
        format!("{day:02}.{month:02}.{year}"),
    ];
    all.extend([
        format!("{day}.{month}.{year}"),
        format!("{year}-{month}-{day}"),
    ]);
    let short = &name[..3];
    let (short_point, nth) = (format!("{short}."), format!("{day}{}", ordinal(*day)));
    for name in [name, short, &short_point] {
        all.extend([
            format!("{day} {name} {year}"),
            format!("{name} {day} {year}"),
        ]);
        all.extend([
            format!("{name} {day}, {year}"),
            format!("{name} {nth}, {year}"),
        ]);
    }
    all.extend([" ", " of "].map(|of| format!("{nth}{of}{name} {year}")));
    all.extend([
        format!("{day}. {name} {year}"),
        format!("{day} {name}, {year}"),
        format!("{name} {nth} {year}"),
    ]);
    all
}

fn ordinal(day: usize) -> &'static str {
    match (day / 10, day % 10) {
        (1, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}

/// `v1.2.3` without its mark. With one point it might be any number.
fn version(value: &str) -> Option<String> {
    let bare = value.strip_prefix(['v', 'V'])?;
    let is_version = bare.split('.').count() > 2
        && bare
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
    is_version.then(|| bare.to_owned())
}

/// A code of letters and digits with other separators: `QJT-37149`, `QJT 37149`, `qjt_37149`,
/// `QJT37149`.
fn code(value: &str) -> Vec<String> {
    let parts = value.split(['-', '_', ' ']).collect::<Vec<_>>();
    let letters = parts
        .iter()
        .take_while(|part| part.bytes().all(|byte| byte.is_ascii_alphabetic()))
        .count();
    let is_digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let digits = parts[letters..]
        .iter()
        .map(|part| part.len())
        .sum::<usize>();
    let is_code =
        parts.iter().all(|part| !part.is_empty()) && parts[letters..].iter().all(is_digits);
    if letters == 0 || digits < DIGITS || !is_code {
        return Vec::new();
    }
    let joined = (parts.len() == 2).then(|| parts.concat());
    ["-", "_", " "]
        .iter()
        .map(|separator| parts.join(separator))
        .chain(joined)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_codes_dates_and_versions_have_other_spellings() {
        let count = |value: &str| spellings(ValueKind::Id, value).len();
        for (value, expected) in [
            ("QJT-37149", 4),
            ("a-b-123", 3),
            ("v1.2.3", 2),
            ("ab-12", 1),
            ("1.10", 1),
            ("12-345", 1),
            ("x-1a2b3", 1),
        ] {
            assert_eq!(count(value), expected, "{value}");
        }
        assert!(count("2024-11-05") > 15 && count("2024-13-05") == 1);
    }
}
