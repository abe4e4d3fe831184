//! Faults in single values: one that was never stated, and one that no longer holds.

use std::collections::BTreeMap;

use super::{Effect, ModelFault, json};
use crate::reading;
use crate::reading::cues::is_stop_word;
use crate::reading::terms::{ReadTerm, stem, terms};

pub(super) const SWAPPED_DIGITS: ModelFault = ModelFault {
    name: "swapped-digits",
    about: "two neighbouring digits of one value are swapped",
    effect: Effect::Text(|text, scene| {
        let digits = text.as_bytes();
        let pairs = digits
            .windows(2)
            .enumerate()
            .filter(|(_, pair)| pair.iter().all(u8::is_ascii_digit));
        let pairs = pairs
            .filter(|(_, pair)| pair[0] != pair[1])
            .map(|(at, _)| at)
            .collect::<Vec<_>>();
        let at = scene.pick(&pairs)?;
        let (left, right) = (&text[at..=at], &text[at + 1..at + 2]);
        let swapped = format!("{}{right}{left}{}", &text[..at], &text[at + 2..]);
        json::still_reads(text, &swapped).then_some(swapped)
    }),
};

pub(super) const STALE_VALUE: ModelFault = ModelFault {
    name: "stale-value",
    about: "a value is replaced everywhere by an older one of equal shape about the most similar subject",
    effect: Effect::Text(|text, scene| {
        let material = reading::material(scene.request);
        let values = ValuesByShape::new(&material);
        let mut newer: Vec<&str> = terms(text).iter().map(|term| term.text).collect();
        newer.sort_unstable();
        newer.dedup();
        newer.retain(|value| values.before(value).is_some());
        let newer = scene.pick(&newer)?;
        Some(replaced(text, newer, values.older(newer)?))
            .filter(|stale| json::still_reads(text, stale))
    }),
};

/// The values of a material by shape, each with its first mention.
struct ValuesByShape<'m> {
    by_shape: BTreeMap<String, Vec<SaidValue<'m>>>,
}

#[derive(Clone, Copy)]
struct SaidValue<'m> {
    value: &'m str,
    line: &'m str,
}

impl<'m> ValuesByShape<'m> {
    fn new(material: &'m [String]) -> Self {
        let mut by_shape: BTreeMap<String, Vec<SaidValue<'m>>> = BTreeMap::new();
        let mut seen = std::collections::HashSet::new();
        for line in material.iter().flat_map(|message| message.lines()) {
            // Inside JSON, a value with a backslash would be read differently.
            let values = terms(line)
                .into_iter()
                .filter(|term| term.is_value() && !term.text.contains('\\'));
            for ReadTerm { text: value, .. } in values {
                if seen.insert(value) {
                    by_shape
                        .entry(shape(value))
                        .or_default()
                        .push(SaidValue { value, line });
                }
            }
        }
        ValuesByShape { by_shape }
    }

    /// Among earlier values of equal shape, the one whose line shares most words with the value's
    /// line; on a tie, the latest.
    fn older(&self, value: &str) -> Option<&'m str> {
        let (said, before) = self.before(value)?;
        let words = words(said.line);
        let shared = |other: &&SaidValue<'m>| {
            self::words(other.line)
                .iter()
                .filter(|word| words.contains(word))
                .count()
        };
        before.iter().max_by_key(shared).map(|older| older.value)
    }

    /// The mention of a value, and the earlier values of equal shape, if there are any.
    fn before(&self, value: &str) -> Option<(SaidValue<'m>, &[SaidValue<'m>])> {
        let alike = self.by_shape.get(&shape(value))?;
        let at = alike
            .iter()
            .position(|said| said.value == value)
            .filter(|at| *at > 0)?;
        Some((alike[at], &alike[..at]))
    }
}

fn words(line: &str) -> Vec<String> {
    let plain = terms(line)
        .into_iter()
        .filter(|term| !term.is_value())
        .map(|term| stem(term.text).into_owned());
    let mut words: Vec<String> = plain.filter(|stem| !is_stop_word(stem)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The shape of a value: runs with a digit, runs of letters, and the characters between them.
fn shape(value: &str) -> String {
    let mut shape = String::new();
    let mut rest = value;
    while let Some(first) = rest.chars().next() {
        let end = if first.is_alphanumeric() {
            rest.find(|letter: char| !letter.is_alphanumeric())
                .unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (run, after) = rest.split_at(end);
        match first.is_alphanumeric() {
            true => shape.push(if run.contains(char::is_numeric) {
                '9'
            } else {
                'a'
            }),
            false => shape.push(first),
        }
        rest = after;
    }
    shape
}

/// The text with every whole occurrence of one value replaced by another.
fn replaced(text: &str, newer: &str, older: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let mut at = 0;
    for term in terms(text).iter().filter(|term| term.text == newer) {
        written.push_str(&text[at..term.start]);
        written.push_str(older);
        at = term.start + newer.len();
    }
    written + &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_value_has_equal_shape_and_the_most_similar_subject() {
        let material = [
            "The retry pause is 30.",
            "Ports: 8080, db_7",
            "The retry pause is now 450.",
        ]
        .map(str::to_owned);
        let values = ValuesByShape::new(&material);
        assert_eq!(values.older("450"), Some("30"));
        assert_eq!(values.older("8080"), Some("30"));
        assert_eq!(values.older("30"), None);
        assert_eq!(values.older("db_7"), None);
        assert_eq!(values.older("99"), None);
    }

    #[test]
    fn shapes_distinguish_kinds() {
        assert_eq!(shape("svc-3fa2-12"), shape("app-77-9"));
        assert_ne!(shape("svc-3fa2"), shape("svc/3fa2"));
        assert_eq!(
            replaced("450, 4500 and 450.", "450", "30"),
            "30, 4500 and 30."
        );
    }
}
