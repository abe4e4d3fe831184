//! `handoff`: the agent loop. The model that speaks summarizes its own chat in seven sections; the
//! system prompt, the summary and the pending part are all that stays.
//!
//! Corrected against the source: the last user message is the last one that a user said, never a
//! summary, and stays a message of its own; an unfinished tool batch stays whole; a failed call
//! leaves nothing behind; the answer may be as long as the window leaves room for, and a chat
//! beside which that is too little is read as a transcript, in pieces.

mod published;

use std::sync::Arc;

use async_trait::async_trait;

use self::published::Deviations;
use crate::budget::estimate::Estimator;
use crate::budget::{Limits, Tail};
use crate::conversation::render::{Material, RenderLimits};
use crate::conversation::view::{WrittenPart, no_response};
use crate::memory;
use crate::message::{Part, Role};
use crate::model::meter::Purpose;
use crate::model::{ChatRequest, WireMessage};
use crate::strategy::approach::Approach;
use crate::strategy::ask::{AskOptions, ask};
use crate::strategy::next_view::{recent_or_skip, with_summary};
use crate::strategy::params::{Param, ParamError, ParamUnit, Settings, parameters, within_window};
use crate::strategy::prompt::fill;
use crate::strategy::summary::{self, NotASummary};
use crate::strategy::{
    Compacted, Context, Declined, FailReason, Strategy, StrategySpec, pieces, retrieve,
};
use crate::tokens::total;

/// Registry entry. The source fixes only the threshold; a window of 250,000 makes it 0.8 of it, and
/// the length is assumed.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "handoff",
    about: "a seven-section summary of the whole chat; only the pending part stays beside it",
    source: "the agent loop",
    approach: Some(Approach::Prompt),
    prompt: include_str!("prompt.md"),
    placeholders: &[],
    params: &[Options::PARAMS, Deviations::PARAMS],
    limits,
    build: |settings| {
        let Options { memory, note, .. } = Options::read(settings);
        Arc::new(Handoff {
            prompt: settings.prompt().to_owned(),
            note: memory.then_some(note),
            deviations: Deviations::read(settings),
        })
    },
    published: Some(published::FORM),
};

const ASSUMED_WINDOW: u32 = 250_000;

parameters! {
    /// The source's threshold, and what it leaves open.
    Options {
        window: u32 = Param::tokens(ASSUMED_WINDOW).of_limits(), "context window (assumed: no request is refused for it unless you set another)";
        threshold: u32 = Param::count(ParamUnit::Tokens, 200_000, (0, 10_000_000)).of_limits(), "size at which a compaction starts; 0 is never";
        written: u32 = Param::tokens(4_000).of_limits(), "most that the summary may have (assumed)";
        estimator: Estimator = Param::estimator(Estimator::Recount).of_limits(), "what the published trigger is compared with";
        memory: bool = Param::choice(&["off", "on"], 1), "whether what leaves is noted, to be found again when asked for";
        note: usize = Param::count(ParamUnit::Characters, 2_000, (1, 10_000_000)), "most of one message or call batch that is noted (assumed)";
    }
}

fn limits(settings: &Settings) -> Result<Limits, ParamError> {
    let Options {
        window,
        threshold,
        written,
        estimator,
        ..
    } = Options::read(settings);
    let trigger = Deviations::read(settings).trigger(threshold);
    within_window("threshold", trigger, window)?;
    Ok(Limits {
        window,
        assumed_window: window == ASSUMED_WINDOW,
        trigger,
        tail: Tail::Tokens(0),
        written,
        estimator,
    })
}

struct Handoff {
    prompt: String,
    /// Most characters of a note; none where nothing is noted.
    note: Option<usize>,
    deviations: Deviations,
}

#[async_trait]
impl Strategy for Handoff {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = recent_or_skip(cx)?;
        let filled = |tokens: u32| fill(&self.prompt, &[("tokens", &tokens.to_string())]);
        let most = self.room(cx, &filled(cx.budget.written));
        let prompt = filled(most.unwrap_or(cx.budget.written));
        match self.summarize(cx, &prompt, most).await {
            Ok(summary) if self.deviations.intent => {
                Ok(self.with_notes(cx, published::with_intent(cx, &selection, summary)))
            }
            Ok(summary) => Ok(self.with_notes(cx, with_summary(cx, &selection, summary))),
            Err(reason) if self.deviations.residue => {
                Ok(published::with_residue(cx, prompt, reason))
            }
            Err(reason) => Err(reason.into()),
        }
    }

    async fn retrieve(
        &self,
        cx: &Context<'_>,
        questions: &[&str],
        room: u32,
    ) -> Vec<Vec<WrittenPart>> {
        retrieve::notes(cx, questions, room)
    }
}

