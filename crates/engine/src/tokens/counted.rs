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
    ///
    /// ```
    /// use compactometer_engine::message::{Message, MessageId, Part, Role};
    /// use compactometer_engine::tokens::{CountedMessage, Encoding};
    ///
    /// let parts = vec![Part::Text { text: "How is the build?".into() }];
    /// let message = Message { id: MessageId(0), role: Role::User, at_ms: None, parts, usage: None };
    /// let counted = CountedMessage::new(message, &Encoding::O200k);
    /// assert!(counted.tokens > 4);
    /// ```
    pub fn new(message: Message, counter: &dyn TokenCounter) -> Arc<Self> {
        Arc::new(CountedMessage {
            tokens: counter.count_message(&message),
            message,
        })
    }
}
