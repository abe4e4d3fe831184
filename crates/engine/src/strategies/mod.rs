//! The reference strategies. Each is one file and one line in [`ALL`]; help, lists, plots and tests iterate it.

mod chained;
mod handoff;
mod hybrid_checkpoint;
mod middleware_checkpoint;
mod progressive;
mod prompt_checkpoint;
mod published;
mod summarize;
mod threshold_summary;

use std::sync::Arc;

use memchr::memmem;

use crate::budget::estimate::Estimator;
use crate::budget::{Limits, Tail};
use crate::conversation::record::{NewRecord, RecordKind};
use crate::conversation::render::{self, Material};
use crate::conversation::view::{Edit, Origin, WrittenPart};
use crate::message::{Part, Role};
use crate::model::meter::Purpose;
use crate::model::{ChatReply, ChatRequest};
use crate::recovery::{self, Showing};
use crate::strategy::declined::Declined;
use crate::strategy::declined::{FailReason, SkipReason};
use crate::strategy::params::{ESTIMATOR, Param, ParamError, Settings, Unit};
use crate::strategy::pieces;
use crate::strategy::selection::Selection;
use crate::strategy::summary;
use crate::strategy::{Compacted, Context, StrategySpec};

pub use progressive::journey;
use published::Asking;
pub use published::{FAITHFUL, Faithful};

/// Every reference strategy.
pub const ALL: &[&StrategySpec] = &[
    &summarize::SPEC,
    &prompt_checkpoint::SPEC,
    &middleware_checkpoint::SPEC,
    &hybrid_checkpoint::SPEC,
    &threshold_summary::SPEC,
    &progressive::SPEC,
    &handoff::SPEC,
    &chained::SPEC,
];

/// A number of tokens; scales with the window.
const fn tokens(name: &'static str, about: &'static str, default: u32) -> Param {
    Param { name, about, unit: Unit::Tokens, default: default as f64, range: (1.0, 10_000_000.0) }
}

/// A number of messages.
const fn messages(name: &'static str, about: &'static str, default: u32) -> Param {
    Param { name, about, unit: Unit::Messages, default: default as f64, range: (0.0, 10_000.0) }
}

/// A number of characters.
const fn characters(name: &'static str, about: &'static str, default: u32) -> Param {
    Param { name, about, unit: Unit::Characters, default: default as f64, range: (1.0, 10_000_000.0) }
}

/// A share, over 0 and up to 1.
const fn share(name: &'static str, about: &'static str, default: f64) -> Param {
    Param { name, about, unit: Unit::Share, default, range: (0.01, 1.0) }
}

/// The summarizer's sampling temperature.
const fn temperature(default: f64) -> Param {
    Param { name: "temperature", about: "of the summarizer", unit: Unit::Temperature, default, range: (0.0, 2.0) }
}

/// A defect of a source: `plain`, the default, or as the source has it.
const fn defect(name: &'static str, about: &'static str) -> Param {
    Param { name, about, unit: Unit::Choice(&["plain", "faithful"]), default: 0.0, range: (0.0, 1.0) }
}

/// What the trigger is compared with under the published protocol.
const fn estimator(default: Estimator) -> Param {
    let last = (Estimator::NAMES.len() - 1) as f64;
    let unit = Unit::Choice(Estimator::NAMES);
    Param {
        name: ESTIMATOR,
        about: "what the published trigger is compared with",
        unit,
        default: default as u8 as f64,
        range: (0.0, last),
    }
}

/// Limits that stand in parameters of these names, the tail in tokens.
fn plain_limits(settings: &Settings) -> Result<Limits, ParamError> {
    let (window, trigger) = (settings.count("window"), settings.count("trigger"));
    if trigger > window {
        return Err(ParamError::Contradiction(format!("`trigger` is {trigger} tokens; the window has {window}")));
    }
    Ok(Limits { window, trigger, tail: Tail::Tokens(settings.count("tail")), written: settings.count("written") })
}

