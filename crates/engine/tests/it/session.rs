//! What a session does around its strategy: background work, snapshots, stores, estimators, giving
//! up.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use compactometer_engine::budget::{Budget, Limits, Tail};
use compactometer_engine::estimate::Estimator;
use compactometer_engine::event::{FailReason, Outcome, SkipReason};
use compactometer_engine::message::{Message, MessageId, Part, Role, Usage};
use compactometer_engine::meter::{Metered, Purpose};
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::params::Settings;
use compactometer_engine::record::RecordKind;
use compactometer_engine::session::{CompactionDue, Policy, Session, SessionConfig};
use compactometer_engine::store::{Commit, State, Store, StoreError};
use compactometer_engine::strategies::ALL;
use compactometer_engine::strategy::Strategy;
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::{Encoding, TokenCounter};

/// Answers every request with a short text and counts what it reads.
pub(crate) struct Short;

#[async_trait]
impl ChatModel for Short {
    fn name(&self) -> &str {
        "short"
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let read = request
            .texts()
            .map(|text| Encoding::O200k.count_text(text))
            .sum::<u32>();
        let usage = Usage {
            input: read.into(),
            output: 5,
            ..Usage::default()
        };
        Ok(ChatReply {
            text: "Work went on.".into(),
            finish: Finish::Stop,
            usage,
            latency_ms: 1,
            served: None,
        })
    }
}

pub(crate) fn message(id: u32, role: Role, text: &str) -> Arc<CountedMessage> {
    let parts = vec![Part::Text {
        text: text.to_owned(),
    }];
    let message = Message {
        id: MessageId(id),
        role,
        at_ms: None,
        parts,
        usage: None,
    };
    CountedMessage::new(message, &Encoding::O200k)
}

fn strategy(name: &str) -> Arc<dyn Strategy> {
    let spec = ALL.iter().find(|spec| spec.name == name).unwrap();
    (spec.build)(&Settings::defaults(spec))
}

pub(crate) fn config(budget: Budget) -> SessionConfig {
    SessionConfig {
        budget,
        overhead: 0,
        summarizer_window: None,
        automatic: true,
        policy: Policy::Enforce,
    }
}

fn matched() -> Budget {
    Budget::matched(1_000, 800, 300, 0.5).unwrap()
}

/// Polls a future that never waits for anything outside.
pub(crate) fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing in the engine waits"),
    }
}

/// Pushes pairs of a question of some 100 tokens and a short answer.
pub(crate) fn talk(session: &mut Session<'_>, ids: std::ops::Range<u32>) {
    for id in ids {
        let (role, text) = if id % 2 == 0 {
            (Role::User, "look again ".repeat(50))
        } else {
            (Role::Assistant, "Done.".into())
        };
        session.push(message(id, role, &text)).unwrap();
    }
}

fn wire(session: &Session<'_>) -> String {
    format!("{:?}", session.view().to_wire())
}

#[test]
fn a_compaction_comes_when_the_host_says_so_and_then_at_any_size() {
    let (strategy, metered) = (strategy("summarize"), Metered::new(&Short, 0));
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config(matched()));
    talk(&mut session, 0..19);
    assert!(session.is_at_trigger());
    session.schedule(matched(), CompactionDue::NotYet);
    assert!(!session.is_due() && ready(session.before_call(None)).is_none());
    session.schedule(matched(), CompactionDue::AtTrigger);
    assert!(session.is_due());

    let large = Budget::matched(100_000, 80_000, 300, 0.5).unwrap();
    session.limit(large);
    assert!(!session.is_due(), "the request is far from this trigger");
    session.schedule(large, CompactionDue::Now);
    assert!(session.is_due());
    assert_eq!(
        ready(session.before_call(None)).unwrap().outcome,
        Outcome::Applied
    );
    assert!(
        !session.is_at_trigger(),
        "what was left is under what it was"
    );
    session.schedule(large, CompactionDue::NotYet);
    assert!(!session.is_due());
}

