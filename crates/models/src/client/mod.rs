//! Models behind HTTP: one thin client for two wire formats, OpenAI's chat completions and Anthropic's messages.
//!
//! Absent on purpose: tools that run, files, and any provider's own extras. A key comes from the environment, goes into one
//! header and stands nowhere else.

mod answer;
mod anthropic;
#[doc(hidden)]
pub mod fuzzing;
mod greeting;
mod http;
mod openai;
mod patience;
pub(crate) mod place;
mod portable;
mod sse;
mod trouble;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use serde_json::Value;
use tokio::runtime::Runtime;

pub use greeting::Greeting;
use http::Http;
pub use http::Limits;
use patience::Pace;
pub use place::{Api, Place, PlaceError};
use trouble::Trouble;

use crate::{Form, ModelError, ModelKind, Opening};

/// OpenAI's own service.
pub(crate) const OPENAI: ModelKind = ModelKind {
    name: "openai",
    about: "OpenAI's chat completions; key in OPENAI_API_KEY",
    form: Form::Free { form: "MODEL", build: |model, opening| by_place(Place::named(Api::OpenAi, model), opening) },
};

/// Anthropic's own service, or another server that speaks its format.
pub(crate) const ANTHROPIC: ModelKind = ModelKind {
    name: "anthropic",
    about: "Anthropic's messages; key in ANTHROPIC_API_KEY, for another URL in COMPACTOMETER_API_KEY if it needs one",
    form: Form::Free {
        form: "MODEL[@URL]",
        build: |spec, opening| by_place(Place::named(Api::Anthropic, spec), opening),
    },
};

/// Any other server that speaks chat completions.
pub(crate) const COMPATIBLE: ModelKind = ModelKind {
    name: "openai-compatible",
    about: "a server that speaks chat completions (llama.cpp, vLLM, Ollama, OpenRouter); key, where it wants one, in COMPACTOMETER_API_KEY",
    form: Form::Free {
        form: "MODEL@URL",
        build: |spec, opening| by_place(Place::named(Api::Compatible, spec), opening),
    },
};

/// Where a model's requests go, and as whom its answers stand in records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receiver {
    /// The model's name in records.
    pub name: String,
    /// Host and port.
    pub host: String,
    /// Whether the host is this machine.
    pub is_here: bool,
    /// Whether it is the provider itself, which bills every call.
    pub is_provider: bool,
}

/// Who receives the requests of a model named so, without faults after its name; nobody where it answers in the process.
///
/// # Errors
/// [`PlaceError`] where the address cannot be used. A missing key is none.
pub fn receiver(plain: &str) -> Result<Option<Receiver>, PlaceError> {
    let Some((api, spec)) = api_of(plain) else { return Ok(None) };
    let place = Place::keyless(api, spec)?;
    let is_here = place::is_loopback(&place.url);
    let name = place.name().to_owned();
    // A name with an address is a server of somebody's own.
    let is_provider = !name.contains('@');
    Ok(Some(Receiver { name, host: place.host(), is_here, is_provider }))
}

/// A client of the model named so, without faults after its name; none where it answers in the process.
///
/// # Errors
/// [`PlaceError`] where the address cannot be used, or the key is missing.
pub fn client(plain: &str, limits: Limits) -> Result<Option<Client>, PlaceError> {
    let Some((api, spec)) = api_of(plain) else { return Ok(None) };
    Client::new(Place::named(api, spec)?, limits).map(Some)
}

/// The wire format of a model's kind, and what follows the kind.
fn api_of(plain: &str) -> Option<(Api, &str)> {
    let (kind, spec) = plain.split_once(':')?;
    let kinds = [(&OPENAI, Api::OpenAi), (&ANTHROPIC, Api::Anthropic), (&COMPATIBLE, Api::Compatible)];
    let (_, api) = kinds.into_iter().find(|(known, _)| known.name == kind)?;
    Some((api, spec))
}

fn by_place(place: Result<Place, PlaceError>, opening: &Opening<'_>) -> Result<Box<dyn ChatModel>, ModelError> {
    let limits = Limits { requests_a_minute: opening.requests_a_minute, ..Limits::default() };
    Ok(Box::new(Client::new(place?, limits)?))
}

