//! Turns earlier JSON, such as an earlier checkpoint, into text, because a model knows that a key
//! describes its values. Otherwise one line of JSON would count as a line of data and would be
//! lost, unlike with a real model.
//!
//! Absent on purpose: JSON in a conversation (tool output remains data), and the JSON that an
//! instruction shows.

use std::borrow::Cow;

use serde_json::Value;

use crate::reading::regions::{RegionKind, tagged_given};
use crate::reading::structure_lines::{lines_of, without_end};

/// The text with each JSON object in an earlier summary's tags replaced by headings and items.
pub(crate) fn unfolded(said: String) -> String {
    let lines: Vec<&str> = lines_of(&said).map(without_end).collect();
    let (mut read, mut at, mut found) = (Vec::new(), 0, false);
    while let Some(line) = lines.get(at) {
        let block =
            tagged_given(&lines[at..]).filter(|(_, kind)| *kind == RegionKind::EarlierSummary);
        read.push(Cow::Borrowed(*line));
        at += 1;
        if let Some((end, _)) = block
            && let Some(object) = object(&lines[at..at + end - 1].join("\n"))
        {
            read.push(Cow::Owned(object));
            at += end - 1;
            found = true;
        }
    }
    if found { read.join("\n") } else { said }
}

/// The keys of an object as headings, with their texts below. `None` if it is not an object.
fn object(content: &str) -> Option<String> {
    let Ok(Value::Object(fields)) = serde_json::from_str(content) else {
        return None;
    };
    let mut text = String::new();
    for (key, value) in &fields {
        text.push_str(&format!("# {}\n", words(key)));
        let mut found = Vec::new();
        items(key, value, 0, &mut found);
        found
            .iter()
            .for_each(|line| text.push_str(&format!("- {line}\n")));
    }
    Some(text)
}

/// What a value says, line by line.
pub(crate) fn lines(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    items("", value, 0, &mut found);
    found
}

/// The largest depth that is read. No real checkpoint nests this deep.
const DEEPEST: usize = 16;

fn items(key: &str, value: &Value, depth: usize, found: &mut Vec<String>) {
    if depth > DEEPEST {
        return;
    }
    match value {
        Value::Object(fields) => fields
            .iter()
            .for_each(|(key, value)| items(key, value, depth + 1, found)),
        Value::Array(values) => values.iter().for_each(|value| match list_entry(value) {
            Some(entry) => found.extend(item(key, &entry)),
            None => items(key, value, depth + 1, found),
        }),
        Value::String(said) => found.extend(item(key, said)),
        Value::Number(number) => found.extend(item(key, &number.to_string())),
        Value::Bool(_) | Value::Null => {}
    }
}

/// The texts of an object in a list, which make one statement together.
fn list_entry(value: &Value) -> Option<String> {
    let said = value
        .as_object()?
        .values()
        .filter_map(Value::as_str)
        .filter(|said| !said.is_empty());
    Some(said.collect::<Vec<_>>().join("; ")).filter(|said| !said.is_empty())
}

/// A text is complete by itself, but a bare name means something only together with its key.
fn item(key: &str, said: &str) -> Option<String> {
    let line = said.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.contains(' ') {
        _ if line.is_empty() => None,
        true => Some(line),
        false => Some(format!("{} {line}", words(key)).trim_start().to_owned()),
    }
}

fn words(key: &str) -> String {
    key.replace(['_', '-'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_checkpoint_is_read_as_headings_and_items() {
        let json = r#"{"active_goals":["Ship \"it\""],"pending_tasks":[{"task":"Close T-4","context":"by Friday"}],
            "key_decisions":{"port":"We keep 8042 open"},"context_references":{"files":["a.rs"],"tables":[]}}"#;
        let said =
            format!("Update it.\n<previous>\n{json}\n</previous>\n<shape>\n{json}\n</shape>\n");
        let expected = "Update it.\n<previous>\n# active goals\n- Ship \"it\"\n# pending tasks\n- Close T-4; by Friday\n\
                        # key decisions\n- We keep 8042 open\n# context references\n- files a.rs\n\n</previous>\n";
        assert_eq!(unfolded(said).split("<shape>").next(), Some(expected));
    }

    #[test]
    fn all_else_stays_as_it_is() {
        for said in [
            "<previous>\n{\"a\": \n</previous>",
            "<messages>\n{\"a\": \"b\"}\n</messages>",
            "{\"a\": \"b\"}",
            "<previous>",
        ] {
            assert_eq!(unfolded(said.to_owned()), said);
        }
    }
}
