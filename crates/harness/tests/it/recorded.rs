//! The compactions of a recorded program: when they happen, what they leave, and what that means
//! for every other strategy.

use std::collections::BTreeSet;
use std::error::Error;

use compactometer_engine::budget::Tail;
use compactometer_engine::event::Outcome;
use compactometer_engine::message::{MessageId, Role, Usage};
use compactometer_engine::tokens::Encoding;
use compactometer_formats::added_text::AddedText;
use compactometer_formats::fate::Fate;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::{Family, ObservationKind, Record};
use compactometer_formats::scenario::{RecordedCompaction, Retained, Scenario};
use compactometer_harness::entrants::select;
use compactometer_harness::plan::{Plan, PlanError, PlanOptions, Prospects};
use compactometer_harness::run::run_case;
use compactometer_testing::model::writes;
use compactometer_testing::scenario::{Builder, suite};

fn made(after: MessageId, summary: &str, kept: &[MessageId]) -> RecordedCompaction {
    let written = Retained::Written {
        role: Role::User,
        text: format!("{summary}{}", " Nothing else was said.".repeat(20)),
    };
    let context = std::iter::once(written)
        .chain(kept.iter().map(|id| Retained::Kept(*id)))
        .collect();
    RecordedCompaction {
        version: None,
        compactor: None,
        line: None,
        after,
        at_ms: None,
        trigger: None,
        reported_tokens: None,
        usage: None,
        took_ms: None,
        context,
    }
}

/// Two compactions: the first keeps `aa-11` in its summary and the message with `bb-22`, the second
/// loses `bb-22`. Neither keeps `cc-33`. `dd-44` is in the turn that is pending at the second.
fn twice() -> Scenario {
    let mut builder = Builder::new("s", "g");
    builder.say(Role::System, "You are an agent.");
    let first = builder.say(Role::User, "Start with aa-11 and cc-33.");
    builder.chatter(600);
    let second = builder.say(Role::User, "Then bb-22.");
    let before = builder.say(Role::Assistant, "Yes.");
    builder.chatter(600);
    let last = builder.say(Role::User, "Now dd-44, please.");
    let call = builder.call("{\"a\":\"x\"}", "done");
    builder.say(Role::Assistant, "Done.");
    builder.fact("aa-11", &[first]);
    builder.fact("bb-22", &[second]);
    builder.fact("cc-33", &[first]);
    builder.fact("dd-44", &[last]);
    let result = MessageId(call.0 + 1);
    builder.scenario.compactions = vec![
        made(before, "They began with aa-11.", &[second]),
        made(result, "It was about aa-11.", &[]),
    ];
    builder.build()
}

fn plan(scenarios: Vec<Scenario>, names: &[&str]) -> Result<Plan, PlanError> {
    let options = PlanOptions {
        entrants: select(names.iter().copied(), []).unwrap(),
        protocols: BTreeSet::from([Protocol::Recorded]),
        summarizer: "scripted".into(),
        seed: 1,
        ..PlanOptions::default()
    };
    Plan::new(suite(scenarios), options, &Encoding::O200k)
}

fn records(scenarios: Vec<Scenario>, names: &[&str]) -> Vec<Record> {
    let silent = writes(|_, _| Ok("Nothing much happened.".to_owned()));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let plan = plan(scenarios, names).unwrap();
    plan.cases
        .iter()
        .map(|case| {
            runtime
                .block_on(run_case(case, &silent, &Encoding::O200k))
                .record
        })
        .collect()
}

/// Its trigger is the size of everything, which no request reaches before it.
#[test]
fn a_compaction_that_comes_at_its_moment_needs_no_longer_conversation() {
    let mut scenario = twice();
    let last = scenario.messages.last().unwrap().id;
    scenario.compactions = vec![made(last, "They began with aa-11.", &[])];
    let plan = plan(vec![scenario], &["recorded", "summarize"]).unwrap();
    let found = Prospects::new(&plan);
    assert!(
        u64::from(plan.cases[0].budget().trigger) > found.longest,
        "{}",
        found.longest
    );
    assert!(found.idle.is_empty(), "{:?}", found.idle);
}

#[test]
fn each_recorded_compaction_leaves_what_its_program_left() {
    let record = records(vec![twice()], &["recorded"]).remove(0);
    assert_eq!(record.case.family, Family::Recorded);
    let after = |kind| {
        record
            .observations
            .iter()
            .filter(move |seen| seen.kind == kind)
            .map(|seen| seen.fates.0.clone())
    };
    let compacted = after(ObservationKind::Compaction).collect::<Vec<_>>();
    assert_eq!(
        compacted[0],
        [Fate::Carried, Fate::Verbatim, Fate::Lost, Fate::Unstated]
    );
    // The request that was pending is gone too, which no strategy of ours may do.
    assert_eq!(
        compacted[1],
        [Fate::Carried, Fate::Lost, Fate::Lost, Fate::Lost]
    );
    assert_eq!(record.compactions[1].holds_request, Some(false));
    let stages = record
        .compactions
        .iter()
        .map(|row| (row.calls.len(), row.stages.reached, row.stages.left));
    assert_eq!(
        stages.collect::<Vec<_>>(),
        [(0, 0, 2), (0, 0, 2)],
        "no request is in the log"
    );
}

