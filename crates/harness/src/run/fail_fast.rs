//! A model that fails at once after it could not be called. A case that met such a failure must not
//! be recorded.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};

use super::Models;

/// A model. Once a call could not reach it, every later call fails at once with the same words.
struct FailFast<'m> {
    model: &'m dyn ChatModel,
    stopped: Arc<OnceLock<Stopped>>,
}

/// A model that cannot be called. Finished cases are kept, and the same command resumes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Stopped {
    /// What happened, and what to do.
    pub why: String,
    /// Whether the failure may pass by itself.
    pub later: bool,
}

/// The models of a case, which fail together: answers are worthless without the case's summaries.
pub struct FailFastModels<'m> {
    target: FailFast<'m>,
    summarizer: Option<FailFast<'m>>,
    checkpointer: Option<FailFast<'m>>,
    judge: Option<FailFast<'m>>,
}

impl<'m> FailFastModels<'m> {
    /// Wraps the models.
    pub fn new(models: Models<'m>) -> Self {
        let stopped = Arc::default();
        let wrapped = |model| FailFast {
            model,
            stopped: Arc::clone(&stopped),
        };
        FailFastModels {
            target: wrapped(models.target),
            summarizer: models.summarizer.map(wrapped),
            checkpointer: models.checkpointer.map(wrapped),
            judge: models.judge.map(wrapped),
        }
    }

    /// The wrapped models.
    pub fn models(&self) -> Models<'_> {
        Models {
            target: &self.target,
            summarizer: self.summarizer.as_ref().map(FailFast::as_model),
            checkpointer: self.checkpointer.as_ref().map(FailFast::as_model),
            judge: self.judge.as_ref().map(FailFast::as_model),
        }
    }

    /// Whether every call so far reached its model.
    ///
    /// # Errors
    /// The first failure.
    pub fn check(&self) -> Result<(), Stopped> {
        self.target.stopped.get().cloned().map_or(Ok(()), Err)
    }
}

impl FailFast<'_> {
    fn as_model(&self) -> &dyn ChatModel {
        self
    }
}

#[async_trait]
impl ChatModel for FailFast<'_> {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        if let Some(Stopped { why, later }) = self.stopped.get().cloned() {
            return Err(ChatError::Unavailable { why, later });
        }
        let outcome = self.model.complete(request).await;
        if let Err(ChatError::Unavailable { why, later }) = &outcome {
            // If two calls failed at the same time, either failure would do.
            let _ = self.stopped.set(Stopped {
                why: why.clone(),
                later: *later,
            });
        }
        outcome
    }
}
