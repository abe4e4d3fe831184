//! What a play makes of an agent that behaves, and of one that does not.

use std::collections::BTreeMap;
use std::sync::Arc;

use compactometer_agents::{AgentRow, Definition};
use compactometer_engine::event::Outcome;
use compactometer_engine::message::{MessageId, Part, Role};
use compactometer_engine::tokens::Encoding;
use compactometer_formats::fate::Fate;
use compactometer_formats::record::{Family, Record};
use compactometer_formats::scenario::Scenario;
use compactometer_harness::plan::{Entrant, EntrantKind, Plan, PlanOptions};
use compactometer_harness::run::run_case;
use compactometer_testing::model::writes;
use compactometer_testing::scenario::{Builder, suite};

use crate::agent::ASKS;

/// A user states `aa-11` and asks for two results, which hold `bb-22` and `cc-33`; then the user
/// goes on in turns of their own.
fn conversation() -> Scenario {
    let mut builder = Builder::new("s", "g");
    builder.say(Role::System, "You are an agent.");
    let first = builder.say(Role::User, "Start with aa-11.");
    let one = builder.call(
        "{\"a\": \"x\"}",
        "The first result has the value bb-22 in it.",
    );
    let two = builder.call("{\"a\": \"y\"}", "The second result has cc-33.");
    builder.say(Role::Assistant, "Done.");
    builder.say(Role::User, "Now go on.");
    builder.say(Role::Assistant, "I go on.");
    builder.say(Role::User, "And once more.");
    builder.say(Role::Assistant, "That was it.");
    builder.fact("aa-11", &[first]);
    builder.fact("bb-22", &[MessageId(one.0 + 1)]);
    builder.fact("cc-33", &[MessageId(two.0 + 1)]);
    builder.build()
}

fn definition(fault: &str) -> Definition {
    let program = std::env::current_exe().unwrap();
    let turn = [
        program.to_str().unwrap(),
        "--exact",
        "agent::scripted_agent",
        "--nocapture",
    ];
    let text = format!(
        "name = \"scripted\"\ntitle = \"Scripted\"\nversion = \"1\"\nlicence = \"none\"\n\
         model = \"mock\"\ntools = \"program\"\npatience = 3\ninstall = {{}}\n\
         turn = {turn:?}\nnext_turn = {turn:?}\n\
         environment = {{ COMPACTOMETER_PLAY = \"{{address}}\", FAULT = \"{fault}\" }}\n\
         [[summary]]\nfield = \"last\"\nholds = \"{ASKS}\"\n"
    );
    Definition::parse(&text).unwrap()
}

fn record(scenario: Scenario, fault: &str, window: u32) -> Record {
    let cache = tempfile::tempdir().unwrap();
    let definition = definition(fault);
    std::fs::create_dir_all(definition.folder(cache.path())).unwrap();
    let row = AgentRow::new(definition, cache.path().to_owned(), None).unwrap();
    let entrant = Entrant {
        name: "scripted".into(),
        family: Family::Agent,
        entry: EntrantKind::Custom(Arc::new(row)),
        addition: None,
        absence: None,
        trigger: None,
        reference: None,
    };
    let options = PlanOptions {
        entrants: vec![entrant],
        window: Some(window),
        summarizer: "scripted".into(),
        seed: 1,
        ..PlanOptions::default()
    };
    let plan = Plan::new(suite(vec![scenario]), options, &Encoding::O200k).unwrap();
    let model = writes(|_, _| Ok("They began with aa-11.".to_owned()));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime
        .block_on(run_case(&plan.cases[0], &model, &Encoding::O200k))
        .record
}

fn played(fault: &str) -> Record {
    record(conversation(), fault, 4_000)
}

fn counted(record: &Record) -> BTreeMap<&str, u64> {
    record
        .counted
        .iter()
        .map(|(name, number)| (name.as_str(), *number))
        .collect()
}

/// The words with which the play broke off.
fn failure(record: &Record) -> String {
    let outcomes = record.compactions.iter().map(|row| &row.event.outcome);
    let mut failed = outcomes.filter_map(|outcome| match outcome {
        Outcome::Failed(why) => Some(why.to_string()),
        _ => None,
    });
    failed.next_back().unwrap_or_default()
}

#[test]
fn an_agent_that_behaves_takes_every_turn_and_its_compaction_is_traced() {
    let record = played("none");
    let counted = counted(&record);
    assert_eq!(failure(&record), "");
    assert_eq!((counted["turns"], counted["turns_played"]), (5, 5));
    assert_eq!((counted["results"], counted["results_whole"]), (2, 2));
    let [compaction] = &record.compactions[..] else {
        panic!("{:?}", record.compactions)
    };
    assert_eq!(compaction.calls.len(), 1);
    let fates = &record.observations.last().unwrap().fates.0;
    assert_eq!(fates[0], Fate::Carried);
    assert!(
        !fates[1].is_present() && !fates[2].is_present(),
        "{fates:?}"
    );
    // All of them were shown to the summarizer, and it left two out.
    assert_eq!((compaction.stages.reached, compaction.stages.left), (3, 3));
}

