//! Compaction by a server, as clients of OpenAI and Anthropic ask for it.
#![allow(clippy::unwrap_used, reason = "a test")]

use compactometer_engine::message::{Part, Role};
use compactometer_engine::model::{
    ChatError, ChatReply, ChatRequest, ServerCompaction, WireMessage, WireParts,
};
use compactometer_models::by_name;
use compactometer_models::server::ServerLimits;
use serde_json::{Value, json};

use crate::server::Running;

const PATH: &str = "/srv/orders/worker_41.toml";
const PORT: &str = "port 8042";

fn ask(server: &Running, path: &str, body: &Value) -> Value {
    let answer = server.send("POST", path, body.to_string().as_bytes());
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.json()
}

fn refused(server: &Running, path: &str, body: &Value) -> String {
    let (status, error) = server
        .send("POST", path, body.to_string().as_bytes())
        .error();
    assert_eq!(status, 400, "{error}");
    error["message"].as_str().unwrap().to_owned()
}

fn started() -> Running {
    Running::new("mock:perfect-reader", ServerLimits::default())
}

fn turns() -> [Value; 3] {
    let user = |text: String| json!({"role": "user", "content": text});
    [
        user(format!(
            "We decided that the worker's settings are in {PATH}."
        )),
        json!({"role": "assistant", "content": "I read them."}),
        user(format!("We decided to keep {PORT} open. What is next?")),
    ]
}

#[test]
fn a_compaction_of_responses_keeps_the_users_messages_and_seals_the_summary() {
    let server = started();
    let body = json!({"model": "mock", "instructions": "You are an agent.", "input": turns()});
    let compacted = ask(&server, "/v1/responses/compact", &body);
    assert_eq!(compacted["object"], "response.compaction");
    let output = compacted["output"].as_array().unwrap();
    let [first, _, last] = turns();
    let kept = [first, last].map(|said| {
        let content = json!([{"type": "input_text", "text": said["content"]}]);
        json!({"type": "message", "role": "user", "content": content})
    });
    assert_eq!((output.len(), &output[..2]), (3, &kept[..]));
    assert_eq!(output[2]["type"], "compaction");
    let sealed = output[2]["encrypted_content"].as_str().unwrap();
    assert!(
        !sealed.contains("8042") && !sealed.contains("worker_41"),
        "{sealed}"
    );
    assert!(
        compacted["usage"]["output_tokens"].as_u64().unwrap() > 0,
        "{compacted}"
    );
    assert_eq!(
        ask(&server, "/v1/responses/compact", &body),
        compacted,
        "the same bytes"
    );

    // The summary alone still says it, so the model read it.
    let question =
        json!({"role": "user", "content": "Question: In which file are the worker's settings?"});
    let asked = json!({"model": "mock", "input": [output[2], question]});
    let answer = ask(&server, "/v1/responses", &asked);
    let said = answer["output"][0]["content"][0]["text"].as_str().unwrap();
    assert!(said.contains(PATH), "{said}");
}

#[test]
fn responses_are_compacted_from_their_threshold_on() {
    let server = started();
    let body = |threshold: u32| {
        let entry = json!({"type": "compaction", "compact_threshold": threshold});
        json!({"model": "mock", "input": turns(), "context_management": [entry]})
    };
    let short = ask(&server, "/v1/responses", &body(5_000));
    assert_eq!(short["output"].as_array().unwrap().len(), 1, "{short}");
    let long = ask(&server, "/v1/responses", &body(20));
    let kinds = long["output"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["type"]);
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        ["compaction", "message"],
        "{long}"
    );
    assert!(
        long["usage"]["input_tokens"].as_u64() > short["usage"]["input_tokens"].as_u64(),
        "what the compaction used is in the sum: {long}"
    );
    let mut streamed = body(20);
    streamed["stream"] = json!(true);
    let events = server
        .send("POST", "/v1/responses", streamed.to_string().as_bytes())
        .body;
    let data = events
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let data = data.map(|data| serde_json::from_str::<Value>(data).unwrap());
    let done = data.filter(|data| data["type"] == "response.output_item.done");
    let done = done.map(|data| data["item"].clone()).collect::<Vec<_>>();
    assert_eq!(json!(done), long["output"]);

    // Of what is before a compaction only the user's messages are read.
    let [first, _, _] = turns();
    let said = json!({"role": "assistant", "content": "The token is tok-7391."});
    let question =
        json!({"role": "user", "content": "Summarize the conversation so far, with every value."});
    let asked = |items: &[&Value]| {
        ask(
            &server,
            "/v1/responses",
            &json!({"model": "mock", "input": items}),
        )["output"][0]
            .to_string()
    };
    let whole = asked(&[&first, &said, &question]);
    assert!(
        whole.contains(PATH) && whole.contains("tok-7391"),
        "{whole}"
    );
    let left = asked(&[&first, &said, &long["output"][0], &question]);
    assert!(left.contains(PATH) && !left.contains("tok-7391"), "{left}");
    let wrong =
        json!({"model": "mock", "input": "Hi", "context_management": [{"type": "compaction"}]});
    let message = refused(&server, "/v1/responses", &wrong);
    assert!(
        message.contains("`context_management[0].compact_threshold` is missing"),
        "{message}"
    );
}

