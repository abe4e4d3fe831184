//! Prints the cost of 10,000 concurrent conversations under each strategy: bytes of memory per
//! conversation (peak, on Linux), and the agent's turns per second of CPU time. Fails if a
//! conversation contains what another said. The first row has the same tasks and the agent's sleeps
//! without sessions, which is the cost of the paused clock.
//!
//! Time is tokio's paused clock: calls of the agent and of the summarizer take their seconds
//! without real waiting. Messages exist before the measurement, because an engine's host has them
//! anyway, and all conversations share one copy of them, except for the messages that identify a
//! conversation. Measured are the sessions with everything that they keep, the requests to the
//! summarizer and its answers, the task of each conversation and its timers, and the checks. Absent
//! on purpose: the agent, exact counts and a model that reads, which would take most of the time.

use std::error::Error;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use async_trait::async_trait;
use compactometer_benches::cheap::Quarter;
use compactometer_benches::conversations::{counted, dialogue};
use compactometer_benches::cpu::timed;
use compactometer_engine::budget::Budget;
use compactometer_engine::event::Outcome;
use compactometer_engine::message::{Message, Part, Role, Usage};
use compactometer_engine::meter::Metered;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::params::Settings;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategies;
use compactometer_engine::strategy::{Strategy, StrategySpec};
use compactometer_engine::tokens::CountedMessage;
use memchr::memmem::Finder;
use tokio::task::JoinSet;
use tokio::time::sleep;

const CONVERSATIONS: usize = 10_000;
/// Turns of the agent in each conversation, with a message of the user before each.
const TURNS: usize = 100;
/// In tokens of four bytes each.
const WINDOW: u32 = 8_000;
/// One in this many user messages names its conversation.
const NAMED_EVERY: usize = 10;
/// The conversations start one after the other, so that their compactions are spread over time.
const START_APART: Duration = Duration::from_millis(2);
const AGENT_TAKES: Duration = Duration::from_secs(1);
const SUMMARY_TAKES: Duration = Duration::from_millis(2_500);

/// The row without sessions.
const TIMERS_ONLY: &str = "timers alone";

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1) {
        Some(name) if name == TIMERS_ONLY => return measure(TIMERS_ONLY, wait_only),
        Some(name) => {
            let spec = strategies::ALL.iter().find(|spec| spec.name == name);
            let shared = Arc::new(Shared::new(
                spec.ok_or_else(|| format!("no strategy `{name}`"))?,
            )?);
            return measure(&name, |number| converse(Arc::clone(&shared), number));
        }
        None => {}
    }
    println!(
        "{:22} {:>11} {:>12} {:>18}",
        "strategy", "compactions", "bytes each", "turns/CPU second"
    );
    for name in [TIMERS_ONLY]
        .into_iter()
        .chain(strategies::ALL.iter().map(|spec| spec.name))
    {
        // Each runs in a separate process, because a process does not return all the memory that it
        // used.
        let status = Command::new(std::env::current_exe()?).arg(name).status()?;
        if !status.success() {
            return Err(format!("{name} failed").into());
        }
    }
    Ok(())
}

/// Runs every conversation at once and prints a row.
fn measure<C>(name: &str, conversation: impl Fn(usize) -> C) -> Result<(), Box<dyn Error>>
where
    C: Future<Output = Result<usize, String>> + Send + 'static,
{
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()?;
    let before = kilobytes("VmRSS:");
    let (compactions, nanoseconds) = timed(|| runtime.block_on(all_at_once(conversation)));
    let compactions = compactions.map_err(|what| format!("{name}: {what}"))?;
    let bytes = bytes_each(before);
    let turns = (CONVERSATIONS * TURNS) as f64 * 1e9 / nanoseconds as f64;
    println!("{name:22} {compactions:11} {bytes:>12} {turns:18.0}");
    Ok(())
}

/// What a conversation took at most, beyond what was taken before.
fn bytes_each(before: Option<usize>) -> String {
    let taken = kilobytes("VmHWM:").zip(before);
    let each = taken.map(|(most, before)| (most - before) * 1_024 / CONVERSATIONS);
    each.map_or("unknown".to_owned(), |bytes| bytes.to_string())
}

/// A field of this process's status, from Linux.
fn kilobytes(field: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    line.split_whitespace().next()?.parse().ok()
}

/// What all conversations share.
struct Shared {
    strategy: Arc<dyn Strategy>,
    model: Echo,
    config: SessionConfig,
    /// A system message, then alternating messages of the user and the agent.
    said: Vec<Arc<CountedMessage>>,
    /// For each conversation, the messages that replace some of the user's and name it.
    named: Vec<Vec<Arc<CountedMessage>>>,
}

