//! A scenario with questions goes in; the record says what a model answers to them, and what that
//! is worth.

use std::sync::Mutex;

use compactometer_engine::message::{MessageId, Part, Role};
use compactometer_engine::meter::Purpose;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, Finish};
use compactometer_formats::answer::{AnswerRow, Grade};
use compactometer_formats::scenario::{Probe, Scenario, ValueKind};
use compactometer_harness::trace::CaseResult;
use compactometer_models::by_name;
use compactometer_testing::model::{Scripted, reply, writes};
use compactometer_testing::scenario::Builder;

use crate::common;

fn run(scenario: Scenario, strategy: &str, model: &dyn ChatModel) -> CaseResult {
    common::run(vec![scenario], strategy, model)
}

const QUESTION: &str = "Which ticket is the billing outage?";

/// A ticket that replaced an earlier one, another ticket beside it, then talk.
fn scenario() -> Scenario {
    let mut builder = Builder::new("s", "g");
    builder.say(Role::System, "You are an agent.");
    let old = builder.say(
        Role::User,
        "The ticket of the billing outage is kx-1111, please look into it.",
    );
    builder.say(Role::Assistant, "I will.");
    let new = builder.say(
        Role::User,
        "The ticket of the billing outage is kx-4711; that of the printer is kx-2222.",
    );
    builder.say(Role::Assistant, "Noted.");
    builder.chatter(3_000);
    builder.fact("kx-1111", &[old]).valid_to = Some(new);
    let fact = builder.fact("kx-4711", &[new]);
    fact.supersedes = Some("fact-0".into());
    fact.foil_values = vec!["kx-9999".into()];
    builder.fact("kx-2222", &[new]);
    let mut scenario = builder.build();
    let asked_after = scenario.messages[scenario.messages.len() - 2].id;
    scenario
        .probes
        .push(probe("p1", Some("fact-1"), QUESTION, asked_after));
    scenario
}

fn probe(id: &str, fact: Option<&str>, question: &str, asked_after: MessageId) -> Probe {
    compactometer_testing::scenario::probe(id, fact.as_slice(), question, asked_after)
}

/// Says `answer` to the question, and a line without values to everything else.
fn says(answer: Result<&'static str, ChatError>) -> impl ChatModel {
    writes(move |_, request| {
        let is_asked = request.trim_end().ends_with('?');
        if is_asked {
            answer.clone().map(str::to_owned)
        } else {
            Ok("Nothing much happened.".to_owned())
        }
    })
}

fn grade(scenario: Scenario, answer: &'static str) -> Grade {
    let result = run(scenario, "summarize", &says(Ok(answer)));
    let [row] = &result.record.answers[..] else {
        panic!("{:?}", result.record.answers)
    };
    row.grade
}

#[test]
fn a_question_without_facts_is_graded_by_its_right_answer_in_words() {
    for (answer, expected) in [
        ("It was Mrs. Amber Lind, I think.", Grade::Right),
        ("Somebody else.", Grade::Missing),
        ("unknown", Grade::Abstained),
    ] {
        let mut scenario = scenario();
        let asked_after = scenario.probes[0].asked_after;
        let gold = Some("amber lind".to_owned());
        scenario.probes = vec![Probe {
            gold,
            abstain_expected: false,
            ..probe("p2", None, "Who called?", asked_after)
        }];
        let result = run(scenario, "summarize", &says(Ok(answer)));
        let [row] = &result.record.answers[..] else {
            panic!("{:?}", result.record.answers)
        };
        assert_eq!((row.grade, row.present), (expected, false), "{answer}");
    }
}

