//! `middleware-checkpoint`: approach B of the strategic plan. A checkpoint is extracted before the
//! trigger, while everything is still in the context; then `summarize`, with the latest checkpoint
//! in the system prompt.
//!
//! Corrected against the source: what came since the last checkpoint is measured in the log, so
//! that a compaction does not silence the next one; raw, fenced and embedded JSON are read; a
//! failed extraction leaves the previous checkpoint in place, and another one adds to it; a new
//! checkpoint is shown with the next compaction, which voids the cached prefix anyway.

mod predictive;
mod published;

use std::sync::Arc;

use async_trait::async_trait;

use super::prompt_checkpoint::{
    CheckpointDeviations, Deviations, NOTHING, Options, ask_for_both, json, limits, previous,
    replaces, together, updated, with_summary_and_checkpoint,
};
use super::summarize::{SummaryDeviations, ask_for_summary};
use crate::checkpoint::{self, Checkpoint, Examples, Extraction};
use crate::conversation::record::{NewRecord, RecordKind};
use crate::conversation::render::{self, Material, RenderLimits};
use crate::conversation::view::WrittenPart;
use crate::message::{MessageId, Role};
use crate::model::meter::Purpose;
use crate::model::{ChatReply, ChatRequest};
use crate::recovery::Showing;
use crate::strategy::approach::Approach;
use crate::strategy::params::{Param, ParamUnit, Settings, parameters};
use crate::strategy::prompt::fill;
use crate::strategy::selection::Selection;
use crate::strategy::{
    Compacted, Context, Declined, FailReason, Strategy, StrategySpec, pieces, retrieve,
};

use published::ExtractionDeviations;
pub(super) use published::FORM;
use published::ShowingDeviations;

/// Registry entry: the limits of `prompt-checkpoint`, and the source's ratio and least difference.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "middleware-checkpoint",
    about: "a JSON checkpoint before the trigger, then a summary; the checkpoint joins the system prompt",
    source: "the strategic plan, approach B",
    approach: Some(Approach::Middleware),
    prompt: include_str!("prompt.md"),
    placeholders: &["messages"],
    params: PARAMS,
    limits,
    build: |settings| Arc::new(Extracting::new(settings, false)),
    published: Some(FORM),
};

/// Also those of `hybrid-checkpoint`.
pub(super) const PARAMS: &[&[Param]] = &[
    Options::PARAMS,
    Due::PARAMS,
    ExtractionDeviations::PARAMS,
    CheckpointDeviations::PARAMS,
    ShowingDeviations::PARAMS,
    SummaryDeviations::PARAMS,
];

parameters! {
    /// When a checkpoint is due.
    Due {
        ratio: f64 = Param::share(0.8), "share of the trigger at which a checkpoint is due";
        delta: u32 = Param::tokens(1_000), "least new tokens between two checkpoints";
        background: bool = Param::choice(&["off", "on"], 0), "a checkpoint is written beside the agent's turn, which does not wait for it; it is there from the next turn on";
        predictive: bool = Param::choice(&["off", "on"], 0), "a checkpoint is due by prediction, in place of `ratio`";
        ahead: f64 = Param::count(ParamUnit::Turns, 3, (0, 1_000)), "with `predictive`: turns of the agent within which the trigger would be reached";
        shift: f64 = Param::new(ParamUnit::Share, 0.1, (0.0, 1.0)), "with `predictive`: also due if the last messages resemble those before them less than this; 0 is never";
    }
}

/// The prompts of the calls at a compaction.
struct Prompts {
    summary: &'static str,
    /// Of a summary and a coarse checkpoint.
    both: &'static str,
}

const PROMPTS: Prompts = Prompts {
    summary: include_str!("../summarize/prompt.md"),
    both: include_str!("../prompt_checkpoint/prompt.md"),
};

/// Writes checkpoints before the trigger.
pub(super) struct Extracting {
    prompt: String,
    due: Due,
    deviations: ExtractionDeviations,
    checkpoints: CheckpointDeviations,
    shown: ShowingDeviations,
    summaries: SummaryDeviations,
    /// Whether a coarse checkpoint comes with each summary too.
    also_coarse: bool,
}

