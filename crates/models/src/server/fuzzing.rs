//! An entry for fuzz targets: a request's body without a connection. It is not part of the crate's
//! interface and may change.

use compactometer_engine::model::ChatRequest;
use serde_json::Value;

use super::apis;

/// The request that a body holds, in each of the served interfaces, or the body of the refusal.
pub fn requests(body: &[u8]) -> impl Iterator<Item = Result<ChatRequest, Value>> {
    apis::ALL.into_iter().map(|api| {
        api.read(body, api.path)
            .map(|asked| asked.request)
            .map_err(|trouble| trouble.body())
    })
}
