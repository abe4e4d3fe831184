//! The HTTP client against a server that answers as told: what becomes of every answer and of every
//! failure.

mod bills;
mod errors;
mod probes;
mod replies;
mod rules;
mod wire;

use std::time::Duration;

use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use compactometer_models::http::{Client, Endpoint, TransferLimits};
use compactometer_models::providers::Provider;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

/// A key that is nowhere but in its header.
pub(super) const KEY: &str = "sk-secret-0123456789";

pub(super) fn limits() -> TransferLimits {
    let millis = Duration::from_millis;
    TransferLimits {
        connect: millis(10_000),
        silence: millis(10_000),
        whole: millis(30_000),
        bytes: 1 << 20,
        repeats: 2,
        first_wait: millis(1),
        longest_wait: millis(1_500),
        requests_a_minute: None,
    }
}

pub(super) fn client(provider: &'static Provider, address: &str) -> Client {
    let place = Endpoint::new(provider, "small", address, Some(KEY.into())).expect("a place");
    Client::new(place, limits()).expect("a client")
}

pub(super) fn request() -> ChatRequest {
    ChatRequest::prompt("Summarize.".to_owned(), 100, Some(0.3), 7)
}

/// What becomes of a call to a server that always answers so, and how often it was asked.
pub(super) async fn ask(
    provider: &'static Provider,
    answer: ResponseTemplate,
) -> (Result<ChatReply, ChatError>, usize) {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(answer)
        .mount(&server)
        .await;
    let outcome = client(provider, &server.uri()).complete(&request()).await;
    let asked = server.received_requests().await.expect("kept").len();
    (outcome, asked)
}

/// A stream of events.
pub(super) fn stream(events: &[&str]) -> ResponseTemplate {
    let body = events
        .iter()
        .map(|event| format!("data: {event}\n\n"))
        .collect::<String>();
    ResponseTemplate::new(200).set_body_raw(body, "text/event-stream")
}
