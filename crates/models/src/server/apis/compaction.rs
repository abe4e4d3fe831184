//! Compaction by a server: a chat's messages become one summary, which later requests bring back.
//!
//! Absent on purpose: how a model writes the summary, which is its provider's.

use compactometer_engine::message::{Part, Role};
use compactometer_engine::model::{ChatRequest, ServerCompaction};
use compactometer_engine::tokens::Encoding;

/// What a client asks of a server that compacts before it answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::server) struct AskedCompaction {
    /// Compacts a request of so many tokens or more.
    pub(super) from_tokens: u32,
    /// What to ask for beside the usual sentences.
    pub(super) instructions: Option<String>,
    /// Whether the answer is the summary, and the client asks again.
    pub(in crate::server) is_paused: bool,
}

impl From<u32> for AskedCompaction {
    fn from(from_tokens: u32) -> Self {
        AskedCompaction {
            from_tokens,
            instructions: None,
            is_paused: false,
        }
    }
}

impl AskedCompaction {
    /// The request for a summary, if a request is long enough.
    pub(in crate::server) fn of(&self, request: &ChatRequest) -> Option<ChatRequest> {
        let is_due = request.tokens(&Encoding::O200k) >= self.from_tokens;
        is_due.then(|| summary_of(request, self.instructions.clone()))
    }
}

/// The request for a summary of what a request says.
pub(super) fn summary_of(request: &ChatRequest, instructions: Option<String>) -> ChatRequest {
    ChatRequest {
        tools: Vec::new(),
        schema: None,
        compaction: Some(ServerCompaction { instructions }),
        ..request.clone()
    }
}

/// The request with the summary in place of its messages.
pub(in crate::server) fn compacted(mut request: ChatRequest, summary: &str) -> ChatRequest {
    request
        .messages
        .retain(|message| message.role == Role::System);
    let text = summary.to_owned();
    let summary = super::message(Role::User, vec![Part::Text { text }]);
    request.messages.push(summary);
    request
}
