//! Why a request gets no reply, in OpenAI's words; an interface may have words of its own.

use compactometer_engine::model::ChatError;
use hyper::StatusCode;
use serde_json::{Value, json};

use super::responder::ServerRefusal;

/// The code of a request that is longer than the context window.
const OVER_WINDOW: &str = "context_length_exceeded";

/// Why a request gets no reply.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ServerTrouble {
    pub(super) status: StatusCode,
    message: String,
    kind: &'static str,
    param: Option<String>,
    code: Option<&'static str>,
    /// How long the client should wait, in milliseconds.
    pub(super) retry_after_ms: Option<u64>,
}

impl ServerTrouble {
    /// The request cannot be served; `param` says where.
    pub(super) fn invalid(param: &str, message: impl Into<String>) -> Self {
        ServerTrouble {
            param: Some(param.to_owned()),
            ..ServerTrouble::new(StatusCode::BAD_REQUEST, message)
        }
    }

    /// The same without a place.
    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let kind = if status.is_server_error() {
            "server_error"
        } else {
            "invalid_request_error"
        };
        ServerTrouble {
            status,
            message: message.into(),
            kind,
            param: None,
            code: None,
            retry_after_ms: None,
        }
    }

    /// Whether the request is longer than the context window.
    pub(super) fn is_over_window(&self) -> bool {
        self.code == Some(OVER_WINDOW)
    }

    /// Whether the request's body was not read to its end.
    pub(super) fn leaves_body(&self) -> bool {
        use StatusCode as Status;
        let unread = [
            Status::PAYLOAD_TOO_LARGE,
            Status::REQUEST_TIMEOUT,
            Status::FORBIDDEN,
            Status::UNSUPPORTED_MEDIA_TYPE,
        ];
        unread.contains(&self.status)
    }

    /// No such model.
    pub(super) fn unknown_model(given: &str, served: &str) -> Self {
        let message = format!("the model `{given}` is not served here; choose `{served}`");
        let trouble = ServerTrouble::new(StatusCode::NOT_FOUND, message);
        ServerTrouble {
            param: Some("model".to_owned()),
            code: Some("model_not_found"),
            ..trouble
        }
    }

    /// What it looks like when whoever answers does not.
    pub(super) fn of_refusal(refusal: &ServerRefusal) -> Self {
        match refusal {
            ServerRefusal::Model(error) => ServerTrouble::of_model(error),
            ServerRefusal::OverWindow { tokens, window } => ServerTrouble {
                code: Some(OVER_WINDOW),
                ..ServerTrouble::invalid("messages", over_window(*tokens, *window))
            },
            ServerRefusal::Unknown(why) => ServerTrouble::new(StatusCode::NOT_FOUND, why),
        }
    }

    /// What a model's own failure looks like.
    fn of_model(error: &ChatError) -> Self {
        let message = error.to_string();
        match error {
            ChatError::RateLimited { retry_after_ms } => ServerTrouble {
                kind: "rate_limit_error",
                code: Some("rate_limit_exceeded"),
                retry_after_ms: *retry_after_ms,
                ..ServerTrouble::new(StatusCode::TOO_MANY_REQUESTS, message)
            },
            ChatError::Timeout { .. } => ServerTrouble::new(StatusCode::GATEWAY_TIMEOUT, message),
            ChatError::Server { status } => ServerTrouble::of_status(*status, message),
            ChatError::Refused { .. }
            | ChatError::Rejected { .. }
            | ChatError::Unavailable { later: false, .. } => {
                ServerTrouble::new(StatusCode::BAD_REQUEST, message)
            }
            ChatError::Unavailable { .. } => {
                ServerTrouble::new(StatusCode::SERVICE_UNAVAILABLE, message)
            }
        }
    }

    fn of_status(status: u16, message: String) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        ServerTrouble {
            kind: "server_error",
            ..ServerTrouble::new(status, message)
        }
    }

    /// What is wrong, as Anthropic names it.
    pub(super) fn kind_and_message(&self) -> (&'static str, &str) {
        let kind = match self.status {
            StatusCode::NOT_FOUND => "not_found_error",
            StatusCode::PAYLOAD_TOO_LARGE => "request_too_large",
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            StatusCode::SERVICE_UNAVAILABLE => "overloaded_error",
            status if status.is_server_error() => "api_error",
            _ => "invalid_request_error",
        };
        (kind, &self.message)
    }

    /// The body as OpenAI's interfaces have it.
    pub(super) fn body(&self) -> Value {
        let ServerTrouble {
            message,
            kind,
            param,
            code,
            ..
        } = self;
        json!({"error": {"message": message, "type": kind, "param": param, "code": code}})
    }
}

/// As OpenAI writes it; agents look for its words.
fn over_window(tokens: u32, window: u32) -> String {
    format!(
        "This model's maximum context length is {window} tokens. However, your messages resulted in \
         {tokens} tokens. Please reduce the length of the messages."
    )
}
