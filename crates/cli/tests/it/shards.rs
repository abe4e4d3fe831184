//! A run in parts: what is merged is what one process would have written, whatever happened on the
//! way.

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{serve_and, succeeds};

const SUITE: [&str; 5] = [
    "smoke",
    "--sample",
    "4",
    "-s",
    "null,recent-talk,summarize,chained",
];

fn compactometer(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("compactometer"));
    command.current_dir(dir).args(args);
    command
}

fn ran(dir: &Path, args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = compactometer(dir, args).output().unwrap();
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

/// A plan in `plan`, and the same run by one process in `one`.
fn planned(dir: &Path, shards: &str) {
    planned_of(dir, &SUITE, shards);
}

fn planned_of(dir: &Path, suite: &[&str], shards: &str) {
    let plan = [&["plan"], suite, &["--shards", shards, "--out", "plan"]];
    succeeds(dir, &plan.concat());
    succeeds(dir, &[&["run"], suite, &["--out", "one"]].concat());
}

fn status(dir: &Path) -> Value {
    serde_json::from_str(&succeeds(dir, &["status", "plan", "--json"])).unwrap()
}

/// Merges into `merged`, which must be what one process wrote.
fn merges_to_the_same(dir: &Path) {
    succeeds(dir, &["merge", "plan", "--out", "merged"]);
    for file in ["records.jsonl", "texts.jsonl"] {
        let [one, merged] =
            ["one", "merged"].map(|run| fs::read(dir.join(run).join(file)).unwrap());
        assert!(one == merged, "{file} differs");
    }
    let timed = |run: &str| {
        let timings: Value =
            serde_json::from_slice(&fs::read(dir.join(run).join("timings.json")).unwrap()).unwrap();
        timings["cases"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    let (mut one, mut merged) = (timed("one"), timed("merged"));
    one.sort();
    merged.sort();
    assert_eq!(one, merged);
    let left = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(left.into_iter().all(|name| !name.ends_with(".merging")));
}

/// Starts a shard and waits until it has kept a case and not all.
fn begun(dir: &Path, shard: &str) -> Child {
    let command = &["run", "--shard", shard, "plan", "--jobs", "1"];
    let mut child = compactometer(dir, command)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let attempts = dir.join("plan/attempts");
    let lines = || {
        let files = fs::read_dir(&attempts)
            .unwrap()
            .map(|entry| fs::read(entry.unwrap().path()).unwrap());
        files
            .map(|bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
            .max()
            .unwrap_or_default()
    };
    while lines() < 2 {
        assert!(
            begun.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none(),
            "it kept no case"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

#[test]
fn shards_merge_to_what_one_process_writes() {
    for shards in ["3", "slice:5", "hash:12"] {
        let dir = tempfile::tempdir().unwrap();
        planned(dir.path(), shards);
        let count = status(dir.path())["shards"].as_u64().unwrap();
        // From the last to the first, to show that the order does not matter.
        for number in (1..=count).rev() {
            assert_eq!(
                ran(
                    dir.path(),
                    &[
                        "run",
                        "--shard",
                        &format!("{number}/{count}"),
                        "plan",
                        "-j2"
                    ]
                )
                .0,
                Some(0)
            );
        }
        let status = status(dir.path());
        assert_eq!(
            (&status["array"], &status["finished"]),
            (&Value::from(""), &status["cases"])
        );
        merges_to_the_same(dir.path());
    }
}

#[test]
fn a_killed_shard_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    planned(dir.path(), "1");
    let mut child = begun(dir.path(), "1/1");
    child.kill().unwrap();
    child.wait().unwrap();
    // As if the kill had torn a line.
    let attempt = dir.path().join("plan/attempts/1-of-1.1.jsonl");
    let mut bytes = fs::read(&attempt).unwrap();
    bytes.extend_from_slice(b"{\"checksum\":\"12");
    fs::write(&attempt, bytes).unwrap();

    let finished = status(dir.path())["missing"][0]["finished"]
        .as_u64()
        .unwrap();
    assert!((1..16).contains(&finished), "{finished}");
    let (code, said) = ran(dir.path(), &["merge", "plan", "--out", "merged"]);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("1 of 1 shards are missing: 1"), "{said}");

    assert_eq!(
        ran(dir.path(), &["run", "--shard", "1/1", "plan"]).0,
        Some(0)
    );
    let lines = |attempt: u32| {
        let text = fs::read_to_string(
            dir.path()
                .join(format!("plan/attempts/1-of-1.{attempt}.jsonl")),
        )
        .unwrap();
        text.lines()
            .filter(|line| line.contains("\"line\":{\"case\":"))
            .count() as u64
    };
    assert_eq!(
        (lines(1), lines(1) + lines(2)),
        (finished, 16),
        "no case runs twice"
    );
    merges_to_the_same(dir.path());
}

#[cfg(unix)]
#[test]
fn a_terminated_shard_finishes_its_case_and_asks_to_be_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    planned(dir.path(), "1");
    let child = begun(dir.path(), "1/1");
    let asked = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(asked.success());
    let Output {
        status: ended,
        stderr,
        ..
    } = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&stderr);
    assert_eq!(ended.code(), Some(75), "{said}");
    let text = fs::read_to_string(dir.path().join("plan/attempts/1-of-1.1.jsonl")).unwrap();
    assert!(
        text.lines().last().unwrap().contains("\"line\":{\"end\":"),
        "it ends by itself"
    );
    let kept = status(dir.path())["missing"][0]["finished"]
        .as_u64()
        .unwrap();
    assert!(
        said.contains(&format!(
            "stopped: {kept} of 16 replays of shard 1/1 are kept"
        )),
        "{said}"
    );
    assert_eq!(
        ran(dir.path(), &["run", "--shard", "1/1", "plan"]).0,
        Some(0)
    );
    merges_to_the_same(dir.path());
}

#[test]
fn a_folder_that_vanishes_is_named_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    planned(dir.path(), "1");
    let child = begun(dir.path(), "1/1");
    fs::rename(dir.path().join("plan"), dir.path().join("elsewhere")).unwrap();
    let Output {
        status: ended,
        stderr,
        ..
    } = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&stderr);
    assert!(
        !ended.success() && said.contains("`plan`") && said.contains("move it back"),
        "{ended}: {said}"
    );
    assert!(!dir.path().join("plan").exists(), "it is not made again");

    fs::rename(dir.path().join("elsewhere"), dir.path().join("plan")).unwrap();
    assert_eq!(
        ran(dir.path(), &["run", "--shard", "1/1", "plan"]).0,
        Some(0)
    );
    merges_to_the_same(dir.path());
}

#[test]
fn two_workers_on_one_shard_count_once() {
    let dir = tempfile::tempdir().unwrap();
    planned(dir.path(), "1");
    let mut first = begun(dir.path(), "1/1");
    let second = compactometer(
        dir.path(),
        &["run", "--shard", "1/1", "plan", "--jobs", "1"],
    )
    .output()
    .unwrap();
    let first_said = {
        let code = first.wait().unwrap().code();
        assert_eq!(code, Some(0));
        std::io::read_to_string(first.stderr.take().unwrap()).unwrap()
    };
    assert_eq!(second.status.code(), Some(0));
    let said = [
        first_said,
        String::from_utf8_lossy(&second.stderr).into_owned(),
    ];
    let won = said
        .iter()
        .filter(|said| said.contains("shard 1/1 is done: 16 replays"))
        .count();
    let lost = said
        .iter()
        .filter(|said| said.contains("another worker finished shard 1/1 first"))
        .count();
    assert_eq!((won, lost), (1, 1), "{said:?}");
    merges_to_the_same(dir.path());
    assert!(
        ran(dir.path(), &["run", "--shard", "1/1", "plan"])
            .1
            .contains("already done")
    );
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    // Many commands, so little to do for each.
    let spec = "name = \"tiny\"\nseed = 4\nwindow = 4000\ndomains = [\"research\"]\nconversations = 2\n\
                lengths = [9000]\nfacts = [20, 20]\npoints = [4, 5]\n";
    fs::write(at.join("tiny.toml"), spec).unwrap();
    let suite = ["tiny.toml", "-s", "null,recent-talk"];
    planned_of(at, &suite, "2");
    succeeds(
        at,
        &[
            "plan",
            "tiny.toml",
            "-s",
            "null",
            "--shards",
            "2",
            "--out",
            "other",
        ],
    );
    for shard in ["1/2", "2/2"] {
        assert_eq!(ran(at, &["run", "--shard", shard, "other"]).0, Some(0));
    }
    let refused = |args: &[&str], code: i32, words: &[&str]| {
        let (found, said) = ran(at, args);
        assert_eq!(found, Some(code), "{args:?}: {said}");
        words
            .iter()
            .for_each(|word| assert!(said.contains(word), "{args:?}: {word}: {said}"));
    };
    refused(
        &["run", "--shard", "1/3", "plan"],
        2,
        &["the plan has 2 shards"],
    );
    refused(
        &["run", "--shard", "0/2", "plan"],
        2,
        &["from `1/N` to `N/N`"],
    );
    refused(
        &["run", "--shard", "1/2", "plan", "--window", "9000"],
        2,
        &["the plan sets `--window`"],
    );
    refused(&["run", "--shard", "1/2", "one"], 2, &["holds no plan"]);
    refused(&["run", "--shard", "1/2", "smoke"], 2, &["holds no plan"]);
    // Before anything is estimated, which takes seconds.
    let (code, said) = ran(at, &["plan", "smoke", "--shards", "2", "--out", "plan"]);
    assert!(
        code == Some(2) && said.starts_with("error: `plan` exists"),
        "{said}"
    );

    fs::copy(at.join("other/parts/1-of-2"), at.join("plan/parts/1-of-2")).unwrap();
    refused(
        &["merge", "plan", "--out", "merged"],
        2,
        &["parts/1-of-2", "another plan"],
    );
    refused(
        &["run", "--shard", "1/2", "plan"],
        2,
        &["parts/1-of-2", "another plan"],
    );
    fs::remove_file(at.join("plan/parts/1-of-2")).unwrap();

    for shard in ["1/2", "2/2"] {
        assert_eq!(ran(at, &["run", "--shard", shard, "plan"]).0, Some(0));
    }
    let part = at.join("plan/parts/1-of-2");
    let whole = fs::read_to_string(&part).unwrap();
    let without_last = whole.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n";
    let second = fs::read_to_string(at.join("plan/parts/2-of-2")).unwrap();
    for (text, words) in [
        (without_last, ["parts/1-of-2", "expected the end"]),
        (
            whole.replacen("\"seconds\":", "\"seconds\":1", 1),
            ["parts/1-of-2", "checksum"],
        ),
        (second, ["parts/1-of-2", "shard 2/2"]),
        (String::new(), ["parts/1-of-2", "no part"]),
    ] {
        fs::write(&part, text).unwrap();
        refused(&["merge", "plan", "--out", "merged"], 2, &words);
        assert!(!at.join("merged").exists());
    }
    fs::write(&part, whole).unwrap();

    let plan = fs::read_to_string(at.join("plan/plan.json")).unwrap();
    let older = plan.replacen("\"version\": 1", "\"version\": 9", 1);
    let fewer = plan.replacen("\"shards\": 2", "\"shards\": 1", 1);
    for (text, words) in [
        (older, "another version"),
        (fewer, "edited"),
        ("{".to_owned(), "line 1"),
    ] {
        fs::write(at.join("plan/plan.json"), text).unwrap();
        refused(
            &["merge", "plan", "--out", "merged"],
            2,
            &["plan.json", words],
        );
        refused(&["status", "plan"], 2, &["plan.json", words]);
    }
    fs::write(at.join("plan/plan.json"), plan).unwrap();

    let cases = fs::read_to_string(at.join("plan/cases.csv")).unwrap();
    let without_last = cases.trim_end().rsplit_once('\n').unwrap().0.to_owned() + "\n";
    fs::write(at.join("plan/cases.csv"), without_last).unwrap();
    refused(
        &["merge", "plan", "--out", "merged"],
        2,
        &["cases.csv", "not those of `plan.json`"],
    );
    fs::write(at.join("plan/cases.csv"), cases).unwrap();
    merges_to_the_same(at);
    assert_eq!(ran(at, &["merge", "plan", "--out", "merged"]).0, Some(0));
    fs::write(at.join("merged/manifest.json"), "{}").unwrap();
    refused(
        &["merge", "plan", "--out", "merged"],
        2,
        &["`merged` exists"],
    );

    fs::remove_dir_all(at.join("plan/parts")).unwrap();
    refused(&["merge", "plan", "--out", "again"], 2, &["plan/parts"]);
}

/// A process may end at any moment: the same command then finishes what it began.
#[test]
fn a_plan_that_was_interrupted_is_finished_and_one_that_is_there_stays() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let plan = [
        "plan", "smoke", "-s", "null", "--sample", "2", "--shards", "2", "--out", "plan",
    ];
    assert_eq!(ran(at, &plan).0, Some(0));
    let whole = fs::read(at.join("plan/plan.json")).unwrap();
    assert_eq!(ran(at, &plan).0, Some(0), "the same plan");
    assert_eq!(fs::read(at.join("plan/plan.json")).unwrap(), whole);
    fs::remove_file(at.join("plan/plan.json")).unwrap();
    fs::write(at.join("plan/cases.csv"), "shard,k").unwrap();
    fs::write(at.join("plan/.plan.json.77.part"), "{\"vers").unwrap();
    let (code, said) = ran(at, &plan);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fs::read(at.join("plan/plan.json")).unwrap(), whole);
    let other = [&plan[..4], &["--sample", "3"], &plan[6..]].concat();
    let (code, said) = ran(at, &other);
    assert!(code == Some(2) && said.contains("`plan` exists"), "{said}");
    fs::remove_file(at.join("plan/plan.json")).unwrap();
    fs::write(at.join("plan/notes.txt"), "mine").unwrap();
    let (code, said) = ran(at, &plan);
    assert!(code == Some(2) && said.contains("`plan` exists"), "{said}");
}

