//! Texts, ids, names and arguments in the form that every provider takes.
//!
//! A transcript from one provider may be sent to another, so both formats follow the stricter of
//! the published rules. A request keeps its ids and names; only what is sent differs.

use compactometer_engine::message::Part;
use compactometer_engine::model::WireMessage;
use serde_json::{Value, json};

/// The user's turn where a chat would begin or end with the assistant's, which Anthropic's models
/// refuse. A chat begins like that if the user's first message is blank.
pub(super) const CONTINUE: &str = "Continue.";

/// The longest id of a call that OpenAI takes; Anthropic publishes no limit.
const LONGEST_ID: usize = 40;
/// The longest name of a tool that OpenAI takes; Anthropic takes 128 letters.
const LONGEST_NAME: usize = 64;

/// An object without the fields that are null, which a request leaves out.
pub(super) fn given(mut object: Value) -> Value {
    object
        .as_object_mut()
        .into_iter()
        .for_each(|fields| fields.retain(|_, value| !value.is_null()));
    object
}

/// A list that is not empty.
pub(super) fn some(list: Vec<Value>) -> Option<Vec<Value>> {
    (!list.is_empty()).then_some(list)
}

/// The texts of a message in one, for formats that have no thinking and no media.
pub(super) fn text(message: &WireMessage) -> Option<String> {
    let text = |part: &Part| match part {
        Part::Text { text } if !is_blank(text) => Some(text.clone()),
        Part::Media { media_type, .. } => Some(format!("[{media_type}]")),
        _ => None,
    };
    let texts = message.parts.iter().filter_map(text).collect::<Vec<_>>();
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// The chat with a turn of the user before and after it, where what is there is the agent's or
/// nothing at all.
pub(super) fn between_users(
    mut chat: Vec<Value>,
    is_agents: impl Fn(&Value) -> bool,
) -> Vec<Value> {
    let go_on = || json!({"role": "user", "content": CONTINUE});
    let opening = chat
        .iter()
        .take_while(|message| message["role"] == "system")
        .count();
    if chat.get(opening).is_none_or(&is_agents) {
        chat.insert(opening, go_on());
    }
    if chat.last().is_some_and(is_agents) {
        chat.push(go_on());
    }
    chat
}

/// A call's id. Different ids stay different.
pub(super) fn call_id(id: &str) -> String {
    identifier(id, LONGEST_ID)
}

/// A tool's name. Different names stay different.
pub(super) fn tool_name(name: &str) -> String {
    identifier(name, LONGEST_NAME)
}

/// A call's arguments as a JSON object; anything else becomes the only field of an object.
pub(super) fn arguments(written: &str) -> Value {
    object(written).unwrap_or_else(|| json!({"arguments": written}))
}

/// The same as a text. An object keeps its bytes, since rewriting may change a number's digits.
pub(super) fn arguments_text(written: &str) -> String {
    object(written).map_or_else(|| arguments(written).to_string(), |_| written.to_owned())
}

fn object(written: &str) -> Option<Value> {
    serde_json::from_str::<Value>(written)
        .ok()
        .filter(Value::is_object)
}

/// Whether a provider treats the text as empty. One provider checks in Python, which counts four
/// separators as blanks too.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars()
        .all(|letter| letter.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&letter))
}

/// Letters, digits, `_` and `-`. A text with other characters, or one that is too long, becomes its
/// beginning and a hash.
fn identifier(text: &str, longest: usize) -> String {
    const HASH: usize = 16;
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if !text.is_empty() && text.len() <= longest && text.chars().all(is_safe) {
        return text.to_owned();
    }
    let beginning = text
        .chars()
        .map(|letter| if is_safe(letter) { letter } else { '_' });
    let beginning = beginning.take(longest - HASH - 1).collect::<String>();
    format!(
        "{beginning}_{}",
        &blake3::hash(text.as_bytes()).to_hex()[..HASH]
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_every_provider_takes_stays() {
        for id in ["call_1", "toolu_01ABC-x", &"a".repeat(LONGEST_ID)] {
            assert_eq!(call_id(id), id);
        }
        assert_eq!(arguments(r#"{"a": 1}"#), json!({"a": 1}));
        assert_eq!(arguments("ls -l"), json!({"arguments": "ls -l"}));
        assert_eq!(arguments("[1]"), json!({"arguments": "[1]"}));
        assert_eq!(
            arguments_text(r#"{"a": 12345678901234567890123}"#),
            r#"{"a": 12345678901234567890123}"#
        );
    }

    #[test]
    fn blanks_are_those_of_either_language() {
        assert!(is_blank("") && is_blank(" \n\u{1f}\u{85}\u{3000}"));
        assert!(!is_blank("\u{200b}") && !is_blank(" a"));
    }

    proptest! {
        #[test]
        fn ids_are_safe_and_stay_apart(one in ".{0,60}", other in ".{0,60}") {
            let safe = call_id(&one);
            prop_assert!(!safe.is_empty() && safe.len() <= LONGEST_ID, "{safe}");
            prop_assert!(safe.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)), "{safe}");
            prop_assert_eq!(safe == call_id(&other), one == other);
        }
    }
}
