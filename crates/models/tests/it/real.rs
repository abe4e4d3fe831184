//! The client against a real server: `COMPACTOMETER_REAL_MODEL` names it, as `studies/real-model/run
//! start` prints it. Nothing is asserted of how good an answer is, or how fast.

use compactometer_engine::model::{ChatError, ChatModel, ChatRequest, Finish};
use compactometer_models::by_name;
use serde_json::{Value, json};

fn model() -> Option<Box<dyn ChatModel>> {
    let Ok(name) = std::env::var("COMPACTOMETER_REAL_MODEL") else {
        eprintln!(
            "skipped: COMPACTOMETER_REAL_MODEL names no model; `studies/real-model/run start` prints one"
        );
        return None;
    };
    Some(by_name(&name).expect("a model"))
}

fn request(text: &str, most: u32) -> ChatRequest {
    ChatRequest::prompt(text.to_owned(), most, Some(0.0), 7)
}

#[tokio::test]
async fn a_real_server_answers_counts_and_says_who_it_is() {
    let Some(model) = model() else { return };
    let ask = request("What is the capital of France? Answer with one word.", 20);
    let reply = model.complete(&ask).await.expect("a reply");
    assert!(!reply.text.is_empty());
    assert!(
        reply.usage.total_input() > 10 && (1..=20).contains(&reply.usage.output),
        "{:?}",
        reply.usage
    );
    let served = reply.served.expect("served");
    assert!(served.model.is_some() && served.usage.is_some());
    assert!(
        served
            .first_token_ms
            .is_some_and(|first| first <= reply.latency_ms)
    );
    assert_eq!(
        model.complete(&ask).await.expect("a reply").text,
        reply.text,
        "same request, same seed"
    );
}

#[tokio::test]
async fn a_real_server_keeps_to_the_limit_and_to_a_schema() {
    let Some(model) = model() else { return };
    let cut = model
        .complete(&request("Count from 1 to 100.", 8))
        .await
        .expect("a reply");
    assert_eq!((cut.finish, cut.usage.output <= 8), (Finish::Length, true));
    let schema = json!({"type": "object", "properties": {"city": {"type": "string", "maxLength": 20}}, "required": ["city"], "additionalProperties": false});
    let ask = ChatRequest {
        schema: Some(schema),
        ..request("Name the capital of France.", 60)
    };
    let reply = model.complete(&ask).await.expect("a reply");
    let value: Value = serde_json::from_str(&reply.text).expect("JSON");
    assert!(value["city"].is_string(), "{value}");
}

#[tokio::test]
async fn a_real_server_refuses_what_exceeds_its_context() {
    let Some(model) = model() else { return };
    let long = request(&"lorem ipsum dolor ".repeat(40_000), 8);
    assert!(matches!(
        model.complete(&long).await,
        Err(ChatError::Refused { .. })
    ));
}
