//! A way in for the fuzz targets: an answer's bytes, without the server that sends them. No interface of this crate; it may change at
//! any time.

use compactometer_engine::model::{ChatError, ChatReply, ChatRequest};

use super::Api;
use super::answer::{Answer, Times};
use super::sse::Events;
use super::trouble::Trouble;

/// The data of each event in a stream that comes in these pieces.
pub fn events(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut events = Events::default();
    pieces.iter().flat_map(|piece| events.push(piece)).collect()
}

/// What is made of a stream that comes in these pieces.
///
/// # Errors
/// As of a call.
pub fn reply(api: Api, pieces: &[&[u8]], request: &ChatRequest) -> Result<ChatReply, ChatError> {
    let read = || {
        let mut answer = Answer::default();
        events(pieces).iter().try_for_each(|data| answer.take(api, data))?;
        answer.check().map(|()| answer)
    };
    let answer: Result<Answer, Trouble> = read();
    Ok(answer?.into_reply(api, request, Times::default(), Vec::new()))
}
