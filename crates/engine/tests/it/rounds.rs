//! Long sessions and many sessions: summaries do not grow, nothing leaks from one conversation to
//! another.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::budget::{Budget, Limits, Tail};
use compactometer_engine::estimate::Estimator;
use compactometer_engine::event::Outcome;
use compactometer_engine::message::{Message, MessageId, Part, Role, Usage};
use compactometer_engine::meter::Metered;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::params::Settings;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategies::ALL;
use compactometer_engine::strategy::StrategySpec;
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::Encoding;

/// Repeats the end of what it reads, as long as it may: a summarizer that nests whatever it is
/// given.
struct Nests;

#[async_trait]
impl ChatModel for Nests {
    fn name(&self) -> &str {
        "nests"
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let words = request
            .texts()
            .flat_map(str::split_whitespace)
            .collect::<Vec<_>>();
        let most = request.max_output_tokens.unwrap_or(1_000) as usize / 2;
        let text = format!(
            "Notes: {}",
            words[words.len().saturating_sub(most)..].join(" ")
        );
        Ok(ChatReply {
            text,
            finish: Finish::Stop,
            usage: Usage {
                input: 1,
                output: 1,
                ..Usage::default()
            },
            latency_ms: 1,
            served: None,
        })
    }
}

fn message(id: u32, role: Role, text: String) -> Arc<CountedMessage> {
    let message = Message {
        id: MessageId(id),
        role,
        at_ms: None,
        parts: vec![Part::Text { text }],
        usage: None,
    };
    CountedMessage::new(message, &Encoding::O200k)
}

fn session<'s>(
    strategy: &'s dyn compactometer_engine::strategy::Strategy,
    metered: &'s Metered<'s>,
    budget: Budget,
) -> Session<'s> {
    let config = SessionConfig {
        budget,
        overhead: 0,
        summarizer_window: None,
        automatic: true,
        policy: Policy::Enforce,
    };
    Session::new(strategy, metered, &Encoding::O200k, config)
}

fn scaled(spec: &StrategySpec) -> (Settings, Budget) {
    let settings = Settings::defaults(spec);
    let limits = (spec.limits)(&settings).unwrap();
    let budget = Budget::matched(1_500, 1_200, 450, limits.tail_share()).unwrap();
    (
        settings.scaled(spec, 1_500.0 / f64::from(limits.window)),
        budget,
    )
}

#[tokio::test]
async fn fifty_rounds_do_not_grow() {
    for spec in ALL {
        let (settings, budget) = scaled(spec);
        let strategy = (spec.build)(&settings);
        let metered = Metered::new(&Nests, 0);
        let mut session = session(&*strategy, &metered, budget);
        let mut retained = Vec::new();
        for turn in 0..2_000 {
            session
                .push(message(
                    2 * turn,
                    Role::User,
                    format!("Please look at item {turn} of the list and go on."),
                ))
                .unwrap();
            if let Some(event) = session.before_call(None).await {
                assert_eq!(event.outcome, Outcome::Applied, "{}", spec.name);
                retained.push(event.tokens_retained);
            }
            session
                .push(message(
                    2 * turn + 1,
                    Role::Assistant,
                    format!("Item {turn} is as it should be."),
                ))
                .unwrap();
        }
        assert!(
            retained.len() >= 50,
            "{}: {} rounds",
            spec.name,
            retained.len()
        );
        let most = retained.iter().max().unwrap();
        assert!(
            *most <= 450 + 45,
            "{}: up to {most} tokens retained",
            spec.name
        );
        let (early, late) = (
            retained[5..15].iter().sum::<u32>(),
            retained[retained.len() - 10..].iter().sum::<u32>(),
        );
        assert!(
            late <= early + early / 5,
            "{}: {early} in rounds 5 to 15, {late} in the last ten",
            spec.name
        );
    }
}