#[test]
fn messages_that_arrive_during_a_preparation_survive() {
    let (strategy, metered) = (strategy("summarize"), Metered::new(&Short, 0));
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config(matched()));
    talk(&mut session, 0..19);
    let preparation = session.prepare().unwrap();
    // A host may move either to another thread.
    fn is_send(_: &impl Send) {}
    is_send(&session);
    is_send(&preparation);
    talk(&mut session, 19..23);
    assert!(session.prepare().is_none(), "one at a time");
    let blocked = ready(session.before_call(None)).unwrap().outcome.clone();
    assert_eq!(blocked, Outcome::Skipped(SkipReason::UnderWay));
    let before = session.view().tokens();
    let prepared = ready(preparation.run());
    let event = ready(session.adopt(prepared, Some(7))).unwrap().clone();
    assert_eq!(event.outcome, Outcome::Applied);
    assert_eq!(
        (event.tokens_before, event.tokens_after),
        (before, session.view().tokens())
    );
    let ids = session
        .view()
        .entries()
        .iter()
        .filter_map(|entry| entry.message_id())
        .map(|id| id.0)
        .collect::<Vec<_>>();
    assert_eq!(ids[ids.len() - 5..], [18, 19, 20, 21, 22]);
    assert_eq!(session.history()[0].created_at_ms, Some(7));
    assert!(session.prepare().is_some(), "the next one may start");
}

#[test]
fn a_preparation_that_is_dropped_or_of_another_session_changes_nothing() {
    let (strategy, metered) = (strategy("summarize"), Metered::new(&Short, 0));
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config(matched()));
    let mut other = Session::new(&*strategy, &metered, &Encoding::O200k, config(matched()));
    talk(&mut session, 0..19);
    talk(&mut other, 0..19);
    drop(session.prepare());
    let foreign = ready(other.prepare().unwrap().run());
    let before = wire(&session);
    assert!(ready(session.adopt(foreign, None)).is_none());
    assert_eq!(wire(&session), before);
    assert_eq!(
        ready(session.compact(None)).unwrap().outcome,
        Outcome::Applied
    );
}

#[test]
fn usage_of_decisions_that_share_a_meter_stays_apart() {
    let (strategy, metered) = (strategy("summarize"), Metered::new(&Short, 0));
    let mut sessions =
        [0, 1].map(|_| Session::new(&*strategy, &metered, &Encoding::O200k, config(matched())));
    sessions.iter_mut().for_each(|session| talk(session, 0..19));
    let preparations = sessions
        .each_ref()
        .map(|session| session.prepare().unwrap());
    let prepared = preparations.map(|preparation| ready(preparation.run()));
    for (session, prepared) in sessions.iter_mut().zip(prepared) {
        ready(session.adopt(prepared, None));
    }
    let [one, two] = sessions
        .each_ref()
        .map(|session| session.history()[0].usage);
    assert_eq!(one, two);
    assert_eq!(one.input + two.input, metered.usage().input);
}

#[test]
fn nothing_is_compacted_while_agents_of_a_request_share_a_snapshot() {
    let (strategy, metered) = (strategy("summarize"), Metered::new(&Short, 0));
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config(matched()));
    talk(&mut session, 0..19);
    let delegated = session.snapshot();
    let agents = [delegated.clone(), delegated.clone()];
    let (tokens, before) = (delegated.tokens(), format!("{:?}", delegated.to_wire()));
    drop(delegated);
    talk(&mut session, 19..21);
    assert_eq!(
        ready(session.before_call(None)).unwrap().outcome,
        Outcome::Skipped(SkipReason::SnapshotInUse)
    );
    for agent in &agents {
        assert_eq!(
            (agent.tokens(), format!("{:?}", agent.to_wire())),
            (tokens, before.clone())
        );
    }
    drop(agents);
    assert_eq!(
        ready(session.before_call(None)).unwrap().outcome,
        Outcome::Applied
    );
}

