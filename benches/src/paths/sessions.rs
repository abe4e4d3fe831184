//! Sessions and their parts. The counter is cheap and so is the model, except in the mock's own
//! path, so that the work is the engine's.

use std::error::Error;
use std::fmt::Write;
use std::sync::Arc;

use compactometer_engine::budget::{Budget, Tail};
use compactometer_engine::checkpoint::{Examples, extract};
use compactometer_engine::log::Log;
use compactometer_engine::message::Role;
use compactometer_engine::meter::Metered;
use compactometer_engine::model::{ChatModel, ChatRequest, Finish};
use compactometer_engine::params::Settings;
use compactometer_engine::selection::Selection;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategies;
use compactometer_engine::strategy::{Strategy, StrategySpec};
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_engine::view::View;
use compactometer_harness::trace::shared_tokens;

use super::{Path, Work};
use crate::cheap::{Quarter, SameAnswer};
use crate::conversations::{counted, dialogue, scenario};
use crate::texts::Kind;

/// The number of messages in a turn of [`scenario`].
const MESSAGES_PER_TURN: usize = 4;
/// In tokens.
pub(super) const WINDOW: u32 = 8_000;

pub(super) fn paths() -> Vec<Path> {
    vec![
        Path::new(
            "trigger",
            4_000,
            "SIZE messages, with a check of the trigger before each",
            trigger,
        ),
        Path::new(
            "turns",
            1_000,
            "SIZE turns under each strategy except `progressive`, which `aging` covers",
            turns,
        ),
        Path::new(
            "selection",
            4_000,
            "the selection of the retained among SIZE messages, ten times",
            selection,
        ),
        Path::new(
            "cache-prefix",
            4_000,
            "the common prefix of two views of SIZE messages, ten times",
            cache_prefix,
        ),
        // Summaries have reached all levels, and are merged, after about 20 rounds. A small size
        // would mostly measure the rounds before that.
        Path::new("aging", 320, "SIZE rounds of `progressive`", aging),
        Path::new(
            "checkpoint",
            400,
            "a checkpoint of SIZE tasks read from an answer",
            checkpoint,
        ),
        Path::new("mock", 32, "the mock's summary of SIZE KB", |size| {
            mock(size, false)
        })
        .of_text(),
        Path::new(
            "mock-again",
            128,
            "the mock's summary of SIZE KB that it has read for another strategy",
            |size| mock(size, true),
        )
        .of_text(),
    ]
}

fn trigger(messages: usize) -> Result<Work, Box<dyn Error>> {
    let said = said(messages);
    let never = Budget::matched(u32::MAX, u32::MAX - 1, WINDOW, 0.5)?;
    let spec = spec("chained")?;
    let runtime = runtime()?;
    Ok(Box::new(move || {
        let model = SameAnswer(String::new());
        let (metered, settings) = (Metered::new(&model, 0), Settings::defaults(spec));
        let strategy = (spec.build)(&settings);
        let mut session = Session::new(&*strategy, &metered, &Quarter, config(never));
        for message in &said {
            runtime.block_on(session.before_call(None));
            // The generator is tested to make valid conversations.
            let _ = session.push(message.clone());
        }
        u64::from(session.request_tokens())
    }))
}

fn turns(turns: usize) -> Result<Work, Box<dyn Error>> {
    let said = counted(&dialogue(1, turns), &Quarter);
    let others = strategies::ALL
        .iter()
        .filter(|spec| spec.name != "progressive");
    let entrants = others
        .map(|spec| built(spec))
        .collect::<Result<Vec<_>, _>>()?;
    let runtime = runtime()?;
    Ok(Box::new(move || {
        let mut tokens = 0;
        for (strategy, budget) in &entrants {
            let model = SameAnswer::at_once();
            let metered = Metered::new(&model, 0);
            let mut session = Session::new(&**strategy, &metered, &Quarter, config(*budget));
            for message in &said {
                if message.message.role == Role::Assistant {
                    runtime.block_on(session.before_call(None));
                    metered.take_calls();
                }
                let _ = session.push(message.clone());
            }
            tokens += u64::from(session.request_tokens());
        }
        tokens
    }))
}

/// A strategy with its defaults, scaled to [`WINDOW`], and its budget there.
fn built(spec: &StrategySpec) -> Result<(Arc<dyn Strategy>, Budget), Box<dyn Error>> {
    let settings = Settings::defaults(spec);
    let limits = (spec.limits)(&settings)?;
    let settings = settings.scaled(spec, f64::from(WINDOW) / f64::from(limits.window));
    let budget = Budget::matched(WINDOW, WINDOW * 4 / 5, WINDOW * 3 / 10, limits.tail_share())?;
    Ok(((spec.build)(&settings), budget))
}

