//! `handoff`: source 003. The model that speaks summarizes its own chat in seven sections; the system prompt, the summary and
//! the pending part are all that stays.
//!
//! Mended against the source: the last user message is the last one that a user said, never a summary, and stays a message of
//! its own; an unfinished tool batch stays whole; a failed call leaves nothing behind; a chat that does not
//! fit the summarizer's window beside its answer is read as a transcript, in pieces.

use std::sync::Arc;

use async_trait::async_trait;

use super::{ask, fill, recent_or_skip, tokens, with_summary};
use crate::budget::{Limits, Tail};
use crate::event::FailReason;
use crate::fit;
use crate::message::Role;
use crate::meter::Purpose;
use crate::model::{ChatRequest, WireMessage};
use crate::params::{ParamError, Settings};
use crate::render::{Limits as RenderLimits, Material};
use crate::strategy::{Compacted, Context, Declined, Strategy, StrategySpec};
use crate::summary::{self, NotASummary};
use crate::view::{Entry, no_response};

/// Registry entry. The source fixes the threshold alone; a window of 250,000 makes it 0.8 of it, and the length is assumed.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "handoff",
    about: "a seven-section summary of the whole chat; only the pending part stays beside it",
    source: "003",
    prompt: include_str!("handoff.md"),
    placeholders: &[],
    params: &[
        tokens("window", "context window that the threshold is meant for (assumed)", 250_000),
        tokens("threshold", "size at which a compaction starts", 200_000),
        tokens("written", "most that the summary may have (assumed)", 4_000),
    ],
    limits,
    build: |settings| Arc::new(Handoff { prompt: settings.prompt().to_owned() }),
};

fn limits(settings: &Settings) -> Result<Limits, ParamError> {
    let (window, trigger) = (settings.count("window"), settings.count("threshold"));
    if trigger > window {
        return Err(ParamError::Contradiction(format!("`threshold` is {trigger} tokens; the window has {window}")));
    }
    Ok(Limits { window, trigger, tail: Tail::Tokens(0), written: settings.count("written") })
}

struct Handoff {
    prompt: String,
}

#[async_trait]
impl Strategy for Handoff {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = recent_or_skip(cx)?;
        let prompt = fill(&self.prompt, &[("tokens", &cx.budget.written.to_string())]);
        let answers = cx.view.open_calls().len() as u32 * cx.counter.count_part(&no_response(String::new()));
        let needed = cx.view.tokens() + answers + cx.counter.count_text(&prompt) + cx.budget.written + fit::FRAME;
        let material = Material::new(cx.view.entries().iter().filter(is_chat), RenderLimits::NONE);
        let summary = if cx.summarizer_window.is_some_and(|window| needed > window) {
            let with =
                |messages: &str| format!("{prompt}\nThe conversation so far:\n\n<messages>\n{messages}\n</messages>");
            ask(cx, &material, with, cx.budget.written, None).await?
        } else {
            ask_in_chat(cx, &prompt, &material.text).await?
        };
        Ok(with_summary(cx, &selection, summary))
    }
}

fn is_chat(entry: &&Entry) -> bool {
    entry.role != Role::System
}

/// Asks the model that holds the chat; the second request says what was wrong with the answer to the first.
async fn ask_in_chat(cx: &Context<'_>, prompt: &str, material: &str) -> Result<String, FailReason> {
    let mut refused = String::new();
    let mut problem = NotASummary::Empty;
    for _ in 0..2 {
        let request = chat_and_prompt(cx, format!("{prompt}{refused}"));
        let answer = cx.summarizer.complete(Purpose::Compaction, request).await?.text;
        match summary::check(&answer, material) {
            Ok(()) => return Ok(answer.trim().to_owned()),
            Err(found) => problem = found,
        }
        refused = format!("\n\nYour answer before was refused: {problem}.");
    }
    Err(FailReason::NoSummary(problem))
}

/// The chat as it stands, and the prompt as one more user turn.
fn chat_and_prompt(cx: &Context<'_>, prompt: String) -> ChatRequest {
    let mut request = ChatRequest::prompt(prompt, cx.budget.written, None, cx.summarizer.seed());
    let mut messages: Vec<WireMessage> = cx.view.to_wire();
    let open = cx.view.open_calls();
    if !open.is_empty() {
        // A provider takes no call without its result (003, `fillMissingToolResponses`).
        messages.push(WireMessage { role: Role::Tool, parts: open.into_iter().map(no_response).collect() });
    }
    messages.append(&mut request.messages);
    ChatRequest { messages, ..request }
}
