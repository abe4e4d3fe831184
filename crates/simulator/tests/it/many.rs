//! Many conversations at once on tokio's paused clock. Every model call takes its reply's latency,
//! so that sessions overlap during their compactions. Nothing of one conversation may reach
//! another.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::material::by_name;
use async_trait::async_trait;
use compactometer_engine::budget::Budget;
use compactometer_engine::event::Outcome;
use compactometer_engine::message::{Message, MessageId, Part, Role, Usage};
use compactometer_engine::meter::{Call, Metered};
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::params::Settings;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategies;
use compactometer_engine::strategy::{Strategy, StrategySpec};
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_simulator::faults;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// A model whose calls take the latency of their replies.
struct Slow(Box<dyn ChatModel>);

#[async_trait]
impl ChatModel for Slow {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let reply = self.0.complete(request).await?;
        tokio::time::sleep(Duration::from_millis(reply.latency_ms)).await;
        Ok(reply)
    }
}

/// Answers every prompt with all marks in the request, in a form that every strategy reads.
struct Echo;

#[async_trait]
impl ChatModel for Echo {
    fn name(&self) -> &str {
        "echo"
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let said = request.texts().collect::<Vec<_>>().join(" ");
        let found = marks(&said).into_iter().collect::<Vec<_>>().join(" ");
        let text =
            format!("[SUMMARY]\nGoal: {found}.\n[CHECKPOINT]\n{{\"active_goals\":[\"{found}\"]}}");
        // Spread over about 800 ms, the same in every run.
        let latency_ms = 200 + found.bytes().map(u64::from).sum::<u64>() * 37 % 800;
        let usage = Usage {
            input: 9,
            output: 3,
            ..Usage::default()
        };
        Ok(ChatReply {
            text,
            finish: Finish::Stop,
            usage,
            latency_ms,
            served: None,
        })
    }
}

/// Four bytes a token, since these tests do not need exact counts.
struct Quarter;

impl TokenCounter for Quarter {
    fn name(&self) -> &'static str {
        "quarter"
    }

    fn count_text(&self, text: &str) -> u32 {
        (text.len() as u32).div_ceil(4)
    }
}

const MARK: &str = "zedmark";

/// A word that only one conversation contains. It consists of letters, since a fault may swap
/// digits.
fn mark(thread: usize) -> String {
    let letter = |place: u32| char::from(b'a' + (thread / 26_usize.pow(place) % 26) as u8);
    format!("{MARK}{}", (0..4).map(letter).collect::<String>())
}

fn marks(text: &str) -> BTreeSet<&str> {
    let length = |found: &str| found.bytes().take_while(u8::is_ascii_lowercase).count();
    text.match_indices(MARK)
        .map(|(at, _)| &text[at..at + length(&text[at..])])
        .collect()
}

/// A mark of another conversation. The conversation's own mark may be cut by a fault.
fn foreign(text: &str, own: &str) -> Option<String> {
    marks(text)
        .into_iter()
        .find(|found| !own.starts_with(found))
        .map(str::to_owned)
}

/// What all conversations of a test share.
struct Shared {
    strategy: Arc<dyn Strategy>,
    model: Slow,
    counter: &'static dyn TokenCounter,
    config: SessionConfig,
    turns: u32,
}

impl Shared {
    fn new(
        spec: &StrategySpec,
        model: Box<dyn ChatModel>,
        counter: &'static dyn TokenCounter,
        window: u32,
        turns: u32,
    ) -> Arc<Self> {
        let settings = Settings::defaults(spec);
        let limits = (spec.limits)(&settings).unwrap();
        let settings = settings.scaled(spec, f64::from(window) / f64::from(limits.window));
        let budget =
            Budget::matched(window, window * 4 / 5, window * 3 / 10, limits.tail_share()).unwrap();
        let config = SessionConfig {
            budget,
            overhead: 0,
            summarizer_window: None,
            automatic: true,
            policy: Policy::Enforce,
        };
        Arc::new(Shared {
            strategy: (spec.build)(&settings),
            model: Slow(model),
            counter,
            config,
            turns,
        })
    }
}

