//! `chained`: source 004. One sectioned summary that takes in its predecessor, before the recent tail.
//!
//! Mended against the source (STRATEGIES section 1): the previous summary is known by its origin and not by a heading that
//! its own prompt misspells; the original task is taken from the log; the summary is a user turn, so the chat never opens
//! with an assistant's; nothing of it is cut before it is merged; the pending part stays; a model's limit is looked up, and
//! one that the reserves use up is refused.

mod published;

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    Faithful, ask, ask_once, characters, defect, edits_with, estimator, fill_around, messages, recent_or_skip, share,
    temperature, tokens, with_summary,
};
use crate::budget::Tail;
use crate::budget::estimate::Estimator;
use crate::conversation::log::Log;
use crate::conversation::record::RecordKind;
use crate::conversation::render::{self, Material, RenderLimits};
use crate::conversation::view::{Entry, Origin};
use crate::message::{Part, Role};
use crate::strategy::declined::Declined;
use crate::strategy::declined::FailReason;
use crate::strategy::params::{Param, ParamError, Settings, Unit};
use crate::strategy::selection::Selection;
use crate::strategy::{Compacted, Context, Strategy, StrategySpec};

/// Registry entry, with the source's `DEFAULT_CONFIG` and the limits of its `formatMessagesForSummary`.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "chained",
    about: "one sectioned summary, each merged with the one before it",
    source: "004",
    prompt: include_str!("prompt.md"),
    placeholders: &["previous", "task", "messages"],
    params: &[
        tokens("window", "context window of the model", 128_000),
        tokens("system_reserve", "kept free for system prompt and tools", 2_000),
        tokens("output_reserve", "kept free for the answer", 4_000),
        tokens("safety_buffer", "kept free for errors of the estimate", 5_000),
        share("threshold", "share of what is left at which a compaction starts", 0.8),
        messages("tail", "kept verbatim", 10),
        tokens("asked", "asked for in the prompt", 800),
        tokens("written", "most that the summary may have", 1_000),
        characters("message_limit", "rendered of one message", 2_000),
        characters("result_limit", "rendered of one tool result", 500),
        temperature(0.3),
        estimator(Estimator::Classes),
        MODEL,
        defect("lookup", "a model's limit is looked up nowhere"),
        defect("negative", "a window that the reserves use up compacts at every call"),
        defect("detector", "an earlier summary is known by its place and the heading `## Session Summary` alone"),
        defect("task", "the original task is the first user turn that still stands"),
        defect("assistant", "the summary is an assistant's turn"),
        defect("by_place", "what stands first counts as the system prompt, and the last messages by number alone"),
        defect("unmarked", "the record names none of the messages that it stands for"),
        defect("unguarded", "one request of any size, and any answer is taken for a summary"),
    ],
    limits,
    build: |settings| Arc::new(Chained { settings: settings.clone() }),
};

/// As the document has it. Its prompt's heading is not the one that its detector looks for. Where its table says 10,000
/// characters its code says 2,000, and that rules.
pub(super) const FAITHFUL: Faithful = Faithful {
    spec: &SPEC,
    values: &[
        ("prompt", include_str!("published.md")),
        ("estimator", "characters"),
        ("lookup", "faithful"),
        ("negative", "faithful"),
        ("detector", "faithful"),
        ("task", "faithful"),
        ("assistant", "faithful"),
        ("by_place", "faithful"),
        ("unmarked", "faithful"),
        ("unguarded", "faithful"),
    ],
    breaks: &[3, 5, 6, 8, 9, 12, 15, 21],
};

/// Source 004, `MODEL_CONTEXT_LIMITS`, which the source looks up nowhere; here it sets the window.
const CONTEXT_LIMITS: &[(&str, u32)] = &[
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4", 8_192),
    ("claude-3-5-sonnet-20240620", 200_000),
    ("claude-3-haiku-20240307", 200_000),
];

/// `window` is the first choice; the models follow in the order of [`CONTEXT_LIMITS`].
const MODEL: Param = Param {
    name: "model",
    about: "whose context limit is the window; `window` takes the parameter of that name",
    unit: Unit::Choice(&[
        "window",
        CONTEXT_LIMITS[0].0,
        CONTEXT_LIMITS[1].0,
        CONTEXT_LIMITS[2].0,
        CONTEXT_LIMITS[3].0,
        CONTEXT_LIMITS[4].0,
    ]),
    default: 0.0,
    range: (0.0, CONTEXT_LIMITS.len() as f64),
};

