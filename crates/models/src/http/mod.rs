//! Models behind HTTP: one thin client for three wire formats, OpenAI's chat completions and
//! responses, and Anthropic's messages.
//!
//! Absent on purpose: tools that run, files, and any provider's own extras. A key comes from the
//! environment, goes into one header and is nowhere else.

mod account;
pub(crate) mod endpoint;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod probe;
mod reply;
mod retry;
mod sse;
mod transfer;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use tokio::runtime::Runtime;

pub use account::Account;
pub use endpoint::{Endpoint, EndpointError};
use error::CallError;
pub use probe::ServerInfo;
use retry::Pace;
pub use transfer::TransferLimits;
use transfer::{Failed, Transfer};

use crate::cost_limit::REPLY_AT_MOST;
use crate::providers::{self, Provider};
use crate::{ModelError, Opening};

/// Where a model's requests go, and as whom its answers are in records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// The model's name in records.
    pub name: String,
    /// Host and port.
    pub host: String,
    /// Whether the host is this machine.
    pub is_here: bool,
    /// Whether this is the provider's own service, which bills every call.
    pub is_provider: bool,
}

/// Who receives the requests of the model of that name; nobody where it answers in the process or
/// from a recording.
///
/// # Errors
/// [`EndpointError`] where an address cannot be used. A missing key is none.
pub fn receiver(spec: &str) -> Result<Option<Receiver>, EndpointError> {
    let Some((provider, spec)) = provider_of(spec) else {
        return Ok(None);
    };
    let endpoint = Endpoint::keyless(provider, spec)?;
    let is_here = endpoint::is_loopback(&endpoint.url);
    let is_provider = endpoint.is_providers_own();
    Ok(Some(Receiver {
        name: endpoint.name().to_owned(),
        host: endpoint.host(),
        is_here,
        is_provider,
    }))
}

/// A client of the model of that name, to ask its server how things stand; none where it answers in
/// the process or from a recording.
///
/// # Errors
/// [`EndpointError`] where the address cannot be used, or the key is missing.
pub fn client_of(spec: &str, limits: TransferLimits) -> Result<Option<Client>, EndpointError> {
    let Some((provider, spec)) = provider_of(spec) else {
        return Ok(None);
    };
    Client::new(Endpoint::with_key(provider, spec)?, limits).map(Some)
}

/// Whether the model of that name is behind HTTP.
pub(crate) fn is_served(spec: &str) -> bool {
    provider_of(spec).is_some()
}

/// A model's provider, and what follows it in the model's name; faults after it do not count.
fn provider_of(spec: &str) -> Option<(&'static Provider, &str)> {
    let (name, spec) = crate::split(spec).0.split_once(':')?;
    Some((providers::by_name(name)?, spec))
}

/// The model of a provider that is named so.
pub(crate) fn open(
    provider: &'static Provider,
    spec: &str,
    opening: &Opening<'_>,
) -> Result<Box<dyn ChatModel>, ModelError> {
    let mut limits = TransferLimits {
        requests_a_minute: opening.requests_a_minute,
        ..TransferLimits::default()
    };
    if let Some(patience) = opening.call_timeout {
        limits.whole = patience;
        limits.silence = limits.silence.min(patience);
    }
    let client = Client::new(Endpoint::with_key(provider, spec)?, limits)?;
    Ok(Box::new(client.with_account(Account {
        limit: opening.cost_limit.clone(),
        journal: opening.journal.clone(),
    })))
}

/// A model behind HTTP. It has a thread of its own, so that callers on any runtime may share it.
pub struct Client {
    line: Arc<HttpCall>,
    account: Account,
    runtime: Option<Runtime>,
}

/// What a call needs.
struct HttpCall {
    endpoint: Endpoint,
    transfer: Transfer,
    pace: Pace,
    limits: TransferLimits,
    /// Parameters that the model has rejected.
    omitted: Mutex<BTreeSet<&'static str>>,
}

