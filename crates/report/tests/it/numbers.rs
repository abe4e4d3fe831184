//! Records in, numbers out, each worked out by hand.

use crate::common::{call, chance, compaction, facts, manifest, point, prices, record, turn};
use compactometer_engine::checkpoint::{Extraction, LadderReading, Rung, Unreadable};
use compactometer_engine::event::{CheckpointEvent, FailReason, Outcome, SkipReason};
use compactometer_engine::message::MessageId;
use compactometer_engine::summary::NotASummary;
use compactometer_formats::manifest::Manifest;
use compactometer_formats::record::{
    ChanceCell, CheckpointRow, Family, Held, Needed, ObservationKind, Prompted, Record, SaidCount,
    Stages, Unusable, UseKind,
};
use compactometer_formats::scenario::{Category, ValueKind};
use compactometer_formats::summary::{Check, Group, MetricValue};
use compactometer_report::summarize;
use proptest::prelude::*;

const KIND: ValueKind = ValueKind::Nonce;

fn group_of(manifest: &Manifest, records: &[Record]) -> Group {
    summarize(manifest, records, &prices()).groups.remove(0)
}

fn metric(records: &[Record], id: &str) -> MetricValue {
    let mut names: Vec<&str> = records
        .iter()
        .map(|record| record.case.strategy.as_str())
        .collect();
    names.dedup();
    let mut group = group_of(&manifest(&names, records.len(), records.len()), records);
    group.strategies[0].metrics.remove(id).unwrap()
}

fn check<'g>(group: &'g Group, part: &str) -> &'g Check {
    group
        .checks
        .iter()
        .find(|check| check.name.contains(part))
        .unwrap()
}

fn near(found: Option<f64>, expected: f64) {
    let found = found.expect("a value");
    assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
}

/// One conversation of `strategy`, alone in its group, with these points.
fn talk(strategy: &str, at: usize, points: &[(u32, &str)]) -> Record {
    let mut made = record(
        strategy,
        Family::Reference,
        &format!("s{at}"),
        &format!("g{at}"),
    );
    made.facts = facts(points.first().map_or(0, |(_, letters)| letters.len()), KIND);
    made.observations = points
        .iter()
        .map(|(round, letters)| point(*round, letters))
        .collect();
    made
}

#[test]
fn recall_averages_looks_then_weighted_facts_then_units() {
    let mut first = talk("summarize", 0, &[(1, "vd"), (2, "du")]);
    first.facts[0].weight = 3.0;
    let second = talk("summarize", 1, &[(1, "cc")]);
    // Fact 0: 1 of 2 looks, weight 3; fact 1: 0; unit: 1.5 / 4. Second unit: 1.
    let found = metric(&[first, second], "context_recall");
    near(found.value, (1.5 / 4.0 + 1.0) / 2.0);
    assert_eq!(
        (found.n, found.low),
        (2, None),
        "two units carry no interval"
    );
}

/// Three sentences before any compaction, and by 1, 2, 3 and more: so many held of each.
fn said(at: usize, held: [u32; 5], unusable: Option<Unusable>) -> Record {
    let mut made = talk("summarize", at, &[(1, "v"), (2, "v")]);
    made.observations[0].said = held.map(|held| SaidCount { all: 3, held }).to_vec();
    made.observations[1].unusable = unusable;
    made.observations[1].said = vec![SaidCount { all: 0, held: 0 }, SaidCount { all: 5, held: 5 }];
    made
}

#[test]
fn what_the_user_said_counts_by_the_compactions_since() {
    let of = |records: &[Record], id: &str| metric(records, id).value;
    let records = [said(0, [3, 2, 1, 0, 3], None), said(1, [0; 5], None)];
    near(
        of(&records, "said_recall"),
        (14.0 / 20.0 + 5.0 / 20.0) / 2.0,
    );
    near(of(&records, "said_recall_1"), (7.0 / 8.0 + 5.0 / 8.0) / 2.0);
    near(of(&records, "said_recall_2"), (1.0 / 3.0) / 2.0);
    near(of(&records, "said_recall_3"), 0.0);
    // A context that cannot be used says nothing.
    let failed = [said(0, [0; 5], Some(Unusable::CompactionFailed))];
    near(of(&failed, "said_recall"), 0.0);
    let without = metric(&[talk("summarize", 0, &[(1, "v")])], "said_recall");
    assert_eq!((without.value, without.n), (None, 0));
}