#[tokio::test]
async fn many_sessions_of_one_strategy_do_not_mix() {
    for spec in ALL.iter().filter(|spec| !spec.prompt.is_empty()) {
        let (settings, budget) = scaled(spec);
        let strategy = (spec.build)(&settings);
        let meters = (0..100)
            .map(|_| Metered::new(&Nests, 0))
            .collect::<Vec<_>>();
        let mut sessions = meters
            .iter()
            .map(|metered| session(&*strategy, metered, budget))
            .collect::<Vec<_>>();
        for turn in 0..60 {
            for (number, session) in sessions.iter_mut().enumerate() {
                let text =
                    format!("Please look at item {turn} of thread-{number}-x and go on with it.");
                session.push(message(2 * turn, Role::User, text)).unwrap();
                session.before_call(None).await;
                session
                    .push(message(
                        2 * turn + 1,
                        Role::Assistant,
                        "It is as it should be.".into(),
                    ))
                    .unwrap();
            }
        }
        for (number, session) in sessions.iter().enumerate() {
            assert!(!session.history().is_empty(), "{}", spec.name);
            let said = format!("{:?}", session.view().to_wire());
            let foreign = (0..100)
                .filter(|other| *other != number)
                .find(|other| said.contains(&format!("thread-{other}-x")));
            assert_eq!(foreign, None, "{}: session {number}", spec.name);
        }
    }
}

#[test]
fn published_limits_are_the_sources_own_and_scale() {
    let limits = Limits {
        window: 128_000,
        assumed_window: false,
        trigger: 93_600,
        tail: Tail::Messages(10),
        written: 1_000,
        estimator: Estimator::Classes,
    };
    let budget = Budget::published(limits, 0.5).unwrap();
    let expected = Budget {
        window: 64_000,
        assumed_window: false,
        trigger: 46_800,
        retained: None,
        tail: Tail::Messages(10),
        written: 500,
        estimator: Estimator::Classes,
    };
    assert_eq!(budget, expected);
    assert!(Budget::published(limits, 0.000_001).is_err());
}

/// Writes answers that leave no room for the next: every provider refuses a request for an answer
/// of no tokens.
struct Longwinded(std::sync::Mutex<Vec<Option<u32>>>);

#[async_trait]
impl ChatModel for Longwinded {
    fn name(&self) -> &str {
        "longwinded"
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        self.0.lock().unwrap().push(request.max_output_tokens);
        let text = "What was decided: nothing of it may be lost. ".repeat(60);
        Ok(ChatReply {
            text,
            finish: Finish::Stop,
            usage: Usage::default(),
            latency_ms: 1,
            served: None,
        })
    }
}

#[tokio::test]
async fn no_request_asks_for_an_answer_of_no_tokens() {
    let faithful = ALL
        .iter()
        .filter_map(|spec| Some((*spec, Settings::published(spec).unwrap()?)));
    let plain = ALL.iter().map(|spec| (*spec, Settings::defaults(spec)));
    for (spec, settings) in plain.chain(faithful) {
        let limits = (spec.limits)(&settings).unwrap();
        let budget = Budget::matched(1_500, 1_200, 200, limits.tail_share()).unwrap();
        let strategy = (spec.build)(&settings.scaled(spec, 1_500.0 / f64::from(limits.window)));
        let model = Longwinded(std::sync::Mutex::default());
        let metered = Metered::new(&model, 0);
        let mut session = session(&*strategy, &metered, budget);
        for turn in 0..400 {
            session
                .push(message(
                    2 * turn,
                    Role::User,
                    format!("Please look at item {turn} of the list."),
                ))
                .unwrap();
            session.before_call(None).await;
            session
                .push(message(
                    2 * turn + 1,
                    Role::Assistant,
                    format!("Item {turn} is as it should be."),
                ))
                .unwrap();
        }
        let asked = model.0.lock().unwrap();
        assert_eq!(asked.is_empty(), spec.prompt.is_empty(), "{}", spec.name);
        assert!(
            asked.iter().all(|most| *most != Some(0)),
            "{}: {asked:?}",
            spec.name
        );
    }
}
