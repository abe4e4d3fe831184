//! Numbers with units, compared by value: `4500 ms`, `4,500ms`, `4.5 s` and `four and a half
//! seconds` are equal.
//!
//! Units convert if the factor is exact and unambiguous: `2 GiB` is `2048 MiB`, but `2 GB` is
//! neither `2048 MB` nor `2000 MB`, and `m` is a unit only inside a duration (`1h 30m`). A number
//! with another word (`482131 rows`) needs that word. A sign counts if the value has one. Otherwise
//! a dash before a number is ignored here, because it is as often a hyphen, a bullet or part of a
//! booking code; the matcher asks for the sign where it asks what is said. A number without a unit
//! may have one in its key (`"timeout_ms": 4500`).

use std::collections::BTreeMap;

use super::decimal::{Decimal, is_inside_spaced};
use super::units::{self, MeasureUnit, UNITS, UnitFamily, unit_after, unit_before, without_unit};
use super::{is_word, numerals};

/// A number with its unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Quantity {
    is_negative: bool,
    number: Decimal,
    unit: QuantityUnit,
}

/// The number at one place of a text, read once for all quantities that may begin there.
#[derive(Default)]
pub(super) struct NumberAt {
    start: Option<usize>,
    /// Whether it belongs to a number that begins earlier.
    is_inside: bool,
    /// What it may mean, with its length.
    readings: [Option<(Decimal, usize)>; 2],
}