#[test]
fn conversations_of_one_group_are_one_unit() {
    let mut records = vec![
        talk("summarize", 0, &[(1, "vvv")]),
        talk("summarize", 1, &[(1, "d")]),
    ];
    records[1].case.group = "g0".to_owned();
    let found = metric(&records, "context_recall");
    near(found.value, 0.75);
    assert_eq!(found.n, 1);
}

#[test]
fn decoys_generic_values_superseded_and_ineligible_facts_enter_no_recall() {
    let mut made = talk("summarize", 0, &[(1, "vdddxd")]);
    made.facts[1].decoy = true;
    made.facts[2].generic = true;
    made.observations[0].eligible = vec![0, 1, 2, 4, 5];
    let mut right_after = point(1, "dddddd");
    right_after.kind = ObservationKind::Compaction;
    made.observations.push(right_after);
    // What is left of the six: fact 0, held, and fact 5, lost.
    near(metric(&[made], "context_recall").value, 0.5);
}

/// Six conversations with one fact each: three held; chance as given in every context of round 1.
fn six(cells: &[ChanceCell], random: &[ChanceCell], random_hits: u32) -> Vec<Record> {
    let talk = |at: usize| {
        let mut made = talk("summarize", at, &[(1, if at < 3 { "c" } else { "u" })]);
        made.observations[0].chance = cells.to_vec();
        made.observations[0].selection_chance = random.to_vec();
        made.observations[0].selection_hits = vec![random_hits];
        made
    };
    (0..6).map(talk).collect()
}

#[test]
fn correction_for_chance_and_lift() {
    let records = six(&[chance(KIND, 1, 5)], &[chance(KIND, 1, 10)], 5);
    // q = .2: (.5 - .2) / .8.
    let corrected = metric(&records, "context_recall_corrected");
    near(corrected.value, 0.375);
    let (low, high) = (corrected.low.unwrap(), corrected.high.unwrap());
    assert!(
        low < 0.375 && high > 0.375 && high <= 1.0,
        "{low} to {high}"
    );
    // Random drops hold it in 5 of 20 contexts, q = .1: (.25 - .1) / .9.
    near(metric(&records, "lift").value, 0.375 - 0.15 / 0.9);
}

#[test]
fn prompted_recall_counts_what_was_retrieved_and_corrects_with_its_own_chance() {
    let mut records = six(&[chance(KIND, 1, 5)], &[], 0);
    for record in &mut records {
        let found = if record.case.scenario.as_str() < "s5" {
            vec![0]
        } else {
            Vec::new()
        };
        record.observations[0].asked = vec![0];
        record.observations[0].prompted = Some(Prompted {
            found,
            tokens: 30,
            chance: vec![chance(KIND, 1, 4)],
        });
    }
    near(metric(&records, "context_recall").value, 0.5);
    near(metric(&records, "prompted_recall").value, 5.0 / 6.0);
    near(
        metric(&records, "prompted_recall_corrected").value,
        (5.0 / 6.0 - 0.25) / 0.75,
    );
    near(metric(&records, "retrieved_tokens").value, 30.0);
    // Asked before anything was stored: the context alone counts, and so does its chance.
    for record in &mut records {
        let mut earlier = point(0, "u");
        earlier.asked = vec![0];
        record.observations.insert(0, earlier);
    }
    near(metric(&records, "prompted_recall").value, 2.5 / 6.0);
    near(metric(&records, "retrieved_tokens").value, 15.0);
}

#[test]
fn prompted_recall_is_over_the_facts_that_were_asked_for() {
    let mut made = talk("summarize", 0, &[(1, "vuu")]);
    made.observations[0].asked = vec![1, 2];
    made.observations[0].prompted = Some(Prompted {
        found: vec![2],
        tokens: 8,
        chance: Vec::new(),
    });
    near(metric(&[made.clone()], "prompted_recall").value, 0.5);
    near(metric(&[made.clone()], "retrieved_tokens").value, 4.0);
    let table = |made: &Record| {
        let summary = summarize(
            &manifest(&["summarize"], 1, 1),
            std::slice::from_ref(made),
            &prices(),
        );
        compactometer_report::table(&summary, &compactometer_report::Screen::WHOLE)
            .replace("\n  ", " ")
    };
    assert!(!table(&made).contains("stored, not in the context"));
    made.observations[0].fates = point(1, "vus").fates;
    let said = "stored, not in the context (summarize): 50 % of what is out of it; with what is retrieved for a question, 4 tokens on \
                average, prompted recall is 50 %";
    assert!(table(&made).contains(said), "{}", table(&made));
}

