//! Answers: text, end, usage and times, streamed or in one piece.

use compactometer_engine::message::Usage;
use compactometer_engine::model::{ChatModel, ChatReply, ChatRequest, Finish, ServerCompaction};
use compactometer_models::providers::{ANTHROPIC, OPENAI_COMPATIBLE, OPENAI_RESPONSES, Provider};
use serde_json::json;
use wiremock::matchers::path;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{ask, client, request, stream};

async fn reply(provider: &'static Provider, answer: ResponseTemplate) -> ChatReply {
    ask(provider, answer).await.0.expect("a reply")
}

#[tokio::test]
async fn a_stream_gives_text_usage_and_what_the_server_said() {
    let usage = r#"{"prompt_tokens":50,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":20},"completion_tokens_details":{"reasoning_tokens":4},"new_field":1}"#;
    let last = format!(r#"{{"model":"small-2026","choices":[],"usage":{usage}}}"#);
    let events = [
        r#"{"model":"small-2026","choices":[{"delta":{"role":"assistant","content":""}}]}"#,
        r#"{"choices":[{"delta":{"reasoning_content":"Hm."}}]}"#,
        r#"{"choices":[{"delta":{"content":"Caf"}}],"unknown":[{}]}"#,
        r#"{"choices":[{"delta":{"content":"é."}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"length"}]}"#,
        &last,
        "[DONE]",
    ];
    let reply = reply(&OPENAI_COMPATIBLE, stream(&events)).await;
    assert_eq!(
        (reply.text.as_str(), reply.finish),
        ("Café.", Finish::Length)
    );
    assert_eq!(
        reply.usage,
        Usage {
            input: 30,
            cache_read: 20,
            cache_write: 0,
            output: 9
        }
    );
    let served = reply.served.expect("served");
    assert_eq!(
        (served.model.as_deref(), served.reasoning),
        (Some("small-2026"), Some(4))
    );
    assert!(
        served
            .first_token_ms
            .is_some_and(|first| first <= reply.latency_ms)
    );
    assert_eq!(served.usage, serde_json::from_str(usage).ok());
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let body = json!({"choices": [{"message": {"content": "Done."}, "finish_reason": "content_filter"}], "usage": {"prompt_tokens": 5, "completion_tokens": 2}});
    let reply = reply(
        &OPENAI_COMPATIBLE,
        ResponseTemplate::new(200).set_body_json(body),
    )
    .await;
    assert_eq!(
        (reply.text.as_str(), reply.finish),
        ("Done.", Finish::ContentFilter)
    );
    assert_eq!(
        reply.usage,
        Usage {
            input: 5,
            output: 2,
            ..Usage::default()
        }
    );
    assert_eq!(reply.served.expect("served").first_token_ms, None);
}

#[tokio::test]
async fn without_usage_tokens_are_counted_and_the_raw_usage_is_absent() {
    let reply = reply(
        &OPENAI_COMPATIBLE,
        stream(&[r#"{"choices":[{"delta":{"content":"the the the"},"finish_reason":"stop"}]}"#]),
    )
    .await;
    assert_eq!((reply.usage.output, reply.usage.input > 4), (3, true));
    assert_eq!(reply.served.expect("served").usage, None);
}

#[tokio::test]
async fn an_empty_answer_is_an_answer() {
    let reply = reply(
        &OPENAI_COMPATIBLE,
        stream(&[r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#]),
    )
    .await;
    assert_eq!((reply.text.as_str(), reply.finish), ("", Finish::Stop));
}

#[tokio::test]
async fn a_stream_of_a_response_is_understood() {
    let usage = r#"{"input_tokens":50,"input_tokens_details":{"cached_tokens":20},"output_tokens":9,"output_tokens_details":{"reasoning_tokens":4}}"#;
    let end = format!(
        r#"{{"type":"response.incomplete","response":{{"model":"small-2026","error":null,"incomplete_details":{{"reason":"max_output_tokens"}},"usage":{usage},"output":[{{"type":"message","role":"assistant","content":[{{"type":"output_text","text":"Café."}}]}}]}}}}"#
    );
    let events = [
        r#"{"type":"response.created","response":{"model":"small","error":null,"usage":null,"output":[]}}"#,
        r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning"}}"#,
        r#"{"type":"response.output_text.delta","delta":"Caf"}"#,
        r#"{"type":"response.output_text.delta","delta":"é."}"#,
        r#"{"type":"response.output_text.done","text":"Café."}"#,
        &end,
    ];
    let reply = reply(&OPENAI_RESPONSES, stream(&events)).await;
    assert_eq!(
        (reply.text.as_str(), reply.finish),
        ("Café.", Finish::Length)
    );
    assert_eq!(
        reply.usage,
        Usage {
            input: 30,
            cache_read: 20,
            cache_write: 0,
            output: 9
        }
    );
    let served = reply.served.expect("served");
    assert_eq!(
        (served.model.as_deref(), served.reasoning, served.is_sealed),
        (Some("small-2026"), Some(4), false)
    );
    assert!(served.first_token_ms.is_some());
}

#[tokio::test]
async fn a_compaction_that_only_the_provider_reads_stays_as_it_is() {
    let server = MockServer::start().await;
    let compacted = json!({
        "object": "response.compaction",
        "output": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Summarize."}]},
            {"type": "compaction", "id": "cmp_1", "encrypted_content": "gAAAAAB"},
        ],
        "usage": {"input_tokens": 90, "output_tokens": 30},
    });
    Mock::given(path("/v1/responses/compact"))
        .respond_with(ResponseTemplate::new(200).set_body_json(compacted))
        .mount(&server)
        .await;
    let asked = ChatRequest {
        compaction: Some(ServerCompaction::default()),
        ..request()
    };
    let reply = client(&OPENAI_RESPONSES, &server.uri())
        .complete(&asked)
        .await
        .expect("a summary");
    assert_eq!((reply.text.as_str(), reply.is_sealed()), ("gAAAAAB", true));
    assert_eq!((reply.usage.input, reply.usage.output), (90, 30));
    let sent = &server.received_requests().await.expect("kept")[0];
    let body = serde_json::from_slice::<serde_json::Value>(&sent.body).expect("JSON");
    let names = body.as_object().expect("an object").keys();
    assert_eq!(names.collect::<Vec<_>>(), ["model", "input"]);
}

#[tokio::test]
async fn a_response_that_fails_is_asked_for_again_or_refused() {
    let failed = |code: &str| {
        stream(&[&format!(
            r#"{{"type":"response.failed","response":{{"error":{{"code":"{code}","message":"It broke."}}}}}}"#
        )])
    };
    let overloaded = ask(&OPENAI_RESPONSES, failed("server_error")).await;
    assert!(
        format!("{:?}", overloaded.0).contains("It broke.") && overloaded.1 > 1,
        "{overloaded:?}"
    );
    let too_long = ask(&OPENAI_RESPONSES, failed("context_length_exceeded")).await;
    assert_eq!(too_long.1, 1, "{too_long:?}");
    let event = r#"{"type":"error","code":"server_error","message":"It ended."}"#;
    let ended = ask(&OPENAI_RESPONSES, stream(&[event])).await;
    assert!(format!("{:?}", ended.0).contains("It ended."), "{ended:?}");
}

#[tokio::test]
async fn anthropics_stream_is_understood() {
    let events = [
        r#"{"type":"message_start","message":{"model":"claude","content":[],"usage":{"input_tokens":10,"cache_read_input_tokens":7,"cache_creation_input_tokens":3,"output_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"ping"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Done."}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","name":"search","input":{}}}"#,
        r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":12}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let reply = reply(&ANTHROPIC, stream(&events)).await;
    assert_eq!(
        (reply.text.as_str(), reply.finish),
        ("Done.", Finish::Length)
    );
    assert_eq!(
        reply.usage,
        Usage {
            input: 10,
            cache_read: 7,
            cache_write: 3,
            output: 12
        }
    );
    assert_eq!(
        reply.served.expect("served").model.as_deref(),
        Some("claude")
    );
}

#[tokio::test]
async fn anthropics_reply_of_a_given_shape_is_its_tools_input() {
    let events = [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","name":"give_reply_in_schema","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"1}"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"refusal"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let reply = reply(&ANTHROPIC, stream(&events)).await;
    assert_eq!(
        (reply.text.as_str(), reply.finish),
        (r#"{"a":1}"#, Finish::ContentFilter)
    );
}
