//! Exact decimal numbers: reading them in the usual notations, comparing across units, and how they
//! begin.
//!
//! Absent on purpose: other arithmetic, and numbers of more than 18 digits.

/// The largest number of decimals that a conversion may add.
const MOST_ADDED: u32 = 3;

/// An exact decimal number without trailing zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    digits: u128,
    pub(super) decimals: u32,
}

/// Numbers with more digits are treated as text.
const MOST_DIGITS: usize = 18;
/// The most bytes that are searched for groups of digits.
const LONGEST: usize = 32;
/// The largest exponent that is read.
const MOST_EXPONENT: u32 = 18;

/// How thousands are separated, and what precedes the decimals.
struct Notation {
    groups: &'static [u8],
    point: u8,
}

const ENGLISH: Notation = Notation {
    groups: b",_'",
    point: b'.',
};
const CONTINENTAL: Notation = Notation {
    groups: b".'",
    point: b',',
};
const SPACED: Notation = Notation {
    groups: b" ",
    point: b'.',
};

/// Magnitudes directly after a number, and as words after it.
const SUFFIXES: &[(&str, u32)] = &[("k", 3), ("K", 3), ("M", 6)];
const MAGNITUDES: &[(&str, u32)] = &[("thousand", 3), ("million", 6), ("billion", 9)];

impl Decimal {
    pub(super) fn new(digits: u128, decimals: u32) -> Self {
        Decimal { digits, decimals }.shortened()
    }

    /// The number at the start of a text of its own, with its length.
    pub(super) fn read(text: &str) -> Option<(Self, usize)> {
        Self::readings("", text).next()
    }

    /// What the number at the start of a text may mean, with its length: `4.500` is 4.5 in English
    /// and 4500 elsewhere. A number must not be part of a version or a date, be too long, or have
    /// leading zeros, which codes have.
    pub(super) fn readings(before: &str, text: &str) -> impl Iterator<Item = (Self, usize)> {
        let all = match text.as_bytes().get(digits(text.as_bytes(), 0)) {
            Some(b' ') => [spaced(before, text).or_else(|| ENGLISH.read(text)), None],
            Some(b'.' | b',') => [ENGLISH.read(text), CONTINENTAL.read(text)],
            _ => [ENGLISH.read(text), None],
        };
        let [first, second] =
            all.map(|found| found.map(|(number, length)| number.with_magnitude(text, length)));
        first.into_iter().chain(second.filter(|_| first != second))
    }

    fn with_magnitude(self, text: &str, length: usize) -> (Self, usize) {
        let rest = &text[length..];
        if !rest.starts_with(['k', 'K', 'M', ' ', '-']) {
            return (self, length);
        }
        let word = rest.strip_prefix([' ', '-']).unwrap_or(rest);
        let suffixes = SUFFIXES
            .iter()
            .filter_map(|(name, tens)| Some((rest.strip_prefix(name)?, tens)));
        let words = MAGNITUDES.iter().filter_map(|(name, tens)| {
            let is_same = word
                .get(..name.len())
                .is_some_and(|found| found.eq_ignore_ascii_case(name));
            is_same.then(|| (&word[name.len()..], tens))
        });
        let mut found = suffixes
            .chain(words)
            .filter(|(rest, _)| !rest.starts_with(super::is_word));
        let scaled = found.find_map(|(rest, tens)| {
            Some((self.with_exponent(*tens, false)?, text.len() - rest.len()))
        });
        scaled.unwrap_or((self, length))
    }

    /// The number times ten to the power.
    fn with_exponent(self, exponent: u32, is_negative: bool) -> Option<Self> {
        let added = if is_negative { exponent } else { 0 };
        let factor = if is_negative {
            1
        } else {
            10_u128.checked_pow(exponent)?
        };
        Some(
            Decimal {
                digits: self.digits.checked_mul(factor)?,
                decimals: self.decimals + added,
            }
            .shortened(),
        )
    }

    fn shortened(mut self) -> Self {
        while self.decimals > 0 && self.digits.is_multiple_of(10) {
            self.digits /= 10;
            self.decimals -= 1;
        }
        self
    }

    /// Whether `self` in one unit equals `other` in another.
    pub(super) fn equals(self, size: u64, other: Decimal, other_size: u64) -> bool {
        let sides = |number: Decimal, size: u64, decimals: u32| {
            10_u128
                .checked_pow(decimals)?
                .checked_mul(number.digits)?
                .checked_mul(size.into())
        };
        let (left, right) = (
            sides(self, size, other.decimals),
            sides(other, other_size, self.decimals),
        );
        left.is_some() && left == right
    }

    /// The same quantity in units of another size, if it has finitely many decimals.
    pub(super) fn scaled(self, from: u64, to: u64) -> Option<Self> {
        let mut digits = self.digits.checked_mul(from.into())?;
        let mut decimals = self.decimals;
        while !digits.is_multiple_of(to.into()) {
            digits = digits.checked_mul(10)?;
            decimals += 1;
            (decimals <= self.decimals + MOST_ADDED).then_some(())?;
        }
        Some(
            Decimal {
                digits: digits / u128::from(to),
                decimals,
            }
            .shortened(),
        )
    }

    /// How many whole units of another size it has.
    pub(super) fn whole_in(self, from: u64, to: u64) -> Option<u128> {
        Some(
            self.digits.checked_mul(from.into())?
                / 10_u128.checked_pow(self.decimals)?
                / u128::from(to),
        )
    }

    /// The sum, in units of size 1, of this many units and more, if it is whole.
    pub(super) fn units_of(self, size: u64) -> Option<u128> {
        let (digits, tens) = (
            self.digits.checked_mul(size.into())?,
            10_u128.checked_pow(self.decimals)?,
        );
        digits.is_multiple_of(tens).then_some(digits / tens)
    }