#[test]
fn prompted_recall_says_why_there_is_none() {
    let reason = |record: &Record| {
        let ids = [
            "prompted_recall",
            "prompted_recall_corrected",
            "retrieved_tokens",
        ];
        let mut found = ids
            .map(|id| metric(std::slice::from_ref(record), id).reason)
            .to_vec();
        found.dedup();
        assert_eq!(found.len(), 1);
        found.remove(0).unwrap()
    };
    let mut made = talk("summarize", 0, &[(1, "v")]);
    assert_eq!(reason(&made), "no eligible fact has a question");
    made.observations[0].asked = vec![0];
    assert_eq!(
        reason(&made),
        "the strategy has nothing to look in for a question"
    );
    made.observations[0].prompted = Some(Prompted {
        found: vec![0],
        tokens: 0,
        chance: Vec::new(),
    });
    assert_eq!(
        reason(&made),
        "nothing that fits the retained budget was retrieved"
    );
}

#[test]
fn corrected_recall_is_not_clipped() {
    let mut records = six(&[chance(KIND, 1, 2)], &[], 0);
    records
        .iter_mut()
        .for_each(|record| record.observations[0].fates = point(1, "d").fates);
    near(metric(&records, "context_recall_corrected").value, -1.0);
}

#[test]
fn chance_comes_from_the_nearest_earlier_round_with_five_scenarios() {
    let mut records = six(&[chance(KIND, 1, 5)], &[], 0);
    // Round 2 has contexts of one scenario alone, with another rate: the fact there is corrected by
    // round 1's.
    let mut later = point(2, "c");
    later.chance = vec![chance(KIND, 5, 5)];
    records[0].observations[0].fates = point(1, "d").fates;
    records[0].observations.push(later);
    // Unit 0: looks -.25 and 1, mean .375; units 1 and 2: 1; the rest -.25.
    near(
        metric(&records, "context_recall_corrected").value,
        (0.375 + 2.0 - 0.75) / 6.0,
    );
}

#[test]
fn without_five_scenarios_chance_is_unknown_and_says_why() {
    let records = six(&[chance(KIND, 1, 5)], &[], 0).split_off(2);
    let found = metric(&records, "context_recall_corrected");
    assert_eq!(found.value, None);
    assert_eq!(
        found.reason.as_deref(),
        Some(
            "chance needs contexts of 5 scenarios with foreign facts at one round; the suite has 4 conversations, and at most 4 \
             scenarios share a round"
        )
    );
    near(metric(&records, "context_recall").value, 0.25);
}

#[test]
fn kinds_that_chance_finds_are_left_out_and_listed() {
    let mut records = six(
        &[chance(KIND, 1, 5), chance(ValueKind::Enum, 9, 10)],
        &[],
        0,
    );
    for record in &mut records {
        record.facts.push(crate::common::fact(
            "likely",
            Category::Goal,
            ValueKind::Enum,
        ));
        let fates = if record.case.scenario.as_str() < "s3" {
            "cc"
        } else {
            "uc"
        };
        record.observations[0].fates = point(1, fates).fates;
        record.observations[0].eligible = vec![0, 1];
    }
    near(metric(&records, "context_recall_corrected").value, 0.375);
    let group = group_of(&manifest(&["summarize"], 6, 6), &records);
    let listed = "left out of the values kept of summarize, since chance finds it: enum at round 1 (q = 0.90)";
    assert!(
        group.warnings.iter().any(|warning| warning == listed),
        "{:?}",
        group.warnings
    );
}

