//! Reads one sentence of the material. Absent on purpose: the text itself, to which a piece refers
//! by positions.

use std::sync::OnceLock;

use crate::reading::cues::{Cues, LEXICON};
use crate::reading::structure_lines::numbered;
use crate::reading::terms::{ReadTerm, number, stem, terms};

/// The speaker of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Voice {
    User,
    Assistant,
    Tool,
    /// The arguments of a call, which the agent writes.
    Call,
    /// An earlier summary.
    Summary,
}

/// A message of the material, or one of its parts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaterialTurn<'m> {
    pub(crate) speaker: Voice,
    pub(crate) text: &'m str,
    /// The number of the message.
    pub(crate) message: usize,
}

/// A statement. Positions are in bytes of the text that it is read from: its message, or what JSON
/// in the message says.
#[derive(Debug)]
pub(crate) struct StatedPiece {
    /// The start of its line in the message.
    pub(crate) line: u32,
    start: u32,
    end: u32,
    /// Whether it is read from what JSON says.
    pub(crate) is_decoded: bool,
    /// Its terms.
    pub(crate) words: Box<[PieceWord]>,
    /// The speaker.
    pub(crate) speaker: Voice,
    /// Whether it says what a call acts on.
    pub(crate) is_address: bool,
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
pub(crate) struct PieceWord {
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
pub(crate) struct PieceContext {
    pub(crate) speaker: Voice,
    /// Whether the message is longer than what users type.
    pub(crate) is_long: bool,
    /// Whether it is inside a code fence.
    pub(crate) fenced: bool,
    /// Whether it is what JSON says, and no part of the message itself.
    pub(crate) is_decoded: bool,
    /// Whether it says what a call acts on.
    pub(crate) is_address: bool,
    /// What the heading above it is about, if that is known.
    pub(crate) heading: Option<Cues>,
}

impl StatedPiece {
    /// Reads a sentence that starts at a position of its message, unless it says little.
    pub(crate) fn read(
        text: &str,
        start: usize,
        line: usize,
        context: &PieceContext,
    ) -> Option<Self> {
        let mut terms = terms(text);
        let is_tool = matches!(context.speaker, Voice::Tool | Voice::Call);
        let structured = context.fenced || is_structured(text, if is_tool { 75 } else { 60 });
        if structured && !context.is_address {
            terms
                .iter_mut()
                .for_each(|term| term.is_value &= is_exact_in_code(term.text));
        }
        let says_little = text.ends_with(':') || terms.len() < 2;
        if says_little && !terms.iter().any(ReadTerm::is_value) {
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
            PieceWord {
                stem: number,
                start,
                end,
                is_value: term.is_value(),
                is_subject,
            }
        });
        let words = words.collect();
        let PieceContext {
            speaker,
            is_long,
            fenced: _,
            is_decoded,
            is_address,
            heading,
        } = context;
        let heading = heading.filter(|_| *speaker == Voice::Summary);
        heading
            .iter()
            .for_each(|heading| cues.add_all(heading, 1.0));
        Some(StatedPiece {
            line: line as u32,
            start: start as u32,
            end: (start + text.len()) as u32,
            is_decoded: *is_decoded,
            words,
            speaker: *speaker,
            is_address: *is_address,
            pasted: *is_long && *speaker == Voice::User,
            structured,
            first_person,
            cues,
            stems,
            short: OnceLock::new(),
        })
    }

    /// Its text, given the text that it is read from.
    pub(crate) fn text<'m>(&self, read_from: &'m str) -> &'m str {
        &read_from[self.start as usize..self.end as usize]
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

impl PieceWord {
    /// The term in the text of its piece.
    pub(crate) fn term<'m>(&self, piece: &'m str) -> ReadTerm<'m> {
        let (start, end) = (usize::from(self.start), usize::from(self.end));
        ReadTerm {
            text: &piece[start..end],
            start,
            is_value: self.is_value,
        }
    }
}

/// The name of a file without the line and column after it, as in `src/cart.rs:120:7`.
pub(crate) fn without_place(term: &str) -> &str {
    let without = |text: &str| -> Option<usize> {
        let (name, number) = text.rsplit_once(':')?;
        let is_place = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        (is_place && name.contains('.')).then_some(name.len())
    };
    let first = without(term).unwrap_or(term.len());
    &term[..without(&term[..first]).unwrap_or(first)]
}

/// Whether a term of code or data is an exact value, and not a name or a small number: it has a
/// folder or is an address, or has a digit and at least four letters and digits.
fn is_exact_in_code(term: &str) -> bool {
    let solid = term
        .chars()
        .filter(|letter| letter.is_alphanumeric())
        .count();
    let has_digit = term.chars().any(char::is_numeric);
    term.contains(['/', '@']) && solid > 1 || has_digit && solid >= 4
}

fn bit(stem: u64) -> u64 {
    1 << (stem % 64)
}

/// A line without its list marker, check box or table bars.
pub(crate) fn unmarked(line: &str) -> &str {
    let line = without_line_number(line.trim());
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

/// A line of a listing without its number, as in `120→let x = 1;`.
fn without_line_number(line: &str) -> &str {
    let rest = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    match rest.strip_prefix(['→', '\t']) {
        Some(rest) if rest.len() < line.len() => rest.trim_start(),
        _ => line,
    }
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
        || is_code(text)
        || prose * 100 < all * least_prose
        || (all > 30 && !text.contains(' ') && text.is_ascii())
}

/// Whether a text is a comment, assigns or calls something, or has signs that only code has.
fn is_code(text: &str) -> bool {
    const OPENS: [&str; 4] = ["//", "/*", "*/", "<!--"];
    const SIGNS: [&str; 10] = [":=", "=>", "==", "!=", "&&", "||", "()", "(\"", "->", "=\""];
    // Most sentences have none of the letters that these signs need.
    if !text.contains(['=', '(', '&', '|', '<', '>', '/', '*']) {
        return false;
    }
    let marks = ['(', ')', '{', '}', '=', ';', '<', '>', '|', '&'];
    let is_signed =
        || SIGNS.iter().any(|sign| text.contains(sign)) && text.matches(marks).nth(2).is_some();
    // A sentence has a blank before a bracket.
    let calls = || {
        let mut before = text.match_indices('(').map(|(at, _)| &text[..at]);
        text.ends_with([')', ',', '('])
            && before.any(|before| before.ends_with(char::is_alphanumeric))
    };
    let assigns = || {
        let mut words = text.split(' ');
        words.next().is_some_and(|name| !name.is_empty())
            && words
                .next()
                .is_some_and(|sign| ["=", "+=", "-="].contains(&sign))
    };
    OPENS.iter().any(|sign| text.starts_with(sign)) || is_signed() || calls() || assigns()
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
            "// Read the transcript first, in whole",
            "t.Errorf(\"Expected it to contain %s, got %v\", expected, actual)",
        ] {
            assert!(is_structured(data, 75), "{data}");
        }
        for sentence in [
            "We keep retries at 5.",
            "Use /etc/app/x.conf for it",
            "Set RETRY_MAX=77 and TIMEOUT_MS=9000 in /etc/x/y.conf",
            "我们使用数据库",
            "Call `load()` before the first request",
            "A -> B is the order of the deployment",
        ] {
            assert!(!is_structured(sentence, 60), "{sentence}");
        }
    }
}