#[async_trait]
impl Strategy for Extracting {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = self.summaries.selection(cx)?;
        let (summary, body) = if self.also_coarse {
            self.ask_for_summary_and_merged(cx, &selection).await?
        } else {
            let most = cx.budget.half_of_written();
            (
                ask_for_summary(
                    cx,
                    self.prompts().summary,
                    &selection.leaving,
                    most,
                    self.summaries.options(),
                )
                .await?,
                None,
            )
        };
        Ok(with_summary_and_checkpoint(
            cx,
            &selection,
            &summary,
            body,
            self.showing(),
            self.checkpoints,
        ))
    }

    fn checkpoint_is_due(&self, cx: &Context<'_>) -> bool {
        self.is_near(cx) && self.new_tokens(cx) >= u64::from(self.due.delta)
    }

    async fn checkpoint(&self, cx: &Context<'_>) -> Result<NewRecord, FailReason> {
        let body = match self.extract(cx).await {
            Err(_) if self.checkpoints.overwrite => NOTHING.to_owned(),
            body => self.with_last(cx, body?),
        };
        Ok(NewRecord::new(RecordKind::Checkpoint, ends_of(cx), body))
    }

    fn writes_beside(&self) -> bool {
        self.due.background
    }

    fn showing(&self) -> Showing {
        Showing {
            at_once: self.shown.at_once,
            leaves_out: self.checkpoints.section,
        }
    }

    async fn retrieve(
        &self,
        cx: &Context<'_>,
        questions: &[&str],
        room: u32,
    ) -> Vec<Vec<WrittenPart>> {
        retrieve::checkpoint(cx, questions, room).await
    }
}

impl Extracting {
    pub(super) fn new(settings: &Settings, also_coarse: bool) -> Self {
        Extracting {
            prompt: settings.prompt().to_owned(),
            due: Due::read(settings),
            deviations: ExtractionDeviations::read(settings),
            checkpoints: CheckpointDeviations::read(settings),
            shown: ShowingDeviations::read(settings),
            summaries: SummaryDeviations::read(settings),
            also_coarse,
        }
    }

    /// A summary and, where its checkpoint can be read, that one together with the finer one before
    /// it.
    async fn ask_for_summary_and_merged(
        &self,
        cx: &Context<'_>,
        selection: &Selection<'_>,
    ) -> Result<(String, Option<String>), FailReason> {
        let Extracting {
            deviations,
            checkpoints,
            summaries,
            ..
        } = *self;
        let deviations = Deviations {
            parser: deviations.parser,
            checkpoints,
            summaries,
        };
        let prompt = self.prompts().both;
        let (summary, body) = ask_for_both(cx, prompt, selection, deviations).await?;
        Ok((
            summary,
            body.map(|body| updated(cx, prompt, body, checkpoints)),
        ))
    }

    fn prompts(&self) -> Prompts {
        if self.shown.prompts {
            published::PROMPTS
        } else {
            PROMPTS
        }
    }

    /// A new checkpoint together with what the last one held, as much of both as a checkpoint may
    /// have.
    fn with_last(&self, cx: &Context<'_>, body: String) -> String {
        let body = updated(cx, &self.prompt, body, self.checkpoints);
        match serde_json::from_str::<Checkpoint>(&body) {
            Ok(mut checkpoint) if !self.checkpoints.untrimmed => {
                let most = cx.budget.half_of_written();
                checkpoint
                    .trim(|checkpoint| cx.counter.count_text(&checkpoint.to_section()) <= most);
                json(&checkpoint)
            }
            _ => body,
        }
    }

    fn is_near(&self, cx: &Context<'_>) -> bool {
        if self.due.predictive {
            return predictive::reaches_trigger(cx, self.due.ahead)
                || predictive::shifts_topic(cx, self.due.shift);
        }
        f64::from(cx.request_tokens) >= f64::from(cx.budget.trigger) * self.due.ratio
    }

    fn new_tokens(&self, cx: &Context<'_>) -> u64 {
        if self.deviations.stale_count {
            self.deviations.new_tokens(cx)
        } else {
            tokens_since_last(cx)
        }
    }

