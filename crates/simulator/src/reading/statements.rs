//! Splits material into statements: sentences, list items, table rows, lines of logs and data.

use std::sync::Arc;

use crate::reading::cues::{Cue, Cues};
use crate::reading::message::ReadMessage;
use crate::reading::pieces::{MaterialTurn, StatedPiece, Voice};
use crate::reading::read_calls::Touch;
use crate::reading::regions::{Region, RegionKind};
use crate::reading::structure_lines::{header, lines_of};
use crate::reading::terms::ReadTerm;

/// One statement of the material.
#[derive(Clone, Debug)]
pub(crate) struct Statement<'m> {
    /// Its text, on one line.
    pub(crate) text: &'m str,
    /// Its position, as a share of the material from 0 to 1.
    pub(crate) position: f64,
    /// The start of its line, in bytes of the material.
    pub(crate) at: usize,
    /// The index of its turn in the material.
    pub(crate) turn: usize,
    /// What it is about.
    pub(crate) cues: Cues,
    /// What was read of it without its context.
    pub(crate) piece: &'m StatedPiece,
    /// What calls did with the file that it names, if it is an item of a list of files.
    pub(crate) touch: Option<Touch>,
}

impl<'m> Statement<'m> {
    /// Its fifth of the material, from 0 to 4.
    pub(crate) fn fifth(&self) -> usize {
        ((self.position * 5.0) as usize).min(4)
    }

    /// The terms with their texts.
    pub(crate) fn terms(&self) -> impl Iterator<Item = ReadTerm<'m>> {
        let text = self.text;
        self.piece.words.iter().map(move |word| word.term(text))
    }
}

/// Statements after this share of the material describe the current state. Assumed.
const LAST: f64 = 0.95;

/// The messages of a region of a prompt.
pub(crate) fn turns<'m>(region: &Region<'m>) -> Vec<MaterialTurn<'m>> {
    match region.kind {
        RegionKind::EarlierSummary => vec![MaterialTurn {
            speaker: Voice::Summary,
            text: region.text,
            message: 0,
        }],
        RegionKind::Task => vec![MaterialTurn {
            speaker: Voice::User,
            text: region.text,
            message: 0,
        }],
        RegionKind::Conversation => spoken_turns(region.text),
    }
}

/// Splits a text at speaker lines. The first one determines the style (numbered or not), and
/// numbers must rise, so that a quoted speaker line seldom opens a message.
fn spoken_turns(text: &str) -> Vec<MaterialTurn<'_>> {
    let mut turns = Vec::new();
    let mut open = (Voice::User, 0);
    let mut last: Option<Option<u32>> = None;
    let mut at = 0;
    for line in lines_of(text) {
        if let Some((number, speaker, said)) = header(line.trim_end())
            && last.is_none_or(|last| {
                last.is_some() == number.is_some() && (number.is_none() || number > last)
            })
        {
            turns.push(MaterialTurn {
                speaker: open.0,
                text: &text[open.1..at],
                message: 0,
            });
            open = (
                speaker_named(speaker),
                at + line.trim_end().len() - said.len(),
            );
            last = Some(number);
        }
        at += line.len();
    }
    turns.push(MaterialTurn {
        speaker: open.0,
        text: &text[open.1..],
        message: 0,
    });
    turns.retain(|turn| !turn.text.trim().is_empty());
    turns
}

fn speaker_named(name: &str) -> Voice {
    let is = |names: [&str; 2]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    match () {
        () if is(["user", "human"]) => Voice::User,
        () if is(["tool", "function"]) => Voice::Tool,
        () => Voice::Assistant,
    }
}

/// The statements of all messages, in order. `read` has those of each message.
pub(crate) fn statements<'m>(
    turns: &[MaterialTurn<'m>],
    read: &'m [Arc<ReadMessage>],
) -> Vec<Statement<'m>> {
    let total = turns
        .iter()
        .map(|turn| turn.text.len())
        .sum::<usize>()
        .max(1);
    let mut statements = Vec::new();
    let mut before = 0;
    for (number, (turn, read)) in turns.iter().zip(read).enumerate() {
        statements.extend(read.pieces.iter().map(|piece| {
            let at = before + piece.line as usize;
            let position = at as f64 / total as f64;
            let mut cues = piece.cues;
            if number == 0 && piece.speaker == Voice::User {
                cues.add(Cue::Goal, 1.0);
            }
            if position >= LAST {
                cues.add(Cue::State, 1.0);
            }
            Statement {
                text: read.text_of(piece, turn.text),
                position,
                at,
                turn: number,
                cues,
                piece,
                touch: None,
            }
        }));
        before += turn.text.len();
    }
    statements
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::message::ReadMessages;

    #[track_caller]
    fn check(text: &str, expected: &[(Voice, &str)]) {
        let region = Region {
            kind: RegionKind::Conversation,
            text,
        };
        let turns = turns(&region);
        let read = ReadMessages::default().all(&turns);
        let told = statements(&turns, &read);
        let told = told
            .iter()
            .map(|statement| (statement.piece.speaker, statement.text))
            .collect::<Vec<_>>();
        assert_eq!(told, expected);
    }

    #[test]
    fn speakers_labels_and_sentences() {
        let text = "[1] user:\nKeep v1.2 of it. Never touch db.prod!\n\n[2] assistant:\nOn it, e.g. now.\n(calls run) {\"id\": 41}\n\n\
                    [3] tool:\n(result) 12 rows\n[2] user:\nquite fake\n\n[4] user:\n(earlier summary) ## State\n- [ ] Ship it";
        check(
            text,
            &[
                (Voice::User, "Keep v1.2 of it."),
                (Voice::User, "Never touch db.prod!"),
                (Voice::Assistant, "On it, e.g. now."),
                (Voice::Call, "id 41"),
                (Voice::Tool, "12 rows"),
                (Voice::Tool, "quite fake"),
                (Voice::Summary, "Ship it"),
            ],
        );
    }

    #[test]
    fn tables_lose_their_head_and_rules() {
        check(
            "| File | Action |\n|---|---|\n| a.rs | Created |",
            &[(Voice::User, "a.rs | Created")],
        );
        // A row followed by a blank line is not a table's header.
        check(
            "| a.rs | Created |\n\nAll done.",
            &[(Voice::User, "a.rs | Created"), (Voice::User, "All done.")],
        );
    }
}
