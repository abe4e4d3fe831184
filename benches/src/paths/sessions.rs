//! Sessions, their parts, and whole cases. A cheap counter and, but for the mock's own paths, a cheap model leave the
//! instructions to the engine and the harness.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write;

use compactometer_benches::cheap::{Quarter, SameAnswer};
use compactometer_benches::conversations::{counted, scenario, suite};
use compactometer_benches::texts::Kind;
use compactometer_engine::budget::{Budget, Tail};
use compactometer_engine::checkpoint::extract;
use compactometer_engine::log::{Counted, Log};
use compactometer_engine::meter::Metered;
use compactometer_engine::model::{ChatModel, ChatRequest, Finish};
use compactometer_engine::params::Settings;
use compactometer_engine::select::Selection;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategies;
use compactometer_engine::strategy::StrategySpec;
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_engine::view::View;
use compactometer_harness::contender::select;
use compactometer_harness::loaded::Loaded;
use compactometer_harness::plan::{Options, Plan};
use compactometer_harness::replay::run_case;
use compactometer_harness::window::RETAINED_SHARE;
use compactometer_schema::record::{Protocol, Record};
use compactometer_schema::suite::Suite;

use crate::paths::Work;

/// Messages of a turn of [`scenario`].
const MESSAGES_PER_TURN: usize = 4;
/// Tokens.
const WINDOW: u32 = 8_000;

pub(crate) fn trigger(messages: usize) -> Result<Work, Box<dyn Error>> {
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
            // Made by a generator whose conversations are tested to be valid.
            let _ = session.push(message.clone());
        }
        u64::from(session.request_tokens())
    }))
}

pub(crate) fn selection(messages: usize) -> Result<Work, Box<dyn Error>> {
    let (mut log, mut view) = (Log::default(), View::default());
    for message in said(messages) {
        log.push(message.clone())?;
        view.push(&message);
    }
    let tail = Tail::Tokens(view.tokens() / 2);
    Ok(Box::new(move || (0..10).map(|_| Selection::recent(&log, &view, tail).leaving.len() as u64).sum()))
}

pub(crate) fn aging(rounds: usize) -> Result<Work, Box<dyn Error>> {
    const MESSAGES_A_ROUND: usize = 12;
    let said = said(rounds * MESSAGES_A_ROUND);
    let spec = spec("progressive")?;
    let budget =
        Budget::matched(WINDOW, WINDOW - 1, WINDOW / 2, (spec.limits)(&Settings::defaults(spec))?.tail_share())?;
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

pub(crate) fn checkpoint(tasks: usize) -> Result<Work, Box<dyn Error>> {
    let mut answer = "Here is the state:\n```json\n{\"active_goals\": [\"go live\"], \"pending_tasks\": [".to_owned();
    for (number, line) in Kind::Prose.text(4, tasks * 1_000).split("\n\n").take(tasks).enumerate() {
        let comma = if number > 0 { "," } else { "" };
        write!(answer, "{comma}\n  {{\"task\": \"task {number}\", \"context\": \"{line}\"}}")?;
    }
    answer += "\n]}\n```\n";
    Ok(Box::new(move || {
        let (checkpoint, _) = extract(&answer, Finish::Stop, &[]);
        checkpoint.map_or(0, |checkpoint| checkpoint.pending_tasks.len() as u64)
    }))
}

pub(crate) fn mock(kilobytes: usize) -> Result<Work, Box<dyn Error>> {
    let model = ready_mock()?;
    let material = Kind::Prose.text(5, kilobytes * 1_024);
    let text = spec("summarize")?.prompt.replace("{messages}", &material);
    let request = ChatRequest::prompt(text, 400, None, 1);
    let runtime = runtime()?;
    Ok(Box::new(move || runtime.block_on(model.complete(&request)).map_or(0, |reply| reply.text.len() as u64)))
}

pub(crate) fn trace(turns: usize) -> Result<Work, Box<dyn Error>> {
    let (own, other) = (scenario(1, turns), scenario(2, turns));
    let mut own = Some(own);
    Ok(Box::new(move || {
        let foreign = other.facts.iter().collect::<Vec<_>>();
        let loaded = own.take().and_then(|own| Loaded::new(own, &foreign, &Quarter).ok());
        loaded.map_or(0, |loaded| loaded.segments.iter().map(|segment| segment.facts.len() as u64).sum())
    }))
}

pub(crate) fn replay_full(turns: usize) -> Result<Work, Box<dyn Error>> {
    replay("full", turns)
}

pub(crate) fn replay_summarize(turns: usize) -> Result<Work, Box<dyn Error>> {
    replay("summarize", turns)
}

fn replay(contender: &str, turns: usize) -> Result<Work, Box<dyn Error>> {
    // Six groups, so that five others give a chance rate.
    let plan = plan(contender, suite(0..6, |seed| scenario(seed, turns)))?;
    let model = ready_mock()?;
    let runtime = runtime()?;
    Ok(Box::new(move || {
        let record = runtime.block_on(run_case(&plan.cases[0], &*model, &Quarter)).record;
        record.turns.iter().map(|turn| u64::from(turn.input)).sum()
    }))
}

/// The mock, with the vocabulary that it counts by loaded.
fn ready_mock() -> Result<Box<dyn ChatModel>, Box<dyn Error>> {
    Encoding::O200k.count_text("ready");
    Ok(compactometer_llm::by_name("mock")?)
}

/// One record for each conversation.
pub(crate) fn records(contender: &str, suite: Suite) -> Result<(Plan, Vec<Record>), Box<dyn Error>> {
    let plan = plan(contender, suite)?;
    let (model, runtime) = (compactometer_llm::by_name("mock")?, runtime()?);
    let run = |case| runtime.block_on(run_case(case, &*model, &Quarter)).record;
    let records = plan.cases.iter().map(run).collect();
    Ok((plan, records))
}

fn plan(contender: &str, suite: Suite) -> Result<Plan, Box<dyn Error>> {
    let options = Options {
        contenders: select([contender], [])?,
        window: Some(WINDOW),
        retain: RETAINED_SHARE,
        protocols: BTreeSet::from([Protocol::Matched]),
        scale: 1.0,
        model: "mock".to_owned(),
        seed: 1,
    };
    Ok(Plan::new(suite, options, &Quarter)?)
}

pub(crate) fn said(messages: usize) -> Vec<Counted> {
    let mut said = counted(&scenario(1, messages.div_ceil(MESSAGES_PER_TURN)), &Quarter);
    said.truncate(messages);
    said
}

pub(crate) fn spec(name: &str) -> Result<&'static StrategySpec, String> {
    let found = strategies::ALL.iter().find(|spec| spec.name == name);
    found.copied().ok_or_else(|| format!("no strategy `{name}`"))
}

fn config(budget: Budget) -> SessionConfig {
    SessionConfig { budget, overhead: 0, summarizer_window: None, automatic: true, policy: Policy::Enforce }
}

fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().build()
}