#[test]
fn a_fixed_part_above_the_trigger_ends_in_a_typed_error() {
    let (strategy, metered) = (strategy("summarize"), Metered::new(&Short, 0));
    let tools = SessionConfig {
        overhead: 850,
        ..config(matched())
    };
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, tools);
    let mut errors = Vec::new();
    for id in 0..40 {
        session
            .push(message(
                id,
                if id % 2 == 0 {
                    Role::User
                } else {
                    Role::Assistant
                },
                "Go on with it, please.",
            ))
            .unwrap();
        if let Some(event) = ready(session.before_call(None)) {
            errors.extend(
                matches!(
                    event.outcome,
                    Outcome::Failed(FailReason::StaysAtTrigger { tries: 3, .. })
                )
                .then_some(id),
            );
        }
    }
    let tries = session.events().len() - errors.len();
    assert!(
        !errors.is_empty() && tries <= 3 * (errors.len() + 1),
        "{tries} tries, errors at {errors:?}"
    );
}

#[test]
fn without_the_flag_only_a_manual_call_compacts() {
    let (strategy, metered) = (strategy("middleware-checkpoint"), Metered::new(&Short, 0));
    let manual = SessionConfig {
        automatic: false,
        ..config(matched())
    };
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, manual);
    talk(&mut session, 0..31);
    assert!(ready(session.before_call(None)).is_none());
    assert!(metered.take_calls().is_empty() && session.checkpoint_events().is_empty());
    assert_eq!(
        ready(session.compact(None)).unwrap().outcome,
        Outcome::Applied
    );
}

/// A store in memory that can be full.
#[derive(Clone, Default)]
struct Shelf {
    state: Arc<Mutex<State>>,
    full: bool,
}

impl Store for Shelf {
    fn commit(&mut self, commit: &Commit<'_>) -> Result<(), StoreError> {
        if self.full {
            return Err(StoreError("the shelf is full; clear it".into()));
        }
        let mut state = self.state.lock().unwrap();
        state.history.extend_from_slice(commit.saved);
        state.view = commit.view.to_vec();
        state.after = Some(commit.after);
        Ok(())
    }
}

#[test]
fn a_restored_session_has_the_same_view_and_goes_on_alike() {
    for spec in ALL.iter().filter(|spec| !spec.prompt.is_empty()) {
        let (strategy, metered, shelf) = (
            strategy(spec.name),
            Metered::new(&Short, 0),
            Shelf::default(),
        );
        let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config(matched()))
            .stored_in(shelf.clone());
        for id in 0..61 {
            talk(&mut session, id..id + 1);
            ready(session.before_call(None));
        }
        let state = shelf.state.lock().unwrap().clone();
        assert!(state.history.len() > 1, "{}", spec.name);
        let mut again = Session::new(&*strategy, &metered, &Encoding::O200k, config(matched()))
            .restored(session.log().clone(), state)
            .unwrap();
        assert_eq!(wire(&again), wire(&session), "{}", spec.name);
        assert_eq!(again.history(), session.history(), "{}", spec.name);
        for session in [&mut session, &mut again] {
            talk(session, 61..81);
            ready(session.compact(None));
        }
        assert_eq!(wire(&again), wire(&session), "{}", spec.name);
    }
}

