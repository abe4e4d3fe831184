//! A way in for the fuzz targets: a request's body, without a connection. No interface of this crate; it may change at any time.

use compactometer_engine::model::ChatRequest;
use serde_json::Value;

use super::wire;

/// What a model is asked by a body; else the body of the answer that refuses it.
///
/// # Errors
/// Where the body is no chat completion.
pub fn request(body: &[u8]) -> Result<ChatRequest, Value> {
    wire::read(body).map(|asked| asked.request).map_err(|trouble| trouble.body())
}