#[test]
fn needed_at_use_counts_events() {
    let mut made = talk("summarize", 0, &[(1, "vdd"), (1, "cdd")]);
    made.observations[0].used = vec![0, 1];
    made.observations[1].used = vec![0, 2];
    made.observations[1].echoed = 4;
    made.facts[2].generic = true;
    let group = group_of(&manifest(&["summarize"], 1, 1), &[made.clone()]);
    let listed = "needed at use: 3 uses of facts last mentioned a trigger's length earlier; 4 more are left out because a recorded turn repeated the value; with generic values 4 uses";
    assert!(
        group.warnings.iter().any(|warning| warning == listed),
        "{:?}",
        group.warnings
    );
    near(metric(&[made], "needed_at_use_recall").value, 2.0 / 3.0);
}

/// A conversation with `held` of `uses` uses of old addresses; what is not held was shown to a
/// summarizer or not.
fn needing(strategy: &str, scenario: &str, [held, uses]: [u32; 2], shown: bool) -> Record {
    let mut made = talk(strategy, 0, &[(1, "vdd")]);
    made.case.scenario = scenario.to_owned();
    made.case.group = scenario.to_owned();
    made.compactions = vec![compaction(stages(1, 1, 1, 1), 1_000, Vec::new())];
    let needed = |number| Needed {
        fact: 0,
        kind: UseKind::Address,
        held: if number < held {
            Held::AsSaid
        } else {
            Held::OutOfSight
        },
        floor: number < held,
        ceiling: Some(number < held || shown),
        random: 4 * u32::from(number < 10),
        shaped: false,
    };
    made.observations[0].needed = (0..uses).map(needed).collect();
    made
}

#[test]
fn uses_before_the_first_recorded_compaction_are_a_number_of_their_own() {
    let unshaped = |shaped_from: usize| {
        let of = |(place, scenario): (u32, &str)| {
            let mut made = needing("summarize", scenario, [10 + place, 40], true);
            let seen = &mut made.observations[0].needed;
            seen[shaped_from..]
                .iter_mut()
                .for_each(|seen| seen.shaped = true);
            made
        };
        let scenarios = ["a", "b", "c", "d", "e", "f"];
        let records: Vec<_> = (0..).zip(scenarios).map(of).collect();
        let manifest = manifest(&["summarize"], records.len(), records.len());
        let group = group_of(&manifest, &records);
        let row = &group.strategies[0].metrics;
        (
            row["uncompacted_address_use_recall"].clone(),
            row["uncompacted_address_uses"].value,
        )
    };
    // Of the first 20 uses of each conversation 10 to 15 are held.
    let (recall, uses) = unshaped(20);
    assert_eq!(uses, Some(120.0));
    near(recall.value, 75.0 / 120.0);
    let (recall, _) = unshaped(10);
    assert_eq!(
        (recall.value, recall.reason.as_deref()),
        (None, Some("too few uses (60): a share takes 100"))
    );
    let (recall, uses) = unshaped(40);
    assert_eq!((recall.value, uses), (None, Some(240.0)));
    assert_eq!(
        recall.reason.as_deref(),
        Some("no recorded summary shaped a use")
    );
}

