//! The server from outside: bytes in over loopback, bytes out.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use compactometer_engine::message::{Part, Role};
use compactometer_engine::model::{ChatModel, ChatRequest, ToolDefinition, WireMessage};
use compactometer_models::by_name;
use compactometer_models::server::{Server, ServerLimits};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// A server on a thread of its own.
pub(crate) struct Running {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// When a test gives up waiting for what must happen; nothing depends on how soon it does.
const DEADLINE: Duration = Duration::from_secs(300);

impl Running {
    pub(crate) fn new(model: &str, limits: ServerLimits) -> Self {
        let model: Arc<dyn ChatModel> = by_name(model).unwrap().into();
        let (stop, stopped) = oneshot::channel();
        let (told, address) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let server = Server::bind(model, 0, limits).await.unwrap();
                told.send(server.address()).unwrap();
                server.run(async { drop(stopped.await) }).await;
            });
        });
        Running {
            address: address.recv().unwrap(),
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    pub(crate) fn send(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        // A server that refuses a body need not read it.
        drop(stream.write_all(body));
        Answer::read(stream)
    }

    /// Asks until the server answers: one that cuts off slow clients may cut off this one too, on a
    /// busy machine.
    fn is_well(&self) -> bool {
        let started = Instant::now();
        while started.elapsed() < DEADLINE {
            if self.send("GET", "/health", b"").status == 200 {
                return true;
            }
        }
        false
    }

    fn chat(&self, body: &Value) -> Answer {
        self.send("POST", "/v1/chat/completions", body.to_string().as_bytes())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        drop(stream.read_to_end(&mut bytes));
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok())
            .unwrap_or(0);
        Answer {
            status,
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn error(&self) -> (u16, Value) {
        let error = self.json()["error"].clone();
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|message| !message.is_empty()),
            "{self:?}"
        );
        (self.status, error)
    }
}

fn started() -> Running {
    Running::new("mock:strong", ServerLimits::default())
}

fn text(text: &str) -> Part {
    Part::Text {
        text: text.to_owned(),
    }
}

/// What a request of every kind of message says over the wire, and the same in process.
fn both() -> (Value, ChatRequest) {
    let prompt = prompt();
    let schema = json!({"type": "object", "properties": {"decisions": {"type": "array", "items": {"type": "string"}}}});
    let wire = json!({
        "model": "mock:strong", "seed": 7, "temperature": 0.5, "max_completion_tokens": 300,
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "strict": true, "schema": schema}},
        "tools": [{"type": "function", "function": {"name": "run", "description": "runs", "parameters": {"type": "object"}}}],
        "messages": [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": "We decided to keep port 8042 open."},
            {"role": "assistant", "content": "On it.", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "run", "arguments": "{\"a\":1}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "12 rows"},
            {"role": "user", "content": [{"type": "text", "text": prompt}]},
        ],
    });
    let message = |role, parts: Vec<Part>| WireMessage {
        role,
        parts: parts.into(),
    };
    let call = Part::ToolCall {
        id: "c1".into(),
        name: "run".into(),
        arguments: "{\"a\":1}".into(),
    };
    let result = Part::ToolResult {
        call_id: "c1".into(),
        text: "12 rows".into(),
        is_error: false,
    };
    let request = ChatRequest {
        messages: vec![
            message(Role::System, vec![text("You are an agent.")]),
            message(Role::User, vec![text("We decided to keep port 8042 open.")]),
            message(Role::Assistant, vec![text("On it."), call]),
            message(Role::Tool, vec![result]),
            message(Role::User, vec![text(&prompt)]),
        ],
        tools: vec![ToolDefinition {
            name: "run".into(),
            description: "runs".into(),
            parameters: json!({"type": "object"}),
        }],
        max_output_tokens: Some(300),
        temperature: Some(0.5),
        schema: Some(schema),
        compaction: None,
        seed: 7,
    };
    (wire, request)
}

