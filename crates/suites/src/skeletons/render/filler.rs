//! Text between values: words that say nothing, of the length that the tokens need.

use crate::dice::SeededDice;
use crate::skeletons::format::TextClass;
use crate::skeletons::words::{FILLER, LONGEST};

/// What stands for short words in code.
const CODE_MARKS: &[&str] = &[" {", " }", ";", " =", ",", " (", ")", " +"];
/// What stands for short words elsewhere.
const MARKS: &[&str] = &[",", " -", " a"];

/// How the filler of one text is written.
pub(super) struct Filler<'d> {
    pub(super) dice: &'d mut SeededDice,
    pub(super) class: TextClass,
    /// The mean length of a word with its blank.
    pub(super) mean: f64,
    /// How its lines begin, as the skeleton has it.
    pub(super) starts: u32,
    /// The number of the line, where lines are numbered.
    pub(super) line: usize,
    /// By how many characters words were too short so far.
    pub(super) debt: f64,
}

impl Filler<'_> {
    /// About `length` characters with so many line breaks, and sentences that end, at places in it.
    pub(super) fn write(&mut self, length: usize, lines: usize, ends: &[bool]) -> String {
        let mut text = String::new();
        if length < 3 {
            let blanks = " ".repeat(length.saturating_sub(lines));
            return blanks + &"\n".repeat(lines.min(length));
        }
        let mut breaks: Vec<usize> = (0..lines).map(|_| self.dice.below(length)).collect();
        breaks.sort_unstable();
        let mut breaks = breaks.into_iter().peekable();
        let (mut written, mut ended, mut words) = (0, 0, 0);
        while written < length {
            let before = text.len();
            if breaks.next_if(|at| *at <= written).is_some() {
                text.push('\n');
                // Breaks close together are blank lines.
                if breaks.peek().is_none_or(|next| *next > written + 8) {
                    self.start_line(&mut text);
                }
                words = 0;
            } else if ended < ends.len() && length * (ended + 1) / (ends.len() + 1) <= written {
                text.push(if ends[ended] { '?' } else { '.' });
                ended += 1;
                words = 0;
            } else {
                self.word(&mut text, length - written, words == 0);
                words += 1;
            }
            written += text.len() - before;
        }
        text.extend(breaks.map(|_| '\n'));
        text
    }

    /// A word, or a mark in place of a short one.
    fn word(&mut self, text: &mut String, room: usize, opens: bool) {
        let wanted = self.mean + self.debt;
        let spread = self.dice.below(301) as f64 / 100.0 - 1.5;
        let length = ((wanted + spread).round().max(1.0) as usize)
            .min(LONGEST + 1)
            .min(room);
        let before = text.len();
        if length <= 3 {
            let marks = if self.class == TextClass::Code || wanted < 3.0 {
                CODE_MARKS
            } else {
                MARKS
            };
            text.push_str(self.dice.pick(marks));
        } else {
            let word = self.dice.pick(&FILLER[length - 1]);
            text.push(' ');
            let is_sentence = opens && matches!(self.class, TextClass::Prose | TextClass::User);
            match word.chars().next().filter(|_| is_sentence) {
                Some(first) => text.extend([&*first.to_uppercase().to_string(), &word[1..]]),
                None => text.push_str(word),
            }
        }
        let missing = self.mean - (text.len() - before) as f64;
        self.debt = if self.debt.abs() < 4.0 {
            self.debt + missing / 2.0
        } else {
            -self.debt / 2.0
        };
    }

    /// The number of a line of a shown file, and blanks.
    fn start_line(&mut self, text: &mut String) {
        self.line += 1;
        if self.starts % 2 == 1 {
            text.push_str(&format!("{:>6}→", self.line));
        }
        let blanks = self.dice.between(0, 2 * (self.starts as usize / 2));
        text.extend(std::iter::repeat_n(' ', blanks));
    }
}
