//! `chained`: source 004. One sectioned summary that takes in its predecessor, before the recent tail.
//!
//! Mended against the source (STRATEGIES section 1): the previous summary is known by its origin and not by a heading that
//! its own prompt misspells; the original task is taken from the log; the summary is a user turn, so the chat never opens
//! with an assistant's; nothing of it is cut before it is merged.

use std::sync::Arc;

use async_trait::async_trait;

use super::{ask, characters, estimator, fill, messages, recent_or_skip, share, temperature, tokens, with_summary};
use crate::budget::Tail;
use crate::estimate::Estimator;
use crate::log::Log;
use crate::message::{Part, Role};
use crate::params::{Param, ParamError, Settings, Unit};
use crate::render::{self, Limits, Material};
use crate::saved::{SavedKind, latest};
use crate::strategy::{Compacted, Context, Declined, Strategy, StrategySpec};
use crate::view::{Entry, Origin};

/// Registry entry, with the source's `DEFAULT_CONFIG` and the limits of its `formatMessagesForSummary`.
pub(super) const SPEC: StrategySpec = StrategySpec {
    name: "chained",
    about: "one sectioned summary, each merged with the one before it",
    source: "004",
    prompt: include_str!("chained.md"),
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
    ],
    limits,
    build: |settings| {
        Arc::new(Chained {
            prompt: settings.prompt().to_owned(),
            limits: Limits {
                message: settings.count("message_limit") as usize,
                tool_result: settings.count("result_limit") as usize,
            },
            asked_share: settings.number("asked") / settings.number("written"),
            temperature: settings.number("temperature") as f32,
        })
    },
};

/// Source 004, `MODEL_CONTEXT_LIMITS`: a name that the source looks up nowhere; here it sets the window.
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
    let window = of_model.map_or(settings.number("window"), |(_, limit)| f64::from(*limit));
    if reserves >= window {
        return Err(ParamError::Contradiction(format!(
            "`window` is {window} tokens; its reserves alone take {reserves}"
        )));
    }
    Ok(crate::budget::Limits {
        window: window as u32,
        trigger: ((window - reserves) * settings.number("threshold")) as u32,
        tail: Tail::Messages(settings.count("tail")),
        written: settings.count("written"),
    })
}

struct Chained {
    prompt: String,
    limits: Limits,
    asked_share: f64,
    temperature: f32,
}

#[async_trait]
impl Strategy for Chained {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let selection = recent_or_skip(cx)?;
        let previous = latest(cx.history, SavedKind::Summary);
        // Records of failed attempts are no rounds.
        let round = 1 + cx.history.iter().filter(|saved| saved.kind == SavedKind::Summary).count();
        let previous =
            previous.map_or("None: this is the first round.".to_owned(), |saved| render::neutralize(&saved.body));
        let leaving = selection.leaving.iter().copied().filter(|entry| !is_summary(entry));
        let messages = Material::new(leaving, self.limits);
        let asked = (f64::from(cx.budget.written) * self.asked_share) as u32;
        let task = render::neutralize(&render::cut(original_task(cx.log), self.limits.message));
        let (round, asked) = (round.to_string(), asked.to_string());
        let with = |messages: &str| {
            let values = [("previous", previous.as_str()), ("task", &task), ("round", &round), ("tokens", &asked)];
            fill(&self.prompt, &[values.as_slice(), &[("messages", messages)]].concat())
        };
        let summary = ask(cx, &messages, with, cx.budget.written, Some(self.temperature)).await?;
        Ok(Compacted { unread: messages.cut, ..with_summary(cx, &selection, summary) })
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
