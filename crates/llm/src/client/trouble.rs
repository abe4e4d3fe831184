//! What goes wrong with a call, sorted by what it means for a run.
//!
//! A call that the model itself spoiled (its answer is cut, filtered, empty or no JSON) is an answer, and a request that it
//! refuses as too long or as unfit is a result of the strategy that wrote it: both stand in the record. A provider that is
//! busy or in trouble is asked again. All else would fail the next call as well (no key, wrong address, unknown model, a
//! parameter that the model does not take): it ends the run, and no record says that a strategy failed.

use compactometer_engine::model::ChatError;

/// A call without an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Trouble {
    /// It may pass; the provider may say when, in milliseconds.
    Again { why: String, after_ms: Option<u64> },
    /// Nothing more can be asked; `later` where it may pass by itself.
    Stop { why: String, later: bool },
    /// The request itself cannot be served.
    Refused(String),
}

impl From<Trouble> for ChatError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Again { why, .. } => ChatError::Unavailable { why, later: true },
            Trouble::Stop { why, later } => ChatError::Unavailable { why, later },
            Trouble::Refused(message) => ChatError::Refused { message },
        }
    }
}
