//! Reads one line of the material: its statements, as far as they do not depend on their context. Each line is therefore read
//! only once ([`crate::reading::known`]), in whatever message it occurs.
//!
//! Absent on purpose: the text itself, to which a piece refers by positions.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::OnceLock;

use foldhash::fast::FixedState;

use crate::reading::cues::{Cues, LEXICON, Lexicon};
use crate::reading::sentences::sentences;
use crate::reading::statements::Speaker;
use crate::reading::words::{Term, add_terms, stem};

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

impl Line {
    /// Reads a line without its label, given its speaker and whether it is inside a code fence.
    pub(crate) fn read(line: &str, speaker: Speaker, fenced: bool) -> Self {
        let (pieces, words, terms) = (Vec::new(), Vec::new(), Vec::new());
        let mut reader = Reader { line, speaker, fenced, lexicon: &LEXICON, terms, pieces, words };
        sentences(unmarked(line)).for_each(|sentence| reader.push(sentence));
        Line { pieces: reader.pieces.into(), words: reader.words.into() }
    }

    /// The terms of one of its pieces.
    pub(crate) fn words(&self, piece: &Piece) -> &[Word] {
        &self.words[piece.words.0 as usize..piece.words.1 as usize]
    }

    /// The bytes of memory that it takes, including shortened texts that may be added.
    pub(crate) fn size(&self) -> usize {
        let written = self.pieces.iter().map(|piece| (piece.end - piece.start) as usize).sum::<usize>();
        size_of::<Line>() + size_of_val(&*self.pieces) + size_of_val(&*self.words) + written
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

    /// Its text in at most `most_words` words, made by `shorten` and kept, because it is written repeatedly.
    pub(crate) fn short(&self, most_words: usize, shorten: impl Fn() -> String) -> Cow<'_, str> {
        let (words, text) = self.short.get_or_init(|| (most_words, shorten().into()));
        if *words == most_words { Cow::Borrowed(text) } else { Cow::Owned(shorten()) }
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

struct Reader<'l> {
    line: &'l str,
    speaker: Speaker,
    fenced: bool,
    lexicon: &'static Lexicon,
    /// The terms of the statement that is being read.
    terms: Vec<Term<'l>>,
    pieces: Vec<Piece>,
    words: Vec<Word>,
}

impl<'l> Reader<'l> {
    fn push(&mut self, text: &'l str) {
        self.terms.clear();
        add_terms(text, &mut self.terms);
        let says_little = text.ends_with(':') || self.terms.len() < 2;
        if says_little && !self.terms.iter().any(Term::is_value) {
            return;
        }
        let first_word = self.words.len();
        let (mut cues, mut stems, mut first_person) = (Cues::default(), 0, false);
        for term in &self.terms {
            let stem = stem(term.text);
            let number = number(&stem);
            let sense = self.lexicon.get(&number);
            let is_stop_word = sense.is_some_and(|sense| sense.is_stop_word);
            first_person |= is_stop_word && matches!(&*stem, "i" | "we" | "my" | "our" | "me" | "us");
            sense.into_iter().for_each(|sense| cues.add_sense(sense));
            stems |= bit(number);
            self.words.push(Word {
                stem: number,
                start: term.start as u16,
                end: (term.start + term.text.len()) as u16,
                is_value: term.is_value(),
                is_subject: term.is_value() || !is_stop_word,
            });
        }
        let start = text.as_ptr() as usize - self.line.as_ptr() as usize;
        self.pieces.push(Piece {
            start: start as u32,
            end: (start + text.len()) as u32,
            words: (first_word as u32, self.words.len() as u32),
            speaker: self.speaker,
            structured: self.fenced || is_structured(text, if self.speaker == Speaker::Tool { 75 } else { 60 }),
            first_person,
            cues,
            stems,
            short: OnceLock::new(),
        });
    }
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
    let (prose, all) = if text.is_ascii() {
        (text.bytes().map(|byte| usize::from(PROSE[usize::from(byte)])).sum(), text.len())
    } else {
        let is_prose = |letter: &char| letter.is_alphabetic() || matches!(letter, ' ' | ',' | '.' | '\'' | '’' | '-');
        (text.chars().filter(is_prose).count(), text.chars().count())
    };
    opens_data || prose * 100 < all * least_prose || (all > 30 && !text.contains(' ') && text.is_ascii())
}

/// 1 for each ASCII byte that belongs to prose.
const PROSE: [u8; 256] = {
    let mut prose = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let letter = byte as u8;
        let is_prose = letter.is_ascii_alphabetic() || matches!(letter, b' ' | b',' | b'.' | b'\'' | b'-');
        prose[byte] = is_prose as u8;
        byte += 1;
    }
    prose
};

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
