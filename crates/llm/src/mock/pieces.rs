//! Reads one message of the material: its statements, as far as they do not depend on what stands around it, so that each
//! text is read once ([`super::known`]).
//!
//! Absent on purpose: the text itself, which a piece finds by its places.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::OnceLock;

use foldhash::fast::FixedState;

use super::cues::Cues;
use super::sentences::sentences;
use super::statements::Speaker;
use super::words::{Term, is_stop_word, stem, terms};

/// A statement of a message. Places are in bytes of the message's text.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    start: u32,
    end: u32,
    /// Where its line starts.
    pub(super) line: u32,
    /// Who said it.
    pub(super) speaker: Speaker,
    /// Whether it is a line of a log, of code or of data rather than a sentence.
    pub(super) structured: bool,
    /// Whether the speaker speaks of himself.
    pub(super) first_person: bool,
    /// What it is about.
    pub(super) cues: Cues,
    /// Its terms.
    pub(super) words: Box<[Word]>,
    /// A bit for each of its stems, so that most of those that it does not hold are told at once.
    stems: u64,
    /// What was written of it, shortened to so many words.
    short: OnceLock<(usize, Box<str>)>,
}

/// A term of a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    /// The number of its stem.
    pub(super) stem: u64,
    /// Where it starts and ends in the piece, in bytes: a sentence is short.
    start: u16,
    end: u16,
    /// Whether it looks like an exact value.
    pub(super) is_value: bool,
    /// Whether it says something of the subject.
    pub(super) is_subject: bool,
}

impl Piece {
    /// Its text, of that of its message; on one line.
    pub(super) fn text<'m>(&self, message: &'m str) -> &'m str {
        &message[self.start as usize..self.end as usize]
    }

    /// Bytes of memory that it takes, with what may be written of it.
    pub(super) fn size(&self) -> usize {
        size_of::<Piece>() + size_of_val(&*self.words) + (self.end - self.start) as usize
    }

    /// Whether one of its terms has the stem of that number.
    pub(super) fn holds(&self, stem: u64) -> bool {
        self.stems & bit(stem) != 0 && self.words.iter().any(|word| word.stem == stem)
    }

    /// Its text in at most so many words, as `shorten` gives it; made once, since it is written again and again.
    pub(super) fn short(&self, most_words: usize, shorten: impl Fn() -> String) -> Cow<'_, str> {
        let (words, text) = self.short.get_or_init(|| (most_words, shorten().into()));
        if *words == most_words { Cow::Borrowed(text) } else { Cow::Owned(shorten()) }
    }
}

impl Word {
    fn new(term: &Term<'_>, stem: &str) -> Self {
        let is_value = term.is_value();
        Word {
            stem: number(stem),
            start: term.start as u16,
            end: (term.start + term.text.len()) as u16,
            is_value,
            is_subject: is_value || !is_stop_word(stem),
        }
    }

    /// The term, in the text of its piece.
    pub(super) fn term<'m>(&self, piece: &'m str) -> Term<'m> {
        let (start, end) = (usize::from(self.start), usize::from(self.end));
        Term { text: &piece[start..end], start, is_value: self.is_value }
    }
}

/// The number of a stem, so that stems are compared at once. Two share one with a chance of 1 in 2^64.
pub(super) fn number(stem: &str) -> u64 {
    FixedState::default().hash_one(stem)
}

fn bit(stem: u64) -> u64 {
    1 << (stem % 64)
}

/// The statements of a message of that speaker.
pub(super) fn read(text: &str, speaker: Speaker) -> Vec<Piece> {
    let mut reader = Reader { text, heading: Cues::default(), fenced: false, pieces: Vec::new() };
    reader.read(speaker);
    reader.pieces
}

struct Reader<'m> {
    text: &'m str,
    heading: Cues,
    fenced: bool,
    pieces: Vec<Piece>,
}

impl<'m> Reader<'m> {
    fn read(&mut self, mut speaker: Speaker) {
        let mut at = 0;
        let mut lines = self.text.split_inclusive('\n').peekable();
        while let Some(line) = lines.next() {
            let content = line.trim();
            let start = at;
            at += line.len();
            let heads_a_table = is_row(content) && lines.peek().is_some_and(|next| is_rule(next.trim()));
            let (label, content) = transcript_label(content);
            let content = content.trim();
            speaker = label.unwrap_or(speaker);
            if self.skips(content) || heads_a_table {
                continue;
            }
            for sentence in sentences(unmarked(content)) {
                self.push(sentence, speaker, start);
            }
        }
    }

