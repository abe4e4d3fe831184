//! Numbers with units, compared by value: `4500 ms`, `4,500ms` and `4.5 s` are equal.
//!
//! The units are a closed table: time from nanoseconds to days, bytes, percent, three currencies. Units convert if the factor is
//! exact and unambiguous: `2 GiB` is `2048 MiB`, but `2 GB` is neither `2048 MB` nor `2000 MB`, and `m` is not a unit. A number
//! with another word (`482131 rows`) needs that word. A sign counts if the value has one; otherwise a dash before a number is
//! ignored, because it is as often a hyphen, a bullet or part of a booking code.
//!
//! Absent on purpose: exponents, decimal commas, numbers in words, and units inside a key (`"timeout_ms": 4500`).

use super::decimal::Decimal;
use super::is_word;

/// A number with its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    is_negative: bool,
    number: Decimal,
    unit: Unit,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Unit {
    None,
    Known(Measure),
    /// Any other words, in lower case.
    Words(String),
}

/// Units of one family convert into each other. `size` is in the smallest unit of the family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Measure {
    family: Family,
    size: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// In nanoseconds.
    Time,
    /// In bytes.
    Bytes,
    Kilobytes,
    Megabytes,
    Gigabytes,
    Terabytes,
    Percent,
    Euros,
    Dollars,
    Pounds,
}

struct Row {
    family: Family,
    size: u64,
    names: &'static [&'static str],
}

const fn row(family: Family, size: u64, names: &'static [&'static str]) -> Row {
    Row { family, size, names }
}

/// Every unit, with its names in lower case.
const UNITS: &[Row] = &[
    row(Family::Time, 1, &["ns", "nanosecond", "nanoseconds"]),
    row(Family::Time, 1_000, &["us", "μs", "microsecond", "microseconds"]),
    row(Family::Time, 1_000_000, &["ms", "msec", "millis", "millisecond", "milliseconds"]),
    row(Family::Time, 1_000_000_000, &["s", "sec", "secs", "second", "seconds"]),
    row(Family::Time, 60_000_000_000, &["min", "mins", "minute", "minutes"]),
    row(Family::Time, 3_600_000_000_000, &["h", "hr", "hrs", "hour", "hours"]),
    row(Family::Time, 86_400_000_000_000, &["d", "day", "days"]),
    row(Family::Bytes, 1, &["b", "byte", "bytes"]),
    row(Family::Bytes, 1 << 10, &["kib", "kibibyte", "kibibytes"]),
    row(Family::Bytes, 1 << 20, &["mib", "mebibyte", "mebibytes"]),
    row(Family::Bytes, 1 << 30, &["gib", "gibibyte", "gibibytes"]),
    row(Family::Bytes, 1 << 40, &["tib", "tebibyte", "tebibytes"]),
    row(Family::Kilobytes, 1, &["kb", "kilobyte", "kilobytes"]),
    row(Family::Megabytes, 1, &["mb", "megabyte", "megabytes"]),
    row(Family::Gigabytes, 1, &["gb", "gigabyte", "gigabytes"]),
    row(Family::Terabytes, 1, &["tb", "terabyte", "terabytes"]),
    row(Family::Percent, 1, &["%", "percent"]),
    row(Family::Euros, 1, &["€", "eur", "euro", "euros"]),
    row(Family::Dollars, 1, &["$", "usd", "dollar", "dollars"]),
    row(Family::Pounds, 1, &["£", "gbp", "pound", "pounds"]),
];
/// Units that may precede the number.
const BEFORE: &[&str] = &["€", "$", "£", "eur", "usd", "gbp"];
/// The largest number of decimals of a converted number that is searched.
const MOST_DECIMALS: u32 = 3;
/// The most characters between a number and its unit, such as a blank, a hyphen or the end of emphasis.
const WIDEST_GAP: usize = 3;

impl Quantity {
    /// Parses a value that is only a number, with or without a unit.
    pub(super) fn parse(value: &str) -> Option<Self> {
        let value = value.trim().to_lowercase();
        let (is_negative, unsigned) = value.strip_prefix('-').map_or((false, &*value), |rest| (true, rest));
        let (before, unsigned) = leading_unit(unsigned);
        let (number, length) = Decimal::read(unsigned)?;
        let rest = &unsigned[length..];
        let words = rest.strip_prefix('-').unwrap_or(rest).trim_start();
        let unit = match (before, measure(words)) {
            (Some(unit), _) if words.is_empty() => Unit::Known(unit),
            (None, Some(unit)) => Unit::Known(unit),
            (None, None) if rest.is_empty() => Unit::None,
            (None, None) if words.starts_with(char::is_alphabetic) => Unit::Words(words.to_owned()),
            _ => return None,
        };
        Some(Quantity { is_negative, number, unit })
    }

