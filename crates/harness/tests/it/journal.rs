//! Runs are resumable and do not depend on threads.

use std::path::Path;

use compactometer_engine::message::Role;
use compactometer_engine::model::ChatModel;
use compactometer_engine::tokens::Encoding;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::Record;
use compactometer_harness::entrants::select;
use compactometer_harness::plan::{Plan, PlanError, PlanOptions};
use compactometer_harness::run::{Journal, Lookup, read_records, read_texts};
use compactometer_harness::run::{RunError, run};
use compactometer_testing::model::writes;
use compactometer_testing::scenario::{Builder, suite};

fn plan(seed: u64, window: u32) -> Result<Plan, PlanError> {
    plan_of(&[Protocol::Matched], seed, window)
}

fn plan_of(protocols: &[Protocol], seed: u64, window: u32) -> Result<Plan, PlanError> {
    let scenarios = (0..4).map(|number| {
        let mut builder = Builder::new(&format!("s{number}"), &format!("g{number}"));
        builder.say(Role::System, "You are an agent.");
        let stated = builder.say(Role::User, &format!("The ticket is kx-{number}711."));
        builder.say(Role::Assistant, "I see.");
        builder.chatter(3_000);
        builder.fact(&format!("kx-{number}711"), &[stated]);
        builder.build()
    });
    let entrants = select(["summarize", "null", "random-drop"], []).unwrap();
    let options = PlanOptions {
        entrants,
        window: Some(window),
        protocols: protocols.iter().copied().collect(),
        scale: 0.1,
        summarizer: "scripted".into(),
        seed,
        ..PlanOptions::default()
    };
    Plan::new(suite(scenarios.collect()), options, &Encoding::O200k)
}

fn model() -> impl ChatModel {
    writes(|_, request| Ok(format!("{} characters were said.", request.len())))
}

fn run_in(dir: &Path, jobs: usize) -> usize {
    run(
        &plan(1, 2_000).unwrap(),
        &model(),
        &Encoding::O200k,
        jobs,
        dir,
        &|_| {},
    )
    .unwrap()
    .resumed
}

fn content(dir: &Path) -> (String, String) {
    let read = |name| std::fs::read_to_string(dir.join(name)).unwrap();
    (read("records.jsonl"), read("texts.jsonl"))
}

#[test]
fn a_stopped_run_resumes_to_the_same_bytes() {
    let whole = tempfile::tempdir().unwrap();
    assert_eq!(run_in(whole.path(), 1), 0);
    let (records, texts) = content(whole.path());
    assert_eq!(records.lines().count(), 12);

    // Cut at every kind of place: between lines, inside a line, and with the texts ahead of the
    // records.
    for kept in [
        0,
        1,
        records.lines().next().unwrap().len() + 1,
        records.len() / 2,
        records.len() - 1,
    ] {
        let torn = tempfile::tempdir().unwrap();
        std::fs::write(
            torn.path().join("records.jsonl"),
            &records.as_bytes()[..kept],
        )
        .unwrap();
        // Texts are written before the record that names them, so only those of the case under way
        // can be torn.
        let texts_kept = if kept == 0 {
            texts.len() / 3
        } else {
            texts.len()
        };
        std::fs::write(
            torn.path().join("texts.jsonl"),
            &texts.as_bytes()[..texts_kept],
        )
        .unwrap();
        let whole_lines = records.as_bytes()[..kept]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        assert_eq!(run_in(torn.path(), 3), whole_lines);
        assert_eq!(
            content(torn.path()),
            (records.clone(), texts.clone()),
            "cut at {kept}"
        );
    }
    assert_eq!(run_in(whole.path(), 1), 12);
    assert_eq!(content(whole.path()), (records, texts));
}

#[test]
fn threads_do_not_change_a_byte() {
    let (one, many) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run_in(one.path(), 1);
    run_in(many.path(), 4);
    assert_eq!(content(one.path()), content(many.path()));
}

