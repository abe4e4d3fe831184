//! How checkpoints come back, when they are written, and who writes them (source 000, parts 3, 8 and 9).
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use compactometer_engine::budget::Budget;
use compactometer_engine::checkpoint::{Checkpoint, Metadata};
use compactometer_engine::embed::{Embedder, Lexical};
use compactometer_engine::event::{FailReason, Outcome, RecoveryOutcome, RecoveryReason};
use compactometer_engine::log::Counted;
use compactometer_engine::message::{Message, MessageId, Part, Role, Usage};
use compactometer_engine::meter::{Metered, Purpose};
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::params::Settings;
use compactometer_engine::recovery::{ABSENCE_MS, Field, OtherThread, Recovery, Sharing, section_for};
use compactometer_engine::saved::SavedKind;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::store::{Commit, Store, StoreError};
use compactometer_engine::strategies::ALL;
use compactometer_engine::strategy::Strategy;
use compactometer_engine::tokens::{Encoding, TokenCounter};

const CHECKPOINT: &str = r#"{"active_goals":["Build a CRM"],"key_decisions":{"storage":"PostgreSQL","cache":"Redis"},"user_preferences":{"format":"JSON"},"context_references":{"threads":["telegram:7"]}}"#;

/// Answers every request alike.
struct Says(&'static str);

#[async_trait]
impl ChatModel for Says {
    fn name(&self) -> &str {
        "says"
    }

    async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
        let usage = Usage { input: 1, output: 1, ..Usage::default() };
        Ok(ChatReply { text: self.0.to_owned(), finish: Finish::Stop, usage, latency_ms: 1 })
    }
}

/// Polls a future that never waits for anything outside.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing in the engine waits"),
    }
}

fn said(id: u32, role: Role, text: &str, at_ms: Option<i64>) -> Counted {
    let message =
        Message { id: MessageId(id), role, at_ms, parts: vec![Part::Text { text: text.into() }], usage: None };
    Counted { tokens: Encoding::O200k.count_message(&message), message: Arc::new(message) }
}

fn strategy(name: &str, values: &[(&str, &str)]) -> Arc<dyn Strategy> {
    let spec = ALL.iter().find(|spec| spec.name == name).unwrap();
    let mut settings = Settings::defaults(spec);
    for (name, value) in values {
        settings.set(spec, name, value).unwrap();
    }
    (spec.build)(&settings)
}

fn config() -> SessionConfig {
    let budget = Budget::matched(1_000, 800, 300, 0.5).unwrap();
    SessionConfig { budget, overhead: 0, summarizer_window: None, automatic: true, policy: Policy::Enforce }
}

/// A session whose strategy has written a checkpoint and not compacted; the last message is the agent's, at that time.
fn with_checkpoint<'s>(strategy: &'s dyn Strategy, metered: &'s Metered<'s>, last: &str, at_ms: i64) -> Session<'s> {
    let mut session = Session::new(strategy, metered, &Encoding::O200k, config());
    session.push(said(0, Role::System, "You help.", None)).unwrap();
    for id in 1..14 {
        let (role, text) =
            if id % 2 == 1 { (Role::User, "look again ".repeat(45)) } else { (Role::Assistant, "Done.".into()) };
        session.push(said(id, role, &text, Some(at_ms - 1))).unwrap();
    }
    ready(session.before_call(Some(at_ms)));
    assert_eq!(session.history().iter().map(|saved| saved.kind).collect::<Vec<_>>(), [SavedKind::Checkpoint]);
    session.push(said(14, Role::Assistant, last, Some(at_ms))).unwrap();
    session
}

fn middleware() -> Arc<dyn Strategy> {
    strategy("middleware-checkpoint", &[("delta", "80")])
}

