//! What is kept of the requests of one model: under which limit on cost, and in which journal.

use std::sync::{Arc, OnceLock};

use compactometer_engine::model::{ChatError, ChatReply, ChatRequest};
use compactometer_engine::tokens::{Encoding, TokenCounter as _};

use super::error::CallError;
use crate::cost_limit::{CostLimit, REPLY_AT_MOST, counted};
use crate::tries::{Ended, Sent, TryJournal, TryJournalError, TryOutcome, reply_hash};

/// An account of tries. Without a limit and a journal it keeps nothing.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// What the requests may cost.
    pub limit: Option<Arc<CostLimit>>,
    /// Where each is written down, once it is set.
    pub journal: Arc<OnceLock<TryJournal>>,
}

/// A try that was entered before its request is sent.
pub(super) struct Entered {
    number: Option<u64>,
    input: u32,
    output: u32,
}

impl Account {
    /// Sets aside what a request may cost, and writes it down.
    ///
    /// # Errors
    /// If it may cost more than is left, or cannot be written down. It must not be sent then.
    pub(super) fn enter(&self, model: &str, request: &ChatRequest) -> Result<Entered, ChatError> {
        let input = request.tokens(&self.counter());
        let output = request.max_output_tokens.unwrap_or(REPLY_AT_MOST);
        if let Some(limit) = &self.limit {
            limit.reserve(input, output)?;
        }
        let sent = Sent {
            model: model.to_owned(),
            input,
            output,
        };
        let journal = self.journal.get();
        let number = journal.map(|journal| journal.sent(sent)).transpose();
        Ok(Entered {
            number: number.map_err(unwritten)?,
            input,
            output,
        })
    }

    /// Enters an answer: the limit counts what the server reports, and at least the own count.
    pub(super) fn answered(&self, tried: Entered, reply: &ChatReply) -> Result<(), ChatError> {
        let own = self.counter().count_text(&reply.text);
        let (usage, is_doubtful) = counted(&reply.usage, tried.input, own);
        if let Some(limit) = &self.limit {
            limit.settle((tried.input, tried.output), &usage);
        }
        let ended = Ended {
            outcome: TryOutcome::Answered,
            why: None,
            usage: Some(usage),
            is_doubtful,
            reply: Some(reply_hash(&reply.text)),
        };
        self.end(&tried, ended)
    }

    /// Enters a failure. A request that may have come to the server stays counted whole: nobody says
    /// what the provider bills of it.
    pub(super) fn failed(
        &self,
        tried: Entered,
        error: &CallError,
        is_sent: bool,
    ) -> Result<(), ChatError> {
        if let (Some(limit), false) = (&self.limit, is_sent) {
            limit.release((tried.input, tried.output));
        }
        let outcome = match error {
            _ if !is_sent => TryOutcome::NotSent,
            CallError::Again { .. } | CallError::TooLarge(_) => TryOutcome::Failed,
            CallError::Stop { .. } => TryOutcome::Stopped,
            CallError::Refused(_) | CallError::Rejected(_) | CallError::Parameter(..) => {
                TryOutcome::Refused
            }
        };
        let ended = Ended {
            outcome,
            why: Some(error.why().to_owned()),
            usage: None,
            is_doubtful: false,
            reply: None,
        };
        self.end(&tried, ended)
    }

    fn end(&self, tried: &Entered, ended: Ended) -> Result<(), ChatError> {
        match (self.journal.get(), tried.number) {
            (Some(journal), Some(number)) => journal.ended(number, ended).map_err(unwritten),
            _ => Ok(()),
        }
    }

    fn counter(&self) -> Encoding {
        self.limit
            .as_ref()
            .map_or(Encoding::O200k, |limit| limit.counter())
    }
}

fn unwritten(error: TryJournalError) -> ChatError {
    ChatError::Unavailable {
        why: error.to_string(),
        later: false,
    }
}
