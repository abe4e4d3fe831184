//! The only way to a model: every call passes [`Metered`], which keeps its request, its outcome and
//! its purpose.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::message::Usage;
use crate::model::{ChatError, ChatModel, ChatReply, ChatRequest};

/// A model and the calls made to it.
pub struct Metered<'m> {
    model: &'m dyn ChatModel,
    /// Who counts the agent's next request.
    agent: &'m dyn ChatModel,
    seed: u64,
    meter: Mutex<Meter>,
}

#[derive(Default)]
struct Meter {
    usage: Usage,
    calls: Vec<Call>,
}

impl<'m> Metered<'m> {
    /// A meter without calls; `seed` is the sampling seed of every request made through it.
    pub fn new(model: &'m dyn ChatModel, seed: u64) -> Self {
        Metered {
            model,
            agent: model,
            seed,
            meter: Mutex::default(),
        }
    }

    /// The same, with recounts sent to the agent's model, where that is not the summarizer: what is
    /// counted is the agent's next request.
    #[must_use]
    pub fn recounting_with(self, agent: &'m dyn ChatModel) -> Self {
        Metered { agent, ..self }
    }

    /// The seed that a request should carry.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Sends a request and keeps it with its outcome. Who may need it once more shares it, since it
    /// is long and many may be under way at once.
    ///
    /// # Errors
    /// What the model returned; the failed call is kept too.
    pub async fn complete(
        &self,
        purpose: Purpose,
        request: impl Into<Arc<ChatRequest>>,
    ) -> Result<ChatReply, ChatError> {
        let request = request.into();
        let model = if purpose == Purpose::Recount {
            self.agent
        } else {
            self.model
        };
        let outcome = model.complete(&request).await;
        let mut meter = self.lock();
        match &outcome {
            Ok(reply) => {
                let Usage { input, output, .. } = reply.usage;
                tracing::debug!(?purpose, input, output, latency_ms = reply.latency_ms, finish = ?reply.finish, "call answered");
                meter.usage += reply.usage;
            }
            Err(why) => tracing::debug!(?purpose, %why, "call failed"),
        }
        meter.calls.push(Call {
            purpose,
            request,
            outcome: outcome.clone(),
        });
        outcome
    }

    /// What all calls used together, taken ones included.
    pub fn usage(&self) -> Usage {
        self.lock().usage
    }

    /// Takes the calls made since the last take, oldest first.
    pub fn take_calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.lock().calls)
    }

    fn lock(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One call to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What it was for; the model never sees this.
    pub purpose: Purpose,
    /// What was sent.
    pub request: Arc<ChatRequest>,
    /// What came back.
    pub outcome: Result<ChatReply, ChatError>,
}

/// What a call is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Writing a summary, with or without a checkpoint.
    Compaction,
    /// Writing a checkpoint before a turn.
    Checkpoint,
    /// Counting the next request by a minimal call.
    Recount,
    /// Answering a question of a measurement on a copy of the session.
    Probe,
    /// Judging such an answer.
    Judge,
}