fn system(session: &Session<'_>) -> String {
    let texts = session.view().entries()[0].parts().map(|(part, _)| match part {
        Part::Text { text } => text.clone(),
        _ => String::new(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn chat(session: &Session<'_>) -> String {
    format!("{:?}", &session.view().to_wire()[1..])
}

#[test]
fn a_user_who_was_long_away_finds_the_checkpoint_shown() {
    for (gap, shown) in [(ABSENCE_MS, true), (ABSENCE_MS - 1, false)] {
        let (strategy, metered) = (middleware(), Metered::new(&Says(CHECKPOINT), 0));
        let mut session = with_checkpoint(&*strategy, &metered, "Done.", 1_000);
        session.push(said(15, Role::User, "I am back.", Some(1_000 + gap))).unwrap();
        let before = chat(&session);
        ready(session.before_call(Some(1_000 + gap)));
        assert_eq!(system(&session).contains("telegram:7"), shown, "{gap}");
        assert_eq!(chat(&session), before, "the section alone changes");
        let events = session.recovery_events().to_vec();
        assert_eq!(events.len(), usize::from(shown));
        if shown {
            assert_eq!(events[0].reason, RecoveryReason::Absence(gap));
            assert_eq!(events[0].outcome, RecoveryOutcome::Shown(5, 5));
            assert!(events[0].tokens_after > events[0].tokens_before);
            ready(session.before_call(Some(1_000 + gap)));
            assert_eq!(session.recovery_events().len(), 1, "it stands there already");
        }
    }
}

#[test]
fn an_agent_that_asks_for_what_is_held_is_shown_it() {
    for (last, lost, shown) in [
        ("Which storage did we choose?", true, true),
        ("Which storage did we choose?", false, false),
        ("Shall I go on with the storage?", true, false),
    ] {
        let (strategy, metered) = (middleware(), Metered::new(&Says(CHECKPOINT), 0));
        let recovery = Recovery { lost, absence_ms: None };
        let mut session = with_checkpoint(&*strategy, &metered, last, 1_000).recovering(recovery);
        session.push(said(15, Role::User, "Go on.", Some(2_000))).unwrap();
        ready(session.before_call(Some(2_000)));
        assert_eq!(system(&session).contains("PostgreSQL"), shown, "{last} {lost}");
        assert!(session.recovery_events().iter().all(|event| event.reason == RecoveryReason::Lost));
    }
}

#[test]
fn the_host_gets_what_a_query_is_about_and_the_next_compaction_shows_all() {
    let (strategy, metered) = (middleware(), Metered::new(&Says(CHECKPOINT), 0));
    let mut session = with_checkpoint(&*strategy, &metered, "Done.", 1_000);
    let event = ready(session.recover(RecoveryReason::OnDemand, Some("which storage?"), Some(5))).unwrap().clone();
    assert_eq!((event.outcome, event.at_ms), (RecoveryOutcome::Shown(1, 5), Some(5)));
    assert!(system(&session).starts_with("You help.\n") && system(&session).contains("PostgreSQL"));
    assert!(!system(&session).contains("Redis"));
    let again = ready(session.recover(RecoveryReason::OnDemand, Some("which storage?"), None)).unwrap();
    assert_eq!(again.outcome, RecoveryOutcome::NothingToShow);
    let none = ready(session.recover(RecoveryReason::OnDemand, Some("the weather"), None)).unwrap();
    assert_eq!(none.outcome, RecoveryOutcome::NothingToShow);
    assert_eq!(ready(session.compact(None)).unwrap().outcome, Outcome::Applied);
    assert!(system(&session).contains("Redis") && session.view().check().is_empty());
    assert_eq!(system(&session).matches("Active Context Checkpoint").count(), 1);
}

/// Fails, or says that the last text is the nearest.
struct Embeds(bool);

#[async_trait]
impl Embedder for Embeds {
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ChatError> {
        let last = texts.len() - 1;
        let vector = |place: usize| if place == 0 || place == last { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
        if self.0 { Ok((0..texts.len()).map(vector).collect()) } else { Err(ChatError::Server { status: 500 }) }
    }
}

#[test]
fn an_embedder_selects_and_words_do_where_it_fails() {
    for (answers, expected) in [(true, "telegram:7"), (false, "PostgreSQL")] {
        let (strategy, metered, embedder) = (middleware(), Metered::new(&Says(CHECKPOINT), 0), Embeds(answers));
        let mut session = with_checkpoint(&*strategy, &metered, "Done.", 1_000).embedding_with(&embedder);
        let event = ready(session.recover(RecoveryReason::OnDemand, Some("which storage?"), None)).unwrap().clone();
        assert_eq!(event.fallback.is_none(), answers);
        assert_eq!(event.outcome, RecoveryOutcome::Shown(1, 5));
        assert!(system(&session).contains(expected), "{}", system(&session));
    }
}

#[test]
fn what_is_selected_fits_its_budget() {
    let (strategy, metered) = (middleware(), Metered::new(&Says(CHECKPOINT), 0));
    let session = with_checkpoint(&*strategy, &metered, "Done.", 1_000);
    let query = "goals, decisions, storage, cache, preferences, format, threads";
    let mut shown = Vec::new();
    for budget in 0..120 {
        let section = ready(section_for(session.history(), query, budget, &Lexical, &Encoding::O200k)).unwrap();
        let tokens = section.as_ref().map_or(0, |section| Encoding::O200k.count_text(&section.text));
        assert!(tokens <= budget, "{tokens} tokens of {budget}");
        shown.push(section.map_or(0, |section| section.shown));
    }
    assert!(shown[0] == 0 && shown[119] > 1, "{shown:?}");
    let none = ready(section_for(&[], query, 100, &Lexical, &Encoding::O200k)).unwrap();
    assert_eq!(none, None);
}

struct Full;

impl Store for Full {
    fn commit(&mut self, _: &Commit<'_>) -> Result<(), StoreError> {
        Err(StoreError("full".into()))
    }
}

#[test]
fn what_the_store_does_not_keep_is_not_shown() {
    let (strategy, metered) = (middleware(), Metered::new(&Says(CHECKPOINT), 0));
    let mut session = with_checkpoint(&*strategy, &metered, "Done.", 1_000).stored_in(Full);
    let event = ready(session.recover(RecoveryReason::OnDemand, None, None)).unwrap().clone();
    assert_eq!(event.outcome, RecoveryOutcome::Failed(FailReason::Store("full".into())));
    assert_eq!(system(&session), "You help.");
}

fn checkpoint(json: &str) -> Checkpoint {
    serde_json::from_str(json).unwrap()
}

#[test]
fn threads_share_what_the_opt_in_names_and_nothing_without_it() {
    let other = checkpoint(r#"{"active_goals":["A secret plan"],"user_preferences":{"tone":"terse"}}"#);
    let foreign = checkpoint(r#"{"user_preferences":{"tone":"florid"}}"#);
    let threads = [OtherThread { user: "ann", checkpoint: &other }, OtherThread { user: "bob", checkpoint: &foreign }];
    let sharing = |fields| Sharing { user: "ann".into(), fields }.of(&threads);
    assert_eq!(sharing(vec![Field::UserPreferences]), checkpoint(r#"{"user_preferences":{"tone":"terse"}}"#));
    assert!(sharing(vec![]).is_empty());

    let (strategy, metered) = (middleware(), Metered::new(&Says(CHECKPOINT), 0));
    let mut session = with_checkpoint(&*strategy, &metered, "Done.", 1_000);
    assert!(!format!("{:?}", session.view().to_wire()).contains("terse"));
    session.share(&sharing(vec![Field::UserPreferences]), None).unwrap();
    assert_eq!(session.recovery_events()[0].reason, RecoveryReason::Shared);
    assert!(system(&session).contains("Shared Context") && system(&session).contains("tone: terse"));
    assert!(!system(&session).contains("secret") && !system(&session).contains("florid"));

    // It stays over a compaction and a recovery, and no request for a checkpoint of this thread holds it.
    assert_eq!(ready(session.compact(None)).unwrap().outcome, Outcome::Applied);
    assert!(system(&session).contains("terse") && system(&session).contains("PostgreSQL"));
    ready(session.recover(RecoveryReason::OnDemand, Some("cache"), None));
    assert!(system(&session).contains("terse"));
    for id in 15..35 {
        let role = if id % 2 == 1 { Role::User } else { Role::Assistant };
        session.push(said(id, role, &"look again ".repeat(20), None)).unwrap();
        ready(session.before_call(None));
    }
    let calls = metered.take_calls();
    assert!(calls.iter().filter(|call| call.purpose == Purpose::Checkpoint).count() > 1);
    assert!(calls.iter().flat_map(|call| call.request.texts()).all(|text| !text.contains("terse")));
    let own = session.history().iter().filter(|saved| saved.kind == SavedKind::Checkpoint);
    assert!(own.into_iter().all(|saved| !saved.body.contains("terse")));
    session.share(&Checkpoint::default(), None).unwrap();
    assert!(!system(&session).contains("terse") && system(&session).contains("PostgreSQL"));
}

#[test]
fn every_strategy_that_rewrites_the_system_prompt_keeps_what_is_shared() {
    let shared = checkpoint(r#"{"user_preferences":{"tone":"terse"}}"#);
    for name in ["summarize", "prompt-checkpoint", "hybrid-checkpoint", "handoff", "chained"] {
        let (strategy, metered) = (strategy(name, &[]), Metered::new(&Says("Work went on."), 0));
        let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config());
        for id in 0..14 {
            let (role, text) =
                if id % 2 == 0 { (Role::User, "look again ".repeat(45)) } else { (Role::Assistant, "Done.".into()) };
            session.push(said(id, role, &text, None)).unwrap();
        }
        session.share(&shared, None).unwrap();
        assert_eq!(ready(session.compact(None)).unwrap().outcome, Outcome::Applied, "{name}");
        assert!(system(&session).contains("terse"), "{name}");
    }
}

/// The tokens of each request before which a checkpoint was written.
fn checkpointed_at(values: &[(&str, &str)], texts: &[&str]) -> Vec<u32> {
    let strategy = strategy("middleware-checkpoint", values);
    let metered = Metered::new(&Says(CHECKPOINT), 0);
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config());
    for (id, text) in texts.iter().enumerate() {
        let role = if id % 2 == 0 { Role::User } else { Role::Assistant };
        if role == Role::Assistant {
            ready(session.before_call(None));
        }
        session.push(said(id as u32, role, text, None)).unwrap();
    }
    session.checkpoint_events().iter().map(|event| event.tokens).collect()
}

#[test]
fn prediction_moves_with_the_pace_and_the_horizon() {
    let texts = |words: usize| (0..200).map(|_| "look again ".repeat(words)).collect::<Vec<_>>();
    let first = |words: usize, ahead: &'static str| {
        let texts = texts(words);
        let texts = texts.iter().map(String::as_str).collect::<Vec<_>>();
        checkpointed_at(&[("delta", "80"), ("predictive", "on"), ("ahead", ahead), ("shift", "0")], &texts)[0]
    };
    // A turn of the agent and one of the user: 2 x (2 x words + 4) tokens.
    let (slow, fast) = (first(3, "3"), first(25, "3"));
    assert!(slow > fast + 50, "{slow} and {fast}");
    assert!((800 - 3 * 116..800).contains(&fast), "{fast}");
    assert!(first(25, "1") > fast && first(25, "5") < fast);
}

#[test]
fn a_change_of_topic_is_a_reason_by_itself() {
    let about = |words: &str| words.repeat(4);
    let cars = about("engine brake wheel gear clutch piston ");
    let soup = about("onion carrot leek celery thyme butter ");
    let texts = [[cars.as_str(); 6], [soup.as_str(); 6]].concat();
    let written = |shift: &'static str, texts: &[&str]| {
        checkpointed_at(&[("delta", "80"), ("predictive", "on"), ("ahead", "0"), ("shift", shift)], texts).len()
    };
    assert_eq!((written("0.1", &texts), written("0", &texts), written("0.1", &[cars.as_str(); 12])), (1, 0, 0));
    assert!(checkpointed_at(&[("delta", "80")], &texts).is_empty(), "off by default");
}

#[test]
fn another_model_writes_the_checkpoints() {
    let (strategy, metered, cheap) =
        (middleware(), Metered::new(&Says("Work went on."), 0), Metered::new(&Says(CHECKPOINT), 0));
    let mut session =
        Session::new(&*strategy, &metered, &Encoding::O200k, config()).checkpointing_with(&cheap, Some(4_000));
    for id in 0..31 {
        let role = if id % 2 == 0 { Role::User } else { Role::Assistant };
        session.push(said(id, role, &"look again ".repeat(25), None)).unwrap();
        ready(session.before_call(None));
    }
    let (calls, cheap_calls) = (metered.take_calls(), cheap.take_calls());
    assert!(!calls.is_empty() && calls.iter().all(|call| call.purpose == Purpose::Compaction));
    assert!(!cheap_calls.is_empty() && cheap_calls.iter().all(|call| call.purpose == Purpose::Checkpoint));
    let recorded = session.history().iter().map(|saved| saved.usage.input).sum::<u64>();
    assert_eq!(recorded, metered.usage().input + cheap.usage().input);
}

/// Answers in turn.
struct InTurn(Mutex<Vec<&'static str>>);

#[async_trait]
impl ChatModel for InTurn {
    fn name(&self) -> &str {
        "in-turn"
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let text = self.0.lock().unwrap().remove(0);
        Says(text).complete(request).await
    }
}

#[test]
fn repeated_failures_raise_one_alert_and_count_in_the_rate() {
    let answers = [CHECKPOINT, "no", "no", "no", "no", CHECKPOINT, "no", "no", "no"];
    let model = InTurn(Mutex::new(answers.to_vec()));
    let (strategy, metered) =
        (strategy("middleware-checkpoint", &[("delta", "2"), ("ratio", "0.01")]), Metered::new(&model, 0));
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config());
    assert_eq!(session.health().success_rate(), None);
    let mut alerts = Vec::new();
    for id in 0..9 {
        session.push(said(id, if id % 2 == 0 { Role::User } else { Role::Assistant }, "Go on, please.", None)).unwrap();
        ready(session.before_call(None));
        alerts.push(session.health().alerts.len());
    }
    assert_eq!(alerts, [0, 0, 0, 1, 1, 1, 1, 1, 2]);
    let health = session.health();
    assert_eq!((health.alerts[0].after, health.alerts[0].failures, health.in_a_row), (MessageId(3), 3, 3));
    assert_eq!(health.success_rate(), Some(2.0 / 9.0));
}

#[test]
fn failures_with_a_summary_count_too() {
    let (strategy, metered) = (strategy("prompt-checkpoint", &[]), Metered::new(&Says("Work went on."), 0));
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config());
    for id in 0..9 {
        let role = if id % 2 == 0 { Role::User } else { Role::Assistant };
        session.push(said(id, role, &"look again ".repeat(30), None)).unwrap();
    }
    let event = ready(session.compact(None)).unwrap().clone();
    assert_eq!((event.outcome, event.extractions.len()), (Outcome::Applied, 1));
    assert_eq!(session.health().success_rate(), Some(0.0));
}

#[test]
fn metadata_derive_from_the_record() {
    let (strategy, metered) = (middleware(), Metered::new(&Says(CHECKPOINT), 0));
    let session = with_checkpoint(&*strategy, &metered, "Done.", 1_000);
    let saved = &session.history()[0];
    let metadata = Metadata::of(saved, 800).unwrap();
    assert_eq!((metadata.extracted_at_ms, metadata.token_count), (Some(1_000), saved.tokens_before));
    assert!(metadata.summarization_imminent && !Metadata::of(saved, 2_000).unwrap().summarization_imminent);
    assert_eq!(metadata.extraction_error, None);
    let mut failed = saved.clone();
    (failed.kind, failed.body) = (SavedKind::Failed, "no answer".into());
    assert_eq!(Metadata::of(&failed, 800).unwrap().extraction_error.as_deref(), Some("no answer"));
    failed.kind = SavedKind::Summary;
    assert_eq!(Metadata::of(&failed, 800), None);
}
