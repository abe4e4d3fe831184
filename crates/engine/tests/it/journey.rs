//! The checkpoints of the progressive plan as they follow from a session's records: fields,
//! statistics, events; and the same as the view shows.

use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use compactometer_engine::budget::Budget;
use compactometer_engine::journey::{Journey, ShownSummary};
use compactometer_engine::message::{Message, MessageId, Part, Role, Usage};
use compactometer_engine::meter::Metered;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_engine::params::Settings;
use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategies::ALL;
use compactometer_engine::strategies::journey::{
    Change, CompressionCheckpoint, Level, Round, Stats, rounds,
};
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::{Encoding, MESSAGE_OVERHEAD, TokenCounter};
use compactometer_engine::view::Origin;

fn settings(changes: &[(&str, &str)]) -> Settings {
    let spec = ALL.iter().find(|spec| spec.name == "progressive").unwrap();
    let mut settings = Settings::defaults(spec);
    changes
        .iter()
        .for_each(|(name, value)| settings.set(spec, name, value).unwrap());
    settings
}

fn body(part: u32) -> String {
    format!(
        "Summary: part {part} is done.\nSecond.\nThird.\nFourth.\nFifth.\nSixth.\n\nKey Decisions:\n- use port {part}\n\nFiles \
         Modified:\n- a{part}.rs\n\nNext Steps:\n- go on from {part}"
    )
}

fn saved(number: u32) -> SessionRecord {
    SessionRecord {
        number,
        kind: RecordKind::Summary,
        covers: Some((MessageId(20 * number), MessageId(20 * number + 19))),
        tokens_before: 3_000,
        tokens_after: 1_000,
        usage: Usage::default(),
        created_at_ms: Some(1_000 * i64::from(number)),
        body: body(number),
        stage: 0,
    }
}

fn played(count: u32, changes: &[(&str, &str)], written: u32) -> Vec<Round> {
    let history = (0..count).map(saved).collect::<Vec<_>>();
    rounds(&history, &settings(changes), written, &Encoding::O200k)
}

#[test]
fn a_checkpoint_has_every_field_of_the_source() {
    let all = played(11, &[], 100_000);
    let text = "Summary of an earlier part:\n\npart 3 is done.\nSecond.\nThird.\nFourth.\nFifth.\n- use port 3";
    let expected = CompressionCheckpoint {
        id: 3,
        members: vec![3],
        level: Level::Moderate,
        range: Some((MessageId(60), MessageId(79))),
        summary: text.to_owned(),
        created_at_ms: Some(3_000),
        compressed_at_ms: Some(8_000),
        original_tokens: Encoding::O200k.count_text(&body(3)),
        current_tokens: MESSAGE_OVERHEAD + Encoding::O200k.count_text(text),
        compression_count: 1,
        key_decisions: vec!["use port 3".to_owned()],
        files_modified: vec!["a3.rs".to_owned()],
        next_steps: vec!["go on from 3".to_owned()],
    };
    assert_eq!(all[10].checkpoints[2], expected);
    let merged = &all[10].checkpoints[0];
    assert_eq!(
        (merged.id, merged.members.as_slice(), merged.level),
        (1, &[0, 1][..], Level::Compact)
    );
    assert_eq!(
        (merged.range, merged.created_at_ms),
        (Some((MessageId(0), MessageId(39))), Some(0))
    );
    assert_eq!(
        (merged.compressed_at_ms, merged.compression_count),
        (Some(10_000), 2)
    );
    assert_eq!(merged.key_decisions, ["use port 0", "use port 1"]);
    assert!(
        merged
            .summary
            .ends_with("Earlier parts:\n- part 0 is done.\n- part 1 is done.")
    );
}

#[test]
fn statistics_count_what_is_shown() {
    let all = played(11, &[], 100_000);
    let stats = Stats::new(&all[10].checkpoints);
    let by_level = [
        (Level::Compact, 1),
        (Level::Moderate, 4),
        (Level::Detailed, 5),
    ];
    assert_eq!(
        (stats.total, stats.by_level),
        (10, by_level.into_iter().collect())
    );
    assert_eq!(
        stats.total_tokens,
        all[10]
            .checkpoints
            .iter()
            .map(|it| it.current_tokens)
            .sum::<u32>()
    );
    assert_eq!(stats.oldest_date_ms, Some(0));
    assert_eq!(Stats::new(&[]), Stats::default());
}