#[test]
fn answers_are_graded_by_the_values_that_they_state() {
    for (answer, expected) in [
        ("KX-4711.", Grade::Right),
        (
            "The ticket is kx-4711; the printer's is kx-2222",
            Grade::Right,
        ),
        ("kx-1111", Grade::Stale),
        ("kx-1111 and kx-4711", Grade::Stale),
        ("kx-1111 or kx-4711", Grade::Missing),
        ("kx-9999", Grade::WrongValue),
        ("kx-4711 and kx-9999", Grade::WrongValue),
        ("either kx-4711 or kx-9999", Grade::Missing),
        ("kx-2222", Grade::WrongValue),
        ("UNKNOWN", Grade::Abstained),
        ("I don’t know: nothing says so.", Grade::Abstained),
        ("kx-47110", Grade::Missing),
        ("It is the one of last week.", Grade::Missing),
        ("", Grade::Missing),
    ] {
        assert_eq!(grade(scenario(), answer), expected, "{answer}");
    }
}

#[test]
fn what_an_answer_denies_it_does_not_give() {
    let asked = || {
        let mut scenario = scenario();
        scenario.probes[0].gold = Some("kx-4711".into());
        scenario.probes[0].forbidden = vec!["kx-1111".into()];
        scenario
    };
    for (answer, expected) in [
        ("kx-4711", Grade::Right),
        ("kx-4711, formerly kx-1111", Grade::Right),
        ("kx-4711, not kx-1111", Grade::Right),
        ("kx-1111", Grade::Stale),
        ("It is not kx-4711", Grade::Missing),
    ] {
        assert_eq!(grade(asked(), answer), expected, "{answer}");
    }
}

#[test]
fn where_nothing_is_said_only_not_knowing_is_right() {
    let asked = || {
        let mut scenario = scenario();
        let after = scenario.probes[0].asked_after;
        scenario.probes = vec![probe("p1", None, "Which ticket is the flood?", after)];
        scenario.probes[0].forbidden = vec!["kx-7777".into()];
        scenario
    };
    for (answer, expected) in [
        ("UNKNOWN", Grade::Abstained),
        ("kx-2222", Grade::WrongValue),
        ("kx-7777", Grade::WrongValue),
        ("kx-9999", Grade::WrongValue),
        ("The one of last week.", Grade::Missing),
    ] {
        assert_eq!(grade(asked(), answer), expected, "{answer}");
    }
    let row = &run(asked(), "summarize", &says(Ok("UNKNOWN")))
        .record
        .probes[0];
    assert!(row.is_right(Grade::Abstained) && !row.is_right(Grade::Right));
}

const ORDER: &str = "In which order were these answered: (P) Which ticket is the flood? (Q) Which ticket is the billing outage?";

/// Two tickets, the later one listed first.
fn in_order() -> Scenario {
    let mut builder = Builder::new("s", "g");
    builder.say(Role::System, "You are an agent.");
    let first = builder.say(Role::User, "The ticket of the billing outage is kx-4711.");
    builder.say(Role::Assistant, "Noted.");
    let second = builder.say(Role::User, "The ticket of the flood is kx-2222.");
    builder.say(Role::Assistant, "Noted.");
    builder.chatter(3_000);
    // The file lists facts in another order than they were stated in.
    builder.fact("kx-2222", &[second]);
    builder.fact("kx-4711", &[first]);
    let mut scenario = builder.build();
    let asked_after = scenario.messages[scenario.messages.len() - 2].id;
    let asked = Probe {
        order: vec!["Q".into(), "P".into()],
        ..probe("p1", Some("fact-1"), ORDER, asked_after)
    };
    scenario.probes.push(Probe {
        fact_ids: vec!["fact-1".into(), "fact-0".into()],
        ..asked
    });
    scenario
}

