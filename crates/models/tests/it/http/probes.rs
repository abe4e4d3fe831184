//! What a server says of its models, asked without a call.

use compactometer_engine::model::ChatError;
use compactometer_models::http::ServerInfo;
use compactometer_models::providers::{ANTHROPIC, OPENAI, OPENAI_COMPATIBLE, Provider};
use serde_json::json;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use super::{KEY, client};

/// What comes of greeting a server that answers so at that path, and with 404 elsewhere.
async fn greet(
    provider: &'static Provider,
    at: &str,
    answer: ResponseTemplate,
) -> Result<ServerInfo, ChatError> {
    let server = MockServer::start().await;
    Mock::given(method("GET"))
        .and(path(at))
        .respond_with(answer)
        .mount(&server)
        .await;
    let greeted = client(provider, &server.uri()).probe().await;
    assert_eq!(server.received_requests().await.expect("kept").len(), 1);
    greeted
}

fn listing(names: &[&str]) -> ResponseTemplate {
    let rows = names
        .iter()
        .map(|name| json!({"id": name, "object": "model"}))
        .collect::<Vec<_>>();
    ResponseTemplate::new(200).set_body_json(json!({"object": "list", "data": rows}))
}

#[tokio::test]
async fn a_list_tells_whether_the_model_is_there_and_the_header_what_time_it_is() {
    let dated = listing(&["small", "large"]).insert_header("date", "Thu, 01 Jan 1970 00:01:00 GMT");
    let found = greet(&OPENAI_COMPATIBLE, "/v1/models", dated)
        .await
        .expect("an answer");
    assert_eq!(
        (found.knows_model, found.models),
        (Some(true), vec!["small".to_owned(), "large".to_owned()])
    );
    let date = found
        .date
        .expect("a date")
        .duration_since(std::time::UNIX_EPOCH)
        .expect("after the epoch");
    assert_eq!(date.as_secs(), 60);
    let other = greet(&OPENAI_COMPATIBLE, "/v1/models", listing(&["large"]))
        .await
        .expect("an answer");
    assert_eq!(other.knows_model, Some(false));
    let silent = greet(&OPENAI_COMPATIBLE, "/elsewhere", listing(&["small"]))
        .await
        .expect("no list is an answer");
    assert_eq!(silent.knows_model, None);
}

#[tokio::test]
async fn providers_are_asked_for_the_one_model() {
    // A gateway that speaks Anthropic's format need not list its models.
    for (provider, absent) in [(&OPENAI, Some(false)), (&ANTHROPIC, None)] {
        let known = greet(provider, "/v1/models/small", ResponseTemplate::new(200))
            .await
            .expect("an answer");
        assert_eq!(known.knows_model, Some(true));
        let unknown = greet(provider, "/v1/models/other", ResponseTemplate::new(200))
            .await
            .expect("an answer");
        assert_eq!(unknown.knows_model, absent);
    }
}

#[tokio::test]
async fn a_refused_key_is_told_without_it() {
    let answer = ResponseTemplate::new(401)
        .set_body_json(json!({"error": {"message": format!("bad key {KEY}")}}));
    let Err(ChatError::Unavailable { why, later }) =
        greet(&OPENAI, "/v1/models/small", answer).await
    else {
        panic!("refused");
    };
    assert!(
        !later && why.contains("COMPACTOMETER_API_KEY") && !why.contains(KEY),
        "{why}"
    );
}
