//! Where facts ended and what is stored beside it, recall by position, and the reasons of failures.

use compactometer_engine::event::{CheckpointEvent, FailReason, Outcome};
use compactometer_engine::message::MessageId;
use compactometer_engine::summary::NotASummary;
use compactometer_formats::record::{CheckpointRow, Family, Record, Stages, Unusable};
use compactometer_formats::scenario::ValueKind;
use compactometer_formats::summary::{Group, Summary};
use compactometer_report::{Screen, summarize, table};

use crate::common::{compaction, facts, manifest, point, prices, record};

fn summary(records: &[Record]) -> Summary {
    let mut names: Vec<&str> = records
        .iter()
        .map(|record| record.case.strategy.as_str())
        .collect();
    names.dedup();
    summarize(
        &manifest(&names, records.len(), records.len()),
        records,
        &prices(),
    )
}

fn group(records: &[Record]) -> Group {
    summary(records).groups.remove(0)
}

fn talk(at: usize, letters: &str) -> Record {
    let mut made = record(
        "hybrid-checkpoint",
        Family::Reference,
        &format!("s{at}"),
        &format!("g{at}"),
    );
    made.facts = facts(letters.len(), ValueKind::Nonce);
    made.observations = vec![point(1, letters)];
    made
}

/// What storage holds is not a fate: the shares of the fates add up to 1, and the share of what is
/// stored is beside them.
#[test]
fn fates_add_up_to_one_beside_what_is_stored() {
    let mut first = talk(0, "vcdueexd");
    first.observations[0].stored = vec![3, 4, 7];
    let mut second = talk(1, "euvv");
    second.observations[0].stored = vec![0];
    let found = &group(&[first, second]).strategies[0];
    assert!(
        (found.fates.values().sum::<f64>() - 1.0).abs() < 1e-8,
        "{:?}",
        found.fates
    );
    assert!(
        (found.fates["eroded"] - (2.0 / 8.0 + 1.0 / 4.0) / 2.0).abs() < 1e-8,
        "{:?}",
        found.fates
    );
    assert!(
        !found.fates.contains_key("stored_only"),
        "{:?}",
        found.fates
    );
    // Of five facts out of the first context three are stored, of two out of the second one.
    assert!(
        (found.metrics["stored_share"].value.unwrap() - (3.0 / 5.0 + 1.0 / 2.0) / 2.0).abs() < 1e-8
    );
}

/// Else a strategy whose compactions fail would seem to hold everything.
#[test]
fn what_a_context_that_counts_as_empty_holds_is_not_held() {
    let mut failed = talk(1, "vvvd");
    failed.observations[0].unusable = Some(Unusable::CompactionFailed);
    let found = &group(&[talk(0, "vddd"), failed]).strategies[0];
    assert_eq!(
        (
            found.fates["verbatim"],
            found.fates["dropped_unseen"],
            found.fates["unusable"]
        ),
        (0.125, 0.375, 0.5)
    );
    assert!(
        !group(&[talk(0, "vddd")]).strategies[0]
            .fates
            .contains_key("unusable")
    );
}

/// A line of an earlier file, with the letter `s` and without a list of what is stored.
#[test]
fn earlier_records_still_say_what_was_stored() {
    let line = serde_json::to_string(&talk(0, "vsse")).unwrap();
    assert!(
        line.contains("\"vsse\"") && !line.contains("\"stored\""),
        "{line}"
    );
    let read: Record = serde_json::from_str(&line).unwrap();
    let found = &group(&[read]).strategies[0];
    assert_eq!(
        (found.fates["stored_only"], found.fates["eroded"]),
        (0.5, 0.25)
    );
    assert!((found.fates.values().sum::<f64>() - 1.0).abs() < 1e-8);
    assert!((found.metrics["stored_share"].value.unwrap() - 2.0 / 3.0).abs() < 1e-8);
}

#[test]
fn nothing_out_of_the_context_leaves_the_share_undefined() {
    let found = &group(&[talk(0, "vcx")]).strategies[0].metrics["stored_share"];
    assert_eq!(found.value, None);
    assert!(
        found
            .reason
            .as_deref()
            .is_some_and(|reason| reason.contains("out of the context")),
        "{found:?}"
    );
}

