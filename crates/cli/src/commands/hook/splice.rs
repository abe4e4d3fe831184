//! Edits of a JSON text that change nothing else in it: neither order nor spaces nor numbers.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use anyhow::{Context as _, Result};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The text with a value at the end of the list that the keys lead to. Objects and the list that
/// are missing are made.
pub(super) fn appended(text: &str, keys: &[&str], value: &Value) -> Result<String> {
    if text.trim().is_empty() {
        return Ok(format!("{:#}\n", nested(keys, value)));
    }
    let style = JsonStyle::of(text);
    let mut depth = 0;
    let mut object = whole(text)?;
    for (at, key) in keys.iter().enumerate() {
        let members = members(object, &keys[..at])?;
        let member = members.iter().rev().find(|(name, _)| name == key);
        let Some((_, found)) = member else {
            let item = format!("{}: ", Value::from(*key));
            let value = nested(&keys[at + 1..], value);
            let last = members.last().map(|(_, last)| span(text, last).end);
            return Ok(style.put(text, span(text, object), last, depth, &item, &value));
        };
        object = *found;
        depth += 1;
    }
    let elements = elements(object, keys)?;
    let last = elements.last().map(|last| span(text, last).end);
    Ok(style.put(text, span(text, object), last, depth, "", value))
}

/// The text without what is chosen of the elements of the list that the keys lead to.
pub(super) fn removed(
    text: &str,
    keys: &[&str],
    and_empty: bool,
    is_chosen: &dyn Fn(&Value) -> bool,
) -> Result<String> {
    let mut text = text.to_owned();
    while let Some(range) = first_chosen(&text, keys, and_empty, is_chosen)? {
        text.replace_range(range, "");
    }
    Ok(text)
}

/// The place of the first chosen element; `and_empty`, of what holds nothing else.
fn first_chosen(
    text: &str,
    keys: &[&str],
    and_empty: bool,
    is_chosen: &dyn Fn(&Value) -> bool,
) -> Result<Option<Range<usize>>> {
    let mut container = whole(text)?;
    // What goes with the element if the element is the only one.
    let mut goes = None;
    for (depth, key) in keys.iter().enumerate() {
        let members = members(container, &keys[..depth])?;
        let Some(at) = members.iter().rposition(|(name, _)| name == key) else {
            return Ok(None);
        };
        let values = members.iter().map(|(_, value)| *value).collect::<Vec<_>>();
        goes = goes
            .filter(|_| values.len() == 1)
            .or(Some(place(text, container, &values, at)));
        container = values[at];
    }
    let values = elements(container, keys)?;
    for (at, element) in values.iter().enumerate() {
        if is_chosen(&serde_json::from_str(element.get())?) {
            let goes = goes.filter(|_| and_empty && values.len() == 1);
            return Ok(goes.or(Some(place(text, container, &values, at))));
        }
    }
    Ok(None)
}

/// The place of an element with its key and a comma beside it.
fn place(text: &str, container: &RawValue, values: &[&RawValue], at: usize) -> Range<usize> {
    let (container, value) = (span(text, container), span(text, values[at]));
    match at.checked_sub(1) {
        Some(before) => span(text, values[before]).end..value.end,
        None if values.len() > 1 => {
            let comma = text[value.end..].find(',').map_or(0, |comma| comma + 1);
            container.start + 1..value.end + comma
        }
        None => container.start + 1..container.end - 1,
    }
}

fn whole(text: &str) -> Result<&RawValue> {
    Ok(serde_json::from_str(text)?)
}

fn members<'t>(value: &'t RawValue, keys: &[&str]) -> Result<Vec<(Cow<'t, str>, &'t RawValue)>> {
    let members = serde_json::from_str(value.get());
    let Members(members) = members.with_context(|| not_an(keys, "object"))?;
    Ok(members)
}

fn elements<'t>(value: &'t RawValue, keys: &[&str]) -> Result<Vec<&'t RawValue>> {
    serde_json::from_str(value.get()).with_context(|| not_an(keys, "list"))
}

fn not_an(keys: &[&str], what: &str) -> String {
    match keys.join(".") {
        keys if keys.is_empty() => format!("it is no JSON {what}"),
        keys => format!("`{keys}` is no {what}"),
    }
}

fn nested(keys: &[&str], value: &Value) -> Value {
    let list = Value::from(vec![value.clone()]);
    keys.iter()
        .rev()
        .fold(list, |inner, key| Value::from_iter([(*key, inner)]))
}

/// Where a part of the text is.
fn span(text: &str, part: &RawValue) -> Range<usize> {
    let start = part.get().as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.get().len()
}

/// How a text is laid out.
struct JsonStyle<'t> {
    line: &'static str,
    /// What a level is indented by.
    level: &'t str,
}

impl<'t> JsonStyle<'t> {
    fn of(text: &'t str) -> Self {
        let second = text.split_once('\n').map_or("", |(_, rest)| rest);
        let level = &second[..second.len() - second.trim_start_matches([' ', '\t']).len()];
        JsonStyle {
            line: if text.contains("\r\n") { "\r\n" } else { "\n" },
            level: if level.is_empty() { "  " } else { level },
        }
    }

