//! A JSON object as models write it: with comments, stray or trailing commas, ellipses, single
//! quotes, bare words as keys and values, raw line breaks and unknown escapes. Every value is kept
//! as it was written, a number that would be printed otherwise (`1.10`) as text.
//!
//! Absent on purpose: what would need a guess, such as an unescaped quote inside a text or a
//! missing bracket. Absent too: a library. `json5` 1.3.7 reads `1.10` as 1.1, `0x1F` as 31 and
//! `C:\Users` as `C:Users`, and refuses raw line breaks, ellipses and whatever was cut.

use serde_json::{Map, Value};

/// Why no object could be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BrokenCheckpoint {
    /// It is not formed as an object, even leniently.
    Malformed,
    /// The text ends inside it.
    Unclosed,
}

/// An answer with more braces before its checkpoint is not searched further: hostile text may hold
/// millions.
const MOST_OBJECTS: usize = 64;

/// The text from each opening brace on.
pub(super) fn objects(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('{')
        .map(|(at, _)| &text[at..])
        .take(MOST_OBJECTS)
}

/// The whole object at the start of a text; what follows it is not read.
///
/// # Errors
/// [`BrokenCheckpoint`].
pub(super) fn object(text: &str) -> Result<Value, BrokenCheckpoint> {
    CheckpointReader {
        rest: text,
        depth: 0,
        is_cut: false,
    }
    .value()
}

/// As [`object`], for a text that may end anywhere: whole values are kept, the one being written is
/// dropped.
///
/// # Errors
/// [`BrokenCheckpoint::Malformed`].
pub(super) fn cut_object(text: &str) -> Result<Value, BrokenCheckpoint> {
    CheckpointReader {
        rest: text,
        depth: 0,
        is_cut: true,
    }
    .value()
}

/// Deeper values are not read: no checkpoint nests so far, and hostile text may.
const DEEPEST: u32 = 64;

struct CheckpointReader<'t> {
    rest: &'t str,
    depth: u32,
    is_cut: bool,
}

impl CheckpointReader<'_> {
    fn value(&mut self) -> Result<Value, BrokenCheckpoint> {
        match self.peek()? {
            '{' => self.object(),
            '[' => self.list(),
            '"' | '\'' => Ok(Value::String(self.string()?)),
            _ => Ok(literal(self.word()?)),
        }
    }

    fn object(&mut self) -> Result<Value, BrokenCheckpoint> {
        let mut fields = Map::new();
        self.members('}', &mut |reader| {
            let key = match reader.peek()? {
                '"' | '\'' => reader.string()?,
                _ => reader.word()?.to_owned(),
            };
            reader.blanks();
            if reader.peek()? != ':' {
                return Err(BrokenCheckpoint::Malformed);
            }
            reader.skip(1);
            reader.blanks();
            insert(&mut fields, key, reader.value()?);
            Ok(())
        })?;
        Ok(Value::Object(fields))
    }

    fn list(&mut self) -> Result<Value, BrokenCheckpoint> {
        let mut items = Vec::new();
        self.members(']', &mut |reader| {
            items.push(reader.value()?);
            Ok(())
        })?;
        Ok(Value::Array(items))
    }

    /// Reads members up to the closing bracket; where a cut text ends before it, those before the
    /// cut.
    fn members(
        &mut self,
        close: char,
        member: &mut dyn FnMut(&mut Self) -> Result<(), BrokenCheckpoint>,
    ) -> Result<(), BrokenCheckpoint> {
        self.depth += 1;
        let outcome = if self.depth > DEEPEST {
            Err(BrokenCheckpoint::Malformed)
        } else {
            self.whole_members(close, member)
        };
        self.depth -= 1;
        if outcome == Err(BrokenCheckpoint::Unclosed) && self.is_cut {
            self.rest = "";
            return Ok(());
        }
        outcome
    }

    fn whole_members(
        &mut self,
        close: char,
        member: &mut dyn FnMut(&mut Self) -> Result<(), BrokenCheckpoint>,
    ) -> Result<(), BrokenCheckpoint> {
        self.skip(1);
        loop {
            self.blanks_and_commas();
            if self.peek()? == close {
                self.skip(1);
                return Ok(());
            }
            member(self)?;
            self.blanks();
            let next = self.peek()?;
            if next != ',' && next != close {
                return Err(BrokenCheckpoint::Malformed);
            }
        }
    }

    /// A text in quotes. An escape that JSON does not know stays as it is written.
    fn string(&mut self) -> Result<String, BrokenCheckpoint> {
        let quote = self.peek()?;
        self.skip(1);
        let mut text = String::new();
        loop {
            let letter = self.peek()?;
            if letter == '\\' {
                let (taken, decoded) = escape(self.rest).ok_or(BrokenCheckpoint::Unclosed)?;
                text.push_str(decoded.encode_utf8(&mut [0; 4]));
                self.skip(taken);
                continue;
            }
            self.skip(letter.len_utf8());
            if letter == quote {
                return Ok(text);
            }
            text.push(letter);
        }
    }

    /// A bare word: up to a blank, comma, colon, bracket or quote.
    fn word(&mut self) -> Result<&str, BrokenCheckpoint> {
        let ends = |letter: char| letter.is_whitespace() || ",:{}[]\"'".contains(letter);
        let (word, rest) = self
            .rest
            .split_at(self.rest.find(ends).ok_or(BrokenCheckpoint::Unclosed)?);
        if word.is_empty() {
            return Err(BrokenCheckpoint::Malformed);
        }
        self.rest = rest;
        Ok(word)
    }

    fn blanks(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let end = if self.rest.starts_with("//") {
                self.rest.find('\n')
            } else if self.rest.starts_with("/*") {
                self.rest.find("*/").map(|at| at + 2)
            } else {
                return;
            };
            self.skip(end.unwrap_or(self.rest.len()));
        }
    }

    /// Fillers between members: blanks, commas, and an ellipsis for what the model did not write
    /// out.
    fn blanks_and_commas(&mut self) {
        loop {
            self.blanks();
            let filler = [",", "...", "…"]
                .into_iter()
                .find(|filler| self.rest.starts_with(filler));
            let Some(filler) = filler else { return };
            self.skip(filler.len());
        }
    }

    fn peek(&self) -> Result<char, BrokenCheckpoint> {
        self.rest.chars().next().ok_or(BrokenCheckpoint::Unclosed)
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }
}

