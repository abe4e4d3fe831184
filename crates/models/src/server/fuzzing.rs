//! An entry for fuzz targets: a request's body without a connection. It is not part of the crate's interface and may change.

use compactometer_engine::model::ChatRequest;
use serde_json::Value;

use super::wire;

/// The request that a body holds.
///
/// # Errors
/// The body of the refusal, if the body is not a chat completion.
pub fn request(body: &[u8]) -> Result<ChatRequest, Value> {
    wire::read(body).map(|asked| asked.request).map_err(|trouble| trouble.body())
}
