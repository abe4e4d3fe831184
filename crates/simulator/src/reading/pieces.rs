//! Reads one line of the material: its statements, as far as they do not depend on their context. Each line is therefore read
//! only once ([`crate::reading::known`]), in whatever message it occurs.
//!
//! Absent on purpose: the text itself, to which a piece refers by positions.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use crate::reading::cues::{Cues, LEXICON};
use crate::reading::sentences::sentences;
use crate::reading::statements::Speaker;
use crate::reading::words::{Term, stem, terms};

/// What was read of a line.
#[derive(Debug)]
pub(crate) struct Line {
    /// Its statements, in order.
    pub(crate) pieces: Box<[Piece]>,
    /// The terms of all statements.
    words: Box<[Word]>,
}

/// A statement of a line. Positions are in bytes of the line.
#[derive(Debug)]
pub(crate) struct Piece {
    start: u32,
    end: u32,
    /// The range of its words among those of the line.
    words: (u32, u32),
    /// The speaker.
    pub(crate) speaker: Speaker,
    /// Whether it is a line of a log, of code or of data instead of a sentence.
    pub(crate) structured: bool,
    /// Whether the speaker refers to themselves.
    pub(crate) first_person: bool,
    /// What it is about.
    pub(crate) cues: Cues,
    /// A bit set of its stems (a Bloom filter), which rules out most stems that it does not contain.
    stems: u64,
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

impl Line {
    /// Reads a line without its label, given its speaker and whether it is inside a code fence.
    pub(crate) fn read(line: &str, speaker: Speaker, fenced: bool) -> Self {
        let mut words = Vec::new();
        let start = |text: &str| text.as_ptr() as usize - line.as_ptr() as usize;
        let pieces = sentences(unmarked(line)).filter_map(|text| piece(text, start(text), speaker, fenced, &mut words));
        let pieces = pieces.collect();
        Line { pieces, words: words.into() }
    }

    /// The terms of one of its pieces.
    pub(crate) fn words(&self, piece: &Piece) -> &[Word] {
        &self.words[piece.words.0 as usize..piece.words.1 as usize]
    }

    /// The bytes of memory that it takes.
    pub(crate) fn size(&self) -> usize {
        size_of::<Line>() + size_of_val(&*self.pieces) + size_of_val(&*self.words)
    }
}

impl Piece {
    /// The statement's text, given the text of its line.
    pub(crate) fn text<'m>(&self, line: &'m str) -> &'m str {
        &line[self.start as usize..self.end as usize]
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
        Term { text: &piece[start..end], start, is_value: self.is_value }
    }
}

/// The number of a stem, so that stems are compared as integers. Two stems share a number with a probability of 2^-64.
pub(crate) fn number(stem: &str) -> u64 {
    FixedState::default().hash_one(stem)
}

fn bit(stem: u64) -> u64 {
    1 << (stem % 64)
}

/// The statement of a sentence that starts at a position of its line, unless it says little. Its terms are added to `words`.
fn piece(text: &str, start: usize, speaker: Speaker, fenced: bool, words: &mut Vec<Word>) -> Option<Piece> {
    let terms = terms(text);
    let says_little = text.ends_with(':') || terms.len() < 2;
    if says_little && !terms.iter().any(Term::is_value) {
        return None;
    }
    let first_word = words.len();
    let (mut cues, mut stems, mut first_person) = (Cues::default(), 0, false);
    for term in &terms {
        let stem = stem(term.text);
        let number = number(&stem);
        let sense = LEXICON.get(&number);
        let is_stop_word = sense.is_some_and(|sense| sense.is_stop_word);
        first_person |= is_stop_word && matches!(&*stem, "i" | "we" | "my" | "our" | "me" | "us");
        sense.into_iter().for_each(|sense| cues.add_sense(sense));
        stems |= bit(number);
        words.push(Word {
            stem: number,
            start: term.start as u16,
            end: (term.start + term.text.len()) as u16,
            is_value: term.is_value(),
            is_subject: term.is_value() || !is_stop_word,
        });
    }
    Some(Piece {
        start: start as u32,
        end: (start + text.len()) as u32,
        words: (first_word as u32, words.len() as u32),
        speaker,
        structured: fenced || is_structured(text, if speaker == Speaker::Tool { 75 } else { 60 }),
        first_person,
        cues,
        stems,
    })
}

/// A line without its list marker, check box or table bars.
fn unmarked(line: &str) -> &str {
    let line = line.trim();
    let line = line.trim_start_matches('|').trim_end_matches('|').trim();
    let numbered = line.split_once(['.', ')']).filter(|(number, rest)| {
        (1..=2).contains(&number.len()) && number.bytes().all(|digit| digit.is_ascii_digit()) && rest.starts_with(' ')
    });
    let line = numbered.map_or(line, |(_, rest)| rest.trim_start());
    let line = ["- ", "* ", "• ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line).trim_start();
    ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line)
}

/// Whether a text is data, code or a log line: its share of prose is below this percentage, or it has brackets where a sentence
/// has none. People put values into their sentences, so their bound is lower than that of tools.
fn is_structured(text: &str, least_prose: usize) -> bool {
    let opens_data = text.starts_with(['{', '}', '"', '<', '$', '@']) || text.ends_with(['{', '}', ';', '>']);
    let is_prose = |letter: &char| letter.is_alphabetic() || matches!(letter, ' ' | ',' | '.' | '\'' | '’' | '-');
    let (prose, all) = (text.chars().filter(is_prose).count(), text.chars().count());
    opens_data || prose * 100 < all * least_prose || (all > 30 && !text.contains(' ') && text.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_distinguished_from_sentences() {
        for data in ["{\"id\": 4}", "2024-01-02 03:04:05 [42] 200 GET", "let x = f(1);", "<div>"] {
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
