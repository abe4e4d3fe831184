//! The mock on an arbitrary request: it answers within the limit, and its caches do not change the
//! answer.

use std::cell::RefCell;
use std::task::{Context, Poll, Waker};

use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_simulator::mock::Mock;
use compactometer_simulator::profile;

thread_local! {
    /// Mocks with caches filled by this thread's earlier inputs.
    static WARM: RefCell<Vec<Mock>> =
        RefCell::new(profile::ALL.iter().map(|profile| Mock::new((*profile).clone())).collect());
}

pub(super) fn run(data: &[u8]) -> bool {
    let request = serde_json::from_slice::<ChatRequest>(data);
    request.is_ok_and(|request| {
        answers(&request);
        true
    })
}

/// The seed determines the profile, so that each input needs only one.
pub(super) fn answers(request: &ChatRequest) {
    let number = (request.seed % profile::ALL.len() as u64) as usize;
    let profile = profile::ALL[number];
    let reply = reply(&Mock::new(profile.clone()), request);
    let again = WARM.with_borrow(|mocks| self::reply(&mocks[number], request));
    assert_eq!(reply, again, "{}: a cache changes the reply", profile.name);
    // A fault may change the text after it is counted.
    if profile.faults.value.is_empty() {
        let tokens = Encoding::O200k.count_text(&reply.text);
        assert_eq!(reply.usage.output, u64::from(tokens), "{}", profile.name);
        assert!(
            request.max_output_tokens.is_none_or(|most| tokens <= most),
            "{} of {:?}",
            tokens,
            request.max_output_tokens
        );
    }
    assert!(reply.finish != Finish::Length || request.max_output_tokens.is_some());
}

fn reply(mock: &Mock, request: &ChatRequest) -> ChatReply {
    ready(mock, request).expect("the mock answers")
}

/// The answer of a model that never waits.
pub(super) fn ready(model: &dyn ChatModel, request: &ChatRequest) -> Result<ChatReply, ChatError> {
    match model
        .complete(request)
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("`{}` waits", model.name()),
    }
}