#[test]
fn old_values_at_use_have_bounds_and_are_no_share_under_a_hundred() {
    let of = |strategy: &str, held: u32, shown| {
        let scenarios = ["a", "b", "c", "d", "e", "f"]
            .into_iter()
            .zip([0, 1, 2].into_iter().cycle());
        let needing = |(scenario, more)| needing(strategy, scenario, [held - 1 + more, 20], shown);
        scenarios.map(needing).collect::<Vec<_>>()
    };
    let manifest = |units| manifest(&["summarize", "chained"], 2 * units, units);
    let records = [of("summarize", 5, true), of("chained", 15, true)].concat();
    let group = group_of(&manifest(6), &records);
    let found = |id: &str, strategy: &str| {
        let row = group.strategies.iter().find(|row| row.name == strategy);
        row.unwrap().metrics[id].value
    };
    near(found("address_use_recall", "summarize"), 0.25);
    near(found("address_use_recall_floor", "summarize"), 0.25);
    near(found("address_use_recall_ceiling", "summarize"), 1.0);
    near(found("address_uses", "chained"), 120.0);
    // Each of 10 of 20 values is in 4 of 20 random contexts.
    near(found("address_use_lift", "summarize"), 0.25 - 0.1);
    near(found("address_use_lift", "chained"), 0.75 - 0.1);
    let is_decided = |group: &Group| {
        group
            .warnings
            .iter()
            .any(|one| one.starts_with("under every model"))
    };
    assert!(!is_decided(&group), "a model could hold all");
    let says = |group: &Group, start: &str| group.warnings.iter().any(|one| one.starts_with(start));
    let pairs = "at use, 1 of 1 pairs of strategies hold different shares (Holm, 5 %) (`";
    assert!(says(&group, pairs), "{:?}", group.warnings);
    let alike = [of("summarize", 5, true), of("chained", 5, true)].concat();
    let alike = group_of(&manifest(6), &alike);
    let pairs = "at use, 0 of 1 pairs of strategies hold different shares (Holm, 5 %); so many conversations cannot tell the others \
                 apart: in the median strategy, 100 % of what is held is in messages";
    assert!(says(&alike, pairs), "{:?}", alike.warnings);
    // What was never shown no model can hold.
    let unread = [of("summarize", 5, false), of("chained", 15, true)].concat();
    let group = group_of(&manifest(6), &unread);
    let note = "under every model at these compactions, these hold fewer of them: `summarize` than `chained`";
    assert!(
        group.warnings.iter().any(|one| one == note),
        "{:?}",
        group.warnings
    );

    let few = ["a", "b"].map(|scenario| needing("summarize", scenario, [9, 20], true));
    assert_eq!(metric(&few, "address_use_recall").value, None);
    let group = group_of(&manifest(2), &few);
    let note = "at use: too few uses of old addresses (40) for a share, which takes 100";
    assert!(
        group.warnings.iter().any(|one| one == note),
        "{:?}",
        group.warnings
    );
}

fn stages(left: u32, reached: u32, written: u32, kept: u32) -> Stages {
    Stages {
        left,
        reached,
        written,
        kept,
        ..Stages::default()
    }
}

#[test]
fn stage_rates_are_pooled_by_unit() {
    let mut first = talk("summarize", 0, &[(1, "v")]);
    first.compactions = vec![
        compaction(stages(8, 6, 3, 3), 1_000, vec![call(10, 1)]),
        compaction(stages(2, 2, 1, 0), 2_000, vec![call(10, 1)]),
    ];
    let mut second = talk("summarize", 1, &[(1, "v")]);
    second.compactions = vec![compaction(stages(4, 2, 0, 0), 3_500, vec![call(10, 1)])];
    let mut failed = compaction(Stages::default(), 9_500, vec![call(10, 0)]);
    failed.event.outcome = Outcome::Failed(FailReason::NoCheckpoint);
    second.compactions.push(failed);
    let records = [first, second];
    near(metric(&records, "reached").value, (0.8 + 0.5) / 2.0);
    near(metric(&records, "written").value, (0.5 + 0.0) / 2.0);
    let kept = metric(&records, "kept");
    near(kept.value, 0.75);
    assert_eq!(kept.n, 1, "nothing was written in the second unit");
    // The failed one left everything.
    near(
        metric(&records, "tokens_retained").value,
        (1_500.0 + (3_500.0 + 9_500.0) / 2.0) / 2.0,
    );
    near(
        metric(&records, "compression_ratio").value,
        (0.2 + 0.4) / 2.0,
    );
}

fn extraction(reading: LadderReading, leaked: u32) -> Extraction {
    Extraction {
        reading,
        leaked,
        left_out: 0,
    }
}

