//! What a server says of itself and of the model, asked once and without a call that is billed.
//!
//! Absent on purpose: repeats. Who asks wants to know how things stand now.

use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::error::CallError;
use super::{Endpoint, HttpCall};
use crate::providers::ModelLookup;

/// A server's answer to the question for its models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerInfo {
    /// Whether it knows the model; nothing where it does not say which models it has.
    pub knows_model: Option<bool>,
    /// The models that it lists; empty where it was asked for the one alone.
    pub models: Vec<String>,
    /// Its clock.
    pub date: Option<SystemTime>,
}

/// Longest wait for the answer.
const PATIENCE: Duration = Duration::from_secs(20);

impl HttpCall {
    /// Asks a provider for the model by name, since it may know aliases that it does not list;
    /// another server for its list.
    pub(super) async fn probe(&self) -> Result<ServerInfo, CallError> {
        let endpoint = &self.endpoint;
        let path = path(endpoint);
        let (status, date, body) = self.transfer.get(endpoint.beside(&path), PATIENCE).await?;
        let found = |knows_model, models| {
            Ok(ServerInfo {
                knows_model,
                models,
                date,
            })
        };
        if !status.is_success() {
            // Another server may not have this address.
            let is_sure = endpoint.is_providers_own() || !endpoint.provider.takes_address;
            return found(is_sure.then_some(false), Vec::new());
        }
        match endpoint.provider.lookup {
            ModelLookup::ByName => found(Some(true), Vec::new()),
            ModelLookup::List => {
                let models = model_names(&body);
                found(
                    (!models.is_empty()).then(|| models.contains(&endpoint.model)),
                    models,
                )
            }
        }
    }
}

fn path(endpoint: &Endpoint) -> String {
    match endpoint.provider.lookup {
        ModelLookup::ByName => format!("models/{}", endpoint.model),
        ModelLookup::List => "models".to_owned(),
    }
}

fn model_names(body: &Value) -> Vec<String> {
    let rows = body
        .get("data")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    rows.filter_map(|row| row.get("id")?.as_str())
        .map(str::to_owned)
        .collect()
}