impl NumberAt {
    fn read(&mut self, text: &str, start: usize) {
        if self.start == Some(start) {
            return;
        }
        let (before, rest) = text.split_at(start);
        self.start = Some(start);
        self.is_inside = is_inside_spaced(text, start);
        let mut readings = Decimal::readings(before, rest);
        self.readings = [readings.next(), readings.next()];
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum QuantityUnit {
    None,
    Known(MeasureUnit),
    /// Any other words, in lower case.
    Words(String),
}

/// The largest number of decimals of a converted number that is searched.
const MOST_DECIMALS: u32 = 3;

impl Quantity {
    /// Parses a value that is only a number, with or without a unit.
    pub(super) fn parse(value: &str) -> Option<Self> {
        let value = value.trim();
        let (is_negative, unsigned) = value
            .strip_prefix('-')
            .map_or((false, value), |rest| (true, rest));
        let lower = unsigned.to_lowercase();
        let (before, rest) = units::leading_unit(&lower);
        // A magnitude is read in its own case.
        let unsigned = if lower.len() == unsigned.len() {
            &unsigned[lower.len() - rest.len()..]
        } else {
            rest
        };
        let (number, length) = Decimal::read(unsigned)?;
        let rest = unsigned[length..].to_lowercase();
        let words = rest.strip_prefix('-').unwrap_or(&rest).trim_start();
        let unit = match (before, units::measure(words)) {
            (Some(unit), _) if words.is_empty() => QuantityUnit::Known(unit),
            (None, Some(unit)) => QuantityUnit::Known(unit),
            (None, None) if rest.is_empty() => QuantityUnit::None,
            (None, None) if words.starts_with(char::is_alphabetic) => {
                QuantityUnit::Words(words.to_owned())
            }
            _ => return None,
        };
        Some(Quantity {
            is_negative,
            number,
            unit,
        })
    }

    /// The run of digits or the word with which the number may begin, in each unit that it converts
    /// to, without sign and unit; and whether that is only a part of its digits.
    pub(super) fn openings(&self) -> BTreeMap<String, bool> {
        let mut all = BTreeMap::new();
        let mut add = |number: Decimal| {
            let word = numerals::opening(number).map(|word| (word.to_owned(), false));
            for (text, is_part) in number.openings().chain(word) {
                all.entry(text)
                    .and_modify(|known| *known &= is_part)
                    .or_insert(is_part);
            }
        };
        match &self.unit {
            QuantityUnit::Known(unit) => self.conversions(*unit).for_each(&mut add),
            QuantityUnit::None | QuantityUnit::Words(_) => add(self.number),
        }
        all
    }

    /// The number in every unit of its family. A duration in several units begins with the whole
    /// part.
    fn conversions(&self, unit: MeasureUnit) -> impl Iterator<Item = Decimal> {
        let rows = UNITS.iter().filter(move |row| row.family == unit.family);
        rows.filter_map(move |row| {
            let exact = self
                .number
                .scaled(unit.size, row.size)
                .filter(|exact| exact.decimals <= MOST_DECIMALS);
            let whole = self
                .number
                .whole_in(unit.size, row.size)
                .filter(|whole| *whole > 0 && unit.family == UnitFamily::Time);
            exact.or_else(|| whole.map(|whole| Decimal::new(whole, 0)))
        })
    }

    /// The end of the number that begins at `start`, including its unit, if it is this quantity.
    pub(super) fn end_at(&self, text: &str, start: usize, number: &mut NumberAt) -> Option<usize> {
        let (before, rest) = text.split_at(start);
        let used = if rest.starts_with(|first: char| first.is_ascii_digit()) {
            number.read(text, start);
            self.length_in_digits(text, start, number)
        } else {
            // "one" is mostly a pronoun.
            let may_be_word =
                self.unit != QuantityUnit::None || !self.number.equals(1, Decimal::new(1, 0), 1);
            let (number, length) = numerals::read(rest).filter(|_| may_be_word)?;
            self.length_with(before, rest, number, length)
        };
        used.map(|used| start + used)
    }

    fn length_in_digits(&self, text: &str, start: usize, number: &NumberAt) -> Option<usize> {
        let (before, rest) = text.split_at(start);
        if number.is_inside {
            return None;
        }
        let time = matches!(&self.unit, QuantityUnit::Known(own) if own.family == UnitFamily::Time);
        if let (QuantityUnit::Known(own), Some((sum, largest, length))) =
            (&self.unit, time.then(|| duration(rest)).flatten())
        {
            let is_same =
                begins_number(before) && self.number.equals(own.size, Decimal::new(sum, 0), 1);
            return (is_same && !continues_duration(before, largest)).then_some(length);
        }
        // Most numbers that begin like this one are others.
        let may_be =
            |number: Decimal| matches!(self.unit, QuantityUnit::Known(_)) || number == self.number;
        let mut readings = number.readings.iter().flatten();
        readings.find_map(|(number, length)| {
            may_be(*number).then(|| self.length_with(before, rest, *number, *length))?
        })
    }

    /// The length of the number and its unit, if they are this quantity.
    fn length_with(
        &self,
        before: &str,
        rest: &str,
        number: Decimal,
        length: usize,
    ) -> Option<usize> {
        let after = &rest[length..];
        let (unit, used) = match &self.unit {
            QuantityUnit::None => (None, 0),
            QuantityUnit::Words(words) => (
                None,
                words_after(after, words)
                    .or_else(|| units::is_in_key(before, words).then_some(0))?,
            ),
            QuantityUnit::Known(_) => match unit_after(after) {
                Some((unit, used)) => (Some(unit), used),
                None => (unit_before(before).or_else(|| units::of_key(before)), 0),
            },
        };
        let outside = if used == 0 && unit_before(before).is_some() {
            without_unit(before)
        } else {
            before
        };
        let is_whole = begins_number(outside) && !after[used..].starts_with(is_word);
        let is_same = match (&self.unit, unit) {
            (QuantityUnit::Known(own), Some(found)) => {
                let is_part =
                    found.family == UnitFamily::Time && continues_duration(before, found.size);
                own.family == found.family
                    && self.number.equals(own.size, number, found.size)
                    && !is_part
            }
            (QuantityUnit::Known(_), None) => false,
            _ => self.number.equals(1, number, 1),
        };
        (is_whole && is_same && (has_minus(outside) || !self.is_negative)).then_some(length + used)
    }

    /// Whether the number at `start` has the sign of this one.
    pub(super) fn has_same_sign(&self, text: &str, start: usize) -> bool {
        let before = &text[..start];
        let outside = if unit_before(before).is_some() {
            without_unit(before)
        } else {
            before
        };
        let is_negative = [before, outside]
            .into_iter()
            .any(|before| has_minus(before) || ends_in_minus(before));
        is_negative == self.is_negative
    }
}

/// Whether a number may begin after this text: not after a word, or after a number with a point, a
/// comma or an apostrophe.
fn begins_number(before: &str) -> bool {
    let mut letters = before.chars().rev();
    match letters.next() {
        Some('.' | ',' | '\'') => !letters.next().is_some_and(|letter| letter.is_ascii_digit()),
        Some(letter) => !is_word(letter),
        None => true,
    }
}

/// A minus precedes a number and does not follow a word: `1000-4500` is a range.
fn has_minus(before: &str) -> bool {
    before
        .strip_suffix('-')
        .is_some_and(|rest| rest.is_empty() || rest.ends_with([' ', '\n', '(', '[', '=', ':', ',']))
}

fn ends_in_minus(before: &str) -> bool {
    let word = before
        .trim_end_matches(' ')
        .rsplit(|letter: char| !letter.is_alphabetic())
        .next()
        .unwrap_or_default();
    before.ends_with(' ')
        && (word.eq_ignore_ascii_case("minus") || word.eq_ignore_ascii_case("negative"))
}

/// The sum in nanoseconds of a duration in several units, largest first, its largest unit and its
/// length: `1 h 30 min`, `2m30s`.
fn duration(text: &str) -> Option<(u128, u64, usize)> {
    let (mut sum, mut end, mut parts) = (0_u128, 0, 0);
    let (mut largest, mut smallest) = (0, u64::MAX);
    loop {
        let gap = if parts == 0 { 0 } else { joint(&text[end..]) };
        let Some((part, size, length)) =
            time(&text[end + gap..]).filter(|(_, size, _)| *size < smallest)
        else {
            break;
        };
        (sum, smallest) = (sum.checked_add(part)?, size);
        (end, parts, largest) = (end + gap + length, parts + 1, size.max(largest));
    }
    (parts > 1).then_some((sum, largest, end))
}

/// A number with a unit of time: the nanoseconds, the unit's size and the length.
fn time(text: &str) -> Option<(u128, u64, usize)> {
    let (number, length) = Decimal::read(text)?;
    let gap = usize::from(text[length..].starts_with(' '));
    let name = units::letters(&text[length + gap..]);
    let size = units::part_of_duration(name)?;
    Some((number.units_of(size)?, size, length + gap + name.len()))
}

/// What joins two parts of a duration.
fn joint(text: &str) -> usize {
    [", and ", " and ", ", ", " "]
        .iter()
        .find(|joint| text.starts_with(**joint))
        .map_or(0, |joint| joint.len())
}

/// Whether a number with a unit of this size after this text is a later part of a duration.
fn continues_duration(before: &str, size: u64) -> bool {
    let ends = [", and ", " and ", ", ", " ", ""];
    let first = ends
        .iter()
        .find_map(|joint| before.strip_suffix(joint))
        .unwrap_or(before);
    let rest = first.trim_end_matches(char::is_alphabetic);
    let is_larger = units::part_of_duration(&first[rest.len()..]).is_some_and(|unit| unit > size);
    is_larger
        && rest
            .trim_end_matches(' ')
            .ends_with(|letter: char| letter.is_ascii_digit())
}

fn words_after(text: &str, words: &str) -> Option<usize> {
    let gap = units::gap(text);
    let mut found = text[gap..].char_indices();
    for wanted in words.chars() {
        let (_, letter) = found.next()?;
        let is_same =
            letter.to_lowercase().eq(wanted.to_lowercase()) || (letter == '\n' && wanted == ' ');
        if !is_same {
            return None;
        }
    }
    Some(gap + found.offset())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_open_as_in_every_exact_unit() {
        let openings = |value: &str| {
            let openings = Quantity::parse(value)?.openings();
            let mark =
                |(text, is_part): (String, bool)| if is_part { format!("{text}..") } else { text };
            Some(openings.into_iter().map(mark).collect::<Vec<_>>().join(" "))
        };
        let of = |all: &str| Some(all.to_owned());
        assert_eq!(openings("4500 ms"), of("0 4 4500 4500000 4500000000 four"));
        assert_eq!(openings("482,131 rows"), of("4.. 482.. 482131"));
        assert_eq!(openings("2 GB"), of("2 two"));
        assert_eq!(openings("48.213%"), of("4.. 48"));
        for text in [
            "v1.10",
            "1.2.3",
            "3/4",
            "12:30",
            "2024-05-01",
            "",
            "-",
            "twelve",
        ] {
            assert_eq!(openings(text), None, "{text}");
        }
    }
}
