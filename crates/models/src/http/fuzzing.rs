//! An entry for fuzz targets: the bytes of an answer without a server. It is not part of the
//! crate's interface and may change at any time.

use compactometer_engine::model::{ChatError, ChatReply, ChatRequest};

use super::error::CallError;
use super::reply::Times;
use super::sse::Events;
use crate::providers::{AnswerSoFar, Provider};

/// The data of each event in a stream in these pieces.
pub fn events(pieces: &[&[u8]]) -> Vec<Vec<u8>> {
    let mut events = Events::default();
    pieces.iter().flat_map(|piece| events.push(piece)).collect()
}

/// The reply that is read from a stream in these pieces.
///
/// # Errors
/// Those of a call.
pub fn reply(
    provider: &Provider,
    pieces: &[&[u8]],
    request: &ChatRequest,
) -> Result<ChatReply, ChatError> {
    let read = || {
        let mut answer = AnswerSoFar::default();
        events(pieces)
            .iter()
            .try_for_each(|data| answer.take(provider, data))?;
        answer.check().map(|()| answer)
    };
    let answer: Result<AnswerSoFar, CallError> = read();
    Ok(answer?.into_reply(provider, request, Times::default(), Vec::new()))
}