impl Shared {
    fn new(spec: &StrategySpec) -> Result<Self, Box<dyn Error>> {
        let settings = Settings::defaults(spec);
        let limits = (spec.limits)(&settings)?;
        let settings = settings.scaled(spec, f64::from(WINDOW) / f64::from(limits.window));
        let budget = Budget::matched(WINDOW, WINDOW * 4 / 5, WINDOW * 3 / 10, limits.tail_share())?;
        let said = counted(&dialogue(1, TURNS), &Quarter);
        let replaced = said
            .iter()
            .filter(|counted| counted.message.role == Role::User)
            .step_by(NAMED_EVERY);
        let replaced = replaced.collect::<Vec<_>>();
        let own = |number| {
            replaced
                .iter()
                .map(|counted| named(counted, &name(number)))
                .collect()
        };
        Ok(Shared {
            strategy: (spec.build)(&settings),
            model: Echo,
            config: config(budget),
            named: (0..CONVERSATIONS).map(own).collect(),
            said,
        })
    }
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

/// Runs every conversation. Returns the total number of compactions.
async fn all_at_once<C>(conversation: impl Fn(usize) -> C) -> Result<usize, String>
where
    C: Future<Output = Result<usize, String>> + Send + 'static,
{
    let mut running = JoinSet::new();
    for number in 0..CONVERSATIONS {
        running.spawn(conversation(number));
    }
    let mut compactions = 0;
    for outcome in running.join_all().await {
        compactions += outcome?;
    }
    match MOST_OPEN.load(Ordering::Relaxed) {
        CONVERSATIONS => Ok(compactions),
        most => Err(format!("at most {most} conversations were open at once")),
    }
}

static OPEN: AtomicUsize = AtomicUsize::new(0);
static MOST_OPEN: AtomicUsize = AtomicUsize::new(0);

/// Waits for the start of a conversation.
async fn open(number: usize) {
    sleep(START_APART * u32::try_from(number).unwrap_or(u32::MAX)).await;
    MOST_OPEN.fetch_max(OPEN.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
}

fn close() {
    OPEN.fetch_sub(1, Ordering::Relaxed);
}

/// The waits of a conversation, without a session.
async fn wait_only(number: usize) -> Result<usize, String> {
    open(number).await;
    for _ in 0..TURNS {
        sleep(AGENT_TAKES).await;
    }
    close();
    Ok(0)
}

/// One conversation. Returns the number of its compactions.
async fn converse(shared: Arc<Shared>, number: usize) -> Result<usize, String> {
    open(number).await;
    let own = name(number);
    let metered = Metered::new(&shared.model, 5);
    let mut session = Session::new(&*shared.strategy, &metered, &Quarter, shared.config);
    let mut users = 0;
    for counted in &shared.said {
        let mut counted = counted;
        if counted.message.role == Role::User {
            if users % NAMED_EVERY == 0 {
                counted = &shared.named[number][users / NAMED_EVERY];
            }
            users += 1;
        }
        if counted.message.role == Role::Assistant {
            sleep(AGENT_TAKES).await;
            session.before_call(None).await;
            check_answers(&metered, &own)?;
        }
        session
            .push(counted.clone())
            .map_err(|refused| refused.to_string())?;
    }
    close();
    check_session(&session, &own)
}

/// The message with a text that names its conversation.
fn named(counted: &CountedMessage, own: &str) -> Arc<CountedMessage> {
    let text = format!("Keep the quota of {own} where it is, and go on with the batch of tonight.");
    let message = Message {
        parts: vec![Part::Text { text }],
        ..Message::clone(&counted.message)
    };
    CountedMessage::new(message, &Quarter)
}

/// Answers contain every name in their request, so a foreign name in a request shows here.
fn check_answers(metered: &Metered<'_>, own: &str) -> Result<(), String> {
    for call in metered.take_calls() {
        only_own(&call.outcome.map_err(|error| error.to_string())?.text, own)?;
    }
    Ok(())
}

/// What a session holds at its end contains its own name and no other. Returns the number of its
/// compactions.
fn check_session(session: &Session<'_>, own: &str) -> Result<usize, String> {
    let parts = session
        .view()
        .entries()
        .iter()
        .flat_map(|entry| entry.parts())
        .map(|(part, _)| part);
    let texts = parts.filter_map(|part| {
        if let Part::Text { text } = part {
            Some(text.as_str())
        } else {
            None
        }
    });
    for text in texts.chain(session.history().iter().map(|saved| saved.body.as_str())) {
        only_own(text, own)?;
    }
    if !session
        .history()
        .iter()
        .any(|saved| saved.body.contains(own))
    {
        return Err(format!("no record of {own} contains its name"));
    }
    Ok(session
        .events()
        .iter()
        .filter(|event| event.outcome == Outcome::Applied)
        .count())
}

fn only_own(text: &str, own: &str) -> Result<(), String> {
    match names(text).find(|found| *found != own) {
        Some(foreign) => Err(format!("{own} contains {foreign}")),
        None => Ok(()),
    }
}

/// The beginning of every name. No other word of the texts begins like this.
const MARK: &str = "zed-";
/// The number of digits in a name.
const DIGITS: usize = 5;

fn name(number: usize) -> String {
    format!("{MARK}{number:0DIGITS$}")
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    static FINDER: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(MARK));
    FINDER.find_iter(text.as_bytes()).map(|at| {
        text.get(at..at + MARK.len() + DIGITS)
            .unwrap_or(&text[at..])
    })
}

/// Answers every prompt with the names in it, in a form that every strategy reads.
struct Echo;

#[async_trait]
impl ChatModel for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let mut found = request.texts().flat_map(names).collect::<Vec<_>>();
        found.sort_unstable();
        found.dedup();
        let found = found.join(" ");
        let text =
            format!("[SUMMARY]\nGoal: {found}.\n[CHECKPOINT]\n{{\"active_goals\":[\"{found}\"]}}");
        sleep(SUMMARY_TAKES).await;
        let usage = Usage {
            input: 9,
            output: 3,
            ..Usage::default()
        };
        Ok(ChatReply {
            text,
            finish: Finish::Stop,
            usage,
            latency_ms: SUMMARY_TAKES.as_millis() as u64,
            served: None,
        })
    }
}
