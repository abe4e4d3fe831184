//! Which facts requests to a summarizer hold.
//!
//! Requests of different rows hold the same pieces of the conversation, and searching them takes
//! most of a trace. So a request is searched in pieces that begin and end where a line says so,
//! whatever comes before it, and each piece once. What ends on the line after a piece counts too.

use std::sync::Arc;

use super::memo::TextMemo;

/// One in so many lines ends a piece.
const LINES: u64 = 32;

/// What a piece of a request holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HeldInPiece {
    /// Facts, by their values.
    pub(crate) facts: Vec<u32>,
    /// Facts, by other names of their files.
    pub(crate) named: Vec<u32>,
}

/// The pieces of one conversation that were searched.
pub(crate) type Searched = TextMemo<HeldInPiece>;

impl Searched {
    /// What each piece of a text holds, by `search` where it was not searched before.
    pub(crate) fn in_pieces(
        &self,
        text: &str,
        search: impl Fn(&str) -> HeldInPiece,
    ) -> Vec<Arc<HeldInPiece>> {
        pieces(text)
            .map(|piece| self.of(piece, || search(piece)))
            .collect()
    }
}

/// The pieces of a text, each with the line that follows it.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut lines = text.split_inclusive('\n').peekable();
    let (mut start, mut end) = (0, 0);
    std::iter::from_fn(move || {
        lines.peek()?;
        loop {
            let line = lines.next()?;
            end += line.len();
            let Some(next) = lines.peek() else {
                return Some(&text[start..end]);
            };
            if ends_piece(line) {
                let piece = &text[start..end + next.len()];
                start = end;
                return Some(piece);
            }
        }
    })
}

/// Whether a line ends a piece, by the sum of its bytes (FNV-1a, 64 bits).
fn ends_piece(line: &str) -> bool {
    let mix = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    line.bytes()
        .fold(0xcbf2_9ce4_8422_2325, mix)
        .is_multiple_of(LINES)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use compactometer_text::matcher::{Matcher, ValueKind};
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_piece_that_comes_again_is_searched_once() {
        let lines: String = (0..600).map(|line| format!("line {line}\n")).collect();
        let searched = Searched::default();
        let search = |_: &str| HeldInPiece::default();
        let before = searched.in_pieces(&lines, search).len();
        let known = searched.len();
        searched.in_pieces(&format!("another beginning\n{lines}"), search);
        let now = searched.len();
        assert!(
            before > 4 && now <= known + 1,
            "{before} pieces, {known}, {now}"
        );
    }

    proptest! {
        #[test]
        fn pieces_hold_what_the_whole_holds(
            words in prop::collection::vec("(src/a\\.rs|QRM-48213|amber brisk acorn|amber brisk|acorn|[a-z]{3,8})", 0..400),
            gaps in prop::collection::vec("( |\n|, |\n\n)", 400),
        ) {
            let kinds = [ValueKind::Path, ValueKind::Id, ValueKind::Free];
            let values = ["src/a.rs", "QRM-48213", "amber brisk acorn"];
            let matcher = Matcher::new(kinds.into_iter().zip(values.map(|value| [value])));
            let text: String = words.iter().zip(&gaps).flat_map(|(word, gap)| [word.as_str(), gap]).collect();
            let found = |text: &str| matcher.find(text).map(|fact| fact as u32).collect::<Vec<_>>();
            let search = |piece: &str| HeldInPiece { facts: found(piece), named: Vec::new() };
            let held = Searched::default().in_pieces(&text, search);
            let by_pieces: BTreeSet<u32> = held.iter().flat_map(|held| held.facts.iter().copied()).collect();
            prop_assert_eq!(by_pieces, found(&text).into_iter().collect::<BTreeSet<_>>());
        }
    }
}