#[test]
fn a_checkpoint_is_written_beside_the_conversation() {
    let (strategy, metered) = (strategy("middleware-checkpoint"), Metered::new(&Short, 0));
    let budget = Budget::matched(5_000, 4_000, 1_000, 0.5).unwrap();
    let session = || Session::new(&*strategy, &metered, &Encoding::O200k, config(budget));
    let (mut blocking, mut beside, mut other) = (session(), session(), session());
    for session in [&mut blocking, &mut beside, &mut other] {
        assert!(session.prepare_checkpoint().is_none(), "nothing was said");
        let mut said = 0;
        while session.prepare_checkpoint().is_none() {
            assert!(!session.is_at_trigger(), "none became due");
            talk(session, said..said + 2);
            said += 2;
        }
    }
    let preparation = beside.prepare_checkpoint().expect("one is due");
    assert!(beside.prepare_checkpoint().is_none(), "one at a time");
    assert!(ready(beside.before_call(None)).is_none());
    assert!(metered.take_calls().is_empty(), "another is under way");
    let last = beside.log().last().unwrap();
    let prepared = ready(preparation.run());
    let calls = metered.take_calls().len();
    talk(&mut beside, last.0 + 1..last.0 + 3);
    assert!(!ready(other.adopt_checkpoint(
        ready(blocking.prepare_checkpoint().unwrap().run()),
        None
    )));
    assert!(other.history().is_empty(), "one of another session");
    metered.take_calls();
    assert!(ready(beside.adopt_checkpoint(prepared, Some(7))));
    ready(blocking.before_call(Some(7)));
    assert_eq!(metered.take_calls().len(), calls);
    assert_eq!(beside.history(), blocking.history());
    assert_eq!(beside.checkpoint_events(), blocking.checkpoint_events());
    drop(other.prepare_checkpoint());
    assert!(
        other.prepare_checkpoint().is_some(),
        "one that is dropped gives up"
    );
}

#[test]
fn what_the_store_does_not_keep_is_not_applied() {
    let (strategy, metered) = (strategy("middleware-checkpoint"), Metered::new(&Short, 0));
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config(matched()))
        .stored_in(Shelf {
            full: true,
            ..Shelf::default()
        });
    talk(&mut session, 0..31);
    let before = wire(&session);
    let event = ready(session.before_call(None)).unwrap().clone();
    assert_eq!(
        event.outcome,
        Outcome::Failed(FailReason::Store("the shelf is full; clear it".into()))
    );
    assert_eq!(wire(&session), before);
    assert!(session.history().is_empty());
    assert!(
        session
            .checkpoint_events()
            .iter()
            .all(|event| matches!(event.failed, Some(FailReason::Store(_))))
    );
    let beyond = session.view().to_edits();
    for (after, view) in [
        (Some(MessageId(99)), vec![]),
        (Some(MessageId(5)), beyond.clone()),
        (None, beyond),
    ] {
        let fresh = Session::new(&*strategy, &metered, &Encoding::O200k, config(matched()));
        let state = State {
            after,
            view,
            ..State::default()
        };
        assert!(
            fresh.restored(session.log().clone(), state).is_err(),
            "{after:?}"
        );
    }
}

fn published(estimator: Estimator) -> SessionConfig {
    let limits = Limits {
        window: 1_000,
        assumed_window: false,
        trigger: 800,
        tail: Tail::Messages(2),
        written: 200,
        estimator,
    };
    config(Budget::published(limits, 1.0).unwrap())
}

#[test]
fn estimators_decide_when_and_only_under_published() {
    let strategy = strategy("summarize");
    let first = |estimator: Estimator| {
        let metered = Metered::new(&Short, 0);
        let mut session =
            Session::new(&*strategy, &metered, &Encoding::O200k, published(estimator));
        for id in 0..100 {
            let text = "2026-11-22T10:00:00Z;ok;17;".repeat(6);
            session
                .push(message(
                    id,
                    if id % 2 == 0 {
                        Role::User
                    } else {
                        Role::Assistant
                    },
                    &text,
                ))
                .unwrap();
            let input = u64::from(session.view().tokens());
            if ready(session.before_call(None)).is_some() {
                return (id, input, metered.take_calls());
            }
            session.report_usage(Usage {
                input: input / 2,
                cache_read: input - input / 2,
                ..Usage::default()
            });
        }
        panic!("never due");
    };
    let (exact, ..) = first(Estimator::Exact);
    let (characters, tokens, _) = first(Estimator::Characters);
    assert!(
        characters > exact && tokens > 1_000,
        "a quarter of the length is too few for logs: {tokens} tokens"
    );
    let (classes, ..) = first(Estimator::Classes);
    assert!(classes <= exact, "{classes} and {exact}");
    let (usage, ..) = first(Estimator::Usage);
    assert_eq!(
        usage,
        exact + 1,
        "what was reported lags by a call; cached tokens count once"
    );
    let (_, _, calls) = first(Estimator::Recount);
    let recounts = calls
        .iter()
        .filter(|call| call.purpose == Purpose::Recount)
        .collect::<Vec<_>>();
    assert_eq!(recounts.len(), 1);
    assert_eq!(recounts[0].request.max_output_tokens, Some(16));
}

