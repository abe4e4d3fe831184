//! Servers that fail, lie and break off: what they bill is at most what the limit allows, and the
//! journal knows of every request.

use std::sync::Arc;

use compactometer_engine::model::{ChatModel, ChatRequest};
use compactometer_engine::tokens::{Encoding, TokenCounter as _};
use compactometer_models::cost_limit::{CostLimit, Tariff, TokenPrices};
use compactometer_models::http::{Account, Client, Endpoint};
use compactometer_models::providers::OPENAI_COMPATIBLE;
use compactometer_models::tries::{self, Journal, Outcome};
use serde_json::{Value, json};
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{KEY, limits, stream};

/// Ten dollars for a million tokens of input, fifty for output; from the cache it is nearly free.
const PRICES: TokenPrices = TokenPrices {
    input: 10.0,
    cache_write: 10.0,
    cache_read: 0.1,
    output: 50.0,
};
const TARIFF: Tariff = Tariff {
    short: PRICES,
    long: None,
};
const TEXT: &str = "The build was mended on Monday, and the port is 48213 again.";

fn request(seed: u64) -> ChatRequest {
    let text = format!(
        "Summarize what was said in {seed}: {}",
        "the tests pass again. ".repeat(80)
    );
    ChatRequest::prompt(text, 100, None, seed)
}

/// What the server bills of a request: its input by the own count, and all of the answer.
fn bill(seed: u64) -> f64 {
    let (input, output) = (
        request(seed).tokens(&Encoding::O200k),
        Encoding::O200k.count_text(TEXT),
    );
    (f64::from(input) * 10.0 + f64::from(output) * 50.0) / 1e6
}

fn answer(usage: Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!({
        "choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}], "usage": usage,
    }))
}

/// How servers answer, by name, and whether every call then has an answer.
fn modes() -> Vec<(&'static str, ResponseTemplate, bool)> {
    let refusal = |status: u16| {
        let error = json!({"error": {"message": "no", "param": "tools"}});
        ResponseTemplate::new(status).set_body_json(error)
    };
    let cached = json!({"prompt_tokens": 390, "completion_tokens": 15, "prompt_tokens_details": {"cached_tokens": 390}});
    vec![
        (
            "honest",
            answer(json!({"prompt_tokens": 390, "completion_tokens": 15})),
            true,
        ),
        ("no usage", answer(Value::Null), true),
        (
            "usage of nothing",
            answer(json!({"prompt_tokens": 0, "completion_tokens": 0})),
            true,
        ),
        ("all from the cache", answer(cached), true),
        (
            "negative usage",
            answer(json!({"prompt_tokens": -9, "completion_tokens": -9})),
            true,
        ),
        (
            "endless usage",
            answer(json!({"prompt_tokens": u64::MAX, "completion_tokens": 1})),
            true,
        ),
        (
            "a page",
            ResponseTemplate::new(200).set_body_raw("<html>", "text/html"),
            false,
        ),
        (
            "a stream that breaks off",
            stream(&[r#"{"choices":[{"delta":{"content":"The build"}}]}"#]),
            false,
        ),
        (
            "an answer without end",
            ResponseTemplate::new(200).set_body_raw(vec![b' '; 6 << 20], "application/json"),
            false,
        ),
        ("busy", refusal(429), false),
        ("broken", refusal(500), false),
        ("rejected", refusal(400), false),
        ("too long", refusal(413), false),
    ]
}

#[tokio::test]
async fn what_a_server_bills_is_at_most_the_limit_whatever_it_answers() {
    for (mode, template, is_answered) in modes() {
        for cap in [0.02, 0.1] {
            let server = MockServer::start().await;
            Mock::given(method("POST"))
                .respond_with(template.clone())
                .mount(&server)
                .await;
            let dir = tempfile::tempdir().expect("a folder");
            let limit = CostLimit::new(cap, TARIFF, Encoding::O200k);
            let place = Endpoint::new(&OPENAI_COMPATIBLE, "small", &server.uri(), Some(KEY.into()))
                .expect("a place");
            let client = Client::new(place, limits()).expect("a client");
            let client = client.with_account(Account {
                limit: Some(Arc::new(limit)),
                journal: Arc::new(Journal::open(dir.path()).expect("a journal").into()),
            });
            let mut made = 0;
            for seed in 0..60 {
                made += u64::from(client.complete(&request(seed)).await.is_ok());
            }
            let asked = server.received_requests().await.expect("kept").len();
            let billed = asked as f64 * bill(0);
            assert!(billed <= cap, "{mode}: {billed} of {cap} for {asked}");
            assert!(asked >= 1, "{mode} was never asked");
            assert_eq!(made > 0, is_answered, "{mode}");
            let tries = tries::read(dir.path()).expect("the journal");
            assert_eq!(tries.len(), asked, "{mode}");
            let answered = tries.iter().filter_map(|one| one.ended.as_ref());
            let answered = answered.filter(|ended| ended.outcome == Outcome::Answered);
            assert_eq!(answered.count() as u64, made, "{mode}");
            let whys = tries
                .iter()
                .filter_map(|one| one.ended.as_ref()?.why.as_ref());
            assert!(whys.count() as u64 == asked as u64 - made, "{mode}");
            let doubtful = |one: &tries::Try| one.ended.as_ref().is_some_and(|end| end.is_doubtful);
            let lies = ["usage of nothing", "endless usage"];
            assert_eq!(tries.iter().any(doubtful), lies.contains(&mode), "{mode}");
        }
    }
}

#[tokio::test]
async fn a_request_that_was_never_sent_costs_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    // Nothing listens on a port that was just given back.
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("http://{}/v1", free.local_addr().expect("its address"));
    drop(free);
    let limit = Arc::new(CostLimit::new(0.02, TARIFF, Encoding::O200k));
    let place = Endpoint::new(&OPENAI_COMPATIBLE, "small", &address, None).expect("a place");
    let client = Client::new(place, limits())
        .expect("a client")
        .with_account(Account {
            limit: Some(limit),
            journal: Arc::new(Journal::open(dir.path()).expect("a journal").into()),
        });
    for seed in 0..20 {
        let error = client
            .complete(&request(seed))
            .await
            .expect_err("nobody answers");
        assert!(!error.to_string().contains("--max-cost"), "{error}");
    }
    let tries = tries::read(dir.path()).expect("the journal");
    let all_unsent = tries.iter().all(|one| {
        one.ended
            .as_ref()
            .is_some_and(|ended| ended.outcome == Outcome::NotSent)
    });
    assert!(tries.len() >= 20 && all_unsent, "{tries:?}");
}