    /// The checkpoint's JSON. Of a context that was read in pieces, each answer adds to those
    /// before it, or has replaced them.
    async fn extract(&self, cx: &Context<'_>) -> Result<String, FailReason> {
        let previous = previous(cx);
        let mut replies = self.ask(cx, self.messages(cx), &previous).await;
        if let Ok(replies) = &mut replies
            && replaces(&self.prompt, self.checkpoints)
        {
            replies.drain(..replies.len().saturating_sub(1));
        }
        let material = || self.messages(cx).text + "\n" + &previous;
        let examples = Examples::new(&self.prompt, material);
        let mut whole: Option<String> = None;
        for reply in replies.inspect_err(|reason| cx.summarizer.note_failed(reason))? {
            let (body, extraction) = self.read(&reply, &examples);
            cx.summarizer.note(extraction);
            whole = joined(whole, body);
        }
        whole.ok_or(FailReason::NoCheckpoint)
    }

    fn read(&self, reply: &ChatReply, examples: &Examples<'_>) -> (Option<String>, Extraction) {
        if self.deviations.parser {
            return published::extracted(&reply.text);
        }
        let (checkpoint, extraction) = checkpoint::extract(&reply.text, reply.finish, examples);
        (checkpoint.map(|checkpoint| json(&checkpoint)), extraction)
    }

    fn messages(&self, cx: &Context<'_>) -> Material {
        let entries = cx
            .view
            .entries()
            .iter()
            .filter(|entry| entry.role() != Role::System);
        if self.shown.roles {
            published::messages(cx, entries)
        } else {
            Material::new(entries, RenderLimits::NONE)
        }
    }

    /// Asks for a checkpoint of each piece of the messages. A prompt that shows the last checkpoint
    /// shows the answer to the piece before.
    async fn ask(
        &self,
        cx: &Context<'_>,
        messages: Material,
        previous: &str,
    ) -> Result<Vec<ChatReply>, FailReason> {
        let most = cx.budget.half_of_written();
        let tokens = most.to_string();
        let with = |messages: String, previous: &str| {
            fill(
                &self.prompt,
                &[
                    ("tokens", &tokens),
                    ("previous", previous),
                    ("messages", &messages),
                ],
            )
        };
        let fixed = || cx.counter.count_text(&with(String::new(), previous));
        // An answer may take the place of the checkpoint before, which the pieces leave room for,
        // and its own.
        let fixed_answer = cx.counter.count_text(previous).saturating_add(most);
        let mut earlier = previous.to_owned();
        let mut replies = Vec::new();
        for piece in self.summaries.options().pieces(cx, messages, fixed, most)? {
            let shown = with(piece, pieces::shortened(cx, &earlier, fixed_answer));
            let request = ChatRequest::prompt(shown, most, None, cx.summarizer.seed());
            let reply = cx.summarizer.complete(Purpose::Checkpoint, request).await?;
            earlier = render::neutralize(&reply.text);
            replies.push(reply);
        }
        Ok(replies)
    }
}

/// A checkpoint with what a later reply adds.
fn joined(earlier: Option<String>, body: Option<String>) -> Option<String> {
    let checkpoint = earlier
        .as_deref()
        .and_then(|body| serde_json::from_str::<Checkpoint>(body).ok());
    match (checkpoint, body) {
        (Some(checkpoint), Some(body)) => Some(together(checkpoint, body)),
        (_, body) => body.or(earlier),
    }
}

/// Tokens of the log since the last checkpoint or the last failed attempt at one; all of them where
/// there was none.
fn tokens_since_last(cx: &Context<'_>) -> u64 {
    let tried = cx
        .history
        .iter()
        .filter(|saved| matches!(saved.kind, RecordKind::Checkpoint | RecordKind::Failed));
    // The newest of them may cover less than the one before: with a summary it covers what left.
    let last = tried
        .filter_map(|saved| saved.covers)
        .map(|(_, last)| last)
        .max();
    let newer = cx
        .log
        .messages()
        .iter()
        .rev()
        .take_while(|counted| last.is_none_or(|last| counted.message.id > last));
    newer.map(|counted| u64::from(counted.tokens)).sum()
}

fn ends_of(cx: &Context<'_>) -> Option<(MessageId, MessageId)> {
    let messages = cx.log.messages();
    Some((messages.first()?.message.id, messages.last()?.message.id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Tail;
    use crate::strategies::default_limits;

    #[test]
    fn the_limits_are_the_sources() {
        assert_eq!(
            default_limits(&SPEC),
            (12_500, 10_000, Tail::Tokens(2_000), 800)
        );
    }
}
