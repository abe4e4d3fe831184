//! Reads one message of the material line by line: the statements of each line, and the speaker and
//! heading that they are under. JSON is read as what it says, never as a text to quote.

use std::sync::Arc;

use serde_json::Value;

use crate::reading::cache::Cache;
use crate::reading::cues::Cues;
use crate::reading::pieces::{MaterialTurn, PieceContext, StatedPiece, Voice, unmarked};
use crate::reading::read_calls::{self, ArgumentLine, TouchedFile};
use crate::reading::split_sentences::sentences;
use crate::reading::structure_lines::{heading_level, lines_of};
use crate::reading::unfold;

/// What was read of a message.
#[derive(Debug, Default)]
pub(crate) struct ReadMessage {
    /// Its statements, in order.
    pub(crate) pieces: Vec<StatedPiece>,
    /// The files that its calls touch, in order.
    pub(crate) files: Vec<TouchedFile>,
    /// What its JSON says, line by line.
    decoded: String,
}

impl ReadMessage {
    /// The text of one of its statements, given its own text.
    pub(crate) fn text_of<'m>(&'m self, piece: &StatedPiece, message: &'m str) -> &'m str {
        piece.text(if piece.is_decoded {
            &self.decoded
        } else {
            message
        })
    }

    /// An approximate size in bytes. The shortened texts may be added.
    fn size(&self) -> usize {
        let of_piece = |piece: &StatedPiece| size_of::<StatedPiece>() + size_of_val(&*piece.words);
        self.pieces.iter().map(of_piece).sum::<usize>() + self.decoded.len()
    }
}

/// Messages that were read, by speaker. Each strategy of a run reads the same conversation, mostly
/// several times.
#[derive(Clone, Debug)]
pub(crate) struct ReadMessages([Cache<Arc<ReadMessage>>; 5]);

/// The largest number of bytes for each speaker, about 8 per byte of text. Enough for a
/// conversation of a million tokens and what eight strategies write about it.
const MOST_BYTES: usize = 16 << 20;

/// What a user says in more characters is pasted rather than typed, as in `studies/fit`.
const TYPED: usize = 600;

impl Default for ReadMessages {
    fn default() -> Self {
        ReadMessages([(); 5].map(|()| Cache::new(MOST_BYTES)))
    }
}

impl ReadMessages {
    /// What was read of each message, in order.
    pub(crate) fn all(&self, turns: &[MaterialTurn<'_>]) -> Vec<Arc<ReadMessage>> {
        let read = |turn: &MaterialTurn<'_>| {
            let read = read(turn.text, turn.speaker);
            let size = read.size() + turn.text.len();
            (Arc::new(read), size)
        };
        turns
            .iter()
            .map(|turn| self.0[turn.speaker as usize].get(turn.text, || read(turn)))
            .collect()
    }
}

fn read(text: &str, speaker: Voice) -> ReadMessage {
    let mut context = PieceContext {
        speaker,
        is_long: text.chars().nth(TYPED).is_some(),
        fenced: false,
        is_decoded: false,
        is_address: false,
        heading: None,
    };
    let mut message = ReadMessage::default();
    let mut at = 0;
    while let Some(line) = lines_of(&text[at..]).next() {
        let start = at;
        at += line.len();
        let label = transcript_label(line.trim());
        context.speaker = label.speaker.unwrap_or(context.speaker);
        let content = label.rest.trim();
        if context.speaker == Voice::Summary {
            message.files.extend(read_calls::listed(content));
        }
        let (content, data) = content.split_at(opens_json(content).unwrap_or(content.len()));
        if !data.is_empty() {
            message.read_sentences(content, start, text, &context);
            let (lines, length) = match json_at(data, text) {
                Some((value, length)) => (message.lines_of(&label, &value), length),
                // The text was cut.
                None => (broken(data), data.len()),
            };
            message.read_lines(lines, start, &context);
            at = offset(data, text) + length;
            continue;
        }
        let heads_a_table = || {
            content.starts_with('|')
                && lines_of(&text[at..])
                    .next()
                    .is_some_and(|next| !next.trim().is_empty() && is_rule(next.trim()))
        };
        if !is_layout(content, &mut context) && !heads_a_table() {
            message.read_sentences(content, start, text, &context);
        }
    }
    message
}

