//! Servers that reject what their published rules forbid, and parameters that a model does not
//! take.

use compactometer_engine::message::{Part, Role};
use compactometer_engine::model::{ChatError, ChatModel, ChatRequest, WireMessage};
use compactometer_models::providers::{ANTHROPIC, OPENAI, OPENAI_COMPATIBLE, OPENAI_RESPONSES};
use compactometer_testing::provider_server;
use serde_json::Value;

use super::{client, request};

/// A chat that Anthropic would reject unchanged: calls without definitions, names and ids of
/// another provider, blank texts, and an assistant's turn at the end.
fn foreign_chat() -> ChatRequest {
    let text = |text: &str| Part::Text {
        text: text.to_owned(),
    };
    let message = |role, parts: Vec<Part>| WireMessage {
        role,
        parts: parts.into(),
    };
    let id = "functions.look up:1";
    let call = Part::ToolCall {
        id: id.into(),
        name: "look.up".into(),
        arguments: "ls -l".into(),
    };
    let result = Part::ToolResult {
        call_id: id.into(),
        text: " ".into(),
        is_error: false,
    };
    let messages = vec![
        message(Role::System, vec![text("")]),
        message(Role::User, vec![text("\n")]),
        message(Role::Assistant, vec![text(""), call]),
        message(Role::Tool, vec![text("late"), result]),
        message(Role::Assistant, vec![text("Done.")]),
    ];
    ChatRequest {
        messages,
        ..request()
    }
}

#[tokio::test]
async fn a_chat_of_another_provider_is_taken() {
    let server = provider_server::start(|_| None).await;
    for provider in [&OPENAI, &OPENAI_COMPATIBLE, &OPENAI_RESPONSES, &ANTHROPIC] {
        let reply = client(provider, &server.uri())
            .complete(&foreign_chat())
            .await;
        assert_eq!(
            reply.map(|reply| reply.text.starts_with("The build was mended.")),
            Ok(true),
            "{provider:?}"
        );
    }
}

#[tokio::test]
async fn the_server_rejects_what_breaks_a_rule() {
    let server = provider_server::start(|_| None).await;
    let nothing = ChatRequest {
        max_output_tokens: Some(0),
        ..request()
    };
    for provider in [&OPENAI, &OPENAI_COMPATIBLE, &OPENAI_RESPONSES, &ANTHROPIC] {
        let outcome = client(provider, &server.uri()).complete(&nothing).await;
        assert!(
            matches!(&outcome, Err(ChatError::Rejected { message }) if message.contains("above 0")),
            "{outcome:?}"
        );
    }
}

#[tokio::test]
async fn a_parameter_that_the_model_does_not_take_is_left_out_once_and_for_all() {
    let server = provider_server::start(|body: &Value| {
        let has = |name| body.get(name).is_some();
        has("temperature").then(|| {
            "Unsupported value: 'temperature' does not support 0.3 with this model.".to_owned()
        })
    });
    let server = server.await;
    for provider in [&OPENAI, &OPENAI_RESPONSES, &ANTHROPIC] {
        let before = server.received_requests().await.expect("kept").len();
        let client = client(provider, &server.uri());
        for _ in 0..2 {
            let reply = client.complete(&request()).await.expect("an answer");
            assert_eq!(
                reply.served.expect("a server").omitted,
                ["temperature"],
                "{provider:?}"
            );
        }
        let asked = server.received_requests().await.expect("kept").len() - before;
        assert_eq!(asked, 3, "one request is rejected, the others leave it out");
    }
}

#[tokio::test]
async fn a_parameter_is_left_out_only_where_the_server_names_it() {
    let server = provider_server::start(|_| Some("this model is not supported".to_owned())).await;
    let outcome = client(&OPENAI, &server.uri()).complete(&request()).await;
    assert!(
        matches!(outcome, Err(ChatError::Rejected { .. })),
        "{outcome:?}"
    );
    assert_eq!(server.received_requests().await.expect("kept").len(), 1);
}