/// Six facts first stated in messages 0 to 99: positions 0, 19 and 20, 41, 99 and 99.
#[test]
fn recall_is_told_by_the_fifth_in_which_a_fact_was_first_stated() {
    let mut made = talk(0, "vddvvd");
    for (fact, at) in made.facts.iter_mut().zip([0, 19, 20, 41, 99, 99]) {
        fact.mentions = [at, 99].map(MessageId).to_vec();
        fact.has_subject = true;
    }
    made.observations[0].after = MessageId(99);
    made.observations[0].bound = vec![0, 4];
    // A second unit with one fact, in the first fifth.
    let mut other = talk(1, "v");
    other.observations[0].after = MessageId(49);
    other.facts[0].mentions = vec![MessageId(9)];
    other.facts[0].has_subject = true;
    let found = group(&[made, other]).strategies.remove(0).by_position;
    let of = |id: &str| {
        found
            .iter()
            .map(|row| (row[id].value, row[id].n))
            .collect::<Vec<_>>()
    };
    // The first fifth: a half in one unit, 1 in the other.
    let held = [
        (Some(0.75), 2),
        (Some(0.0), 1),
        (Some(1.0), 1),
        (None, 0),
        (Some(0.5), 1),
    ];
    assert_eq!(of("context_recall"), held);
    let bound = [
        (Some(0.25), 2),
        (Some(0.0), 1),
        (Some(0.0), 1),
        (None, 0),
        (Some(0.5), 1),
    ];
    assert_eq!(of("bound_recall"), bound);
}

#[test]
fn records_without_mentions_have_no_recall_by_position() {
    let mut made = talk(0, "vd");
    made.facts[1].mentions.clear();
    assert_eq!(group(&[made]).strategies[0].by_position, Vec::new());
}

fn failed(reason: FailReason) -> Outcome {
    Outcome::Failed(reason)
}

#[test]
fn the_three_most_frequent_reasons_are_told_with_their_counts() {
    let mut made = talk(0, "vd");
    let timeout = || FailReason::Call("timed out".to_owned());
    let stays = |tokens| FailReason::StaysAtTrigger {
        tries: 2,
        tokens,
        trigger: 9_600,
    };
    let mut outcomes = vec![
        failed(timeout()),
        failed(timeout()),
        failed(timeout()),
        failed(stays(9_700)),
        failed(stays(9_800)),
    ];
    outcomes.push(failed(FailReason::NoSummary(NotASummary::Empty)));
    outcomes.push(failed(FailReason::Store("disk full".to_owned())));
    outcomes.push(Outcome::Applied);
    for outcome in outcomes {
        let mut row = compaction(Stages::default(), 100, Vec::new());
        // The applied one fell back to truncation, for want of a summary.
        row.event.fallback =
            (outcome == Outcome::Applied).then_some(FailReason::NoSummary(NotASummary::Empty));
        row.event.outcome = outcome;
        made.compactions.push(row);
    }
    let event = CheckpointEvent {
        after: MessageId(1),
        tokens: 10,
        failed: Some(timeout()),
        extraction: None,
    };
    made.checkpoints = vec![CheckpointRow {
        event,
        calls: Vec::new(),
    }];
    let summary = summary(&[made]);
    let told = summary.groups[0].strategies[0].failures.iter();
    let told: Vec<(&str, usize)> = told
        .map(|failure| (failure.reason.as_str(), failure.count))
        .collect();
    let expected = [
        ("summarizer call failed: timed out", 4),
        ("summarizer wrote no summary: it is empty", 2),
        ("the request stays at its trigger whatever is compacted", 2),
    ];
    assert_eq!(told, expected);
    let text = table(&summary, &Screen::WHOLE).replace("\n  ", " ");
    let line =
        "most frequent failures of hybrid-checkpoint: 4 x `summarizer call failed: timed out`, 2 x";
    assert!(text.contains(line), "{text}");
}

/// Two conversations are too few for chance, and comparisons are then made on CR.
#[test]
fn where_chance_is_unknown_the_table_shows_plain_recall() {
    let text = table(
        &summary(&[talk(0, "vvdd"), talk(1, "vvvd")]),
        &Screen::WHOLE,
    );
    assert!(
        text.contains(
            "Values kept: of the values said long before, the share that is held; chance is in it."
        ),
        "{text}"
    );
    assert!(
        text.lines()
            .any(|line| line.starts_with("hybrid-checkpoint") && line.contains("62 %")),
        "{text}"
    );
}

/// Old facts, what is not yet said or no longer holds, decoys and generic values are no recent
/// facts; an unusable context holds none.
#[test]
fn recent_recall_counts_the_other_facts() {
    let recent = |record: Record| group(&[record]).strategies[0].metrics["recent_recall"].value;
    let made = |eligible: &[u32]| {
        let mut made = talk(0, "vcdux.");
        made.observations[0].eligible = eligible.to_vec();
        made
    };
    let before = |change: fn(&mut Record)| {
        let mut made = made(&[0]);
        change(&mut made);
        recent(made)
    };
    assert_eq!(recent(made(&[0, 1, 2, 3])), None);
    assert!((recent(made(&[0])).expect("three are recent") - 1.0 / 3.0).abs() < 1e-8);
    assert_eq!(before(|made| made.facts[2].decoy = true), Some(0.5));
    assert_eq!(before(|made| made.facts[3].generic = true), Some(0.5));
    assert_eq!(
        before(|made| made.observations[0].unusable = Some(Unusable::OverWindow)),
        Some(0.0)
    );
}
