//! The only matcher: it finds values in text. Facts, decoys, foils and foreign facts are all found
//! by it, and so is the evidence that importers list, so that "stated" and "present" mean the same.
//!
//! Text and values are compared in one normal form (`normal`). A value matches in its usual
//! spellings (`spellings`) and as a whole (`whole`), ignoring case. Numbers match by value and unit
//! (`quantity`). An affirmed fact is present if its value is asserted, and a denied one if its
//! value is denied. A value that is said to be replaced, or that is doubted, asked or merely
//! considered, counts for neither (`stance`).
//!
//! Absent on purpose: meaning. A paraphrase without the value does not match.

mod decimal;
mod index;
mod normal;
mod numerals;
mod quantity;
mod spellings;
mod stance;
mod units;
mod whole_value;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use self::decimal::Decimal;
use self::index::{FormIndex, IndexScan};
pub(crate) use self::normal::normal;
use self::quantity::{NumberAt, Quantity};
use self::spellings::spellings;
use self::stance::{Stance, stance};
use self::whole_value::is_whole;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Finds many values in one pass.
#[derive(Clone, Debug)]
pub struct Matcher {
    index: FormIndex,
    /// For each pattern, the first of its forms.
    firsts: Vec<u32>,
    forms: Vec<Form>,
    quantities: Vec<Quantity>,
    items: usize,
}

/// One that finds nothing.
impl Default for Matcher {
    fn default() -> Self {
        Matcher::new(std::iter::empty::<(ValueKind, [&str; 0])>())
    }
}

/// How a value is matched and pooled.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
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
        Sought {
            kind,
            said: Said::Either,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Form {
    item: usize,
    sought: Sought,
    quantity: Option<QuantityOpening>,
    /// The next form of its pattern.
    next: Option<u32>,
}

/// How far a text has been searched.
#[derive(Default)]
struct Search {
    scan: IndexScan,
    /// The last pattern found: where it is, and the next of its forms to look at.
    found: Range<usize>,
    form: Option<u32>,
    number: NumberAt,
}

/// The pattern with which a quantity begins.
#[derive(Clone, Copy, Debug)]
struct QuantityOpening {
    quantity: usize,
    /// Whether the number must go on after it.
    is_part: bool,
}

impl Matcher {
    /// A matcher for items that each have one or more accepted forms. A form without a visible
    /// letter is never found.
    pub fn new<'f, S, F>(items: impl IntoIterator<Item = (S, F)>) -> Self
    where
        S: Into<Sought>,
        F: IntoIterator<Item = &'f str>,
    {
        let mut patterns = Patterns::default();
        let mut count = 0;
        for (item, (sought, values)) in items.into_iter().enumerate() {
            let sought = sought.into();
            values
                .into_iter()
                .for_each(|value| patterns.add(item, sought, value));
            count = item + 1;
        }
        let Patterns {
            texts,
            firsts,
            forms,
            quantities,
            ..
        } = patterns;
        Matcher {
            index: FormIndex::new(texts),
            firsts,
            forms,
            quantities,
            items: count,
        }
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
        let text = self.normal(text);
        let mut search = Search::default();
        std::iter::from_fn(move || {
            let (item, _) = self.next(&text, &mut search, |_| true)?;
            Some(item)
        })
    }

    fn normal<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.forms.is_empty() {
            Cow::Borrowed("")
        } else {
            normal(text)
        }
    }

    /// The same with the place of each, in a text that has the normal form.
    pub(crate) fn occurrences<'t>(
        &'t self,
        normal: &'t str,
    ) -> impl Iterator<Item = (usize, Range<usize>)> + 't {
        let mut search = Search::default();
        std::iter::from_fn(move || self.next(normal, &mut search, |_| true))
    }

    /// The next match of an item that is wanted.
    fn next(
        &self,
        text: &str,
        search: &mut Search,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Option<(usize, Range<usize>)> {
        loop {
            while let Some(place) = search.form {
                let form = self.forms[place as usize];
                search.form = form.next;
                if !is_wanted(form.item) {
                    continue;
                }
                let Range { start, end } = search.found;
                if let Some(end) = self.end_of(form, text, (start, end), &mut search.number) {
                    return Some((form.item, start..end));
                }
            }
            let (pattern, start, end) = self.index.next(text, &mut search.scan)?;
            search.found = start..end;
            search.form = Some(self.firsts[pattern]);
        }
    }

    /// Sets `present[item]` for every item found in the text. An item that is set already is not
    /// looked for.
    pub fn mark(&self, text: &str, present: &mut [bool]) {
        self.mark_new(text, present, |_| ());
    }

    /// The same, and passes on each item that it sets.
    pub fn mark_new(&self, text: &str, present: &mut [bool], mut set: impl FnMut(usize)) {
        let text = self.normal(text);
        let mut search = Search::default();
        while let Some((item, _)) = self.next(&text, &mut search, |item| !present[item]) {
            present[item] = true;
            set(item);
        }
    }

    /// Where a match ends; nothing if the text around it says something else.
    fn end_of(
        &self,
        form: Form,
        text: &str,
        (start, end): (usize, usize),
        number: &mut NumberAt,
    ) -> Option<usize> {
        let quantity = form
            .quantity
            .map(|opening| (opening, &self.quantities[opening.quantity]));
        let end = match quantity {
            Some((opening, _))
                if opening.is_part && !Decimal::may_go_on(&text.as_bytes()[end..]) =>
            {
                None
            }
            Some((_, quantity)) => quantity.end_at(text, start, number),
            None => is_whole(form.sought.kind, text, start, end).then_some(end),
        };
        let stance = |end| stance(text, start, end, form.sought.kind == ValueKind::Number);
        let has_sign = || quantity.is_none_or(|(_, found)| found.has_same_sign(text, start));
        end.filter(|end| match form.sought.said {
            Said::Either => true,
            Said::Affirmed => has_sign() && stance(*end) == Stance::Asserted,
            Said::Denied => has_sign() && stance(*end) == Stance::Denied,
        })
    }
}

