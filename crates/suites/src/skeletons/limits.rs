//! What a session of a file must keep to, so that a hostile or damaged file renders no endless text
//! and no number points nowhere.

use super::format::{Node, Piece, Said, Session, Shape, Text};
use super::words;

/// The longest atom, in characters: as long as a value.
const LONGEST_ATOM: usize = 200;
/// The most pieces of a value.
const MOST_PIECES: usize = 400;
/// The most characters of a session.
const MOST_CHARACTERS: u64 = 64 << 20;

/// Counts of what numbers of a session may point to.
pub(super) struct Known {
    pub(super) punctuation: usize,
    pub(super) shared: usize,
}

/// What is wrong with a session, if anything is.
pub(super) fn fault(session: &Session, known: &Known) -> Option<String> {
    let values = session.values.len();
    let texts = || {
        session
            .messages
            .iter()
            .flat_map(|spoken| &spoken.2)
            .flat_map(texts_of)
    };
    let gaps = || texts().flat_map(|text| &text.4);
    let is_value = |value: &u32| (*value as usize) < values;
    let of_values = gaps()
        .filter_map(|gap| gap.4.as_ref())
        .chain(&session.directories);
    let is_mark = |mark: u32| (mark as usize) < known.punctuation;
    let characters: u64 = gaps()
        .map(|gap| u64::from(gap.1) + LONGEST_ATOM as u64)
        .sum();
    let pieces = || session.values.iter().flatten();
    let checks = [
        ("an atom is too long", atoms_fit(&session.atoms)),
        (
            "a value has too many pieces",
            session
                .values
                .iter()
                .all(|value| value.len() <= MOST_PIECES),
        ),
        (
            "a piece of a value points to nothing",
            pieces().all(|piece| is_known(piece, session.atoms.len(), known)),
        ),
        (
            "a number of a value points to nothing",
            of_values.clone().all(is_value),
        ),
        (
            "a number of punctuation points to nothing",
            gaps().all(|gap| is_mark(gap.0) && is_mark(gap.3)),
        ),
        (
            "a text has more line breaks than characters",
            gaps().all(|gap| gap.2 <= gap.1),
        ),
        ("the session is too long", characters <= MOST_CHARACTERS),
    ];
    let failed = checks.into_iter().find(|(_, holds)| !holds)?;
    Some(failed.0.to_owned())
}

/// Whether all atoms have a length that a value may have.
pub(super) fn atoms_fit(shapes: &[Shape]) -> bool {
    shapes.iter().all(|shape| shape.length() <= LONGEST_ATOM)
}

fn is_known(piece: &Piece, own: usize, known: &Known) -> bool {
    match piece {
        Piece::Mark(_) => true,
        Piece::Word(number) => words::word(*number).is_some(),
        Piece::Own(number, _) => *number < own,
        Piece::Shared(number, _) => *number < known.shared,
    }
}

fn texts_of(said: &Said) -> Vec<&Text> {
    match said {
        Said::Text(text) | Said::Thinking(text) | Said::Result(_, _, text) => vec![text],
        Said::Call(_, _, node) => texts_in(node),
        Said::Media(_) => Vec::new(),
    }
}

fn texts_in(node: &Node) -> Vec<&Text> {
    match node {
        Node::Text(text) => vec![text],
        Node::List(items) => items.iter().flat_map(texts_in).collect(),
        Node::Fields(fields) => fields.iter().flat_map(|(_, node)| texts_in(node)).collect(),
        Node::Value(_) | Node::Number(..) | Node::Flag(_) | Node::Choice(_) => Vec::new(),
    }
}
