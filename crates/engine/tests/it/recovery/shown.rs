//! What is shown, when, and to whom.

use async_trait::async_trait;
use compactometer_engine::checkpoint::Checkpoint;
use compactometer_engine::embed::{Embedder, Lexical};
use compactometer_engine::event::{FailReason, Outcome, RecoveryOutcome, RecoveryReason};
use compactometer_engine::message::Role;
use compactometer_engine::meter::{Metered, Purpose};
use compactometer_engine::model::ChatError;
use compactometer_engine::record::{History, RecordKind, SessionRecord};
use compactometer_engine::recovery::{
    ABSENCE_MS, OtherThread, Recovery, SharedField, Sharing, section_for,
};
use compactometer_engine::session::Session;
use compactometer_engine::store::{Commit, State, Store, StoreError};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_engine::view::Origin;

use crate::recovery::stage::{
    CHECKPOINT, Says, chat, config, middleware, ready, said, strategy, system, with_checkpoint,
};

#[test]
fn a_user_who_was_long_away_finds_the_checkpoint_shown() {
    for (gap, shown) in [(ABSENCE_MS, true), (ABSENCE_MS - 1, false)] {
        let (strategy, metered) = (middleware(), Metered::new(&Says(CHECKPOINT), 0));
        let mut session = with_checkpoint(&*strategy, &metered, "Done.", 1_000);
        session
            .push(said(15, Role::User, "I am back.", Some(1_000 + gap)))
            .unwrap();
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
            assert_eq!(
                session.recovery_events().len(),
                1,
                "it stands there already"
            );
        }
    }
}

#[test]
fn an_absence_longer_than_any_clock_tells_is_the_longest() {
    let (strategy, metered) = (middleware(), Metered::new(&Says(CHECKPOINT), 0));
    let mut session = with_checkpoint(&*strategy, &metered, "Done.", -9_000_000_000_000_000_000);
    session
        .push(said(15, Role::User, "I am back.", Some(i64::MAX)))
        .unwrap();
    ready(session.before_call(None));
    assert_eq!(
        session.recovery_events()[0].reason,
        RecoveryReason::Absence(i64::MAX)
    );
}

#[test]
fn an_agent_that_asks_for_what_is_held_is_shown_it() {
    for (last, lost, shown) in [
        ("Which storage did we choose?", true, true),
        ("Which storage did we choose?", false, false),
        ("Shall I go on with the storage?", true, false),
    ] {
        let (strategy, metered) = (middleware(), Metered::new(&Says(CHECKPOINT), 0));
        let recovery = Recovery {
            lost,
            absence_ms: None,
        };
        let mut session = with_checkpoint(&*strategy, &metered, last, 1_000).recovering(recovery);
        session
            .push(said(15, Role::User, "Go on.", Some(2_000)))
            .unwrap();
        ready(session.before_call(Some(2_000)));
        assert_eq!(
            system(&session).contains("PostgreSQL"),
            shown,
            "{last} {lost}"
        );
        assert!(
            session
                .recovery_events()
                .iter()
                .all(|event| event.reason == RecoveryReason::Lost)
        );
    }
}

#[test]
fn the_host_gets_what_a_query_is_about_and_the_next_compaction_shows_all() {
    let (strategy, metered) = (middleware(), Metered::new(&Says(CHECKPOINT), 0));
    let mut session = with_checkpoint(&*strategy, &metered, "Done.", 1_000);
    let event = ready(session.recover(RecoveryReason::OnDemand, Some("which storage?"), Some(5)))
        .unwrap()
        .clone();
    assert_eq!(
        (event.outcome, event.at_ms),
        (RecoveryOutcome::Shown(1, 5), Some(5))
    );
    assert!(system(&session).starts_with("You help.\n") && system(&session).contains("PostgreSQL"));
    assert!(!system(&session).contains("Redis"));
    let again =
        ready(session.recover(RecoveryReason::OnDemand, Some("which storage?"), None)).unwrap();
    assert_eq!(again.outcome, RecoveryOutcome::NothingToShow);
    let none = ready(session.recover(RecoveryReason::OnDemand, Some("the weather"), None)).unwrap();
    assert_eq!(none.outcome, RecoveryOutcome::NothingToShow);
    assert_eq!(
        ready(session.compact(None)).unwrap().outcome,
        Outcome::Applied
    );
    assert!(system(&session).contains("Redis") && session.view().check().is_empty());
    assert_eq!(
        system(&session)
            .matches("Active Context Checkpoint")
            .count(),
        1
    );
}