#[test]
fn an_order_is_read_from_the_labels_of_an_answer() {
    for (answer, order, grade) in [
        ("Q, P", vec![0, 1], Grade::Right),
        ("P, Q", vec![1, 0], Grade::Missing),
        ("P", vec![1], Grade::Missing),
        ("UNKNOWN", vec![], Grade::Abstained),
        ("kx-4711, then kx-2222", vec![], Grade::Missing),
    ] {
        let record = run(in_order(), "summarize", &says(Ok(answer))).record;
        let [row] = &record.answers[..] else {
            panic!("{:?}", record.answers)
        };
        assert_eq!((&row.order, row.grade), (&order, grade), "{answer}");
        assert_eq!(
            (&record.probes[0].facts, record.probes[0].ordered),
            (&vec![1, 0], true)
        );
        assert!(
            record.observations.iter().all(|seen| seen.asked.is_empty()),
            "no value is asked for"
        );
    }
}

/// It finds each by itself, and says so where it finds none.
#[test]
fn the_mock_reads_an_order_from_the_context() {
    let model = by_name("mock:strong").unwrap();
    for (strategy, expected) in [("full", Grade::Right), ("null", Grade::Abstained)] {
        assert_eq!(
            run(in_order(), strategy, &*model).record.answers[0].grade,
            expected,
            "{strategy}"
        );
    }
}

#[test]
fn a_value_that_the_question_names_is_no_wrong_answer() {
    let mut scenario = scenario();
    scenario.probes[0].question = "Which ticket is the billing outage, not kx-2222?".into();
    assert_eq!(
        grade(scenario, "Not kx-2222, I cannot see which"),
        Grade::Missing
    );
}

fn signs(scenario: Scenario, answer: &'static str) -> (bool, bool) {
    let signs = run(scenario, "summarize", &says(Ok(answer))).record.answers[0]
        .signs
        .unwrap();
    (signs.contradicts, signs.invents)
}

/// Contradictions, then made-up values.
#[test]
fn what_an_answer_contradicts_or_makes_up_is_told_beside_its_grade() {
    for (answer, expected) in [
        ("KX-4711.", (false, false)),
        ("kx-4711, formerly kx-1111", (false, false)),
        ("kx-4711, not kx-1111", (false, false)),
        ("kx-1111", (false, false)),
        ("kx-2222", (false, false)),
        ("kx-1111 and kx-4711", (true, false)),
        ("kx-1111 or kx-4711", (false, false)),
        ("It is not kx-4711", (true, false)),
        ("kx-9999", (false, true)),
        ("kx-4711 or kx-9999", (false, true)),
        ("kx-47110", (false, true)),
        ("kx-4711, opened on 2024-05-20 for v1.10.3", (false, false)),
        ("UNKNOWN", (false, false)),
        ("", (false, false)),
    ] {
        assert_eq!(signs(scenario(), answer), expected, "{answer}");
    }
    let forbids = || {
        let mut scenario = scenario();
        (scenario.facts[1].supersedes, scenario.facts[0].valid_to) = (None, None);
        scenario.probes[0].forbidden = vec!["kx-2222".into()];
        scenario
    };
    assert_eq!(signs(forbids(), "kx-4711 and kx-2222"), (true, false));
    assert_eq!(signs(forbids(), "kx-2222"), (false, false));
}

/// What is said later had not been said, and what a question says is nobody's invention.
#[test]
fn only_what_stood_before_the_question_was_stated() {
    let mut late = scenario();
    late.messages.last_mut().unwrap().parts = vec![Part::Text {
        text: "It went to kx-8888.".into(),
    }];
    assert_eq!(signs(late, "kx-8888"), (false, true));
    let mut asked = scenario();
    asked.probes[0].question = "Which ticket is it, if not kx-8888?".into();
    assert_eq!(signs(asked, "kx-8888"), (false, false));
}

/// A fact's number is known in another unit; a number that nobody said is not.
#[test]
fn made_up_numbers_are_told_from_converted_ones() {
    let asked = || {
        let mut builder = Builder::new("s", "g");
        let said = builder.say(Role::User, "The lease lasts 45120 ms.");
        builder.say(Role::Assistant, "Noted.");
        builder.chatter(3_000);
        builder.fact("45120 ms", &[said]).value_kind = ValueKind::Number;
        let mut scenario = builder.build();
        let asked_after = scenario.messages[scenario.messages.len() - 2].id;
        scenario.probes.push(probe(
            "p1",
            Some("fact-0"),
            "How long is the lease?",
            asked_after,
        ));
        scenario
    };
    for (answer, invents) in [
        ("45.12 seconds", false),
        ("45,120 ms", false),
        ("61734 ms", true),
        ("61,734 ms", true),
    ] {
        assert_eq!(signs(asked(), answer).1, invents, "{answer}");
    }
}