/// The result of one conversation.
#[derive(Debug)]
struct Seen {
    thread: usize,
    applied: usize,
    calls: usize,
    /// A mark of another conversation, and where it was found.
    leaked: Option<(&'static str, String)>,
    /// Whether its own mark occurs in what compactions wrote.
    remembered: bool,
    /// The most bytes that the session held in addition to its log.
    held: usize,
    /// The time that its model calls took.
    waited_ms: u64,
}

async fn converse(shared: Arc<Shared>, thread: usize) -> Seen {
    let own = mark(thread);
    let metered = Metered::new(&shared.model, 5);
    let mut session = Session::new(&*shared.strategy, &metered, shared.counter, shared.config);
    let mut seen = Seen {
        thread,
        applied: 0,
        calls: 0,
        leaked: None,
        remembered: false,
        held: 0,
        waited_ms: 0,
    };
    for id in 0..shared.turns * 2 {
        let (role, text) = if id % 2 == 0 {
            (
                Role::User,
                format!(
                    "Please keep the quota of {own} at {id}7 for the batch of tonight and go on."
                ),
            )
        } else {
            (
                Role::Assistant,
                format!("We decided to leave {own} where it is, since finance asked for {id}3."),
            )
        };
        if role == Role::Assistant {
            tokio::time::sleep(Duration::from_secs(1)).await;
            session.before_call(None).await;
            let calls = metered.take_calls();
            if !calls.is_empty() {
                inspect(&session, &calls, &own, &mut seen);
            }
        }
        let message = Message {
            id: MessageId(id),
            role,
            at_ms: None,
            parts: vec![Part::Text { text }],
            usage: None,
        };
        session
            .push(CountedMessage::new(message, shared.counter))
            .unwrap();
    }
    seen.applied = session
        .events()
        .iter()
        .filter(|event| event.outcome == Outcome::Applied)
        .count();
    seen.remembered = session
        .history()
        .iter()
        .any(|saved| saved.body.contains(&own));
    seen
}

/// Examines everything that a session sent, received and holds after its model was called.
fn inspect(session: &Session<'_>, calls: &[Call], own: &str, seen: &mut Seen) {
    let leaks = |place: &'static str, text: &str| foreign(text, own).map(|found| (place, found));
    let mut held = 0;
    for call in calls {
        seen.calls += 1;
        let asked = call.request.texts().find_map(|text| leaks("request", text));
        let answered = call
            .outcome
            .as_ref()
            .ok()
            .and_then(|reply| leaks("reply", &reply.text));
        seen.waited_ms += call.outcome.as_ref().map_or(0, |reply| reply.latency_ms);
        seen.leaked = seen.leaked.take().or(asked).or(answered);
    }
    for saved in session.history().iter() {
        held += saved.body.len();
        seen.leaked = seen.leaked.take().or_else(|| leaks("record", &saved.body));
    }
    for part in session
        .view()
        .entries()
        .iter()
        .flat_map(|entry| entry.parts())
        .map(|(part, _)| part)
    {
        let Part::Text { text } = part else { continue };
        held += text.len();
        seen.leaked = seen.leaked.take().or_else(|| leaks("view", text));
    }
    seen.held = seen.held.max(held);
}

/// Runs all conversations at once. Returns the result of each and the virtual time that passed.
fn at_once(threads: impl IntoIterator<Item = (Arc<Shared>, usize)>) -> (Vec<Seen>, Duration) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let started = Instant::now();
        let mut running = JoinSet::new();
        for (shared, thread) in threads {
            running.spawn(converse(shared, thread));
        }
        (running.join_all().await, started.elapsed())
    })
}

#[test]
fn a_hundred_conversations_under_every_fault_at_once_do_not_mix() {
    let faults = faults::ALL
        .iter()
        .map(|fault| format!("{}=0.03", fault.name))
        .collect::<Vec<_>>()
        .join(",");
    for spec in strategies::ALL {
        let model = by_name(&format!("mock+{faults}"));
        let shared = Shared::new(spec, model, &Encoding::O200k, 800, 26);
        let (seen, _) = at_once((0..100).map(|thread| (Arc::clone(&shared), thread)));
        assert_eq!(seen.len(), 100, "{}", spec.name);
        for one in &seen {
            assert_eq!(
                one.leaked, None,
                "{}: conversation {}",
                spec.name, one.thread
            );
            assert!(one.calls > 0, "{}: conversation {}", spec.name, one.thread);
        }
        let applied = seen.iter().filter(|one| one.applied > 0).count();
        assert!(applied >= 90, "{}: {applied} of 100 compacted", spec.name);
        assert!(
            seen.iter().any(|one| one.remembered),
            "{}: no record contains a mark",
            spec.name
        );
    }
}

#[test]
fn ten_thousand_conversations_at_once_do_not_mix() {
    const THREADS: usize = 10_000;
    let shared = strategies::ALL
        .iter()
        .map(|spec| Shared::new(spec, Box::new(Echo), &Quarter, 400, 16))
        .collect::<Vec<_>>();
    let (seen, passed) =
        at_once((0..THREADS).map(|thread| (Arc::clone(&shared[thread % shared.len()]), thread)));
    assert_eq!(
        seen.iter()
            .map(|one| one.thread)
            .collect::<BTreeSet<_>>()
            .len(),
        THREADS
    );
    let names = |one: &Seen| strategies::ALL[one.thread % shared.len()].name;
    for one in &seen {
        assert_eq!(
            one.leaked,
            None,
            "{}: conversation {}",
            names(one),
            one.thread
        );
        assert!(
            one.applied >= 2,
            "{}: conversation {} compacted {} times",
            names(one),
            one.thread,
            one.applied
        );
        assert!(
            one.remembered,
            "{}: conversation {}",
            names(one),
            one.thread
        );
        // A view of 400 tokens of four bytes, and records of about ten rounds.
        assert!(
            one.held < 6_000,
            "{}: conversation {} holds {} bytes",
            names(one),
            one.thread,
            one.held
        );
    }
    // The clock passed for all of them together: as long as the slowest one took, not the sum of
    // all.
    let slowest = seen.iter().map(|one| 16_000 + one.waited_ms).max().unwrap();
    assert!(
        seen.iter().all(|one| one.waited_ms >= 400),
        "a call takes 200 ms and more"
    );
    assert!(
        (slowest..slowest + 2_000).contains(&(passed.as_millis() as u64)),
        "{passed:?} for {slowest} ms"
    );
}

#[test]
fn a_leak_would_be_seen() {
    assert_eq!(
        foreign(&format!("{} and {}", mark(7), mark(9_999)), &mark(7)),
        Some(mark(9_999))
    );
    assert_eq!(
        foreign(&format!("{} and {}", mark(7), &mark(7)[..9]), &mark(7)),
        None
    );
    assert_eq!((0..10_000).map(mark).collect::<BTreeSet<_>>().len(), 10_000);
}