fn in_process(model: &str, request: &ChatRequest) -> compactometer_engine::model::ChatReply {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime
        .block_on(by_name(model).unwrap().complete(request))
        .unwrap()
}

#[test]
fn a_reply_is_what_the_same_content_gives_in_process() {
    let server = started();
    let (wire, request) = both();
    let own = in_process("mock:strong", &request);
    let answer = server.chat(&wire);
    assert_eq!(answer.status, 200, "{answer:?}");
    let reply = answer.json();
    assert_eq!(reply["choices"][0]["message"]["content"], own.text);
    assert!(own.text.contains("8042"), "{}", own.text);
    assert_eq!(reply["choices"][0]["finish_reason"], "stop");
    assert_eq!(reply["usage"]["prompt_tokens"], own.usage.input);
    assert_eq!(reply["usage"]["completion_tokens"], own.usage.output);
    assert_eq!(
        reply["usage"]["total_tokens"],
        own.usage.input + own.usage.output
    );
    assert!(
        answer
            .head
            .contains(&format!("openai-processing-ms: {}", own.latency_ms)),
        "{}",
        answer.head
    );
    assert_eq!(
        server.chat(&wire).body,
        answer.body,
        "the same request, the same bytes"
    );
}

#[test]
fn events_add_up_to_the_reply() {
    let server = started();
    let (mut wire, request) = both();
    wire["stream"] = json!(true);
    wire["stream_options"] = json!({"include_usage": true});
    let own = in_process("mock:strong", &request);
    let answer = server.chat(&wire);
    assert!(
        answer.head.contains("content-type: text/event-stream"),
        "{}",
        answer.head
    );
    let lines: Vec<&str> = answer
        .body
        .split("\n\n")
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(lines.last(), Some(&"data: [DONE]"));
    let chunk =
        |line: &&str| serde_json::from_str::<Value>(line.strip_prefix("data: ").unwrap()).unwrap();
    let chunks: Vec<Value> = lines[..lines.len() - 1].iter().map(chunk).collect();
    let said = chunks
        .iter()
        .filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str())
        .collect::<String>();
    assert_eq!(said, own.text);
    let [.., end, usage] = &chunks[..] else {
        panic!("{chunks:?}")
    };
    assert_eq!(end["choices"][0]["finish_reason"], "stop");
    assert_eq!(
        (&usage["choices"], &usage["usage"]["completion_tokens"]),
        (&json!([]), &json!(own.usage.output))
    );
    assert!(
        chunks[..chunks.len() - 1]
            .iter()
            .all(|chunk| chunk["usage"].is_null())
    );
    wire["stream_options"] = Value::Null;
    assert!(!server.chat(&wire).body.contains("usage"));
}

/// What [`both`] says, as the other interfaces have it; neither has a seed.
fn others() -> [(&'static str, Value); 2] {
    let (chat, _) = both();
    let prompt = prompt();
    let schema = &chat["response_format"]["json_schema"]["schema"];
    let parameters = json!({"type": "object"});
    let format = json!({"type": "json_schema", "name": "x", "schema": schema});
    let responses = json!({
        "model": "mock:strong", "instructions": "You are an agent.", "max_output_tokens": 300, "temperature": 0.5, "text": {"format": format},
        "tools": [{"type": "function", "name": "run", "description": "runs", "parameters": parameters}, {"type": "web_search"}],
        "input": [
            {"role": "user", "content": "We decided to keep port 8042 open."},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "On it."}]},
            {"type": "reasoning", "summary": []},
            {"type": "function_call", "call_id": "c1", "name": "run", "arguments": "{\"a\":1}"},
            {"type": "function_call_output", "call_id": "c1", "output": "12 rows"},
            {"role": "user", "content": [{"type": "input_text", "text": prompt}]},
        ],
    });
    let messages = json!({
        "model": "mock:strong", "system": [{"type": "text", "text": "You are an agent."}], "max_tokens": 300, "temperature": 0.5,
        "output_config": {"format": format},
        "tools": [{"name": "run", "description": "runs", "input_schema": parameters}],
        "messages": [
            {"role": "user", "content": "We decided to keep port 8042 open."},
            {"role": "assistant", "content": [{"type": "text", "text": "On it."}, {"type": "tool_use", "id": "c1", "name": "run", "input": {"a": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "12 rows"}, {"type": "text", "text": prompt}]},
        ],
    });
    [("/v1/responses", responses), ("/v1/messages", messages)]
}

