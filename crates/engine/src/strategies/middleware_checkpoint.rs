//! `middleware-checkpoint`: source 000, approach B. A checkpoint is extracted before the trigger, while everything is still in
//! the context; then `summarize`, with the latest checkpoint in the system prompt.
//!
//! Mended against the source: what came since the last checkpoint is measured in the log, so that a compaction does not silence
//! the next one; raw, fenced and embedded JSON are read; a failed extraction leaves the previous checkpoint in place.

use std::sync::Arc;

use async_trait::async_trait;

use super::prompt_checkpoint::{previous_checkpoint, with_summary_and_checkpoint};
use super::summarize::ask_for_summary;
use super::{fill, plain_limits, recent_or_skip, share, tokens};
use crate::checkpoint;
use crate::event::FailReason;
use crate::fit;
use crate::message::{MessageId, Role};
use crate::meter::Purpose;
use crate::model::{ChatReply, ChatRequest};
use crate::params::{Param, Settings};
use crate::render::{self, Limits, Material};
use crate::retrieve;
use crate::saved::{NewSaved, SavedKind};
use crate::strategy::{Compacted, Context, Declined, Strategy, StrategySpec};
use crate::view::WrittenPart;

/// Registry entry: the limits of `prompt-checkpoint`, and the source's ratio and least difference.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "middleware-checkpoint",
    about: "a JSON checkpoint before the trigger, then a summary; the checkpoint joins the system prompt",
    source: "000, approach B",
    prompt: include_str!("middleware_checkpoint.md"),
    placeholders: &["messages"],
    params: PARAMS,
    limits: plain_limits,
    build: |settings| Arc::new(MiddlewareCheckpoint { extraction: Extraction::new(settings) }),
};

/// Also those of `hybrid-checkpoint`.
pub(super) const PARAMS: &[Param] = &[
    tokens("window", "context window that the trigger is meant for", 12_500),
    tokens("trigger", "size at which a compaction starts", 10_000),
    tokens("tail", "kept verbatim", 2_000),
    tokens("written", "most that summary and checkpoint may have together", 800),
    share("ratio", "share of the trigger at which a checkpoint is due", 0.8),
    tokens("delta", "least new tokens between two checkpoints", 1_000),
];

const SUMMARY_PROMPT: &str = include_str!("summarize.md");

struct MiddlewareCheckpoint {
    extraction: Extraction,
}

#[async_trait]
impl Strategy for MiddlewareCheckpoint {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = recent_or_skip(cx)?;
        let summary = ask_for_summary(cx, SUMMARY_PROMPT, &selection, cx.budget.written / 2).await?;
        Ok(with_summary_and_checkpoint(cx, &selection, &summary, None))
    }

    async fn checkpoint(&self, cx: &Context<'_>) -> Result<Option<NewSaved>, FailReason> {
        self.extraction.run(cx).await
    }

    async fn retrieve(&self, cx: &Context<'_>, questions: &[&str], room: u32) -> Vec<Vec<WrittenPart>> {
        retrieve::checkpoint(cx, questions, room)
    }
}

/// Extraction before the trigger.
pub(super) struct Extraction {
    prompt: String,
    ratio: f64,
    delta: u32,
}

impl Extraction {
    pub(super) fn new(settings: &Settings) -> Self {
        Extraction {
            prompt: settings.prompt().to_owned(),
            ratio: settings.number("ratio"),
            delta: settings.count("delta"),
        }
    }

    pub(super) async fn run(&self, cx: &Context<'_>) -> Result<Option<NewSaved>, FailReason> {
        let due = f64::from(cx.request_tokens) >= f64::from(cx.budget.trigger) * self.ratio;
        if !due || tokens_since_last(cx) < u64::from(self.delta) {
            return Ok(None);
        }
        let entries = cx.view.entries().iter().filter(|entry| entry.role != Role::System);
        let messages = Material::new(entries, Limits::NONE);
        let previous = previous_checkpoint(cx);
        let reply = self.ask(cx, &messages, &previous).await;
        let reply = reply.inspect_err(|reason| cx.summarizer.note(checkpoint::Extraction::failed(reason)))?;
        let examples = checkpoint::unseen(&self.prompt, &[&messages.text, &previous]);
        let (checkpoint, extraction) = checkpoint::extract(&reply.text, reply.finish, &examples);
        cx.summarizer.note(extraction);
        let body = serde_json::to_string(&checkpoint.ok_or(FailReason::NoCheckpoint)?).unwrap_or_default();
        Ok(Some(NewSaved { kind: SavedKind::Checkpoint, covers: ends_of(cx), body }))
    }

    /// Asks for a checkpoint of the messages. Of a context that does not fit, each piece updates the checkpoint of the pieces
    /// before.
    async fn ask(&self, cx: &Context<'_>, messages: &Material, previous: &str) -> Result<ChatReply, FailReason> {
        let most = cx.budget.written / 2;
        let tokens = most.to_string();
        let with = |messages: &str, previous: &str| {
            fill(&self.prompt, &[("tokens", &tokens), ("previous", previous), ("messages", messages)])
        };
        let fixed = cx.counter.count_text(&with("", previous));
        // An answer may take the place of the checkpoint before, which the pieces leave room for, and its own.
        let fixed_answer = cx.counter.count_text(previous) + most;
        let mut earlier = previous.to_owned();
        let mut last = Err(FailReason::NoCheckpoint);
        for piece in fit::pieces(cx, messages, fixed, most)? {
            let shown = with(&piece, fit::shortened(cx, &earlier, fixed_answer));
            let request = ChatRequest::prompt(shown, most, None, cx.summarizer.seed());
            let reply = cx.summarizer.complete(Purpose::Checkpoint, request).await?;
            earlier = render::neutralize(&reply.text);
            last = Ok(reply);
        }
        last
    }
}

/// Tokens of the log since the last checkpoint or the last failed attempt at one; all of them where there was none.
fn tokens_since_last(cx: &Context<'_>) -> u64 {
    let tried = cx.history.iter().filter(|saved| matches!(saved.kind, SavedKind::Checkpoint | SavedKind::Failed));
    // The newest of them may cover less than the one before: with a summary it covers what left.
    let last = tried.filter_map(|saved| saved.covers).map(|(_, last)| last).max();
    let newer = cx.log.messages().iter().rev().take_while(|counted| last.is_none_or(|last| counted.message.id > last));
    newer.map(|counted| u64::from(counted.tokens)).sum()
}

fn ends_of(cx: &Context<'_>) -> Option<(MessageId, MessageId)> {
    let messages = cx.log.messages();
    Some((messages.first()?.message.id, messages.last()?.message.id))
}
