//! What a server says of itself and of the model, asked once and without a call that is billed.
//!
//! Absent on purpose: repeats. Who asks wants to know how things stand now.

use std::time::{Duration, SystemTime};

use reqwest::StatusCode;
use serde_json::Value;

use super::Line;
use super::place::Api;
use super::trouble::Trouble;

/// A server's answer to the question for its models.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Greeting {
    /// Whether it knows the model; nothing where it does not say which models it has.
    pub knows_model: Option<bool>,
    /// The models that it lists; empty where it was asked for the one alone.
    pub models: Vec<String>,
    /// Its clock.
    pub date: Option<SystemTime>,
}

/// Longest wait for the answer.
const PATIENCE: Duration = Duration::from_secs(20);

impl Line {
    /// Asks a provider for the model by name, since it may know aliases that it does not list; another server for its list.
    pub(super) async fn greet(&self) -> Result<Greeting, Trouble> {
        let place = &self.place;
        let path = match place.api {
            Api::OpenAi | Api::Anthropic => format!("models/{}", place.model),
            Api::Compatible => "models".to_owned(),
        };
        let (status, date, body) = self.http.get(place.beside(&path), PATIENCE).await?;
        let greeting = |knows_model, models| Ok(Greeting { knows_model, models, date });
        match (place.api, status) {
            (Api::OpenAi, status) => greeting(Some(status.is_success()), Vec::new()),
            (_, StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED) => {
                // Only the provider itself is sure to have this address.
                greeting(place.is_providers_own().then_some(false), Vec::new())
            }
            (Api::Anthropic, _) => greeting(Some(true), Vec::new()),
            (Api::Compatible, _) => {
                let models = listed(&body);
                greeting((!models.is_empty()).then(|| models.contains(&place.model)), models)
            }
        }
    }
}

fn listed(body: &Value) -> Vec<String> {
    let rows = body.get("data").and_then(Value::as_array).into_iter().flatten();
    rows.filter_map(|row| row.get("id")?.as_str()).map(str::to_owned).collect()
}