    /// Puts a value behind the last of a container, or into an empty one.
    fn put(
        &self,
        text: &str,
        container: Range<usize>,
        last: Option<usize>,
        depth: usize,
        key: &str,
        value: &Value,
    ) -> String {
        let inside = &text[container.start + 1..container.end - 1];
        let (before, rest) = match last {
            Some(last) => (&text[..last], &text[last..]),
            None => (&text[..=container.start], &text[container.end - 1..]),
        };
        let comma = if last.is_some() { "," } else { "" };
        if last.is_some() && !inside.contains('\n') {
            return format!("{before}{comma} {key}{value}{rest}");
        }
        let break_at = |depth| format!("{}{}", self.line, self.level.repeat(depth));
        let pretty = format!("{value:#}");
        let lines = pretty.lines().map(|line| {
            let bare = line.trim_start_matches(' ');
            format!("{}{bare}", self.level.repeat((line.len() - bare.len()) / 2))
        });
        let pretty = lines.collect::<Vec<_>>().join(&break_at(depth + 1));
        let end = if last.is_some() {
            String::new()
        } else {
            break_at(depth)
        };
        format!(
            "{before}{comma}{}{key}{pretty}{end}{rest}",
            break_at(depth + 1)
        )
    }
}

/// The members of an object in their order, with those of the same name.
struct Members<'t>(Vec<(Cow<'t, str>, &'t RawValue)>);

impl<'t> Deserialize<'t> for Members<'t> {
    fn deserialize<D: Deserializer<'t>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visited;
        impl<'t> Visitor<'t> for Visited {
            type Value = Members<'t>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<M: MapAccess<'t>>(self, mut map: M) -> Result<Members<'t>, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<Cow<'t, str>, &'t RawValue>()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Visited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const KEYS: &[&str] = &["hooks", "SessionStart"];

    fn ours() -> Value {
        json!({"matcher": "compact", "hooks": [{"command": "ours"}]})
    }

    fn is_ours(value: &Value) -> bool {
        *value == ours()
    }

    /// Texts as people and programs write them.
    const TEXTS: &[&str] = &[
        "{}",
        "{\n}\n",
        "{\"a\":1}",
        "{\n    \"big\": 12345678901234567890123,\n    \"real\": 1.0\n}\n",
        "{\r\n\t\"hooks\": {}\r\n}\r\n",
        "{\"hooks\": {\"SessionStart\": []}}",
        "{\n  \"hooks\": {\n    \"Stop\": [\n      1\n    ]\n  },\n  \"z\": [1,  2]\n}",
        "{\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"matcher\": \"\\u0063lear\"}\n    ],\n    \"Stop\": []\n  }\n}\n",
        "{ \"hooks\" : { \"SessionStart\" : [ {\"x\": \"]}\"} , 2 ] } , \"b\" : true }",
    ];

    #[test]
    fn what_is_added_is_all_that_changes_and_goes_again() {
        for text in TEXTS {
            let with = appended(text, KEYS, &ours()).unwrap();
            let value: Value = serde_json::from_str(&with).unwrap();
            let list = value["hooks"]["SessionStart"].as_array().unwrap();
            assert_eq!(list.last(), Some(&ours()), "{with}");
            // It is one piece at one place, in an empty object instead of its spaces.
            let front = with
                .bytes()
                .zip(text.bytes())
                .take_while(|(a, b)| a == b)
                .count();
            let backwards = with.bytes().rev().zip(text.bytes().rev());
            let back = backwards.take_while(|(a, b)| a == b).count();
            assert!(front + back + 2 >= text.len(), "{with}");

            let without = removed(&with, KEYS, true, &is_ours).unwrap();
            let before: Value = serde_json::from_str(text).unwrap();
            let after: Value = serde_json::from_str(&without).unwrap();
            let is_empty = |value: &Value| {
                value.as_array().is_some_and(Vec::is_empty)
                    || value.as_object().is_some_and(|object| object.is_empty())
            };
            let same = after == before
                || is_empty(&before["hooks"])
                || is_empty(&before["hooks"]["SessionStart"]);
            assert!(same, "{without}");
            assert!(!without.contains("ours"), "{without}");
        }
    }

    #[test]
    fn the_layout_is_that_of_the_file() {
        let text = "{\n    \"hooks\": {\n        \"Stop\": []\n    }\n}\n";
        insta::assert_snapshot!(appended(text, KEYS, &ours()).unwrap());
        insta::assert_snapshot!(appended("", KEYS, &ours()).unwrap());
    }

    #[test]
    fn what_is_of_another_form_is_refused() {
        for (text, expected) in [
            ("[1]", "it is no JSON object"),
            ("{\"hooks\": 3}", "`hooks` is no object"),
            (
                "{\"hooks\": {\"SessionStart\": {}}}",
                "`hooks.SessionStart` is no list",
            ),
        ] {
            let error = format!("{:#}", appended(text, KEYS, &ours()).unwrap_err());
            assert!(error.starts_with(expected), "{error}");
        }
        let error = appended("{\n  // mine\n}", KEYS, &ours())
            .unwrap_err()
            .to_string();
        assert!(error.contains("line 2"), "{error}");
    }
}