#[test]
fn extraction_success_counts_every_attempt_and_its_rung() {
    let strict = extraction(LadderReading::Rung(Rung::Strict), 0);
    let lenient = extraction(LadderReading::Rung(Rung::Lenient), 2);
    let no_answer = extraction(LadderReading::Unreadable(Unreadable::NoAnswer), 0);
    let only_example = extraction(LadderReading::Unreadable(Unreadable::OnlyExample), 3);
    let mut first = talk("hybrid-checkpoint", 0, &[(1, "v")]);
    let mut row = compaction(Stages::default(), 1_000, vec![call(10, 1)]);
    row.event.extractions = vec![strict, no_answer];
    first.compactions = vec![row, compaction(Stages::default(), 1_000, vec![call(10, 1)])];
    let event = |extraction| CheckpointEvent {
        after: MessageId(1),
        tokens: 10,
        failed: None,
        extraction,
    };
    let before_turns = [Some(lenient), Some(only_example), None];
    first.checkpoints = before_turns
        .map(|found| CheckpointRow {
            event: event(found),
            calls: Vec::new(),
        })
        .to_vec();
    let mut second = talk("hybrid-checkpoint", 1, &[(1, "v")]);
    second.checkpoints = vec![CheckpointRow {
        event: event(Some(strict)),
        calls: Vec::new(),
    }];
    let records = [first, second];
    near(
        metric(&records, "extraction_success").value,
        (0.5 + 1.0) / 2.0,
    );
    let mut group = group_of(&manifest(&["hybrid-checkpoint"], 2, 2), &records);
    let listed = "values of the prompt's own example taken out of checkpoints: hybrid-checkpoint 5";
    assert!(
        group.warnings.iter().any(|warning| warning == listed),
        "{:?}",
        group.warnings
    );
    let found = serde_json::to_value(group.strategies.remove(0).extractions).unwrap();
    let expected = serde_json::json!({
        "attempts": 5, "by_rung": {"lenient": 1, "strict": 2}, "unreadable": {"no_answer": 1, "only_example": 1},
        "leaked": 5, "left_out": 0
    });
    assert_eq!(found, expected);
}

#[test]
fn without_an_attempt_there_is_no_extraction_success() {
    let mut made = talk("summarize", 0, &[(1, "v")]);
    made.compactions = vec![compaction(Stages::default(), 1_000, vec![call(10, 1)])];
    let group = group_of(&manifest(&["summarize"], 1, 1), &[made]);
    let found = &group.strategies[0].metrics["extraction_success"];
    assert_eq!(
        (found.value, found.reason.as_deref()),
        (None, Some("the records hold no attempt at a checkpoint"))
    );
    assert_eq!(group.strategies[0].extractions, None);
}

#[test]
fn a_summary_is_what_was_accepted_of_what_was_asked() {
    let row = |outcome, fallback, calls| {
        let mut row = compaction(Stages::default(), 1_000, calls);
        (row.event.outcome, row.event.fallback) = (outcome, fallback);
        row
    };
    let asked = || vec![call(10, 1)];
    let refused = || FailReason::NoSummary(NotASummary::ContinuesChat);
    let mut made = talk("threshold-summary", 0, &[(1, "v")]);
    made.compactions = vec![
        row(Outcome::Applied, None, asked()),
        row(
            Outcome::Failed(FailReason::InvalidView("broken".to_owned())),
            None,
            asked(),
        ),
        row(Outcome::Skipped(SkipReason::NoProgress), None, asked()),
        row(Outcome::Failed(refused()), None, asked()),
        row(
            Outcome::Failed(FailReason::Call("timeout".to_owned())),
            None,
            asked(),
        ),
        row(Outcome::Applied, Some(refused()), asked()),
        row(
            Outcome::Applied,
            Some(FailReason::CallsUsedUp(5)),
            Vec::new(),
        ),
        row(
            Outcome::Skipped(SkipReason::NothingToCompact),
            None,
            Vec::new(),
        ),
    ];
    near(metric(&[made.clone()], "is_summary").value, 3.0 / 6.0);
    made.compactions.drain(..6);
    let found = metric(&[made], "is_summary");
    assert_eq!(
        (found.value, found.reason.as_deref()),
        (None, Some("no compaction asked for a summary"))
    );
}

#[test]
fn a_strategy_without_calls_has_no_stages() {
    let mut made = talk("head-tail", 0, &[(1, "v")]);
    made.compactions = vec![compaction(stages(8, 0, 0, 0), 1_000, Vec::new())];
    let found = metric(&[made], "reached");
    assert_eq!(
        (found.value, found.reason.as_deref()),
        (None, Some("calls no summarizer"))
    );
}