#[test]
fn a_recount_is_the_agents_where_another_model_summarizes() {
    /// Counts, and writes nothing.
    struct Agent;
    #[async_trait]
    impl ChatModel for Agent {
        fn name(&self) -> &str {
            "agent"
        }

        async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
            assert_eq!(
                request.max_output_tokens,
                Some(16),
                "it is asked for nothing else"
            );
            let usage = Usage {
                input: 77,
                ..Usage::default()
            };
            Ok(ChatReply {
                text: String::new(),
                finish: Finish::Stop,
                usage,
                latency_ms: 0,
                served: None,
            })
        }
    }
    let (strategy, metered) = (
        strategy("summarize"),
        Metered::new(&Short, 0).recounting_with(&Agent),
    );
    let mut session = Session::new(
        &*strategy,
        &metered,
        &Encoding::O200k,
        published(Estimator::Recount),
    );
    talk(&mut session, 0..19);
    session.report_usage(Usage {
        input: 900,
        output: 20,
        ..Usage::default()
    });
    assert_eq!(
        ready(session.before_call(None)).unwrap().outcome,
        Outcome::Applied
    );
    assert_eq!(session.request_estimate(), 77);
    let purposes: Vec<_> = metered
        .take_calls()
        .iter()
        .map(|call| call.purpose)
        .collect();
    assert_eq!(purposes.last(), Some(&Purpose::Recount));
    assert!(purposes.len() > 1);
}

#[test]
fn reported_usage_is_reset_by_a_compaction() {
    let (strategy, metered) = (strategy("summarize"), Metered::new(&Short, 0));
    let mut session = Session::new(
        &*strategy,
        &metered,
        &Encoding::O200k,
        published(Estimator::Usage),
    );
    talk(&mut session, 0..19);
    session.report_usage(Usage {
        input: 900,
        output: 20,
        ..Usage::default()
    });
    assert_eq!(
        ready(session.before_call(None)).unwrap().outcome,
        Outcome::Applied
    );
    assert_eq!(session.request_estimate(), 0);
    assert!(ready(session.before_call(None)).is_none());
}

#[test]
fn a_fallback_is_not_asked_for_again_with_a_smaller_limit() {
    /// Never answers.
    struct Down;
    #[async_trait]
    impl ChatModel for Down {
        fn name(&self) -> &str {
            "down"
        }
        async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
            Err(ChatError::Server { status: 503 })
        }
    }
    let (strategy, metered) = (strategy("threshold-summary"), Metered::new(&Down, 0));
    let tight = Budget {
        retained: Some(50),
        tail: Tail::Tokens(300),
        ..matched()
    };
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config(tight));
    talk(&mut session, 0..31);
    let event = ready(session.compact(None)).unwrap();
    assert_eq!(
        (event.outcome.clone(), event.attempts, event.over_budget),
        (Outcome::Applied, 1, true)
    );
    assert_eq!(metered.take_calls().len(), 1);
}

/// Answers as [`Short`] but for one call, counted from 1, that never ends.
struct Hangs {
    at: usize,
    calls: Mutex<usize>,
}

#[async_trait]
impl ChatModel for Hangs {
    fn name(&self) -> &str {
        "hangs"
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let call = {
            let mut calls = self.calls.lock().unwrap();
            *calls += 1;
            *calls
        };
        if call == self.at {
            std::future::pending::<()>().await;
        }
        Short.complete(request).await
    }
}

