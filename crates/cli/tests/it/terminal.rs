//! A terminal obeys nothing that came from outside, whichever command prints it, and in no error.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

/// Sets a title, clears the screen, colours by one character, deletes, reorders and goes back.
const HOSTILE: &str = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m\u{7f}\u{202e}\u{2066}\u{61c}\r";
/// The part of it that names may hold.
const TURNED: &str = "a\u{202e}b\u{2067}c\u{200f}";
const SPEC: &str = "name = \"tiny\"\nseed = 4\nwindow = 2000\ndomains = [\"service\"]\nconversations = 2\n\
                    lengths = [6000]\nfacts = [12, 12]\npoints = [2, 2]\n";

fn program(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("compactometer").unwrap();
    let inherited = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in inherited.filter(|name| name.starts_with("COMPACTOMETER_") || name == "RUST_LOG") {
        command.env_remove(name);
    }
    command
        .env("NO_COLOR", "1")
        .env("NO_PROXY", "*")
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

fn is_obeyed(letter: char) -> bool {
    let reorders = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    reorders || (letter.is_control() && letter != '\n' && letter != '\t')
}

/// Both streams of a command; neither holds anything that a terminal obeys.
fn stderr(dir: &Path, args: &[&str]) -> String {
    let output = program(dir, args);
    let text = format!(
        "{}{}",
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap()
    );
    let found = text.chars().find(|letter| is_obeyed(*letter));
    assert_eq!(found, None, "{args:?}: {text:?}");
    text
}

/// The same for a command that has hostile text to show; it must show an escape.
fn stdout(dir: &Path, args: &[&str]) -> String {
    let text = stderr(dir, args);
    assert!(
        text.contains("\\u{1b}") || text.contains("\\u{202e}"),
        "{args:?} shows nothing hostile: {text}"
    );
    text
}

/// JSON on stdout, parsed; its texts are unchanged.
fn value(dir: &Path, args: &[&str]) -> Value {
    stderr(dir, args);
    serde_json::from_slice(&program(dir, args).stdout).unwrap()
}

/// A suite with ids, texts, questions and notes as hostile as a suite may hold.
fn suite(dir: &Path) {
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    stderr(
        dir,
        &["generate", "tiny.toml", "--out", "plain.jsonl", "-q"],
    );
    let plain = std::fs::read_to_string(dir.join("plain.jsonl")).unwrap();
    let mut lines = plain
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .collect::<Vec<_>>();
    lines[0]["name"] = TURNED.into();
    lines[0]["notes"] = json!([TURNED]);
    for line in &mut lines[1..] {
        line["id"] = format!("{TURNED}{}", line["id"].as_str().unwrap()).into();
        line["group_id"] = format!("{TURNED}{}", line["group_id"].as_str().unwrap()).into();
        let parts = line["messages"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .flat_map(|message| message["parts"].as_array_mut().unwrap());
        for part in parts.filter(|part| part["type"] == "text") {
            part["text"] = format!("{} {HOSTILE}", part["text"].as_str().unwrap()).into();
        }
        for probe in line["probes"].as_array_mut().unwrap() {
            probe["question"] = format!("{HOSTILE} {}", probe["question"].as_str().unwrap()).into();
        }
    }
    let lines = lines
        .iter()
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    std::fs::write(dir.join("hostile.jsonl"), lines).unwrap();
}

#[test]
fn a_hostile_suite_goes_through_every_command() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    suite(dir);
    let run = [
        "hostile.jsonl",
        "-s",
        "summarize,chained,progressive,full,null",
    ];
    stdout(dir, &[&["compare", "--out", "out"], &run[..]].concat());
    stdout(
        dir,
        &[
            &["run", "-vv", "--out", "again", "--store", "kept.db"],
            &run[..],
        ]
        .concat(),
    );
    stdout(dir, &["report", "out", "--format", "md"]);
    stdout(dir, &["probes", "hostile.jsonl"]);
    stdout(dir, &["explain", "hostile.jsonl", "-s", "summarize"]);
    stdout(
        dir,
        &[
            "explain",
            "hostile.jsonl",
            "-s",
            "summarize",
            "--fact",
            HOSTILE,
        ],
    );
    stdout(dir, &["explain", "hostile.jsonl", "-s", HOSTILE]);
    stdout(
        dir,
        &[&["doctor", "--out", "out"], &run[..], &["--model", HOSTILE]].concat(),
    );
    stderr(dir, &["gate", "out", "--baseline", "base.json", "--update"]);
    stdout(dir, &["gate", "out", "--baseline", "base.json"]);
    stderr(dir, &["agreement", "out", "again"]);
    assert_eq!(
        value(
            dir,
            &[&["compare", "--json", "--out", "out"], &run[..]].concat()
        )["groups"][0]["suite"],
        TURNED
    );
    value(dir, &["gate", "out", "--baseline", "base.json", "--json"]);
    value(dir, &[&["doctor", "--json"], &run[..]].concat());
}

#[test]
fn a_hostile_transcript_is_imported() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let row = |uuid: &str, parent: Value, role: &str, text: &str, at: &str| {
        json!({
            "type": role, "uuid": uuid, "parentUuid": parent, "sessionId": TURNED, "timestamp": at,
            "message": {"role": role, "content": text},
        })
    };
    let rows = [
        row("a", Value::Null, "user", HOSTILE, HOSTILE),
        row(
            "b",
            "a".into(),
            "assistant",
            "The port is 8041.",
            "2026-01-01T00:00:00Z",
        ),
        json!({"type": HOSTILE, "uuid": "c", "sessionId": HOSTILE}),
    ];
    let lines = rows
        .iter()
        .map(|row| format!("{row}\n"))
        .collect::<String>();
    std::fs::write(
        dir.join("it\u{1b}[2J\u{9b}.jsonl"),
        lines + "{\"type\":\"\u{1b}[2J\n",
    )
    .unwrap();
    stdout(
        dir,
        &[
            "import",
            "claude-code",
            "it\u{1b}[2J\u{9b}.jsonl",
            "--out",
            "suite\u{1b}[2J.jsonl",
            "--auto-facts",
        ],
    );
    stdout(
        dir,
        &[
            "import",
            "claude-code",
            "it\u{1b}[2J\u{9b}.jsonl",
            "--out",
            "x.jsonl",
            "--strict",
        ],
    );
    stdout(
        dir,
        &[
            "import",
            HOSTILE,
            "it\u{1b}[2J\u{9b}.jsonl",
            "--out",
            "x.jsonl",
        ],
    );
    stdout(
        dir,
        &[
            "import",
            "tau-bench",
            "it\u{1b}[2J\u{9b}.jsonl",
            "--out",
            "x.jsonl",
        ],
    );
}