/// The usual answer: system prompt with its sections, one summary, and what is kept.
fn with_summary(cx: &Context<'_>, selection: &Selection<'_>, summary: String) -> Compacted {
    let turn = summary_turn(&summary, cx.number_of_new(0));
    with_record(selection, edits_with(cx, selection, turn), summary)
}

/// The same under a system message of the strategy's own.
fn with_summary_under(system: Option<Edit>, cx: &Context<'_>, selection: &Selection<'_>, summary: String) -> Compacted {
    let turn = summary_turn(&summary, cx.number_of_new(0));
    let edits = system.into_iter().chain([turn]).chain(selection.keep_edits()).collect();
    with_record(selection, edits, summary)
}

fn with_record(selection: &Selection<'_>, edits: Vec<Edit>, summary: String) -> Compacted {
    let saved = NewRecord { kind: RecordKind::Summary, covers: selection.covers(), body: summary };
    Compacted { edits, saved: vec![saved], fallback: None, unread: Vec::new() }
}

/// The system prompt with the sections that the session's records give it.
fn system_with_sections(cx: &Context<'_>, selection: &Selection<'_>) -> Option<Edit> {
    let checkpoint = recovery::latest_checkpoint(cx.history);
    let shared = cx.history.latest(RecordKind::Shared);
    recovery::system_with(selection.system, recovery::sections(checkpoint.as_ref(), Showing::default(), shared))
}

/// System prompt with its sections, that message, and what is kept.
fn edits_with(cx: &Context<'_>, selection: &Selection<'_>, turn: Edit) -> Vec<Edit> {
    let system = system_with_sections(cx, selection);
    system.into_iter().chain([turn]).chain(selection.keep_edits()).collect()
}

/// A summary as a synthetic user turn, so that the chat opens with a user's whatever stands after it.
fn summary_turn(summary: &str, number: u32) -> Edit {
    let text = format!("Summary of the conversation so far:\n\n{summary}");
    Edit::Insert(Role::User, vec![WrittenPart { part: Part::Text { text }, origin: Origin::Summary(number) }])
}

/// The selection of the recent tail, where something leaves it.
fn recent_or_skip<'s>(cx: &Context<'s>) -> Result<Selection<'s>, Declined> {
    let selection = Selection::recent(cx.log, cx.view, cx.budget.tail);
    if selection.takes_messages() { Ok(selection) } else { Err(SkipReason::NothingToCompact.into()) }
}

/// Asks for a summary of `material` with the prompt that it makes. Material that does not fit the summarizer's window is read
/// in pieces, the answer to each among what the next one reads.
async fn ask(
    cx: &Context<'_>,
    material: Material,
    prompt: impl Fn(String) -> String + Send + Sync,
    most: u32,
    temperature: Option<f32>,
) -> Result<String, FailReason> {
    Ok(ask_for_reply(cx, material, prompt, most, temperature, Asking::default()).await?.text)
}

/// The same, with how the last answer ended; its text is trimmed.
async fn ask_for_reply(
    cx: &Context<'_>,
    material: Material,
    prompt: impl Fn(String) -> String + Send + Sync,
    most: u32,
    temperature: Option<f32>,
    asking: Asking,
) -> Result<ChatReply, FailReason> {
    let mut reply: Option<ChatReply> = None;
    for piece in asking.pieces(cx, material, || cx.counter.count_text(&prompt(String::new())), most)? {
        // Of what is read only the length is held while the model reads it: thousands of calls may be under way at once.
        let (request, material) = {
            let earlier = reply.map_or(String::new(), |reply| render::neutralize(&reply.text));
            let earlier = pieces::shortened(cx, &earlier, most);
            let read = if earlier.is_empty() { piece } else { format!("(earlier summary) {earlier}\n\n{piece}") };
            let length = read.len();
            (ChatRequest::prompt(prompt(read), most, temperature, cx.summarizer.seed()), length)
        };
        reply = Some(ask_twice(cx, request, material, asking).await?);
    }
    reply.ok_or(FailReason::NoSummary(summary::NotASummary::Empty))
}

