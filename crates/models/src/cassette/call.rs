//! One recorded call: its key, and what became of it.

use compactometer_engine::model::{ChatError, ChatReply, ChatRequest};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One line of a cassette.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RecordedCall {
    /// First, so that sorted lines are sorted by key.
    pub(super) key: String,
    /// The model's name in records.
    pub(super) model: String,
    pub(super) request: ChatRequest,
    pub(super) outcome: CallOutcome,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallOutcome {
    Reply(ChatReply),
    /// The request's text cannot be served; the provider's words.
    Refused(String),
    /// The server does not take a request of this form; the provider's words.
    Rejected(String),
}

impl CallOutcome {
    /// What is worth keeping of an outcome; an error that may pass is given back.
    pub(super) fn new(outcome: Result<ChatReply, ChatError>) -> Result<Self, ChatError> {
        match outcome {
            Ok(reply) => Ok(CallOutcome::Reply(reply)),
            Err(ChatError::Refused { message }) => Ok(CallOutcome::Refused(message)),
            Err(ChatError::Rejected { message }) => Ok(CallOutcome::Rejected(message)),
            Err(other) => Err(other),
        }
    }
}

impl From<CallOutcome> for Result<ChatReply, ChatError> {
    fn from(outcome: CallOutcome) -> Self {
        match outcome {
            CallOutcome::Reply(reply) => Ok(reply),
            CallOutcome::Refused(message) => Err(ChatError::Refused { message }),
            CallOutcome::Rejected(message) => Err(ChatError::Rejected { message }),
        }
    }
}

/// Hash of the model's name and the request: its JSON with the keys of every object sorted, so that
/// only content counts.
pub(super) fn key(model: &str, request: &ChatRequest) -> String {
    // A request has a JSON form; numbers are read back from its text, so that 0.3 stays 0.3.
    let text = serde_json::to_string(request).unwrap_or_default();
    let mut content = json!([
        model,
        serde_json::from_str::<Value>(&text).unwrap_or_default()
    ]);
    content.sort_all_objects();
    blake3::hash(content.to_string().as_bytes()).to_hex()[..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> ChatRequest {
        ChatRequest::prompt("Summarize.".to_owned(), 100, Some(0.3), 7)
    }

    #[test]
    fn a_key_is_of_the_model_and_all_of_the_request() {
        let plain = key("m", &request());
        // Recorded cassettes depend on it.
        assert_eq!(plain, "9951a01a190f59514fa5a84bff2170a8");
        let others = [
            key("n", &request()),
            key(
                "m",
                &ChatRequest {
                    seed: 8,
                    ..request()
                },
            ),
            key(
                "m",
                &ChatRequest {
                    temperature: Some(0.0),
                    ..request()
                },
            ),
            key(
                "m",
                &ChatRequest {
                    max_output_tokens: Some(101),
                    ..request()
                },
            ),
            key(
                "m",
                &ChatRequest {
                    schema: Some(json!({})),
                    ..request()
                },
            ),
        ];
        assert!(others.iter().all(|other| *other != plain), "{others:?}");
    }

    #[test]
    fn the_order_of_a_schemas_keys_does_not_count() {
        let with = |schema| {
            key(
                "m",
                &ChatRequest {
                    schema: Some(schema),
                    ..request()
                },
            )
        };
        let one = with(json!({"a": {"x": 1, "y": [1, 2]}, "b": 2}));
        assert_eq!(one, with(json!({"b": 2, "a": {"y": [1, 2], "x": 1}})));
        assert_ne!(one, with(json!({"b": 2, "a": {"y": [2, 1], "x": 1}})));
    }

    #[test]
    fn a_call_survives_its_line_with_its_key() {
        let call = RecordedCall {
            key: key("m", &request()),
            model: "m".into(),
            request: request(),
            outcome: CallOutcome::Refused("no".into()),
        };
        let line = serde_json::to_string(&call).expect("a line");
        let back: RecordedCall = serde_json::from_str(&line).expect("a call");
        assert_eq!(key(&back.model, &back.request), call.key);
        assert_eq!(back, call);
    }
}