#[test]
fn hostile_arguments_settings_and_variables_are_echoed_as_escapes() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    for args in [
        &["compare", "--window", HOSTILE][..],
        &[HOSTILE],
        &["--\u{1b}[2Jx"],
        &["list", HOSTILE],
        &["schema", HOSTILE],
        &["run", "-s", HOSTILE],
        &["run", "--set", HOSTILE],
        &["run", "smoke", "--model", HOSTILE],
        &["generate", HOSTILE, "--out", "x.jsonl"],
        &["report", HOSTILE],
        &["gate", HOSTILE, "--baseline", HOSTILE],
        &["checkpoint", "show", "--store", HOSTILE],
        &["compare", "--prices", HOSTILE],
    ] {
        stdout(dir, args);
    }
    for settings in [
        "\"mo\\u001b[2Jdel\" = \"mock\"",
        "model = \"mock\\u001b[2J\"",
        "retain = \"\\u001b[2J\"",
        "protocol = \"\\u202Ematched\"",
        "model = \u{1b}[2J",
        "max_cost = 1 # \u{202e}",
    ] {
        std::fs::write(dir.join("compactometer.toml"), settings).unwrap();
        stderr(dir, &["config"]);
        stderr(dir, &["compare", "smoke", "-s", "null", "--out", "out"]);
    }
    std::fs::write(dir.join("compactometer.toml"), "model = \"mock\\u001b[2J\"").unwrap();
    stdout(dir, &["compare", "smoke", "-s", "null", "--out", "out"]);
    stdout(dir, &["config"]);
    stdout(dir, &["compare", "--help"]);
}

