//! `middleware-checkpoint`: source 000, approach B. A checkpoint is extracted before the trigger, while everything is still in
//! the context; then `summarize`, with the latest checkpoint in the system prompt.
//!
//! Mended against the source: what came since the last checkpoint is measured in the log, so that a compaction does not silence
//! the next one; raw, fenced and embedded JSON are read; a failed extraction leaves the previous checkpoint in place; a new
//! checkpoint is shown with the next compaction, which voids the cached prefix anyway.

mod predictive;
mod published;

use std::sync::Arc;

use async_trait::async_trait;

use super::prompt_checkpoint::{
    FORGETS, NOTHING, OVERWRITE, SECTION, json, previous_checkpoint, with_summary_and_checkpoint,
};
use super::published::{Asking, Faithful, ONE_PIECE, PENDING, UNCHECKED, selected};
use super::summarize::ask_as;
use super::{defect, fill_around, plain_limits, share, tokens};
use crate::checkpoint::{self, Examples};
use crate::conversation::record::{NewRecord, RecordKind, SessionRecord};
use crate::conversation::render::{self, Material, RenderLimits};
use crate::conversation::view::WrittenPart;
use crate::message::{MessageId, Role};
use crate::model::meter::Purpose;
use crate::model::{ChatReply, ChatRequest};
use crate::recovery::Showing;
use crate::strategy::declined::Declined;
use crate::strategy::declined::FailReason;
use crate::strategy::params::{Param, Settings, Unit};
use crate::strategy::pieces;
use crate::strategy::retrieve;
use crate::strategy::{Compacted, Context, Strategy, StrategySpec};

/// Registry entry: the limits of `prompt-checkpoint`, and the source's ratio and least difference.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "middleware-checkpoint",
    about: "a JSON checkpoint before the trigger, then a summary; the checkpoint joins the system prompt",
    source: "000, approach B",
    prompt: include_str!("prompt.md"),
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
    Param {
        name: "predictive",
        about: "a checkpoint is due by prediction, in place of `ratio` (000, part 8)",
        unit: Unit::Choice(&["off", "on"]),
        default: 0.0,
        range: (0.0, 1.0),
    },
    Param {
        name: "ahead",
        about: "predictive: turns of the agent within which the trigger would be reached (ours)",
        unit: Unit::Turns,
        default: 3.0,
        range: (0.0, 1_000.0),
    },
    Param {
        name: "shift",
        about: "predictive: also due where the last messages are less alike those before (ours); 0 is never",
        unit: Unit::Share,
        default: 0.1,
        range: (0.0, 1.0),
    },
    defect(
        "stale_count",
        "new tokens are those above the size at the last checkpoint, which a compaction leaves as it is",
    ),
    Param {
        range: (0.0, 10_000_000.0),
        ..tokens("other_threads", "stale_count: size at which another thread's checkpoint left the counter of all", 0)
    },
    defect("parser", "unfenced JSON is not read"),
    OVERWRITE,
    FORGETS,
    defect("at_once", "each checkpoint joins the system prompt at once and voids the cached prefix"),
    SECTION,
    defect("roles", "messages stand as ROLE: content, without calls; a tag in them may close the prompt's"),
    UNCHECKED,
    ONE_PIECE,
    PENDING,
];

/// As the document has it. `other_threads` stays 0, since a replay has one thread.
pub(super) const FAITHFUL: Faithful = Faithful { spec: &SPEC, values: DEFECTS, breaks: &[1, 3, 5, 6, 8, 18, 21] };

/// Also those of `hybrid-checkpoint`.
pub(super) const DEFECTS: &[(&str, &str)] = &[
    ("stale_count", "faithful"),
    ("parser", "faithful"),
    ("overwrite", "faithful"),
    ("forgets", "faithful"),
    ("at_once", "faithful"),
    ("section", "faithful"),
    ("roles", "faithful"),
    ("unchecked", "faithful"),
    ("one_piece", "faithful"),
    ("pending", "faithful"),
];

const SUMMARY_PROMPT: &str = include_str!("../summarize/prompt.md");

struct MiddlewareCheckpoint {
    extraction: Extraction,
}

#[async_trait]
impl Strategy for MiddlewareCheckpoint {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let settings = &self.extraction.settings;
        let selection = selected(cx, settings)?;
        let asking = Asking::new(settings);
        let summary = ask_as(cx, SUMMARY_PROMPT, &selection, cx.budget.half_of_written(), asking).await?;
        Ok(with_summary_and_checkpoint(cx, &selection, &summary, None, self.showing()))
    }

    fn checkpoint_is_due(&self, cx: &Context<'_>) -> bool {
        self.extraction.is_due(cx)
    }

    async fn checkpoint(&self, cx: &Context<'_>) -> Result<NewRecord, FailReason> {
        self.extraction.run(cx).await
    }

    fn showing(&self) -> Showing {
        self.extraction.showing()
    }

    async fn retrieve(&self, cx: &Context<'_>, questions: &[&str], room: u32) -> Vec<Vec<WrittenPart>> {
        retrieve::checkpoint(cx, questions, room).await
    }
}

/// Extraction before the trigger.
pub(super) struct Extraction {
    pub(super) settings: Settings,
    /// Settings that are asked before every turn.
    near: Near,
    delta: u64,
}

