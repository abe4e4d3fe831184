//! The program as a user meets it: commands in, files, messages and exit codes out.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn program(dir: &Path, args: &[&str]) -> Output {
    Command::cargo_bin("compactometer")
        .unwrap()
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A Claude Code session with a value that is used again long after it was said.
fn session(dir: &Path, name: &str) -> PathBuf {
    let mut rows = Vec::new();
    let mut parent = Value::Null;
    let mut push = |kind: &str, message: Value| {
        let uuid = format!("{name}-{}", rows.len());
        rows.push(serde_json::json!({
            "uuid": uuid, "parentUuid": parent.take(), "isSidechain": false, "sessionId": name, "type": kind,
            "timestamp": "2026-01-01T00:00:00.000Z", "message": message,
        }));
        parent = Value::String(uuid);
    };
    let assistant = |id: usize, block: Value| serde_json::json!({"id": format!("msg-{id}"), "role": "assistant", "content": [block], "usage": {"input_tokens": 3, "output_tokens": 9}});
    push(
        "user",
        serde_json::json!({"role": "user", "content": "Please see to it that the build passes again."}),
    );
    for turn in 0..60 {
        let path = if turn % 20 == 19 {
            format!("src/{name}/deep_module.rs")
        } else {
            format!("lib/part_{turn}.rs")
        };
        let call = format!("toolu_{turn}");
        push(
            "assistant",
            assistant(
                turn,
                serde_json::json!({"type": "tool_use", "id": call, "name": "Read", "input": {"file_path": path}}),
            ),
        );
        let first = if turn == 1 {
            format!("the failing file is src/{name}/deep_module.rs\n")
        } else {
            String::new()
        };
        let text = first
            + &format!("line {turn} of some ordinary code that does nothing in particular\n")
                .repeat(12);
        push(
            "user",
            serde_json::json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": text}]}),
        );
    }
    let path = dir.join(format!("{name}.jsonl"));
    let lines = rows
        .iter()
        .map(|row| format!("{row}\n"))
        .collect::<String>();
    std::fs::write(&path, lines).unwrap();
    path
}

fn imported(dir: &Path) {
    let files = [session(dir, "alpha"), session(dir, "bravo")];
    let [first, second] = files.each_ref().map(|path| path.to_str().unwrap());
    let output = program(
        dir,
        &[
            "import",
            "claude-code",
            first,
            second,
            "--auto-facts",
            "--out",
            "suite.jsonl",
        ],
    );
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn help_and_lists_name_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    let help = stdout(&program(dir.path(), &["--help"]));
    for word in [
        "compare",
        "explain",
        "import",
        "list",
        "--help-all",
        "Exit codes",
    ] {
        assert!(help.contains(word), "{word} in {help}");
    }
    for (kind, word) in [
        ("strategies", "chained"),
        ("controls", "random-drop"),
        ("metrics", "lift"),
        ("formats", "tau-bench"),
        ("models", "mock:strong"),
    ] {
        let kinds = stdout(&program(dir.path(), &["list"]));
        assert!(
            kinds.contains(kind) && kinds.lines().count() <= 24,
            "{kind} in {kinds}"
        );
        let list = stdout(&program(dir.path(), &["list", kind]));
        assert!(list.contains(word), "{word} in {list}");
    }
    assert_eq!(
        program(dir.path(), &["list", "nonsense"]).status.code(),
        Some(2)
    );
    let manual = program(dir.path(), &["completions", "--man", "manual"]);
    assert!(manual.status.success());
    let page = std::fs::read_to_string(dir.path().join("manual/compactometer-losses.1")).unwrap();
    assert!(
        page.contains("compaction") && page.contains(r"\-\-hook"),
        "{page}"
    );
    let script = stdout(&program(dir.path(), &["completions", "bash"]));
    assert!(
        script.contains("probes") && script.contains("--strategy"),
        "{script}"
    );
}