#[test]
fn a_summary_that_nobody_here_reads_is_refused() {
    let server = started();
    for (content, expected) in [
        ("gAAAAAB", "only OpenAI's models read"),
        (
            "compactometer.%%",
            "`input[1].encrypted_content` was changed",
        ),
        (
            "compactometer./w==",
            "`input[1].encrypted_content` was changed",
        ),
    ] {
        let item = json!({"type": "compaction", "encrypted_content": content});
        let body = json!({"model": "mock", "input": [{"role": "user", "content": "Go on."}, item]});
        let message = refused(&server, "/v1/responses", &body);
        assert!(message.contains(expected), "{message}");
    }
}

fn compacting(from_tokens: u32, more: Value) -> Value {
    let mut edit = json!({
        "type": "compact_20260112",
        "trigger": {"type": "input_tokens", "value": from_tokens},
    });
    edit.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    json!({"model": "mock", "max_tokens": 400, "system": "You are an agent.", "messages": turns(),
        "context_management": {"edits": [edit]}})
}

#[test]
fn messages_are_compacted_from_their_trigger_on() {
    let server = started();
    let short = ask(&server, "/v1/messages", &compacting(5_000, json!({})));
    assert_eq!(short["content"].as_array().unwrap().len(), 1, "{short}");
    assert_eq!(short["content"][0]["type"], "text");
    assert_eq!(short["context_management"], json!({"applied_edits": []}));

    let body = compacting(20, json!({}));
    let long = ask(&server, "/v1/messages", &body);
    let [block, text] = long["content"].as_array().unwrap().as_slice() else {
        panic!("{long}")
    };
    assert_eq!(
        (&block["type"], &text["type"]),
        (&json!("compaction"), &json!("text"))
    );
    let summary = block["content"].as_str().unwrap();
    assert!(
        summary.contains(PATH) && summary.contains("8042"),
        "{summary}"
    );
    let iterations = long["usage"]["iterations"].as_array().unwrap();
    let kinds = iterations.iter().map(|iteration| &iteration["type"]);
    assert_eq!(kinds.collect::<Vec<_>>(), ["compaction", "message"]);
    assert_eq!(iterations[1]["input_tokens"], long["usage"]["input_tokens"]);
    assert!(
        iterations[0]["output_tokens"].as_u64().unwrap() > 0,
        "{long}"
    );

    let mut streamed = body.clone();
    streamed["stream"] = json!(true);
    let events = server
        .send("POST", "/v1/messages", streamed.to_string().as_bytes())
        .body;
    let delta = json!({"type": "content_block_delta", "index": 0,
        "delta": {"type": "compaction_delta", "content": summary}});
    assert!(events.contains(&format!("data: {delta}\n")), "{events}");

    // What is before the summary is read no more.
    let question =
        json!({"role": "user", "content": "Question: In which file are the worker's settings?"});
    let [first, ..] = turns();
    let asked = |summary: &str| {
        let block = json!({"type": "compaction", "content": summary});
        let said =
            json!({"role": "assistant", "content": [block, {"type": "text", "text": "On it."}]});
        let body = json!({"model": "mock", "max_tokens": 400, "messages": [first, said, question]});
        ask(&server, "/v1/messages", &body)["content"][0]["text"].to_string()
    };
    assert!(asked(summary).contains(PATH));
    let lost = asked("The user asked for a worker.");
    assert!(!lost.contains(PATH), "{lost}");
}