/// The texts of a reply's events of that type.
fn grown(events: &str, kind: &str, text: fn(&Value) -> &Value) -> String {
    let data = events
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let data = data
        .map(|data| serde_json::from_str::<Value>(data).unwrap())
        .filter(|data| data["type"] == kind);
    data.map(|data| text(&data).as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn each_interface_gives_what_the_same_content_gives_in_process() {
    let server = started();
    let (_, request) = both();
    for (path, wire) in others() {
        let mut request = ChatRequest {
            seed: 0,
            ..request.clone()
        };
        if path == "/v1/responses" {
            // A call is an item of its own there.
            let said = request.messages.remove(2);
            let parts = said.parts.iter().map(|part| WireMessage {
                role: Role::Assistant,
                parts: vec![part.clone()].into(),
            });
            request.messages.splice(2..2, parts.collect::<Vec<_>>());
        }
        let own = in_process("mock:strong", &request);
        let answer = server.send("POST", path, wire.to_string().as_bytes());
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let reply = answer.json();
        let said = if path == "/v1/responses" {
            &reply["output"][0]["content"][0]["text"]
        } else {
            &reply["content"][0]["text"]
        };
        assert_eq!(said, &own.text, "{path}");
        let used = (
            &reply["usage"]["input_tokens"],
            &reply["usage"]["output_tokens"],
        );
        assert_eq!(
            used,
            (&json!(own.usage.input), &json!(own.usage.output)),
            "{path}"
        );
        let mut streamed = wire.clone();
        streamed["stream"] = json!(true);
        let events = server.send("POST", path, streamed.to_string().as_bytes());
        assert!(
            events.head.contains("content-type: text/event-stream"),
            "{}",
            events.head
        );
        let grown = match path {
            "/v1/responses" => grown(
                &events.body,
                "response.output_text.delta",
                |data| &data["delta"],
            ),
            _ => grown(
                &events.body,
                "content_block_delta",
                |data| &data["delta"]["text"],
            ),
        };
        assert_eq!(grown, own.text, "{path}");
    }
}

#[test]
fn a_count_is_what_the_same_request_uses() {
    let server = started();
    for ((path, wire), count) in others()
        .into_iter()
        .zip(["responses/input_tokens", "messages/count_tokens"])
    {
        let post =
            |path: &str, body: &Value| server.send("POST", path, body.to_string().as_bytes());
        let used = post(path, &wire).json()["usage"]["input_tokens"].clone();
        let mut counted = wire.clone();
        counted.as_object_mut().unwrap().remove("max_tokens");
        let answer = post(&format!("/v1/{count}"), &counted);
        assert_eq!(
            (answer.status, &answer.json()["input_tokens"]),
            (200, &used),
            "{answer:?}"
        );
        counted["model"] = json!("unknown");
        assert_eq!(post(&format!("/v1/{count}"), &counted).status, 404);
        assert_eq!(server.send("GET", &format!("/v1/{count}"), b"").status, 405);
    }
    let bodies = json!({"model": "mock", "messages": 3});
    let answer = server.send(
        "POST",
        "/v1/messages/count_tokens",
        bodies.to_string().as_bytes(),
    );
    assert_eq!(
        (answer.status, &answer.json()["type"]),
        (400, &json!("error"))
    );
}

#[test]
fn each_interface_names_what_is_wrong_in_its_own_words() {
    let server = started();
    let ask = |path: &str, body: Value| {
        server
            .send("POST", path, body.to_string().as_bytes())
            .error()
    };
    for (body, param) in [
        (json!({"model": "mock:strong"}), "input"),
        (json!({"model": "mock:strong", "input": []}), "input"),
        (
            json!({"model": "mock:strong", "input": [{"type": "smell"}]}),
            "input[0].type",
        ),
        (
            json!({"model": "mock:strong", "input": [{"role": "tool", "content": "x"}]}),
            "input[0].role",
        ),
        (
            json!({"model": "mock:strong", "input": [{"role": "user"}]}),
            "input[0].content",
        ),
        (
            json!({"model": "mock:strong", "input": [{"type": "function_call", "call_id": "c"}]}),
            "input[0].name",
        ),
        (
            json!({"model": "mock:strong", "input": "hi", "previous_response_id": "r"}),
            "previous_response_id",
        ),
        (
            json!({"model": "mock:strong", "input": "hi", "text": {"format": {"type": "xml"}}}),
            "text.format.type",
        ),
    ] {
        let (status, error) = ask("/v1/responses", body.clone());
        assert_eq!(
            (status, &error["param"]),
            (400, &json!(param)),
            "{body}: {error}"
        );
    }
    let user = json!([{"role": "user", "content": "hi"}]);
    for (body, place) in [
        (
            json!({"model": "mock:strong", "messages": user.clone()}),
            "`max_tokens` is missing",
        ),
        (
            json!({"model": "mock:strong", "max_tokens": 9}),
            "`messages` is missing",
        ),
        (
            json!({"model": "mock:strong", "max_tokens": 9, "messages": [{"role": "system", "content": "x"}]}),
            "choose `user` or `assistant`",
        ),
        (
            json!({"model": "mock:strong", "max_tokens": 9, "messages": [{"role": "user", "content": [{"type": "tool_result"}]}]}),
            "`messages[0].content[0].tool_use_id` is missing",
        ),
        (
            json!({"model": "mock:strong", "max_tokens": 9, "temperature": 2, "messages": user.clone()}),
            "from 0 to 1",
        ),
    ] {
        let (status, error) = ask("/v1/messages", body.clone());
        let message = error["message"].as_str().unwrap();
        assert!(
            status == 400 && message.contains(place) && error["type"] == "invalid_request_error",
            "{body}: {error}"
        );
    }
    let (status, error) = ask(
        "/v1/messages",
        json!({"model": "claude-9", "max_tokens": 9, "messages": user}),
    );
    assert_eq!((status, &error["type"]), (404, &json!("not_found_error")));
    assert_eq!(server.send("GET", "/v1/messages", b"").status, 405);
}

#[test]
fn limits_stops_and_json_are_obeyed() {
    let server = started();
    let ask = |extra: Value| {
        let mut body =
            json!({"model": "mock:strong", "messages": [{"role": "user", "content": prompt()}]});
        body.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        server.chat(&body).json()
    };
    let said = |reply: &Value| {
        reply["choices"][0]["message"]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let whole = said(&ask(json!({})));
    let asked = json!([
        {"role": "user", "content": "The port that the staging cluster uses for all exports is 8042."},
        {"role": "user", "content": "Which port does the staging cluster use?"},
    ]);
    let cut = ask(json!({"max_tokens": 5, "messages": asked}));
    assert_eq!(
        (
            &cut["choices"][0]["finish_reason"],
            &cut["usage"]["completion_tokens"]
        ),
        (&json!("length"), &json!(5))
    );
    assert!(
        "The port that the staging cluster uses".starts_with(&said(&cut)) && said(&cut).len() > 9,
        "{cut}"
    );
    let word = whole.split(' ').nth(9).unwrap();
    let stopped = said(&ask(json!({"stop": ["\u{1}never", word]})));
    assert_eq!(Some(stopped.as_str()), whole.split(word).next());
    let object: Value = serde_json::from_str(&said(&ask(
        json!({"response_format": {"type": "json_object"}}),
    )))
    .unwrap();
    assert!(
        object.as_object().is_some_and(|object| !object.is_empty()),
        "{object}"
    );
    assert_ne!(said(&ask(json!({"seed": 5}))), whole);
}

#[test]
fn models_and_health_are_told() {
    let server = started();
    let models = server.send("GET", "/v1/models", b"").json();
    assert_eq!(models["data"][0]["id"], "mock:strong");
    assert_eq!(
        server.send("GET", "/v1/models/mock:strong", b"").json()["object"],
        "model"
    );
    assert_eq!(
        server.send("GET", "/v1/models/mock", b"").json()["id"],
        "mock:strong",
        "the kind names its model"
    );
    let text = "Summarize: The port is 8041 and the file is src/app.rs.";
    let reply = server
        .chat(&json!({"model": "mock", "messages": [{"role": "user", "content": text}]}))
        .json();
    assert!(
        reply["choices"][0]["message"]["content"]
            .as_str()
            .unwrap()
            .contains("8041"),
        "{reply}"
    );
    assert_eq!(
        server.send("GET", "/health", b"").json(),
        json!({"status": "ok"})
    );
}

#[test]
fn what_is_wrong_names_its_place() {
    let server = started();
    let user = json!([{"role": "user", "content": "hi"}]);
    let with = |key: &str, value: Value| {
        let mut body = json!({"model": "mock:strong", "messages": user.clone()});
        body[key] = value;
        body
    };
    let message = |message: Value| with("messages", json!([message]));
    for (body, param) in [
        (json!({"messages": user.clone()}), "model"),
        (json!({"model": "mock:strong"}), "messages"),
        (with("messages", json!([])), "messages"),
        (with("messages", json!("hi")), "messages"),
        (
            message(json!({"role": "robot", "content": "hi"})),
            "messages[0].role",
        ),
        (message(json!({"role": "user"})), "messages[0].content"),
        (
            message(json!({"role": "user", "content": 7})),
            "messages[0].content",
        ),
        (
            message(json!({"role": "user", "content": [{"type": "smell"}]})),
            "messages[0].content[0].type",
        ),
        (
            message(json!({"role": "user", "content": [{"type": "text"}]})),
            "messages[0].content[0].text",
        ),
        (
            message(json!({"role": "tool", "content": "x"})),
            "messages[0].tool_call_id",
        ),
        (
            message(json!({"role": "assistant", "tool_calls": [{"id": "c"}]})),
            "messages[0].tool_calls[0].function.name",
        ),
        (with("max_tokens", json!(-1)), "max_tokens"),
        (with("temperature", json!(9)), "temperature"),
        (with("seed", json!("x")), "seed"),
        (with("n", json!(2)), "n"),
        (with("stream", json!("yes")), "stream"),
        (with("stop", json!([1])), "stop"),
        (
            with("tools", json!([{"type": "function"}])),
            "tools[0].function",
        ),
        (
            with("response_format", json!({"type": "xml"})),
            "response_format.type",
        ),
        (
            with("response_format", json!({"type": "json_schema"})),
            "response_format.json_schema.schema",
        ),
    ] {
        let (status, error) = server.chat(&body).error();
        assert_eq!(
            (status, &error["param"]),
            (400, &json!(param)),
            "{body}: {error}"
        );
        assert_eq!(error["type"], "invalid_request_error");
    }
}

#[test]
fn broken_bodies_paths_methods_and_models_are_refused() {
    let server = started();
    for body in [&b"{\"model\": "[..], b"[]", b"", b"\xff\xfe", b"null"] {
        assert_eq!(
            server.send("POST", "/v1/chat/completions", body).error().0,
            400
        );
    }
    let (status, error) = server
        .chat(&json!({"model": "gpt-9", "messages": [{"role": "user", "content": "hi"}]}))
        .error();
    assert_eq!(
        (status, &error["code"], &error["param"]),
        (404, &json!("model_not_found"), &json!("model"))
    );
    assert_eq!(server.send("GET", "/v1/models/gpt-9", b"").error().0, 404);
    assert_eq!(server.send("GET", "/v2/chat", b"").error().0, 404);
    let refused = server.send("GET", "/v1/chat/completions", b"");
    assert_eq!(refused.error().0, 405);
    assert!(refused.head.contains("allow: post"), "{}", refused.head);
    assert_eq!(server.send("DELETE", "/v1/models", b"").error().0, 405);
}

#[test]
fn images_and_silent_assistants_are_taken() {
    let server = started();
    let body = json!({"model": "mock:strong", "messages": [
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{}", "A".repeat(100_000))}}]},
        {"role": "assistant", "content": null},
        {"role": "user", "content": "Which port do we use? We use port 8042."},
    ]});
    let reply = server.chat(&body).json();
    let tokens = reply["usage"]["prompt_tokens"].as_u64().unwrap();
    assert!(
        (250..400).contains(&tokens),
        "an image counts by a rule and not by its bytes: {tokens}"
    );
}

#[test]
fn a_models_failures_have_their_status() {
    for (fault, status) in [
        ("rate-limit-wait", 429),
        ("server-error", 500),
        ("timeout", 504),
        ("refused", 400),
    ] {
        let server = Running::new(&format!("mock+{fault}=1"), ServerLimits::default());
        let model = server.send("GET", "/v1/models", b"").json()["data"][0]["id"].clone();
        let answer =
            server.chat(&json!({"model": model, "messages": [{"role": "user", "content": "hi"}]}));
        let found = answer.error().0;
        assert!(
            found == status || status == 500 && found > 500,
            "{fault}: {found}"
        );
        assert_eq!(
            answer.head.contains("retry-after"),
            status == 429,
            "{}",
            answer.head
        );
    }
    let server = Running::new("mock:strong+reasoning-only=1", ServerLimits::default());
    let body = json!({"model": "mock:strong+reasoning-only=1", "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}]});
    let reply = server.chat(&body).json();
    assert_eq!(
        reply["usage"]["completion_tokens_details"]["reasoning_tokens"],
        50
    );
}

#[test]
fn huge_bodies_are_refused_unread() {
    let server = Running::new(
        "mock:strong",
        ServerLimits {
            body_bytes: 1_000,
            ..ServerLimits::default()
        },
    );
    assert_eq!(
        server
            .send("POST", "/v1/chat/completions", &[b' '; 5_000])
            .error()
            .0,
        413
    );
    // A body without a length is cut off on its way.
    let mut stream = server.connect();
    stream.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n").unwrap();
    let chunk = format!("190\r\n{}\r\n", " ".repeat(400));
    let sent = (0..100)
        .take_while(|_| stream.write_all(chunk.as_bytes()).is_ok())
        .count();
    assert!(sent > 0);
    assert_eq!(Answer::read(stream).status, 413);
    assert_eq!(server.send("GET", "/health", b"").status, 200);
}

#[test]
fn slow_clients_are_cut_off() {
    let short = Duration::from_millis(300);
    let server = Running::new(
        "mock:strong",
        ServerLimits {
            idle: short,
            read: short,
            ..ServerLimits::default()
        },
    );
    let started = Instant::now();
    let mut silent = server.connect();
    silent.write_all(b"POST /v1/chat/comple").unwrap();
    let mut half = server.connect();
    half.write_all(b"POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{\"model\"").unwrap();
    assert_eq!(Answer::read(half).status, 408);
    let mut left = Vec::new();
    drop(silent.read_to_end(&mut left));
    assert!(
        started.elapsed() < DEADLINE,
        "both end before the client's own patience"
    );
    assert!(server.is_well());
}

#[test]
fn connections_are_bounded_and_wait_for_their_turn() {
    let limits = ServerLimits {
        connections: 2,
        idle: Duration::from_secs(60),
        ..ServerLimits::default()
    };
    let server = Running::new("mock:strong", limits);
    let held = [server.connect(), server.connect()];
    let mut third = server.connect();
    third
        .write_all(
            b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n",
        )
        .unwrap();
    third
        .set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    let waits = third.read(&mut [0; 16]).map_err(|error| error.kind());
    assert!(
        matches!(
            waits,
            Err(std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
        ),
        "{waits:?}"
    );
    drop(held);
    third.set_read_timeout(Some(DEADLINE)).unwrap();
    assert_eq!(Answer::read(third).status, 200);
    let (wire, _) = both();
    let server = &server;
    let statuses = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..12)
            .map(|_| scope.spawn(|| server.chat(&wire).status))
            .collect();
        asked
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert_eq!(statuses, [200; 12]);
}

#[test]
fn idle_connections_give_their_places_up() {
    let limits = ServerLimits {
        connections: 2,
        idle: Duration::from_millis(200),
        ..ServerLimits::default()
    };
    let server = Running::new("mock:strong", limits);
    let idle = [server.connect(), server.connect()];
    assert!(server.is_well(), "while both are still held");
    drop(idle);
}

#[test]
fn a_client_that_goes_away_harms_nobody() {
    let server = started();
    let (mut wire, _) = both();
    wire["stream"] = json!(true);
    let body = wire.to_string();
    for _ in 0..5 {
        let mut stream = server.connect();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        drop(stream.read(&mut [0; 20]));
    }
    assert_eq!(server.chat(&wire).status, 200);
}

#[test]
fn a_stop_ends_an_idle_server_at_once() {
    let server = started();
    let idle = server.connect();
    assert_eq!(server.send("GET", "/health", b"").status, 200);
    let address = server.address;
    let started = Instant::now();
    drop(server);
    assert!(started.elapsed() < DEADLINE);
    drop(idle);
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn only_this_machine_and_only_json_are_answered() {
    let server = started();
    let (wire, _) = both();
    let body = wire.to_string();
    let status_of = |target: &str, headers: &str| {
        let mut stream = server.connect();
        let head = format!(
            "POST {target} HTTP/1.1\r\n{headers}connection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        drop(stream.write_all(body.as_bytes()));
        Answer::read(stream).status
    };
    let status = |headers: &str| status_of("/v1/chat/completions", headers);
    let json = "content-type: application/json\r\n";
    for host in [
        "127.0.0.1",
        "localhost:8041",
        "LOCALHOST",
        "[::1]:8041",
        "127.0.0.2:1",
    ] {
        assert_eq!(status(&format!("host: {host}\r\n{json}")), 200, "{host}");
    }
    for host in [
        "host: attacker.example\r\n",
        "host: 127.0.0.1.attacker.example\r\n",
        "host: 10.0.0.1\r\n",
        "host: localhost\r\nhost: attacker.example\r\n",
        "host: localhost\r\nhost: localhost\r\n",
        "",
    ] {
        assert_eq!(status(&format!("{host}{json}")), 403, "{host}");
    }
    let whole = |host: &str| format!("http://{host}/v1/chat/completions");
    let local = format!("host: localhost\r\n{json}");
    assert_eq!(status_of(&whole("localhost"), &local), 200);
    assert_eq!(status_of(&whole("attacker.example"), &local), 403);
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
    ] {
        assert_eq!(
            status(&format!("host: localhost\r\ncontent-type: {kind}\r\n")),
            415,
            "{kind}"
        );
    }
    assert_eq!(status("host: localhost\r\n"), 415, "no type at all");
    assert_eq!(
        status("host: localhost\r\ncontent-type: application/json; charset=utf-8\r\n"),
        200
    );
}

/// Twenty statements to summarize.
fn prompt() -> String {
    let statements = (0..20).map(|number| {
        format!(
            "user: Service {number} listens on port {}.\n",
            8_000 + 7 * number
        )
    });
    format!(
        "Summarize the conversation below in at most 110 words.\n\n{}",
        statements.collect::<String>()
    )
}
