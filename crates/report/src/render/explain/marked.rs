//! Marks the values of facts in a text, letter by letter. This only guides the eye: the matcher
//! decides whether a text holds a fact, and knows other spellings too.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use compactometer_formats::scenario::Fact;

/// A piece of text, and the fact whose value it is, if any.
#[derive(Debug, PartialEq)]
pub(super) struct MarkedText<'t> {
    pub(super) text: &'t str,
    pub(super) fact: Option<&'t str>,
}

/// Finds the values of facts.
pub(in crate::render) struct FactMarks<'f> {
    /// Absent if there are more values than an automaton takes; then nothing is marked.
    finds: Option<AhoCorasick>,
    /// The first fact of each form.
    ids: Vec<&'f str>,
}

impl<'f> FactMarks<'f> {
    pub(in crate::render) fn new(facts: impl Iterator<Item = &'f Fact>) -> Self {
        let mut forms = BTreeMap::new();
        for fact in facts {
            for form in fact.forms().filter(|form| !form.is_empty()) {
                forms.entry(form).or_insert(fact.id.as_str());
            }
        }
        // The fastest kind takes seconds to build for a long value.
        let finds = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::ContiguousNFA))
            .build(forms.keys());
        FactMarks {
            finds: finds.ok(),
            ids: forms.into_values().collect(),
        }
    }

    /// The text in pieces; of values that overlap the one that begins first, and of these the
    /// longest.
    pub(super) fn pieces<'t>(&self, text: &'t str) -> Vec<MarkedText<'t>>
    where
        'f: 't,
    {
        let found = self
            .finds
            .iter()
            .flat_map(|finds| finds.find_overlapping_iter(text));
        let whole = found.filter(|found| is_whole(text, found.start(), &text[found.range()]));
        let mut found = whole
            .map(|found| {
                (
                    found.start(),
                    Reverse(found.len()),
                    self.ids[found.pattern().as_usize()],
                )
            })
            .collect::<Vec<_>>();
        found.sort_unstable();
        let (mut pieces, mut done) = (Vec::new(), 0);
        for (at, Reverse(length), fact) in found {
            if at < done {
                continue;
            }
            if at > done {
                pieces.push(MarkedText {
                    text: &text[done..at],
                    fact: None,
                });
            }
            done = at + length;
            pieces.push(MarkedText {
                text: &text[at..done],
                fact: Some(fact),
            });
        }
        if done < text.len() {
            pieces.push(MarkedText {
                text: &text[done..],
                fact: None,
            });
        }
        pieces
    }
}

/// Whether it is not part of a longer word or number.
fn is_whole(text: &str, at: usize, form: &str) -> bool {
    let meets = |one: Option<char>, other: Option<char>| {
        one.zip(other)
            .is_some_and(|(one, other)| one.is_alphanumeric() && other.is_alphanumeric())
    };
    let (before, after) = (
        text[..at].chars().next_back(),
        text[at + form.len()..].chars().next(),
    );
    !meets(before, form.chars().next()) && !meets(form.chars().next_back(), after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(id: &str, value: &str) -> Fact {
        let json = serde_json::json!({"id": id, "category": "incidental", "subject": "s", "value": value,
            "value_kind": "id", "evidence_message_ids": [0], "stated_by": "user"});
        serde_json::from_value(json).expect("it is a fact")
    }

    #[test]
    fn whole_values_are_marked_and_nothing_is_lost() {
        let (port, long, word) = (fact("f1", "84"), fact("f2", "84-3"), fact("f3", "Straße"));
        let marks = FactMarks::new([&port, &long, &word].into_iter());
        for (text, marked) in [
            ("84, 84-3 and 843 in der Straße", vec!["f1", "f2", "f3"]),
            ("Straßen x84", vec![]),
            ("84", vec!["f1"]),
            ("", vec![]),
        ] {
            let pieces = marks.pieces(text);
            assert_eq!(
                pieces.iter().map(|piece| piece.text).collect::<String>(),
                text
            );
            assert_eq!(
                pieces
                    .iter()
                    .filter_map(|piece| piece.fact)
                    .collect::<Vec<_>>(),
                marked,
                "{text}"
            );
        }
    }
}
