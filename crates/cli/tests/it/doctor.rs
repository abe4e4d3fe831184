//! `doctor`: for each problem a setting that has it; what is said, what is to be done, and the exit
//! code.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

const SPEC: &str = "name = \"tiny\"\nseed = 1\nwindow = 2000\ndomains = [\"software\"]\nconversations = 2\n\
                    lengths = [5000]\nfacts = [12, 12]\npoints = [2, 2]\n";
const TINY: [&str; 3] = ["tiny.toml", "-s", "summarize,null"];

fn program(dir: &Path, args: &[&str], variables: &[(&str, &str)]) -> Output {
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    let mut command = Command::cargo_bin("compactometer").unwrap();
    let inherited = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in
        inherited.filter(|name| name.starts_with("COMPACTOMETER_") || name.ends_with("_API_KEY"))
    {
        command.env_remove(name);
    }
    command.env("NO_PROXY", "*").envs(variables.iter().copied());
    command.current_dir(dir).args(args).output().unwrap()
}

/// What `doctor` says of the tiny run with these arguments, and its exit code.
fn doctor(dir: &Path, more: &[&str]) -> (String, i32) {
    let output = program(dir, &[&["doctor"], &TINY[..], more].concat(), &[]);
    (
        String::from_utf8(output.stdout).unwrap(),
        output.status.code().unwrap(),
    )
}

/// The line that begins so, and the exit code that goes with it.
fn check_line(dir: &Path, more: &[&str], start: &str, code: i32) -> String {
    let (text, found) = doctor(dir, more);
    assert_eq!(found, code, "{text}");
    text.lines()
        .find(|line| line.starts_with(start))
        .unwrap_or_else(|| panic!("{start} in {text}"))
        .to_owned()
}

const MODEL: &str = "problem  model ";
const OUTPUT: &str = "problem  output ";

/// A server on loopback that answers a GET and a POST so, with a date, until the test ends; gives
/// its model's address.
fn serve(get: &'static str, post: &'static str, date: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut first, mut line, mut length) = (String::new(), String::new(), 0);
            reader.read_line(&mut first).unwrap();
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().unwrap();
                }
                line.clear();
            }
            reader.read_exact(&mut vec![0; length]).unwrap();
            let (status, body) = (if first.starts_with("GET") { get } else { post })
                .split_once(' ')
                .unwrap();
            let head = format!(
                "HTTP/1.1 {status} X\r\ndate: {date}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all((head + body).as_bytes()).unwrap();
        }
    });
    format!("openai-compatible:small@http://{address}")
}

const LISTS_SMALL: &str = r#"200 {"data":[{"id":"small"}]}"#;
const LISTS_LARGE: &str = r#"200 {"data":[{"id":"large"}]}"#;
const NO_LIST: &str = r#"404 {"error":{"message":"no such page"}}"#;
const ANSWERS: &str = r#"200 {"choices":[{"message":{"content":"yes"},"finish_reason":"length"}],"usage":{"prompt_tokens":9,"completion_tokens":1}}"#;
const NO_MODEL: &str = r#"404 {"error":{"message":"model not found"}}"#;
const LONG_AGO: &str = "Thu, 01 Jan 1970 00:00:00 GMT";

#[test]
fn a_run_that_nothing_stops_is_ok_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let (text, code) = doctor(dir.path(), &[]);
    assert_eq!(code, 0, "{text}");
    for line in [
        "ok       model      `mock:claude-code` answers without",
        "ok       output     `reports` can be",
        "ok       run        4 replays",
    ] {
        assert!(text.contains(line), "{line} in {text}");
    }
    assert!(
        text.lines().all(|line| !line.starts_with("problem")),
        "{text}"
    );
    let left = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect::<Vec<_>>();
    assert_eq!(left, ["tiny.toml"]);
}

