//! What is sent: bodies and headers, as the server gets them.

use compactometer_engine::message::{Part, Role};
use compactometer_engine::model::{ChatModel, ChatRequest, ToolDefinition, WireMessage};
use compactometer_models::providers::{
    ANTHROPIC, OPENAI, OPENAI_COMPATIBLE, OPENAI_RESPONSES, Provider,
};
use serde_json::{Value, json};
use wiremock::matchers::any;
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use super::{KEY, client};

/// A request with every kind of part.
fn full() -> ChatRequest {
    let text = |text: &str| Part::Text {
        text: text.to_owned(),
    };
    let message = |role, parts: Vec<Part>| WireMessage {
        role,
        parts: parts.into(),
    };
    let call = Part::ToolCall {
        id: "c:1".into(),
        name: "find".into(),
        arguments: r#"{"q":1}"#.into(),
    };
    let result = Part::ToolResult {
        call_id: "c:1".into(),
        text: "none".into(),
        is_error: true,
    };
    let media = Part::Media {
        media_type: "image/png".into(),
        digest: "d".into(),
        tokens: 9,
    };
    let thinking = Part::Thinking {
        text: "Hm.".into(),
        signature: Some("s".into()),
    };
    let parameters = json!({"type": "object", "properties": {"q": {"type": "integer"}}});
    ChatRequest {
        messages: vec![
            message(Role::System, vec![text("Be brief.")]),
            message(Role::User, vec![text("Look."), media]),
            message(Role::Assistant, vec![thinking, text("I look."), call]),
            message(Role::Tool, vec![result]),
            message(Role::User, vec![text("And?"), text("")]),
        ],
        tools: vec![ToolDefinition {
            name: "find".into(),
            description: "Finds.".into(),
            parameters,
        }],
        max_output_tokens: Some(100),
        temperature: Some(0.3),
        schema: Some(
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": false}),
        ),
        compaction: None,
        seed: 0xFFFF_FFFF_0000_0001,
    }
}

async fn sent(provider: &'static Provider) -> (Request, Value) {
    let server = MockServer::start().await;
    Mock::given(any())
        .respond_with(ResponseTemplate::new(400))
        .mount(&server)
        .await;
    let _ = client(provider, &server.uri()).complete(&full()).await;
    let request = server.received_requests().await.expect("kept").remove(0);
    let body = serde_json::from_slice(&request.body).expect("JSON");
    (request, body)
}

#[tokio::test]
async fn chat_completions() {
    let (request, body) = sent(&OPENAI_COMPATIBLE).await;
    assert_eq!(request.url.path(), "/v1/chat/completions");
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    insta::assert_json_snapshot!(body);
    let (_, own) = sent(&OPENAI).await;
    assert_eq!(
        (&own["max_completion_tokens"], own.get("max_tokens")),
        (&json!(100), None)
    );
}

#[tokio::test]
async fn responses() {
    let (request, body) = sent(&OPENAI_RESPONSES).await;
    assert_eq!(request.url.path(), "/v1/responses");
    assert_eq!(request.headers["authorization"], format!("Bearer {KEY}"));
    insta::assert_json_snapshot!(body);
}

#[tokio::test]
async fn messages() {
    let (request, body) = sent(&ANTHROPIC).await;
    assert_eq!(request.url.path(), "/v1/messages");
    assert_eq!(request.headers["x-api-key"], KEY);
    assert!(
        request.headers.contains_key("anthropic-version")
            && !request.headers.contains_key("authorization")
    );
    insta::assert_json_snapshot!(body);
}