/// A cut answer may end in half a value.
#[test]
fn half_a_value_at_the_end_of_a_cut_answer_is_not_made_up() {
    let cut = Scripted::new(|_, _| {
        Ok(ChatReply {
            finish: Finish::Length,
            ..reply("The ticket is kx-471")
        })
    });
    let signs = run(scenario(), "summarize", &cut).record.answers[0]
        .signs
        .unwrap();
    assert!(!signs.invents);
    assert_eq!(
        self::signs(scenario(), "The ticket is kx-471"),
        (false, true)
    );
}

/// A bare value answers nothing, so its reader has the sentences; what contexts hold stays as it
/// is.
#[test]
fn the_oracles_reader_is_given_the_sentences_that_state_what_is_asked() {
    let requests = |scenario: Scenario| {
        let seen = Mutex::new(Vec::new());
        let model = writes(|_, request| {
            seen.lock().unwrap().push(request.to_owned());
            Ok("kx-4711".to_owned())
        });
        let record = run(scenario, "oracle", &model).record;
        drop(model);
        (record, seen.into_inner().unwrap())
    };
    let (record, seen) = requests(in_order());
    let [request] = &seen[..] else {
        panic!("{seen:?}")
    };
    let place = |text: &str| {
        request
            .find(text)
            .unwrap_or_else(|| panic!("{text} is not in {request}"))
    };
    assert!(
        place("The ticket of the billing outage is kx-4711.")
            < place("The ticket of the flood is kx-2222.")
    );
    assert!(place("You are an agent.") < place("The ticket of the billing outage"));
    assert!(record.answers[0].present);
    let mut silent = in_order();
    silent.probes.clear();
    let fates = |record: &compactometer_formats::record::Record| {
        record.observations.last().unwrap().fates.clone()
    };
    assert_eq!(fates(&record), fates(&requests(silent).0));
    // Of what is not asked for it is given nothing.
    let mut one = in_order();
    one.probes[0] = probe(
        "p1",
        Some("fact-0"),
        "Which ticket is the flood?",
        one.probes[0].asked_after,
    );
    let (_, seen) = requests(one);
    assert!(
        seen[0].contains("kx-2222") && !seen[0].contains("kx-4711"),
        "{}",
        seen[0]
    );
}

/// What does not fit the retained budget it cannot be given.
#[test]
fn the_oracles_sentences_keep_to_the_budget() {
    let mut builder = Builder::new("s", "g");
    let long = format!(
        "The ticket of the billing outage, {}is kx-4711.",
        "which is a very long story, ".repeat(120)
    );
    let early = builder.say(Role::User, "The ticket of the flood is kx-2222.");
    builder.say(Role::Assistant, "Noted.");
    let late = builder.say(Role::User, &long);
    builder.say(Role::Assistant, "Noted.");
    builder.chatter(3_000);
    builder.fact("kx-4711", &[late]);
    builder.fact("kx-2222", &[early]);
    let mut scenario = builder.build();
    let asked_after = scenario.messages[scenario.messages.len() - 2].id;
    for (id, fact, question) in [
        ("p1", "fact-0", QUESTION),
        ("p2", "fact-1", "Which ticket is the flood?"),
    ] {
        scenario
            .probes
            .push(probe(id, Some(fact), question, asked_after));
    }
    let record = run(scenario, "oracle", &says(Ok("UNKNOWN"))).record;
    let present: Vec<bool> = record.answers.iter().map(|row| row.present).collect();
    assert_eq!(present, [false, true]);
}

