//! What goes wrong with a call, sorted by what it means for a run.
//!
//! If the model itself spoils a call (its answer is cut, filtered, empty or not JSON), that is an
//! answer. If it refuses a request as too long or as unfit, that is a result of the strategy that
//! wrote it. Both are in the record, and so is a request that the server rejects for its form; if
//! that is the rule, the run ends. A sampling parameter that the model does not take is left out. A
//! busy provider is asked again. Everything else would fail the next call too (no key, wrong
//! address, unknown model): it ends the run, and no record says that a strategy failed.

use compactometer_engine::model::ChatError;
use reqwest::StatusCode;
use serde_json::Value;

use super::endpoint::Endpoint;

/// A call without an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CallError {
    /// It may pass; the provider may say when, in milliseconds.
    Again { why: String, after_ms: Option<u64> },
    /// Nothing more can be asked; `later` where it may pass by itself.
    Stop { why: String, later: bool },
    /// The request's text cannot be served.
    Refused(String),
    /// The server rejects the request's form.
    Rejected(String),
    /// The answer is far longer than what was asked for.
    TooLarge(String),
    /// The model does not take this parameter; the provider's words.
    Parameter(&'static str, String),
}

/// Parameters that can be left out: the request still asks for the same.
const OPTIONAL: [&str; 2] = ["temperature", "seed"];

impl CallError {
    /// The reason.
    pub(super) fn why(&self) -> &str {
        match self {
            CallError::Again { why, .. }
            | CallError::Stop { why, .. }
            | CallError::Refused(why)
            | CallError::Rejected(why)
            | CallError::TooLarge(why)
            | CallError::Parameter(_, why) => why,
        }
    }

    /// The same in other words.
    pub(super) fn with(mut self, words: impl Fn(&str) -> String) -> Self {
        let (CallError::Again { why, .. }
        | CallError::Stop { why, .. }
        | CallError::Refused(why)
        | CallError::Rejected(why)
        | CallError::TooLarge(why)
        | CallError::Parameter(_, why)) = &mut self;
        *why = words(why);
        self
    }
}

impl From<CallError> for ChatError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Again { why, .. } => ChatError::Unavailable { why, later: true },
            CallError::Stop { why, later } => ChatError::Unavailable { why, later },
            CallError::Refused(message) => ChatError::Refused { message },
            CallError::Rejected(message)
            | CallError::TooLarge(message)
            | CallError::Parameter(_, message) => ChatError::Rejected { message },
        }
    }
}

/// What an answer without success means.
pub(super) fn by_status(
    endpoint: &Endpoint,
    status: StatusCode,
    error: &Value,
    said: String,
    after_ms: Option<u64>,
) -> CallError {
    let model = &endpoint.model;
    match status.as_u16() {
        // Providers repeat parts of a key in their words.
        401 | 403 => stop(format!(
            "`{}` answered {status}: set a key that may use `{model}` in `{}`",
            endpoint.host(),
            endpoint.key_variable()
        )),
        402 | 429
            if status == StatusCode::PAYMENT_REQUIRED || error["code"] == "insufficient_quota" =>
        {
            stop(format!(
                "`{}` wants to be paid first: {said}",
                endpoint.host()
            ))
        }
        404 => stop(format!(
            "`{}` knows no model `{model}`, or no such address: {said}; name a model that it has, or mend the address",
            endpoint.url
        )),
        408 | 409 | 425 | 429 | 500..=599 => CallError::Again {
            why: format!("the server answered {status}: {said}"),
            after_ms,
        },
        413 => CallError::Refused(said),
        _ if is_about_the_text(error) => CallError::Refused(said),
        400 | 422 => match parameter(error) {
            Some(name) => CallError::Parameter(name, said),
            None => CallError::Rejected(said),
        },
        _ => stop(format!("`{}` answered {status}: {said}", endpoint.host())),
    }
}

/// What it means that no connection came about, or that it broke before an answer.
pub(super) fn unsent(host: &str, why: &str, connecting: bool) -> CallError {
    let lower = why.to_lowercase();
    if lower.contains("not valid yet") || lower.contains("expired") {
        return stop(format!(
            "the certificate of `{host}` is not valid at this time; check this machine's clock: {why}"
        ));
    }
    if lower.contains("certificate") {
        return stop(format!("the certificate of `{host}` is not trusted: {why}"));
    }
    if connecting {
        let why =
            format!("cannot reach `{host}`: {why}; is the server running, and the address right?");
        return CallError::Stop { why, later: true };
    }
    again(format!("the request to `{host}` failed: {why}"))
}

/// An error in the middle of a stream.
pub(super) fn in_stream(error: &Value) -> CallError {
    let said = shortened(&words_of(error).unwrap_or_else(|| error.to_string()));
    if is_about_the_text(error) {
        CallError::Refused(said)
    } else {
        again(format!("the server broke off: {said}"))
    }
}

/// Whether the provider refuses what was written, not how or by whom it was sent.
fn is_about_the_text(error: &Value) -> bool {
    const CODES: [&str; 5] = [
        "context_length_exceeded",
        "exceed_context_size_error",
        "content_filter",
        "content_policy_violation",
        "string_above_max_length",
    ];
    const WORDS: [&str; 5] = [
        "context length",
        "context size",
        "context window",
        "prompt is too long",
        "maximum context",
    ];
    let coded = ["code", "type"]
        .iter()
        .filter_map(|key| error.get(key)?.as_str())
        .any(|code| CODES.contains(&code));
    let words = words_of(error).unwrap_or_default().to_lowercase();
    coded || WORDS.iter().any(|said| words.contains(said))
}

/// The optional parameter that the model does not take, if the error names one and says so.
fn parameter(error: &Value) -> Option<&'static str> {
    const SIGNS: [&str; 4] = ["unsupported", "not support", "deprecated", "not permitted"];
    let words = words_of(error).unwrap_or_default().to_lowercase();
    let named = |name: &&str| {
        error["param"] == **name
            || words.contains(&format!("`{name}`"))
            || words.contains(&format!("'{name}'"))
    };
    OPTIONAL
        .into_iter()
        .find(named)
        .filter(|_| SIGNS.iter().any(|sign| words.contains(sign)))
}

pub(super) fn words_of(error: &Value) -> Option<String> {
    error
        .get("message")
        .unwrap_or(error)
        .as_str()
        .map(str::to_owned)
}

pub(super) fn shortened(words: &str) -> String {
    const MOST: usize = 400;
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line,
    }
}

pub(super) fn again(why: String) -> CallError {
    CallError::Again {
        why,
        after_ms: None,
    }
}

pub(super) fn stop(why: String) -> CallError {
    CallError::Stop { why, later: false }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rustls::pki_types::UnixTime;
    use rustls::{CertificateError, Error};

    use super::*;

    #[test]
    fn a_certificate_of_another_time_is_about_the_clock() {
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        for (cause, expected) in [
            (
                CertificateError::NotValidYetContext {
                    time: at(1),
                    not_before: at(2),
                },
                "check this machine's clock",
            ),
            (
                CertificateError::ExpiredContext {
                    time: at(2),
                    not_after: at(1),
                },
                "check this machine's clock",
            ),
            (CertificateError::UnknownIssuer, "is not trusted"),
        ] {
            let error = unsent("host", &Error::InvalidCertificate(cause).to_string(), true);
            let CallError::Stop { why, later: false } = error else {
                panic!("{error:?}")
            };
            assert!(why.contains(expected), "{why}");
        }
    }
}
