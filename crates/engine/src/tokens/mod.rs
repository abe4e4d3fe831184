//! Token counts: the counting rule for messages, and the two exact encodings.
//!
//! Absent on purpose: estimators. A strategy's own estimate is a parameter of that strategy.

mod classes;
mod counted;
mod memo;
mod split;

use compactometer_vocabulary::{Vocabulary, cl100k_base, o200k_base};

use crate::message::{Message, Part};

pub use counted::CountedMessage;

/// Tokens that every message costs beside its parts (role and separators, as in OpenAI's chat
/// format).
pub const MESSAGE_OVERHEAD: u32 = 4;
/// Tokens that every tool call or result costs beside its texts (its id and framing).
pub const TOOL_OVERHEAD: u32 = 8;

/// Counts tokens of text; the rule for messages is the same for every counter.
pub trait TokenCounter: Send + Sync {
    /// The encoding's name, for example `o200k_base`.
    fn name(&self) -> &'static str;

    /// Tokens of one text.
    fn count_text(&self, text: &str) -> u32;

    /// Tokens of one part, framing included.
    fn count_part(&self, part: &Part) -> u32 {
        match part {
            Part::Text { text } | Part::Thinking { text, .. } => self.count_text(text),
            Part::ToolCall {
                name, arguments, ..
            } => total([
                TOOL_OVERHEAD,
                self.count_text(name),
                self.count_text(arguments),
            ]),
            Part::ToolResult { text, .. } => total([TOOL_OVERHEAD, self.count_text(text)]),
            Part::Media { tokens, .. } => *tokens,
            Part::Sealed { content } => sealed_tokens(content),
        }
    }

    /// Tokens of one message: its parts and [`MESSAGE_OVERHEAD`].
    fn count_message(&self, message: &Message) -> u32 {
        total(
            [MESSAGE_OVERHEAD]
                .into_iter()
                .chain(message.parts.iter().map(|part| self.count_part(part))),
        )
    }
}

/// Tokens of a sealed summary, whose text nobody can count: base64 makes four letters of three, and a
/// token has some four.
pub(crate) fn sealed_tokens(content: &str) -> u32 {
    u32::try_from(content.len() * 3 / 16).unwrap_or(u32::MAX)
}

/// Numbers of tokens together. They come from outside, so one that is too large stays the largest
/// instead of wrapping.
pub(crate) fn total(tokens: impl IntoIterator<Item = u32>) -> u32 {
    tokens.into_iter().fold(0, u32::saturating_add)
}

/// An exact encoding, loaded on first use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// `o200k_base`: GPT-4o and later.
    O200k,
    /// `cl100k_base`: GPT-4 and GPT-3.5.
    Cl100k,
}

impl Encoding {
    /// Every encoding.
    pub const ALL: &'static [Encoding] = &[Encoding::O200k, Encoding::Cl100k];

    /// The encoding of that name, as [`TokenCounter::name`] gives it.
    ///
    /// ```
    /// use compactometer_engine::tokens::{Encoding, TokenCounter};
    ///
    /// let encoding = Encoding::by_name("o200k_base").expect("it is known");
    /// assert_eq!(encoding.count_text("How is the build?"), 5);
    /// ```
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|encoding| encoding.name() == name)
    }

    /// Itself, for whatever keeps a counter.
    pub fn counter(self) -> &'static dyn TokenCounter {
        match self {
            Encoding::O200k => &Encoding::O200k,
            Encoding::Cl100k => &Encoding::Cl100k,
        }
    }

    fn vocabulary(self) -> &'static Vocabulary {
        match self {
            Encoding::O200k => o200k_base(),
            Encoding::Cl100k => cl100k_base(),
        }
    }
}

impl TokenCounter for Encoding {
    fn name(&self) -> &'static str {
        match self {
            Encoding::O200k => "o200k_base",
            Encoding::Cl100k => "cl100k_base",
        }
    }

    fn count_text(&self, text: &str) -> u32 {
        memo::with(*self, |memo| {
            total(split::pieces(*self, text).map(|piece| memo.count(piece)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_match_the_published_encodings() {
        // tiktoken's own documentation: this text is 6 tokens in cl100k_base.
        assert_eq!(Encoding::Cl100k.count_text("tiktoken is great!"), 6);
        assert_eq!(
            Encoding::O200k.count_text("antidisestablishmentarianism"),
            6
        );
    }

    #[test]
    fn a_megabyte_of_blanks_is_counted() {
        let text = format!("a{}b", " ".repeat(1_000_000));
        assert!(Encoding::O200k.count_text(&text) > 1_000);
    }

    #[test]
    fn media_counts_by_rule_not_by_length() {
        let media = |digest: &str| Part::Media {
            media_type: "image/png".into(),
            digest: digest.into(),
            tokens: 1_600,
        };
        assert_eq!(
            Encoding::O200k.count_part(&media("a")),
            Encoding::O200k.count_part(&media(&"a".repeat(9_000)))
        );
    }
}
