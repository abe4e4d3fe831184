//! `progressive` over many rounds: what is pinned stays word for word, and all of it stays within
//! the budget (the progressive plan, "Long Task Scenario").

use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use compactometer_engine::budget::Budget;
use compactometer_engine::event::Outcome;
use compactometer_engine::message::{Message, MessageId, Part, Role, Usage};
use compactometer_engine::meter::Metered;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::params::Settings;
use compactometer_engine::record::RecordKind;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategies::ALL;
use compactometer_engine::strategies::journey::{self, ArchitectureDecision};
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::Encoding;
use compactometer_engine::view::Origin;

/// Answers in the form asked for, with a decision of its own in each round; restates the goal in
/// every one.
#[derive(Default)]
struct Decides(AtomicU32);

fn decision(round: u32) -> String {
    format!(
        "Use port {}; reason: load; impact: proxy {round}",
        40_000 + round
    )
}

#[async_trait]
impl ChatModel for Decides {
    fn name(&self) -> &str {
        "decides"
    }

    async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
        let round = self.0.fetch_add(1, Ordering::Relaxed);
        let text = format!(
            "Goal:\n- Ship the ledger\n\nArchitecture Decisions:\n- {}\n\nSummary: part {round} is done.\nIt was long.\n\nNext \
             Steps:\n- step {round}",
            decision(round)
        );
        let usage = Usage {
            input: 1,
            output: 1,
            ..Usage::default()
        };
        Ok(ChatReply {
            text,
            finish: Finish::Stop,
            usage,
            latency_ms: 0,
            served: None,
        })
    }
}

/// When the last message of a round is sent.
fn last_ms(round: u32) -> i64 {
    1_000 * i64::from(round * 30 + 29)
}

/// The view's texts after each of so many compactions, and how many tokens each retained.
async fn rounds(count: usize, retained: u32, pinned: &str) -> Vec<(String, u32)> {
    let spec = ALL.iter().find(|spec| spec.name == "progressive").unwrap();
    let mut settings = Settings::defaults(spec);
    settings.set(spec, "pinned", pinned).unwrap();
    let share = (spec.limits)(&settings).unwrap().tail_share();
    let budget = Budget::matched(4_000, 3_200, retained, share).unwrap();
    let strategy = (spec.build)(&settings);
    let model = Decides::default();
    let metered = Metered::new(&model, 0);
    let config = SessionConfig {
        budget,
        overhead: 0,
        summarizer_window: None,
        automatic: false,
        policy: Policy::Enforce,
    };
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config);
    let mut views = Vec::new();
    let mut decided = Vec::new();
    for round in 0..count as u32 {
        for turn in 0..30 {
            let (role, id) = (
                if turn % 2 == 0 {
                    Role::User
                } else {
                    Role::Assistant
                },
                round * 30 + turn,
            );
            let text = format!(
                "{id}: {}",
                "words of some ordinary turn that nobody will ask for again ".repeat(6)
            );
            let message = Message {
                id: MessageId(id),
                role,
                at_ms: Some(1_000 * i64::from(id)),
                parts: vec![Part::Text { text }],
                usage: None,
            };
            let counted = CountedMessage::new(message, &Encoding::O200k);
            session.push(counted).unwrap();
        }
        let event = session.compact(None).await.unwrap().clone();
        assert!(
            session
                .history()
                .iter()
                .all(|saved| saved.kind != RecordKind::Checkpoint),
            "a kind of the strategic plan"
        );
        assert_eq!(event.outcome, Outcome::Applied, "round {round}");
        assert!(
            !event.over_budget && event.tokens_retained <= retained,
            "round {round}: {}",
            event.tokens_retained
        );
        assert_eq!(session.view().check(), [], "round {round}");
        let decisions = journey::decisions(session.history());
        assert!(
            decisions.starts_with(&decided),
            "round {round}: {decisions:?} after {decided:?}"
        );
        if let Some(newest) = decisions.last().filter(|_| decisions.len() > decided.len()) {
            let (id, decision, at_ms) = (
                decisions.len() as u32,
                format!("Use port {}", 40_000 + round),
                newest.at_ms,
            );
            let (reason, impact) = ("load".to_owned(), format!("proxy {round}"));
            assert_eq!(
                newest,
                &ArchitectureDecision {
                    id,
                    decision,
                    reason,
                    impact,
                    at_ms
                }
            );
            assert!(at_ms.is_some_and(|at| at <= last_ms(round)), "{newest:?}");
        }
        decided = decisions;
        let written = session
            .view()
            .entries()
            .iter()
            .flat_map(|entry| entry.parts());
        let written = written.filter(|(_, origin)| !matches!(origin, Origin::Spoken(_)));
        views.push((
            written.map(|(part, _)| format!("{part:?}\n")).collect(),
            event.tokens_retained,
        ));
    }
    views
}

#[tokio::test]
async fn twenty_rounds_lose_no_pinned_decision() {
    let views = rounds(20, 2_400, "0.5").await;
    for (round, (view, _)) in views.iter().enumerate() {
        for earlier in 0..=round as u32 {
            assert_eq!(
                view.matches(&decision(earlier)).count(),
                1,
                "decision {earlier} after round {round}: {view}"
            );
        }
        assert_eq!(view.matches("Ship the ledger").count(), 1, "{view}");
    }
    // The rest ages and goes, so that what stays is what is pinned.
    let last = &views[19].0;
    assert!(
        !last.contains("step 14") && last.contains("part 14 is done"),
        "a moderate summary: {last}"
    );
    assert!(
        last.contains("Earlier parts:\\n- part 0 is done."),
        "merged: {last}"
    );
}

#[tokio::test]
async fn without_pins_old_decisions_age_with_their_summaries() {
    let views = rounds(20, 2_400, "0").await;
    assert!(
        views[0].0.contains(&decision(0)) && views[6].0.contains(&decision(0)),
        "a moderate summary keeps them"
    );
    assert!(!views[19].0.contains(&decision(0)), "{}", views[19].0);
}

#[tokio::test]
async fn a_hundred_rounds_stay_in_the_budget_and_what_was_pinned_stays() {
    let views = rounds(100, 900, "0.25").await;
    let pinned_in = |view: &str, round: u32| {
        let block = view
            .split("Summary of an earlier part")
            .next()
            .unwrap_or_default();
        block.contains(&decision(round))
    };
    let pinned = (0..100)
        .filter(|round| pinned_in(&views[*round as usize].0, *round))
        .collect::<Vec<_>>();
    assert!(
        pinned.len() >= 2 && pinned.len() < 50,
        "some find room, most do not: {pinned:?}"
    );
    for round in &pinned {
        assert!(
            views[*round as usize..]
                .iter()
                .all(|(view, _)| pinned_in(view, *round)),
            "decision {round} went"
        );
    }
    // A decision without room is in its own summary, and the block says that it is full.
    assert!(
        views[99].0.contains(&decision(99)) && views[99].0.contains("No more fits here"),
        "{}",
        views[99].0
    );
}