/// Fails, or says that the last text is the nearest.
struct Embeds(bool);

#[async_trait]
impl Embedder for Embeds {
    async fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ChatError> {
        let last = texts.len() - 1;
        let vector = |place: usize| {
            if place == 0 || place == last {
                vec![1.0, 0.0]
            } else {
                vec![0.0, 1.0]
            }
        };
        if self.0 {
            Ok((0..texts.len()).map(vector).collect())
        } else {
            Err(ChatError::Server { status: 500 })
        }
    }
}

#[test]
fn an_embedder_selects_and_words_do_where_it_fails() {
    for (answers, expected) in [(true, "telegram:7"), (false, "PostgreSQL")] {
        let (strategy, metered, embedder) = (
            middleware(),
            Metered::new(&Says(CHECKPOINT), 0),
            Embeds(answers),
        );
        let mut session =
            with_checkpoint(&*strategy, &metered, "Done.", 1_000).embedding_with(&embedder);
        let event = ready(session.recover(RecoveryReason::OnDemand, Some("which storage?"), None))
            .unwrap()
            .clone();
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
        let section = ready(section_for(
            session.history(),
            query,
            budget,
            &Lexical,
            &Encoding::O200k,
        ))
        .unwrap();
        let tokens = section
            .as_ref()
            .map_or(0, |section| Encoding::O200k.count_text(&section.text));
        assert!(tokens <= budget, "{tokens} tokens of {budget}");
        shown.push(section.map_or(0, |section| section.shown));
    }
    assert!(shown[0] == 0 && shown[119] > 1, "{shown:?}");
    let none = ready(section_for(
        &History::default(),
        query,
        100,
        &Lexical,
        &Encoding::O200k,
    ))
    .unwrap();
    assert_eq!(none, None);
}

#[test]
fn the_newest_checkpoint_is_shown_after_a_reload_and_the_next_one_after_it() {
    let (strategy, metered) = (middleware(), Metered::new(&Says(CHECKPOINT), 0));
    let first = with_checkpoint(&*strategy, &metered, "Done.", 1_000);
    let record = |number, kind, body: &str| SessionRecord {
        number,
        kind,
        body: body.into(),
        ..first.history()[0].clone()
    };
    let older = record(
        0,
        RecordKind::Checkpoint,
        r#"{"key_decisions":{"storage":"SQLite"}}"#,
    );
    let history = vec![
        older,
        record(1, RecordKind::Checkpoint, CHECKPOINT),
        record(2, RecordKind::Note, "{}"),
    ];
    let state = State {
        history,
        view: first.view().to_edits(),
        after: first.log().last(),
    };
    let session = Session::new(&*strategy, &metered, &Encoding::O200k, config());
    let mut session = session.restored(first.log().clone(), state).unwrap();

    let shown = |session: &Session<'_>| session.view().entries()[0].parts().last().unwrap().1;
    ready(session.recover(RecoveryReason::OnDemand, None, None));
    assert_eq!(
        (shown(&session), system(&session).contains("PostgreSQL")),
        (Origin::Checkpoint(1), true)
    );
    session.note("The quota stays.", 1, None).unwrap();
    session
        .push(said(15, Role::User, &"look again ".repeat(90), Some(1_000)))
        .unwrap();
    ready(session.before_call(Some(1_000)));
    assert_eq!(
        session
            .history()
            .iter()
            .rfind(|saved| saved.kind == RecordKind::Checkpoint)
            .unwrap()
            .number,
        4
    );
    ready(session.recover(RecoveryReason::OnDemand, None, None));
    assert_eq!(shown(&session), Origin::Checkpoint(4));
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
    let event = ready(session.recover(RecoveryReason::OnDemand, None, None))
        .unwrap()
        .clone();
    assert_eq!(
        event.outcome,
        RecoveryOutcome::Failed(FailReason::Store("full".into()))
    );
    assert_eq!(system(&session), "You help.");
}

