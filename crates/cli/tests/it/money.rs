//! What a run may cost: estimates, agreement, and the cap, against a server that bills.

#[cfg(unix)]
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

const SPEC: &str = "name = \"tiny\"\nseed = 1\nwindow = 2000\ndomains = [\"software\"]\nconversations = 2\n\
                    lengths = [5000]\nfacts = [12, 12]\npoints = [2, 2]\n";

fn run(dir: &Path, more: &[&str]) -> Output {
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    let plain = [
        "run",
        "tiny.toml",
        "-s",
        "summarize,null",
        "--jobs",
        "1",
        "--out",
        "out",
    ];
    let mut command = Command::cargo_bin("compactometer").unwrap();
    command
        .env("OPENAI_API_KEY", "sk-none")
        .env("ANTHROPIC_API_KEY", "sk-none")
        .env("NO_PROXY", "*")
        .env_remove("COMPACTOMETER_API_KEY");
    command
        .current_dir(dir)
        .args(plain)
        .args(more)
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The columns of a line of the estimate.
fn columns(output: &Output, purpose: &str) -> Vec<String> {
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = table
        .lines()
        .find(|line| line.starts_with(purpose))
        .unwrap_or_else(|| panic!("{purpose} in {table}"));
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn an_estimate_counts_the_calls_of_the_run_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let free = run(dir.path(), &["--estimate"]);
    assert!(free.status.success(), "{}", stderr(&free));
    assert_eq!(columns(&free, "all")[4], "0.00-0.00");
    assert!(!dir.path().join("out").exists());
    let priced = run(dir.path(), &["--estimate", "--model", "openai:gpt-5.4"]);
    let dollars = columns(&priced, "all")[4].clone();
    let (low, high) = dollars.split_once('-').unwrap();
    assert!(
        low.parse::<f64>().unwrap() < high.parse::<f64>().unwrap(),
        "{dollars}"
    );
    assert_eq!(
        columns(
            &run(dir.path(), &["--estimate", "--model", "openai:new"]),
            "all"
        )[4],
        "unknown"
    );
    assert!(run(dir.path(), &[]).status.success());
    let records = std::fs::read_to_string(dir.path().join("out/records.jsonl")).unwrap();
    for (purpose, calls) in [
        ("compaction", "\"purpose\":\"compaction\""),
        ("probe", "\"purpose\":\"probe\""),
    ] {
        assert_eq!(
            columns(&free, purpose)[1],
            records.matches(calls).count().to_string(),
            "{purpose}"
        );
    }
    assert_eq!(
        columns(&run(dir.path(), &["--estimate"]), "all")[1],
        "0",
        "what is recorded is not asked again"
    );
}

#[test]
fn an_estimate_prices_each_call_by_its_own_length() {
    let dir = tempfile::tempdir().unwrap();
    let priced = |tier: &str| {
        let table = format!(
            "mock_as = \"tiered\"\n[[model]]\nname = \"tiered\"\ndate = \"2026-01-02\"\nsource = \"a test\"\ninput = 100.0\n\
             cache_write = 100.0\ncache_read = 100.0\noutput = 100.0\n{tier}[model.cache]\n\
             prefix_order = [\"tools\", \"system\", \"messages\"]\nminimum_tokens = 1\ngranularity_tokens = 1\nbreakpoints = 0\n\
             lifetime_s = 300\nrenewed_by_use = true\n"
        );
        std::fs::write(dir.path().join("prices.toml"), table).unwrap();
        columns(
            &run(
                dir.path(),
                &[
                    "--estimate",
                    "--model",
                    "openai:tiered",
                    "--prices",
                    "prices.toml",
                ],
            ),
            "all",
        )
    };
    let tier = |above: u32| {
        let dear = "input = 900.0\ncache_write = 900.0\ncache_read = 900.0\noutput = 900.0\n";
        format!("[[model.tier]]\nabove_tokens = {above}\n{dear}")
    };
    let plain = priced("");
    let tokens = plain[2].split('-').next().unwrap().parse::<u32>().unwrap();
    assert!(tokens > 10_000, "{plain:?}");
    assert_eq!(priced(&tier(10_000)), plain, "no single call is so long");
    assert_ne!(priced(&tier(1)), plain);
}

#[test]
fn nothing_is_sent_before_somebody_agreed() {
    let dir = tempfile::tempdir().unwrap();
    let refused = run(dir.path(), &["--model", "openai:gpt-5.4"]);
    let told = stderr(&refused);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    for words in ["`api.openai.com`", "--max-cost USD", "compaction", "probe"] {
        assert!(told.contains(words), "{words} in {told}");
    }
    assert!(!dir.path().join("out").exists());
    // A price table without the model's row, which a folder's settings may name, is not an
    // agreement.
    for model in [
        "openai:new",
        "openai:new@2",
        "anthropic:new@https://api.anthropic.com/v1",
    ] {
        let unpriced = run(dir.path(), &["--model", model]);
        assert_eq!(
            unpriced.status.code(),
            Some(2),
            "{model}: {}",
            stderr(&unpriced)
        );
        assert!(
            stderr(&unpriced).contains("nobody agreed"),
            "{model}: {}",
            stderr(&unpriced)
        );
    }
    let unknown = run(dir.path(), &["--model", "openai:new", "--max-cost", "1"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        stderr(&unknown).contains("`openai:new`") && stderr(&unknown).contains("--prices"),
        "{}",
        stderr(&unknown)
    );
}

#[cfg(unix)]
mod billed {
    use std::net::TcpListener;

    use super::*;
    use crate::common::serve;

    /// Tokens that the server bills for each call, in and out.
    const BILLED: (u32, u32) = (1_500, 100);
    /// What a call costs at 1000 dollars a million tokens.
    const A_CALL: f64 = (BILLED.0 + BILLED.1) as f64 / 1_000.0;

    /// A server at an address that is not of this machine by name, and a table with its price.
    fn priced(dir: &Path) -> String {
        let [small, _] = both_priced(dir);
        small
    }

    /// The same of two models there.
    fn both_priced(dir: &Path) -> [String; 2] {
        let listener = TcpListener::bind("0.0.0.0:0").unwrap();
        let host = format!("0.0.0.0:{}", listener.local_addr().unwrap().port());
        std::thread::spawn(move || serve(listener, "x-test: money", BILLED));
        let shipped = compactometer_formats::prices::SHIPPED;
        let cache = &shipped[shipped.find("[model.cache]").unwrap()..];
        let cache = &cache[..cache.find("[[model]]").unwrap()];
        let names = ["small", "large"];
        let row = |name| {
            format!(
                "[[model]]\nname = \"openai-compatible:{name}@{host}\"\ndate = \"2026-11-22\"\nsource = \"a test\"\n\
             input = 1000.0\ncache_write = 1000.0\ncache_read = 1000.0\noutput = 1000.0\n{cache}\n"
            )
        };
        std::fs::write(
            dir.join("prices.toml"),
            format!("{shipped}\n{}", names.map(row).concat()),
        )
        .unwrap();
        names.map(|name| format!("openai-compatible:{name}@http://{host}"))
    }

    #[test]
    fn one_cap_is_for_summarizer_and_model_together() {
        let dir = tempfile::tempdir().unwrap();
        let [small, large] = both_priced(dir.path());
        let capped = |limit: &str| {
            let both = [
                "--model",
                &large,
                "--summarizer",
                &small,
                "--prices",
                "prices.toml",
            ];
            run(
                dir.path(),
                &[&both[..], &["--record", "tape", "--max-cost", limit]].concat(),
            )
        };
        let lines = |path: &str| {
            std::fs::read_to_string(dir.path().join(path)).map_or(0, |text| text.lines().count())
        };
        let paid = || {
            [
                lines("tape/calls.jsonl"),
                lines("tape/summarizer/calls.jsonl"),
            ]
        };
        let stopped = capped("40");
        assert_eq!(stopped.status.code(), Some(1), "{}", stderr(&stopped));
        assert!(
            stderr(&stopped).contains("`--max-cost 40` is reached"),
            "{}",
            stderr(&stopped)
        );
        let before = paid();
        let spent = before.iter().sum::<usize>() as f64 * A_CALL;
        assert!(
            before.iter().all(|calls| *calls > 0) && spent <= 40.0,
            "{before:?}"
        );
        assert_eq!(capped("40").status.code(), Some(1));
        assert_eq!(paid(), before, "what was spent on either counts");
        let whole = capped("10000");
        assert!(whole.status.success(), "{}", stderr(&whole));
        let text = std::fs::read_to_string(dir.path().join("out/records.jsonl")).unwrap();
        assert!(
            text.lines()
                .all(|line| line.contains("\"target\":\"openai-compatible:large@")),
            "{text}"
        );
    }

    #[test]
    fn a_cap_keeps_what_is_done_counts_what_was_spent_and_resumes() {
        let dir = tempfile::tempdir().unwrap();
        let model = priced(dir.path());
        let capped = |limit: f64| {
            let limit = limit.to_string();
            let paid = [
                "--model",
                &model,
                "--prices",
                "prices.toml",
                "--record",
                "tape",
                "--max-cost",
                &limit,
            ];
            run(dir.path(), &paid)
        };
        let lines = |path: &str| {
            std::fs::read_to_string(dir.path().join(path))
                .unwrap()
                .lines()
                .count()
        };
        // Enough for a few calls, each of which may cost some 5 to 7 dollars and costs 1.60.
        let limit = 20.0;
        let stopped = capped(limit);
        assert_eq!(stopped.status.code(), Some(1), "{}", stderr(&stopped));
        assert!(
            stderr(&stopped).contains("`--max-cost 20` is reached"),
            "{}",
            stderr(&stopped)
        );
        assert!(
            stderr(&stopped).contains("the same command resumes"),
            "{}",
            stderr(&stopped)
        );
        let paid = lines("tape/calls.jsonl");
        assert!(paid > 0 && paid as f64 * A_CALL <= limit, "{paid} calls");
        let again = capped(limit);
        assert_eq!(again.status.code(), Some(1), "{}", stderr(&again));
        assert_eq!(
            lines("tape/calls.jsonl"),
            paid,
            "what was spent before counts"
        );
        let more = capped(10_000.0);
        assert!(more.status.success(), "{}", stderr(&more));
        assert_eq!(lines("out/records.jsonl"), 4);
        let plain = ["--model", &model, "--prices", "prices.toml"];
        let finished = run(dir.path(), &plain);
        assert!(
            finished.status.success(),
            "nothing is left to pay, so nobody is asked: {}",
            stderr(&finished)
        );
    }
}

#[test]
fn explain_asks_and_caps_like_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let explain = |more: &[&str]| {
        std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
        let mut command = Command::cargo_bin("compactometer").unwrap();
        command
            .env("OPENAI_API_KEY", "sk-none")
            .env("ANTHROPIC_API_KEY", "sk-none")
            .env("NO_PROXY", "*");
        let plain = [
            "explain",
            "tiny.toml",
            "-s",
            "summarize",
            "--model",
            "openai:gpt-5.4",
        ];
        command
            .current_dir(dir.path())
            .args(plain)
            .args(more)
            .output()
            .unwrap()
    };
    let refused = explain(&[]);
    let told = stderr(&refused);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(
        told.contains("estimate for 1 replays") && told.contains("--max-cost USD"),
        "{told}"
    );
    let capped = explain(&["--max-cost", "0.0001"]);
    assert_eq!(capped.status.code(), Some(1), "{}", stderr(&capped));
    assert!(
        stderr(&capped).contains("`--max-cost 0.0001` is reached"),
        "{}",
        stderr(&capped)
    );
}

#[test]
fn looking_at_a_folder_that_is_no_run_changes_nothing_in_it() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("out")).unwrap();
    let records = dir.path().join("out/records.jsonl");
    std::fs::write(&records, "somebody's own, without a line end").unwrap();
    for more in [&["--estimate"][..], &[]] {
        let output = run(dir.path(), more);
        assert_eq!(
            output.status.success(),
            !more.is_empty(),
            "{}",
            stderr(&output)
        );
        assert_eq!(
            std::fs::read_to_string(&records).unwrap(),
            "somebody's own, without a line end"
        );
        assert!(!dir.path().join("out/texts.jsonl").exists());
    }
}
