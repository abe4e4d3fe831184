//! The form of skeletons: numbers, and lists of numbers. No field can hold text of a session.

use serde::{Deserialize, Serialize};

/// Skeletons of sessions, and what they share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skeletons {
    /// Punctuation that stands beside values, as code points. The first is empty.
    pub(super) punctuation: Vec<Vec<u32>>,
    /// Atoms that sessions of several projects have, in random order.
    pub(super) shared: Vec<AtomShape>,
    /// The sessions.
    pub(super) sessions: Vec<SkeletonSession>,
}

impl Skeletons {
    /// The number of sessions.
    pub fn len(&self) -> usize {
        self.sessions.len()
    }

    /// Keeps the sessions of these numbers, in that order.
    ///
    /// # Errors
    /// The number that no session has, or that is there twice.
    pub(super) fn choose(&mut self, numbers: &[usize]) -> Result<(), String> {
        let count = self.len();
        let mut all: Vec<Option<SkeletonSession>> = self.sessions.drain(..).map(Some).collect();
        for number in numbers {
            let taken = all.get_mut(*number).and_then(Option::take);
            self.sessions.push(taken.ok_or_else(|| {
                format!(
                    "`sessions` holds `{number}`; expected numbers from 0 to {} once each",
                    count.saturating_sub(1)
                )
            })?);
        }
        match numbers {
            [] => Err("`sessions` is empty; leave it out for all of them".to_owned()),
            _ => Ok(()),
        }
    }

    /// Whether there is no session.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Numbers of the projects, one for each session.
    pub fn projects(&self) -> impl Iterator<Item = u32> {
        self.sessions.iter().map(|session| session.project)
    }
}

/// One session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SkeletonSession {
    /// The project's number.
    pub(super) project: u32,
    /// The values that are directories of the work.
    pub(super) directories: Vec<u32>,
    /// The atoms of its values.
    pub(super) atoms: Vec<AtomShape>,
    /// Its values.
    pub(super) values: Vec<Vec<ValuePiece>>,
    /// Its messages.
    pub(super) messages: Vec<SkeletonMessage>,
    /// After which message the recorded program compacted. A summary shaped what came later.
    pub(super) compactions: Vec<u32>,
}

/// What is known of an atom: a run of letters and digits in values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct AtomShape(
    /// Lengths of its runs, letters and digits by turns, letters first.
    pub(super) Vec<u16>,
    /// Places that are capitals in some value.
    pub(super) Vec<u16>,
    /// What kind of atom it is.
    pub(super) AtomKind,
    /// Tokens after a slash, where it has letters only.
    pub(super) u32,
    /// The longer hexadecimal atom that it begins.
    pub(super) Option<u32>,
);

impl AtomShape {
    pub(super) fn length(&self) -> usize {
        self.0.iter().map(|run| usize::from(*run)).sum()
    }

    pub(super) fn has_digits(&self) -> bool {
        self.0.len() > 1
    }
}

/// What kind of atom it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub(super) enum AtomKind {
    /// Letters, digits or both.
    #[default]
    Plain,
    /// Hexadecimal.
    Hexadecimal,
    /// It begins with a zero.
    LeadingZero,
    /// Hexadecimal, and begins with a zero.
    HexadecimalZero,
}

impl AtomKind {
    pub(super) fn new(is_hexadecimal: bool, has_leading_zero: bool) -> Self {
        match (is_hexadecimal, has_leading_zero) {
            (false, false) => AtomKind::Plain,
            (true, false) => AtomKind::Hexadecimal,
            (false, true) => AtomKind::LeadingZero,
            (true, true) => AtomKind::HexadecimalZero,
        }
    }

    pub(super) fn is_hexadecimal(self) -> bool {
        matches!(self, AtomKind::Hexadecimal | AtomKind::HexadecimalZero)
    }

    pub(super) fn has_leading_zero(self) -> bool {
        matches!(self, AtomKind::LeadingZero | AtomKind::HexadecimalZero)
    }
}

impl From<AtomKind> for u8 {
    fn from(kind: AtomKind) -> u8 {
        kind as u8
    }
}

impl TryFrom<u8> for AtomKind {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        Ok(match number {
            0 => AtomKind::Plain,
            1 => AtomKind::Hexadecimal,
            2 => AtomKind::LeadingZero,
            3 => AtomKind::HexadecimalZero,
            _ => return Err(format!("kind of atom {number}; known are 0 to 3")),
        })
    }
}

/// A piece of a value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Vec<i64>", try_from = "Vec<i64>")]
pub(super) enum ValuePiece {
    /// A character that is neither a letter nor a digit.
    Mark(char),
    /// A word of the table that any project may have.
    Word(usize),
    /// An atom of the session, with the places of its capitals.
    Own(usize, Vec<u16>),
    /// An atom that projects share, with the places of its capitals.
    Shared(usize, Vec<u16>),
}