/// A key that repeats adds to a list or an object, as no value may be lost; of other values the
/// later holds, as in JSON.
fn insert(fields: &mut Map<String, Value>, key: String, value: Value) {
    match (fields.get_mut(&key), value) {
        (Some(Value::Array(items)), Value::Array(more)) => items.extend(more),
        (Some(Value::Object(own)), Value::Object(more)) => own.extend(more),
        (_, value) => drop(fields.insert(key, value)),
    }
}

/// A bare word as a value. Numbers that JSON would print otherwise stay text.
fn literal(word: &str) -> Value {
    if ["null", "None", "undefined"].contains(&word) {
        return Value::Null;
    }
    let value = serde_json::from_str::<Value>(word).ok();
    let printed = value.as_ref().map(Value::to_string);
    value
        .filter(|_| printed.as_deref() == Some(word))
        .unwrap_or_else(|| Value::String(word.to_owned()))
}

/// The escape at the start of a text: its length in bytes and its character; for one that means
/// nothing, its backslash. Nothing where the text ends inside it.
fn escape(text: &str) -> Option<(usize, char)> {
    let plain = match text.chars().nth(1)? {
        letter @ ('"' | '\'' | '\\' | '/') => letter,
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => return Some(unicode_escape(text).unwrap_or((1, '\\'))),
        _ => return Some((1, '\\')),
    };
    Some((2, plain))
}

fn unicode_escape(text: &str) -> Option<(usize, char)> {
    let first = code_unit(text)?;
    if let Some(letter) = char::from_u32(first) {
        return Some((6, letter));
    }
    let second = code_unit(text.get(6..)?)?;
    let pair = char::decode_utf16([first as u16, second as u16])
        .next()?
        .ok()?;
    Some((12, pair))
}

/// The four hexadecimal digits after `\u`.
fn code_unit(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits
        .bytes()
        .all(|digit| digit.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reads_what_models_write() {
        for (text, expected) in [
            (
                "{'a': 'it', \"b\": [1, 1.10, 0x1F, 12345678901234567890123],}",
                json!({"a": "it", "b": [1, "1.10", "0x1F", "12345678901234567890123"]}),
            ),
            (
                "{a: // why\n [x.rs, True, /* no */ None], ...}",
                json!({"a": ["x.rs", "True", null]}),
            ),
            (
                "{,\"a\":\"two\nlines\",,\"b\":{\"c\":[],…}} and more",
                json!({"a": "two\nlines", "b": {"c": []}}),
            ),
            (
                r#"{"a":"C:\Users \u00e9\ud83d\ude00 \ud83d \/\"\u12"}"#,
                json!({"a": "C:\\Users é😀 \\ud83d /\"\\u12"}),
            ),
            (
                "{\"a\":[1],\"a\":[2],\"b\":1,\"b\":2}",
                json!({"a": [1, 2], "b": 2}),
            ),
        ] {
            assert_eq!(object(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn refuses_what_needs_a_guess() {
        for text in [
            "{\"a\": \"use \"pg\" now\"}",
            "{\"a\": [\"x\" \"y\"]}",
            "{\"a\": {\"b\": 1]}",
            "{\"a\" 1}",
            "{\"a\": two words}",
            "{'a': 'don't'}",
            "{x}",
        ] {
            assert_eq!(object(text), Err(BrokenCheckpoint::Malformed), "{text}");
            assert_eq!(cut_object(text), Err(BrokenCheckpoint::Malformed), "{text}");
        }
        assert_eq!(
            object(&format!("{{\"a\":{}", "[".repeat(100_000))),
            Err(BrokenCheckpoint::Malformed),
            "too deep"
        );
    }

    #[test]
    fn a_cut_object_keeps_what_was_whole() {
        for (text, expected) in [
            ("{", json!({})),
            ("{\"a\": [\"x\", \"y", json!({"a": ["x"]})),
            ("{\"a\": [\"x\", \"y\"", json!({"a": ["x", "y"]})),
            ("{\"a\": [\"x\", 12", json!({"a": ["x"]})),
            (
                "{\"a\": [\"x\"], \"b\": {\"c\": \"d\", \"e\": tr",
                json!({"a": ["x"], "b": {"c": "d"}}),
            ),
            ("{\"a\": [\"x\"], \"b\": \"y\\", json!({"a": ["x"]})),
            ("{\"a\": \"x\", \"b\"", json!({"a": "x"})),
            ("{\"a\": \"x\", /* why", json!({"a": "x"})),
        ] {
            assert_eq!(cut_object(text), Ok(expected), "{text}");
            assert_eq!(object(text), Err(BrokenCheckpoint::Unclosed), "{text}");
        }
    }
}