impl Client {
    /// A client of that endpoint. Nothing is sent yet.
    ///
    /// # Errors
    /// [`EndpointError`] where the key cannot be in a header, or no thread can be had.
    pub fn new(endpoint: Endpoint, limits: TransferLimits) -> Result<Self, EndpointError> {
        let transfer = Transfer::new(&endpoint, limits)?;
        // Last, since one that is dropped on an error inside another runtime would panic.
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| EndpointError::client(&error))?;
        Ok(Client {
            line: Arc::new(HttpCall {
                endpoint,
                transfer,
                pace: Pace::new(limits.requests_a_minute),
                limits,
                omitted: Mutex::default(),
            }),
            account: Account::default(),
            runtime: Some(runtime),
        })
    }

    /// The same client, which keeps an account of its tries.
    #[must_use]
    pub fn with_account(mut self, account: Account) -> Self {
        self.account = account;
        self
    }

    /// Asks the server whether it knows the model. Nothing is generated or billed.
    ///
    /// # Errors
    /// [`ChatError::Unavailable`] where the server cannot be asked, with what to do.
    pub async fn probe(&self) -> Result<ServerInfo, ChatError> {
        let line = Arc::clone(&self.line);
        let probed = self.on_thread(async move {
            let told = line.probe().await;
            told.map_err(|error| {
                error
                    .with(|words| line.endpoint.without_key_parts(words))
                    .into()
            })
        });
        probed.await
    }

    /// What is done on the client's own thread.
    async fn on_thread<T: Send + 'static>(
        &self,
        doing: impl Future<Output = Result<T, ChatError>> + Send + 'static,
    ) -> Result<T, ChatError> {
        let gone = || {
            CallError::Stop {
                why: "the client's thread has ended".to_owned(),
                later: true,
            }
            .into()
        };
        let Some(runtime) = &self.runtime else {
            return Err(gone());
        };
        runtime.spawn(doing).await.unwrap_or_else(|_| Err(gone()))
    }
}

#[async_trait]
impl ChatModel for Client {
    fn name(&self) -> &str {
        self.line.endpoint.name()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let line = Arc::clone(&self.line);
        let own = line.endpoint.provider.compaction.as_ref();
        if request.has_sealed() && !own.is_some_and(|own| own.is_sealed) {
            return Err(ChatError::unreadable());
        }
        let request = match own {
            Some(_) => request.clone(),
            None => request.with_compaction_asked().into_owned(),
        };
        let account = self.account.clone();
        self.on_thread(async move { line.ask(&request, &account).await })
            .await
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // A runtime that is dropped inside another one panics; this way of ending it does not.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl HttpCall {
    async fn ask(&self, request: &ChatRequest, account: &Account) -> Result<ChatReply, ChatError> {
        let provider = self.endpoint.provider;
        let (mut body, mut omitted) = self.body(request);
        let mut failed = 0;
        let own = provider.compaction.as_ref();
        let own = own.filter(|_| request.compaction.is_some());
        loop {
            self.pace.turn().await;
            let tried = account.enter(self.endpoint.name(), request)?;
            let most = request.max_output_tokens.unwrap_or(REPLY_AT_MOST);
            let error = match self.transfer.send(&body, most, own).await {
                Ok((answer, times)) => {
                    let answer = answer.masked(&self.endpoint);
                    let lacks_summary = request.compaction.is_some() && !answer.is_compacted;
                    let reply = answer.into_reply(provider, request, times, omitted);
                    account.answered(tried, &reply)?;
                    return match lacks_summary {
                        true => Err(not_compacted(provider)),
                        false => Ok(reply),
                    };
                }
                Err(Failed { error, is_sent }) => {
                    let error = error.with(|words| self.endpoint.without_key_parts(words));
                    account.failed(tried, &error, is_sent)?;
                    error
                }
            };
            let (why, after_ms) = match error {
                CallError::Again { why, after_ms } => (why, after_ms),
                CallError::Parameter(name, why) if !omitted.contains(&name) => {
                    tracing::warn!(%why, name, "the model does not take this parameter; asking without it");
                    self.omitted().insert(name);
                    (body, omitted) = self.body(request);
                    continue;
                }
                error => return Err(error.into()),
            };
            failed += 1;
            let Some(wait) = self.limits.wait(failed, after_ms) else {
                return Err(given_up(why, failed, after_ms).into());
            };
            tracing::warn!(%why, wait_ms = wait.as_millis() as u64, "asking again");
            tokio::time::sleep(wait).await;
        }
    }
}

impl HttpCall {
    /// The body without parameters that the model does not take, and the names of those left out.
    fn body(&self, request: &ChatRequest) -> (String, Vec<&'static str>) {
        let mut body = self.endpoint.provider.body(request, &self.endpoint.model);
        let mut omitted = Vec::new();
        if let Some(body) = body.as_object_mut() {
            omitted.extend(
                self.omitted()
                    .iter()
                    .filter(|name| body.shift_remove(**name).is_some()),
            );
        }
        (body.to_string(), omitted)
    }

    fn omitted(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.omitted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was answered in place of a summary is worth nothing, though it is paid for.
fn not_compacted(provider: &Provider) -> ChatError {
    let least = provider
        .compaction
        .as_ref()
        .map_or(0, |own| own.from_tokens);
    let message = format!(
        "{} wrote no summary; it compacts chats of {least} tokens or more",
        provider.name
    );
    ChatError::Refused { message }
}

fn given_up(why: String, failed: u32, after_ms: Option<u64>) -> CallError {
    let wait = after_ms.map_or(String::new(), |ms| {
        format!("; it asks to wait {} s", ms.div_ceil(1_000))
    });
    CallError::Stop {
        why: format!("given up after {failed} tries: {why}{wait}"),
        later: true,
    }
}