/// A model behind HTTP. It has a thread of its own, so that callers on any runtime may share it.
pub struct Client {
    line: Arc<Line>,
    runtime: Option<Runtime>,
}

/// What a call needs.
struct Line {
    place: Place,
    http: Http,
    pace: Pace,
    limits: Limits,
    /// Parameters that the model has rejected.
    omitted: Mutex<BTreeSet<&'static str>>,
}

impl Client {
    /// A client of that place. Nothing is sent yet.
    ///
    /// # Errors
    /// [`PlaceError`] where the key cannot stand in a header, or no thread can be had.
    pub fn new(place: Place, limits: Limits) -> Result<Self, PlaceError> {
        let http = Http::new(&place, limits)?;
        // Last, since one that is dropped on an error inside another runtime would panic.
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| PlaceError::Client(error.to_string()))?;
        Ok(Client {
            line: Arc::new(Line {
                place,
                http,
                pace: Pace::new(limits.requests_a_minute),
                limits,
                omitted: Mutex::default(),
            }),
            runtime: Some(runtime),
        })
    }

    /// Asks the server whether it knows the model. Nothing is generated or billed.
    ///
    /// # Errors
    /// [`ChatError::Unavailable`] where the server cannot be asked, with what to do.
    pub async fn greet(&self) -> Result<Greeting, ChatError> {
        let line = Arc::clone(&self.line);
        let greeted = self.on_thread(async move {
            let told = line.greet().await;
            told.map_err(|trouble| trouble.with(|words| line.place.without_key_parts(words)).into())
        });
        greeted.await
    }

    /// What is done on the client's own thread.
    async fn on_thread<T: Send + 'static>(
        &self,
        doing: impl Future<Output = Result<T, ChatError>> + Send + 'static,
    ) -> Result<T, ChatError> {
        let gone = || Trouble::Stop { why: "the client's thread has ended".to_owned(), later: true }.into();
        let Some(runtime) = &self.runtime else { return Err(gone()) };
        runtime.spawn(doing).await.unwrap_or_else(|_| Err(gone()))
    }
}

#[async_trait]
impl ChatModel for Client {
    fn name(&self) -> &str {
        self.line.place.name()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let (line, request) = (Arc::clone(&self.line), request.clone());
        self.on_thread(async move { line.ask(&request).await }).await
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

impl Api {
    /// The JSON body that asks a model for the request's completion.
    pub fn body(self, request: &ChatRequest, model: &str) -> Value {
        match self {
            Api::OpenAi | Api::Compatible => openai::body(request, model, self),
            Api::Anthropic => anthropic::body(request, model),
        }
    }
}

impl Line {
    async fn ask(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let api = self.place.api;
        let (mut body, mut omitted) = self.body(request);
        let mut failed = 0;
        loop {
            self.pace.turn().await;
            let sent = self.http.send(api, &body).await;
            let (why, after_ms) = match sent
                .map_err(|trouble| trouble.with(|words| self.place.without_key_parts(words)))
            {
                Ok((answer, times)) => return Ok(answer.masked(&self.place).into_reply(api, request, times, omitted)),
                Err(Trouble::Again { why, after_ms }) => (why, after_ms),
                Err(Trouble::Parameter(name, why)) if !omitted.contains(&name) => {
                    tracing::warn!(%why, name, "the model does not take this parameter; asking without it");
                    self.omitted().insert(name);
                    (body, omitted) = self.body(request);
                    continue;
                }
                Err(trouble) => return Err(trouble.into()),
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

impl Line {
    /// The body without parameters that the model does not take, and the names of those left out.
    fn body(&self, request: &ChatRequest) -> (String, Vec<&'static str>) {
        let mut body = self.place.api.body(request, &self.place.model);
        let mut omitted = Vec::new();
        if let Some(body) = body.as_object_mut() {
            omitted.extend(self.omitted().iter().filter(|name| body.shift_remove(**name).is_some()));
        }
        (body.to_string(), omitted)
    }

    fn omitted(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.omitted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn given_up(why: String, failed: u32, after_ms: Option<u64>) -> Trouble {
    let wait = after_ms.map_or(String::new(), |ms| format!("; it asks to wait {} s", ms.div_ceil(1_000)));
    Trouble::Stop { why: format!("given up after {failed} tries: {why}{wait}"), later: true }
}
