//! Numbers in English words: `three`, `twenty-five`, `two hundred thousand`, `half`, `two and a
//! half`.
//!
//! Absent on purpose: ordinals, and `a` for one, since "ten times a day" is not one day.

use super::decimal::Decimal;

const SMALL: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const TENS: [&str; 8] = [
    "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
];
const MAGNITUDES: [(&str, u128); 4] = [
    ("hundred", 100),
    ("thousand", 1_000),
    ("million", 1_000_000),
    ("billion", 1_000_000_000),
];

/// Numbers from here on are treated as text.
const LARGEST: u128 = 1_000_000_000_000_000_000;

/// The first word of a number, if it is short enough to be written in words.
pub(super) fn opening(number: Decimal) -> Option<&'static str> {
    let (whole, has_half) = number.halves()?;
    if has_half && whole == 0 {
        return Some("half");
    }
    let leading = [1, 1_000, 1_000_000, 1_000_000_000]
        .into_iter()
        .rev()
        .find(|size| whole >= *size)
        .unwrap_or(1);
    let is_round = whole.is_multiple_of(leading) && whole / leading < 1_000;
    let mut first = whole / leading;
    if first >= 100 {
        first /= 100;
    }
    let word = if first < 20 {
        SMALL.get(first as usize)
    } else {
        TENS.get((first / 10).checked_sub(2)? as usize)
    };
    word.copied().filter(|_| is_round)
}

/// The number in words at the start of a text, with its length.
pub(super) fn read(text: &str) -> Option<(Decimal, usize)> {
    if let Some(end) = word_end(text, "half") {
        let article = ["an", "a"]
            .iter()
            .find_map(|word| next_word(text, end, word));
        return Some((Decimal::new(5, 1), article.unwrap_or(end)));
    }
    let (mut number, mut end) = small(text)?;
    loop {
        let more = MAGNITUDES
            .iter()
            .find_map(|(name, size)| Some((size, next_word(text, end, name)?)));
        let Some((size, after)) = more else { break };
        (number, end) = (number * size, after);
        (number < LARGEST).then_some(())?;
        let rest = next_word(text, end, "and").unwrap_or(end);
        if let Some((added, length)) = text[rest..]
            .strip_prefix([' ', '-'])
            .and_then(small)
            .filter(|_| *size == 100)
        {
            (number, end) = (number + added, rest + 1 + length);
        }
    }
    let half = ["and", "a", "half"]
        .iter()
        .try_fold(end, |end, word| next_word(text, end, word));
    Some(half.map_or((Decimal::new(number, 0), end), |end| {
        (Decimal::new(number * 10 + 5, 1), end)
    }))
}

/// A number below a hundred at the start of a text.
fn small(text: &str) -> Option<(u128, usize)> {
    let named = |names: &[&str]| {
        names
            .iter()
            .enumerate()
            .find_map(|(place, name)| Some((place as u128, word_end(text, name)?)))
    };
    if let Some(found) = named(&SMALL) {
        return Some(found);
    }
    let (tens, end) = named(&TENS)?;
    let ones =
        (1..10).find_map(|digit| Some((digit, next_word(text, end, SMALL[digit as usize])?)));
    Some(ones.map_or((tens * 10 + 20, end), |(digit, end)| {
        (tens * 10 + 20 + digit, end)
    }))
}

/// The end of the word after a blank or a hyphen at `from`.
fn next_word(text: &str, from: usize, word: &str) -> Option<usize> {
    let rest = text[from..].strip_prefix([' ', '\n', '-'])?;
    Some(from + 1 + word_end(rest, word)?)
}

/// The end of a word at the start of a text.
fn word_end(text: &str, word: &str) -> Option<usize> {
    let found = text.get(..word.len())?.eq_ignore_ascii_case(word);
    (found && !text[word.len()..].starts_with(super::is_word)).then_some(word.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_numbers() {
        for (text, digits, decimals) in [
            ("three", 3, 0),
            ("Twenty-five", 25, 0),
            ("one hundred and twenty", 120, 0),
            ("two hundred thousand", 200_000, 0),
            ("two hundred and fifty thousand", 250_000, 0),
            ("half an", 5, 1),
            ("two and a half", 25, 1),
        ] {
            let number = Decimal::new(digits, decimals);
            assert_eq!(
                read(&format!("{text} days")),
                Some((number, text.len())),
                "{text}"
            );
            let first = text.split([' ', '-']).next().map(str::to_lowercase);
            assert_eq!(opening(number).map(str::to_owned), first, "{text}");
        }
        let too_large = format!("ninety-nine{} and a half", " billion".repeat(5));
        for text in ["a day", "oneself", "third", &too_large] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