#[test]
fn keys_addresses_and_names_say_what_to_set() {
    let dir = tempfile::tempdir().unwrap();
    for (model, expected) in [
        (
            "openai:gpt",
            "needs a key; set the environment's variable `OPENAI_API_KEY`",
        ),
        (
            "anthropic:claude",
            "set the environment's variable `ANTHROPIC_API_KEY`",
        ),
        (
            "openai-compatible:small",
            "write `openai-compatible:MODEL@URL`",
        ),
        ("openai-compatible:small@http://", "cannot be used"),
        (
            "openai-compatible:small@http://me:hush@127.0.0.1",
            "holds a user or password",
        ),
        ("mock:stron", "did you mean `strong`?"),
        ("cassette:nowhere", "cannot read the cassette `nowhere`"),
    ] {
        let line = check_line(dir.path(), &["--model", model], MODEL, 1);
        assert!(line.contains(expected) && !line.contains("hush"), "{line}");
    }
}

#[test]
fn a_server_that_is_not_there_is_a_problem() {
    let dir = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let model = format!(
        "openai-compatible:small@http://{}",
        free.local_addr().unwrap()
    );
    drop(free);
    let line = check_line(dir.path(), &["--model", &model], MODEL, 1);
    assert!(
        line.contains("is the server running, and the address right?"),
        "{line}"
    );
}

#[test]
fn a_model_is_known_by_the_servers_list_or_by_its_answer() {
    let dir = tempfile::tempdir().unwrap();
    let of = |get, post, more: &[&str], start, code| {
        let model = serve(get, post, LONG_AGO);
        check_line(
            dir.path(),
            &[&["--model", &model], more].concat(),
            start,
            code,
        )
    };
    assert!(
        of(LISTS_SMALL, NO_MODEL, &[], "ok       model", 0)
            .contains("has `openai-compatible:small`")
    );
    assert!(of(LISTS_LARGE, NO_MODEL, &[], MODEL, 1).contains("choose from `large`"));
    assert!(of(NO_LIST, NO_MODEL, &[], "warning  model", 0).contains("lists no models; `--call`"));
    assert!(
        of(NO_LIST, NO_MODEL, &["--call"], MODEL, 1)
            .contains("knows no model `small`, or no such address")
    );
    assert!(
        of(NO_LIST, ANSWERS, &["--call"], "ok       model", 0).contains("answers at `127.0.0.1")
    );
    assert!(
        of(LISTS_LARGE, ANSWERS, &["--call"], "warning  model", 0).contains("name one of them")
    );
    assert!(of("401 {}", NO_MODEL, &[], MODEL, 1).contains("`COMPACTOMETER_API_KEY`"));
}

#[test]
fn a_clock_that_is_far_from_the_servers_is_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let model = serve(LISTS_SMALL, NO_MODEL, LONG_AGO);
    let line = check_line(dir.path(), &["--model", &model], "warning  clock", 0);
    assert!(line.contains(" s apart; set this one"), "{line}");
}

#[test]
fn prices_of_the_future_and_models_without_one_are_warnings() {
    let dir = tempfile::tempdir().unwrap();
    let shipped = compactometer_formats::prices::SHIPPED;
    std::fs::write(
        dir.path().join("prices.toml"),
        shipped.replace("2026-11-22", "2999-01-01"),
    )
    .unwrap();
    let line = check_line(
        dir.path(),
        &["--prices", "prices.toml"],
        "warning  clock",
        0,
    );
    assert!(
        line.contains("dated 2999-01-01") && line.contains("set the clock"),
        "{line}"
    );
    let variables = [("OPENAI_API_KEY", "sk-none")];
    // Nothing listens where the address points, so no request leaves this machine.
    let args = [
        &["doctor"],
        &TINY[..],
        &["--model", "openai-compatible:new@http://0.0.0.0:1"],
    ]
    .concat();
    let text = String::from_utf8(program(dir.path(), &args, &variables).stdout).unwrap();
    assert!(
        text.contains(
            "warning  prices     the table has no row for `openai-compatible:new@0.0.0.0:1`"
        ),
        "{text}"
    );
    std::fs::write(dir.path().join("prices.toml"), "mock_as = 1").unwrap();
    let line = check_line(
        dir.path(),
        &["--prices", "prices.toml"],
        "problem  prices",
        1,
    );
    assert!(line.contains("expected a price table"), "{line}");
}

