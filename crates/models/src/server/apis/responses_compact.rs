//! OpenAI's compaction of responses: the input comes back as the user's messages and one item that
//! clients pass on unread.

use serde_json::{Value, json};

use super::{Api, ApiReply, ApiRequest, RequestField, ServerTrouble, compaction, responses};

pub(super) static API: Api = Api {
    path: "/v1/responses/compact",
    serves: |path| path == "/v1/responses/compact",
    counts: None,
    read,
    whole,
    events: None,
    refused: None,
    refusal: ServerTrouble::body,
};

fn read(body: &RequestField<'_>, path: &str) -> Result<ApiRequest, ServerTrouble> {
    let asked = (responses::API.read)(body, path)?;
    Ok(ApiRequest {
        request: compaction::summary_of(&asked.request, None),
        stream: false,
        ..asked
    })
}

fn whole(answer: &ApiReply<'_>) -> Value {
    let item = responses::compaction_item(answer, answer.reply);
    let output = users(&answer.asked["input"]).chain([item]);
    json!({
        "id": answer.id("resp_"),
        "object": "response.compaction",
        "created_at": 0,
        "model": answer.model,
        "output": output.collect::<Vec<_>>(),
        "usage": responses::usage(answer),
    })
}

/// The messages of the user, each with a list of parts.
fn users(input: &Value) -> impl Iterator<Item = Value> {
    let text = |text: &str| json!([{"type": "input_text", "text": text}]);
    let whole = input
        .as_str()
        .map(|said| json!({"role": "user", "content": text(said)}));
    let items = input.as_array().into_iter().flatten().cloned();
    let items = whole.into_iter().chain(items);
    items
        .filter(|item| item["role"] == "user")
        .map(move |mut item| {
            if let Some(said) = item["content"].as_str() {
                item["content"] = text(said);
            }
            item["type"] = "message".into();
            item
        })
}
