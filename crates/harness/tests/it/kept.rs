//! A run that survives its process: stopped in the middle of a conversation, gone on with in
//! another process from its store, with the records of a run that was never stopped.

use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use compactometer_engine::strategies;
use compactometer_engine::tokens::Encoding;
use compactometer_formats::prices::PriceRow;
use compactometer_formats::protocol::Protocol;
use compactometer_harness::entrants::select;
use compactometer_harness::plan::{Plan, PlanOptions};
use compactometer_harness::run::read_records;
use compactometer_harness::run::{RunError, RunOutcome, StorePrices, run, run_in_store};
use compactometer_store::{Checkpoints, KEEP};

use crate::common::short_suite;

const STORES: [&str; 2] = ["threads", "store.db"];
/// What a child ends with when its model does: as abrupt as a kill, nothing is flushed or dropped.
const DIED: i32 = 9;

/// A model whose process ends at a call.
struct Mortal {
    model: Box<dyn ChatModel>,
    calls: AtomicUsize,
    last: usize,
}

impl Mortal {
    fn new(last: usize) -> Self {
        Mortal {
            model: compactometer_models::by_name("mock").unwrap(),
            calls: AtomicUsize::new(0),
            last,
        }
    }
}

#[async_trait]
impl ChatModel for Mortal {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        // Questions of the measurement follow a turn's commit; it is the session's own calls that a
        // case is stopped at.
        let is_question = request
            .texts()
            .last()
            .is_some_and(|text| text.ends_with('?'));
        if !is_question && self.calls.fetch_add(1, Ordering::Relaxed) == self.last {
            std::process::exit(DIED);
        }
        self.model.complete(request).await
    }
}

fn plan(strategy: &str, protocol: Protocol) -> Plan {
    let options = PlanOptions {
        entrants: select([strategy], []).unwrap(),
        protocols: [protocol].into(),
        scale: 0.05,
        summarizer: "mock".into(),
        seed: 3,
        ..PlanOptions::default()
    };
    Plan::new(short_suite(), options, &Encoding::O200k).unwrap()
}

fn open(path: &Path) -> Checkpoints {
    if path.ends_with("store.db") {
        Checkpoints::in_sqlite(path, KEEP).unwrap()
    } else {
        Checkpoints::in_directory(path, KEEP).unwrap()
    }
}

fn go(plan: &Plan, model: &dyn ChatModel, dir: &Path, store: &str) -> Result<RunOutcome, RunError> {
    run_in_store(
        plan,
        model,
        &Encoding::O200k,
        1,
        dir,
        (&open(&dir.join(store)), StorePrices::default()),
        &|_| {},
    )
}

fn content(dir: &Path) -> [String; 2] {
    ["records.jsonl", "texts.jsonl"].map(|name| std::fs::read_to_string(dir.join(name)).unwrap())
}

#[test]
#[ignore = "the body of the processes that other tests start"]
fn as_a_child() {
    let variable = |name| std::env::var(name).unwrap();
    let model = Mortal::new(variable("KEPT_LAST").parse().unwrap());
    let protocol = if variable("KEPT_PROTOCOL") == "matched" {
        Protocol::Matched
    } else {
        Protocol::Published
    };
    let plan = plan(&variable("KEPT_STRATEGY"), protocol);
    let outcome = go(
        &plan,
        &model,
        Path::new(&variable("KEPT_DIR")),
        &variable("KEPT_STORE"),
    )
    .unwrap();
    println!(
        "\ncontinued {} after {} calls",
        outcome.continued,
        model.calls.into_inner()
    );
}

fn child(dir: &Path, store: &str, (strategy, protocol): (&str, Protocol), last: usize) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "kept::as_a_child"])
        .env("KEPT_LAST", last.to_string())
        .env("KEPT_PROTOCOL", protocol.name())
        .env("KEPT_STRATEGY", strategy)
        .env("KEPT_STORE", store)
        .env("KEPT_DIR", dir)
        .output()
        .unwrap()
}

/// Stops a case at a call and goes on with it, each in a process of its own; gives the calls that
/// the second one made, where it went on from the store.
fn stop_and_go_on(dir: &Path, store: &str, case: (&str, Protocol), last: usize) -> Option<usize> {
    let stopped = child(dir, store, case, last);
    assert_eq!(
        stopped.status.code(),
        Some(DIED),
        "{case:?}: {}",
        String::from_utf8_lossy(&stopped.stderr)
    );
    let gone_on = child(dir, store, case, usize::MAX);
    assert!(
        gone_on.status.success(),
        "{case:?}: {}",
        String::from_utf8_lossy(&gone_on.stderr)
    );
    let said = String::from_utf8_lossy(&gone_on.stdout);
    said.lines().find_map(|line| {
        line.strip_prefix("continued 1 after ")?
            .strip_suffix(" calls")?
            .parse()
            .ok()
    })
}