#[test]
fn the_records_of_two_protocols_are_those_of_each_in_turn() {
    const BOTH: [Protocol; 2] = [Protocol::Matched, Protocol::Published];
    let records_of = |protocols: &[Protocol], jobs| {
        let dir = tempfile::tempdir().unwrap();
        let plan = plan_of(protocols, 1, 2_000).unwrap();
        run(&plan, &model(), &Encoding::O200k, jobs, dir.path(), &|_| {}).unwrap();
        (content(dir.path()).0, dir)
    };
    let each = BOTH.map(|protocol| records_of(&[protocol], 1).0);
    let (both, dir) = records_of(&BOTH, 4);
    assert_eq!(both, each.concat());
    assert_ne!(each[0], each[1]);
    // The order in which protocols are asked for does not matter, nor how often.
    let backwards = [BOTH[1], BOTH[0], BOTH[1]];
    assert_eq!(records_of(&backwards, 2).0, both);

    let kept = each[0].len() + each[1].lines().next().unwrap().len() + 20;
    std::fs::write(dir.path().join("records.jsonl"), &both.as_bytes()[..kept]).unwrap();
    let plan = plan_of(&BOTH, 1, 2_000).unwrap();
    let resumed = run(&plan, &model(), &Encoding::O200k, 2, dir.path(), &|_| {}).unwrap();
    // What a run tells of its cases is what their records say, of those that were there before and
    // of those that ran now.
    let rounds = read_records(dir.path())
        .unwrap()
        .iter()
        .map(Record::rounds)
        .collect::<Vec<_>>();
    assert_eq!((resumed.resumed, rounds.len()), (13, 24));
    assert!(rounds.iter().any(|rounds| *rounds > 0));
    assert_eq!(resumed.rounds, rounds);
    assert_eq!(content(dir.path()).0, both);
}

#[test]
fn every_text_that_a_record_names_is_there() {
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path(), 2);
    let (records, texts) = (
        read_records(dir.path()).unwrap(),
        read_texts(dir.path()).unwrap(),
    );
    let rows = records.iter().flat_map(|record| &record.compactions);
    let named = rows.flat_map(|row| {
        row.inserted
            .iter()
            .chain(row.calls.iter().filter_map(|call| call.reply.as_ref()))
    });
    let named = named.collect::<Vec<_>>();
    assert!(!named.is_empty() && named.iter().all(|hash| texts.contains_key(*hash)));
}

#[test]
fn single_records_are_found_with_what_they_wrote() {
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path(), 2);
    let (records, texts) = (
        read_records(dir.path()).unwrap(),
        read_texts(dir.path()).unwrap(),
    );
    let lookup = Lookup::open(dir.path()).unwrap();
    let mut written = 0;
    // In any order.
    for record in records.iter().rev() {
        let (found, named) = lookup.case(&record.key).unwrap().unwrap();
        assert_eq!(
            (&found.case, &found.observations),
            (&record.case, &record.observations)
        );
        let inserted = record
            .compactions
            .iter()
            .flat_map(|row| &row.inserted)
            .collect::<Vec<_>>();
        assert!(inserted.iter().all(|hash| named.contains_key(*hash)));
        assert!(named.iter().all(|(hash, text)| texts[hash] == *text));
        written += inserted.len();
    }
    assert!(written > 0);
    assert!(lookup.case("no such key").unwrap().is_none());

    // A line that was changed since is refused, and a text that is missing.
    let (lines, kept) = content(dir.path());
    std::fs::write(
        dir.path().join("records.jsonl"),
        lines.replacen("\"seed\":", "\"seed\":1", 1),
    )
    .unwrap();
    let told = Lookup::open(dir.path())
        .unwrap()
        .case(&records[0].key)
        .unwrap_err()
        .to_string();
    assert!(
        told.contains("line 1") && told.contains("checksum"),
        "{told}"
    );
    std::fs::write(dir.path().join("records.jsonl"), &lines).unwrap();
    std::fs::write(dir.path().join("texts.jsonl"), kept.lines().next().unwrap()).unwrap();
    let lookup = Lookup::open(dir.path()).unwrap();
    let found = records.iter().map(|record| lookup.case(&record.key));
    assert!(
        found
            .filter_map(Result::err)
            .any(|error| error.to_string().contains("lacks the text"))
    );
    std::fs::write(
        dir.path().join("texts.jsonl"),
        kept.replace("\"text\":\"", "\"text\":\"no "),
    )
    .unwrap();
    let lookup = Lookup::open(dir.path()).unwrap();
    let found = records.iter().map(|record| lookup.case(&record.key));
    assert!(
        found
            .filter_map(Result::err)
            .any(|error| error.to_string().contains("does not match its hash"))
    );
}

