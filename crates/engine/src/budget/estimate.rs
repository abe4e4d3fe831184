//! Token estimates of the sources that do not count: what a session compares with its trigger under
//! the published protocol.
//!
//! Absent on purpose: anything that is reported. Every number of a record comes from the exact
//! counter.

use serde::{Deserialize, Serialize};

use crate::conversation::view::{Entry, View};
use crate::message::Part;
use crate::tokens::{sealed_tokens, total};

/// What a trigger is compared with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// The measuring counter, over the view and what is sent beside it.
    #[default]
    Exact,
    /// A quarter of a text's UTF-16 length and 2 a message, without thinking, media and tool
    /// definitions (the summary chain).
    Characters,
    /// By runs of like characters and 2 a message; holds where the summary chain's estimate fails:
    /// digits, punctuation, scripts without blanks. Ours.
    Classes,
    /// Input and output that the last call of the agent reported; nothing before the first and
    /// after a compaction (the agent loop).
    Usage,
    /// The same, and after each compaction the input that a minimal call reports (the agent loop,
    /// `CountTokens`).
    Recount,
}

impl Estimator {
    /// Every estimator, in the order of [`Estimator::NAMES`].
    pub const ALL: &'static [Estimator] = &[
        Self::Exact,
        Self::Characters,
        Self::Classes,
        Self::Usage,
        Self::Recount,
    ];

    /// The names that users type.
    pub const NAMES: &'static [&'static str] =
        &["exact", "characters", "classes", "usage", "recount"];

    /// Whether it is the measuring counter.
    pub fn is_exact(&self) -> bool {
        *self == Self::Exact
    }

    /// Whether it estimates from text.
    pub(crate) fn reads_text(self) -> bool {
        matches!(self, Self::Characters | Self::Classes)
    }

    /// Estimated tokens of one text, for the estimators that read text; 0 for the others.
    ///
    /// ```
    /// use compactometer_engine::estimate::Estimator;
    ///
    /// assert_eq!(Estimator::Characters.of_text("twelve bytes"), 3);
    /// assert!(Estimator::Classes.of_text("今天天气很好") > Estimator::Characters.of_text("今天天气很好"));
    /// ```
    pub fn of_text(self, text: &str) -> u32 {
        match self {
            Self::Characters => (text.encode_utf16().count() as u32).div_ceil(4),
            Self::Classes => by_classes(text),
            Self::Exact | Self::Usage | Self::Recount => 0,
        }
    }

    /// Estimated tokens of one entry of a view.
    pub(crate) fn of_entry(self, entry: &Entry) -> u32 {
        let of_part = |part: &Part| match part {
            Part::Text { text } | Part::ToolResult { text, .. } => self.of_text(text),
            Part::ToolCall {
                name, arguments, ..
            } => self.of_text(name).saturating_add(self.of_text(arguments)),
            Part::Thinking { text, .. } if self == Self::Classes => self.of_text(text),
            Part::Media { tokens, .. } if self == Self::Classes => *tokens,
            Part::Sealed { content } => sealed_tokens(content),
            Part::Thinking { .. } | Part::Media { .. } => 0,
        };
        match self {
            Self::Characters | Self::Classes => total(
                [MESSAGE]
                    .into_iter()
                    .chain(entry.parts().map(|(part, _)| of_part(part))),
            ),
            Self::Exact | Self::Usage | Self::Recount => 0,
        }
    }

    /// Estimated tokens of a view.
    pub(crate) fn of_view(self, view: &View) -> u32 {
        total(view.entries().iter().map(|entry| self.of_entry(entry)))
    }
}

/// What a message costs beside its texts (the summary chain).
const MESSAGE: u32 = 2;

/// What a character is to a byte-pair encoder.
#[derive(Clone, Copy, PartialEq)]
enum LetterClass {
    /// Letters of scripts that part words by blanks.
    Letter,
    Digit,
    Blank,
    /// Everything else: scripts without blanks, symbols, punctuation.
    Other,
}