    /// Whether a number that begins with a part of its digits may go on after them.
    pub(super) fn may_go_on(rest: &[u8]) -> bool {
        let is_digit = || rest.get(1).is_some_and(u8::is_ascii_digit);
        match rest.first() {
            Some(b',' | b'.' | b'_' | b'\'') => is_digit(),
            Some(b' ' | b'-') => {
                is_digit() || matches!(rest.get(1), Some(b't' | b'T' | b'm' | b'M' | b'b' | b'B'))
            }
            Some(b'k' | b'K' | b'M' | b'e' | b'E') => true,
            _ => false,
        }
    }

    /// The runs of digits with which it may begin, and whether each is only a part: all digits
    /// before the point, those before a separator or in front of `k` and `million`, and the first
    /// of a number with an exponent.
    pub(super) fn openings(self) -> impl Iterator<Item = (String, bool)> {
        let plain = (self.digits / 10_u128.pow(self.decimals)).to_string();
        let groups = (plain.len() - 1) / 3;
        let ends = (0..=groups)
            .map(|group| plain.len() - 3 * group)
            .chain([1])
            .collect::<Vec<_>>();
        ends.into_iter()
            .map(move |end| (plain[..end].to_owned(), end < plain.len()))
    }

    /// The digits before the point, and whether exactly a half follows.
    pub(super) fn halves(self) -> Option<(u128, bool)> {
        match self.decimals {
            0 => Some((self.digits, false)),
            1 if self.digits % 10 == 5 => Some((self.digits / 10, true)),
            _ => None,
        }
    }
}

impl Notation {
    fn read(&self, text: &str) -> Option<(Decimal, usize)> {
        let bytes = text.as_bytes();
        let whole = digits(bytes, 0);
        let is_padded = whole > 1 && bytes[0] == b'0';
        let end = self.groups_end(bytes, whole);
        let fraction = if bytes.get(end) == Some(&self.point) {
            digits(bytes, end + 1)
        } else {
            0
        };
        // `4,500` has a separator, not a decimal comma.
        let is_group = self.point == b',' && fraction == 3 && end == whole;
        let length = if fraction > 0 {
            end + 1 + fraction
        } else {
            end
        };
        let all = bytes[..length].iter().filter(|byte| byte.is_ascii_digit());
        if whole == 0
            || is_padded
            || is_group
            || goes_on(bytes, length)
            || all.clone().count() > MOST_DIGITS
        {
            return None;
        }
        let number = all.fold(0, |number, digit| number * 10 + u128::from(digit - b'0'));
        let number = Decimal::new(number, fraction as u32);
        Some(exponent(number, text, length).unwrap_or((number, length)))
    }

    /// The end of groups of three digits with one kind of separator between them.
    fn groups_end(&self, bytes: &[u8], whole: usize) -> usize {
        let mut end = whole;
        let separator = bytes.get(whole).filter(|byte| self.groups.contains(byte));
        let may_open = (1..=3).contains(&whole) && bytes[0] != b'0';
        let goes_on = |end: usize| bytes.get(end) == separator && digits(bytes, end + 1) == 3;
        while may_open && separator.is_some() && end < LONGEST && goes_on(end) {
            end += 4;
        }
        end
    }
}

/// A number with blanks between its groups, if it is not one of a row of numbers.
fn spaced(before: &str, text: &str) -> Option<(Decimal, usize)> {
    let (number, length) = SPACED.read(text)?;
    let is_grouped = text.as_bytes()[..length].contains(&b' ');
    let is_first = before.is_empty()
        || before.ends_with([' ', '\n', '(', '€', '$', '£', '"', '`', '*', '=', '~']);
    let in_row = before
        .trim_end_matches(' ')
        .ends_with(|letter: char| letter.is_ascii_digit())
        || text[length..]
            .strip_prefix(' ')
            .is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_digit()));
    (is_grouped && is_first && !in_row).then_some((number, length))
}

/// Whether the digits at a place belong to a number with blanks between its groups that begins
/// earlier.
pub(super) fn is_inside_spaced(text: &str, start: usize) -> bool {
    let before = text.as_bytes()[..start].iter().rev();
    let chain = before
        .take(LONGEST)
        .take_while(|byte| byte.is_ascii_digit() || **byte == b' ')
        .count();
    let row = text[start - chain..start].trim_start_matches(' ');
    if !row.ends_with(' ') || chain == LONGEST {
        return false;
    }
    let first = start - row.len();
    spaced(&text[..first], &text[first..]).is_some_and(|(_, length)| first + length > start)
}

/// The number with an exponent: `1.25e4`.
fn exponent(number: Decimal, text: &str, length: usize) -> Option<(Decimal, usize)> {
    let rest = text[length..].strip_prefix(['e', 'E'])?;
    let is_negative = rest.starts_with('-');
    let rest = rest.strip_prefix(['-', '+']).unwrap_or(rest);
    let count = digits(rest.as_bytes(), 0);
    let tens = rest[..count]
        .parse()
        .ok()
        .filter(|tens| *tens <= MOST_EXPONENT)?;
    Some((
        number.with_exponent(tens, is_negative)?,
        text.len() - rest.len() + count,
    ))
}

/// Whether a version or a date goes on after a number.
fn goes_on(bytes: &[u8], length: usize) -> bool {
    matches!(bytes.get(length), Some(b'.' | b',')) && digits(bytes, length + 1) > 0
}

fn digits(bytes: &[u8], from: usize) -> usize {
    bytes
        .iter()
        .skip(from)
        .take_while(|byte| byte.is_ascii_digit())
        .count()
}