/// From when on a checkpoint may be due.
enum Near {
    /// From this share of the trigger on.
    Ratio(f64),
    /// By prediction: that many turns ahead of the trigger, or where the topic shifts.
    Predicted { ahead: f64, shift: f64 },
}

impl Extraction {
    pub(super) fn new(settings: &Settings) -> Self {
        let number = |name: &str| settings.number(name);
        let near = if number("predictive") > 0.0 {
            Near::Predicted { ahead: number("ahead"), shift: number("shift") }
        } else {
            Near::Ratio(number("ratio"))
        };
        Extraction { near, delta: settings.count("delta").into(), settings: settings.clone() }
    }

    pub(super) fn is_due(&self, cx: &Context<'_>) -> bool {
        self.is_near(cx) && self.new_tokens(cx) >= self.delta
    }

    pub(super) async fn run(&self, cx: &Context<'_>) -> Result<NewRecord, FailReason> {
        let body = match self.extract(cx).await {
            Err(_) if self.settings.is_faithful("overwrite") => NOTHING.to_owned(),
            body => body?,
        };
        Ok(NewRecord { kind: RecordKind::Checkpoint, covers: ends_of(cx), body })
    }

    pub(super) fn showing(&self) -> Showing {
        let is = |name: &str| self.settings.is_faithful(name);
        Showing { at_once: is("at_once"), leaves_out: is("section") }
    }

    fn is_near(&self, cx: &Context<'_>) -> bool {
        match self.near {
            Near::Ratio(ratio) => f64::from(cx.request_tokens) >= f64::from(cx.budget.trigger) * ratio,
            Near::Predicted { ahead, shift } => {
                predictive::reaches_trigger(cx, ahead) || predictive::shifts_topic(cx, shift)
            }
        }
    }

    fn new_tokens(&self, cx: &Context<'_>) -> u64 {
        if !self.settings.is_faithful("stale_count") {
            return tokens_since_last(cx);
        }
        let of_this = cx.history.iter().rfind(|saved| is_before_a_turn(saved)).map_or(0, |saved| saved.tokens_before);
        // One counter for all threads holds what the last of them left; of several, the greatest silences longest.
        let counter = of_this.max(self.settings.count("other_threads"));
        u64::from(cx.view.tokens().saturating_sub(counter))
    }

    /// The checkpoint's JSON.
    async fn extract(&self, cx: &Context<'_>) -> Result<String, FailReason> {
        let previous = previous_checkpoint(cx, &self.settings);
        let reply = self.ask(cx, self.messages(cx), &previous).await;
        let reply = reply.inspect_err(|reason| cx.summarizer.note_failed(reason))?;
        let (body, extraction) = if self.settings.is_faithful("parser") {
            published::extracted(&reply.text)
        } else {
            let material = || self.messages(cx).text + "\n" + &previous;
            let examples = Examples::new(self.settings.prompt(), material);
            let (checkpoint, extraction) = checkpoint::extract(&reply.text, reply.finish, &examples);
            (checkpoint.map(|checkpoint| json(&checkpoint)), extraction)
        };
        cx.summarizer.note(extraction);
        body.ok_or(FailReason::NoCheckpoint)
    }

    fn messages(&self, cx: &Context<'_>) -> Material {
        let entries = cx.view.entries().iter().filter(|entry| entry.role() != Role::System);
        if self.settings.is_faithful("roles") {
            published::messages(cx, entries)
        } else {
            Material::new(entries, RenderLimits::NONE, self.settings.prompt().len())
        }
    }

    /// Asks for a checkpoint of the messages. Of a context that does not fit, each piece updates the checkpoint of the pieces
    /// before.
    async fn ask(&self, cx: &Context<'_>, messages: Material, previous: &str) -> Result<ChatReply, FailReason> {
        let most = cx.budget.half_of_written();
        let tokens = most.to_string();
        let with = |messages: String, previous: &str| {
            fill_around(messages, self.settings.prompt(), &[("tokens", &tokens), ("previous", previous)])
        };
        let fixed = || cx.counter.count_text(&with(String::new(), previous));
        // An answer may take the place of the checkpoint before, which the pieces leave room for, and its own.
        let fixed_answer = cx.counter.count_text(previous).saturating_add(most);
        let mut earlier = previous.to_owned();
        let mut last = Err(FailReason::NoCheckpoint);
        for piece in Asking::new(&self.settings).pieces(cx, messages, fixed, most)? {
            let shown = with(piece, pieces::shortened(cx, &earlier, fixed_answer));
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
    let tried = cx.history.iter().filter(|saved| matches!(saved.kind, RecordKind::Checkpoint | RecordKind::Failed));
    // The newest of them may cover less than the one before: with a summary it covers what left.
    let last = tried.filter_map(|saved| saved.covers).map(|(_, last)| last).max();
    let newer = cx.log.messages().iter().rev().take_while(|counted| last.is_none_or(|last| counted.message.id > last));
    newer.map(|counted| u64::from(counted.tokens)).sum()
}

/// Whether a record is a checkpoint that came without a summary: the view was as large after it as before.
fn is_before_a_turn(saved: &SessionRecord) -> bool {
    saved.kind == RecordKind::Checkpoint && saved.tokens_before == saved.tokens_after
}

fn ends_of(cx: &Context<'_>) -> Option<(MessageId, MessageId)> {
    let messages = cx.log.messages();
    Some((messages.first()?.message.id, messages.last()?.message.id))
}
