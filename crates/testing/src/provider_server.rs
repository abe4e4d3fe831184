//! A server on loopback that answers like a provider and rejects requests that break the provider's
//! published rules.

use serde_json::{Value, json};
use wiremock::matchers::{method, path_regex};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::provider_rules::{anthropic, openai};

/// Answers chat completions and messages with a short text. `rejects` may return a further reason
/// to reject a body.
pub async fn start(
    rejects: impl Fn(&Value) -> Option<String> + Send + Sync + 'static,
) -> MockServer {
    let server = MockServer::start().await;
    let provider = ServedProvider { rejects };
    Mock::given(method("POST"))
        .and(path_regex("/(messages|chat/completions)$"))
        .respond_with(provider)
        .mount(&server)
        .await;
    server
}

struct ServedProvider<R> {
    rejects: R,
}

impl<R: Fn(&Value) -> Option<String> + Send + Sync> Respond for ServedProvider<R> {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let is_anthropic = request.url.path().ends_with("/messages");
        let body = serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
        let mut broken = if is_anthropic {
            anthropic(&body)
        } else {
            openai(&body)
        };
        broken.extend((self.rejects)(&body));
        match broken.first() {
            Some(rule) => {
                let error = json!({"type": "invalid_request_error", "message": rule});
                ResponseTemplate::new(400).set_body_json(json!({"type": "error", "error": error}))
            }
            None if is_anthropic => ResponseTemplate::new(200).set_body_json(json!({
                "type": "message", "model": "small", "stop_reason": "end_turn",
                "content": [{"type": "text", "text": answer(&body)}],
                "usage": {"input_tokens": 9, "output_tokens": 5},
            })),
            None => ResponseTemplate::new(200).set_body_json(json!({
                "choices": [{"message": {"content": answer(&body)}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 5},
            })),
        }
    }
}

/// The answer to every question, with some words of it, as of a model that understood it.
fn answer(body: &Value) -> String {
    let asked = body["messages"].to_string();
    let words = asked.split(|letter: char| !(letter.is_alphanumeric() || "._/-:".contains(letter)));
    let quoted = words.filter(|word| word.len() > 3).skip(60).take(40);
    format!(
        "The build was mended. {}",
        quoted.collect::<Vec<_>>().join(" ")
    )
}