#[test]
fn an_answer_that_never_came_is_a_failed_probe_with_its_error() {
    let result = run(
        scenario(),
        "summarize",
        &says(Err(ChatError::Server { status: 500 })),
    );
    let AnswerRow { grade, call, .. } = &result.record.answers[0];
    let call = call.as_ref().unwrap();
    assert_eq!(
        (*grade, call.purpose, call.error.as_deref()),
        (Grade::Failed, Purpose::Probe, Some("server answered 500"))
    );
}

#[test]
fn a_probe_is_one_call_over_the_next_request_and_nothing_of_it_returns() {
    let played = |probed: bool| {
        let seen = Mutex::new(Vec::new());
        let model = writes(|_, request| {
            seen.lock().unwrap().push(request.to_owned());
            Ok("Nothing much happened, kx-4711.".to_owned())
        });
        let mut scenario = scenario();
        if !probed {
            scenario.probes.clear();
        }
        let record = run(scenario, "chained", &model).record;
        drop(model);
        (record, seen.into_inner().unwrap())
    };
    let ((with, requests), (without, silent)) = (played(true), played(false));
    assert_eq!(
        (&with.compactions, &with.turns),
        (&without.compactions, &without.turns)
    );
    let (asked, others): (Vec<_>, Vec<_>) = requests
        .iter()
        .partition(|request| request.contains(QUESTION));
    assert_eq!(others.len(), silent.len());
    assert_eq!(
        (asked.len(), with.answers.len(), without.answers.len()),
        (1, 1, 0)
    );
    assert!(
        asked[0].contains("You are an agent.") && asked[0].contains("kx-4711"),
        "the summary stands before it"
    );
    assert!(asked[0].trim_end().ends_with(QUESTION) && asked[0].contains("UNKNOWN"));
    assert_eq!(
        with.calls()
            .filter(|call| call.purpose == Purpose::Probe)
            .count(),
        0,
        "apart from the session's"
    );
}

#[test]
fn only_facts_of_the_headline_set_are_asked_for() {
    let mut near = scenario();
    near.facts[1]
        .evidence_message_ids
        .push(near.messages[near.messages.len() - 4].id);
    assert!(
        run(near, "summarize", &says(Ok("kx-4711")))
            .record
            .answers
            .is_empty(),
        "said again just before"
    );
    let mut generic = scenario();
    generic.facts[1].generic = true;
    assert!(
        run(generic, "summarize", &says(Ok("kx-4711")))
            .record
            .answers
            .is_empty(),
        "proves nothing"
    );
}

#[test]
fn what_is_retrieved_for_the_question_stands_before_it_in_a_second_request() {
    let reads = writes(|_, request| {
        let knows = request.contains("kx-4711") && request.contains(QUESTION);
        Ok(if knows { "kx-4711" } else { "UNKNOWN" }.to_owned())
    });
    let record = run(scenario(), "handoff", &reads).record;
    let told: Vec<_> = record
        .answers
        .iter()
        .map(|row| (row.prompted, row.present, row.grade))
        .collect();
    assert_eq!(
        told,
        [(false, false, Grade::Abstained), (true, true, Grade::Right)]
    );
}

/// The whole path with the mock: what the context holds is found, what it lacks is not made up.
#[test]
fn the_mock_answers_from_the_context_alone() {
    let model = by_name("mock:strong").unwrap();
    let expected = [
        ("full", true, Grade::Right),
        ("null", false, Grade::Abstained),
        ("oracle", true, Grade::Right),
    ];
    for (strategy, present, expected) in expected {
        let record = run(scenario(), strategy, &*model).record;
        assert_eq!(
            (record.answers[0].present, record.answers[0].grade),
            (present, expected),
            "{strategy}"
        );
        assert!(
            record.answers[0].call.as_ref().unwrap().usage.input > 20,
            "{strategy}"
        );
    }
}
