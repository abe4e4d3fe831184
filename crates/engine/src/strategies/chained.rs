//! `chained`: source 004. One sectioned summary that takes in its predecessor, before the recent tail.
//!
//! Mended against the source (STRATEGIES section 1): the previous summary is known by its origin and not by a heading that
//! its own prompt misspells; the original task is taken from the log; the summary is a user turn, so the chat never opens
//! with an assistant's; nothing of it is cut before it is merged.

use std::sync::Arc;

use async_trait::async_trait;

use super::summarize::summary_turn;
use super::{ask, fill, recent_or_skip};
use crate::log::Log;
use crate::message::{Part, Role};
use crate::render::{self, Limits};
use crate::saved::{NewSaved, SavedKind, latest};
use crate::strategy::{Compacted, Context, Declined, Strategy, StrategySpec};
use crate::view::{Edit, Entry, Origin};

/// Registry entry. The source keeps 10 messages, some 2,500 tokens at the mean of agent transcripts, beside 1,000 tokens.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "chained",
    about: "one sectioned summary, each merged with the one before it",
    source: "004",
    tail_share: 2_500.0 / 3_500.0,
    prompt: PROMPT,
    build: || Arc::new(Chained),
};

const PROMPT: &str = include_str!("chained.md");
/// Source 004, `formatMessagesForSummary`: 2,000 characters a message, 500 a tool result.
const LIMITS: Limits = Limits { message: 2_000, tool_result: 500 };
/// Source 004: asks for 800 tokens and allows 1,000.
const ASKED_SHARE: f64 = 0.8;
/// Source 004, `generateSummary`.
const TEMPERATURE: f32 = 0.3;

struct Chained;

#[async_trait]
impl Strategy for Chained {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = recent_or_skip(cx)?;
        let previous = latest(cx.history, SavedKind::Summary);
        let previous =
            previous.map_or("None: this is the first round.".to_owned(), |saved| render::neutralize(&saved.body));
        let round = cx.history.len() + 1;
        let messages = render::transcript(selection.leaving.iter().copied().filter(|entry| !is_summary(entry)), LIMITS);
        let asked = (f64::from(cx.budget.written) * ASKED_SHARE) as u32;
        let prompt = fill(
            PROMPT,
            &[
                ("previous", &previous),
                ("task", &render::neutralize(&render::cut(original_task(cx.log), LIMITS.message))),
                ("messages", &messages),
                ("round", &round.to_string()),
                ("tokens", &asked.to_string()),
            ],
        );
        let summary = ask(cx, prompt, cx.budget.written, Some(TEMPERATURE)).await?;
        let mut edits: Vec<Edit> = selection.system.map(|system| Edit::Keep(system.id)).into_iter().collect();
        edits.push(summary_turn(&summary, cx.number_of_new(0)));
        edits.extend(selection.keep_edits());
        let saved = NewSaved { kind: SavedKind::Summary, covers: selection.covers(), body: summary };
        Ok(Compacted { edits, saved: vec![saved] })
    }
}

fn is_summary(entry: &Entry) -> bool {
    entry.parts().any(|(_, origin)| matches!(origin, Origin::Summary(_)))
}

/// The first thing that the user asked for.
fn original_task(log: &Log) -> &str {
    let texts = log
        .messages()
        .iter()
        .filter(|counted| counted.message.role == Role::User)
        .flat_map(|counted| &counted.message.parts);
    texts
        .filter_map(|part| match part {
            Part::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
            _ => None,
        })
        .next()
        .unwrap_or("Unknown task")
}
