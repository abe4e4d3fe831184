//! The only matcher: it finds values in text. Facts, decoys, foils and foreign facts are all found by it, and so is the evidence
//! that importers list, so that "stated" and "present" mean the same.
//!
//! Text and values are compared in one normal form (`normal`). A value matches as a whole, ignoring case, with no word character
//! next to it, and a number never matches inside a longer one. Numbers match by value and unit (`quantity`). An affirmed fact is
//! present if its value is asserted, and a denied one if its value is denied. A value that is said to be replaced counts for
//! neither (`stance`).
//!
//! Absent on purpose: meaning. A paraphrase without the value does not match.

mod decimal;
mod index;
mod normal;
mod quantity;
mod stance;

use std::borrow::Cow;

use self::index::{Index, Scan};
use self::normal::normal;
use self::quantity::Quantity;
use self::stance::{Stance, stance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Finds many values in one pass.
#[derive(Clone, Debug)]
pub struct Matcher {
    index: Index,
    forms: Vec<Form>,
    quantities: Vec<Quantity>,
    items: usize,
}

/// How a value is matched and pooled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ValueKind {
    /// A made-up word.
    Nonce,
    /// An identifier.
    Id,
    /// A number, with or without unit.
    Number,
    /// A path or URL.
    Path,
    /// A word from a small set.
    Enum,
    /// Free words.
    Free,
}

/// What is sought about a value. A bare [`ValueKind`] finds the value whatever is said about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sought {
    /// How it is matched.
    pub kind: ValueKind,
    /// What must be said about it.
    pub said: Said,
}

/// What must be said about a value for a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Anything.
    Either,
    /// That it is so. A value that is denied, forbidden or replaced does not match.
    Affirmed,
    /// That it is not so, or must not be.
    Denied,
}

impl From<ValueKind> for Sought {
    fn from(kind: ValueKind) -> Self {
        Sought { kind, said: Said::Either }
    }
}

#[derive(Clone, Copy, Debug)]
struct Form {
    item: usize,
    sought: Sought,
    /// The index of the quantity that begins with the pattern.
    quantity: Option<usize>,
}

impl Matcher {
    /// A matcher for items that each have one or more accepted forms. A form without a visible letter is never found.
    pub fn new<'f, S, F>(items: impl IntoIterator<Item = (S, F)>) -> Self
    where
        S: Into<Sought>,
        F: IntoIterator<Item = &'f str>,
    {
        let mut patterns = Patterns::default();
        let mut count = 0;
        for (item, (sought, values)) in items.into_iter().enumerate() {
            let sought = sought.into();
            values.into_iter().for_each(|value| patterns.add(item, sought, value));
            count = item + 1;
        }
        let Patterns { texts, forms, quantities } = patterns;
        Matcher { index: Index::new(texts), forms, quantities, items: count }
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.items
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// Items found in the text, in order of appearance. An item may occur more than once.
    pub fn find<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        let text = if self.forms.is_empty() { Cow::Borrowed("") } else { normal(text) };
        let mut scan = Scan::default();
        std::iter::from_fn(move || {
            loop {
                let (pattern, start, end) = self.index.next(&text, &mut scan)?;
                let form = self.forms[pattern];
                if self.holds(form, &text, start, end) {
                    return Some(form.item);
                }
            }
        })
    }

    /// Sets `present[item]` for every item found in the text.
    pub fn mark(&self, text: &str, present: &mut [bool]) {
        for item in self.find(text) {
            present[item] = true;
        }
    }

    fn holds(&self, form: Form, text: &str, start: usize, end: usize) -> bool {
        let end = match form.quantity {
            Some(quantity) => self.quantities[quantity].end_at(text, start),
            None => is_whole(form.sought.kind, text, start, end).then_some(end),
        };
        let stance = |end| stance(text, start, end, form.sought.kind == ValueKind::Number);
        end.is_some_and(|end| match form.sought.said {
            Said::Either => true,
            Said::Affirmed => stance(end) == Stance::Asserted,
            Said::Denied => stance(end) == Stance::Denied,
        })
    }
}

