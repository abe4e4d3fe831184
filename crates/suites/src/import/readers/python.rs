//! Values as Python prints them: dictionaries, lists and tuples of strings, numbers, `True`, `False`
//! and `None`.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::Value;

/// The value that a text prints; nothing if it prints none.
pub(in crate::import) fn literal(text: &str) -> Option<Value> {
    let (mut json, mut rest) = (String::with_capacity(text.len()), text.chars().peekable());
    while let Some(letter) = rest.next() {
        match letter {
            '\'' | '"' => json.push_str(&Value::from(string(letter, &mut rest)?).to_string()),
            '(' => json.push('['),
            ')' | ']' | '}' => {
                let end = json.trim_end().trim_end_matches(',').len();
                json.truncate(end);
                json.push(if letter == ')' { ']' } else { letter });
            }
            letter if letter.is_ascii_alphabetic() => json.push_str(constant(letter, &mut rest)?),
            letter => json.push(letter),
        }
    }
    serde_json::from_str(&json).ok()
}

/// A constant in JSON's word, or the `e` of a number.
fn constant(first: char, rest: &mut Peekable<Chars<'_>>) -> Option<&'static str> {
    let mut word = String::from(first);
    while let Some(letter) = rest.next_if(char::is_ascii_alphabetic) {
        word.push(letter);
    }
    match word.as_str() {
        "True" => Some("true"),
        "False" => Some("false"),
        "None" => Some("null"),
        "e" => Some("e"),
        _ => None,
    }
}

/// The rest of a string up to its quote.
fn string(quote: char, rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let mut string = String::new();
    loop {
        let letter = match rest.next()? {
            letter if letter == quote => return Some(string),
            '\\' => escaped(rest)?,
            letter => Some(letter),
        };
        string.extend(letter);
    }
}

/// The letter after a backslash; nothing where a line goes on.
fn escaped(rest: &mut Peekable<Chars<'_>>) -> Option<Option<char>> {
    let digits = match rest.next()? {
        'n' => return Some(Some('\n')),
        't' => return Some(Some('\t')),
        'r' => return Some(Some('\r')),
        '\n' => return Some(None),
        letter @ ('\\' | '\'' | '"') => return Some(Some(letter)),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let code = rest.by_ref().take(digits).collect::<String>();
    let code = u32::from_str_radix(&code, 16).ok()?;
    // Half of a surrogate pair is not a letter.
    Some(Some(char::from_u32(code).unwrap_or('\u{fffd}')))
}
