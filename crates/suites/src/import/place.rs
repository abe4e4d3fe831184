//! A place in a file.

use std::cmp::Ordering;
use std::fmt;

/// A place in a file, numbered from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Line(usize),
    Element(usize),
    Turn {
        element: usize,
        message: usize,
    },
    /// A second or later object of a line.
    Part {
        line: usize,
        part: usize,
    },
}

impl Place {
    /// The number of the line, if it is one.
    pub(super) fn line(self) -> Option<u32> {
        match self {
            Place::Line(line) | Place::Part { line, .. } => u32::try_from(line).ok(),
            _ => None,
        }
    }

    /// A place between this one and the next line.
    pub(super) fn after(self) -> Place {
        let (line, part) = self.key();
        Place::Part {
            line,
            part: part.max(1) + 1,
        }
    }

    /// The number of the line or element.
    pub(super) fn number(self) -> usize {
        self.key().0
    }

    /// The place as one of a file that also has lines of several objects.
    fn key(self) -> (usize, usize) {
        match self {
            Place::Line(number) | Place::Element(number) => (number, 0),
            Place::Turn { element, message } => (element, message),
            Place::Part { line, part } => (line, part),
        }
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(out, "line {line}"),
            Place::Element(element) => write!(out, "element {element}"),
            Place::Turn { element, message } => {
                write!(out, "element {element}, message {message}")
            }
            Place::Part { line, part } => write!(out, "line {line}, object {part}"),
        }
    }
}
