//! A message and its tokens: each is counted once, when it is said.

use std::sync::Arc;

use crate::message::Message;
use crate::tokens::TokenCounter;

/// A message and its tokens. A log, its views and requests share one of each message.
#[derive(Clone, Debug)]
pub struct CountedMessage {
    /// The message.
    pub message: Message,
    /// Its tokens on the measuring scale.
    pub tokens: u32,
}

impl CountedMessage {
    /// The message, counted.
    pub fn new(message: Message, counter: &dyn TokenCounter) -> Arc<Self> {
        Arc::new(CountedMessage { tokens: counter.count_message(&message), message })
    }
}
