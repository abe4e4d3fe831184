//! `chained`: the summary chain. One sectioned summary that takes in its predecessor, before the
//! recent tail.
//!
//! Corrected against the source: the previous summary is known by its origin and not by a heading
//! that its own prompt misspells; the original task is taken from the log; the summary is a user
//! turn, so the chat never opens with an assistant's; nothing of it is cut before it is merged; the
//! pending part stays; a model's limit is looked up, and one that the reserves use up is refused.

mod published;

use std::sync::Arc;

use async_trait::async_trait;

use self::published::Deviations;
use crate::budget::estimate::Estimator;
use crate::budget::{Limits, Tail};
use crate::conversation::log::Log;
use crate::conversation::record::RecordKind;
use crate::conversation::render::{self, Material, RenderLimits};
use crate::conversation::view::{Entry, Origin};
use crate::message::{Part, Role};
use crate::strategy::approach::Approach;
use crate::strategy::ask::{AskOptions, ask};
use crate::strategy::next_view::{recent_or_skip, with_summary};
use crate::strategy::params::{Param, ParamError, ParamUnit, Settings, parameters};
use crate::strategy::prompt::{self, fill};
use crate::strategy::selection::Selection;
use crate::strategy::{Compacted, Context, Declined, FailReason, Strategy, StrategySpec};

/// Registry entry, with the source's `DEFAULT_CONFIG` and the limits of its
/// `formatMessagesForSummary`.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "chained",
    about: "one sectioned summary, each merged with the one before it",
    source: "the summary chain",
    approach: Some(Approach::Chain),
    prompt: include_str!("prompt.md"),
    placeholders: &["previous", "task", "messages"],
    params: &[Options::PARAMS, Deviations::PARAMS],
    limits,
    build: |settings| {
        Arc::new(Chained {
            prompt: settings.prompt().to_owned(),
            options: Options::read(settings),
            deviations: Deviations::read(settings),
        })
    },
    published: Some(published::FORM),
};

parameters! {
    /// The source's configuration.
    Options {
        window: u32 = Param::tokens(128_000).of_limits(), "context window of the model";
        system_reserve: u32 = Param::tokens(2_000).of_limits(), "kept free for system prompt and tools";
        output_reserve: u32 = Param::tokens(4_000).of_limits(), "kept free for the answer";
        safety_buffer: u32 = Param::tokens(5_000).of_limits(), "kept free for errors of the estimate";
        threshold: f64 = Param::share(0.8).of_limits(), "share of what is left at which a compaction starts";
        tail: u32 = Param::count(ParamUnit::Messages, 10, (0, 10_000)).of_limits(), "kept verbatim";
        asked: u32 = Param::tokens(800).relative(), "asked for in the prompt";
        written: u32 = Param::tokens(1_000).relative(), "most that the summary may have";
        message_limit: usize = Param::count(ParamUnit::Characters, 2_000, (1, 10_000_000)), "rendered of one message";
        result_limit: usize = Param::count(ParamUnit::Characters, 500, (1, 10_000_000)), "rendered of one tool result";
        chain: bool = Param::choice(&["off", "on"], 1), "whether each summary takes in the one before it; without it, that one is lost";
        temperature: f64 = Param::new(ParamUnit::Temperature, 0.3, (0.0, 2.0)), "of the summarizer";
        estimator: Estimator = Param::estimator(Estimator::Exact).of_limits(), "what the published trigger is compared with";
        model: usize = Param::choice(MODELS, 0).of_limits(), "whose limit is the context window; `window` takes the parameter of that name";
    }
}

/// The source's `MODEL_CONTEXT_LIMITS`, which it looks up nowhere; here it sets the window.
const CONTEXT_LIMITS: &[(&str, u32)] = &[
    ("gpt-4o", 128_000),
    ("gpt-4-turbo", 128_000),
    ("gpt-4", 8_192),
    ("claude-3-5-sonnet-20240620", 200_000),
    ("claude-3-haiku-20240307", 200_000),
];

/// `window` is the first choice; the models follow in the order of [`CONTEXT_LIMITS`].
const MODELS: &[&str] = &[
    "window",
    CONTEXT_LIMITS[0].0,
    CONTEXT_LIMITS[1].0,
    CONTEXT_LIMITS[2].0,
    CONTEXT_LIMITS[3].0,
    CONTEXT_LIMITS[4].0,
];