/// Where a part of a text begins in it.
fn offset(part: &str, text: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// Where an object or list begins in a line; none if it has none.
fn opens_json(line: &str) -> Option<usize> {
    let first = line.find(['{', '[', '"'])?;
    let opens = ["{\"", "{ \"", "[{", "[\"", "[ {"];
    let is_part = line.starts_with('"') && line.contains("\":");
    let whole = (line == "{" || line == "[" || is_part).then_some(0);
    let rest = &line[first..];
    whole.or_else(|| {
        let places = opens.iter().filter_map(|open| rest.find(open));
        places.min().map(|at| first + at)
    })
}

/// The object or list that begins with a part of a text, and its length in bytes. It may have
/// several lines.
fn json_at(part: &str, text: &str) -> Option<(Value, usize)> {
    let rest = &text[offset(part, text)..];
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    let value = values.next()?.ok()?;
    (value.is_object() || value.is_array()).then(|| (value, values.byte_offset()))
}

/// What JSON says that was cut: its texts and numbers without the names of fields.
fn broken(data: &str) -> Vec<ArgumentLine> {
    let mut texts = Vec::new();
    let mut rest = data;
    while let Some(open) = rest.find('"') {
        texts.push(rest[..open].trim_matches(|letter: char| !letter.is_alphanumeric()));
        let literal = &rest[open + 1..];
        let escaped = |at: &usize| {
            literal[..*at]
                .bytes()
                .rev()
                .take_while(|byte| *byte == b'\\')
                .count()
                % 2
                == 1
        };
        let end = literal
            .match_indices('"')
            .map(|(at, _)| at)
            .find(|at| !escaped(at));
        let said = &literal[..end.unwrap_or(literal.len())];
        rest = &literal[end.map_or(literal.len(), |end| end + 1)..];
        if !rest.trim_start().starts_with(':') {
            texts.push(said);
        }
    }
    texts.push(rest.trim_matches(|letter: char| !letter.is_alphanumeric()));
    let line = |text: &str| ArgumentLine {
        text: text.replace("\\n", " ").replace('\\', ""),
        is_address: false,
        is_content: false,
    };
    texts
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(line)
        .collect()
}

impl ReadMessage {
    /// What an object or list says: the arguments of a call, or data.
    fn lines_of(&mut self, label: &Label<'_>, value: &Value) -> Vec<ArgumentLine> {
        let plain = |text| ArgumentLine {
            text,
            is_address: false,
            is_content: false,
        };
        match label.tool {
            Some(tool) => {
                let call = read_calls::read(tool, value);
                self.files.extend(call.files);
                call.lines
            }
            None => unfold::lines(value).into_iter().map(plain).collect(),
        }
    }

    /// Reads what JSON says.
    fn read_lines(&mut self, lines: Vec<ArgumentLine>, at: usize, context: &PieceContext) {
        for line in lines {
            let context = PieceContext {
                fenced: line.is_content,
                is_decoded: true,
                is_address: line.is_address,
                ..*context
            };
            let (start, said) = (self.decoded.len(), line.text);
            self.decoded.push_str(&said);
            let read = |sentence| {
                StatedPiece::read(sentence, start + offset(sentence, &said), at, &context)
            };
            self.pieces
                .extend(sentences(unmarked(&said)).filter_map(read));
        }
    }

    /// Reads a part of the message that is no JSON.
    fn read_sentences(&mut self, part: &str, at: usize, text: &str, context: &PieceContext) {
        let read = |said| StatedPiece::read(said, offset(said, text), at, context);
        self.pieces
            .extend(sentences(unmarked(part)).filter_map(read));
    }
}

/// Layout is not a statement, but a heading shows what the lines below it are about.
fn is_layout(content: &str, context: &mut PieceContext) -> bool {
    if content.starts_with("```") {
        context.fenced = !context.fenced;
        return true;
    }
    let is_heading = !context.fenced && heading_level(content) > 0;
    let is_bold_heading =
        content.starts_with("**") && content.trim_end_matches(':').ends_with("**");
    if is_heading || is_bold_heading {
        context.heading = Some(Cues::new(content));
        return true;
    }
    is_rule(content) || is_tag(content)
}

/// The label of a line in a rendered transcript, such as `(earlier summary)`, `(result)` or `(calls
/// NAME)`.
struct Label<'l> {
    /// The speaker of the text after it.
    speaker: Option<Voice>,
    /// The tool that is called.
    tool: Option<&'l str>,
    /// The text after it.
    rest: &'l str,
}

