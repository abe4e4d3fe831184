//! Whether a value is one end of a range or one of several alternatives: then the text states none
//! of them.
//!
//! Absent on purpose: alternatives of more than one word each, and those that only a table or a
//! list shows.

use super::clause::{
    CLOSING, OPENING, PREPOSITIONS, begins_alike, first_clause, is_alike, last_clause,
    without_preposition, words,
};

/// Words that make of "from V to W" a range where nothing else does.
const SPANS: &[&str] = &[
    "allowed", "any", "anything", "anywhere", "accepted", "lasts", "range", "ranges", "ranging",
    "span", "spans", "takes", "valid", "varies", "vary",
];
/// The most values of a list of alternatives.
const LISTED: usize = 4;

pub(super) fn is_one_of_several(
    before: &str,
    after: &str,
    value: &str,
    is_number: bool,
    is_change: bool,
) -> bool {
    let is_in_range = || is_number && (is_end(before, is_change) || is_start(before, after));
    is_before_alternative(after, value, is_number, LISTED)
        || is_after_alternative(before, after, value, is_number)
        || is_in_range()
}

/// "V or W", "V, W or X".
fn is_before_alternative(after: &str, value: &str, is_number: bool, most: usize) -> bool {
    let text = after.trim_start_matches(CLOSING);
    let text = text
        .strip_prefix(',')
        .unwrap_or(text)
        .trim_start_matches(' ');
    if let Some(other) = ["or ", "and/or "]
        .iter()
        .find_map(|word| text.strip_prefix(word))
    {
        return begins_alike(without_preposition(other), value, is_number);
    }
    let listed = after.trim_start_matches(CLOSING).starts_with(',');
    let (item, rest) = text.split_at(text.find([' ', ',']).unwrap_or(text.len()));
    listed
        && most > 1
        && is_alike(item, value, is_number)
        && is_before_alternative(rest, value, is_number, most - 1)
}

/// "W or V".
fn is_after_alternative(before: &str, after: &str, value: &str, is_number: bool) -> bool {
    let text = without_last_preposition(before.trim_end_matches(OPENING));
    let Some(text) = ["/or ", " or "]
        .iter()
        .find_map(|word| text.strip_suffix(word))
    else {
        return false;
    };
    let text = text.trim_end_matches([',', ' ']).trim_end_matches(CLOSING);
    let mut tokens = last_clause(text)
        .rsplit(' ')
        .map(|token| token.trim_matches(OPENING))
        .filter(|token| !token.is_empty());
    match tokens.next() {
        // The unit of a number.
        Some(unit) if is_number && unit.chars().all(char::is_alphabetic) => tokens
            .next()
            .is_some_and(|token| is_alike(token, value, is_number)),
        Some(token) => {
            is_alike(token, value, is_number)
                && (token.chars().any(|letter| !letter.is_alphabetic()) || is_last(after))
        }
        None => false,
    }
}

fn without_last_preposition(text: &str) -> &str {
    let mut shorter = PREPOSITIONS.iter().map(|word| text.strip_suffix(word));
    shorter.find_map(|shorter| shorter).unwrap_or(text)
}

fn is_last(after: &str) -> bool {
    let clause = first_clause(after.trim_start_matches(CLOSING));
    clause.trim().is_empty()
}

/// "8-V", "8 to V", "between 8 and V".
fn is_end(before: &str, is_change: bool) -> bool {
    if let Some(rest) = before.strip_suffix('-') {
        let digits = rest.trim_end_matches(|letter: char| {
            letter.is_ascii_digit() || matches!(letter, '.' | ',')
        });
        let is_joined = digits.ends_with(|letter: char| {
            letter.is_alphanumeric() || matches!(letter, '-' | '_' | '/')
        });
        return digits.len() < rest.len() && !is_joined;
    }
    let clause = last_clause_with_numbers(before);
    let said = words(clause).collect::<Vec<_>>();
    let has = |word: &str| said.contains(&word);
    let number = |ends: &[&str]| ends.iter().any(|end| ends_in_number(said.as_slice(), end));
    let is_span = || !has("from") || said.iter().any(|word| SPANS.contains(word));
    (has("between") && number(&["and"])) || (number(&["to", "through"]) && !is_change && is_span())
}

/// "V-16", "V to 16", "between V and 16".
fn is_start(before: &str, after: &str) -> bool {
    let begins = |text: &str| {
        text.trim_start_matches(OPENING)
            .starts_with(|letter: char| letter.is_ascii_digit())
    };
    if let Some(rest) = after.strip_prefix('-') {
        return rest.starts_with(|letter: char| letter.is_ascii_digit());
    }
    let text = after.trim_start_matches(CLOSING);
    let is_between = words(before).next_back() == Some("between");
    text.strip_prefix(" to ").is_some_and(begins)
        || text
            .strip_prefix(" and ")
            .is_some_and(|text| is_between && begins(text))
}

/// Whether these words end in a number, perhaps its unit, and that word.
fn ends_in_number(said: &[&str], word: &str) -> bool {
    let is_number = |word: &&str| word.starts_with(|letter: char| letter.is_ascii_digit());
    match said {
        [.., number, last] if is_number(number) => *last == word,
        [.., number, unit, last] if is_number(number) => {
            unit.chars().all(char::is_alphabetic) && *last == word
        }
        _ => false,
    }
}

/// The clause before a value, where a comma or a point between digits ends none.
fn last_clause_with_numbers(text: &str) -> &str {
    let clause = last_clause(text);
    let start = text.len() - clause.len();
    let inside = text[..start].ends_with(',')
        && text[..start - 1].ends_with(|letter: char| letter.is_ascii_digit());
    if inside && clause.starts_with(|letter: char| letter.is_ascii_digit()) {
        return &text[text[..start - 1].len() - last_clause(&text[..start - 1]).len()..];
    }
    clause
}