/// The source's (limit - reserves) x threshold, 93,600 by default.
fn limits(settings: &Settings) -> Result<Limits, ParamError> {
    let (options, deviations) = (Options::read(settings), Deviations::read(settings));
    let Options {
        system_reserve,
        output_reserve,
        safety_buffer,
        threshold,
        tail,
        written,
        estimator,
        ..
    } = options;
    let model = options.model.checked_sub(1).filter(|_| !deviations.lookup);
    let window = model.map_or(options.window, |model| CONTEXT_LIMITS[model].1);
    let reserves = system_reserve + output_reserve + safety_buffer;
    let left = window.checked_sub(reserves).filter(|left| *left > 0);
    let trigger = match left {
        Some(left) => (f64::from(left) * threshold) as u32,
        None if deviations.negative => 1,
        None => return Err(without_room(window, reserves)),
    };
    Ok(Limits {
        window,
        assumed_window: false,
        trigger,
        tail: Tail::Messages(tail),
        written,
        estimator,
    })
}

fn without_room(window: u32, reserves: u32) -> ParamError {
    ParamError(format!(
        "`window` is {window} tokens; its reserves already take {reserves}"
    ))
}

struct Chained {
    prompt: String,
    options: Options,
    deviations: Deviations,
}

#[async_trait]
impl Strategy for Chained {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = if self.deviations.by_place {
            published::selection(cx)?
        } else {
            recent_or_skip(cx)?
        };
        let (previous, leaving) = self.previous_and_leaving(cx, &selection);
        let mut messages = Material::new(leaving, self.render_limits());
        let unread = std::mem::take(&mut messages.cut);
        let summary = self.summarize(cx, messages, previous).await?;
        let mut compacted = with_summary(cx, &selection, summary);
        self.deviations.change(cx, &selection, &mut compacted);
        Ok(Compacted {
            unread,
            ..compacted
        })
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
        if self.deviations.detector {
            return published::previous_and_leaving(cx.view, leaving);
        }
        let saved = cx.history.latest(RecordKind::Summary);
        let saved = saved.filter(|_| self.options.chain);
        (
            saved.map(|saved| saved.body.as_str()),
            leaving.filter(|entry| !is_summary(entry)).collect(),
        )
    }

    async fn summarize(
        &self,
        cx: &Context<'_>,
        messages: Material,
        previous: Option<&str>,
    ) -> Result<String, FailReason> {
        // Records of failed attempts are not rounds.
        let round = 1 + cx
            .history
            .iter()
            .filter(|saved| saved.kind == RecordKind::Summary)
            .count();
        let previous = previous.map_or(
            "None: this is the first round.".to_owned(),
            render::neutralize,
        );
        let (written, temperature) = (cx.budget.written, Some(self.options.temperature as f32));
        let share = f64::from(self.options.asked) / f64::from(self.options.written);
        let asked = (f64::from(written) * share) as u32;
        let task = if self.deviations.task {
            published::task(cx.view)
        } else {
            original_task(cx.log)
        };
        let task = render::neutralize(&render::cut(task, self.options.message_limit));
        let (system, prompt) = prompt::messages(&self.prompt);
        let (round, asked) = (round.to_string(), asked.to_string());
        let with = |messages: String| {
            let values = [
                ("previous", previous.as_str()),
                ("task", &task),
                ("round", &round),
                ("tokens", &asked),
            ];
            fill(prompt, &[&values[..], &[("messages", &messages)]].concat())
        };
        let options = AskOptions {
            system,
            ..AskOptions::unguarded(self.deviations.unguarded)
        };
        Ok(ask(cx, messages, with, written, temperature, options)
            .await?
            .text)
    }

    fn render_limits(&self) -> RenderLimits {
        RenderLimits {
            message: self.options.message_limit,
            tool_result: self.options.result_limit,
        }
    }
}

fn is_summary(entry: &Entry) -> bool {
    entry
        .parts()
        .any(|(_, origin)| matches!(origin, Origin::Summary(_)))
}

/// The first thing that the user asked for.
fn original_task(log: &Log) -> &str {
    let users = log
        .messages()
        .iter()
        .filter(|counted| counted.message.role == Role::User);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies::default_limits;

    #[test]
    fn the_limits_are_the_sources() {
        assert_eq!(
            default_limits(&SPEC),
            (128_000, 93_600, Tail::Messages(10), 1_000)
        );
    }
}