/// 004: (limit - reserves) x threshold, 93,600 by default.
fn limits(settings: &Settings) -> Result<crate::budget::Limits, ParamError> {
    let reserves =
        ["system_reserve", "output_reserve", "safety_buffer"].map(|name| settings.number(name)).iter().sum::<f64>();
    let of_model = (settings.count("model") as usize).checked_sub(1).and_then(|place| CONTEXT_LIMITS.get(place));
    let of_model = of_model.filter(|_| !settings.is_faithful("lookup"));
    let window = of_model.map_or(settings.number("window"), |(_, limit)| f64::from(*limit));
    let is_negative = reserves >= window;
    if is_negative && !settings.is_faithful("negative") {
        return Err(ParamError::Contradiction(format!(
            "`window` is {window} tokens; its reserves alone take {reserves}"
        )));
    }
    Ok(crate::budget::Limits {
        window: window as u32,
        trigger: if is_negative { 1 } else { ((window - reserves) * settings.number("threshold")) as u32 },
        tail: Tail::Messages(settings.count("tail")),
        written: settings.count("written"),
    })
}

struct Chained {
    settings: Settings,
}

#[async_trait]
impl Strategy for Chained {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let is = |defect| self.settings.is_faithful(defect);
        let selection = if is("by_place") { published::selection(cx)? } else { recent_or_skip(cx)? };
        let (previous, leaving) = self.previous_and_leaving(cx, &selection);
        let mut messages = Material::new(leaving, self.limits(), self.settings.prompt().len());
        let unread = std::mem::take(&mut messages.cut);
        let summary = self.summarize(cx, messages, previous).await?;
        let mut compacted = with_summary(cx, &selection, summary);
        if is("assistant") {
            compacted.edits = edits_with(cx, &selection, published::assistants(cx, &compacted.saved[0].body));
        }
        if is("unmarked") {
            compacted.saved[0].covers = None;
        }
        Ok(Compacted { unread, ..compacted })
    }
}

impl Chained {
    /// The summary to merge, and what leaves without it.
    fn previous_and_leaving<'v>(
        &self,
        cx: &Context<'v>,
        selection: &Selection<'v>,
    ) -> (Option<&'v str>, Vec<&'v Entry>) {
        let leaving = selection.leaving.iter().copied();
        if self.settings.is_faithful("detector") {
            let found = published::summary(cx.view);
            let is_found = |entry: &&Entry| found.is_some_and(|(summary, _)| std::ptr::eq(summary, *entry));
            return (found.map(|(_, text)| text), leaving.filter(|entry| !is_found(entry)).collect());
        }
        let saved = cx.history.latest(RecordKind::Summary);
        (saved.map(|saved| saved.body.as_str()), leaving.filter(|entry| !is_summary(entry)).collect())
    }

    async fn summarize(
        &self,
        cx: &Context<'_>,
        messages: Material,
        previous: Option<&str>,
    ) -> Result<String, FailReason> {
        let settings = &self.settings;
        // Records of failed attempts are no rounds.
        let round = 1 + cx.history.iter().filter(|saved| saved.kind == RecordKind::Summary).count();
        let previous = previous.map_or("None: this is the first round.".to_owned(), render::neutralize);
        let (written, temperature) = (cx.budget.written, settings.number("temperature") as f32);
        let share = settings.number("asked") / settings.number("written");
        let asked = (f64::from(written) * share) as u32;
        let task = if settings.is_faithful("task") { published::task(cx.view) } else { original_task(cx.log) };
        let task = render::neutralize(&render::cut(task, self.limits().message));
        let (round, asked) = (round.to_string(), asked.to_string());
        let values = [("previous", previous.as_str()), ("task", &task), ("round", &round), ("tokens", &asked)];
        let with = |messages| fill_around(messages, settings.prompt(), &values);
        if settings.is_faithful("unguarded") {
            return Ok(ask_once(cx, with(messages.text), written, Some(temperature)).await?.text);
        }
        ask(cx, messages, with, written, Some(temperature)).await
    }

    fn limits(&self) -> RenderLimits {
        let count = |name| self.settings.count(name) as usize;
        RenderLimits { message: count("message_limit"), tool_result: count("result_limit") }
    }
}

fn is_summary(entry: &Entry) -> bool {
    entry.parts().any(|(_, origin)| matches!(origin, Origin::Summary(_)))
}

/// The first thing that the user asked for.
fn original_task(log: &Log) -> &str {
    let users = log.messages().iter().filter(|counted| counted.message.role == Role::User);
    first_text(users.flat_map(|counted| &counted.message.parts)).unwrap_or(UNKNOWN_TASK)
}

fn first_text<'p>(mut parts: impl Iterator<Item = &'p Part>) -> Option<&'p str> {
    parts.find_map(|part| match part {
        Part::Text { text } if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    })
}

/// What the source writes where nobody asked for anything.
const UNKNOWN_TASK: &str = "Unknown task";