#[test]
fn costs_follow_the_cache_rules() {
    let mut made = talk("summarize", 0, &[(1, "v")]);
    made.compactions = vec![compaction(Stages::default(), 1_000, vec![call(1_000, 100)])];
    made.turns = vec![
        turn(500, 0, 10),      // under the minimum: 500 x 4
        turn(2_000, 500, 0),   // prefix under the minimum: 2,000 written x 5
        turn(3_000, 2_000, 0), // 2,000 read x 1, 1,000 written x 5
        turn(4_000, 3_000, 0), // six minutes later: 4,000 written x 5
    ];
    made.turns[2].at_ms = Some(1_000_000);
    made.turns[3].at_ms = Some(1_360_001);
    let input = 2_000.0 + 10_000.0 + 7_000.0 + 20_000.0;
    let compaction = 4_000.0 + 2_000.0;
    near(
        metric(&[made.clone()], "cost_usd").value,
        (input + 200.0 + compaction) / 1e6,
    );
    near(
        metric(&[made.clone()], "cost_usd_compaction").value,
        compaction / 1e6,
    );
    near(
        metric(&[made.clone()], "cache_hit_rate").value,
        2_000.0 / 10_500.0,
    );
    let mut full = record("full", Family::Control, "s0", "g0");
    full.turns = vec![turn(20_000, 0, 10)];
    // Without output: full 100,000, this one 45,000.
    near(metric(&[made.clone(), full], "cost_saving").value, 0.55);
    made.case.summarizer = "unknown".to_owned();
    assert_eq!(metric(&[made], "cost_usd").value, None);
}

#[test]
fn waits_are_over_the_turns_that_wait_and_validity_over_requests() {
    let mut made = talk("summarize", 0, &[(1, "v")]);
    made.turns = vec![turn(10, 0, 1); 5];
    made.turns[1].waited_ms = Some(1_000);
    made.turns[2].violations = 2;
    made.turns[3].waited_ms = Some(3_000);
    near(metric(&[made.clone()], "wait_ms_p50").value, 2_000.0);
    near(metric(&[made.clone()], "wait_ms_p95").value, 2_900.0);
    near(metric(&[made.clone()], "wait_ms_total").value, 4_000.0);
    near(metric(&[made.clone()], "waiting_share").value, 0.4);
    near(metric(&[made], "request_validity").value, 0.8);
}

#[test]
fn rounds_take_observations_of_both_kinds() {
    let mut made = talk("summarize", 0, &[(0, "vv"), (1, "vd")]);
    let mut right_after = point(1, "dd");
    right_after.kind = ObservationKind::Compaction;
    made.observations.push(right_after);
    let group = group_of(&manifest(&["summarize"], 1, 1), &[made]);
    let rounds: Vec<_> = group.strategies[0]
        .by_round
        .iter()
        .map(|row| row["context_recall"].value)
        .collect();
    assert_eq!(rounds, [Some(1.0), Some(0.25)]);
}

#[test]
fn undefined_values_have_reasons() {
    let records = [record("summarize", Family::Reference, "s0", "g0")];
    let group = group_of(&manifest(&["summarize"], 1, 1), &records);
    for (id, metric) in &group.strategies[0].metrics {
        assert_eq!(metric.value.is_none(), metric.reason.is_some(), "{id}");
    }
    let reason = group.strategies[0].metrics["answer_recall"]
        .reason
        .as_deref();
    assert!(
        reason.is_some_and(|reason| reason.starts_with("no question asks for a fact")),
        "{reason:?}"
    );
    assert!(group.strategies[0].fates.is_empty());
    assert!(group.warnings.iter().any(|warning| {
        warning.contains("at least 5 are needed to rank strategies, and 6 to support")
    }));
    assert!(
        group
            .warnings
            .iter()
            .any(|warning| warning == "never compacted anything, so takes no part: summarize")
    );
}

#[test]
fn hard_checks_fail_on_what_they_are_for() {
    let mut records = vec![
        talk("summarize", 0, &[(1, "c?")]),
        talk("full", 0, &[(0, "vd")]),
        talk("oracle", 0, &[(1, "dd")]),
    ];
    records[1].case.family = Family::Control;
    records[2].case.family = Family::Control;
    // A strategy that never compacted anything takes no part.
    let idle = group_of(&manifest(&["summarize", "full", "oracle"], 3, 1), &records);
    assert_eq!(check(&idle, "`oracle` keeps").passed, None);
    records[0]
        .compactions
        .push(compaction(Stages::default(), 100, Vec::new()));
    let group = group_of(&manifest(&["summarize", "full", "oracle"], 3, 1), &records);
    for part in ["`full` keeps", "`oracle` keeps", "unexplained"] {
        assert_eq!(check(&group, part).passed, Some(false), "{part}");
    }
    assert_eq!(
        check(&group, "unexplained").detail,
        "1 sightings: summarize 1"
    );
    assert_eq!(
        check(&group, "`null`").detail,
        "not applicable: `null` was not run"
    );
    assert_eq!(check(&group, "decoys").passed, None);
}