impl Handoff {
    /// What leaves stays searchable.
    fn with_notes(&self, cx: &Context<'_>, mut compacted: Compacted) -> Compacted {
        if let Some(most_characters) = self.note {
            compacted.saved.extend(memory::of_leaving(
                cx.view,
                &compacted.edits,
                most_characters,
            ));
        }
        compacted
    }

    /// The most tokens that the answer may have in the chat; nothing if the window leaves too few.
    fn room(&self, cx: &Context<'_>, prompt: &str) -> Option<u32> {
        let written = cx.budget.written;
        let window = cx
            .summarizer_window
            .filter(|_| !self.deviations.full_context);
        let answers = total(
            cx.view
                .open_calls()
                .into_iter()
                .map(|id| cx.counter.count_part(&no_response(id))),
        );
        let needed = total([
            cx.view.tokens(),
            answers,
            cx.counter.count_text(prompt),
            CLEANED,
        ]);
        let room = window.map_or(written, |window| written.min(window.saturating_sub(needed)));
        (room >= written.min(LEAST_ANSWER)).then_some(room)
    }

    /// Asks in the chat for an answer of at most so many tokens, or reads a transcript in pieces if
    /// the chat has no room for one.
    async fn summarize(
        &self,
        cx: &Context<'_>,
        prompt: &str,
        most: Option<u32>,
    ) -> Result<String, FailReason> {
        if let Some(most) = most {
            return self.ask_in_chat(cx, prompt, most).await;
        }
        let with = |messages: String| {
            format!("{prompt}\nThe conversation so far:\n\n<messages>\n{messages}\n</messages>")
        };
        Ok(ask(
            cx,
            material(cx),
            with,
            cx.budget.written,
            None,
            AskOptions::default(),
        )
        .await?
        .text)
    }

    /// Asks the model that holds the chat; the second request says what was wrong with the answer
    /// to the first.
    async fn ask_in_chat(
        &self,
        cx: &Context<'_>,
        prompt: &str,
        most: u32,
    ) -> Result<String, FailReason> {
        let mut refused = String::new();
        let mut problem = NotASummary::Empty;
        for _ in 0..2 {
            let mut request = chat_and_prompt(cx, format!("{prompt}{refused}"), most);
            if self.deviations.full_context {
                request.max_output_tokens = None;
            }
            let answer = cx
                .summarizer
                .complete(Purpose::Compaction, request)
                .await?
                .text;
            match summary::check(&answer, material(cx).text.len()) {
                Err(found) if !self.deviations.unchecked => problem = found,
                _ => return Ok(answer.trim().to_owned()),
            }
            refused = format!("\n\nYour answer before was refused: {problem}.");
        }
        Err(FailReason::NoSummary(problem))
    }
}

/// Tokens of an answer that are worth asking for in the chat, unless the summary may only have
/// fewer.
const LEAST_ANSWER: u32 = 512;

/// Tokens that a request costs beside its texts: what pieces cost too, and the turn after a tool's
/// message.
const CLEANED: u32 = pieces::FRAME + 8;

fn material(cx: &Context<'_>) -> Material {
    Material::new(
        cx.view
            .entries()
            .iter()
            .filter(|entry| entry.role() != Role::System),
        RenderLimits::NONE,
    )
}

/// The chat as it is, and the prompt as one more user turn; the answer may have at most so many
/// tokens.
fn chat_and_prompt(cx: &Context<'_>, prompt: String, most: u32) -> ChatRequest {
    let mut request = ChatRequest::prompt(prompt, most, None, cx.summarizer.seed());
    let mut messages: Vec<WireMessage> = cx.view.to_wire();
    let open = cx.view.open_calls();
    if !open.is_empty() {
        // A provider takes no call without its result (the source's `fillMissingToolResponses`).
        messages.push(WireMessage {
            role: Role::Tool,
            parts: open.into_iter().map(no_response).collect::<Vec<_>>().into(),
        });
    }
    if messages
        .last()
        .is_some_and(|message| message.role == Role::Tool)
    {
        // The source's `ensureAssistantAfterTools`: no history ends on a tool's message.
        let text = "Understood.".to_owned();
        messages.push(WireMessage {
            role: Role::Assistant,
            parts: vec![Part::Text { text }].into(),
        });
    }
    messages.append(&mut request.messages);
    ChatRequest {
        messages,
        ..request
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::default_limits;

    #[test]
    fn the_limits_are_the_sources() {
        assert_eq!(
            default_limits(&SPEC),
            (250_000, 200_000, Tail::Tokens(0), 4_000)
        );
    }
}
