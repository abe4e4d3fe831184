//! Who answers behind a server: a model, or whoever plays one.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use serde_json::Value;

/// Whoever answers the requests of a server.
#[async_trait]
pub trait Responder: Send + Sync {
    /// The model that it is, as it is listed and as its answers name it.
    fn model(&self) -> &str;

    /// Whether it answers a request for that model.
    fn serves(&self, name: &str) -> bool;

    /// The context window that is listed, in tokens, if it is known.
    fn window(&self) -> Option<u32> {
        None
    }

    /// Answers a request of one of the interfaces.
    ///
    /// # Errors
    /// Why there is no answer.
    async fn answer(&self, posted: Posted) -> Result<ModelAnswer, ServerRefusal>;

    /// Answers what was posted to a path of no interface, if it knows the path.
    async fn other(&self, _path: &str, _body: &Value) -> Option<Value> {
        None
    }
}

/// A request as it came.
#[derive(Clone, Debug, PartialEq)]
pub struct Posted {
    /// What it asks.
    pub request: ChatRequest,
    /// Its whole body.
    pub body: Value,
}

/// An answer: what a model says, and the tools that it calls.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelAnswer {
    /// The text, and what it used.
    pub reply: ChatReply,
    /// The calls, in order.
    pub calls: Vec<Called>,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Its id.
    pub id: String,
    /// The tool, as the request names it; one of a namespace is `namespace.tool`.
    pub name: String,
    /// Its arguments, as JSON.
    pub arguments: String,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerRefusal {
    /// The model failed.
    Model(ChatError),
    /// The request is longer than the window.
    OverWindow {
        /// Tokens of the request.
        tokens: u32,
        /// Tokens of the window.
        window: u32,
    },
    /// Nobody knows what the request is for.
    Unknown(String),
}

/// A model behind a server. It calls no tools.
pub(super) struct OfModel(pub(super) Arc<dyn ChatModel>);

#[async_trait]
impl Responder for OfModel {
    fn model(&self) -> &str {
        self.0.name()
    }

    /// With or without its variant: `mock` for `mock:claude-code`.
    fn serves(&self, name: &str) -> bool {
        let own = self.0.name();
        name == own || own.split_once(':').is_some_and(|(kind, _)| name == kind)
    }

    async fn answer(&self, posted: Posted) -> Result<ModelAnswer, ServerRefusal> {
        let reply = self.0.complete(&posted.request).await;
        reply
            .map(|reply| ModelAnswer {
                reply,
                calls: Vec::new(),
            })
            .map_err(ServerRefusal::Model)
    }
}
