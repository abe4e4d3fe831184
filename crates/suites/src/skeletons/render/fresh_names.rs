//! Fresh names by shape.

use std::collections::HashSet;

use crate::dice::SeededDice;
use crate::skeletons::format::AtomShape;
use crate::skeletons::tokens_of;
use crate::skeletons::words::{FILLER, number_of};

const CONSONANTS: &[u8] = b"bdfgjklmnprstvz";
const VOWELS: &[u8] = b"aeiou";
/// Names that are tried for one shape.
const TRIES: usize = 60;
/// Names that are tried with the tokens of the shape.
const TRIES_OF_TOKENS: usize = 40;

/// Makes names, none twice where the shape has room.
pub(super) struct NameMaker<'d> {
    dice: &'d mut SeededDice,
    taken: HashSet<String>,
}

impl<'d> NameMaker<'d> {
    pub(super) fn new(dice: &'d mut SeededDice, taken: &[String]) -> Self {
        NameMaker {
            dice,
            taken: taken.iter().cloned().collect(),
        }
    }

    /// A name for each shape. The shorter forms of a hash are its beginnings.
    pub(super) fn all(&mut self, shapes: &[AtomShape]) -> Vec<String> {
        let mut names: Vec<String> = shapes.iter().map(|shape| self.name(shape)).collect();
        for (at, shape) in shapes.iter().enumerate() {
            if let Some(parent) = shape.4.and_then(|parent| names.get(parent as usize)) {
                names[at] = parent.chars().take(shape.length()).collect();
            }
        }
        names
    }

    fn name(&mut self, shape: &AtomShape) -> String {
        let mut name = String::new();
        for tried in 0..TRIES {
            name = self.draw(shape, tried);
            let is_free = !self.taken.contains(&name) && number_of(&name).is_none();
            let has_tokens = || {
                shape.has_digits()
                    || tried >= TRIES_OF_TOKENS
                    || tokens_of(&name, &shape.1) == shape.3
            };
            if is_free && has_tokens() {
                break;
            }
        }
        self.taken.insert(name.clone());
        name
    }

    fn draw(&mut self, shape: &AtomShape, tried: usize) -> String {
        if !shape.has_digits() {
            let tokens = (shape.3 as usize).saturating_sub(1 + usize::from(tried % 3 == 2));
            return self.word(shape, tokens.max(1));
        }
        let mut name = String::new();
        for (at, length) in shape.0.iter().enumerate() {
            for _ in 0..*length {
                let is_first = name.is_empty();
                name.push(match (at % 2 == 1, shape.2.is_hexadecimal()) {
                    (true, _) if is_first && shape.2.has_leading_zero() => '0',
                    (true, _) => {
                        char::from(b'0' + self.dice.between(usize::from(is_first), 9) as u8)
                    }
                    (false, true) => char::from(b'a' + self.dice.below(6) as u8),
                    (false, false) => self.letter(name.len()),
                });
            }
        }
        name
    }

    /// Consonants and vowels by turns.
    fn letter(&mut self, place: usize) -> char {
        let letters = if place.is_multiple_of(2) {
            CONSONANTS
        } else {
            VOWELS
        };
        char::from(self.dice.pick(letters))
    }

    /// Words in as many pieces as the shape has tokens, cut where it has humps.
    fn word(&mut self, shape: &AtomShape, tokens: usize) -> String {
        let length = shape.length();
        let is_hump = |place: &u16| *place > 0 && !shape.1.contains(&(place - 1));
        let humps = shape.1.iter().copied().filter(is_hump).map(usize::from);
        let mut cuts: Vec<usize> = [0].into_iter().chain(humps).chain([length]).collect();
        while cuts.len() <= tokens.min(length) {
            let widths = cuts.windows(2).enumerate();
            let Some((at, pair)) = widths.max_by_key(|(_, pair)| pair[1] - pair[0]) else {
                break;
            };
            if pair[1] - pair[0] < 2 {
                break;
            }
            let cut = self.dice.between(pair[0] + 1, pair[1] - 1);
            cuts.insert(at + 1, cut);
        }
        cuts.windows(2)
            .map(|pair| self.piece(pair[1] - pair[0]))
            .collect()
    }

    fn piece(&mut self, length: usize) -> String {
        match FILLER
            .get(length)
            .filter(|words| !words.is_empty() && length < FILLER.len() - 1)
        {
            // Few words are that short, so most short names are none.
            Some(words) if self.dice.chance(70) => self.dice.pick(words).to_owned(),
            _ if length > 6 => self.piece(length / 2) + &self.piece(length - length / 2),
            _ => (0..length).map(|place| self.letter(place)).collect(),
        }
    }
}