fn uninterrupted(case: (&str, Protocol), dir: &Path) -> usize {
    let model = Mortal::new(usize::MAX);
    run(
        &plan(case.0, case.1),
        &model,
        &Encoding::O200k,
        1,
        dir,
        &|_| {},
    )
    .unwrap();
    model.calls.into_inner()
}

#[test]
fn every_strategy_goes_on_from_each_store_to_the_same_records() {
    let asking = strategies::ALL
        .iter()
        .filter(|spec| !spec.prompt.is_empty());
    let matched = asking.map(|spec| (spec.name, Protocol::Matched));
    // It goes by what calls reported.
    let estimating = ["handoff", "handoff-faithful"].map(|name| (name, Protocol::Published));
    // It counts the turns since its last compaction.
    let counting = ("x=chained:when=6 turns", Protocol::Published);
    // Two strategies with records of their own.
    let composed = ("chained>summarize", Protocol::Matched);
    // A checkpoint that no file holds is being written.
    let beside = ("x=middleware-checkpoint:background=on", Protocol::Matched);
    for case in matched
        .chain(estimating)
        .chain([counting, composed, beside])
    {
        let whole = tempfile::tempdir().unwrap();
        let calls = uninterrupted(case, whole.path());
        assert!(calls > 2, "{case:?}: {calls} calls");
        for store in STORES {
            // A case that was stopped between a checkpoint and the compaction of the same turn
            // begins anew; the next call is then that of another turn.
            let went_on = [calls / 2, calls / 2 + 1].iter().any(|last| {
                let dir = tempfile::tempdir().unwrap();
                let made = stop_and_go_on(dir.path(), store, case, *last);
                assert_eq!(
                    content(dir.path()),
                    content(whole.path()),
                    "{case:?} in {store} at {last}"
                );
                assert!(
                    !dir.path().join("progress").exists(),
                    "nothing is left beside the journal"
                );
                made.is_some_and(|made| made < calls)
            });
            assert!(went_on, "{case:?} in {store}: {calls} calls");
        }
    }
}

#[test]
fn what_does_not_fit_together_begins_anew() {
    let case = ("chained", Protocol::Matched);
    let whole = tempfile::tempdir().unwrap();
    let calls = uninterrupted(case, whole.path());
    let progress = |dir: &Path| {
        let mut files = std::fs::read_dir(dir.join("progress")).unwrap();
        files.next().unwrap().unwrap().path()
    };
    let damages: [fn(&Path, &Path); 4] = [
        |file, _| std::fs::write(file, &std::fs::read(file).unwrap()[..500]).unwrap(),
        |file, _| {
            std::fs::write(
                file,
                std::fs::read_to_string(file)
                    .unwrap()
                    .replacen("\"round\":1", "\"round\":2", 1),
            )
            .unwrap()
        },
        |file, _| std::fs::remove_file(file).unwrap(),
        |_, dir| std::fs::remove_dir_all(dir.join("threads")).unwrap(),
    ];
    for damage in damages {
        let dir = tempfile::tempdir().unwrap();
        let stopped = child(dir.path(), "threads", case, calls - 1);
        assert_eq!(stopped.status.code(), Some(DIED));
        damage(&progress(dir.path()), dir.path());
        let model = Mortal::new(usize::MAX);
        let outcome = go(&plan(case.0, case.1), &model, dir.path(), "threads").unwrap();
        assert_eq!((outcome.continued, model.calls.into_inner()), (0, calls));
        assert_eq!(content(dir.path()), content(whole.path()));
    }
}

#[test]
fn a_store_that_refuses_ends_the_run_and_writes_no_record_of_it() {
    let case = ("chained", Protocol::Matched);
    let dir = tempfile::tempdir().unwrap();
    let plan = plan(case.0, case.1);
    // A file is where the thread's folder belongs.
    let store = open(&dir.path().join("threads"));
    let case = &plan.cases[0];
    let name = format!(
        "chained%3a{}%3a{}",
        case.prepared.scenario.id,
        &case.key[..12]
    );
    std::fs::write(dir.path().join("threads").join(name), "in the way").unwrap();
    let model = Mortal::new(usize::MAX);
    let ended = run_in_store(
        &plan,
        &model,
        &Encoding::O200k,
        1,
        dir.path(),
        (&store, StorePrices::default()),
        &|_| {},
    );
    let message = ended
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(
        message.contains("threads") && message.contains("the same command resumes"),
        "{message}"
    );
    assert_eq!(
        std::fs::read_to_string(dir.path().join("records.jsonl")).unwrap(),
        ""
    );
}

/// A model that runs the same case in the same store with another run at its third call.
struct Rival<'r> {
    own: Mortal,
    plan: &'r Plan,
    dir: &'r Path,
    store: &'r Path,
}