fn transcript_label(line: &str) -> Label<'_> {
    let none = Label {
        speaker: None,
        tool: None,
        rest: line,
    };
    let Some((label, rest)) = line
        .strip_prefix(['(', '['])
        .and_then(|line| line.split_once([')', ']', ':']))
        .filter(|(label, _)| label.split_whitespace().count() <= 3)
    else {
        return none;
    };
    let lower = label.to_lowercase();
    let is = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
    let (speaker, tool) = match () {
        () if lower.contains("summary") => (Voice::Summary, None),
        () if is(&["call"]) => (Voice::Call, label.split_whitespace().nth(1)),
        () if is(&["result", "error", "tool"]) => (Voice::Tool, None),
        () => return none,
    };
    Label {
        speaker: Some(speaker),
        tool: tool.or((speaker == Voice::Call).then_some("")),
        rest,
    }
}

/// Lines that consist of dashes, bars and similar characters.
fn is_rule(line: &str) -> bool {
    line.chars()
        .all(|letter| matches!(letter, '-' | '|' | '=' | ':' | '_' | '*' | ' ' | '\t'))
}

fn is_tag(line: &str) -> bool {
    line.starts_with('<') && line.ends_with('>') && !line.contains(' ')
        || line.starts_with('[')
            && line.ends_with(']')
            && line.len() > 2
            && !line.contains(['"', ',', '{'])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sentences_of(known: &ReadMessages, speaker: Voice, text: &str) -> Vec<(String, bool)> {
        let read = &known.all(&[MaterialTurn {
            speaker,
            text,
            message: 0,
        }])[0];
        let pieces = read.pieces.iter();
        pieces
            .map(|piece| (read.text_of(piece, text).to_owned(), piece.structured))
            .collect()
    }

    #[test]
    fn tools_and_fences_make_data_of_sentences() {
        let known = ReadMessages::default();
        let text = "Rows 12400/8812 of the table here. They are old.";
        for (speaker, structured) in [
            (Voice::User, false),
            (Voice::Tool, true),
            (Voice::User, false),
        ] {
            assert_eq!(
                sentences_of(&known, speaker, text)[0],
                ("Rows 12400/8812 of the table here.".to_owned(), structured)
            );
        }
        let fenced = "```\nThe owner is kx-4711.\n```";
        assert_eq!(
            sentences_of(&known, Voice::Tool, fenced),
            [("The owner is kx-4711.".to_owned(), true)]
        );
    }

    proptest! {
        #[test]
        fn what_is_known_is_what_is_read(
            texts in prop::collection::vec("(The (port|path|owner) is [a-z]{3}-[0-9]{2}(/[0-9]{9})?[.][ \n]?|## The owners\n|```\n){1,4}", 1..7),
        ) {
            let known = ReadMessages::default();
            for text in texts.iter().chain(&texts) {
                for speaker in [Voice::User, Voice::Tool] {
                    prop_assert_eq!(sentences_of(&known, speaker, text), sentences_of(&ReadMessages::default(), speaker, text));
                }
            }
        }
    }
}
