//! Faults that fail the call: errors of a provider or of the network.

use compactometer_engine::model::ChatError;

use super::{Effect, ModelFault, pick};

/// The longest wait for an answer, in milliseconds. Assumed; a common limit of clients.
const TIMEOUT_MS: u64 = 60_000;
/// Waiting times that a provider asks for, in milliseconds. Assumed.
const WAITS_MS: [u64; 4] = [500, 2_000, 10_000, 30_000];
/// Status codes of a failing provider; 529 is one provider's "overloaded".
const STATUSES: [u16; 4] = [500, 502, 503, 529];

pub(super) const RATE_LIMIT: ModelFault = ModelFault {
    name: "rate-limit",
    about: "429 that does not say how long to wait",
    effect: Effect::Fails(|_| ChatError::RateLimited {
        retry_after_ms: None,
    }),
};

pub(super) const RATE_LIMIT_WAIT: ModelFault = ModelFault {
    name: "rate-limit-wait",
    about: "429 that asks to wait 0.5 to 30 s",
    effect: Effect::Fails(|rng| ChatError::RateLimited {
        retry_after_ms: pick(rng, &WAITS_MS),
    }),
};

pub(super) const SERVER_ERROR: ModelFault = ModelFault {
    name: "server-error",
    about: "500, 502, 503 or 529",
    effect: Effect::Fails(|rng| ChatError::Server {
        status: pick(rng, &STATUSES).unwrap_or(STATUSES[0]),
    }),
};

pub(super) const TIMEOUT: ModelFault = ModelFault {
    name: "timeout",
    about: "no answer within 60 s",
    effect: Effect::Fails(|_| ChatError::Timeout {
        after_ms: TIMEOUT_MS,
    }),
};

pub(super) const REFUSED: ModelFault = ModelFault {
    name: "refused",
    about: "the request is refused as too long",
    effect: Effect::Fails(|_| ChatError::Refused {
        message: "the request exceeds the context size".to_owned(),
    }),
};