#[test]
fn a_call_that_is_given_up_leaves_the_view_or_an_event() {
    for spec in ALL {
        let mut changed = false;
        for at in 1..6 {
            let model = Hangs {
                at,
                calls: Mutex::default(),
            };
            let (strategy, metered) = (strategy(spec.name), Metered::new(&model, 0));
            let mut session = Session::new(
                &*strategy,
                &metered,
                &Encoding::O200k,
                published(Estimator::Recount),
            );
            talk(&mut session, 0..31);
            session.report_usage(Usage {
                input: 900,
                ..Usage::default()
            });
            let before = wire(&session);
            // Polled once and dropped.
            let _ = pin!(session.before_call(None)).poll(&mut Context::from_waker(Waker::noop()));
            let applied = session
                .events()
                .iter()
                .filter(|event| event.outcome == Outcome::Applied)
                .count();
            assert_eq!(
                wire(&session) != before,
                applied == 1,
                "{} at call {at}",
                spec.name
            );
            changed |= applied == 1;
        }
        assert!(changed, "{}: the recount was never reached", spec.name);
    }
}

#[test]
fn what_comes_while_a_snapshot_is_held_is_paid_for_and_not_remembered_as_a_summary() {
    for spec in ALL.iter().filter(|spec| !spec.prompt.is_empty()) {
        let (strategy, metered) = (strategy(spec.name), Metered::new(&Short, 0));
        let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config(matched()));
        talk(&mut session, 0..31);
        let prepared = ready(session.prepare().unwrap().run());
        let snapshot = session.snapshot();
        let event = ready(session.adopt(prepared, None)).unwrap().clone();
        assert_eq!(
            event.outcome,
            Outcome::Skipped(SkipReason::SnapshotInUse),
            "{}",
            spec.name
        );
        assert_eq!(
            (event.tokens_before, event.unread),
            (event.tokens_after, vec![]),
            "{}",
            spec.name
        );
        let kinds = session
            .history()
            .iter()
            .map(|saved| saved.kind)
            .collect::<Vec<_>>();
        assert_eq!(kinds, [RecordKind::Failed], "{}", spec.name);
        assert_eq!(session.history()[0].usage, metered.usage(), "{}", spec.name);
        drop(snapshot);
        ready(session.compact(None));
        assert_eq!(
            wire(&session).matches("Work went on.").count(),
            1,
            "{}",
            spec.name
        );
    }
}

#[test]
fn a_preparation_of_the_conversation_before_a_restore_is_not_adopted() {
    let (strategy, metered) = (strategy("summarize"), Metered::new(&Short, 0));
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config(matched()));
    talk(&mut session, 0..19);
    let prepared = ready(session.prepare().unwrap().run());
    let mut other = Session::new(&*strategy, &metered, &Encoding::O200k, config(matched()));
    talk(&mut other, 0..3);
    let mut session = session
        .restored(other.log().clone(), State::default())
        .unwrap();
    assert!(ready(session.adopt(prepared, None)).is_none());
    assert_eq!(wire(&session), wire(&other));
}

/// Counts the same for every text, an empty one too.
struct Same(u32);

impl TokenCounter for Same {
    fn name(&self) -> &'static str {
        "same"
    }

    fn count_text(&self, _: &str) -> u32 {
        self.0
    }
}