#[test]
fn a_recording_that_lacks_calls_says_how_many_cases_and_which_command_records() {
    let dir = tempfile::tempdir().unwrap();
    let recorded = program(
        dir.path(),
        &[&["run"], &TINY[..], &["--record", "tape", "--out", "out"]].concat(),
        &[],
    );
    assert!(recorded.status.success());
    let replay = ["--model", "cassette:tape"];
    let line = check_line(dir.path(), &replay, "ok       recording", 0);
    assert!(line.contains("every call of 4 replays"), "{line}");
    let (text, code) = doctor(dir.path(), &[&replay[..], &["--seed", "7"]].concat());
    assert_eq!(code, 1, "{text}");
    let line = text
        .lines()
        .find(|line| line.starts_with("problem  recording"))
        .unwrap();
    assert!(
        line.contains(" of 4 replays stop at a call")
            && line.contains("--model mock:claude-code --record tape"),
        "{line}"
    );
    std::fs::write(dir.path().join("tape/calls.jsonl"), "{}\n").unwrap();
    assert!(check_line(dir.path(), &replay, MODEL, 1).contains("line 1"));
    assert!(
        check_line(dir.path(), &["--record", "tape"], "problem  recording", 1).contains("line 1")
    );
}

#[test]
fn an_output_folder_that_cannot_be_used_is_a_problem_also_for_a_run() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "x").unwrap();
    let line = check_line(dir.path(), &["--out", "file/out"], OUTPUT, 1);
    assert!(
        line.contains("cannot write to `file/out`") && line.contains("choose another `--out`"),
        "{line}"
    );
    let output = program(
        dir.path(),
        &[&["run"], &TINY[..], &["--out", "file/out"]].concat(),
        &[],
    );
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("choose another `--out`"), "{error}");
    std::fs::create_dir(dir.path().join("mine")).unwrap();
    std::fs::write(dir.path().join("mine/notes.txt"), "x").unwrap();
    assert!(
        check_line(dir.path(), &["--out", "mine"], OUTPUT, 1).contains("exists and holds no run")
    );
}

#[test]
fn a_run_folder_or_store_that_cannot_be_read_is_a_problem() {
    let dir = tempfile::tempdir().unwrap();
    assert!(
        program(
            dir.path(),
            &[&["run"], &TINY[..], &["--out", "out"]].concat(),
            &[]
        )
        .status
        .success()
    );
    let (text, code) = doctor(dir.path(), &["--out", "out"]);
    assert!(
        code == 0 && text.contains("`out` holds 4 of 4 replays"),
        "{text}"
    );
    let records = dir.path().join("out/records.jsonl");
    let text = std::fs::read_to_string(&records).unwrap();
    std::fs::write(&records, text.replacen("summarize", "summarise", 1)).unwrap();
    let line = check_line(dir.path(), &["--out", "out"], OUTPUT, 1);
    assert!(
        line.contains("line 1: the checksum does not match") && line.contains("delete the folder"),
        "{line}"
    );
    std::fs::write(dir.path().join("out/manifest.json"), "{").unwrap();
    let line = check_line(dir.path(), &["--out", "out"], OUTPUT, 1);
    assert!(
        line.contains("is not a manifest that this version can read"),
        "{line}"
    );
    let output = program(
        dir.path(),
        &[&["run"], &TINY[..], &["--out", "out"]].concat(),
        &[],
    );
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("choose another `--out`, or delete the folder")
    );
    std::fs::write(dir.path().join("kept.db"), "no database").unwrap();
    assert!(
        check_line(dir.path(), &["--store", "kept.db"], "problem  store", 1).contains("kept.db")
    );
}