#[test]
fn everybody_compacts_when_the_program_did_and_to_its_size() {
    let scenario = twice();
    let moments = scenario
        .compactions
        .iter()
        .map(|made| made.after)
        .collect::<Vec<_>>();
    let records = records(
        vec![scenario],
        &["recorded", "summarize", "random-drop", "full"],
    );
    let sizes = |name: &str| {
        let record = records
            .iter()
            .find(|record| record.case.strategy == name)
            .unwrap();
        let applied = record
            .compactions
            .iter()
            .inspect(|row| assert_eq!(row.event.outcome, Outcome::Applied, "{name}"));
        applied
            .map(|row| (row.event.after, row.event.tokens_retained))
            .collect::<Vec<_>>()
    };
    let recorded = sizes("recorded");
    assert_eq!(
        recorded.iter().map(|(after, _)| *after).collect::<Vec<_>>(),
        moments
    );
    for name in ["summarize", "random-drop"] {
        for ((after, own), (moment, most)) in sizes(name).into_iter().zip(&recorded) {
            assert_eq!(after, *moment, "{name}");
            assert!(own <= *most, "{name} left {own} tokens, the program {most}");
        }
        assert_eq!(sizes(name).len(), 2, "{name}");
    }
    assert!(sizes("full").is_empty());
}

/// The program kept its newest messages beside its summary, and so does everybody who chose no split.
#[test]
fn a_split_that_nobody_chose_is_that_of_the_program() {
    let mut scenario = twice();
    let first = &scenario.compactions[0];
    let newest = [MessageId(first.after.0 - 1), first.after];
    scenario.compactions[0] = made(first.after, "They began with aa-11.", &newest);
    let tail = |name: &str| {
        let plan = plan(vec![scenario.clone()], &[name]).unwrap();
        plan.cases[0].budget().tail
    };
    let of_program = tail("summarize");
    assert!(matches!(of_program, Tail::Tokens(tokens) if tokens > 0));
    assert_eq!(tail("chained"), of_program);
    assert_ne!(tail("own=summarize:tail=900"), of_program);
}