/// A group in which each unit's summarizer read 20 facts and 20 decoys, and wrote 4 decoys and so
/// many facts.
fn written_beside_decoys(written: &[u32]) -> Group {
    let talk = |(at, written): (usize, &u32)| {
        let mut made = talk("summarize", at, &[(1, "c")]);
        let stages = Stages {
            paired_reached: 20,
            paired_written: *written,
            decoys_left: 20,
            decoys_reached: 20,
            decoys_written: 4,
            ..stages(20, 20, *written, *written)
        };
        made.compactions = vec![compaction(stages, 1_000, vec![call(10, 1)])];
        made
    };
    let records: Vec<_> = written.iter().enumerate().map(talk).collect();
    group_of(
        &manifest(&["summarize"], written.len(), written.len()),
        &records,
    )
}

#[test]
fn facts_written_far_more_often_than_decoys_fail_the_check() {
    let passed = |written: &[u32]| check(&written_beside_decoys(written), "decoys").passed;
    assert_eq!(passed(&[4; 16]), Some(true));
    assert_eq!(
        passed(&[7; 16]),
        Some(false),
        "a cheat of .15 in each of 16 units"
    );
    assert_eq!(passed(&[6; 16]), Some(true), "within .10");
    assert_eq!(
        passed(&[10; 10]),
        None,
        "ten units cannot rule out chance at .001"
    );
    // .15 on average, as chance spreads it: p is about .02.
    assert_eq!(
        passed(&[20, 2, 9, 1, 13, 4, 10, 2, 12, 4, 7, 9, 2, 11, 1, 5]),
        Some(true)
    );
}

#[test]
fn a_difference_that_chance_explains_badly_is_a_warning() {
    let warned = |written: &[u32]| {
        let warnings = written_beside_decoys(written).warnings;
        warnings
            .into_iter()
            .find(|warning| warning.starts_with("facts and decoys are not written equally often"))
    };
    let told = warned(&[6; 16]).expect("16 equal differences");
    assert!(
        told.contains("summarize +0.100 over 16 conversations, p = 0.000"),
        "{told}"
    );
    assert_eq!(warned(&[4; 16]), None);
    assert_eq!(
        warned(&[6, 4, 2, 5, 6, 3, 3, 6, 4, 4]),
        None,
        "chance explains it"
    );
    assert_eq!(warned(&[7; 16]), None, "the check fails instead");
}

#[test]
fn oracle_may_know_the_facts() {
    let mut made = talk("oracle", 0, &[(1, "c")]);
    let stages = Stages {
        decoys_reached: 10,
        ..stages(10, 10, 10, 10)
    };
    made.compactions = vec![compaction(stages, 1_000, vec![call(10, 1)])];
    let records = [made];
    assert!(
        check(&group_of(&manifest(&["oracle"], 1, 1), &records), "decoys")
            .detail
            .starts_with("not applicable")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn fates_sum_to_one_where_a_fact_is_stated(talks in prop::collection::vec("[vcsduex?.]{1,12}", 1..6)) {
        let records: Vec<_> = talks.iter().enumerate().map(|(at, letters)| talk("summarize", at, &[(1, letters)])).collect();
        let group = group_of(&manifest(&["summarize"], records.len(), records.len()), &records);
        let fates = &group.strategies[0].fates;
        let is_stated = talks.iter().any(|letters| letters.chars().any(|letter| letter != '.'));
        prop_assert_eq!(fates.is_empty(), !is_stated);
        if is_stated {
            prop_assert!((fates.values().sum::<f64>() - 1.0).abs() < 1e-8);
        }
    }

    #[test]
    fn corrected_recall_never_exceeds_recall(hits in 0_u32..4, held in 0_usize..6) {
        let mut records = six(&[chance(KIND, hits, 5)], &[], 0);
        for (at, record) in records.iter_mut().enumerate() {
            record.observations[0].fates = point(1, if at < held { "c" } else { "u" }).fates;
        }
        let raw = metric(&records, "context_recall").value.unwrap();
        let corrected = metric(&records, "context_recall_corrected").value.unwrap();
        prop_assert!(corrected <= raw + 1e-9);
    }
}
