//! Reads one message of the material line by line: the statements of each line, and the speaker and
//! heading that they are under.

use std::sync::Arc;

use crate::reading::cache::Cache;
use crate::reading::cues::Cues;
use crate::reading::lines::{heading_level, lines_of};
use crate::reading::pieces::{Context, Piece, Speaker, unmarked};
use crate::reading::sentences::sentences;
use crate::reading::statements::Turn;

/// Messages that were read, by speaker. Each strategy of a run reads the same conversation, mostly
/// several times.
#[derive(Clone, Debug)]
pub(crate) struct Known([Cache<Arc<[Piece]>>; 4]);

/// The largest number of bytes for each speaker, about 8 per byte of text. Enough for a
/// conversation of a million tokens and what eight strategies write about it.
const MOST_BYTES: usize = 16 << 20;

/// What a user says in more characters is pasted rather than typed, as in `studies/fit`.
const TYPED: usize = 600;

impl Default for Known {
    fn default() -> Self {
        Known([(); 4].map(|()| Cache::new(MOST_BYTES)))
    }
}

impl Known {
    /// The statements of each message, in order.
    pub(crate) fn all(&self, turns: &[Turn<'_>]) -> Vec<Arc<[Piece]>> {
        let read = |turn: &Turn<'_>| {
            let pieces = read(turn.text, turn.speaker);
            let size = pieces
                .iter()
                .map(|piece| size_of::<Piece>() + size_of_val(&*piece.words))
                .sum::<usize>();
            // The shortened texts may be added.
            (pieces.into(), size + turn.text.len())
        };
        turns
            .iter()
            .map(|turn| self.0[turn.speaker as usize].get(turn.text, || read(turn)))
            .collect()
    }
}

fn read(text: &str, speaker: Speaker) -> Vec<Piece> {
    let is_long = text.chars().nth(TYPED).is_some();
    let mut context = Context {
        speaker,
        is_long,
        fenced: false,
        heading: None,
    };
    let mut pieces = Vec::new();
    let mut lines = lines_of(text).peekable();
    while let Some(line) = lines.next() {
        let content = line.trim();
        let is_table_rule = |next: &str| !next.is_empty() && is_rule(next);
        let heads_a_table =
            content.starts_with('|') && lines.peek().is_some_and(|next| is_table_rule(next.trim()));
        let (label, content) = transcript_label(content);
        let content = content.trim();
        context.speaker = label.unwrap_or(context.speaker);
        if !is_layout(content, &mut context) && !heads_a_table {
            let offset = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
            let read = |sentence| Piece::read(sentence, offset(sentence), offset(line), &context);
            pieces.extend(sentences(unmarked(content)).filter_map(read));
        }
    }
    pieces
}

/// Layout is not a statement, but a heading shows what the lines below it are about.
fn is_layout(content: &str, context: &mut Context) -> bool {
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
/// NAME)`. It identifies the speaker of the text after it.
fn transcript_label(line: &str) -> (Option<Speaker>, &str) {
    let Some((label, rest)) = line
        .strip_prefix(['(', '['])
        .and_then(|line| line.split_once([')', ']', ':']))
    else {
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

    fn said(known: &Known, speaker: Speaker, text: &str) -> Vec<(String, bool)> {
        let read = known.all(&[Turn { speaker, text }]);
        read[0]
            .iter()
            .map(|piece| (piece.text(text).to_owned(), piece.structured))
            .collect()
    }

    #[test]
    fn tools_and_fences_make_data_of_sentences() {
        let known = Known::default();
        let text = "Rows 12400/8812 of the table here. They are old.";
        for (speaker, structured) in [
            (Speaker::User, false),
            (Speaker::Tool, true),
            (Speaker::User, false),
        ] {
            assert_eq!(
                said(&known, speaker, text)[0],
                ("Rows 12400/8812 of the table here.".to_owned(), structured)
            );
        }
        let fenced = "```\nThe owner is kx-4711.\n```";
        assert_eq!(
            said(&known, Speaker::Tool, fenced),
            [("The owner is kx-4711.".to_owned(), true)]
        );
    }

    proptest! {
        #[test]
        fn what_is_known_is_what_is_read(
            texts in prop::collection::vec("(The (port|path|owner) is [a-z]{3}-[0-9]{2}(/[0-9]{9})?[.][ \n]?|## The owners\n|```\n){1,4}", 1..7),
        ) {
            let known = Known::default();
            for text in texts.iter().chain(&texts) {
                for speaker in [Speaker::User, Speaker::Tool] {
                    prop_assert_eq!(said(&known, speaker, text), said(&Known::default(), speaker, text));
                }
            }
        }
    }
}
