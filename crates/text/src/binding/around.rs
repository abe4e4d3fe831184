//! The words around a value that has no subject: whether a clause says something about it, and what
//! is said near it.
//!
//! Absent on purpose: whether what is said is right. A value beside the words of another one has
//! words around it, too.

use std::collections::BTreeSet;
use std::ops::Range;

use super::units::units;
use super::words::words;
use crate::exact;
use crate::matcher::{Matcher, normal};

/// What is around one occurrence of a value. Words of exact values, its own included, do not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Around {
    /// The item of the matcher.
    pub item: u32,
    /// Whether the clause has enough words of its own to say something.
    pub is_stated: bool,
    /// The words of the sentence, cell or pair.
    pub words: BTreeSet<String>,
}

/// A clause that says something has at least this many words.
const FEWEST_WORDS: usize = 2;

/// Each occurrence of a value in the text, in order.
pub fn around(values: &Matcher, text: &str) -> Vec<Around> {
    let mut found = Vec::new();
    if values.find(text).next().is_none() {
        return found;
    }
    for unit in units(text) {
        let text = normal(&unit.text);
        let occurrences = values.occurrences(&text).collect::<Vec<_>>();
        if occurrences.is_empty() {
            continue;
        }
        let masked = exact::places(&text).collect::<Vec<_>>();
        let others = words(&text);
        for (item, value) in occurrences {
            let is_masked = |place: &Range<usize>| {
                masked
                    .iter()
                    .chain([&value])
                    .any(|mask| overlap(mask, place))
            };
            let clause = clause(&text, &value, is_masked);
            let own = others
                .iter()
                .filter(|word| !is_masked(&(word.start..word.end)));
            let in_clause = own
                .clone()
                .filter(|word| overlap(&clause, &(word.start..word.end)))
                .count();
            let words = own.map(|word| word.stem.clone()).collect();
            found.push(Around {
                item: item as u32,
                is_stated: in_clause >= FEWEST_WORDS,
                words,
            });
        }
    }
    found
}

/// The clause around a value: up to the next comma, semicolon or bar of a table that is part of no
/// value.
fn clause(
    text: &str,
    value: &Range<usize>,
    is_masked: impl Fn(&Range<usize>) -> bool,
) -> Range<usize> {
    let marks = text
        .match_indices([',', ';', '|'])
        .map(|(at, _)| at)
        .filter(|at| !is_masked(&(*at..at + 1)));
    let (before, after): (Vec<_>, Vec<_>) = marks.partition(|at| *at < value.start);
    let start = before.last().map_or(0, |at| at + 1);
    start..after.first().copied().unwrap_or(text.len())
}

fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::ValueKind;

    const VALUES: [&str; 3] = ["KX-4711", "lib/cart.ex", "1,204"];

    fn around_values(text: &str) -> Vec<(u32, bool, Vec<String>)> {
        let kinds = [ValueKind::Id, ValueKind::Path, ValueKind::Number];
        let matcher = Matcher::new(kinds.into_iter().zip(VALUES.map(|value| [value])));
        around(&matcher, text)
            .into_iter()
            .map(|of| (of.item, of.is_stated, of.words.into_iter().collect()))
            .collect()
    }

    #[test]
    fn a_clause_says_something_and_a_list_does_not() {
        for (text, expected) in [
            ("The billing outage is KX-4711, as reported.", vec![true]),
            ("KX-4711, lib/cart.ex, 1,204", vec![false; 3]),
            ("- KX-4711\n- lib/cart.ex\n- 1,204", vec![false; 3]),
            ("| KX-4711 | lib/cart.ex |", vec![false; 2]),
            ("Rows: 1,204", vec![false]),
            ("The import read 1,204 rows; see KX-4711", vec![true, false]),
            // Words inside other values say nothing about this one.
            (
                "src/billing_outage.rs docs/known_reports.md KX-4711",
                vec![false],
            ),
        ] {
            assert_eq!(
                around_values(text)
                    .into_iter()
                    .map(|(_, is_stated, _)| is_stated)
                    .collect::<Vec<_>>(),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn words_are_those_of_the_unit_without_values() {
        let told = around_values(
            "We fixed the rounding in lib/cart.ex for KX-4711. Nothing else changed.",
        );
        let words = ["fix", "round"].map(str::to_owned).to_vec();
        assert_eq!(told, [(1, true, words.clone()), (0, true, words)]);
    }
}
