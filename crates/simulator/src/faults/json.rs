//! Finds the JSON object of a reply and the texts in it by position, so that a fault changes only
//! those bytes.

use std::ops::Range;

use serde_json::{Deserializer, Map, Value};

/// The range of the first JSON object in a text.
pub(super) fn object(text: &str) -> Option<Range<usize>> {
    text.match_indices('{').find_map(|(start, _)| {
        let mut values = Deserializer::from_str(&text[start..]).into_iter::<Map<String, Value>>();
        let is_object = values.next()?.is_ok();
        is_object.then(|| start..start + values.byte_offset())
    })
}

/// Whether the JSON object of a text is still valid after a change. As a bare number, `10` would
/// become `01`.
pub(super) fn still_reads(text: &str, changed: &str) -> bool {
    // Its place may move when the text before it gets longer, so its opening brace is counted.
    let opens = |text: &str| object(text).map(|object| text[..object.start].matches('{').count());
    opens(text) == opens(changed)
}

/// A text in quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quoted {
    /// The position after its opening quote.
    pub(super) start: usize,
    /// The position of its closing quote.
    pub(super) end: usize,
    /// Whether it is an element of a list.
    pub(super) in_list: bool,
}

/// The texts that are values, not keys, in a piece of JSON. The parser is lenient, because it also
/// reads examples in prompts.
pub(super) fn texts(text: &str, within: Range<usize>) -> Vec<Quoted> {
    let mut found = Vec::new();
    let mut open = Vec::new();
    let mut at = within.start;
    while let Some(letter) = text[at..within.end].chars().next() {
        at += letter.len_utf8();
        match letter {
            '{' | '[' => open.push(letter),
            '}' | ']' => drop(open.pop()),
            '"' => {
                let Some(end) = closing(&text[..within.end], at) else {
                    break;
                };
                if !text[end + 1..within.end].trim_start().starts_with(':') {
                    found.push(Quoted {
                        start: at,
                        end,
                        in_list: open.last() == Some(&'['),
                    });
                }
                at = end + 1;
            }
            _ => {}
        }
    }
    found
}

/// The position of the quote that closes a text starting at `from`.
fn closing(text: &str, from: usize) -> Option<usize> {
    let mut escaped = false;
    for (at, letter) in text[from..].char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(from + at),
            _ => {}
        }
    }
    None
}

/// A text escaped for use inside quotes.
pub(super) fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_object_and_its_texts() {
        let text = r#"{no} say {"a": ["x", {"k": "y\"}"}], "b": 1, "é": ""} and {"z": 2}"#;
        let object = object(text).unwrap();
        assert_eq!(
            &text[object.clone()],
            r#"{"a": ["x", {"k": "y\"}"}], "b": 1, "é": ""}"#
        );
        let texts = texts(text, object);
        let seen = texts
            .iter()
            .map(|quoted| (&text[quoted.start..quoted.end], quoted.in_list))
            .collect::<Vec<_>>();
        assert_eq!(seen, [("x", true), (r#"y\"}"#, false), ("", false)]);
    }

    #[test]
    fn escapes_as_json_does() {
        assert_eq!(escaped("a\"b\nü"), r#"a\"b\nü"#);
    }
}