#[test]
fn a_compaction_that_pauses_answers_with_the_summary_only() {
    let server = started();
    let body = compacting(20, json!({"pause_after_compaction": true}));
    let paused = ask(&server, "/v1/messages", &body);
    assert_eq!(paused["stop_reason"], "compaction");
    assert_eq!(paused["content"].as_array().unwrap().len(), 1, "{paused}");
    assert_eq!(paused["usage"]["iterations"].as_array().unwrap().len(), 1);
    let instructions = "Write a summary of the conversation in at most 3 words.";
    let short = compacting(
        20,
        json!({"pause_after_compaction": true, "instructions": instructions}),
    );
    let text = |reply: &Value| reply["content"][0]["content"].as_str().unwrap().to_owned();
    let (short, usual) = (text(&ask(&server, "/v1/messages", &short)), text(&paused));
    assert!(short.len() < usual.len(), "{short}\n{usual}");
}

/// Three calls of `read`, whose results say a number each.
fn calling(edit: Value) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Read the files."})];
    for number in 1..=3 {
        let call = json!({"type": "tool_use", "id": format!("c{number}"), "name": "read", "input": {"path": format!("/srv/{number}.txt")}});
        let thinking = json!({"type": "thinking", "thinking": "I read on.", "signature": "s"});
        messages.push(json!({"role": "assistant", "content": [thinking, call]}));
        let text = format!("The token of file {number} is tok-{number}{number}{number}{number}.");
        let result =
            json!({"type": "tool_result", "tool_use_id": format!("c{number}"), "content": text});
        messages.push(json!({"role": "user", "content": [result]}));
    }
    messages.push(
        json!({"role": "user", "content": "Summarize the conversation so far, with every value."}),
    );
    json!({"model": "mock", "max_tokens": 400, "messages": messages, "context_management": {"edits": [edit]}})
}

#[test]
fn old_results_and_thinking_are_cleared_and_reported() {
    let server = started();
    let clear = |more: Value| {
        let mut edit = json!({
            "type": "clear_tool_uses_20250919",
            "trigger": {"type": "tool_uses", "value": 3},
            "keep": {"type": "tool_uses", "value": 1},
        });
        edit.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let reply = ask(&server, "/v1/messages", &calling(edit));
        let text = reply["content"][0]["text"].as_str().unwrap().to_owned();
        (
            text,
            reply["context_management"]["applied_edits"].clone(),
            reply["usage"]["input_tokens"].clone(),
        )
    };
    let has = |text: &str| [1, 2, 3].map(|number| text.contains(&format!("tok-{number}{number}")));
    let (text, applied, used) = clear(json!({}));
    assert_eq!(has(&text), [false, false, true], "{text}");
    assert_eq!(
        (&applied[0]["type"], &applied[0]["cleared_tool_uses"]),
        (&json!("clear_tool_uses_20250919"), &json!(2))
    );
    assert!(
        applied[0]["cleared_input_tokens"].as_u64().unwrap() > 0,
        "{applied}"
    );
    // Not yet, too little, or not that tool.
    let nothing = [
        json!({"trigger": {"type": "tool_uses", "value": 4}}),
        json!({"trigger": {"type": "input_tokens", "value": 100_000}}),
        json!({"clear_at_least": {"type": "input_tokens", "value": 10_000}}),
        json!({"exclude_tools": ["read"]}),
    ];
    for edit in nothing {
        let (text, applied, _) = clear(edit);
        assert_eq!((has(&text), applied), ([true; 3], json!([])), "{text}");
    }
    for (inputs, is_less) in [
        (json!(true), true),
        (json!(["read"]), true),
        (json!(["run"]), false),
    ] {
        let (_, _, less) = clear(json!({"clear_tool_inputs": inputs}));
        assert_eq!(less.as_u64() < used.as_u64(), is_less, "{less}, {used}");
    }

    let thinking =
        json!({"type": "clear_thinking_20251015", "keep": {"type": "thinking_turns", "value": 1}});
    let reply = ask(&server, "/v1/messages", &calling(thinking));
    let applied = &reply["context_management"]["applied_edits"];
    assert_eq!(
        (&applied[0]["type"], &applied[0]["cleared_thinking_turns"]),
        (&json!("clear_thinking_20251015"), &json!(2))
    );
}

