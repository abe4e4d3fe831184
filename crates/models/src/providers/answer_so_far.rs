//! What has been read of an answer.

use compactometer_engine::model::Finish;
use serde_json::Value;

/// What has come of an answer.
#[derive(Debug, Default)]
pub(crate) struct AnswerSoFar {
    pub(crate) text: String,
    pub(crate) finish: Option<Finish>,
    /// The model that the server says it is.
    pub(crate) model: Option<String>,
    /// The usage, as the server writes it.
    pub(crate) usage: Option<Value>,
    /// Whether anything has been generated, reasoning included.
    pub(crate) began: bool,
    /// Whether what comes is the input of the tool that the reply is asked for through.
    pub(crate) writes_reply: bool,
    /// Whether the text is the summary of a compaction.
    pub(crate) is_compacted: bool,
    /// Whether only the provider's models read the text.
    pub(crate) is_sealed: bool,
    /// Whether the server said that this is all.
    pub(crate) ended: bool,
}