/// `cc-33` and `dd-44` are in no summary; the ledger copies them, also after they were gone.
#[test]
fn a_ledger_beside_what_the_program_left_is_added_and_its_size_is_known() {
    let names = [
        "recorded",
        "ledger=recorded:ledger=60",
        "summarize",
        "with=summarize:ledger=60",
    ];
    let records = records(vec![twice()], &names);
    let of = |name: &str| {
        records
            .iter()
            .find(|record| record.case.strategy == name)
            .unwrap()
    };
    let (plain, ledger) = (of("recorded"), of("ledger"));
    assert_eq!(ledger.case.family, Family::Recorded);
    for (plain, ledger) in plain.compactions.iter().zip(&ledger.compactions) {
        let added = ledger.view.as_ref().unwrap().ledger;
        assert!((1..=60).contains(&added), "{added}");
        assert_eq!(
            ledger.event.tokens_retained,
            plain.event.tokens_retained + added,
            "the rest stays as it is"
        );
        assert!(!ledger.event.over_budget);
        assert_eq!(ledger.event.attempts, 1);
    }
    let fates = |record: &Record| {
        let compacted = record
            .observations
            .iter()
            .filter(|seen| seen.kind == ObservationKind::Compaction);
        compacted
            .map(|seen| seen.fates.0.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        fates(ledger)[0],
        [Fate::Carried, Fate::Verbatim, Fate::Carried, Fate::Unstated]
    );
    assert_eq!(
        fates(ledger)[1],
        [Fate::Carried, Fate::Carried, Fate::Carried, Fate::Carried]
    );
    // A strategy's ledger is within the budget of all.
    let most = plain
        .compactions
        .iter()
        .map(|row| row.event.tokens_retained);
    for ((row, most), plain) in of("with")
        .compactions
        .iter()
        .zip(most)
        .zip(&of("summarize").compactions)
    {
        assert!(
            row.view.as_ref().unwrap().ledger > 0 && row.event.tokens_retained <= most,
            "{row:?}"
        );
        assert_eq!(plain.view.as_ref().unwrap().ledger, 0);
    }
    assert_ne!(of("with").key, of("summarize").key);
    assert_eq!(of("with").case.seed, of("summarize").case.seed);
}

#[test]
fn texts_of_the_size_of_a_ledger_are_added_for_comparison() {
    let names = AddedText::ROWS.map(|row| format!("{0}=recorded:{0}=48", row.parameter));
    let records = records(
        vec![twice()],
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
    );
    assert_eq!(records.len(), names.len());
    for record in &records {
        let name = &record.case.strategy;
        for row in &record.compactions {
            let added = row.view.as_ref().unwrap().ledger;
            assert!(
                (5..=48).contains(&added) && !row.event.over_budget,
                "{name}: {added}"
            );
        }
        let last = record
            .observations
            .iter()
            .rfind(|seen| seen.kind == ObservationKind::Compaction)
            .unwrap();
        // The summary has `aa-11`, and the conversation ends with `dd-44`.
        let is_carried = |fact: usize| last.fates.0[fact] == Fate::Carried;
        let expected = if name == "newest_text" {
            vec![0, 3]
        } else {
            vec![0, 1, 2]
        };
        assert!(
            expected.into_iter().all(is_carried),
            "{name}: {:?}",
            last.fates
        );
    }
}

#[test]
fn a_ledger_that_leaves_nothing_is_refused() {
    let refused = |name: &str, protocol| {
        let options = PlanOptions {
            entrants: select([name], []).unwrap(),
            protocols: BTreeSet::from([protocol]),
            ..PlanOptions::default()
        };
        let refused = Plan::new(suite(vec![twice()]), options, &Encoding::O200k)
            .err()
            .unwrap();
        refused.source().unwrap().to_string()
    };
    for (name, protocol) in [
        ("with=summarize:ledger=50000", Protocol::Recorded),
        ("with=recorded:ledger=50000", Protocol::Recorded),
        ("with=summarize:ledger=50000", Protocol::Published),
        ("with=summarize:ledger=500", Protocol::Matched),
    ] {
        let refused = refused(name, protocol);
        assert!(
            refused.contains("what is added to `with` may have at most"),
            "{refused}"
        );
    }
}

/// A fact counts once a compaction came after its last mention, unless it was in what the program
/// kept of the pending part.
#[test]
fn facts_count_that_were_said_before_the_last_compaction() {
    let record = records(vec![twice()], &["summarize"]).remove(0);
    let eligible = record
        .observations
        .iter()
        .map(|seen| (seen.kind, seen.eligible.clone()))
        .collect::<Vec<_>>();
    let compactions = eligible
        .iter()
        .filter(|(kind, _)| *kind == ObservationKind::Compaction)
        .map(|(_, facts)| facts);
    // The second fact was in the last turn of the user at the first one, which the program kept; the
    // last fact in a turn that it dropped.
    assert!(compactions.eq([&vec![0, 2], &vec![0, 1, 2, 3]]));
    assert_eq!(
        eligible.last().unwrap(),
        &(ObservationKind::Point, vec![0, 1, 2, 3])
    );
}

#[test]
fn a_compaction_costs_what_its_transcript_reports_else_what_its_texts_have() {
    let mut scenario = twice();
    let reported = Usage {
        input: 9,
        cache_read: 1,
        cache_write: 0,
        output: 7,
    };
    scenario.compactions[0].usage = Some(reported);
    let record = records(vec![scenario], &["recorded"]).remove(0);
    let usage = record
        .compactions
        .iter()
        .map(|row| row.recorded_usage.unwrap())
        .collect::<Vec<_>>();
    assert_eq!(usage[0], reported);
    let [_, second] = &record.compactions[..] else {
        panic!("two compactions")
    };
    assert_eq!(usage[1].input, u64::from(second.event.tokens_before));
    assert!((90..120).contains(&usage[1].output), "{usage:?}");
}

#[test]
fn only_conversations_that_were_compacted_take_part() {
    let mut plain = Builder::new("t", "h");
    plain.chatter(300);
    let both = plan(vec![plain.build(), twice()], &["recorded", "null"]).unwrap();
    assert_eq!((both.cases.len(), both.suite.len()), (2, 1));
    assert!(
        both.window_reason
            .contains("2 recorded compactions, in 1 of 2 conversations"),
        "{}",
        both.window_reason
    );
    let mut plain = Builder::new("t", "h");
    plain.chatter(300);
    assert_eq!(
        plan(vec![plain.build()], &["recorded"]).err(),
        Some(PlanError::NothingRecorded)
    );
}

#[test]
fn limits_of_ones_own_contradict_those_of_the_recording() {
    let options = |changed: fn(&mut PlanOptions)| {
        let mut options = PlanOptions {
            entrants: select(["recorded"], []).unwrap(),
            protocols: BTreeSet::from([Protocol::Recorded]),
            ..PlanOptions::default()
        };
        changed(&mut options);
        Plan::new(suite(vec![twice()]), options, &Encoding::O200k).err()
    };
    assert_eq!(options(|_| {}), None);
    assert_eq!(
        options(|options| options.window = Some(4_000)),
        Some(PlanError::RecordedOnly)
    );
    assert_eq!(
        options(|options| options.sweep = true),
        Some(PlanError::RecordedOnly)
    );
    assert_eq!(
        options(|options| options.smaller_retained = vec![0.1]),
        Some(PlanError::RecordedOnly)
    );
    let published =
        |options: &mut PlanOptions| options.protocols = BTreeSet::from([Protocol::Published]);
    assert_eq!(options(published), Some(PlanError::RecordedOnly));
}