#[test]
fn a_plan_refuses_what_each_worker_decides() {
    let dir = tempfile::tempdir().unwrap();
    let plan = ["plan", "smoke", "--shards", "2"];
    let (code, said) = ran(dir.path(), &plan);
    assert!(code == Some(2) && said.contains("--out <DIR>"), "{said}");
    for of_worker in [
        ["--record", "tape"],
        ["--max-cost", "1"],
        ["--jobs", "2"],
        ["--store", "kept"],
    ] {
        let (code, said) = ran(
            dir.path(),
            &[&plan[..], &["--out", "new"], &of_worker].concat(),
        );
        assert!(
            code == Some(2) && said.contains(of_worker[0]) && said.contains("run --shard"),
            "{said}"
        );
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_changed_suite_or_attempt_is_noticed_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    planned(at, "1");
    let suite = fs::read_to_string(at.join("plan/suite.jsonl")).unwrap();
    fs::write(
        at.join("plan/suite.jsonl"),
        suite.replacen("You are", "You were", 1),
    )
    .unwrap();
    let (code, said) = ran(at, &["run", "--shard", "1/1", "plan"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("would run other cases than the plan")
            && said.contains("`suite_hash` differs"),
        "{said}"
    );
    fs::write(at.join("plan/suite.jsonl"), suite).unwrap();

    let mut child = begun(at, "1/1");
    child.kill().unwrap();
    child.wait().unwrap();
    let attempt = at.join("plan/attempts/1-of-1.1.jsonl");
    let text = fs::read_to_string(&attempt).unwrap();
    fs::write(&attempt, text.replacen("\"seconds\":", "\"seconds\":1", 1)).unwrap();
    let (code, said) = ran(at, &["run", "--shard", "1/1", "plan"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("1-of-1.1.jsonl`, line 2") && said.contains("delete the file"),
        "{said}"
    );
    fs::remove_file(&attempt).unwrap();
    assert_eq!(ran(at, &["run", "--shard", "1/1", "plan"]).0, Some(0));
    merges_to_the_same(at);
}

#[test]
fn a_kill_pays_at_most_the_call_in_flight_twice() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let model = format!(
        "openai-compatible:x@http://{}",
        listener.local_addr().unwrap()
    );
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    std::thread::spawn(move || {
        serve_and(listener, "x-test: 1", (100, 10), move || {
            counted.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(10));
        });
    });
    let suite = [
        "smoke",
        "--sample",
        "2",
        "-s",
        "summarize,chained",
        "--model",
        &model,
    ];
    succeeds(
        at,
        &[&["run"][..], &suite, &["--out", "one", "--record", "tape"]].concat(),
    );
    let of_one = calls.swap(0, Ordering::Relaxed);
    assert!(of_one > 20, "{of_one}");

    succeeds(
        at,
        &[&["plan"][..], &suite, &["--shards", "1", "--out", "plan"]].concat(),
    );
    let worker = ["run", "--shard", "1/1", "plan", "--jobs", "1"];
    // The second kill is in the middle of the first case that is not finished.
    for more in [5, 9] {
        let before = calls.load(Ordering::Relaxed);
        let mut child = compactometer(at, &worker)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while calls.load(Ordering::Relaxed) < before + more {
            assert!(child.try_wait().unwrap().is_none(), "it ended");
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(ran(at, &worker).0, Some(0));
    let made = calls.load(Ordering::Relaxed);
    assert!(
        (of_one..=of_one + 2).contains(&made),
        "{made} calls, and {of_one} by one process"
    );

    let said = compactometer(at, &["merge", "plan", "--out", "merged"])
        .output()
        .unwrap()
        .stderr;
    let said = String::from_utf8_lossy(&said);
    assert!(
        said.contains(&format!("calls: {of_one} answered, 0 of them again")),
        "{said}"
    );
    assert!(
        said.contains("2 attempts did not end by themselves: at most 2 more calls"),
        "{said}"
    );
    let [one, merged] =
        ["one", "merged"].map(|run| fs::read(at.join(run).join("records.jsonl")).unwrap());
    assert!(one == merged);
    let report = succeeds(at, &["report", "merged", "--notes"]);
    assert!(
        report
            .replace('\n', " ")
            .contains("2 attempts did not end by themselves"),
        "{report}"
    );
}

#[test]
fn a_limit_of_requests_is_divided_among_workers() {
    let dir = tempfile::tempdir().unwrap();
    succeeds(
        dir.path(),
        &[
            "plan", "smoke", "--sample", "2", "-s", "null", "--shards", "3", "--out", "plan",
        ],
    );
    let shard = ["run", "--shard", "1/3", "plan", "--requests-per-minute"];
    let (code, said) = ran(dir.path(), &[&shard[..], &["2"]].concat());
    assert_eq!(code, Some(2));
    assert!(
        said.contains("2 requests per minute are fewer than one for each of 3 workers"),
        "{said}"
    );
    assert_eq!(
        ran(dir.path(), &[&shard[..], &["2", "--at-once", "2"]].concat()).0,
        Some(0)
    );
}

#[test]
fn a_plan_says_what_it_will_take_from_a_few_conversations() {
    let dir = tempfile::tempdir().unwrap();
    let plan = [
        "plan",
        "smoke",
        "-s",
        "chained",
        "--shards",
        "4",
        "--out",
        "plan",
        "--model",
        "openai:gpt-5.4-mini",
    ];
    let asked = [&plan[..], &["--estimate", "--requests-per-minute", "60"]].concat();
    let output = compactometer(dir.path(), &asked)
        .env("OPENAI_API_KEY", "none")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("all 16 conversations") && said.contains("US dollars (\u{b1} 0 %)"),
        "{said}"
    );
    // The same dry run, summed by purpose.
    let run = [
        "run",
        "smoke",
        "-s",
        "chained",
        "--model",
        "openai:gpt-5.4-mini",
        "--estimate",
    ];
    let table = compactometer(dir.path(), &run)
        .env("OPENAI_API_KEY", "none")
        .output()
        .unwrap()
        .stdout;
    let table = String::from_utf8(table).unwrap();
    let all = table
        .lines()
        .last()
        .unwrap()
        .split_whitespace()
        .collect::<Vec<_>>();
    let calls: f64 = all[1].parse().unwrap();
    assert!(said.contains(&format!("calls   {calls} ")), "{said}{table}");
    assert!(
        said.contains(&format!(
            "time    {:.1} hours at 60 requests per minute",
            calls / 3_600.0
        )),
        "{said}{table}"
    );
    let (low, high) = all.last().unwrap().split_once('-').unwrap();
    assert!(
        said.contains(&format!("cost    {low} to {high} US dollars")),
        "{said}{table}"
    );
    assert!(!dir.path().join("plan").exists());
}