#[test]
fn two_messages_of_the_agent_in_a_row_are_one_turn() {
    let mut scenario = conversation();
    let last = scenario.messages.pop().unwrap();
    let mut more = last.clone();
    more.id = MessageId(last.id.0 + 1);
    scenario.messages.extend([last, more]);
    let record = record(scenario, "none", 4_000);
    let counted = counted(&record);
    assert_eq!((counted["turns"], counted["turns_played"]), (5, 5));
}

#[test]
fn what_the_agent_said_first_is_said_with_the_first_words_of_the_user() {
    let mut builder = Builder::new("s", "g");
    let greeting = builder.say(Role::Assistant, "Hello, the plan is dd-44.");
    builder.say(Role::User, "Then go on.");
    builder.say(Role::Assistant, "I do.");
    builder.say(Role::User, "And once more.");
    builder.say(Role::Assistant, "That was it.");
    builder.fact("dd-44", &[greeting]);
    let record = record(builder.build(), "none", 4_000);
    assert_eq!(failure(&record), "");
    let counted = counted(&record);
    assert_eq!((counted["turns"], counted["turns_played"]), (2, 2));
    assert!(
        record
            .observations
            .iter()
            .all(|seen| seen.fates.0[0].is_present())
    );
}

#[test]
fn two_plays_are_equal() {
    assert_eq!(played("none"), played("none"));
}

#[test]
fn a_history_that_shrinks_without_a_request_is_a_compaction_without_a_call() {
    let record = played("deletes");
    let unasked = record
        .compactions
        .iter()
        .filter(|row| row.calls.is_empty())
        .count();
    assert_eq!((record.compactions.len(), unasked), (1, 1));
    let fates = &record.observations.last().unwrap().fates.0;
    assert!(fates.iter().all(|fate| !fate.is_present()), "{fates:?}");
    assert_eq!(record.compactions[0].stages.reached, 0);
}

#[test]
fn a_result_that_is_cut_is_no_longer_held() {
    let record = played("cuts");
    let counted = counted(&record);
    assert_eq!((counted["results_whole"], counted["results_cut"]), (0, 2));
    let fates = &record.observations.first().unwrap().fates.0;
    assert!(!fates[1].is_present(), "{fates:?}");
}

#[test]
fn an_agent_that_ignores_its_tools_holds_none_of_what_they_answered() {
    let record = played("ignores tools");
    assert_eq!(counted(&record)["results_whole"], 0);
    let fates = &record.observations.first().unwrap().fates.0;
    assert!(!fates[1].is_present(), "{fates:?}");
}

#[test]
fn a_repeated_request_gets_the_same_answer_and_moves_nothing() {
    // The last request is never answered, since the conversation ends there.
    let counted = played("repeats").counted;
    assert_eq!(
        (counted["turns_played"], counted["requests_repeated"]),
        (5, 4)
    );
}

#[test]
fn a_request_that_nobody_knows_is_refused_and_the_play_goes_on() {
    let counted = played("asks aside").counted;
    assert_eq!(
        (counted["turns_played"], counted["requests_refused"]),
        (5, 5)
    );
    let counted = played("sends no chat").counted;
    assert_eq!(counted["turns_played"], 5);
    let counted = played("speaks nothing").counted;
    assert_eq!(counted["turns_played"], 5);
}

#[test]
fn an_agent_that_breaks_off_is_a_failed_compaction_with_its_last_words() {
    for (fault, words) in [
        ("crashes", "it ended with code 3"),
        (
            "ends early",
            "it ended the user's turn before its recorded end",
        ),
        ("hangs", "it was silent for 3 seconds"),
    ] {
        let record = played(fault);
        let why = failure(&record);
        assert!(why.contains(words), "{fault}: {why}");
        assert!(why.contains("it took 0 turns"), "{fault}: {why}");
        assert_eq!(counted(&record)["turns_played"], 0, "{fault}");
    }
}

#[test]
fn a_request_over_the_window_is_refused_with_the_words_of_a_provider() {
    let mut scenario = conversation();
    if let Some(Part::Text { text }) = scenario.messages[1].parts.first_mut() {
        text.push_str(&" word".repeat(3_000));
    }
    let record = record(scenario, "none", 2_000);
    assert!(counted(&record)["requests_over_window"] > 0);
    assert!(
        failure(&record).contains("requests were over the window"),
        "{}",
        failure(&record)
    );
}

#[test]
fn an_agent_that_prints_without_end_is_read_to_its_end() {
    assert_eq!(counted(&played("prints"))["turns_played"], 5);
}

#[cfg(target_os = "linux")]
#[test]
fn what_an_agent_leaves_running_is_ended() {
    assert_eq!(counted(&played("leaves a daemon"))["turns_played"], 5);
    let is_left = || {
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        let mut lines = processes.map(|entry| std::fs::read(entry.path().join("cmdline")));
        lines.any(|line| line.is_ok_and(|line| line.ends_with(b"sleep\x004711\x00")))
    };
    // One that has just been started may be there only at the second look.
    let pause = || std::thread::sleep(std::time::Duration::from_millis(300));
    let started = std::time::Instant::now();
    while started.elapsed().as_secs() < 20
        && (is_left() || {
            pause();
            is_left()
        })
    {
        pause();
    }
    assert!(!is_left());
}
