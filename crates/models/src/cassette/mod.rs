//! Recorded calls: what a model answered once, it answers again, free and the same.
//!
//! A call is found by its model's name and its request, seed included. Absent on purpose: headers,
//! keys, addresses, and failures that may pass; if the model refuses a request for its text, that
//! is an answer and is kept. Nothing paid for is paid again, so recording and filling gaps are one
//! mode; to record again, remove the calls. A request that was rejected for its form cost nothing,
//! and a server may take it later: a recording asks again, and an answer replaces the rejection.

mod call;
mod file;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use compactometer_engine::message::Usage;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};

use call::{CallOutcome, RecordedCall};
pub use file::CassetteError;
use file::Tape;

use crate::{KindForm, ModelKind, providers};

/// A folder of recorded calls, replayed.
pub(crate) const KIND: ModelKind = ModelKind {
    name: "cassette",
    about: "recorded calls of one model, replayed without a server; `--record DIR` beside another model makes one",
    form: KindForm::Free {
        form: "DIR",
        build: |folder, _| Ok(Box::new(Cassette::replaying(Path::new(folder))?)),
    },
};

/// The folder of a cassette, where the model's name is one's; faults after it do not count.
pub fn folder(spec: &str) -> Option<&Path> {
    crate::split(spec)
        .0
        .strip_prefix(KIND.name)?
        .strip_prefix(':')
        .map(Path::new)
}

/// Recorded calls of one model, with or without the model itself.
pub struct Cassette {
    folder: PathBuf,
    name: String,
    /// The model and the file to which its answers go; none where calls are only replayed.
    live: Option<(Box<dyn ChatModel>, Mutex<Tape>)>,
    calls: Mutex<HashMap<String, CallOutcome>>,
    missed: AtomicUsize,
}

/// A call that was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Names model and request.
    pub key: String,
    /// The model's name in records.
    pub model: String,
    /// Its tokens.
    pub usage: Usage,
}

impl Cassette {
    /// Replays a folder's calls. Its name is that of the model whose calls they are.
    ///
    /// # Errors
    /// [`CassetteError`] where the folder cannot be read, or holds no calls or those of several
    /// models.
    pub fn replaying(folder: &Path) -> Result<Self, CassetteError> {
        let calls = file::read(folder)?;
        let mut models = calls
            .iter()
            .map(|call| call.model.as_str())
            .collect::<Vec<_>>();
        models.sort_unstable();
        models.dedup();
        let shown = folder.display();
        let what = match models.as_slice() {
            [model] => {
                let name = (*model).to_owned();
                return Ok(Self::new(folder, name, None, calls));
            }
            [] => format!(
                "`{shown}` holds no recorded calls; record some with `--model MODEL --record {shown}`"
            ),
            _ => format!(
                "`{shown}` holds calls of several models (`{}`); keep each model's calls in a folder of its own",
                models.join("`, `")
            ),
        };
        Err(CassetteError::Folder(what))
    }

    /// Answers with a folder's calls where it has them, or those of earlier folders, else with the
    /// model, and keeps its answer in the folder.
    ///
    /// # Errors
    /// [`CassetteError`] where the folder cannot be read or written, or another process records
    /// there.
    pub fn recording(
        folder: &Path,
        earlier: &[PathBuf],
        model: Box<dyn ChatModel>,
    ) -> Result<Self, CassetteError> {
        let tape = Tape::open(folder)?;
        let mut calls = Vec::new();
        for folder in earlier
            .iter()
            .map(PathBuf::as_path)
            .filter(|folder| folder.exists())
            .chain([folder])
        {
            calls.extend(file::read(folder)?);
        }
        Ok(Self::new(
            folder,
            model.name().to_owned(),
            Some((model, Mutex::new(tape))),
            calls,
        ))
    }