/// An answer that is no summary of so many bytes is asked for once more, in other words.
async fn ask_twice(
    cx: &Context<'_>,
    request: ChatRequest,
    material: usize,
    asking: Asking,
) -> Result<ChatReply, FailReason> {
    let request = Arc::new(request);
    let first = send(cx, Arc::clone(&request)).await?;
    if asking.unchecked {
        return Ok(first);
    }
    let Err(problem) = summary::check(&first.text, material) else { return Ok(first) };
    let mut again = ChatRequest::clone(&request);
    if let Some(message) = again.messages.last_mut() {
        let why = format!("Your answer before was refused: {problem}. Answer in the form asked for and nothing else.");
        let mut parts = message.parts.to_vec();
        if let Some(Part::Text { text }) = parts.last_mut() {
            text.extend(["\n\n", &why]);
        }
        message.parts = parts.into();
    }
    let second = send(cx, Arc::new(again)).await?;
    match summary::check(&second.text, material) {
        Ok(()) => Ok(second),
        Err(problem) => Err(FailReason::NoSummary(problem)),
    }
}

async fn ask_once(
    cx: &Context<'_>,
    prompt: String,
    most: u32,
    temperature: Option<f32>,
) -> Result<ChatReply, FailReason> {
    send(cx, Arc::new(ChatRequest::prompt(prompt, most, temperature, cx.summarizer.seed()))).await
}

async fn send(cx: &Context<'_>, request: Arc<ChatRequest>) -> Result<ChatReply, FailReason> {
    let reply = cx.summarizer.complete(Purpose::Compaction, request).await?;
    Ok(ChatReply { text: reply.text.trim().to_owned(), ..reply })
}

/// Fills a prompt around what is to be read, in the memory where that stands: it is long, and so is the copy of it.
fn fill_around(mut messages: String, prompt: &str, values: &[(&str, &str)]) -> String {
    const HERE: &str = "{messages}";
    let Some(at) = memmem::find(prompt.as_bytes(), HERE.as_bytes()) else { return fill(prompt, values) };
    let (before, after) = (fill(&prompt[..at], values), fill(&prompt[at + HERE.len()..], values));
    messages.reserve_exact(before.len() + after.len());
    messages.insert_str(0, &before);
    messages + &after
}

/// Fills the `{name}` placeholders of a prompt. Values are inserted once and never searched for placeholders.
fn fill(prompt: &str, values: &[(&str, &str)]) -> String {
    let length = values.iter().map(|(_, value)| value.len()).sum::<usize>();
    let mut text = String::with_capacity(prompt.len() + length);
    let mut rest = prompt;
    while let Some(open) = rest.find('{') {
        let (before, after) = rest.split_at(open);
        text.push_str(before);
        let value = after.find('}').and_then(|close| {
            let name = &after[1..close];
            values.iter().find(|(key, _)| *key == name).map(|(_, value)| (close, *value))
        });
        match value {
            Some((close, value)) => {
                text.push_str(value);
                rest = &after[close + 1..];
            }
            None => {
                text.push('{');
                rest = &after[1..];
            }
        }
    }
    text + rest
}

