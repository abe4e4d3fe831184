//! A server on loopback that answers like a provider and rejects requests that break the provider's
//! published rules.

use serde_json::{Value, json};
use wiremock::matchers::{method, path_regex};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

use crate::provider_rules::{anthropic, openai, openai_responses};

/// Answers chat completions, responses and messages with a short text. `rejects` may return a
/// further reason to reject a body.
pub async fn start(
    rejects: impl Fn(&Value) -> Option<String> + Send + Sync + 'static,
) -> MockServer {
    let server = MockServer::start().await;
    let provider = ServedProvider { rejects };
    Mock::given(method("POST"))
        .and(path_regex("/(messages|chat/completions|responses)$"))
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
        let path = request.url.path();
        let body = serde_json::from_slice::<Value>(&request.body).unwrap_or_default();
        let (rules, answered) = FORMS
            .iter()
            .find(|(end, ..)| path.ends_with(end))
            .map(|(_, rules, answered)| (rules, answered))
            .expect("only these paths are mounted");
        let mut broken = rules(&body);
        broken.extend((self.rejects)(&body));
        match broken.first() {
            Some(rule) => {
                let error = json!({"type": "invalid_request_error", "message": rule});
                ResponseTemplate::new(400).set_body_json(json!({"type": "error", "error": error}))
            }
            None => ResponseTemplate::new(200).set_body_json(answered(answer(&body))),
        }
    }
}

/// The end of a path, the rules of its requests, and an answer with a text.
type ServedForm = (&'static str, fn(&Value) -> Vec<String>, fn(String) -> Value);

const FORMS: [ServedForm; 3] = [
    ("/messages", anthropic, |text| {
        json!({
            "type": "message", "model": "small", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": text}],
            "usage": {"input_tokens": 9, "output_tokens": 5},
        })
    }),
    ("/chat/completions", openai, |text| {
        json!({
            "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 9, "completion_tokens": 5},
        })
    }),
    ("/responses", openai_responses, |text| {
        let content = [json!({"type": "output_text", "text": text})];
        json!({
            "object": "response", "model": "small", "status": "completed",
            "output": [{"type": "message", "role": "assistant", "content": content}],
            "usage": {"input_tokens": 9, "output_tokens": 5},
        })
    }),
];

/// The answer to every question, with some words of it, as of a model that understood it.
fn answer(body: &Value) -> String {
    let asked = format!("{}{}", body["messages"], body["input"]);
    let words = asked.split(|letter: char| !(letter.is_alphanumeric() || "._/-:".contains(letter)));
    let quoted = words.filter(|word| word.len() > 3).skip(60).take(40);
    format!(
        "The build was mended. {}",
        quoted.collect::<Vec<_>>().join(" ")
    )
}
