//! The server's readers of requests: a refusal says what is wrong. An accepted request survives a
//! round trip, and the mock answers it.

use compactometer_engine::model::ChatRequest;
use compactometer_models::server::fuzzing;
use serde_json::Value;

use super::mock;

pub(super) fn run(data: &[u8]) -> bool {
    let accepted = fuzzing::requests(data).filter(|outcome| is_accepted(outcome.as_ref()));
    accepted.count() > 0
}

fn is_accepted(outcome: Result<&ChatRequest, &Value>) -> bool {
    match outcome {
        Ok(request) => {
            let written = serde_json::to_string(request).expect("a request is JSON");
            assert_eq!(
                &serde_json::from_str::<ChatRequest>(&written).expect("it reads back"),
                request
            );
            mock::answers(request);
            true
        }
        Err(trouble) => {
            let (message, place) = (
                trouble["error"]["message"].as_str(),
                trouble["error"]["param"].as_str(),
            );
            let is_named =
                message.is_some_and(|message| message.contains("JSON") || place.is_some());
            assert!(is_named, "no place: {trouble}");
            false
        }
    }
}
