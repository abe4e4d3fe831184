//! Reads one sentence of the material. Absent on purpose: the text itself, to which a piece refers
//! by positions.

use std::sync::OnceLock;

use crate::reading::cues::{Cues, LEXICON};
use crate::reading::lines::numbered;
use crate::reading::terms::{Term, number, stem, terms};

/// The speaker of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Speaker {
    User,
    Assistant,
    Tool,
    /// An earlier summary.
    Summary,
}

/// A statement. Positions are in bytes of its message.
#[derive(Debug)]
pub(crate) struct Piece {
    /// The start of its line.
    pub(crate) line: u32,
    start: u32,
    end: u32,
    /// Its terms.
    pub(crate) words: Box<[Word]>,
    /// The speaker.
    pub(crate) speaker: Speaker,
    /// Whether it is part of a long message of the user.
    pub(crate) pasted: bool,
    /// Whether it is a line of a log, of code or of data instead of a sentence.
    pub(crate) structured: bool,
    /// Whether the speaker refers to themselves.
    pub(crate) first_person: bool,
    /// What it and the heading above it are about.
    pub(crate) cues: Cues,
    /// A bit set of its stems (a Bloom filter), which rules out most stems that it does not
    /// contain.
    stems: u64,
    /// The text shortened to a number of words.
    short: OnceLock<(usize, Box<str>)>,
}

/// A term of a piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    /// The number of its stem.
    pub(crate) stem: u64,
    /// Its start and end in the piece, in bytes. Sentences are short enough for 16 bits.
    start: u16,
    end: u16,
    /// Whether it looks like an exact value.
    pub(crate) is_value: bool,
    /// Whether it is neither a stop word nor a cue word.
    pub(crate) is_subject: bool,
}

/// What the earlier text of a message implies for a sentence.
pub(crate) struct Context {
    pub(crate) speaker: Speaker,
    /// Whether the message is longer than what users type.
    pub(crate) is_long: bool,
    /// Whether it is inside a code fence.
    pub(crate) fenced: bool,
    /// What the heading above it is about, if that is known.
    pub(crate) heading: Option<Cues>,
}

impl Piece {
    /// Reads a sentence that starts at a position of its message, unless it says little.
    pub(crate) fn read(text: &str, start: usize, line: usize, context: &Context) -> Option<Self> {
        let terms = terms(text);
        let says_little = text.ends_with(':') || terms.len() < 2;
        if says_little && !terms.iter().any(Term::is_value) {
            return None;
        }
        let (mut cues, mut stems, mut first_person) = (Cues::default(), 0, false);
        let words = terms.iter().map(|term| {
            let stem = stem(term.text);
            let number = number(&stem);
            let sense = LEXICON.get(&number);
            let is_stop_word = sense.is_some_and(|sense| sense.is_stop_word);
            first_person |=
                is_stop_word && matches!(&*stem, "i" | "we" | "my" | "our" | "me" | "us");
            sense.into_iter().for_each(|sense| cues.add_sense(sense));
            stems |= bit(number);
            let (start, end) = (term.start as u16, (term.start + term.text.len()) as u16);
            let is_subject = term.is_value() || !is_stop_word;
            Word {
                stem: number,
                start,
                end,
                is_value: term.is_value(),
                is_subject,
            }
        });
        let words = words.collect();
        let Context {
            speaker,
            is_long,
            fenced,
            heading,
        } = context;
        let is_tool = *speaker == Speaker::Tool;
        let heading = heading.filter(|_| *speaker == Speaker::Summary);
        heading
            .iter()
            .for_each(|heading| cues.add_all(heading, 1.0));
        Some(Piece {
            line: line as u32,
            start: start as u32,
            end: (start + text.len()) as u32,
            words,
            speaker: *speaker,
            pasted: *is_long && *speaker == Speaker::User,
            structured: *fenced || is_structured(text, if is_tool { 75 } else { 60 }),
            first_person,
            cues,
            stems,
            short: OnceLock::new(),
        })
    }

    /// Its text, given the text of its message.
    pub(crate) fn text<'m>(&self, message: &'m str) -> &'m str {
        &message[self.start as usize..self.end as usize]
    }

    /// Its text in at most `most_words` words, made by `shorten` and kept, because it is written
    /// repeatedly.
    pub(crate) fn short(&self, most_words: usize, shorten: impl Fn() -> String) -> String {
        let (words, text) = self.short.get_or_init(|| (most_words, shorten().into()));
        if *words == most_words {
            text.to_string()
        } else {
            shorten()
        }
    }

    /// Whether one of its terms may have the stem with this number.
    pub(crate) fn may_hold(&self, stem: u64) -> bool {
        self.stems & bit(stem) != 0
    }
}

impl Word {
    /// The term in the text of its piece.
    pub(crate) fn term<'m>(&self, piece: &'m str) -> Term<'m> {
        let (start, end) = (usize::from(self.start), usize::from(self.end));
        Term {
            text: &piece[start..end],
            start,
            is_value: self.is_value,
        }
    }
}

fn bit(stem: u64) -> u64 {
    1 << (stem % 64)
}

/// A line without its list marker, check box or table bars.
pub(crate) fn unmarked(line: &str) -> &str {
    let line = line.trim();
    let line = line.trim_start_matches('|').trim_end_matches('|').trim();
    let numbered = numbered(line, &['.', ')']).filter(|(number, _)| number.len() <= 2);
    let line = numbered.map_or(line, |(_, rest)| rest.trim_start());
    let line = ["- ", "* ", "• ", "+ "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .unwrap_or(line)
        .trim_start();
    ["[ ] ", "[x] ", "[X] "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))
        .unwrap_or(line)
}

/// Whether a text is data, code or a log line: its share of prose is below this percentage, or it
/// has brackets where a sentence has none. People put values into their sentences, so their bound
/// is lower than that of tools.
fn is_structured(text: &str, least_prose: usize) -> bool {
    let opens_data =
        text.starts_with(['{', '}', '"', '<', '$', '@']) || text.ends_with(['{', '}', ';', '>']);
    let is_prose = |letter: &char| {
        letter.is_alphabetic() || matches!(letter, ' ' | ',' | '.' | '\'' | '’' | '-')
    };
    let (prose, all) = (text.chars().filter(is_prose).count(), text.chars().count());
    opens_data
        || prose * 100 < all * least_prose
        || (all > 30 && !text.contains(' ') && text.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_distinguished_from_sentences() {
        for data in [
            "{\"id\": 4}",
            "2024-01-02 03:04:05 [42] 200 GET",
            "let x = f(1);",
            "<div>",
        ] {
            assert!(is_structured(data, 75), "{data}");
        }
        for sentence in [
            "We keep retries at 5.",
            "Use /etc/app/x.conf for it",
            "Set RETRY_MAX=77 and TIMEOUT_MS=9000 in /etc/x/y.conf",
            "我们使用数据库",
        ] {
            assert!(!is_structured(sentence, 60), "{sentence}");
        }
    }
}
