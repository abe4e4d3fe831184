//! What a session of a file must keep to, so that a hostile or damaged file renders no endless text
//! and no number points nowhere.

use super::format::{ArgumentNode, AtomShape, SkeletonPart, SkeletonSession, Text, ValuePiece};
use super::words;

/// The longest value, in characters, and so the longest atom.
const LONGEST_VALUE: usize = 200;
/// The most characters of punctuation beside a value.
const MOST_MARKS: usize = 4;
/// The most characters of a session.
const MOST_CHARACTERS: u64 = 64 << 20;

/// What numbers of a session may point to.
pub(super) struct KnownNumbers<'h> {
    pub(super) punctuation: &'h [Vec<u32>],
    pub(super) shared: &'h [AtomShape],
}

impl KnownNumbers<'_> {
    /// What is wrong with it, if anything is.
    pub(super) fn fault(&self) -> Option<&'static str> {
        if self
            .punctuation
            .iter()
            .any(|marks| marks.len() > MOST_MARKS)
        {
            return Some("punctuation is too long");
        }
        (!atoms_fit(self.shared)).then_some("a shared atom is too long")
    }
}

/// What is wrong with a session, if anything is.
pub(super) fn fault(session: &SkeletonSession, known: &KnownNumbers<'_>) -> Option<&'static str> {
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
    let is_mark = |mark: u32| (mark as usize) < known.punctuation.len();
    let characters: u64 = gaps()
        .map(|gap| u64::from(gap.1) + LONGEST_VALUE as u64)
        .sum();
    let checks = [
        ("an atom is too long", atoms_fit(&session.atoms)),
        (
            "a value is too long, or a piece of it points to nothing",
            session.values.iter().all(|value| {
                let length = value
                    .iter()
                    .map(|piece| length(piece, &session.atoms, known));
                length
                    .sum::<Option<usize>>()
                    .is_some_and(|length| length <= LONGEST_VALUE)
            }),
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
    let failed = checks.into_iter().find(|(_, holds)| !holds);
    failed.map(|(what, _)| what)
}

/// Whether all atoms have a length that a value may have.
fn atoms_fit(shapes: &[AtomShape]) -> bool {
    shapes.iter().all(|shape| shape.length() <= LONGEST_VALUE)
}

/// The characters of a piece of a value; nothing if it points to nothing.
fn length(piece: &ValuePiece, own: &[AtomShape], known: &KnownNumbers<'_>) -> Option<usize> {
    match piece {
        ValuePiece::Mark(_) => Some(1),
        ValuePiece::Word(number) => words::word(*number).map(str::len),
        ValuePiece::Own(number, _) => own.get(*number).map(AtomShape::length),
        ValuePiece::Shared(number, _) => known.shared.get(*number).map(AtomShape::length),
    }
}

fn texts_of(said: &SkeletonPart) -> Vec<&Text> {
    match said {
        SkeletonPart::Text(text)
        | SkeletonPart::Thinking(text)
        | SkeletonPart::Result(_, _, text) => vec![text],
        SkeletonPart::Call(_, _, node) => texts_in(node),
        SkeletonPart::Media(_) => Vec::new(),
    }
}

fn texts_in(node: &ArgumentNode) -> Vec<&Text> {
    match node {
        ArgumentNode::Text(text) => vec![text],
        ArgumentNode::List(items) => items.iter().flat_map(texts_in).collect(),
        ArgumentNode::Fields(fields) => {
            fields.iter().flat_map(|(_, node)| texts_in(node)).collect()
        }
        ArgumentNode::Value(_)
        | ArgumentNode::Number(..)
        | ArgumentNode::Flag(_)
        | ArgumentNode::Choice(_) => Vec::new(),
    }
}
