//! Exact decimal numbers: parsing, comparing across units, and their leading digits.
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

impl Decimal {
    /// The number at the start of the text, with its length. It must not be part of a version or a date, be too long, or have
    /// leading zeros, which codes have.
    pub(super) fn read(text: &str) -> Option<(Self, usize)> {
        let whole = digits(text);
        let mut end = whole;
        while (1..=3).contains(&whole) && text[end..].starts_with(',') && digits(&text[end + 1..]) == 3 {
            end += 4;
        }
        let fraction = if text[end..].starts_with('.') { digits(&text[end + 1..]) } else { 0 };
        let length = if fraction > 0 { end + 1 + fraction } else { end };
        let goes_on = text[length..].starts_with(['.', ',']) && digits(&text[length + 1..]) > 0;
        let all = text[..length].bytes().filter(u8::is_ascii_digit).collect::<Vec<_>>();
        let is_padded = whole > 1 && text.starts_with('0');
        if whole == 0 || is_padded || goes_on || all.len() > MOST_DIGITS {
            return None;
        }
        let number = all.iter().fold(0, |number, digit| number * 10 + u128::from(digit - b'0'));
        Some((Decimal { digits: number, decimals: fraction as u32 }.shortened(), length))
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
            10_u128.checked_pow(decimals)?.checked_mul(number.digits)?.checked_mul(size.into())
        };
        let (left, right) = (sides(self, size, other.decimals), sides(other, other_size, self.decimals));
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
        Some(Decimal { digits: digits / u128::from(to), decimals }.shortened())
    }

    /// Its digits before the decimal point, with and without thousands separators.
    pub(super) fn openings(self) -> Vec<String> {
        let plain = (self.digits / 10_u128.pow(self.decimals)).to_string();
        let separated = (plain.len() >= 4).then(|| with_separators(&plain));
        std::iter::once(plain).chain(separated).collect()
    }
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn with_separators(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
