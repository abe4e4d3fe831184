//! A scenario with questions goes in; the record says which facts are found again when they are
//! asked for.

use std::sync::Mutex;

use compactometer_engine::message::{MessageId, Role};
use compactometer_engine::model::ChatModel;
use compactometer_formats::fate::Fate;
use compactometer_formats::record::{ObservationKind, Record};
use compactometer_formats::scenario::{Category, Probe, Scenario};
use compactometer_testing::model::writes;
use compactometer_testing::scenario::{Builder, probe};

use crate::common::run;

/// A value said once, in a message of its own, then talk.
fn scenario(value: &str, words: &str) -> Scenario {
    with_talk(value, words, 5_000)
}

fn with_talk(value: &str, words: &str, talk: usize) -> Scenario {
    let mut builder = Builder::new("s", "g");
    builder.say(Role::System, "You are an agent.");
    let stated = builder.say(
        Role::User,
        &format!("{words} {value}, please look into it."),
    );
    builder.say(Role::Assistant, "I will.");
    builder.chatter(talk);
    builder.fact(value, &[stated]);
    let mut scenario = builder.build();
    ask(&mut scenario, 0, "Which ticket is the billing outage?");
    scenario
}

fn ask(scenario: &mut Scenario, fact: usize, question: &str) {
    let asked_after = scenario.messages[scenario.messages.len() - 2].id;
    let row = &scenario.facts[fact];
    let asked = probe(&format!("p{fact}"), &[&row.id], question, asked_after);
    scenario.probes.push(Probe {
        gold: Some(row.value.clone()),
        ..asked
    });
}

fn forgets() -> impl ChatModel {
    writes(|_, _| Ok("Nothing much happened.".to_owned()))
}

/// Fate, whether storage holds it, whether it was asked for, and whether it was found, at the last
/// point that asked.
fn last(record: &Record) -> (Fate, bool, bool, Option<bool>) {
    let points = record
        .observations
        .iter()
        .filter(|look| look.kind != ObservationKind::Compaction);
    let asked = points.clone().rfind(|point| !point.asked.is_empty());
    let point = asked.or_else(|| points.clone().next_back()).unwrap();
    (
        point.fates.0[0],
        point.is_stored(0),
        point.asked == [0],
        point
            .prompted
            .as_ref()
            .map(|prompted| prompted.found == [0]),
    )
}

#[test]
fn what_only_a_note_holds_is_stored_and_found_by_its_question() {
    let result = run(
        vec![scenario("kx-4711", "The ticket of the billing outage is")],
        "handoff",
        &forgets(),
    );
    assert_eq!(
        last(&result.record),
        (Fate::Unwritten, true, true, Some(true))
    );
    let prompted = result
        .record
        .observations
        .iter()
        .filter_map(|look| look.prompted.as_ref());
    let budget = result.record.case.budget.retained.unwrap();
    assert!(
        prompted
            .clone()
            .all(|prompted| prompted.tokens > 0 && prompted.tokens < u64::from(budget))
    );
    assert!(
        result.texts.values().all(|text| !text.contains("kx-4711")),
        "no note entered a view"
    );
}

#[test]
fn a_question_that_shares_no_word_finds_nothing() {
    let result = run(vec![scenario("kx-4711", "Mind")], "handoff", &forgets());
    assert_eq!(
        last(&result.record),
        (Fate::Unwritten, true, true, Some(false))
    );
}

#[test]
fn without_memory_what_is_lost_is_lost() {
    let scenario = || vec![scenario("kx-4711", "The ticket of the billing outage is")];
    let off = run(scenario(), "off=handoff:memory=off", &forgets());
    assert_eq!(last(&off.record), (Fate::Unwritten, false, true, None));
    for name in ["summarize", "chained", "null", "full"] {
        let result = run(scenario(), name, &forgets());
        assert!(
            result
                .record
                .observations
                .iter()
                .all(|look| look.prompted.is_none()),
            "{name}"
        );
        assert!(
            result
                .record
                .observations
                .iter()
                .any(|look| !look.asked.is_empty()),
            "{name}"
        );
    }
}

#[test]
fn a_retrieval_stays_within_what_the_summary_leaves_of_the_budget() {
    // The summary takes some 350 of 600 tokens; each note of chatter some 50.
    let long = writes(|_, _| Ok("So they went on with it, step by step, and saw. ".repeat(28)));
    let mut asked = scenario("kx-4711", "The ticket of the billing outage is");
    asked.probes[0].question =
        "Which ticket, and please go on with step and tell me what you see there now?".into();
    let result = run(vec![asked], "handoff", &long);
    let mut looked = 0;
    for (place, look) in result
        .record
        .observations
        .iter()
        .enumerate()
        .filter(|(_, look)| look.prompted.is_some())
    {
        let compacted = result.record.compactions.iter().rev();
        let retained = compacted
            .filter(|row| row.event.after < look.after)
            .map(|row| row.event.tokens_retained)
            .next();
        let (retained, tokens) = (
            u64::from(retained.unwrap()),
            look.prompted.as_ref().unwrap().tokens,
        );
        assert!(
            retained > 300 && tokens + retained <= 600,
            "{place}: {tokens} beside {retained}"
        );
        looked += 1;
    }
    assert!(
        looked > 0,
        "{:?}",
        result
            .record
            .compactions
            .iter()
            .map(|row| &row.event)
            .collect::<Vec<_>>()
    );
}

