//! Servers that fail, lie and break off: what they bill is at most what the limit allows, and the
//! journal knows of every request.

use std::sync::Arc;

use compactometer_engine::model::{ChatModel, ChatRequest};
use compactometer_engine::tokens::{Encoding, TokenCounter as _};
use compactometer_models::cost_limit::{CostLimit, Tariff, TokenPrices};
use compactometer_models::http::{Account, Client, Endpoint};
use compactometer_models::providers::OPENAI_COMPATIBLE;
use compactometer_models::tries::{self, TryJournal, TryOutcome};
use compactometer_testing::hostile::{HostileServer, corpus};
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

/// How a server of the corpus answers.
fn template(row: &HostileServer) -> ResponseTemplate {
    let status = row.status.unwrap_or(200);
    let media = row.media.as_deref().unwrap_or("application/json");
    let raw = |body: Vec<u8>| ResponseTemplate::new(status).set_body_raw(body, media);
    match row {
        HostileServer {
            events: Some(events),
            ..
        } => stream(&events.iter().map(String::as_str).collect::<Vec<_>>()),
        HostileServer {
            body: Some(body), ..
        } => raw(body.clone().into()),
        HostileServer {
            size: Some(size), ..
        } => raw(vec![b' '; *size]),
        HostileServer {
            status: Some(status),
            ..
        } => ResponseTemplate::new(*status)
            .set_body_json(json!({"error": {"message": "no", "param": "tools"}})),
        _ => answer(row.usage.clone().unwrap_or_default()),
    }
}

#[tokio::test]
async fn what_a_server_bills_is_at_most_the_limit_whatever_it_answers() {
    for row in corpus().server {
        let (mode, template) = (row.id.as_str(), template(&row));
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
                journal: Arc::new(TryJournal::open(dir.path()).expect("a journal").into()),
            });
            let mut made = 0;
            for seed in 0..60 {
                made += u64::from(client.complete(&request(seed)).await.is_ok());
            }
            let asked = server.received_requests().await.expect("kept").len();
            let billed = asked as f64 * bill(0);
            assert!(billed <= cap, "{mode}: {billed} of {cap} for {asked}");
            assert!(asked >= 1, "{mode} was never asked");
            assert_eq!(made > 0, row.answers, "{mode}");
            let tries = tries::read(dir.path()).expect("the journal");
            assert_eq!(tries.len(), asked, "{mode}");
            let answered = tries.iter().filter_map(|one| one.ended.as_ref());
            let answered = answered.filter(|ended| ended.outcome == TryOutcome::Answered);
            assert_eq!(answered.count() as u64, made, "{mode}");
            let whys = tries
                .iter()
                .filter_map(|one| one.ended.as_ref()?.why.as_ref());
            assert!(whys.count() as u64 == asked as u64 - made, "{mode}");
            let doubtful = |one: &tries::Try| one.ended.as_ref().is_some_and(|end| end.is_doubtful);
            assert_eq!(tries.iter().any(doubtful), row.lies, "{mode}");
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
            journal: Arc::new(TryJournal::open(dir.path()).expect("a journal").into()),
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
            .is_some_and(|ended| ended.outcome == TryOutcome::NotSent)
    });
    assert!(tries.len() >= 20 && all_unsent, "{tries:?}");
}
