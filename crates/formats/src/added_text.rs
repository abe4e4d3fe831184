//! Texts that can be added to what a compaction leaves: a ledger, and what it has to beat.

use serde::Serialize;

/// A text that can be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AddedText {
    /// Values at random.
    RandomValues,
    /// The end of the conversation before the compaction.
    NewestText,
    /// The values that most messages said.
    FrequentValues,
    /// A ledger of what the compaction did not leave.
    Ledger,
    /// The values of that ledger, and of more of them, without what they belong to.
    BareValues,
}

/// What is known of an added text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddedTextRow {
    /// The text.
    pub text: AddedText,
    /// Its parameter as users type it.
    pub parameter: &'static str,
    /// A line about it.
    pub about: &'static str,
    /// What it is called behind a number of tokens.
    pub name: &'static str,
    /// Its key in JSON, behind `with_` for a share and `in_` for a value.
    pub key: &'static str,
    /// How many such texts are made to know what one holds on average, at most 32.
    pub draws: usize,
}

impl AddedText {
    /// All, each after those that it has to beat.
    pub const ROWS: [AddedTextRow; 5] = [
        AddedTextRow {
            text: AddedText::RandomValues,
            parameter: "random_values",
            about: "values at random",
            name: "random values",
            key: "random",
            draws: 20,
        },
        AddedTextRow {
            text: AddedText::NewestText,
            parameter: "newest_text",
            about: "the end of the conversation",
            name: "the newest text",
            key: "newest_text",
            draws: 1,
        },
        AddedTextRow {
            text: AddedText::FrequentValues,
            parameter: "frequent_values",
            about: "the values that most messages said",
            name: "frequent values",
            key: "frequent",
            draws: 1,
        },
        AddedTextRow {
            text: AddedText::Ledger,
            parameter: "ledger",
            about: "a ledger of what the compaction did not leave",
            name: "a ledger",
            key: "ledger",
            draws: 1,
        },
        AddedTextRow {
            text: AddedText::BareValues,
            parameter: "bare_values",
            about: "the values of such a ledger without what they belong to",
            name: "its bare values",
            key: "unbound",
            draws: 1,
        },
    ];

    /// What is known of it.
    pub fn row(self) -> AddedTextRow {
        Self::ROWS[self.place()]
    }

    /// Its place among [`AddedText::ROWS`].
    pub fn place(self) -> usize {
        self as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_its_row_at_its_place() {
        for (place, row) in AddedText::ROWS.iter().enumerate() {
            assert_eq!((row.text.place(), row.text.row()), (place, *row));
            assert!((1..=32).contains(&row.draws), "{row:?}");
        }
    }
}