    /// The digits before the decimal point with which the number may begin, in each unit that it converts to exactly, without
    /// sign and unit.
    pub(super) fn openings(&self) -> Vec<String> {
        let converted = match &self.unit {
            Unit::Known(unit) => UNITS.iter().filter(|row| row.family == unit.family).filter_map(|row| {
                let exact = self.number.scaled(unit.size, row.size)?;
                (exact.decimals <= MOST_DECIMALS).then_some(exact)
            }),
            Unit::None | Unit::Words(_) => return self.number.openings(),
        };
        let mut all = converted.flat_map(|number| number.openings()).collect::<Vec<_>>();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The end of the number that begins at `start`, including its unit, if it is this quantity.
    pub(super) fn end_at(&self, text: &str, start: usize) -> Option<usize> {
        let (before, rest) = text.split_at(start);
        let (number, length) = Decimal::read(rest)?;
        let after = &rest[length..];
        let (unit, used) = match &self.unit {
            Unit::None => (None, 0),
            Unit::Words(words) => (None, words_after(after, words)?),
            Unit::Known(_) => {
                unit_after(after).map_or_else(|| (unit_before(before), 0), |(unit, used)| (Some(unit), used))
            }
        };
        let before = if used == 0 && unit.is_some() { without_unit(before) } else { before };
        let is_whole = begins_number(before) && !after[used..].starts_with(is_word);
        let is_same = match (&self.unit, unit) {
            (Unit::Known(own), Some(found)) => {
                own.family == found.family && self.number.equals(own.size, number, found.size)
            }
            (Unit::Known(_), None) => false,
            _ => self.number.equals(1, number, 1),
        };
        (is_whole && is_same && (is_negative(before) || !self.is_negative)).then_some(start + length + used)
    }
}

/// Whether a number may begin after this text: not after a word, or after a number with a point or comma.
fn begins_number(before: &str) -> bool {
    let mut letters = before.chars().rev();
    match letters.next() {
        Some('.' | ',') => !letters.next().is_some_and(|letter| letter.is_ascii_digit()),
        Some(letter) => !is_word(letter),
        None => true,
    }
}

/// A minus precedes a number and does not follow a word: `1000-4500` is a range.
fn is_negative(before: &str) -> bool {
    before.strip_suffix('-').is_some_and(|rest| rest.is_empty() || rest.ends_with([' ', '\n', '(', '[', '=', ':', ',']))
}

fn measure(name: &str) -> Option<Measure> {
    let row = UNITS.iter().find(|row| row.names.contains(&name))?;
    Some(Measure { family: row.family, size: row.size })
}

/// The unit at the start of a text after a number, and the number of bytes up to its end.
fn unit_after(text: &str) -> Option<(Measure, usize)> {
    let gap = gap(text);
    let name =
        text[gap..].find(|letter: char| !letter.is_alphabetic()).map_or(&text[gap..], |end| &text[gap..gap + end]);
    let symbol = text[gap..].chars().next().filter(|letter| matches!(letter, '%' | '€' | '$' | '£'));
    let name = symbol.map_or_else(|| name.to_lowercase(), String::from);
    // Lowercase letters may take more bytes than capitals, but units contain no such letters.
    Some((measure(&name)?, gap + name.len()))
}

fn words_after(text: &str, words: &str) -> Option<usize> {
    let gap = gap(text);
    let mut found = text[gap..].char_indices();
    for wanted in words.chars() {
        let (_, letter) = found.next()?;
        let is_same = letter.to_lowercase().eq(wanted.to_lowercase()) || (letter == '\n' && wanted == ' ');
        if !is_same {
            return None;
        }
    }
    Some(gap + found.offset())
}

fn gap(text: &str) -> usize {
    text.bytes().take(WIDEST_GAP).take_while(|byte| matches!(byte, b' ' | b'\n' | b'-' | b'`' | b'*' | b'_')).count()
}

/// The unit before a number: `€4,812`, `EUR 4,812`.
fn unit_before(before: &str) -> Option<Measure> {
    let (name, _) = last_word(before);
    BEFORE.contains(&name.to_lowercase().as_str()).then(|| measure(&name.to_lowercase()))?
}

fn without_unit(before: &str) -> &str {
    last_word(before).1
}

fn last_word(before: &str) -> (&str, &str) {
    let trimmed = before.strip_suffix(' ').unwrap_or(before);
    let symbol = trimmed.char_indices().next_back().filter(|(_, letter)| matches!(letter, '€' | '$' | '£'));
    let start = symbol.map_or_else(|| trimmed.trim_end_matches(char::is_alphabetic).len(), |(at, _)| at);
    (&trimmed[start..], &trimmed[..start])
}

fn leading_unit(text: &str) -> (Option<Measure>, &str) {
    for name in BEFORE {
        if let Some(rest) = text.strip_prefix(name) {
            return (measure(name), rest.trim_start());
        }
    }
    (None, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_open_as_in_every_exact_unit() {
        let openings = |value: &str| Quantity::parse(value).map(|quantity| quantity.openings());
        let of = |all: &[&str]| Some(all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>());
        assert_eq!(
            openings("4500 ms"),
            of(&["0", "4", "4,500", "4,500,000", "4,500,000,000", "4500", "4500000", "4500000000"])
        );
        assert_eq!(openings("482,131 rows"), of(&["482131", "482,131"]));
        assert_eq!(openings("2 GB"), of(&["2"]));
        assert_eq!(openings("48.213%"), of(&["48"]));
        for text in ["v1.10", "1.2.3", "3/4", "12:30", "2024-05-01", "", "-", "twelve"] {
            assert_eq!(openings(text), None, "{text}");
        }
    }
}