#[test]
fn imports_compares_explains_and_resumes() {
    let dir = tempfile::tempdir().unwrap();
    imported(dir.path());
    let args = ["compare", "suite.jsonl", "--window", "2000", "--out", "out"];
    let first = program(dir.path(), &args);
    assert!(first.status.success(), "{}", stderr(&first));
    let wide = [
        "run",
        "suite.jsonl",
        "-s",
        "summarize",
        "--window",
        "100000",
        "--out",
        "wide",
    ];
    let idle = stderr(&program(dir.path(), &wide));
    assert!(
        idle.contains("not every conversation was compacted: summarize 0 of 2"),
        "{idle}"
    );
    let folder = dir.path().join("out");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let files = [
        "manifest.json",
        "records.jsonl",
        "texts.jsonl",
        "summary.json",
        "index.html",
        "report.md",
        "facts.csv",
        "summary.csv",
    ];
    let before = files.map(read);
    let summary: Value = serde_json::from_slice(&read("summary.json")).unwrap();
    let strategies = summary["groups"][0]["strategies"].as_array().unwrap();
    let metrics = |name: &str| {
        strategies
            .iter()
            .find(|strategy| strategy["name"] == name)
            .unwrap()["metrics"]
            .clone()
    };
    assert_eq!(metrics("full")["context_recall"]["value"], 1.0);
    assert_eq!(metrics("chained")["lift"]["value"], Value::Null);
    assert!(
        metrics("chained")["lift"]["reason"]
            .as_str()
            .unwrap()
            .contains("5 scenarios")
    );

    // The same command finds everything done, and changes no byte.
    let again = program(dir.path(), &args);
    assert!(
        stderr(&again).contains("resumed: 40 of 40"),
        "{}",
        stderr(&again)
    );
    assert_eq!(files.map(read), before);
    // Another configuration gets another folder.
    let other = program(
        dir.path(),
        &["compare", "suite.jsonl", "--window", "2500", "--out", "out"],
    );
    assert_eq!(other.status.code(), Some(2));
    assert!(
        stderr(&other).contains("`window` differs") || stderr(&other).contains("differs"),
        "{}",
        stderr(&other)
    );

    let told = program(
        dir.path(),
        &[
            "explain",
            "suite.jsonl",
            "-s",
            "chained",
            "--window",
            "2000",
        ],
    );
    let told = stdout(&told);
    assert!(
        told.contains("compacted") && told.contains("at the end"),
        "{told}"
    );
}

#[test]
fn typing_errors_and_bad_input_say_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    imported(dir.path());
    std::fs::write(dir.path().join("empty.jsonl"), "").unwrap();
    std::fs::write(
        dir.path().join("torn.jsonl"),
        &std::fs::read(dir.path().join("suite.jsonl")).unwrap()[..5_000],
    )
    .unwrap();
    std::fs::write(dir.path().join("bytes.jsonl"), b"\xff\xfe\x00").unwrap();
    for (args, expected) in [
        (&["compare", "-s", "chaned"][..], "did you mean `chained`"),
        (
            &["compare", "smoke", "--model", "mock:strang"],
            "mock:strong",
        ),
        // Before conversations are read or made.
        (
            &["compare", "missing.jsonl", "--model", "mock:strang"],
            "mock:strong",
        ),
        (&["compare", "--windw", "5"], "--window"),
        (&["compare", "--window", "0"], "0"),
        (
            &["compare", "--protocol", "matched,fair"],
            "[possible values: matched, published, recorded]",
        ),
        (
            &["compare", "suite.jsonl", "--tokenizer", "o300k"],
            "`o200k_base`",
        ),
        (&["compare", "missing.jsonl"], "cannot read `missing.jsonl`"),
        (&["compare", "."], "cannot read `.`"),
        (&["comapre"], "did you mean `compare`"),
        (&["compare", "empty.jsonl"], "line 1"),
        (&["compare", "torn.jsonl"], "line 2"),
        (&["compare", "bytes.jsonl"], "invalid UTF-8"),
        (
            &["import", "claude-cod", "alpha.jsonl", "--out", "x.jsonl"],
            "`claude-code`",
        ),
        (
            &[
                "import",
                "claude-code",
                "alpha.jsonl",
                "--out",
                "suite.jsonl",
            ],
            "--force",
        ),
        (
            &["import", "suite.jsonl", "--out", "x.jsonl"],
            "already a suite",
        ),
        (
            &["import", "missing.jsonl", "--out", "x.jsonl"],
            "cannot read `missing.jsonl`",
        ),
        (
            &["import", "claude-code", "--out", "x.jsonl"],
            "no file of format `claude-code` is named",
        ),
        (
            &["import", "claude-code", "empty.jsonl", "--out", "x.jsonl"],
            "empty.jsonl",
        ),
        (&["explain", "suite.jsonl", "-s", "@all"], "follows one"),
        (
            &["explain", "suite.jsonl", "-s", "null", "--scenario", "zulu"],
            "`alpha`",
        ),
    ] {
        let output = program(dir.path(), args);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{args:?}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains(expected),
            "{args:?}: {}",
            stderr(&output)
        );
    }
    assert!(!dir.path().join("x.jsonl").exists(), "nothing half-written");
    assert!(!dir.path().join("reports").exists(), "nothing half-written");
}

