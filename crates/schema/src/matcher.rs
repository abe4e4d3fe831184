//! The one matcher: where values stand in text. Facts, decoys, foils and foreign facts all pass it, and so do importers
//! when they list evidence, so that "stated" and "present" mean the same.
//!
//! A value matches whole: letters of any case, no word character beside it, a number never inside a longer one.

use aho_corasick::AhoCorasick;
use compactometer_engine::message::Part;

use crate::scenario::ValueKind;

/// Finds many values in one pass.
#[derive(Clone, Debug)]
pub struct Matcher {
    automaton: AhoCorasick,
    forms: Vec<Form>,
    items: usize,
}

#[derive(Clone, Copy, Debug)]
struct Form {
    item: usize,
    kind: ValueKind,
}

impl Matcher {
    /// A matcher for items that each have one or more accepted forms.
    ///
    /// # Errors
    /// [`TooManyValues`] where the forms together exceed what the automaton can hold.
    pub fn new<'f, F>(items: impl IntoIterator<Item = (ValueKind, F)>) -> Result<Self, TooManyValues>
    where
        F: IntoIterator<Item = &'f str>,
    {
        let mut patterns: Vec<String> = Vec::new();
        let mut forms = Vec::new();
        let mut count = 0;
        for (item, (kind, values)) in items.into_iter().enumerate() {
            for pattern in values.into_iter().flat_map(|value| spellings(kind, value)) {
                forms.push(Form { item, kind });
                patterns.push(pattern);
            }
            count = item + 1;
        }
        let automaton =
            AhoCorasick::builder().ascii_case_insensitive(true).build(&patterns).map_err(|_| TooManyValues(count))?;
        Ok(Matcher { automaton, forms, items: count })
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.items
    }

    /// Whether there is nothing to find.
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// Items that stand in the text, in order of appearance; an item may come more than once.
    pub fn find<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        self.automaton.find_overlapping_iter(text).filter_map(|found| {
            let form = self.forms[found.pattern().as_usize()];
            stands_alone(form.kind, text, found.start(), found.end()).then_some(form.item)
        })
    }

    /// Sets `present[item]` for every item that stands in the text.
    pub fn mark(&self, text: &str, present: &mut [bool]) {
        for item in self.find(text) {
            present[item] = true;
        }
    }
}

/// The texts of a part in which a value can stand.
pub fn part_text(part: &Part) -> Option<&str> {
    match part {
        Part::Text { text } | Part::Thinking { text, .. } | Part::ToolResult { text, .. } => Some(text),
        Part::ToolCall { arguments, .. } => Some(arguments),
        Part::Media { .. } => None,
    }
}

/// The forms under which a value is looked for: numbers of four and more digits with and without separators.
fn spellings(kind: ValueKind, value: &str) -> Vec<String> {
    let mut all = vec![value.to_owned()];
    if kind == ValueKind::Number {
        let digits = value.chars().take_while(|letter| letter.is_ascii_digit() || *letter == ',').collect::<String>();
        let plain = digits.replace(',', "");
        if plain.len() >= 4 {
            let rest = &value[digits.len()..];
            for spelling in [format!("{plain}{rest}"), format!("{}{rest}", with_separators(&plain))] {
                if !all.contains(&spelling) {
                    all.push(spelling);
                }
            }
        }
    }
    all
}

fn with_separators(digits: &str) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn stands_alone(kind: ValueKind, text: &str, start: usize, end: usize) -> bool {
    let mut before = text[..start].chars().rev();
    let mut after = text[end..].chars();
    let (previous, next) = (before.next(), after.next());
    let first = text[start..].chars().next();
    let last = text[..end].chars().next_back();
    if joins(previous, first) || joins(last, next) {
        return false;
    }
    match kind {
        ValueKind::Number => !continues_number(previous, before.next()) && !continues_number(next, after.next()),
        ValueKind::Id | ValueKind::Nonce => !continues_id(previous, before.next()) && !continues_id(next, after.next()),
        ValueKind::Path => !(next == Some('.') && after.next().is_some_and(char::is_alphanumeric)),
        ValueKind::Enum | ValueKind::Free => true,
    }
}

/// Whether two neighbours belong to one word; a value that itself ends in punctuation stands alone anywhere.
fn joins(left: Option<char>, right: Option<char>) -> bool {
    left.is_some_and(is_word) && right.is_some_and(is_word)
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// `12` in `12.5` or `1,012` is another number; a full stop after it is not.
fn continues_number(neighbour: Option<char>, beyond: Option<char>) -> bool {
    matches!(neighbour, Some('.' | ',')) && beyond.is_some_and(|letter| letter.is_ascii_digit())
}

/// `ab-12` in `ab-12-99` is another id; a dash between words is not.
fn continues_id(neighbour: Option<char>, beyond: Option<char>) -> bool {
    neighbour == Some('-') && beyond.is_some_and(char::is_alphanumeric)
}

/// More values than one matcher can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` values are more than one matcher can hold; split the scenario")]
pub struct TooManyValues(pub usize);

#[cfg(test)]
mod tests {
    use super::*;

    fn found(kind: ValueKind, value: &str, text: &str) -> bool {
        let matcher = Matcher::new([(kind, [value])]).expect("one value fits");
        matcher.find(text).next().is_some()
    }

    #[test]
    fn values_match_whole() {
        use ValueKind::{Free, Id, Number, Path};
        for (kind, value, text, expected) in [
            (Id, "ab-12", "see AB-12.", true),
            (Id, "ab-12", "see ab-12-99", false),
            (Id, "ab-12", "see xab-12", false),
            (Id, "call_9", "\"id\":\"call_9\"", true),
            (Number, "12", "a 12.5 b", false),
            (Number, "12", "costs 12.", true),
            (Number, "12", "1,012", false),
            (Number, "4500 ms", "at most 4,500 ms", true),
            (Number, "4,500", "4500 of them", true),
            (Path, "src/db.ts", "/repo/src/db.ts:10", true),
            (Path, "src/db", "src/db.ts", false),
            (Path, "src/db", "in src/db.", true),
            (Free, "Redis", "use redis, not", true),
            (Free, "日本", "「日本」", true),
        ] {
            assert_eq!(found(kind, value, text), expected, "{value} in {text}");
        }
    }

    #[test]
    fn one_pass_finds_overlapping_items() {
        let matcher = Matcher::new([(ValueKind::Path, ["a/b"]), (ValueKind::Path, ["a/b/c"])]).expect("fits");
        let mut present = [false; 2];
        matcher.mark("at a/b/c", &mut present);
        assert_eq!(present, [true, true]);
    }
}