#[test]
fn every_compaction_tells_what_it_created_compressed_and_merged() {
    let all = played(12, &[], 100_000);
    assert!((0..5).all(|round| all[round].changes == [Change::Created(round as u32)]));
    let to_moderate = |id| Change::Compressed {
        id,
        old_level: Level::Detailed,
        new_level: Level::Moderate,
    };
    assert_eq!(all[5].changes, [to_moderate(0), Change::Created(5)]);
    let merged = |merged: [u32; 2], result| Change::Merged {
        merged: merged.to_vec(),
        result,
    };
    assert_eq!(
        all[10].changes,
        [merged([0, 1], 1), to_moderate(5), Change::Created(10)]
    );
    assert_eq!(
        all[11].changes,
        [merged([1, 2], 2), to_moderate(6), Change::Created(11)]
    );
}

#[test]
fn what_finds_no_room_is_said_too() {
    let all = played(6, &[], 100);
    let left = |round: &Round| {
        round
            .changes
            .iter()
            .any(|change| matches!(change, Change::LeftOut(_)))
    };
    assert!(all.iter().any(left), "{all:?}");
    for round in &all {
        assert!(
            round
                .checkpoints
                .iter()
                .map(|it| it.current_tokens)
                .sum::<u32>()
                <= 100
        );
        assert!(
            round
                .checkpoints
                .last()
                .is_some_and(|newest| newest.id == round.number),
            "the newest stays"
        );
    }
    let shown = |id: u32, members: &[u32]| ShownSummary {
        id,
        members: members.to_vec(),
        level: Level::Compact,
        tokens: 20,
    };
    let (before, now) = ([shown(1, &[1])], vec![shown(1, &[0, 1]), shown(2, &[2])]);
    let changes = Journey::new(now).changes_since(&before);
    assert_eq!(
        changes,
        [Change::Created(2), Change::ShownAgain(vec![0])],
        "shorter neighbours make room again"
    );
}

/// Answers with a part of its own in each round; every third is about the same thing as the one
/// before it.
#[derive(Default)]
struct Parts(AtomicU32);

#[async_trait]
impl ChatModel for Parts {
    fn name(&self) -> &str {
        "parts"
    }

    async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
        let round = self.0.fetch_add(1, Ordering::Relaxed);
        let topic = [
            "tables and keys of the store",
            "tables and keys of the store",
            "the welcome screen",
        ];
        let text = format!(
            "Goal:\n- Ship it\n\nArchitecture Decisions:\n- rule {round}\n\nSummary: {}.\n{}",
            topic[round as usize % 3],
            body(round)
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

/// One source of truth: what the records say a view shows is what it shows.
#[tokio::test]
async fn the_records_say_what_the_view_shows() {
    for (merge, retained) in [("oldest", 2_400), ("similar", 2_400), ("similar", 900)] {
        let spec = ALL.iter().find(|spec| spec.name == "progressive").unwrap();
        let settings = settings(&[
            ("merge", merge),
            ("most", "6"),
            ("moderate_age", "2"),
            ("compact_age", "4"),
        ]);
        let budget = Budget::matched(4_000, 3_200, retained, 0.5).unwrap();
        let (strategy, model) = ((spec.build)(&settings), Parts::default());
        let metered = Metered::new(&model, 0);
        let config = SessionConfig {
            budget,
            overhead: 0,
            summarizer_window: None,
            automatic: false,
            policy: Policy::Enforce,
        };
        let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config);
        let mut distinct = 0;
        for round in 0..14_u32 {
            for turn in 0..30 {
                let role = if turn % 2 == 0 {
                    Role::User
                } else {
                    Role::Assistant
                };
                let parts = vec![Part::Text {
                    text: "words of some ordinary turn ".repeat(12),
                }];
                let message = Message {
                    id: MessageId(round * 30 + turn),
                    role,
                    at_ms: None,
                    parts,
                    usage: None,
                };
                let counted = CountedMessage::new(message, &Encoding::O200k);
                session.push(counted).unwrap();
            }
            assert_eq!(
                session
                    .compact(Some(i64::from(round)))
                    .await
                    .unwrap()
                    .attempts,
                1
            );
            let all = rounds(
                session.history(),
                &settings,
                budget.written,
                &Encoding::O200k,
            );
            let said = &all.last().unwrap().checkpoints;
            let shown =
                session
                    .view()
                    .entries()
                    .iter()
                    .filter_map(|entry| match entry.parts().next() {
                        Some((Part::Text { text }, Origin::Summary(number))) => {
                            Some((number, text.clone(), entry.tokens()))
                        }
                        _ => None,
                    });
            let said = said
                .iter()
                .map(|it| (it.id, it.summary.clone(), it.current_tokens))
                .collect::<Vec<_>>();
            assert_eq!(said, shown.collect::<Vec<_>>(), "{merge}, round {round}");
            distinct += usize::from(said.len() > 1);
        }
        assert!(distinct > 8, "{merge}, {retained}: the journey has parts");
    }
}