impl LetterClass {
    fn from_letter(letter: char) -> Self {
        match letter {
            '0'..='9' => LetterClass::Digit,
            _ if letter.is_whitespace() => LetterClass::Blank,
            _ if letter.is_alphabetic() && (letter as u32) < FIRST_WITHOUT_BLANKS => {
                LetterClass::Letter
            }
            _ => LetterClass::Other,
        }
    }

    /// Characters of one run that a token holds at most.
    fn characters_in_token(self) -> u32 {
        match self {
            LetterClass::Letter => 6,
            LetterClass::Digit => 3,
            LetterClass::Blank => 16,
            LetterClass::Other => 1,
        }
    }
}

/// Where the scripts of East Asia begin.
const FIRST_WITHOUT_BLANKS: u32 = 0x2E80;

/// Tokens by runs of one class. A single blank goes with the word after it.
fn by_classes(text: &str) -> u32 {
    let mut tokens = 0_u32;
    let mut run: Option<(LetterClass, u32)> = None;
    let cost = |(class, length): (LetterClass, u32)| match class {
        LetterClass::Blank if length == 1 => 0,
        class => length.div_ceil(class.characters_in_token()),
    };
    for class in text.chars().map(LetterClass::from_letter) {
        match &mut run {
            Some((open, length)) if *open == class => *length += 1,
            _ => tokens += run.replace((class, 1)).map_or(0, cost),
        }
    }
    tokens + run.map_or(0, cost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::{Encoding, TokenCounter};

    /// Estimate over exact count, for texts of the kinds that estimates are known to fail on.
    fn ratio(estimator: Estimator, text: &str) -> f64 {
        let text = text.repeat(20);
        f64::from(estimator.of_text(&text)) / f64::from(Encoding::O200k.count_text(&text))
    }

    const TEXTS: &[(&str, &str)] = &[
        (
            "prose",
            "The service was moved to the new cluster on Monday, and the old one is kept for another week. ",
        ),
        (
            "code",
            "    let total = items.iter().map(|item| item.price * item.count).sum::<u64>();\n",
        ),
        (
            "json",
            "{\"id\": 48213, \"name\": \"store-eu\", \"tags\": [\"a\", \"b\"], \"ok\": true},",
        ),
        (
            "log",
            "2026-11-22T10:04:17.512Z INFO 192.168.0.17:8443 GET /v1/items/48213 200 17ms\n",
        ),
        ("table", "| 17 | 4,118.20 | 0.31 | -- | 9/12 |\n"),
        (
            "chinese",
            "\u{670d}\u{52a1}\u{5df2}\u{8fc1}\u{79fb}\u{5230}\u{65b0}\u{96c6}\u{7fa4}\u{ff0c}\u{65e7}\u{96c6}\u{7fa4}\u{4fdd}\u{7559}\u{4e00}\u{5468}\u{3002}",
        ),
        (
            "emoji",
            "\u{1f680}\u{1f389}\u{1f525} done \u{2705}\u{1f44d}\u{1f3fd} ",
        ),
    ];

    #[test]
    fn the_sources_estimate_fails_where_ours_holds() {
        for (kind, text) in TEXTS {
            let ours = ratio(Estimator::Classes, text);
            assert!((0.6..=1.8).contains(&ours), "{kind}: {ours:.2}");
        }
        let worst = TEXTS
            .iter()
            .map(|(_, text)| ratio(Estimator::Characters, text))
            .fold(f64::INFINITY, f64::min);
        assert!(
            worst < 0.5,
            "a quarter of the length counts at least {worst:.2} of the tokens"
        );
    }

    #[test]
    fn estimates_never_fall_when_text_is_added() {
        for estimator in [Estimator::Characters, Estimator::Classes] {
            for (kind, text) in TEXTS {
                let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
                let sizes = ends
                    .map(|end| estimator.of_text(&text[..end]))
                    .collect::<Vec<_>>();
                assert!(sizes.is_sorted(), "{kind}: {sizes:?}");
            }
        }
    }
}