    /// The replies of that model that a folder holds: what was paid for. None where there is no
    /// such folder.
    ///
    /// # Errors
    /// [`CassetteError`] where the folder cannot be read.
    pub fn replies(folder: &Path, model: &str) -> Result<Vec<ChatReply>, CassetteError> {
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let calls = file::read(folder)?
            .into_iter()
            .filter(|call| call.model == model);
        let reply = |call: RecordedCall| match call.outcome {
            CallOutcome::Reply(reply) => Some(reply),
            CallOutcome::Refused(_) | CallOutcome::Rejected(_) => None,
        };
        Ok(calls.filter_map(reply).collect())
    }

    /// The calls of a folder that were answered. None where there is no such folder.
    ///
    /// # Errors
    /// [`CassetteError`] where the folder cannot be read.
    pub fn answered(folder: &Path) -> Result<Vec<Answered>, CassetteError> {
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let answered = |RecordedCall {
                            key,
                            model,
                            outcome,
                            ..
                        }| match outcome {
            CallOutcome::Reply(reply) => Some(Answered {
                key,
                model,
                usage: reply.usage,
            }),
            CallOutcome::Refused(_) | CallOutcome::Rejected(_) => None,
        };
        Ok(file::read(folder)?
            .into_iter()
            .filter_map(answered)
            .collect())
    }

    fn new(
        folder: &Path,
        name: String,
        live: Option<(Box<dyn ChatModel>, Mutex<Tape>)>,
        calls: Vec<RecordedCall>,
    ) -> Self {
        let mut kept = HashMap::new();
        for call in calls.into_iter().filter(|call| call.model == name) {
            let outcome = kept.entry(call.key).or_insert_with(|| call.outcome.clone());
            if matches!(outcome, CallOutcome::Rejected(_)) {
                *outcome = call.outcome;
            }
        }
        Cassette {
            folder: folder.to_owned(),
            name,
            live,
            calls: Mutex::new(kept),
            missed: AtomicUsize::new(0),
        }
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<String, CallOutcome>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the outcome answers a repeated request.
    fn is_final(&self, outcome: &CallOutcome) -> bool {
        self.live.is_none() || !matches!(outcome, CallOutcome::Rejected(_))
    }

    fn missed(&self) -> ChatError {
        let missed = 1 + self.missed.fetch_add(1, Ordering::Relaxed);
        let (folder, name) = (self.folder.display(), &self.name);
        let provider = name
            .split_once(':')
            .and_then(|(provider, _)| providers::by_name(provider));
        let is_local =
            provider.is_some_and(|provider| provider.service.is_none()) && !name.contains('@');
        let address = if is_local { "@URL" } else { "" };
        let why = format!(
            "the cassette `{folder}` does not hold this call ({missed} missed so far): prompt, suite, strategy or seed differ from the \
             recorded ones; to record what is missing, give the same command with `--model {name}{address} --record {folder}` in place \
             of `--model cassette:{folder}`"
        );
        ChatError::Unavailable { why, later: false }
    }
}

#[async_trait]
impl ChatModel for Cassette {
    fn name(&self) -> &str {
        &self.name
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let key = call::key(&self.name, request);
        if let Some(outcome) = self
            .calls()
            .get(&key)
            .filter(|outcome| self.is_final(outcome))
        {
            return outcome.clone().into();
        }
        let Some((model, tape)) = &self.live else {
            return Err(self.missed());
        };
        let outcome = CallOutcome::new(model.complete(request).await)?;
        let call = RecordedCall {
            key: key.clone(),
            model: self.name.clone(),
            request: request.clone(),
            outcome,
        };
        let mut calls = self.calls();
        // Another thread may have asked the same meanwhile: the answer that is kept is the one that
        // is given.
        let known = calls.get(&key);
        if let Some(outcome) =
            known.filter(|outcome| self.is_final(outcome) || **outcome == call.outcome)
        {
            return outcome.clone().into();
        }
        let kept = tape
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .append(&call);
        kept.map_err(|error| ChatError::Unavailable {
            why: error.to_string(),
            later: false,
        })?;
        calls.insert(key, call.outcome.clone());
        call.outcome.into()
    }
}
