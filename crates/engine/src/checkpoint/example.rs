//! Example leakage: a small model copies the words that a prompt shows as placeholders into its
//! answer.
//!
//! A value that the conversation says too is never one, so a prompt whose placeholders are common
//! words hides its leaks.

use std::cell::OnceCell;

use serde_json::Value;

use super::{Checkpoint, reader, shape};

/// The values that a prompt's JSON shapes show as examples, and the material that may say them too.
pub struct Examples<'m> {
    prompt: &'m str,
    shown: OnceCell<Vec<String>>,
    material: Box<dyn Fn() -> String + 'm>,
}

impl Default for Examples<'_> {
    /// None.
    fn default() -> Self {
        Examples::new("", String::new)
    }
}

impl<'m> Examples<'m> {
    /// Those of a prompt that was filled with that material, which is written only where an answer
    /// holds an example: few do.
    pub fn new(prompt: &'m str, material: impl Fn() -> String + 'm) -> Self {
        Examples {
            prompt,
            shown: OnceCell::new(),
            material: Box::new(material),
        }
    }

    /// Whether a value is an example's and the material does not say it.
    pub fn leaks(&self, value: &str) -> bool {
        let may_be_shown = self.prompt.contains(value) || self.prompt.contains('\\');
        let is_said = || stands_in(&(self.material)().to_lowercase(), &value.to_lowercase());
        may_be_shown && self.values().iter().any(|shown| shown == value) && !is_said()
    }

    /// Read only where a value may be among them: a text that the prompt does not hold is not an
    /// example.
    fn values(&self) -> &[String] {
        self.shown.get_or_init(|| {
            let mut shown = Vec::new();
            for object in reader::objects(self.prompt).filter_map(|text| reader::object(text).ok())
            {
                texts(&as_value(&shape::checkpoint(object).0), &mut shown);
            }
            shown
        })
    }
}

/// The checkpoint without values that are leaked examples, and how many there were.
pub(super) fn take_out(checkpoint: Checkpoint, examples: &Examples<'_>) -> (Checkpoint, u32) {
    let mut leaked = 0;
    let mut value = as_value(&checkpoint);
    strip(&mut value, examples, &mut leaked);
    if leaked == 0 {
        return (checkpoint, 0);
    }
    serde_json::from_value(value).map_or((checkpoint, 0), |stripped| (stripped, leaked))
}

fn as_value(checkpoint: &Checkpoint) -> Value {
    serde_json::to_value(checkpoint).unwrap_or_default()
}

fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.trim().is_empty() => found.push(text.trim().to_owned()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

/// Takes the examples out of a value; gives whether anything is left of it.
fn strip(value: &mut Value, examples: &Examples<'_>, leaked: &mut u32) -> bool {
    match value {
        Value::String(text) => {
            let is_example = examples.leaks(text.trim());
            *leaked += u32::from(is_example);
            !is_example
        }
        Value::Array(items) => {
            let before = items.len();
            items.retain_mut(|item| strip(item, examples, leaked));
            before == 0 || !items.is_empty()
        }
        Value::Object(fields) => {
            let before = fields.len();
            let kept = std::mem::take(fields).into_iter();
            *fields = kept
                .filter_map(|(key, mut value)| {
                    strip(&mut value, examples, leaked).then_some((key, value))
                })
                .collect();
            before == 0 || !fields.is_empty()
        }
        _ => true,
    }
}

/// Whether a text holds words that are not part of longer ones.
fn stands_in(text: &str, words: &str) -> bool {
    let is_edge = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    text.match_indices(words).any(|(at, _)| {
        is_edge(text[..at].chars().next_back()) && is_edge(text[at + words.len()..].chars().next())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROMPT: &str = "At most {tokens}. Write {\"active_goals\": [\"goal\", ...], \"pending_tasks\": [{\"task\": \"what\"}], \
                          // so\n \"key_decisions\": {\"topic\": \"decision\"}} for {messages}";

    #[test]
    fn examples_are_what_the_shape_shows_and_nobody_said() {
        let leaked = |prompt: &str, material: &str| {
            let examples = Examples::new(prompt, || material.to_owned());
            ["goal", "what", "decision", "topic", "", "Goal"]
                .into_iter()
                .filter(|it| examples.leaks(it))
                .collect::<Vec<_>>()
        };
        assert_eq!(leaked(PROMPT, ""), ["goal", "what", "decision"]);
        assert_eq!(
            leaked(PROMPT, "So What?\ntwo goals, undecisioned"),
            ["goal", "decision"]
        );
        assert_eq!(leaked("no shape {messages}", ""), [""; 0]);
        assert_eq!(
            leaked("{\"active_goals\": [\"go\\u0061l\"]}", ""),
            ["goal"],
            "escaped in the prompt"
        );
    }

    #[test]
    fn examples_go_and_the_rest_stays() {
        let examples = Examples::new(PROMPT, String::new);
        let read = |json: &str| serde_json::from_str::<Checkpoint>(json).expect("parses");
        let answer = read(
            r#"{"active_goals":[" goal","ship the goal"],"pending_tasks":[{"task":"what"},{"task":"what","context":"why"}],"key_decisions":{"topic":"decision","db":["what",3]}}"#,
        );
        let expected = read(
            r#"{"active_goals":["ship the goal"],"pending_tasks":[{"task":"","context":"why"}],"key_decisions":{"db":[3]}}"#,
        );
        assert_eq!(take_out(answer.clone(), &examples), (expected, 5));
        assert_eq!(take_out(answer.clone(), &Examples::default()), (answer, 0));
    }
}
