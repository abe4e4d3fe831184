//! A judge beside the grader: what it is shown, what becomes of its words, and what stays as it was
//! without it.

use std::path::Path;
use std::sync::Mutex;

use compactometer_engine::message::Role;
use compactometer_engine::meter::Purpose;
use compactometer_engine::model::{ChatError, ChatModel};
use compactometer_engine::tokens::Encoding;
use compactometer_formats::answer::{AnswerVerdict, Grade};
use compactometer_formats::record::Record;
use compactometer_harness::entrants::select;
use compactometer_harness::plan::{Plan, PlanOptions};
use compactometer_harness::run::read_records;
use compactometer_harness::run::{Models, RunError, run};
use compactometer_testing::model::writes;
use compactometer_testing::scenario::{Builder, probe, suite};

const QUESTION: &str = "Which ticket is the billing outage?";

fn plan(judge: Option<&str>) -> Plan {
    let mut builder = Builder::new("s", "g");
    builder.say(Role::System, "You are an agent.");
    let stated = builder.say(Role::User, "The ticket of the billing outage is kx-4711.");
    builder.say(Role::Assistant, "Noted.");
    builder.chatter(3_000);
    builder.fact("kx-4711", &[stated]).foil_values = vec!["kx-9999".into()];
    let mut scenario = builder.build();
    let asked_after = scenario.messages[scenario.messages.len() - 2].id;
    let probe = |id: &str, facts: &[&str]| probe(id, facts, QUESTION, asked_after);
    scenario.probes = vec![probe("p1", &["fact-0"]), probe("p2", &[])];
    let options = PlanOptions {
        entrants: select(["summarize"], []).unwrap(),
        window: Some(2_000),
        summarizer: "scripted".into(),
        judge: judge.map(str::to_owned),
        seed: 1,
        ..PlanOptions::default()
    };
    Plan::new(suite(vec![scenario]), options, &Encoding::O200k).unwrap()
}

/// Gives the foil to every question.
fn reader() -> impl ChatModel {
    writes(|_, request| {
        let is_asked = request.trim_end().ends_with('?');
        Ok(if is_asked {
            "It is kx-9999."
        } else {
            "Nothing much happened."
        }
        .to_owned())
    })
}

fn records(
    plan: &Plan,
    judge: Option<&dyn ChatModel>,
    dir: &Path,
) -> Result<Vec<Record>, RunError> {
    let model = reader();
    let models = Models {
        target: &model,
        summarizer: None,
        checkpointer: None,
        judge,
    };
    run(plan, models, &Encoding::O200k, 1, dir, &|_| {})?;
    Ok(read_records(dir)?)
}

/// The records under a judge that says one thing, and what it was asked.
fn verdicts(words: Result<&'static str, ChatError>) -> (Vec<Record>, Vec<String>) {
    let asked = Mutex::new(Vec::new());
    let judge = writes(|_, request| {
        asked.lock().unwrap().push(request.to_owned());
        words.clone().map(str::to_owned)
    });
    let dir = tempfile::tempdir().unwrap();
    let records = records(&plan(Some("judge")), Some(&judge), dir.path()).unwrap();
    drop(judge);
    (records, asked.into_inner().unwrap())
}

#[test]
fn a_judge_sees_question_right_and_given_answer_and_nothing_else() {
    let (records, asked) = verdicts(Ok("CORRECT"));
    let [first, second] = &asked[..] else {
        panic!("{asked:?}")
    };
    for line in [
        r#"Question: "Which ticket is the billing outage?""#,
        r#"Right answer: "kx-4711""#,
        r#"Given answer: "It is kx-9999.""#,
    ] {
        assert!(first.contains(line), "{line} in {first}");
    }
    assert!(
        second.contains(r#"Right answer: "It is not known"#),
        "{second}"
    );
    assert!(
        asked
            .iter()
            .all(|text| !text.contains("You are an agent") && !text.contains("step 1"))
    );
    let answers = &records[0].answers;
    for row in answers {
        let judgement = row.judged.as_ref().unwrap();
        assert_eq!(
            (judgement.verdict, row.grade),
            (AnswerVerdict::Accepted, Grade::WrongValue),
            "a false accept changes no grade"
        );
        assert_eq!(
            (judgement.call.purpose, judgement.call.usage.input),
            (Purpose::Judge, 100)
        );
    }
    assert_eq!(
        (
            records[0].judge_calls().count(),
            records[0].probe_calls().count()
        ),
        (2, 2),
        "each with its purpose"
    );
}

#[test]
fn what_is_no_verdict_and_a_failed_call_are_kept_as_such() {
    for words in [
        Ok("I think it is CORRECT"),
        Err(ChatError::Server { status: 500 }),
    ] {
        let (records, _) = verdicts(words);
        let judgements = records[0]
            .answers
            .iter()
            .map(|row| row.judged.as_ref().unwrap().verdict)
            .collect::<Vec<_>>();
        assert_eq!(judgements, [AnswerVerdict::Unreadable; 2]);
    }
}

#[test]
fn without_a_judge_records_are_the_bytes_that_they_were_and_a_judged_case_is_another() {
    let dir = tempfile::tempdir().unwrap();
    let plain = records(&plan(None), None, dir.path()).unwrap();
    let line = plain[0].to_line().unwrap();
    assert!(!line.contains("judged"), "{line}");
    let (mut judged, _) = verdicts(Ok("INCORRECT"));
    assert_ne!(judged[0].key, plain[0].key);
    judged[0].key.clone_from(&plain[0].key);
    judged[0]
        .answers
        .iter_mut()
        .for_each(|row| row.judged = None);
    assert_eq!(judged, plain, "the judge changes nothing else");
}

#[test]
fn a_judge_that_cannot_be_asked_ends_the_run_and_what_it_did_not_judge_is_not_recorded() {
    let gone = writes(|_, _| {
        Err(ChatError::Unavailable {
            why: "the judge is down".into(),
            later: true,
        })
    });
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(Some("judge"));
    let ended = records(&plan, Some(&gone), dir.path());
    assert!(
        matches!(&ended, Err(RunError::Model(stopped)) if stopped.later),
        "{:?}",
        ended.map(|records| records.len())
    );
    assert_eq!(
        std::fs::read_to_string(dir.path().join("records.jsonl")).unwrap(),
        ""
    );
    let judge = writes(|_, _| Ok("CORRECT".to_owned()));
    assert_eq!(
        records(&plan, Some(&judge), dir.path()).unwrap().len(),
        1,
        "the same command goes on"
    );
}