fn checkpoint(json: &str) -> Checkpoint {
    serde_json::from_str(json).unwrap()
}

#[test]
fn threads_share_what_the_opt_in_names_and_nothing_without_it() {
    let other =
        checkpoint(r#"{"active_goals":["A secret plan"],"user_preferences":{"tone":"terse"}}"#);
    let foreign = checkpoint(r#"{"user_preferences":{"tone":"florid"}}"#);
    let threads = [
        OtherThread {
            user: "ann",
            checkpoint: &other,
        },
        OtherThread {
            user: "bob",
            checkpoint: &foreign,
        },
    ];
    let sharing = |fields| {
        Sharing {
            user: "ann".into(),
            fields,
        }
        .shared(&threads)
    };
    assert_eq!(
        sharing(vec![SharedField::UserPreferences]),
        checkpoint(r#"{"user_preferences":{"tone":"terse"}}"#)
    );
    assert!(sharing(vec![]).is_empty());

    let (strategy, metered) = (middleware(), Metered::new(&Says(CHECKPOINT), 0));
    let mut session = with_checkpoint(&*strategy, &metered, "Done.", 1_000);
    assert!(!format!("{:?}", session.view().to_wire()).contains("terse"));
    session
        .share(&sharing(vec![SharedField::UserPreferences]), None)
        .unwrap();
    assert_eq!(session.recovery_events()[0].reason, RecoveryReason::Shared);
    assert!(
        system(&session).contains("Shared Context") && system(&session).contains("tone: terse")
    );
    assert!(!system(&session).contains("secret") && !system(&session).contains("florid"));

    // It stays over a compaction and a recovery, and no request for a checkpoint of this thread
    // holds it.
    assert_eq!(
        ready(session.compact(None)).unwrap().outcome,
        Outcome::Applied
    );
    assert!(system(&session).contains("terse") && system(&session).contains("PostgreSQL"));
    ready(session.recover(RecoveryReason::OnDemand, Some("cache"), None));
    assert!(system(&session).contains("terse"));
    for id in 15..35 {
        let role = if id % 2 == 1 {
            Role::User
        } else {
            Role::Assistant
        };
        session
            .push(said(id, role, &"look again ".repeat(20), None))
            .unwrap();
        ready(session.before_call(None));
    }
    let calls = metered.take_calls();
    assert!(
        calls
            .iter()
            .filter(|call| call.purpose == Purpose::Checkpoint)
            .count()
            > 1
    );
    assert!(
        calls
            .iter()
            .flat_map(|call| call.request.texts())
            .all(|text| !text.contains("terse"))
    );
    let own = session
        .history()
        .iter()
        .filter(|saved| saved.kind == RecordKind::Checkpoint);
    assert!(own.into_iter().all(|saved| !saved.body.contains("terse")));
    session.share(&Checkpoint::default(), None).unwrap();
    assert!(!system(&session).contains("terse") && system(&session).contains("PostgreSQL"));
}

#[test]
fn every_strategy_that_rewrites_the_system_prompt_keeps_what_is_shared() {
    let shared = checkpoint(r#"{"user_preferences":{"tone":"terse"}}"#);
    for name in [
        "summarize",
        "prompt-checkpoint",
        "hybrid-checkpoint",
        "handoff",
        "chained",
    ] {
        let (strategy, metered) = (strategy(name, &[]), Metered::new(&Says("Work went on."), 0));
        let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config());
        for id in 0..14 {
            let (role, text) = if id % 2 == 0 {
                (Role::User, "look again ".repeat(45))
            } else {
                (Role::Assistant, "Done.".into())
            };
            session.push(said(id, role, &text, None)).unwrap();
        }
        session.share(&shared, None).unwrap();
        assert_eq!(
            ready(session.compact(None)).unwrap().outcome,
            Outcome::Applied,
            "{name}"
        );
        assert!(system(&session).contains("terse"), "{name}");
    }
}