fn selection(messages: usize) -> Result<Work, Box<dyn Error>> {
    let (mut log, mut view) = (Log::default(), View::default());
    for message in said(messages) {
        log.push(message.clone())?;
        view.push(&message);
    }
    let tail = Tail::Tokens(view.tokens() / 2);
    Ok(Box::new(move || {
        (0..10)
            .map(|_| Selection::recent(&log, &view, tail).leaving.len() as u64)
            .sum()
    }))
}

fn cache_prefix(messages: usize) -> Result<Work, Box<dyn Error>> {
    let (mut one, mut other) = (View::default(), View::default());
    for message in said(messages) {
        one.push(&message);
        // Equal text in other memory, as after a compaction.
        other.push(&Arc::new(CountedMessage::clone(&message)));
    }
    Ok(Box::new(move || {
        (0..10)
            .map(|_| u64::from(shared_tokens(&one, &other, &Quarter)))
            .sum()
    }))
}

fn aging(rounds: usize) -> Result<Work, Box<dyn Error>> {
    const MESSAGES_A_ROUND: usize = 12;
    let said = said(rounds * MESSAGES_A_ROUND);
    let spec = spec("progressive")?;
    let budget = aging_budget(spec)?;
    let answer = Kind::Prose.text(3, 600);
    let runtime = runtime()?;
    Ok(Box::new(move || {
        let model = SameAnswer(answer.clone());
        let (metered, settings) = (Metered::new(&model, 0), Settings::defaults(spec));
        let strategy = (spec.build)(&settings);
        let mut session = Session::new(&*strategy, &metered, &Quarter, config(budget));
        for round in said.chunks(MESSAGES_A_ROUND) {
            for message in round {
                let _ = session.push(message.clone());
            }
            runtime.block_on(session.compact(None));
            metered.take_calls();
        }
        session.history().len() as u64
    }))
}

fn aging_budget(spec: &StrategySpec) -> Result<Budget, Box<dyn Error>> {
    let limits = (spec.limits)(&Settings::defaults(spec))?;
    Ok(Budget::matched(
        WINDOW,
        WINDOW - 1,
        WINDOW / 2,
        limits.tail_share(),
    )?)
}

fn checkpoint(tasks: usize) -> Result<Work, Box<dyn Error>> {
    let mut answer =
        "Here is the state:\n```json\n{\"active_goals\": [\"go live\"], \"pending_tasks\": ["
            .to_owned();
    for (number, line) in Kind::Prose
        .text(4, tasks * 1_000)
        .split("\n\n")
        .take(tasks)
        .enumerate()
    {
        let comma = if number > 0 { "," } else { "" };
        write!(
            answer,
            "{comma}\n  {{\"task\": \"task {number}\", \"context\": \"{line}\"}}"
        )?;
    }
    answer += "\n]}\n```\n";
    Ok(Box::new(move || {
        let (checkpoint, _) = extract(&answer, Finish::Stop, &Examples::default());
        checkpoint.map_or(0, |checkpoint| checkpoint.pending_tasks.len() as u64)
    }))
}

fn mock(kilobytes: usize, is_known: bool) -> Result<Work, Box<dyn Error>> {
    let model = ready_mock()?;
    let material = Kind::Prose.text(5, kilobytes * 1_024);
    let request = |prompt: &str, most| {
        ChatRequest::prompt(prompt.replace("{messages}", &material), most, None, 1)
    };
    let runtime = runtime()?;
    if is_known {
        // Another prompt and limit, so that only the material repeats.
        runtime.block_on(model.complete(&request(
            "Summarize this.\n<messages>\n{messages}\n</messages>",
            50,
        )))?;
    }
    let request = request(spec("summarize")?.prompt, 400);
    Ok(Box::new(move || {
        runtime
            .block_on(model.complete(&request))
            .map_or(0, |reply| reply.text.len() as u64)
    }))
}

/// The mock with the vocabulary of its counter loaded.
pub(super) fn ready_mock() -> Result<Box<dyn ChatModel>, Box<dyn Error>> {
    Encoding::O200k.count_text("ready");
    Ok(compactometer_models::by_name("mock")?)
}

fn said(messages: usize) -> Vec<Arc<CountedMessage>> {
    let mut said = counted(&scenario(1, messages.div_ceil(MESSAGES_PER_TURN)), &Quarter);
    said.truncate(messages);
    said
}

fn spec(name: &str) -> Result<&'static StrategySpec, String> {
    let found = strategies::ALL.iter().find(|spec| spec.name == name);
    found
        .copied()
        .ok_or_else(|| format!("no strategy `{name}`"))
}

fn config(budget: Budget) -> SessionConfig {
    SessionConfig {
        budget,
        overhead: 0,
        summarizer_window: None,
        automatic: true,
        policy: Policy::Enforce,
    }
}

pub(super) fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().build()
}
