//! What a model says to a request, after the compaction that the request asks for.

use compactometer_engine::message::Usage;
use compactometer_engine::model::{ChatReply, ChatRequest, Finish};
use serde_json::Value;

use super::apis::ApiRequest;
use super::apis::compaction::compacted;
use super::{ModelAnswer, Posted, Responder, ServerRefusal};

/// What a server says to a request.
pub(super) struct ServerAnswer {
    /// The summary that it wrote first.
    pub(super) summary: Option<ChatReply>,
    pub(super) said: ModelAnswer,
    /// Whether the summary is all, and nothing was said.
    pub(super) is_paused: bool,
}

/// The answer, after the compaction that the request asks for where it is long enough.
pub(super) async fn answer_of(
    responder: &dyn Responder,
    asked: &ApiRequest,
    body: &Value,
) -> Result<ServerAnswer, ServerRefusal> {
    let answer = async |request: ChatRequest| {
        let body = body.clone();
        responder.answer(Posted { request, body }).await
    };
    let compaction = asked.edited.compaction.as_ref();
    let due = compaction.and_then(|compaction| Some((compaction, compaction.of(&asked.request)?)));
    let Some((compaction, request)) = due else {
        let said = answer(asked.request.clone()).await?;
        return Ok(ServerAnswer {
            summary: None,
            said,
            is_paused: false,
        });
    };
    let summary = answer(request).await?.reply;
    let said = match compaction.is_paused {
        true => nothing_said(summary.latency_ms),
        false => answer(compacted(asked.request.clone(), &summary.text)).await?,
    };
    Ok(ServerAnswer {
        summary: Some(summary),
        said,
        is_paused: compaction.is_paused,
    })
}

fn nothing_said(latency_ms: u64) -> ModelAnswer {
    let reply = ChatReply {
        text: String::new(),
        finish: Finish::Stop,
        usage: Usage::default(),
        latency_ms,
        served: None,
    };
    ModelAnswer {
        reply,
        calls: Vec::new(),
    }
}