#[test]
fn a_folder_that_another_run_writes_to_is_refused_and_stays_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path(), 1);
    let (journal, _) = Journal::open(dir.path()).unwrap();
    // What the other run has written so far of a line.
    let (records, texts) = content(dir.path());
    std::fs::write(
        dir.path().join("texts.jsonl"),
        format!("{texts}{{\"hash\":"),
    )
    .unwrap();
    let other = || {
        run(
            &plan(1, 2_000).unwrap(),
            &model(),
            &Encoding::O200k,
            1,
            dir.path(),
            &|_| {},
        )
    };
    let message = other()
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(
        message.contains("another run") && message.contains("`--out`"),
        "{message}"
    );
    assert_eq!(
        content(dir.path()),
        (records.clone(), format!("{texts}{{\"hash\":"))
    );
    drop(journal);
    assert_eq!(other().unwrap().resumed, 12);
    assert_eq!(content(dir.path()), (records, texts));
}

#[test]
fn a_folder_that_is_removed_or_replaced_ends_the_run() {
    for replaced in [false, true] {
        let parent = tempfile::tempdir().unwrap();
        let (dir, moved) = (parent.path().join("run"), parent.path().join("moved"));
        std::fs::create_dir(&dir).unwrap();
        let finished = std::sync::Mutex::new(Vec::new());
        let model = writes(|number, request| {
            if number == 4 {
                std::fs::rename(&dir, &moved).unwrap();
                if replaced {
                    std::fs::create_dir(&dir).unwrap();
                    for name in ["records.jsonl", "texts.jsonl"] {
                        std::fs::copy(moved.join(name), dir.join(name)).unwrap();
                    }
                }
            }
            Ok(format!("{} characters were said.", request.len()))
        });
        let told = |number| finished.lock().unwrap().push(number);
        let ended = run(
            &plan(1, 2_000).unwrap(),
            &model,
            &Encoding::O200k,
            1,
            &dir,
            &told,
        );
        let message = ended
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        let place = format!("`{}` was removed or replaced", dir.display());
        assert!(
            message.contains(&place) && message.contains("move it back"),
            "{message}"
        );
        // Cases that were reported as kept are in the moved folder.
        let kept = finished.into_inner().unwrap().into_iter().max().unwrap();
        assert!(
            kept < 12 && read_records(&moved).unwrap().len() >= kept,
            "{kept}"
        );
    }
}

#[test]
fn an_edited_record_and_a_foreign_folder_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path(), 2);
    let other = run(
        &plan(2, 2_000).unwrap(),
        &model(),
        &Encoding::O200k,
        1,
        dir.path(),
        &|_| {},
    );
    assert!(matches!(other, Err(RunError::Foreign { .. })));

    let (records, _) = content(dir.path());
    std::fs::write(
        dir.path().join("records.jsonl"),
        records.replacen("\"round\":1", "\"round\":2", 1),
    )
    .unwrap();
    let edited = run(
        &plan(1, 2_000).unwrap(),
        &model(),
        &Encoding::O200k,
        1,
        dir.path(),
        &|_| {},
    );
    let message = edited
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(
        message.contains("records.jsonl`, line ") && message.contains("checksum"),
        "{message}"
    );
}

#[test]
fn texts_that_are_missing_or_changed_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path(), 1);
    let (_, texts) = content(dir.path());
    let again = || {
        run(
            &plan(1, 2_000).unwrap(),
            &model(),
            &Encoding::O200k,
            1,
            dir.path(),
            &|_| {},
        )
    };
    for damaged in [String::new(), texts.replacen("characters", "letters", 1)] {
        std::fs::write(dir.path().join("texts.jsonl"), damaged).unwrap();
        let message = again()
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(
            message.contains("texts.jsonl`") && message.contains("`--out`"),
            "{message}"
        );
    }
}

#[test]
fn an_infeasible_window_names_the_smallest() {
    let error = plan(1, 10)
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    let smallest = error
        .rsplit("--window ")
        .next()
        .and_then(|rest| rest.trim_end_matches('`').parse::<u32>().ok());
    let smallest = smallest.expect("names a window");
    assert!(plan(1, smallest).is_ok(), "{error}");
    assert!(plan(1, smallest - 1).is_err(), "{error}");
}