#[async_trait]
impl ChatModel for Rival<'_> {
    fn name(&self) -> &str {
        self.own.name()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        if self.own.calls.load(Ordering::Relaxed) == 2 {
            let other = Mortal::new(usize::MAX);
            run_in_store(
                self.plan,
                &other,
                &Encoding::O200k,
                1,
                self.dir,
                (&open(self.store), StorePrices::default()),
                &|_| {},
            )
            .unwrap();
        }
        self.own.complete(request).await
    }
}

#[test]
fn of_two_runs_on_one_store_the_loser_says_what_to_do() {
    let plan = plan("chained", Protocol::Matched);
    for store in STORES {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let own = Mortal::new(usize::MAX);
        let model = Rival {
            own,
            plan: &plan,
            dir: other.path(),
            store: &dir.path().join(store),
        };
        let ended = go(&plan, &model, dir.path(), store);
        let message = ended
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(
            message
                .starts_with("another run of the same replays uses this store (thread `chained:"),
            "{message}"
        );
        assert!(
            message.contains("wait for it to end, or choose another `--store`"),
            "{message}"
        );
        assert_eq!(
            content(other.path())[0].lines().count(),
            1,
            "the other run is whole"
        );
    }
}

#[test]
fn what_stands_in_a_view_adds_up() {
    let entrants = strategies::ALL
        .iter()
        .map(|spec| spec.name)
        .chain(["oracle", "random-drop"]);
    for name in entrants {
        let dir = tempfile::tempdir().unwrap();
        uninterrupted((name, Protocol::Matched), dir.path());
        let record = read_records(dir.path()).unwrap().remove(0);
        let storage = record.storage.unwrap();
        let calls = record.calls().count();
        assert_eq!(
            storage.records > 0 && storage.bytes > 100,
            calls > 0,
            "{name}: {storage:?}"
        );
        assert!(
            storage.fields_populated <= storage.fields_supported,
            "{name}: {storage:?}"
        );
        assert_eq!(
            storage.fewest_populated.is_some(),
            name.contains("checkpoint"),
            "{name}: {storage:?}"
        );
        let applied = record
            .compactions
            .iter()
            .filter_map(|row| Some((&row.event, row.view.as_ref()?)));
        let applied = applied.collect::<Vec<_>>();
        assert!(applied.len() > 1, "{name}");
        for (event, view) in applied {
            let total = view.system
                + view.checkpoint
                + view.summarized()
                + view.spoken
                + view.ledger
                + view.filler;
            assert_eq!(total, event.tokens_after, "{name}: {view:?}");
            assert_eq!(view.summaries.is_empty(), calls == 0, "{name}: {view:?}");
            assert_eq!(
                view.checkpoint > 0,
                name.contains("checkpoint") || view.checkpoint > 0 && name == "progressive"
            );
        }
    }
}

#[test]
fn each_record_costs_its_models_prices() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("threads");
    let row = |input: f64| PriceRow {
        input,
        output: 2.0 * input,
        ..PriceRow::default()
    };
    let prices = StorePrices {
        summarizer: Some(row(3.0)),
        checkpointer: Some(row(5.0)),
    };
    let model = compactometer_models::by_name("mock").unwrap();
    let plan = plan("middleware-checkpoint", Protocol::Matched);
    run_in_store(
        &plan,
        &*model,
        &Encoding::O200k,
        1,
        dir.path(),
        (&open(&store), prices),
        &|_| {},
    )
    .unwrap();
    let (mut summaries, mut checkpoints) = (0, 0);
    for thread in std::fs::read_dir(&store).unwrap() {
        // Locks are beside the threads.
        let Ok(files) = std::fs::read_dir(thread.unwrap().path().join("checkpoints")) else {
            continue;
        };
        for file in files {
            let file = file.unwrap();
            if !file
                .file_name()
                .to_str()
                .unwrap()
                .starts_with("checkpoint_")
            {
                continue;
            }
            let commit: serde_json::Value =
                serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap();
            let Some(cost) = commit["metadata"]["cost_usd"].as_f64() else {
                continue;
            };
            let record = &commit["records"][0];
            let used = |part: &str| record["usage"][part].as_f64().unwrap_or_default();
            let price = if record["kind"] == "summary" {
                3.0
            } else {
                5.0
            };
            *(if price == 3.0 {
                &mut summaries
            } else {
                &mut checkpoints
            }) += 1;
            let expected = (used("input") + 2.0 * used("output")) * price / 1e6;
            assert!(
                (cost - expected).abs() < 1e-9,
                "{cost} {expected}: {record}"
            );
        }
    }
    assert!(
        summaries > 0 && checkpoints > 0,
        "{summaries} {checkpoints}"
    );
}
