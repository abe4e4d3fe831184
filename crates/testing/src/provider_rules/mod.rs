//! The providers' published rules for a request, checked on the JSON body that is sent.
//!
//! Each function lists the broken rules with their places in the body. If the two providers have
//! different limits, the stricter one applies to both, so that a conversation can move from one to
//! the other.

mod anthropic;
mod openai;
mod openai_responses;

pub use anthropic::anthropic;
pub use openai::openai;
pub use openai_responses::openai_responses;

use std::collections::HashSet;

use serde_json::Value;

/// OpenAI's published limit for a call's id.
const LONGEST_ID: usize = 40;
/// OpenAI's published limit for a tool's name; Anthropic's is 128.
const LONGEST_NAME: usize = 64;

/// The rules that one request breaks.
#[derive(Default)]
struct BrokenRule(Vec<String>);

impl BrokenRule {
    fn unless(&mut self, holds: bool, at: &str, rule: &str) {
        if !holds {
            self.0.push(format!("{at}: {rule}"));
        }
    }

    fn model(&mut self, body: &Value) {
        self.unless(
            body["model"]
                .as_str()
                .is_some_and(|model| !model.is_empty()),
            "model",
            "names a model",
        );
    }

    /// A limit, if present, is a number above 0.
    fn limit(&mut self, body: &Value, name: &str) {
        let holds = body
            .get(name)
            .is_none_or(|limit| limit.as_u64().is_some_and(|limit| limit > 0));
        self.unless(holds, name, "is above 0");
    }

    fn temperature(&mut self, body: &Value, most: f64) {
        let within = |number: f64| (0.0..=most).contains(&number);
        let holds = body
            .get("temperature")
            .is_none_or(|given| given.as_f64().is_some_and(within));
        self.unless(holds, "temperature", "is within the provider's range");
    }

    fn text(&mut self, text: &Value, at: &str) {
        self.unless(
            text.as_str().is_some_and(|text| !is_blank(text)),
            at,
            "is more than whitespace",
        );
    }

    fn tool_name(&mut self, name: &Value, at: &str) {
        self.unless(
            is_identifier(name, LONGEST_NAME),
            at,
            "is 1 to 64 letters, digits, `_` or `-`",
        );
    }

    /// A call's id is unique within the request.
    fn call_id<'b>(&mut self, id: &'b Value, at: &str, seen: &mut HashSet<&'b str>) {
        self.unless(
            is_identifier(id, LONGEST_ID),
            at,
            "is 1 to 40 letters, digits, `_` or `-`",
        );
        self.unless(
            id.as_str().is_some_and(|id| seen.insert(id)),
            at,
            "is unique",
        );
    }

    /// The first message after the system prompt is the user's, and the last is not the
    /// assistant's.
    fn ends(&mut self, roles: &[&str]) {
        self.unless(
            roles.first() == Some(&"user"),
            "messages",
            "begin with the user",
        );
        self.unless(
            roles.last().is_some_and(|role| *role != "assistant"),
            "messages",
            "do not end with the assistant",
        );
    }
}

fn is_identifier(value: &Value, longest: usize) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    value
        .as_str()
        .is_some_and(|id| (1..=longest).contains(&id.len()) && id.bytes().all(is_safe))
}

/// Whether Python's `str.strip` would leave an empty string.
fn is_blank(text: &str) -> bool {
    text.trim_matches(|letter: char| {
        letter.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&letter)
    })
    .is_empty()
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}