/// The patterns for the index, and the form that each belongs to.
#[derive(Default)]
struct Patterns {
    texts: Vec<String>,
    forms: Vec<Form>,
    quantities: Vec<Quantity>,
}

impl Patterns {
    fn add(&mut self, item: usize, sought: Sought, value: &str) {
        let quantity = if sought.kind == ValueKind::Number { Quantity::parse(&normal(value)) } else { None };
        let Some(quantity) = quantity else {
            return spellings(value)
                .into_iter()
                .for_each(|text| self.push(text, Form { item, sought, quantity: None }));
        };
        let of_item = self.forms.iter().rev().take_while(|form| form.item == item).filter_map(|form| form.quantity);
        if of_item.into_iter().any(|known| self.quantities[known] == quantity) {
            return;
        }
        let form = Form { item, sought, quantity: Some(self.quantities.len()) };
        quantity.openings().into_iter().for_each(|text| self.push(text, form));
        self.quantities.push(quantity);
    }

    fn push(&mut self, text: String, form: Form) {
        self.texts.push(text);
        self.forms.push(form);
    }
}

/// The spellings under which a text is searched: as it is, and with its backslashes read as folder separators, as in a string
/// with escapes.
fn spellings(value: &str) -> Vec<String> {
    let mut all = vec![with_plain_blanks(&normal(value))];
    if value.contains('\\') {
        all.push(with_plain_blanks(&normal(&value.replace('\\', "/"))));
    }
    all.retain(|text| !text.is_empty());
    all.sort_unstable();
    all.dedup();
    all
}

/// Single blanks between words, as in the index.
fn with_plain_blanks(text: &str) -> String {
    text.split([' ', '\n']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

fn is_whole(kind: ValueKind, text: &str, start: usize, end: usize) -> bool {
    let mut before = text[..start].chars().rev();
    let mut after = text[end..].chars();
    let (previous, next) = (before.next(), after.next());
    let first = text[start..].chars().next();
    let last = text[..end].chars().next_back();
    if joins(previous, first) || joins(last, next) {
        return false;
    }
    let (before_previous, after_next) = (before.next(), after.next());
    if continues_version(first, previous, before_previous) || continues_version(last, next, after_next) {
        return false;
    }
    match kind {
        ValueKind::Number => !continues_number(previous, before_previous) && !continues_number(next, after_next),
        ValueKind::Id | ValueKind::Nonce => !continues_id(previous, before_previous) && !continues_id(next, after_next),
        ValueKind::Path => !(next == Some('.') && after_next.is_some_and(char::is_alphanumeric)),
        ValueKind::Enum | ValueKind::Free => true,
    }
}

/// Whether two neighbouring characters belong to one word. A value that itself ends in punctuation has no such neighbours.
fn joins(left: Option<char>, right: Option<char>) -> bool {
    left.is_some_and(is_word) && right.is_some_and(is_word)
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// `1.1` in `1.1.2` is part of another version.
fn continues_version(edge: Option<char>, neighbour: Option<char>, beyond: Option<char>) -> bool {
    neighbour == Some('.') && [edge, beyond].iter().all(|letter| letter.is_some_and(|letter| letter.is_ascii_digit()))
}

/// `12` in `12.5` or `1,012` is part of another number; a full stop after it is not.
fn continues_number(neighbour: Option<char>, beyond: Option<char>) -> bool {
    matches!(neighbour, Some('.' | ',')) && beyond.is_some_and(|letter| letter.is_ascii_digit())
}

/// `ab-12` in `ab-12-99` is part of another id; a dash between words is not.
fn continues_id(neighbour: Option<char>, beyond: Option<char>) -> bool {
    neighbour == Some('-') && beyond.is_some_and(char::is_alphanumeric)
}

#[cfg(test)]
mod tests;
