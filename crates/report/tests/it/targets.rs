//! The sources' targets and the alert, from records made by hand.

use crate::common::{
    answer, call, compaction, facts, manifest, point, prices, question, record, turn,
};
use compactometer_engine::checkpoint::{Extraction, LadderReading, Rung, Unreadable};
use compactometer_engine::event::{CheckpointEvent, FailReason, Outcome};
use compactometer_engine::message::MessageId;
use compactometer_formats::answer::{AnswerRow, Grade};
use compactometer_formats::record::{
    CheckpointRow, Family, Observation, ObservationKind, Record, Stages,
};
use compactometer_formats::scenario::{Category, ValueKind};
use compactometer_formats::summary::{Found, Group, Latency};
use compactometer_formats::view_breakdown::Storage;
use compactometer_report::{summarize, targets};

fn group(records: &[Record], model: &str) -> Group {
    let mut manifest = manifest(&["handoff", "full"], records.len(), 1);
    manifest.summarizer = model.to_owned();
    summarize(&manifest, records, &prices()).groups.remove(0)
}

fn found(group: &Group, id: &str) -> Found {
    group
        .targets
        .iter()
        .find(|target| target.id == id)
        .unwrap()
        .strategies["handoff"]
        .clone()
}

fn met(value: f64, met: bool) -> Found {
    Found {
        value: Some(value),
        met: Some(met),
        reason: None,
    }
}

/// One conversation of the model `priced` and its yardstick.
fn talk() -> Vec<Record> {
    let mut made = record("handoff", Family::Reference, "s0", "g0");
    let mut row = compaction(Stages::default(), 15_000, vec![call(2_000, 100)]);
    row.event.tokens_before = 90_000;
    made.compactions.push(row);
    made.turns = vec![turn(10_000, 0, 10), turn(20_000, 10_000, 10)];
    made.turns[1].waited_ms = Some(800);
    made.storage = Some(Storage {
        records: 1,
        bytes: 900,
        fields_supported: 5,
        fields_populated: 4,
        fewest_populated: Some(3),
    });
    let mut full = record("full", Family::Control, "s0", "g0");
    full.turns = vec![turn(30_000, 0, 10), turn(60_000, 30_000, 10)];
    for record in [&mut made, &mut full] {
        "priced".clone_into(&mut record.case.summarizer);
    }
    vec![made, full]
}

#[test]
fn values_and_verdicts_come_from_the_records() {
    let found_in = group(&talk(), "priced");
    let found = |id| found(&found_in, id);
    assert_eq!(found("added_latency_ms_mean"), met(400.0, true));
    assert_eq!(
        found("fields_populated"),
        met(0.8, false),
        "over 80 %, not at it"
    );
    assert_eq!(found("checkpoint_fields"), met(3.0, true));
    assert_eq!(found("storage_bytes"), met(900.0, true));
    assert_eq!(
        found("storage_files"),
        met(2.0, true),
        "a commit and the index"
    );
    assert_eq!(found("context_after_80k"), met(15_500.0, true));
    // (2,000 * 4 + 100 * 20) / 1e6 dollars.
    assert_eq!(found("compaction_cost_usd"), met(0.01, false));
    assert_eq!(
        found("cost_usd_per_compaction"),
        met(0.01, false),
        "of one compaction"
    );
    assert_eq!(
        found("compaction_reduction"),
        met(1.0 - nine(15_500.0 / 90_000.0), true)
    );
    // 30,000 of 90,000 tokens at 4, and the compaction.
    let uncached = found("cost_reduction_uncached");
    assert!(
        (uncached.value.unwrap() - (1.0 - 0.13 / 0.36)).abs() < 1e-9 && uncached.met == Some(true),
        "{uncached:?}"
    );
    // 20,000 written at 5 and 10,000 read at 1, and the compaction; `full` writes 60,000 and reads
    // 30,000.
    let cached = found("cost_reduction_cached");
    assert!(
        (cached.value.unwrap() - (1.0 - 0.12 / 0.33)).abs() < 1e-9 && cached.met == Some(true),
        "{cached:?}"
    );
    for (id, reason) in [
        ("extraction_success", "no attempt at a checkpoint"),
        ("answered_given_checkpointed", "writes no checkpoint"),
        ("conversations_at_once", "a hundred conversations at once"),
        ("rounds_without_drift", "the most are 1"),
        ("decisions_preserved", "no decision is among the facts"),
        ("context_after_100_rounds", "no conversation has 100 rounds"),
    ] {
        let found = found(id);
        assert!(
            found.value.is_none() && found.met.is_none() && found.reason.unwrap().contains(reason),
            "{id}"
        );
    }
    let shown = found_in.targets.iter().map(|target| target.id.as_str());
    assert!(shown.eq(targets::ALL.iter().map(|target| target.id)));
    assert!(
        !found_in.targets[0].strategies.contains_key("full"),
        "a yardstick has no target"
    );
}