#[test]
fn a_wrong_edit_is_named_by_its_place() {
    let server = started();
    let wrong = [
        (
            json!({"type": "compact"}),
            "`compact` is not an edit; choose",
        ),
        (json!({}), "`context_management.edits[0].type` is missing"),
        (
            json!({"type": "compact_20260112", "trigger": {"type": "tool_uses", "value": 3}}),
            "`tool_uses` is not an amount here; choose `input_tokens`",
        ),
        (
            json!({"type": "compact_20260112", "trigger": {"type": "input_tokens", "value": "many"}}),
            "`context_management.edits[0].trigger.value` is `\"many\"`; it must be a whole number",
        ),
        (
            json!({"type": "clear_tool_uses_20250919", "exclude_tools": "read"}),
            "`context_management.edits[0].exclude_tools` must be a list",
        ),
    ];
    for (edit, expected) in wrong {
        let message = refused(&server, "/v1/messages", &calling(edit));
        assert!(message.contains(expected), "{message}");
    }
}

/// A chat that asks its provider to compact it, of some tokens for each line.
fn chat(lines: usize) -> ChatRequest {
    let text = |text: String| WireParts::from(vec![Part::Text { text }]);
    let filler = "The worker wrote one more line of its log.\n".repeat(lines);
    let said = format!("We decided that the worker's settings are in {PATH}.");
    let messages = [(Role::User, said), (Role::Assistant, filler)];
    ChatRequest {
        messages: messages
            .map(|(role, said)| WireMessage {
                role,
                parts: text(said),
            })
            .into(),
        compaction: Some(ServerCompaction::default()),
        ..ChatRequest::prompt(String::new(), 2_000, None, 7)
    }
}

async fn ask_model(name: &str, request: &ChatRequest) -> Result<ChatReply, ChatError> {
    by_name(name).unwrap().complete(request).await
}

#[tokio::test]
async fn a_client_has_its_provider_compact_and_pays_for_it() {
    let server = started();
    let at = format!("@http://{}/v1", server.address());
    let anthropic = format!("anthropic:mock:perfect-reader{at}");
    let reply = ask_model(&anthropic, &chat(6_000)).await.unwrap();
    assert!(reply.text.contains(PATH), "{}", reply.text);
    assert!(
        reply.usage.input > 50_000 && reply.usage.output > 5,
        "{:?}",
        reply.usage
    );
    // OpenAI's is sealed, which the client of this program opens, and it keeps what it reads.
    let openai = format!("openai-responses:mock:perfect-reader{at}");
    let sealed = ask_model(&openai, &chat(10)).await.unwrap();
    assert!(
        sealed.text.contains(PATH) && !sealed.is_sealed(),
        "{}",
        sealed.text
    );
    assert!(sealed.usage.output > 5, "{:?}", sealed.usage);
    // Below the provider's least, the answer is none.
    let short = ask_model(&anthropic, &chat(10)).await;
    assert!(
        matches!(&short, Err(ChatError::Refused { message }) if message.contains("chats of 50000 tokens or more")),
        "{short:?}"
    );
    // One without a compaction of its own is asked in a message.
    let chat_completions = format!("openai-compatible:mock:perfect-reader{at}");
    let asked = ask_model(&chat_completions, &chat(10)).await.unwrap();
    let in_process = ask_model("mock:perfect-reader", &chat(10)).await.unwrap();
    assert_eq!(asked.text, in_process.text);
    assert!(asked.text.contains(PATH), "{}", asked.text);
    let answered = ChatRequest {
        compaction: None,
        ..chat(10)
    };
    assert_ne!(
        ask_model("mock:perfect-reader", &answered)
            .await
            .unwrap()
            .text,
        asked.text
    );
}
