//! Strategies one after the other.

use std::sync::Arc;

use async_trait::async_trait;
use compactometer_engine::budget::Budget;
use compactometer_engine::event::{FailReason, Outcome, SkipReason};
use compactometer_engine::message::Role;
use compactometer_engine::meter::Metered;
use compactometer_engine::record::{NewRecord, RecordKind};
use compactometer_engine::session::Session;
use compactometer_engine::strategy::composed::Composed;
use compactometer_engine::strategy::{Compacted, Context, Declined, Strategy};
use compactometer_engine::tokens::Encoding;
use compactometer_engine::view::{Edit, Origin, WrittenPart};

use crate::session::{Short, config, message, ready, talk};

/// What a stage does: it writes a text in place of all but the system prompt and the newest
/// messages, or declines.
enum Stage {
    Keeps { newest: usize, name: &'static str },
    Declines(Declined),
}

#[async_trait]
impl Strategy for Stage {
    async fn compact(&self, cx: &Context<'_>) -> Result<Compacted, Declined> {
        let (newest, name) = match self {
            Stage::Declines(declined) => return Err(declined.clone()),
            Stage::Keeps { newest, name } => (*newest, name),
        };
        // Its own last summary, and how many texts of others it finds.
        let own = cx
            .history
            .latest(RecordKind::Summary)
            .map_or("none", |saved| saved.body.as_str());
        let others = cx
            .view
            .entries()
            .iter()
            .filter_map(|entry| entry.written_parts())
            .flatten();
        let others = others
            .filter(|part| !matches!(part.origin, Origin::Summary(_)))
            .count();
        let body = format!(
            "{name} after {{{}}} and {others} of others",
            own.split(' ').next().unwrap_or_default()
        );
        let entries = cx.view.to_edits();
        let cut = entries.len().saturating_sub(newest).max(1);
        let written = WrittenPart::text(&body, Origin::Summary(cx.number_of_new(0)));
        let summary = Edit::Insert(Role::User, vec![written]);
        let edits = [entries[0].clone(), summary]
            .into_iter()
            .chain(entries[cut..].iter().cloned())
            .collect();
        let saved = vec![NewRecord::new(RecordKind::Summary, None, body)];
        Ok(Compacted {
            edits,
            saved,
            ..Compacted::default()
        })
    }
}

/// Two rounds of compaction of a long talk: what each of the stages wrote, in order, and how the
/// first round ended.
fn rounds(stages: Vec<Stage>, retained: u32) -> (Vec<(u8, String)>, Outcome) {
    let stages = stages
        .into_iter()
        .map(|stage| Arc::new(stage) as Arc<dyn Strategy>)
        .collect();
    let (strategy, metered) = (Composed { stages }, Metered::new(&Short, 0));
    let budget = Budget::matched(4_000, 3_000, retained, 0.5).expect("holds");
    let mut session = Session::new(&strategy, &metered, &Encoding::O200k, config(budget));
    session
        .push(message(0, Role::System, "You are an agent."))
        .expect("it is said");
    let mut said = 2;
    for round in 0..2 {
        talk(&mut session, said..said + 16);
        said += 16;
        ready(session.compact(None)).expect("decided");
        assert_eq!(session.view().check(), [], "round {round}");
    }
    let written = session
        .history()
        .iter()
        .filter(|saved| saved.kind == RecordKind::Summary);
    let numbers = session
        .history()
        .iter()
        .map(|saved| saved.number)
        .collect::<Vec<_>>();
    assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>());
    let origins = session
        .view()
        .entries()
        .iter()
        .filter_map(|entry| entry.written_parts())
        .flatten()
        .map(|part| part.origin);
    for origin in origins {
        let Origin::Summary(number) = origin else {
            panic!("{origin:?} is of no summary")
        };
        assert!(number < numbers.len() as u32, "{number}");
    }
    (
        written
            .map(|saved| (saved.stage, saved.body.clone()))
            .collect(),
        session.events()[0].outcome.clone(),
    )
}

#[test]
fn each_is_asked_if_too_much_is_left_and_knows_its_own_records_only() {
    let both = || {
        vec![
            Stage::Keeps {
                newest: 10,
                name: "evicts",
            },
            Stage::Keeps {
                newest: 2,
                name: "sums",
            },
        ]
    };
    let text = |stage, text: &str| (stage, text.to_owned());
    // What the first one leaves is over the budget.
    let (written, outcome) = rounds(both(), 200);
    assert_eq!(outcome, Outcome::Applied);
    assert_eq!(
        written,
        [
            text(0, "evicts after {none} and 0 of others"),
            text(1, "sums after {none} and 1 of others"),
            text(0, "evicts after {evicts} and 1 of others"),
            text(1, "sums after {sums} and 1 of others"),
        ]
    );
    // It is not.
    let (written, _) = rounds(both(), 2_000);
    assert_eq!(
        written.iter().map(|(stage, _)| *stage).collect::<Vec<_>>(),
        [0, 0]
    );
}

#[test]
fn one_that_skips_is_passed_over_and_one_that_fails_fails_the_compaction() {
    let skips = || Stage::Declines(SkipReason::NothingToCompact.into());
    let keeps = || Stage::Keeps {
        newest: 2,
        name: "sums",
    };
    let fails = || Stage::Declines(FailReason::Program("out of luck".to_owned()).into());
    assert_eq!(rounds(vec![skips(), keeps()], 200).0.len(), 2);
    // The last one has nothing to add to what the first one left, although it is too much.
    let large = || Stage::Keeps {
        newest: 10,
        name: "evicts",
    };
    assert_eq!(rounds(vec![large(), skips()], 200).1, Outcome::Applied);
    assert_eq!(
        rounds(vec![skips(), skips()], 200).1,
        Outcome::Skipped(SkipReason::NothingToCompact)
    );
    for stages in [vec![fails(), keeps()], vec![large(), fails()]] {
        let (written, outcome) = rounds(stages, 200);
        assert_eq!(
            outcome,
            Outcome::Failed(FailReason::Program("out of luck".to_owned()))
        );
        assert!(written.is_empty(), "{written:?}");
    }
}