fn nine(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

#[test]
fn what_source_001_expects_is_held_against_facts_and_compactions() {
    let mut records = talk();
    let row = records[0].compactions[0].clone();
    records[0].facts = facts(10, ValueKind::Id);
    records[0].facts[1..]
        .iter_mut()
        .for_each(|fact| fact.category = Category::Reference);
    records[0].observations = vec![point(1, "svvvvvvvvv")];
    let found = |records: &[Record], id| found(&group(records, "priced"), id);
    assert_eq!(found(&records, "facts_preserved"), met(0.9, true));
    assert_eq!(
        found(&records, "decisions_preserved"),
        met(0.0, false),
        "the one that is in the store alone"
    );
    records[0].observations = vec![point(1, "vsvvvvvvvs")];
    assert_eq!(found(&records, "facts_preserved"), met(0.8, false));
    assert_eq!(found(&records, "decisions_preserved"), met(1.0, true));

    records[0].compactions = vec![row; 100];
    for (round, row) in records[0].compactions.iter_mut().enumerate() {
        row.event.tokens_after = if round < 99 { 9_000 } else { 8_400 };
        row.calls = if round == 0 {
            vec![call(30_000, 0)]
        } else {
            Vec::new()
        };
    }
    assert_eq!(
        found(&records, "context_after_100_rounds"),
        met(8_400.0, true)
    );
    assert_eq!(
        found(&records, "cost_usd_per_compaction"),
        met(0.0012, true),
        "0.12 dollars over a hundred"
    );
    assert_eq!(
        found(&records, "compaction_reduction"),
        met(nine(1.0 - 0.99 * 0.1 - 0.01 * 8_400.0 / 90_000.0), true)
    );
    records[0].compactions[99].event.tokens_after = 8_501;
    assert_eq!(
        found(&records, "context_after_100_rounds"),
        met(8_501.0, false)
    );
}

#[test]
fn one_checkpoint_with_two_fields_misses_three() {
    let mut records = talk();
    let mut other = records[0].clone();
    other.case.scenario = "s1".to_owned();
    other.storage = records[0].storage.map(|storage| Storage {
        fewest_populated: Some(2),
        ..storage
    });
    records.push(other);
    assert_eq!(
        found(&group(&records, "priced"), "checkpoint_fields"),
        met(2.0, false)
    );
    for record in &mut records {
        record.storage = record.storage.map(|storage| Storage {
            fewest_populated: None,
            ..storage
        });
    }
    let unknown = found(&group(&records, "priced"), "checkpoint_fields");
    assert_eq!((unknown.value, unknown.met), (None, None), "of old records");
}

#[test]
fn the_mock_gets_no_verdict_on_latency() {
    let found = found(&group(&talk(), "mock:strong"), "added_latency_ms_mean");
    assert_eq!((found.value, found.met), (Some(400.0), None));
    assert!(found.reason.unwrap().contains("assumed"));
}

/// It was judged once, and missed by a factor of ten that was the load of the machine.
#[test]
fn a_recording_whose_latencies_are_no_result_gets_no_verdict_on_them() {
    let mut manifest = manifest(&["handoff", "full"], 2, 1);
    "priced".clone_into(&mut manifest.summarizer);
    manifest.latency_is_result = false;
    let group = summarize(&manifest, &talk(), &prices()).groups.remove(0);
    let found = found(&group, "added_latency_ms_mean");
    assert_eq!((found.value, found.met), (Some(400.0), None));
    assert!(found.reason.unwrap().contains("not a result"));
    assert_eq!(group.latency, Latency::NoResult);
}

#[test]
fn what_a_checkpoint_holds_must_be_answered_nine_times_in_ten() {
    let mut records = talk();
    let made = &mut records[0];
    made.facts = facts(3, ValueKind::Id);
    made.observations = vec![point(1, "ccv")];
    made.checkpoints = vec![attempt(9, LadderReading::Rung(Rung::Strict))];
    let after = made.observations[0].after;
    for (probe, grade) in [Grade::Right, Grade::Missing, Grade::Missing]
        .into_iter()
        .enumerate()
    {
        made.probes.push(question(probe as u32));
        made.answers.push(AnswerRow {
            after,
            ..answer(probe as u32, grade)
        });
    }
    assert_eq!(
        found(&group(&records, "priced"), "answered_given_checkpointed"),
        met(0.5, false),
        "of the carried alone"
    );
    records[0].answers[1].grade = Grade::Right;
    assert_eq!(
        found(&group(&records, "priced"), "answered_given_checkpointed"),
        met(1.0, true)
    );
}

fn attempt(after: u32, reading: LadderReading) -> CheckpointRow {
    let extraction = Some(Extraction {
        reading,
        leaked: 0,
        left_out: 0,
    });
    let failed =
        matches!(reading, LadderReading::Unreadable(_)).then_some(FailReason::NoCheckpoint);
    CheckpointRow {
        event: CheckpointEvent {
            after: MessageId(after),
            tokens: 9,
            failed,
            extraction,
        },
        calls: Vec::new(),
    }
}

#[test]
fn three_failures_in_a_row_alert_and_two_do_not() {
    let bad = LadderReading::Unreadable(Unreadable::Empty);
    let alert = |readings: &[LadderReading]| {
        let mut records = talk();
        records[0].checkpoints = (0..)
            .zip(readings)
            .map(|(at, reading)| attempt(at, *reading))
            .collect();
        let group = group(&records, "priced");
        let decisions = group.strategies[0].decisions;
        (
            decisions.most_unread_in_a_row,
            group
                .warnings
                .iter()
                .any(|warning| warning.starts_with("ALERT")),
        )
    };
    assert_eq!(
        alert(&[bad, bad, LadderReading::Rung(Rung::Strict), bad]),
        (2, false)
    );
    assert_eq!(
        alert(&[LadderReading::Rung(Rung::Strict), bad, bad, bad]),
        (3, true)
    );
}

#[test]
fn a_cap_on_calls_is_no_failure_in_a_row_and_fallbacks_are() {
    let falls_back = |reason: FailReason| {
        let mut records = talk();
        let mut row = records[0].compactions[0].clone();
        row.event.fallback = Some(reason);
        records[0].compactions = vec![row.clone(), row.clone(), row];
        let decisions = group(&records, "priced").strategies[0].decisions;
        (
            decisions.fallbacks,
            decisions.most_failures_in_a_row,
            decisions.alerts,
        )
    };
    assert_eq!(falls_back(FailReason::CallsUsedUp(5)), (3, 0, 0));
    assert_eq!(falls_back(FailReason::Call("503".to_owned())), (3, 3, 1));
    let mut records = talk();
    records[0].compactions[0].event.outcome = Outcome::Failed(FailReason::NoCheckpoint);
    assert_eq!(group(&records, "priced").strategies[0].decisions.failed, 1);
}

/// A conversation of 25 rounds, in which a summary held every fact up to the given round; the
/// original left at the first.
fn rounds(held: u32) -> Found {
    let mut made = record("handoff", Family::Reference, "s0", "g0");
    made.facts = facts(1, ValueKind::Id);
    for round in 1..=25 {
        made.compactions
            .push(compaction(Stages::default(), 3_000, Vec::new()));
        let letter = if round <= held { "c" } else { "e" };
        let seen = Observation {
            kind: ObservationKind::Compaction,
            ..point(round, letter)
        };
        made.observations.push(seen);
    }
    found(&group(&[made], "priced"), "rounds_without_drift")
}

#[test]
fn who_loses_everything_misses_the_target_of_twenty_rounds() {
    assert_eq!(rounds(25), met(0.0, true));
    assert_eq!(rounds(22), met(0.0, true));
    assert_eq!(rounds(19), met(1.0, false));
    assert_eq!(
        rounds(3),
        met(1.0, false),
        "nothing is left to follow long before"
    );
    let nothing = rounds(0);
    assert_eq!(
        (nothing.value, nothing.met),
        (None, Some(false)),
        "nothing survives the first round"
    );
}