/// English words that fit a number of tokens, for prompts that limit words: three words in four tokens.
fn words_in(tokens: u32) -> u32 {
    (tokens - tokens.div_ceil(4)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::params::PROMPT;

    #[test]
    fn placeholders_in_values_stay_text() {
        let values = [("x", "{y}"), ("y", "2")];
        assert_eq!(fill("a {x} {y} {z} {", &values), "a {y} 2 {z} {");
        let around = |prompt| fill_around("{x} read {y}".to_owned(), prompt, &values);
        assert_eq!(around("a { {x} {messages} {y} {z} {"), "a { {y} {x} read {y} 2 {z} {");
        assert_eq!(around("{messages}{y}"), "{x} read {y}2");
        assert_eq!(around("nothing of {x}"), "nothing of {y}");
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test reads the sources' names")]
    fn every_strategy_is_listed_once_and_documented() {
        let mut names = ALL.iter().map(|spec| spec.name).collect::<Vec<_>>();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/strategies");
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut folders = paths
            .filter(|path| path.is_dir())
            .map(|path| path.file_name().unwrap().to_str().unwrap().replace('_', "-"))
            .collect::<Vec<_>>();
        names.sort_unstable();
        folders.sort_unstable();
        assert_eq!(names, folders);
        assert!(ALL.iter().all(|spec| !spec.about.is_empty() && !spec.source.is_empty()));
    }

    #[test]
    fn defaults_are_in_range_and_every_strategy_builds_with_them() {
        for spec in ALL {
            for param in spec.params {
                let (least, greatest) = param.range;
                assert!((least..=greatest).contains(&param.default), "{} {}", spec.name, param.name);
            }
            let settings = Settings::defaults(spec);
            let limits = (spec.limits)(&settings).expect("the source's own limits hold");
            assert!(limits.trigger <= limits.window, "{}", spec.name);
            (spec.build)(&settings);
            assert_eq!(settings.clone().set(spec, PROMPT, spec.prompt), Ok(()), "{}", spec.name);
            assert!(settings.clone().set(spec, PROMPT, " \n").is_err(), "{}: a prompt that says nothing", spec.name);
        }
    }

    #[test]
    fn published_defaults_are_those_of_the_sources() {
        let limits = |name: &str| {
            let spec = ALL.iter().find(|spec| spec.name == name).expect("listed");
            let limits = (spec.limits)(&Settings::defaults(spec)).expect("holds");
            (limits.window, limits.trigger, limits.tail, limits.written)
        };
        assert_eq!(limits("summarize"), (12_500, 10_000, Tail::Tokens(2_000), 400));
        assert_eq!(limits("prompt-checkpoint"), (12_500, 10_000, Tail::Tokens(2_000), 800));
        assert_eq!(limits("middleware-checkpoint"), (12_500, 10_000, Tail::Tokens(2_000), 800));
        assert_eq!(limits("hybrid-checkpoint"), (12_500, 10_000, Tail::Tokens(2_000), 800));
        assert_eq!(limits("threshold-summary"), (100_000, 80_000, Tail::Messages(10), 500));
        assert_eq!(limits("progressive"), (32_000, 25_600, Tail::Tokens(4_096), 3_000));
        assert_eq!(limits("handoff"), (250_000, 200_000, Tail::Tokens(0), 4_000));
        assert_eq!(limits("chained"), (128_000, 93_600, Tail::Messages(10), 1_000));
    }

    #[test]
    fn bad_parameters_name_value_and_range() {
        let spec = ALL.iter().find(|spec| spec.name == "chained").expect("listed");
        let mut settings = Settings::defaults(spec);
        let mut error = |name, value| settings.set(spec, name, value).expect_err("refused").to_string();
        assert!(error("treshold", "1").contains("`threshold`"));
        assert_eq!(error("threshold", "1.5"), "`threshold` is `1.5`; it must be a number of share from 0.01 to 1");
        assert!(error("threshold", "0").contains("from 0.01"));
        assert!(error("tail", "2.5").contains("messages"));
        assert!(error("prompt", "Summarize.").contains("`{previous}`"));
        let twice = spec.placeholders.iter().map(|name| format!("{{{name}}} {{{name}}} ")).collect::<String>();
        assert!(error("prompt", &twice).contains("2 times; it must stand there once"));
        settings.set(spec, "window", "9000").expect("in range");
        let error = limits_of(spec, &settings).expect_err("the reserves take more").to_string();
        assert_eq!(error, "`window` is 9000 tokens; its reserves alone take 11000");
    }

    fn limits_of(spec: &StrategySpec, settings: &Settings) -> Result<Limits, ParamError> {
        (spec.limits)(settings)
    }
}