#[test]
fn a_value_that_a_note_holds_by_chance_is_not_stored() {
    let mut scenario = scenario("kx-4711", "The ticket of the billing outage is");
    // Nobody stated it where it stands: not a mention, so its note is not a store of it.
    scenario.facts[0].evidence_message_ids = vec![MessageId(2)];
    scenario.messages[2].parts = vec![compactometer_engine::message::Part::Thinking {
        text: "It is kx-4711.".into(),
        signature: None,
    }];
    let result = run(vec![scenario], "handoff", &forgets());
    let (fate, is_stored, _, found) = last(&result.record);
    assert_eq!(
        (fate, is_stored, found),
        (Fate::Unwritten, false, Some(false)),
        "thinking is not noted"
    );
}

#[test]
fn what_a_model_writes_without_having_read_it_stays_a_guess_beside_a_note() {
    // Noted whole, lost in the first summary, and named again by a model that never saw it since.
    let guesses = writes(|call, _| {
        Ok(if call < 6 {
            "A ticket."
        } else {
            "Ticket kx-4711."
        }
        .to_owned())
    });
    let mut scenario = with_talk("kx-4711", "The ticket of the billing outage is", 12_000);
    scenario.probes.clear();
    let result = run(vec![scenario], "handoff", &guesses);
    assert!(
        result.record.compactions.len() > 2,
        "{}",
        result.record.compactions.len()
    );
    let fates = result
        .record
        .observations
        .iter()
        .map(|look| look.fates.0[0])
        .collect::<Vec<_>>();
    assert!(
        !fates.contains(&Fate::Carried) && !fates.contains(&Fate::Unexplained),
        "{fates:?}"
    );
    assert_eq!(fates.last(), Some(&Fate::Unwritten));
    assert!(
        result
            .record
            .observations
            .last()
            .is_some_and(|look| look.is_stored(0))
    );
}

/// A value of an import has no subject: the record says whether the context says something about
/// it, or only lists it.
#[test]
fn a_clause_states_an_imported_value_and_a_list_does_not() {
    let stated = |summary: &'static str| {
        let mut imported = scenario("kx-4711", "The ticket of the billing outage is");
        imported.probes.clear();
        imported.facts[0].category = Category::Incidental;
        let result = run(
            vec![imported],
            "summarize",
            &writes(move |_, _| Ok(summary.to_owned())),
        );
        let last = result.record.observations.last().unwrap().clone();
        assert_eq!(
            (last.fates.0[0], last.eligible),
            (Fate::Carried, vec![0]),
            "{summary}"
        );
        last.stated
    };
    assert_eq!(stated("The billing outage has the ticket kx-4711."), [0]);
    assert_eq!(stated("kx-4711, kx-4712, src/billing_outage.rs"), [0; 0]);
}

#[test]
fn no_question_reaches_a_summarizer_and_a_probe_changes_nothing_after_it() {
    let requests = || Mutex::new(Vec::new());
    let (with, without) = (requests(), requests());
    let played = |seen: &Mutex<Vec<String>>, probed: bool| {
        let listens = writes(|_, request| {
            seen.lock().unwrap().push(request.to_owned());
            Ok("Nothing much happened.".to_owned())
        });
        let mut scenario = scenario("kx-4711", "The ticket of the billing outage is");
        if !probed {
            scenario.probes.clear();
        }
        run(vec![scenario], "handoff", &listens).record
    };
    let (asked, silent) = (played(&with, true), played(&without, false));
    assert_eq!(
        (asked.compactions, asked.turns),
        (silent.compactions, silent.turns)
    );
    let (with, without) = (with.into_inner().unwrap(), without.into_inner().unwrap());
    let summarizing: Vec<_> = with
        .iter()
        .filter(|request| !request.contains("Which ticket"))
        .collect();
    assert!(!without.is_empty() && summarizing.iter().copied().eq(&without));
}

#[test]
fn chance_is_looked_for_in_what_was_retrieved() {
    // The other conversations' value is in a note of this one that the question finds.
    let others = (0..5).map(|number| {
        let mut builder = Builder::new(&format!("other-{number}"), &format!("group-{number}"));
        let stated = builder.say(Role::User, &format!("It is zz-90{number}."));
        builder.say(Role::Assistant, "Yes.");
        builder.fact(&format!("zz-90{number}"), &[stated]);
        builder.build()
    });
    let first = scenario(
        "kx-4711",
        "The ticket of the billing outage, filed after zz-901, is",
    );
    let result = run(
        [first].into_iter().chain(others).collect(),
        "handoff",
        &forgets(),
    );
    let point = result
        .record
        .observations
        .iter()
        .rfind(|look| look.prompted.is_some())
        .unwrap();
    let hits = |cells: &[compactometer_formats::record::ChanceCell]| {
        cells.iter().map(|cell| cell.hits).sum::<u32>()
    };
    let prompted = point.prompted.as_ref().unwrap();
    assert_eq!((hits(&point.chance), hits(&prompted.chance)), (0, 1));
    assert_eq!(
        prompted.chance.iter().map(|cell| cell.pairs).sum::<u32>(),
        5
    );
}