#[test]
fn settings_that_nothing_reads_are_warnings() {
    let dir = tempfile::tempdir().unwrap();
    let args = [&["doctor", "--json"], &TINY[..]].concat();
    // What CI sets is known.
    let output = program(
        dir.path(),
        &args,
        &[
            ("COMPACTOMETER_MODLE", "mock"),
            ("COMPACTOMETER_REQUIRE_SHARED", "1"),
        ],
    );
    assert!(output.status.success());
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let settings = report["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["check"] == "settings")
        .collect::<Vec<_>>();
    assert!(
        settings.iter().all(|check| check["state"] == "warning") && settings.len() == 1,
        "{settings:?}"
    );
    assert!(
        settings[0]["found"]
            .as_str()
            .unwrap()
            .contains("did you mean `COMPACTOMETER_MODEL`?"),
        "{settings:?}"
    );
}

#[test]
fn suites_strategies_and_limits_that_make_no_run_are_problems() {
    let dir = tempfile::tempdir().unwrap();
    for (more, expected) in [
        (&["-s", "sumarize"][..], "did you mean `summarize`?"),
        (&["--window", "10"], "is too small for this suite"),
        (&["nowhere.jsonl"], "nowhere.jsonl"),
        (&["--tokenizer", "gpt2"], "unknown tokenizer `gpt2`"),
    ] {
        assert!(
            check_line(dir.path(), more, "problem  run", 1).contains(expected),
            "{expected}"
        );
    }
}

#[test]
fn every_error_of_a_suite_has_its_line() {
    let dir = tempfile::tempdir().unwrap();
    assert!(
        program(
            dir.path(),
            &["generate", "tiny.toml", "--out", "tiny.jsonl"],
            &[]
        )
        .status
        .success()
    );
    let suite = std::fs::read_to_string(dir.path().join("tiny.jsonl")).unwrap();
    std::fs::write(
        dir.path().join("bad.jsonl"),
        suite.replace("\"group_id\"", "\"group\""),
    )
    .unwrap();
    let output = program(dir.path(), &["doctor", "bad.jsonl", "-s", "summarize"], &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    let (_, errors) = text
        .split_once("`bad.jsonl` has 2 errors:\n")
        .unwrap_or_else(|| panic!("{text}"));
    let places = errors
        .lines()
        .map(|line| line.split(':').next().unwrap())
        .collect::<Vec<_>>();
    assert_eq!(places[..2], ["    line 2", "    line 3"], "{text}");
}

/// On a disk of 16 kB, and on a read-only one, where this machine lets a test mount one.
#[cfg(target_os = "linux")]
#[test]
fn a_full_and_a_read_only_disk_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
    std::fs::create_dir(dir.path().join("disk")).unwrap();
    for (options, expected) in [
        ("size=16k", "free space there"),
        ("size=1m,ro", "make it writable for this user"),
    ] {
        let script = format!(
            "mount -t tmpfs -o {options} none disk || exit 77; exec \"$0\" doctor {} --out disk/out",
            TINY.join(" ")
        );
        let mut command = std::process::Command::new("unshare");
        let program = env!("CARGO_BIN_EXE_compactometer");
        command
            .args([
                "--user",
                "--map-root-user",
                "--mount",
                "sh",
                "-c",
                &script,
                program,
            ])
            .current_dir(dir.path());
        let Ok(output) = command.output() else {
            return eprintln!("skipped: no `unshare` here");
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(77) || errors.starts_with("unshare:") {
            return eprintln!("skipped: this machine lets no test mount a disk");
        }
        let text = String::from_utf8(output.stdout).unwrap();
        let line = text
            .lines()
            .find(|line| line.starts_with(OUTPUT))
            .unwrap_or_else(|| panic!("{text}"));
        assert!(
            line.contains(expected) && output.status.code() == Some(1),
            "{line}"
        );
    }
}
