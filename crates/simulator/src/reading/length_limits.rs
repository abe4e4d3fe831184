//! Limits on length that an instruction states, such as `at most 300 words` or `200-300 words`.

/// A limit on length, and its position in the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    /// The largest number of units.
    pub(crate) most: u32,
    /// The unit.
    pub(crate) unit: LimitUnit,
    /// The byte position of the number.
    pub(crate) at: usize,
}

/// The unit of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitUnit {
    Words,
    Tokens,
}

/// Every upper limit that a text states, in order. The upper end of a range counts, `at least` does
/// not.
pub(crate) fn limits(text: &str) -> Vec<Limit> {
    let mut limits = Vec::new();
    let mut before = "";
    let mut last_number: Option<(u32, usize, &str)> = None;
    for raw in text.split_whitespace() {
        let word = raw.trim_matches(|letter: char| !letter.is_alphanumeric());
        let at = word.as_ptr() as usize - text.as_ptr() as usize;
        if let (Some((most, start, lead)), Some(unit)) = (last_number, unit(word))
            && !["least", "minimum", "over"].contains(&lead)
        {
            limits.push(Limit {
                most,
                unit,
                at: start,
            });
        }
        let number = number(word);
        if let Some((most, Some(unit))) = number {
            limits.push(Limit { most, unit, at });
        }
        // A number at the end of a clause is not a limit on the words of the next one.
        last_number = number
            .filter(|_| raw.ends_with(word))
            .map(|(most, _)| (most, at, before));
        before = word;
    }
    limits
}

fn unit(word: &str) -> Option<LimitUnit> {
    let is = |names: [&str; 2]| names.iter().any(|name| name.eq_ignore_ascii_case(word));
    match () {
        () if is(["word", "words"]) => Some(LimitUnit::Words),
        () if is(["token", "tokens"]) => Some(LimitUnit::Tokens),
        () => None,
    }
}

/// A number such as `300`, `1,024`, `200-300` (its upper end) or `300-word` (with its unit).
fn number(word: &str) -> Option<(u32, Option<LimitUnit>)> {
    let (number, unit_inside) = match word.rsplit_once(['-', '–']) {
        Some((number, last)) => match unit(last) {
            Some(unit) => (number, Some(unit)),
            None => (last, None),
        },
        None => (word, None),
    };
    let number = number
        .rsplit(['-', '–'])
        .next()
        .unwrap_or(number)
        .replace([',', '_'], "");
    Some((number.parse().ok()?, unit_inside))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits_in(text: &str) -> Vec<(u32, LimitUnit)> {
        limits(text)
            .into_iter()
            .map(|limit| (limit.most, limit.unit))
            .collect()
    }

    #[test]
    fn reads_common_forms() {
        use LimitUnit::{Tokens, Words};
        assert_eq!(limits_in("in at most 1,024 tokens."), [(1_024, Tokens)]);
        assert_eq!(
            limits_in("Keep it to 200-300 words maximum; a 50-word title"),
            [(300, Words), (50, Words)]
        );
        assert_eq!(
            limits_in("at least 20 words, under 90 words"),
            [(90, Words)]
        );
        assert_eq!(
            limits_in("rules 1 and 2; words matter; 99999999999 words"),
            []
        );
    }
}
