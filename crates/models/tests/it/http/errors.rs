//! Failures: which are tried again, which stop a run, which are a result.

use std::time::Duration;

use compactometer_engine::model::{ChatError, ChatModel};
use compactometer_models::http::{Client, Endpoint, TransferLimits};
use compactometer_models::providers::{ANTHROPIC, OPENAI, OPENAI_COMPATIBLE};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use wiremock::matchers::method;
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{KEY, ask, client, limits, request, stream};

fn refusal(status: u16, error: serde_json::Value) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_json(json!({ "error": error }))
}

/// Why the call gave no answer, where that ends a run, and whether it may pass.
fn stopped(outcome: Result<compactometer_engine::model::ChatReply, ChatError>) -> (String, bool) {
    match outcome {
        Err(ChatError::Unavailable { why, later }) => (why, later),
        other => panic!("not stopped: {other:?}"),
    }
}

#[tokio::test]
async fn a_busy_or_broken_server_is_asked_again_and_then_given_up_for_later() {
    for status in [429, 500, 503, 529] {
        let (outcome, asked) = ask(
            &OPENAI_COMPATIBLE,
            refusal(status, json!({"message": "too busy"})),
        )
        .await;
        let (why, later) = stopped(outcome);
        assert_eq!((asked, later), (3, true), "{status}");
        assert!(
            why.contains("given up after 3 tries")
                && why.contains("too busy")
                && why.contains(&status.to_string()),
            "{why}"
        );
    }
}

#[tokio::test]
async fn a_server_that_recovers_answers() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(500))
        .up_to_n_times(1)
        .mount(&server)
        .await;
    let good = stream(&[
        r#"{"choices":[{"delta":{"content":"Done."},"finish_reason":"stop"}]}"#,
        "[DONE]",
    ]);
    Mock::given(method("POST"))
        .respond_with(good)
        .mount(&server)
        .await;
    let reply = client(&OPENAI_COMPATIBLE, &server.uri())
        .complete(&request())
        .await
        .expect("a reply");
    assert_eq!(reply.text, "Done.");
}

