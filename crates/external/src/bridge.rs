//! The model of a program: a server on this machine whose requests go to whoever compacts at the
//! moment, and so through its meter.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use compactometer_models::server::{Server, ServerLimits};
use tokio::sync::{mpsc, oneshot};

use crate::process::{OpenCalls, ProcessEvent};

/// The name that the server serves. Which model is behind it is not the program's to know.
pub(crate) const NAME: &str = "compactometer";

struct Bridge {
    events: mpsc::UnboundedSender<ProcessEvent>,
    calls: OpenCalls,
}

#[async_trait]
impl ChatModel for Bridge {
    fn name(&self) -> &str {
        NAME
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let (answer, answered) = oneshot::channel();
        let gone = || ChatError::Unavailable {
            why: "the case has ended".to_owned(),
            later: false,
        };
        self.events
            .send(ProcessEvent::Request(Box::new(request.clone()), answer))
            .map_err(|_| gone())?;
        self.calls.fetch_add(1, Ordering::Relaxed);
        let outcome = answered.await;
        self.calls.fetch_sub(1, Ordering::Relaxed);
        outcome.unwrap_or_else(|_| Err(gone()))
    }
}

/// A running server, which ends when this is dropped.
pub(crate) struct Address {
    pub(crate) base_url: String,
    _stop: oneshot::Sender<()>,
}

/// Starts a server whose requests become events.
pub(crate) async fn serve(
    events: mpsc::UnboundedSender<ProcessEvent>,
    calls: OpenCalls,
) -> std::io::Result<Address> {
    let server = Server::bind(
        Arc::new(Bridge { events, calls }),
        0,
        ServerLimits::default(),
    )
    .await?;
    let base_url = format!("http://{}/v1", server.address());
    let (stop, stopped) = oneshot::channel();
    tokio::spawn(server.run(async move { drop(stopped.await) }));
    Ok(Address {
        base_url,
        _stop: stop,
    })
}
