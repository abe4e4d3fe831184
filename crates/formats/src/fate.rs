//! The fates of facts, and their compact form of one letter for each fact.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The state of one fact at one point of a conversation.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// Not yet said.
    Unstated,
    /// An original message in the context holds it.
    Verbatim,
    /// A summary or checkpoint in the context holds it.
    Carried,
    /// It is in a store, not in the context. Only in records from before
    /// [`stored`](crate::record::Observation::stored) was kept; how it left the context is unknown
    /// there.
    StoredOnly,
    /// It left before any answered request to a summarizer held it.
    DroppedUnseen,
    /// A summarizer read it and did not write it.
    Unwritten,
    /// It was written once and lost in a later round.
    Eroded,
    /// It left the context, and the transcript does not contain the request that would show at
    /// which stage.
    Lost,
    /// A summarizer read it, and the context holds a summary that only its provider's models read:
    /// whether that has it is unknown.
    Sealed,
    /// It is no longer valid.
    Superseded,
    /// It is present, and nothing explains how it got there: a bug of this program.
    Unexplained,
}

impl Fate {
    /// Every fate of a stated fact, in the order of reports.
    pub const STATED: &'static [Fate] = &[
        Fate::Verbatim,
        Fate::Carried,
        Fate::StoredOnly,
        Fate::DroppedUnseen,
        Fate::Unwritten,
        Fate::Eroded,
        Fate::Lost,
        Fate::Sealed,
        Fate::Superseded,
        Fate::Unexplained,
    ];

    /// The name that reports use.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// Its letter in [`Fates`].
    pub fn letter(self) -> char {
        self.row().2
    }

    /// Whether the fact left the context and is still valid.
    pub fn is_lost(self) -> bool {
        matches!(
            self,
            Fate::StoredOnly
                | Fate::DroppedUnseen
                | Fate::Unwritten
                | Fate::Eroded
                | Fate::Lost
                | Fate::Sealed
        )
    }

    /// Whether the context holds the fact.
    pub fn is_present(self) -> bool {
        matches!(self, Fate::Verbatim | Fate::Carried)
    }

    fn row(self) -> (Fate, &'static str, char) {
        ROWS[self as usize]
    }

    fn from_letter(letter: char) -> Option<Self> {
        ROWS.iter().find(|row| row.2 == letter).map(|row| row.0)
    }
}

/// Each fate in the order of the enum, with its name and letter.
const ROWS: [(Fate, &str, char); 11] = [
    (Fate::Unstated, "unstated", '.'),
    (Fate::Verbatim, "verbatim", 'v'),
    (Fate::Carried, "carried", 'c'),
    (Fate::StoredOnly, "stored_only", 's'),
    (Fate::DroppedUnseen, "dropped_unseen", 'd'),
    (Fate::Unwritten, "unwritten", 'u'),
    (Fate::Eroded, "eroded", 'e'),
    (Fate::Lost, "lost", 'l'),
    (Fate::Sealed, "sealed", 'z'),
    (Fate::Superseded, "superseded", 'x'),
    (Fate::Unexplained, "unexplained", '?'),
];

/// One fate for each fact, in the order of [`crate::record::Record::facts`], written as one letter
/// each.
#[derive(Clone, Debug, Default, PartialEq, Eq, JsonSchema)]
#[schemars(with = "String")]
pub struct Fates(pub Vec<Fate>);

impl Serialize for Fates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0.iter().map(|fate| fate.letter()).collect::<String>())
    }
}

impl<'de> Deserialize<'de> for Fates {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let letters = String::deserialize(deserializer)?;
        let fate = |letter| {
            Fate::from_letter(letter)
                .ok_or_else(|| de::Error::custom(format!("`{letter}` names no fate")))
        };
        letters
            .chars()
            .map(fate)
            .collect::<Result<_, _>>()
            .map(Fates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fates_round_trip_as_letters() {
        let fates = Fates(
            Fate::STATED
                .iter()
                .copied()
                .chain([Fate::Unstated])
                .collect(),
        );
        let json = serde_json::to_string(&fates).expect("serializes");
        assert_eq!(json, "\"vcsduelzx?.\"");
        assert_eq!(serde_json::from_str::<Fates>(&json).expect("parses"), fates);
        assert!(serde_json::from_str::<Fates>("\"vq\"").is_err());
        for (at, (fate, name, _)) in ROWS.iter().enumerate() {
            assert_eq!(
                (
                    *fate as usize,
                    serde_json::to_string(fate).expect("serializes")
                ),
                (at, format!("\"{name}\""))
            );
        }
    }
}
