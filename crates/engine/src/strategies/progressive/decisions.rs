//! Architecture decisions as records (the progressive plan, phase 2).

use serde::{Deserialize, Deserializer, Serialize};

/// A decision that later work builds on. No level and no merge changes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchitectureDecision {
    /// Its number in the session, ascending from 1.
    pub id: u32,
    /// What was decided.
    pub decision: String,
    /// Why; empty where the answer gave no reason.
    pub reason: String,
    /// What follows from it; empty where the answer named nothing.
    pub impact: String,
    /// When the last message of its part was sent, in milliseconds since the Unix epoch.
    pub at_ms: Option<i64>,
}

impl ArchitectureDecision {
    /// Reads an item of an answer: a decision, then `reason:` and `impact:` in any order, each
    /// after a mark or a blank. An item in which one of them has no value is a decision as a whole.
    pub(super) fn read(id: u32, item: &str, at_ms: Option<i64>) -> Self {
        let whole = ArchitectureDecision {
            id,
            decision: item.to_owned(),
            at_ms,
            ..Default::default()
        };
        let mut read = whole.clone();
        let mut rest = item;
        let mut labels = [REASON, IMPACT].map(|label| (place(item, label), label));
        labels.sort_unstable();
        for (at, label) in labels
            .into_iter()
            .rev()
            .filter_map(|(at, label)| Some((at?, label)))
        {
            let value = rest[at + label.len()..].trim_matches(SEPARATORS);
            if value.is_empty() {
                return whole;
            }
            let field = if label == REASON {
                &mut read.reason
            } else {
                &mut read.impact
            };
            value.clone_into(field);
            rest = &rest[..at];
        }
        rest.trim_end_matches(SEPARATORS)
            .clone_into(&mut read.decision);
        read
    }

    /// Its words, as one item.
    pub(super) fn text(&self) -> String {
        let parts = [(REASON, &self.reason), (IMPACT, &self.impact)]
            .into_iter()
            .filter(|(_, value)| !value.is_empty());
        parts.fold(self.decision.clone(), |text, (label, value)| {
            format!("{text}; {label} {value}")
        })
    }
}

const REASON: &str = "reason:";
const IMPACT: &str = "impact:";
/// What is between the parts of an item.
const SEPARATORS: [char; 6] = [' ', ';', ',', '—', '–', '-'];

/// Where a label begins that has a decision before it.
fn place(item: &str, label: &str) -> Option<usize> {
    let lower = item.to_ascii_lowercase();
    let is_label = |at: &usize| {
        item[..*at].ends_with(SEPARATORS) && !item[..*at].trim_matches(SEPARATORS).is_empty()
    };
    lower.match_indices(label).map(|(at, _)| at).find(is_label)
}

/// Decisions of a record; in older records they are texts.
pub(super) fn from_record<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<ArchitectureDecision>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Record(ArchitectureDecision),
        Text(String),
    }
    let stored = Vec::<Stored>::deserialize(deserializer)?;
    let read = |(at, stored)| match stored {
        Stored::Record(decision) => decision,
        Stored::Text(text) => ArchitectureDecision::read(at as u32 + 1, &text, None),
    };
    Ok(stored.into_iter().enumerate().map(read).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parts(item: &str) -> [String; 3] {
        let ArchitectureDecision {
            decision,
            reason,
            impact,
            ..
        } = ArchitectureDecision::read(1, item, None);
        [decision, reason, impact]
    }

    #[test]
    fn reasons_and_impacts_are_read_as_models_mark_them() {
        assert_eq!(
            parts("Use pg 16; reason: JSON; impact: no Redis"),
            ["Use pg 16", "JSON", "no Redis"]
        );
        assert_eq!(
            parts("Split the API reason: load"),
            ["Split the API", "load", ""]
        );
        assert_eq!(
            parts("Use pg — Impact: no Redis, Reason: JSON"),
            ["Use pg", "JSON", "no Redis"]
        );
        assert_eq!(
            parts("The treason: a play"),
            ["The treason: a play", "", ""]
        );
        assert_eq!(parts("reason: JSON"), ["reason: JSON", "", ""]);
        assert_eq!(parts("Use İ; reason: JSON"), ["Use İ", "JSON", ""]);
        assert_eq!(
            parts("Use pg; reason:; impact: none"),
            ["Use pg; reason:; impact: none", "", ""]
        );
    }

    proptest! {
        #[test]
        fn the_text_keeps_every_word(item in "([A-Za-z1-9]{1,8}|reason:|impact:|一-龥|İ|[;,—]| ){1,14}") {
            let words = |text: &str| {
                let all = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
                let mut all = all.map(str::to_lowercase).collect::<Vec<_>>();
                all.sort();
                all
            };
            prop_assert_eq!(words(&ArchitectureDecision::read(1, item.trim(), None).text()), words(&item));
        }
    }
}