    /// Layout is no statement, but a heading tells what the lines below it are about.
    fn skips(&mut self, content: &str) -> bool {
        if content.starts_with("```") {
            self.fenced = !self.fenced;
            return true;
        }
        let is_heading = !self.fenced && content.starts_with('#') && content.trim_start_matches('#').starts_with(' ');
        let is_bold_heading = content.starts_with("**") && content.trim_end_matches(':').ends_with("**");
        if is_heading || is_bold_heading {
            self.heading = Cues::of(content);
            return true;
        }
        is_rule(content) || is_tag(content)
    }

    fn push(&mut self, text: &'m str, speaker: Speaker, line: usize) {
        let terms = terms(text);
        let says_little = text.ends_with(':') || terms.len() < 2;
        if says_little && !terms.iter().any(Term::is_value) {
            return;
        }
        let mut first_person = false;
        let read = |term: &Term<'_>| {
            let stem = stem(term.text);
            first_person |= matches!(&*stem, "i" | "we" | "my" | "our" | "me" | "us");
            Word::new(term, &stem)
        };
        let words: Box<[Word]> = terms.iter().map(read).collect();
        let mut cues = Cues::of_numbers(words.iter().map(|word| word.stem));
        if speaker == Speaker::Summary {
            cues.add_all(&self.heading, 1.0);
        }
        let start = text.as_ptr() as usize - self.text.as_ptr() as usize;
        self.pieces.push(Piece {
            start: start as u32,
            end: (start + text.len()) as u32,
            line: line as u32,
            speaker,
            structured: self.fenced || is_structured(text, if speaker == Speaker::Tool { 75 } else { 60 }),
            first_person,
            cues,
            stems: words.iter().fold(0, |stems, word| stems | bit(word.stem)),
            words,
            short: OnceLock::new(),
        });
    }
}

/// A line's label in a rendered transcript, such as `(earlier summary)`, `(result)` or `(calls NAME)`: whose text follows.
fn transcript_label(line: &str) -> (Option<Speaker>, &str) {
    let Some((label, rest)) = line.strip_prefix(['(', '[']).and_then(|line| line.split_once([')', ']', ':'])) else {
        return (None, line);
    };
    let label = label.to_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| label.starts_with(word));
    if label.contains("summary") && label.split_whitespace().count() <= 3 {
        (Some(Speaker::Summary), rest)
    } else if is(&["result", "error", "call", "tool"]) && label.split_whitespace().count() <= 3 {
        (Some(Speaker::Tool), rest)
    } else {
        (None, line)
    }
}

/// A line without its list mark, check box or table bars.
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

fn is_row(line: &str) -> bool {
    line.starts_with('|')
}

/// Lines made of dashes, bars and the like.
fn is_rule(line: &str) -> bool {
    line.chars().all(|letter| matches!(letter, '-' | '|' | '=' | ':' | '_' | '*' | ' ' | '\t'))
}

fn is_tag(line: &str) -> bool {
    line.starts_with('<') && line.ends_with('>') && !line.contains(' ')
        || line.starts_with('[') && line.ends_with(']') && line.len() > 2 && !line.contains(['"', ',', '{'])
}

/// Data, code and log lines: less prose than this percentage, or brackets where a sentence has none. People put values
/// into their sentences, so they are granted more than tools.
fn is_structured(text: &str, least_prose: usize) -> bool {
    let opens_data = text.starts_with(['{', '}', '"', '<', '$', '@']) || text.ends_with(['{', '}', ';', '>']);
    let (prose, all) = if text.is_ascii() {
        let is_prose = |byte: &&u8| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b',' | b'.' | b'\'' | b'-');
        (text.bytes().filter(|byte| is_prose(&byte)).count(), text.len())
    } else {
        let is_prose = |letter: &char| letter.is_alphabetic() || matches!(letter, ' ' | ',' | '.' | '\'' | '’' | '-');
        (text.chars().filter(is_prose).count(), text.chars().count())
    };
    opens_data || prose * 100 < all * least_prose || (all > 30 && !text.contains(' ') && text.is_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_told_from_sentences() {
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
