//! A text as what is between its values.

use std::collections::HashMap;

use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_text::exact::{forms, whole};

use super::atoms::{AtomValues, Humps};
use crate::skeletons::format::{Gap, Text, TextClass};

/// Punctuation beside values, numbered.
pub(super) struct PunctuationMarks {
    numbers: HashMap<String, u32>,
    in_order: Vec<String>,
}

impl Default for PunctuationMarks {
    fn default() -> Self {
        PunctuationMarks {
            numbers: HashMap::from([(String::new(), 0)]),
            in_order: vec![String::new()],
        }
    }
}

impl PunctuationMarks {
    fn number(&mut self, marks: &str) -> u32 {
        let next = self.in_order.len() as u32;
        let number = *self.numbers.entry(marks.to_owned()).or_insert(next);
        if number == next {
            self.in_order.push(marks.to_owned());
        }
        number
    }

    /// All, as code points.
    pub(super) fn all(self) -> Vec<Vec<u32>> {
        let points = |marks: &String| marks.chars().map(u32::from).collect();
        self.in_order.iter().map(points).collect()
    }
}

/// Reads the texts of a session.
pub(super) struct TextReader<'s> {
    pub(super) values: AtomValues<'s>,
    pub(super) marks: &'s mut PunctuationMarks,
    pub(super) humps: &'s mut Humps,
}

impl TextReader<'_> {
    /// The number of a value.
    pub(super) fn value(&mut self, value: &str) -> u32 {
        self.values.number(value, self.humps)
    }

    /// A text that may be one value as a whole.
    pub(super) fn argument(&mut self, text: &str, class: TextClass) -> Text {
        match whole(text) {
            Some(place) => self.between(text, class, vec![place]),
            None => self.text(text, class),
        }
    }

    /// A text.
    pub(super) fn text(&mut self, text: &str, class: TextClass) -> Text {
        self.between(text, class, forms(text).collect())
    }

    fn between(
        &mut self,
        text: &str,
        class: TextClass,
        places: Vec<std::ops::Range<usize>>,
    ) -> Text {
        let (mut gaps, mut ends, mut at) = (Vec::with_capacity(places.len() + 1), Vec::new(), 0);
        let stops = places.iter().map(Some).chain([None]);
        for (number, place) in stops.enumerate() {
            let gap = &text[at..place.map_or(text.len(), |place| place.start)];
            let is_question = sentence_ends(gap);
            ends.extend(is_question.map(|question| 2 * number as u32 + u32::from(question)));
            let value = place.map(|place| self.value(&text[place.clone()]));
            gaps.push(self.gap(gap, value));
            at = place.map_or(at, |place| place.end);
        }
        Text(
            Encoding::O200k.count_text(text),
            class,
            line_starts(text),
            ends,
            gaps,
        )
    }

    fn gap(&mut self, gap: &str, value: Option<u32>) -> Gap {
        let is_mark = |letter: char| !letter.is_alphanumeric();
        if gap.chars().count() <= 4 && gap.chars().all(is_mark) {
            return Gap(self.marks.number(gap), 0, 0, 0, value);
        }
        let after = gap.chars().take(2).take_while(|letter| is_mark(*letter));
        let (after, rest) = gap.split_at(after.map(char::len_utf8).sum());
        let before = if value.is_some() { last_mark(rest) } else { "" };
        let before = if before.len() < rest.len() {
            before
        } else {
            ""
        };
        let filler = &rest[..rest.len() - before.len()];
        Gap(
            self.marks.number(after),
            filler.chars().count() as u32,
            filler.matches('\n').count() as u32,
            self.marks.number(before),
            value,
        )
    }
}

/// The mark that a text ends with, or an escaped line break.
fn last_mark(text: &str) -> &str {
    let escape = ["\\n", "\\t", "\\r"]
        .into_iter()
        .find(|escape| text.ends_with(escape));
    let last = text
        .chars()
        .next_back()
        .filter(|last| !last.is_alphanumeric());
    let length = escape.map_or(last.map_or(0, char::len_utf8), str::len);
    &text[text.len() - length..]
}

/// For each sentence that ends in a text, whether it is a question.
fn sentence_ends(text: &str) -> impl Iterator<Item = bool> {
    let ends = text.match_indices(['.', '!', '?']);
    ends.filter(|(at, _)| {
        let rest = &text[at + 1..];
        let next = rest.trim_start();
        let is_open =
            next.starts_with(|letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit());
        next.is_empty() || (next.len() < rest.len() && !is_open)
    })
    .map(|(_, end)| end == "?")
}

/// How the lines of a text begin: twice the blanks, and one more if they are numbered.
fn line_starts(text: &str) -> u32 {
    let after_number = |line: &str| {
        let rest = line.trim_start_matches(' ');
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let after = rest[digits..].strip_prefix(['→', '\t']);
        after
            .filter(|_| digits > 0)
            .map(|after| line.len() - after.len())
    };
    let blanks = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let lines = text.matches('\n').count().max(1);
    let numbered = text
        .lines()
        .filter_map(|line| Some(&line[after_number(line)?..]));
    let count = numbered.clone().count();
    if 2 * count > lines {
        2 * (numbered.map(blanks).sum::<usize>() / lines) as u32 + 1
    } else {
        2 * (text.lines().map(blanks).sum::<usize>() / lines) as u32
    }
}