impl From<ValuePiece> for Vec<i64> {
    fn from(piece: ValuePiece) -> Vec<i64> {
        let atom = |code: i64, number: usize, capitals: Vec<u16>| {
            let capitals = capitals.into_iter().map(i64::from);
            [code, number as i64].into_iter().chain(capitals).collect()
        };
        match piece {
            ValuePiece::Mark(mark) => vec![0, i64::from(u32::from(mark))],
            ValuePiece::Word(number) => vec![1, number as i64],
            ValuePiece::Own(number, capitals) => atom(2, number, capitals),
            ValuePiece::Shared(number, capitals) => atom(3, number, capitals),
        }
    }
}

impl TryFrom<Vec<i64>> for ValuePiece {
    type Error = String;

    fn try_from(numbers: Vec<i64>) -> Result<Self, String> {
        let wrong = || format!("piece of a value {numbers:?}");
        let [code, number, rest @ ..] = &numbers[..] else {
            return Err(wrong());
        };
        let number = usize::try_from(*number).map_err(|_| wrong())?;
        let capitals = || rest.iter().map(|place| u16::try_from(*place));
        let capitals = || capitals().collect::<Result<Vec<u16>, _>>();
        match code {
            0 => u32::try_from(number)
                .ok()
                .and_then(char::from_u32)
                .filter(|mark| !mark.is_alphanumeric())
                .map(ValuePiece::Mark)
                .ok_or_else(wrong),
            1 => Ok(ValuePiece::Word(number)),
            2 => Ok(ValuePiece::Own(number, capitals().map_err(|_| wrong())?)),
            3 => Ok(ValuePiece::Shared(number, capitals().map_err(|_| wrong())?)),
            _ => Err(wrong()),
        }
    }
}

/// A message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SkeletonMessage(
    /// 0 system, 1 user, 2 assistant, 3 tool.
    pub(super) u8,
    /// Seconds since the last message.
    pub(super) u64,
    /// What it says.
    pub(super) Vec<SkeletonPart>,
    /// Tokens that the provider reported: input, read from the cache, written to it, output; or none.
    pub(super) Vec<u64>,
);

/// A part of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum SkeletonPart {
    /// Text.
    #[serde(rename = "t")]
    Text(Text),
    /// Reasoning.
    #[serde(rename = "h")]
    Thinking(Text),
    /// A call: its number, the tool, its arguments.
    #[serde(rename = "c")]
    Call(u32, u32, ArgumentNode),
    /// A result: its call, whether it failed, its text.
    #[serde(rename = "r")]
    Result(Option<u32>, bool, Text),
    /// Media, in tokens.
    #[serde(rename = "m")]
    Media(u32),
}

/// A piece of a call's arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum ArgumentNode {
    /// Text.
    #[serde(rename = "t")]
    Text(Text),
    /// A number that is a value.
    #[serde(rename = "v")]
    Value(u32),
    /// A number: its digits and whether it is negative.
    #[serde(rename = "d")]
    Number(u16, bool),
    /// `true`, `false` or nothing.
    #[serde(rename = "b")]
    Flag(Option<bool>),
    /// A word of the table of choices.
    #[serde(rename = "e")]
    Choice(usize),
    /// A list.
    #[serde(rename = "l")]
    List(Vec<ArgumentNode>),
    /// Fields with their names.
    #[serde(rename = "f")]
    Fields(Vec<(u32, ArgumentNode)>),
}

/// A text.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Text(
    /// Its tokens (o200k_base).
    pub(super) u32,
    /// What it is like.
    pub(super) TextClass,
    /// How its lines begin: twice the blanks, and one more if they are numbered.
    pub(super) u32,
    /// Sentences that end: twice the number of the gap, and one more for a question.
    pub(super) Vec<u32>,
    /// What is between its values, one more than there are values.
    pub(super) Vec<Gap>,
);

/// What is before a value, and the value; the last one of a text has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Gap(
    /// Punctuation after the last value.
    pub(super) u32,
    /// Characters of filler.
    pub(super) u32,
    /// Line breaks in it.
    pub(super) u32,
    /// Punctuation before the value.
    pub(super) u32,
    /// The value.
    pub(super) Option<u32>,
);

/// What a text is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub(super) enum TextClass {
    /// Files and what is written to them.
    Code,
    /// What the agent says.
    #[default]
    Prose,
    /// What a person says.
    User,
    /// What a search found.
    Listing,
    /// What a command printed.
    Log,
    /// Any other result.
    Other,
}

impl From<TextClass> for u8 {
    fn from(class: TextClass) -> u8 {
        class as u8
    }
}

impl TryFrom<u8> for TextClass {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        use TextClass::{Code, Listing, Log, Other, Prose, User};
        [Code, Prose, User, Listing, Log, Other]
            .get(usize::from(number))
            .copied()
            .ok_or_else(|| format!("class of a text {number}; known are 0 to 5"))
    }
}