/// The patterns for the index, and the form that each belongs to.
#[derive(Default)]
struct Patterns {
    texts: Vec<index::Spelling>,
    firsts: Vec<u32>,
    /// The patterns with which numbers begin: many numbers share a first digit.
    openings: HashMap<String, usize>,
    forms: Vec<Form>,
    quantities: Vec<Quantity>,
}

impl Patterns {
    fn add(&mut self, item: usize, sought: Sought, value: &str) {
        let quantity = if sought.kind == ValueKind::Number {
            Quantity::parse(&normal(value))
        } else {
            None
        };
        let Some(quantity) = quantity else {
            return spellings(sought.kind, value).into_iter().for_each(|text| {
                self.push(
                    text,
                    Form {
                        item,
                        sought,
                        quantity: None,
                        next: None,
                    },
                )
            });
        };
        let of_item = self
            .forms
            .iter()
            .rev()
            .take_while(|form| form.item == item)
            .filter_map(|form| form.quantity);
        if of_item
            .into_iter()
            .any(|known| self.quantities[known.quantity] == quantity)
        {
            return;
        }
        for (text, is_part) in quantity.openings() {
            let opening = QuantityOpening {
                quantity: self.quantities.len(),
                is_part,
            };
            self.push_opening(
                text,
                Form {
                    item,
                    sought,
                    quantity: Some(opening),
                    next: None,
                },
            );
        }
        self.quantities.push(quantity);
    }

    fn push(&mut self, text: String, form: Form) {
        let may_break = form.sought.kind == ValueKind::Path;
        self.texts.push(index::Spelling { text, may_break });
        self.firsts.push(self.forms.len() as u32);
        self.forms.push(form);
    }

    fn push_opening(&mut self, text: String, form: Form) {
        let Some(pattern) = self.openings.get(&text) else {
            self.openings.insert(text.clone(), self.texts.len());
            return self.push(text, form);
        };
        let first = &mut self.firsts[*pattern];
        let next = Some(std::mem::replace(first, self.forms.len() as u32));
        self.forms.push(Form { next, ..form });
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests;