#[test]
fn limits_and_counts_at_the_edges_neither_overflow_nor_hang() {
    let most = u32::MAX;
    let limits = [
        (1, 1, Some(0)),
        (most, 1, Some(0)),
        (most, most, Some(most - 1)),
        (10, 800, Some(300)),
        (1_000, 0, None),
    ];
    let tails = [
        Tail::Tokens(0),
        Tail::Tokens(most),
        Tail::Messages(0),
        Tail::Messages(most),
    ];
    let sizes = [(0, 0), (400, 500), (most, most)];
    for spec in ALL.iter().map(|spec| strategy(spec.name)) {
        for ((window, trigger, retained), tail) in limits
            .iter()
            .flat_map(|limit| tails.map(|tail| (*limit, tail)))
        {
            for (tokens, (written, overhead)) in [0, 300, most / 2]
                .into_iter()
                .flat_map(|tokens| sizes.map(|size| (tokens, size)))
            {
                let budget = Budget {
                    window,
                    assumed_window: false,
                    trigger,
                    retained,
                    tail,
                    written,
                    estimator: Estimator::Exact,
                };
                let config = SessionConfig {
                    overhead,
                    summarizer_window: Some(window),
                    ..config(budget)
                };
                let (metered, counter) = (Metered::new(&Short, 0), Same(tokens));
                let mut session = Session::new(&*spec, &metered, &counter, config);
                for id in 0..9 {
                    let role = if id % 2 == 0 {
                        Role::User
                    } else {
                        Role::Assistant
                    };
                    session
                        .push(CountedMessage {
                            tokens: 2 * tokens,
                            ..(*message(id, role, "Go on with it, please.")).clone()
                        })
                        .unwrap();
                    session.report_usage(Usage {
                        input: u64::MAX,
                        output: 1,
                        ..Usage::default()
                    });
                    ready(session.before_call(None));
                }
                ready(session.compact(None));
                assert!(session.events().len() <= 10, "{window} {trigger} {written}");
            }
        }
    }
}

/// The threshold plan, `test_compaction_thread_safety`: two threads with one strategy and one
/// meter, a session each.
#[test]
fn two_threads_compact_as_one_after_the_other_would() {
    for spec in ALL {
        let strategy = strategy(spec.name);
        let play = |metered: &Metered<'_>, first: u32| {
            let mut session =
                Session::new(&*strategy, metered, &Encoding::O200k, config(matched()));
            for id in 0..61 {
                talk(&mut session, first + id..first + id + 1);
                ready(session.before_call(None));
            }
            (
                wire(&session),
                session.history().to_vec(),
                session.events().to_vec(),
            )
        };
        let (alone, shared) = (Metered::new(&Short, 0), Metered::new(&Short, 0));
        let one_by_one = [play(&alone, 0), play(&alone, 1_000)];
        let together = std::thread::scope(|scope| {
            let (play, shared) = (&play, &shared);
            let threads = [0, 1_000].map(|first| scope.spawn(move || play(shared, first)));
            threads.map(|thread| thread.join().unwrap())
        });
        assert_eq!(together, one_by_one, "{}", spec.name);
        assert_eq!(shared.usage(), alone.usage(), "{}", spec.name);
    }
}

/// The same for one session behind a lock: nothing that was said is lost, said twice, or numbered
/// twice.
#[test]
fn two_threads_share_one_session_without_corruption() {
    for spec in ALL.iter().filter(|spec| !spec.prompt.is_empty()) {
        let (strategy, metered, shelf) = (
            strategy(spec.name),
            Metered::new(&Short, 0),
            Shelf::default(),
        );
        let session = Session::new(&*strategy, &metered, &Encoding::O200k, config(matched()))
            .stored_in(shelf.clone());
        let session = Mutex::new(session);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..60 {
                        let mut session = session.lock().unwrap();
                        let next = session.log().messages().len() as u32;
                        talk(&mut session, next..next + 1);
                        ready(session.before_call(None));
                    }
                });
            }
        });
        let session = session.into_inner().unwrap();
        assert_eq!(session.log().messages().len(), 120, "{}", spec.name);
        assert!(
            session.history().len() > 1 && session.view().check().is_empty(),
            "{}",
            spec.name
        );
        let numbers = session
            .history()
            .iter()
            .map(|saved| saved.number)
            .collect::<Vec<_>>();
        assert_eq!(
            numbers,
            (0..numbers.len() as u32).collect::<Vec<_>>(),
            "{}",
            spec.name
        );
        let used = session
            .history()
            .iter()
            .map(|saved| saved.usage.input)
            .sum::<u64>();
        assert_eq!(
            used,
            metered.usage().input,
            "{}: every call's cost stands in a record",
            spec.name
        );
        assert_eq!(
            shelf.state.lock().unwrap().history,
            session.history()[..],
            "{}",
            spec.name
        );
    }
}