#[tokio::test]
async fn the_wait_that_a_server_asks_for_is_kept_and_is_no_latency() {
    let server = MockServer::start().await;
    let busy = ResponseTemplate::new(429).insert_header("retry-after", "1");
    Mock::given(method("POST"))
        .respond_with(busy)
        .up_to_n_times(1)
        .mount(&server)
        .await;
    let good = stream(&[r#"{"choices":[{"delta":{"content":"Done."},"finish_reason":"stop"}]}"#]);
    Mock::given(method("POST"))
        .respond_with(good)
        .mount(&server)
        .await;
    let started = std::time::Instant::now();
    let reply = client(&OPENAI_COMPATIBLE, &server.uri())
        .complete(&request())
        .await
        .expect("a reply");
    let waited = started
        .elapsed()
        .saturating_sub(Duration::from_millis(reply.latency_ms));
    assert!(waited >= Duration::from_millis(990), "{waited:?}");
}

#[tokio::test]
async fn a_wait_that_is_too_long_ends_the_run_and_says_how_long_it_is() {
    let (outcome, asked) = ask(
        &OPENAI_COMPATIBLE,
        ResponseTemplate::new(429).insert_header("retry-after", "7200"),
    )
    .await;
    let (why, later) = stopped(outcome);
    assert_eq!((asked, later), (1, true));
    assert!(why.contains("it asks to wait 7200 s"), "{why}");
}

#[tokio::test]
async fn what_a_user_must_mend_stops_at_once_and_says_what() {
    let cases = [
        (
            401,
            json!({"message": format!("Incorrect API key provided: {KEY}")}),
            "set a key that may use `small` in `COMPACTOMETER_API_KEY`",
        ),
        (403, json!("no"), "set a key that may use `small`"),
        (
            404,
            json!({"message": "The model `small` does not exist"}),
            "knows no model `small`",
        ),
        (
            402,
            json!({"message": "no credit"}),
            "wants to be paid first: no credit",
        ),
        (
            429,
            json!({"code": "insufficient_quota", "message": "no credit"}),
            "wants to be paid first: no credit",
        ),
        (
            415,
            json!({"message": format!("no such form, key {KEY}")}),
            "answered 415 Unsupported Media Type: no such form, key [key]",
        ),
    ];
    for (status, error, expected) in cases {
        let (outcome, asked) = ask(&OPENAI_COMPATIBLE, refusal(status, error)).await;
        let (why, later) = stopped(outcome);
        assert_eq!((asked, later), (1, false), "{status}");
        assert!(why.contains(expected) && !why.contains(KEY), "{why}");
    }
}

#[tokio::test]
async fn a_request_that_is_too_long_or_unfit_is_a_result() {
    let errors = [
        (
            400,
            json!({"type": "exceed_context_size_error", "message": "too many"}),
        ),
        (
            400,
            json!({"code": "context_length_exceeded", "message": "x"}),
        ),
        (
            400,
            json!({"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}),
        ),
        (
            400,
            json!({"code": "content_filter", "message": "withheld"}),
        ),
        (413, json!({"message": "too large"})),
    ];
    for (status, error) in errors {
        let (outcome, asked) = ask(&OPENAI_COMPATIBLE, refusal(status, error.clone())).await;
        assert!(
            matches!(outcome, Err(ChatError::Refused { .. })),
            "{error}: {outcome:?}"
        );
        assert_eq!(asked, 1);
    }
}

#[tokio::test]
async fn a_request_whose_form_is_not_taken_is_a_result_of_its_own_kind() {
    for status in [400, 422] {
        let error =
            json!({"type": "invalid_request_error", "message": format!("no tools, key {KEY}")});
        let (outcome, asked) = ask(&ANTHROPIC, refusal(status, error)).await;
        assert_eq!(
            outcome,
            Err(ChatError::Rejected {
                message: "no tools, key [key]".to_owned()
            })
        );
        assert_eq!(asked, 1);
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = MockServer::start().await;
    Mock::given(method("POST"))
        .respond_with(ResponseTemplate::new(200))
        .expect(0)
        .mount(&elsewhere)
        .await;
    let redirect = ResponseTemplate::new(307).insert_header("location", elsewhere.uri());
    let (why, later) = stopped(ask(&OPENAI_COMPATIBLE, redirect).await.0);
    assert!(
        !later && why.contains("redirects are not followed") && why.contains(&elsewhere.uri()),
        "{why}"
    );
}

#[tokio::test]
async fn a_refused_connection_says_where_and_what_to_look_at() {
    let free = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = free.local_addr().expect("an address");
    drop(free);
    let (why, later) = stopped(
        client(&OPENAI_COMPATIBLE, &format!("http://{address}"))
            .complete(&request())
            .await,
    );
    assert!(
        later && why.contains(&address.to_string()) && why.contains("is the server running"),
        "{why}"
    );
}

/// A server that sends these bytes with these waits before them, to each connection.
async fn raw(pieces: &'static [(u64, &'static str)]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = socket.read(&mut [0; 4096]).await;
                for (wait_ms, piece) in pieces {
                    tokio::time::sleep(Duration::from_millis(*wait_ms)).await;
                    if socket.write_all(piece.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    format!("http://{address}")
}

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 100000\r\n\r\n";
const PIECE: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";

/// A comment that keeps a connection open.
const ALIVE: [(u64, &str); 240] = [(250, ": still there\n\n"); 240];
const DRIP: [(u64, &str); 240] = [(250, PIECE); 240];

/// Each case can reach only the limit that it is about, however late a busy machine is.
#[tokio::test]
async fn a_stream_that_breaks_off_falls_silent_or_never_ends_is_given_up() {
    const NEVER: Duration = Duration::from_secs(600);
    const SOON: Duration = Duration::from_secs(1);
    let broken = raw(&[(0, HEAD), (0, PIECE)]).await;
    let silent = raw(&[(0, HEAD), (0, PIECE), (600_000, PIECE)]).await;
    let mute = raw(&[(600_000, HEAD)]).await;
    let alive = raw([&[(0, HEAD)], &ALIVE[..]].concat().leak()).await;
    let drip = raw([&[(0, HEAD)], &DRIP[..]].concat().leak()).await;
    for (address, silence, whole, expected) in [
        (broken, NEVER, NEVER, "broke off"),
        (silent, SOON, NEVER, "no content within 1 s"),
        (mute, SOON, NEVER, "no content within 1 s"),
        (alive, SOON, NEVER, "no content within 1 s"),
        (drip, NEVER, SOON, "no whole answer within 1 s"),
    ] {
        let place = Endpoint::new(&OPENAI_COMPATIBLE, "small", &address, None).expect("a place");
        let client = Client::new(
            place,
            TransferLimits {
                silence,
                whole,
                repeats: 0,
                ..limits()
            },
        )
        .expect("a client");
        let (why, later) = stopped(client.complete(&request()).await);
        assert!(later && why.contains(expected), "{expected}: {why}");
    }
}

#[tokio::test]
async fn what_is_no_answer_is_asked_for_again() {
    let streams = [
        stream(&["{not json"]),
        stream(&[r#"{"choices":[{"delta":{"content":"a"}}]}"#]),
        stream(&[
            r#"{"choices":[{"delta":{"content":"a"}}]}"#,
            &format!(r#"{{"error":{{"message":"overloaded {KEY}"}}}}"#),
        ]),
        ResponseTemplate::new(200).set_body_raw("<html>", "text/html"),
        ResponseTemplate::new(200).set_body_raw("[1, 2]", "application/json"),
    ];
    for answer in streams {
        let (outcome, asked) = ask(&OPENAI_COMPATIBLE, answer).await;
        let (why, later) = stopped(outcome);
        assert!((asked, later) == (3, true) && !why.contains(KEY), "{why}");
    }
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_refused() {
    // As large as 100 MB beside the usual limit is the second one beside this one.
    let line = format!(
        r#"{{"choices":[{{"delta":{{"content":"{}"}}}}]}}"#,
        "a".repeat(1 << 16)
    );
    let events = vec![line.as_str(); 32];
    // A failure of this call, and no reason to end a run.
    let (outcome, asked) = ask(&OPENAI_COMPATIBLE, stream(&events)).await;
    let Err(ChatError::Rejected { message }) = outcome else {
        panic!("{outcome:?}")
    };
    assert!(
        asked == 1 && message.contains("over 1048576 bytes"),
        "{message}"
    );
}

#[tokio::test]
async fn places_that_cannot_be_used_say_why() {
    let error = |address: &str, key: Option<&str>| {
        let place = Endpoint::new(&OPENAI_COMPATIBLE, "small", address, key.map(Into::into));
        place
            .and_then(|place| Client::new(place, limits()).map(drop))
            .expect_err("refused")
            .to_string()
    };
    assert!(error("http://", None).contains("cannot be used"));
    assert!(error("ftp://host", None).contains("neither `http` nor `https`"));
    let with_password = error("https://me:hunter2@host", None);
    assert!(
        with_password.contains("holds a user or password") && !with_password.contains("hunter2")
    );
    assert!(error("http://host.example", Some(KEY)).contains("would travel unencrypted"));
    let wrong_key = error("https://host.example", Some("sk\nbad"));
    assert!(wrong_key.contains("holds characters that no key has") && !wrong_key.contains("bad"));
}

#[test]
fn nothing_shows_a_key() {
    let place =
        Endpoint::new(&OPENAI, "small", "https://host.example", Some(KEY.into())).expect("a place");
    assert!(!format!("{place:?}").contains(KEY));
}

#[tokio::test]
async fn a_key_that_a_server_repeats_is_masked_in_what_is_kept() {
    let said = format!("{{\"content\":\"It is {KEY}.\"}}");
    let events = [
        format!(
            r#"{{"model":"small-{KEY}","choices":[{{"delta":{said},"finish_reason":"stop"}}]}}"#
        ),
        format!(
            r#"{{"choices":[],"usage":{{"prompt_tokens":5,"completion_tokens":2,"{KEY}":"{KEY}"}}}}"#
        ),
    ];
    let reply = ask(&OPENAI_COMPATIBLE, stream(&[&events[0], &events[1]]))
        .await
        .0
        .expect("a reply");
    assert_eq!(reply.text, "It is [key].");
    assert_eq!(reply.usage.input, 5);
    assert!(!format!("{reply:?}").contains(KEY), "{reply:?}");
}

#[tokio::test]
async fn a_part_of_the_key_in_a_servers_message_is_masked() {
    let part = &KEY[3..KEY.len() - 2];
    let error = json!({"message": format!("the key ...{part}... may not do this")});
    let (outcome, _) = ask(&OPENAI_COMPATIBLE, refusal(400, error)).await;
    assert_eq!(
        outcome,
        Err(ChatError::Rejected {
            message: "the key ...[key]... may not do this".to_owned()
        })
    );
}