#[test]
fn hostile_files_are_refused_in_plain_words() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let hostile = format!(
        "{{\"{}\": 1}}",
        HOSTILE
            .escape_unicode()
            .to_string()
            .replace("\\u{", "\\u00")
            .replace('}', "")
    );
    let escaped = serde_json::to_string(&json!({HOSTILE: HOSTILE})).unwrap();
    for text in [escaped.as_str(), &hostile, HOSTILE] {
        for (name, args) in [
            ("suite.jsonl", &["run", "suite.jsonl"][..]),
            ("spec.toml", &["run", "spec.toml"]),
            ("prices.toml", &["run", "smoke", "--prices", "prices.toml"]),
            ("out/manifest.json", &["report", "out"]),
            (
                "out/manifest.json",
                &["run", "smoke", "-s", "null", "--out", "out"],
            ),
            ("base.json", &["gate", "out", "--baseline", "base.json"]),
            (
                "store.db",
                &["checkpoint", "history", "--store", "store.db"],
            ),
        ] {
            std::fs::create_dir_all(dir.join("out")).unwrap();
            std::fs::write(dir.join(name), text).unwrap();
            stderr(dir, args);
        }
    }
}

#[test]
fn a_store_with_hostile_threads_is_listed_and_shown() {
    for store in ["kept", "kept.db"] {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path();
        suite(dir);
        let test = [
            "checkpoint",
            "test",
            "hostile.jsonl",
            "--store",
            store,
            "--save",
            "--thread",
        ];
        for thread in [TURNED, "another"] {
            stderr(dir, &[&test[..], &[thread]].concat());
        }
        stdout(dir, &["checkpoint", "history", "--store", store]);
        stdout(
            dir,
            &[
                "checkpoint",
                "history",
                "--store",
                store,
                "--thread",
                TURNED,
            ],
        );
        stdout(
            dir,
            &["checkpoint", "show", "--store", store, "--thread", TURNED],
        );
        stdout(
            dir,
            &["checkpoint", "show", "--store", store, "--thread", HOSTILE],
        );
        stdout(dir, &["checkpoint", "show", "--store", store]);
        stdout(
            dir,
            &["checkpoint", "clear", "--store", store, "--thread", TURNED],
        );
        let listed = value(dir, &["checkpoint", "history", "--store", store, "--json"]);
        assert!(
            listed["threads"]
                .as_array()
                .unwrap()
                .contains(&TURNED.into()),
            "{listed}"
        );
        stdout(
            dir,
            &[
                "checkpoint",
                "clear",
                "--store",
                store,
                "--thread",
                TURNED,
                "--yes",
            ],
        );
    }
}

#[test]
fn a_servers_words_are_shown_and_not_obeyed() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let server = runtime.block_on(async {
        let server = MockServer::start().await;
        let body = json!({"error": {"message": HOSTILE, "type": HOSTILE, "code": HOSTILE}});
        let refusal = ResponseTemplate::new(400).set_body_json(body);
        Mock::given(matchers::any())
            .respond_with(refusal)
            .mount(&server)
            .await;
        server
    });
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    let model = format!("openai-compatible:m@{}/v1", server.uri());
    let run = ["tiny.toml", "-s", "summarize", "--model", &model];
    stdout(dir, &[&["run", "-vv", "--out", "out"], &run[..]].concat());
    stdout(dir, &[&["doctor", "--call"], &run[..]].concat());
    stdout(dir, &[&["explain"], &run[..]].concat());
}