#[test]
fn bad_parameters_name_value_and_range() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("bare.md"), "Summarize.").unwrap();
    for (strategy, set, expected) in [
        (
            "progressive",
            "progressive.treshold=0.5",
            "unknown parameter `treshold` (did you mean `threshold`?); choose from `window`, `threshold`",
        ),
        (
            "progressive",
            "progressive.threshold=0",
            "`threshold` is `0`; it must be a share from 0.01 to 1",
        ),
        (
            "hybrid-checkpoint",
            "hybrid-checkpoint.ratio=1.2",
            "`ratio` is `1.2`; it must be a share",
        ),
        (
            "chained",
            "chained.window=9000",
            "limits of `chained[window=9000]`: `window` is 9000 tokens; its reserves already take 11000",
        ),
        (
            "chained",
            "chained.prompt=bare.md",
            "lacks the placeholders `{previous}`, `{task}`, `{messages}`",
        ),
        (
            "chained",
            "chained.prompt=none.md",
            "cannot read the prompt `none.md`",
        ),
    ] {
        let output = program(
            dir.path(),
            &["run", "smoke", "-s", strategy, "--set", set, "--out", "out"],
        );
        assert_eq!(output.status.code(), Some(2), "{set}: {}", stderr(&output));
        assert!(
            stderr(&output).contains(expected),
            "{set}: {}",
            stderr(&output)
        );
    }
    assert!(!dir.path().join("out").exists(), "nothing half-written");
}

#[test]
fn a_folder_that_holds_something_else_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    imported(dir.path());
    std::fs::create_dir(dir.path().join("mine")).unwrap();
    std::fs::write(dir.path().join("mine/notes.txt"), "keep").unwrap();
    let output = program(
        dir.path(),
        &[
            "compare",
            "suite.jsonl",
            "--window",
            "2000",
            "--out",
            "mine",
        ],
    );
    assert_eq!(output.status.code(), Some(2));
    let entries = std::fs::read_dir(dir.path().join("mine")).unwrap().count();
    assert_eq!(entries, 1);
}

#[test]
fn a_start_that_failed_does_not_block_its_folder() {
    let dir = tempfile::tempdir().unwrap();
    imported(dir.path());
    std::fs::create_dir(dir.path().join("out")).unwrap();
    std::fs::write(dir.path().join("out/.gitignore"), "*\n").unwrap();
    let output = program(
        dir.path(),
        &[
            "compare",
            "suite.jsonl",
            "-s",
            "null,full",
            "--window",
            "2000",
            "--out",
            "out",
        ],
    );
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn two_protocols_make_one_report() {
    let dir = tempfile::tempdir().unwrap();
    imported(dir.path());
    let args = |protocol: &'static str| {
        let common = [
            "compare",
            "suite.jsonl",
            "-s",
            "summarize,chained,full",
            "--window",
            "2000",
            "--scale",
            "0.2",
        ];
        [&common[..], &["--protocol", protocol, "--out", "out"]].concat()
    };
    let first = program(dir.path(), &args("matched,published"));
    assert!(first.status.success(), "{}", stderr(&first));
    assert!(
        stderr(&first).contains("published: chained 0 of 2"),
        "{}",
        stderr(&first)
    );
    let table = stdout(&first);
    for heading in [
        "conversations, compacted to 600 tokens in a context window of 2,000",
        "protocol published, scale 0.2, context window of controls 2,000 tokens",
    ] {
        assert!(table.contains(heading), "{table}");
    }
    let summary = std::fs::read(dir.path().join("out/summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    let groups = summary["groups"].as_array().unwrap();
    assert_eq!(
        groups
            .iter()
            .map(|group| group["protocol"].as_str().unwrap())
            .collect::<Vec<_>>(),
        ["matched", "published"]
    );

    // The order of the list does not count.
    let again = program(dir.path(), &args("published,matched"));
    assert!(
        stderr(&again).contains("resumed: 12 of 12"),
        "{}",
        stderr(&again)
    );
    let alone = program(dir.path(), &args("matched"));
    assert!(
        stderr(&alone).contains("`cases` differs")
            || stderr(&alone).contains("`protocols` differs"),
        "{}",
        stderr(&alone)
    );
}
