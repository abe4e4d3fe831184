//! `losses`: sessions of an agent go in, and what its own compactions lost comes out.

use std::path::Path;
use std::process::{Command, Output};

use compactometer_formats::added_text::AddedText;

fn run(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_compactometer"))
        .args(args)
        .current_dir(dir)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn row(uuid: &str, parent: Option<&str>, kind: &str, more: serde_json::Value) -> String {
    let mut row =
        serde_json::json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s-1"});
    row.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    row.to_string()
}

fn message(role: &str, content: &serde_json::Value) -> serde_json::Value {
    serde_json::json!({"message": {"role": role, "content": content}})
}

fn result(id: &str, content: &str) -> serde_json::Value {
    message(
        "user",
        &serde_json::json!([{"type": "tool_result", "tool_use_id": id, "content": content}]),
    )
}

fn calls(id: &str, tool: &str, input: &serde_json::Value) -> serde_json::Value {
    message(
        "assistant",
        &serde_json::json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]),
    )
}

fn failed(id: &str, content: &str) -> serde_json::Value {
    message(
        "user",
        &serde_json::json!([{"type": "tool_result", "tool_use_id": id, "content": content, "is_error": true}]),
    )
}

/// A session in a working directory whose rows are ten seconds apart. Its summary keeps one path as
/// it was said and one relative to the directory. After it the agent takes five old values, and one
/// that nobody said.
fn session() -> String {
    session_with("src/kept-4711.rs and src/pay.rs")
}

fn session_with(kept: &str) -> String {
    let filler = "There is more to say about the state of the build. ".repeat(30);
    let summary =
        format!("This session is being continued: <script>kept</script> {kept}. {filler}");
    let boundary = serde_json::json!({
        "subtype": "compact_boundary",
        "logicalParentUuid": "f",
        "compactMetadata": {"trigger": "auto", "preTokens": 9_000},
    });
    let mut written = message("user", &serde_json::json!(summary));
    written["isCompactSummary"] = true.into();
    let read = |id: &str, path: &str| calls(id, "Read", &serde_json::json!({"file_path": path}));
    let text = |role: &str, text: &str| message(role, &serde_json::json!(text));
    let turns = [
        (
            "user",
            text("user", &format!("Look for the files. {}", filler.repeat(9))),
        ),
        ("assistant", read("t1", "/home/ann/shop/src/pay.rs")),
        ("user", result("t1", "fn main")),
        (
            "assistant",
            calls(
                "t2",
                "Bash",
                &serde_json::json!({"command": "make", "timeout": 120_000}),
            ),
        ),
        (
            "user",
            result(
                "t2",
                "src/kept-4711.rs\nsrc/lost-0815.rs\nticket KX-4711: fn pay_total_due(ledger)",
            ),
        ),
        ("assistant", text("assistant", "I see both.")),
        ("system", boundary),
        ("user", written),
        ("user", text("user", "Now read them, for KX-4711.")),
        ("assistant", read("t3", "/home/ann/shop/src/pay.rs")),
        ("user", result("t3", "fn main")),
        ("assistant", read("t4", "src/kept-4711.rs")),
        ("user", result("t4", "fn kept")),
        ("assistant", read("t5", "/home/ann/shop/lib/lost-0815.rs")),
        ("user", failed("t5", "no such file")),
        ("assistant", read("t6", "src/lost-0815.rs")),
        ("user", result("t6", "fn lost")),
        (
            "assistant",
            calls(
                "t7",
                "Bash",
                &serde_json::json!({"command": "make", "timeout": 120_000}),
            ),
        ),
        ("user", result("t7", "ok")),
        (
            "assistant",
            calls(
                "t8",
                "Write",
                &serde_json::json!({"file_path": "new.rs", "content": "call pay_total_due now"}),
            ),
        ),
        ("user", result("t8", "written")),
        ("assistant", text("assistant", "Done.")),
    ];
    let name = |number: usize| char::from(b'a' + number as u8).to_string();
    let row = |(number, (kind, mut more)): (usize, (&str, serde_json::Value))| {
        more["timestamp"] =
            format!("2026-01-02T03:{:02}:{:02}Z", number / 6, number % 6 * 10).into();
        more["cwd"] = "/home/ann/shop".into();
        let parent = (number > 0 && kind != "system").then(|| name(number - 1));
        row(&name(number), parent.as_deref(), kind, more)
    };
    turns
        .into_iter()
        .enumerate()
        .map(row)
        .collect::<Vec<_>>()
        .join("\n")
}

fn json(dir: &Path, args: &[&str]) -> serde_json::Value {
    let shown = run(dir, &[&["losses"], args, &["--json", "-q"]].concat());
    serde_json::from_slice(&shown.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", text(&shown.stderr)))
}

#[test]
fn every_use_has_its_kind_and_its_place() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s-1.jsonl"), session()).unwrap();
    let found = json(dir.path(), &["s-1.jsonl"]);
    let count = |kind: &str, key: &str| found["uses"][kind][key].clone();
    assert_eq!(
        [
            count("address", "uses"),
            count("authored", "uses"),
            count("generic", "uses")
        ],
        [3, 1, 1]
    );
    assert_eq!(
        (
            count("address", "named_otherwise"),
            count("address", "held_in_log")
        ),
        (1.into(), (2.0 / 3.0).into())
    );
    // Claude Code puts back files that were read last. The only one holds none of these values.
    assert_eq!(count("address", "held_at_most"), 2.0 / 3.0);
    assert_eq!(count("authored", "held_in_log"), 0.0);
    // All that was said fits the budget. Every row of texts is in both forms.
    let screen = run(dir.path(), &["losses", "s-1.jsonl", "-q"]);
    for row in AddedText::ROWS {
        let key = format!("with_{}", row.key);
        assert_eq!(count("address", &key), 1.0, "{key}");
        assert!(
            text(&screen.stdout).contains(&format!("tokens of {}", row.name)),
            "{row:?}"
        );
        let use_seen = &found["each_use"][0];
        assert!(!use_seen[format!("in_{}", row.key)].is_null(), "{row:?}");
    }
    assert_eq!(
        found["uses"]["address"]["intervals"],
        serde_json::json!({}),
        "one session has no interval"
    );
    let uses = found["each_use"].as_array().unwrap();
    let lost = uses
        .iter()
        .find(|seen| seen["value"] == "src/lost-0815.rs")
        .unwrap();
    for (key, value) in [
        ("kind", serde_json::json!("address")),
        ("held", serde_json::json!("out_of_sight")),
        ("said_by", serde_json::json!("tool")),
        ("said_at", serde_json::json!(5)),
        ("tool", serde_json::json!("Read")),
        ("argument", serde_json::json!("file_path")),
    ] {
        assert_eq!(lost[key], value, "{key}");
    }
    let named = uses
        .iter()
        .find(|seen| seen["held"] == "named_otherwise")
        .unwrap();
    assert_eq!(named["value"], "/home/ann/shop/src/pay.rs");
}

#[test]
fn what_a_compaction_cost_beside_values_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s-1.jsonl"), session()).unwrap();
    let costs = json(dir.path(), &["s-1.jsonl"])["compactions"][0]["costs"].clone();
    // Rows are ten seconds apart; the summary and the user's question come before the reply.
    assert_eq!(
        (&costs["waited_before_ms"], &costs["waited_after_ms"]),
        (&10_000.into(), &30_000.into())
    );
    assert_eq!(
        (
            &costs["read_again"]["calls"],
            &costs["read_again_before"]["calls"]
        ),
        (&1.into(), &0.into())
    );
    assert_eq!(costs["said_again"], serde_json::json!(["KX-4711"]));
    let wrong = serde_json::json!([{"used_at": 12, "value": "/home/ann/shop/lib/lost-0815.rs", "said": "src/lost-0815.rs"}]);
    assert_eq!(costs["wrong_values"], wrong);
    assert!(costs["request_tokens"].is_null(), "the file has no usage");
}

#[test]
fn the_screen_and_the_page_name_what_was_not_held() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s-1.jsonl"), session()).unwrap();
    let files = ["--html", "page.html", "--markdown", "page.md"];
    let shown = run(dir.path(), &[&["losses", "s-1.jsonl"], &files[..]].concat());
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    let read = "claude-code: 1 file, 20 messages, 0 repairs, 0 secrets masked; `compactometer import` lists them\n";
    let written = format!("{read}page: page.html\npage: page.md\n");
    assert_eq!(text(&shown.stderr), written);
    let out = text(&shown.stdout);
    assert!(
        out.starts_with("1 compaction in 1 session of 1 project (claude-code)\n"),
        "{out}"
    );
    assert!(
        out.contains("`src/lost-0815.rs`, for `Read.file_path` in message 14"),
        "{out}"
    );
    assert!(
        !out.contains("lost\n")
            && out.lines().count() <= 40
            && out.lines().all(|line| line.chars().count() <= 100),
        "{out}"
    );
    let narrow = Command::new(env!("CARGO_BIN_EXE_compactometer"))
        .args(["losses", "s-1.jsonl", "-q"])
        .env("COLUMNS", "80")
        .current_dir(dir.path())
        .output()
        .unwrap();
    let narrow = text(&narrow.stdout);
    assert!(
        narrow.lines().count() <= 40 && narrow.lines().all(|line| line.chars().count() <= 80),
        "{narrow}"
    );
    let page = std::fs::read_to_string(dir.path().join("page.html")).unwrap();
    assert!(
        page.contains("src&#x2f;lost-0815.rs") && !page.contains("<script>"),
        "{page}"
    );
    assert!(page.contains("Held as they were said: 1"), "{page}");
    let markdown = std::fs::read_to_string(dir.path().join("page.md")).unwrap();
    assert!(
        markdown.contains("\n### Held as they were said: 1\n")
            && markdown.contains(
                "| `src/lost-0815.rs` | tools, message 5 | Read.file\\_path, message 14 |"
            ),
        "{markdown}"
    );
    // The value links to the message that said it, and that message to the use.
    assert!(
        page.contains("href=\"#m-s-1-5\"") && page.contains("id=\"m-s-1-5\""),
        "{page}"
    );
    assert!(
        page.contains("href=\"#u-") && page.contains("id=\"u-"),
        "{page}"
    );
    assert!(page.contains("href=\"#c-s-1-0\">after message "), "{page}");
    let counted = |text: &str| {
        let (_, after) = text.split_once("Not held when they were needed: ")?;
        Some(
            after
                .chars()
                .take_while(char::is_ascii_digit)
                .collect::<String>(),
        )
    };
    assert!(counted(&out).is_some_and(|number| number != "0"), "{out}");
    assert_eq!(counted(&out), counted(&page));
    for address in page
        .split("href=\"#")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
    {
        assert!(
            page.contains(&format!("id=\"{address}\"")),
            "{address} leads nowhere"
        );
    }
}

/// The same quantity has the same value in `losses`, of sessions and of a suite, and in a
/// comparison.
#[test]
fn the_same_share_is_shown_everywhere() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s-1.jsonl"), session()).unwrap();
    std::fs::write(
        dir.path().join("s-2.jsonl"),
        session_with("no path at all").replace("s-1", "s-2"),
    )
    .unwrap();
    let files = ["s-1.jsonl", "s-2.jsonl"];
    let imported = run(
        dir.path(),
        &[
            &["import"],
            &files[..],
            &["--auto-facts", "--out", "suite.jsonl", "-q"],
        ]
        .concat(),
    );
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    let of_sessions = json(dir.path(), &files);
    assert_eq!(
        of_sessions["uses"],
        json(dir.path(), &["suite.jsonl"])["uses"]
    );
    let compared = run(
        dir.path(),
        &[
            "compare",
            "suite.jsonl",
            "-s",
            "recorded,random-drop,summarize",
            "--json",
            "-q",
        ],
    );
    let summary: serde_json::Value = serde_json::from_slice(&compared.stdout).unwrap();
    let group = &summary["groups"][0];
    let recorded = group["strategies"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "recorded")
        .unwrap();
    let address = &of_sessions["uses"]["address"];
    let share = |metric: &str| recorded["metrics"][metric]["value"].as_f64().unwrap();
    for (metric, key) in [
        ("distant_address_use_recall", "held_in_log"),
        ("address_use_recall_at_most", "held_at_most"),
    ] {
        assert!(
            (share(metric) - address[key].as_f64().unwrap()).abs() < 1e-9,
            "{metric}: {recorded}"
        );
    }
    assert_eq!(address["uses"], 6);
    for stage in ["reached", "written"] {
        assert!(
            recorded["metrics"][stage]["value"].is_null(),
            "{stage}: the request is not in the transcript"
        );
    }
}

#[test]
fn sessions_without_a_compaction_say_so_and_what_to_run() {
    let dir = tempfile::tempdir().unwrap();
    let lines = session().lines().take(4).collect::<Vec<_>>().join("\n");
    std::fs::write(dir.path().join("s-1.jsonl"), lines).unwrap();
    let refused = run(dir.path(), &["losses", "s-1.jsonl", "-q"]);
    assert_eq!(refused.status.code(), Some(2));
    let error = text(&refused.stderr);
    assert!(
        error.contains("no recorded compaction in 1 session"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
}

/// A session without a compaction, in a file whose name a shell would split.
#[test]
fn the_commands_that_are_advised_run() {
    let dir = tempfile::tempdir().unwrap();
    let uncompacted = session()
        .lines()
        .filter(|line| !line.to_lowercase().contains("compact"))
        .collect::<Vec<_>>()
        .join("\n");
    std::fs::write(dir.path().join("my session.jsonl"), uncompacted).unwrap();
    let refused = run(dir.path(), &["losses", "my session.jsonl", "-q"]);
    let many = (1..=12)
        .map(|number| {
            let name = format!("s-{number}.jsonl");
            let lines = session_with("no path at all").replace("s-1", &format!("s-{number}"));
            std::fs::write(dir.path().join(&name), lines).unwrap();
            name
        })
        .collect::<Vec<_>>();
    let names = many.iter().map(String::as_str);
    let measured = run(
        dir.path(),
        &["losses", "-q"]
            .into_iter()
            .chain(names)
            .collect::<Vec<_>>(),
    );
    let advised = [
        text(&refused.stderr),
        text(&measured.stdout).replace("\n    ", " "),
    ];
    for advised in advised {
        let (_, command) = advised.split_once("run: compactometer ").expect(&advised);
        let command = command.lines().next().unwrap();
        let done = Command::new("sh")
            .args([
                "-c",
                &format!("\"$0\" {command}"),
                env!("CARGO_BIN_EXE_compactometer"),
            ])
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(done.status.success(), "{command}: {}", text(&done.stderr));
    }
}

#[test]
fn a_comparison_reads_transcripts() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("s-1.jsonl"), session()).unwrap();
    std::fs::write(
        dir.path().join("s-2.jsonl"),
        session_with("no path at all").replace("s-1", "s-2"),
    )
    .unwrap();
    let compared = |files: &[&str]| {
        let args = [&["compare"], files, &["-s", "recorded", "--json", "-q"]].concat();
        let output = run(dir.path(), &args);
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()["groups"][0]["strategies"][0]["metrics"].clone()
    };
    let args = [
        "import",
        "s-1.jsonl",
        "s-2.jsonl",
        "--auto-facts",
        "--out",
        "suite.jsonl",
        "-q",
    ];
    assert!(run(dir.path(), &args).status.success());
    assert_eq!(
        compared(&["s-1.jsonl", "s-2.jsonl"]),
        compared(&["suite.jsonl"])
    );
}

#[test]
fn a_compaction_that_cannot_be_measured_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let lines = session().lines().skip(6).collect::<Vec<_>>().join("\n");
    std::fs::write(dir.path().join("s-1.jsonl"), lines).unwrap();
    let refused = run(dir.path(), &["losses", "s-1.jsonl", "-q"]);
    assert_eq!(refused.status.code(), Some(2));
    let out = text(&refused.stdout);
    assert!(
        out.contains("1 compaction left out: the file does not hold what came before it"),
        "{out}"
    );
    let found = json(dir.path(), &["s-1.jsonl"]);
    assert_eq!(
        (&found["compactions"], &found["unmeasured"]),
        (
            &serde_json::json!([]),
            &serde_json::json!({"nothing_before": 1})
        )
    );
}

/// The rows of a session that is written while it is read: a part of a row comes last.
#[test]
fn a_session_that_grows_is_measured_up_to_its_last_whole_row() {
    let dir = tempfile::tempdir().unwrap();
    let whole = session();
    std::fs::write(dir.path().join("s-1.jsonl"), &whole[..whole.len() - 40]).unwrap();
    assert_eq!(
        json(dir.path(), &["s-1.jsonl"])["uses"]["address"]["uses"],
        3
    );
}

/// Values are found in a summary of any language, since only they are looked for.
#[test]
fn a_summary_in_another_language_holds_its_values() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("s-1.jsonl"),
        session_with("文件 src/kept-4711.rs 和「src/lost-0815.rs」"),
    )
    .unwrap();
    assert_eq!(
        json(dir.path(), &["s-1.jsonl"])["uses"]["address"]["named_otherwise"],
        0
    );
    assert_eq!(
        json(dir.path(), &["s-1.jsonl"])["uses"]["address"]["held_in_log"],
        2.0 / 3.0
    );
}

/// The uses of three real sessions that found no value as it was said, labelled by hand before
/// there was a classifier.
#[test]
fn the_classes_are_those_of_a_hand_count() {
    let Some(data) = super::shared_data::data() else {
        return;
    };
    let mut files = std::fs::read_dir(data.join("claude-code-compacted"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect::<Vec<_>>();
    files.sort();
    let files = files
        .iter()
        .map(|file| file.to_str().unwrap())
        .collect::<Vec<_>>();
    let found = json(Path::new("."), &files);
    let class = |seen: &serde_json::Value| match (
        seen["kind"].as_str().unwrap(),
        seen["held"].as_str().unwrap(),
    ) {
        ("generic", _) => "generic".to_owned(),
        (_, "named_otherwise") => "named_otherwise".to_owned(),
        (kind, _) => kind.to_owned(),
    };
    let key = |session: &str, message: &str, hash: &str| format!("{session} {message} {hash}");
    let mut classes = std::collections::BTreeMap::new();
    let is_as_said = |seen: &&serde_json::Value| seen["held"] == "as_said";
    for seen in found["each_use"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|seen| !is_as_said(seen))
    {
        let hash = blake3::hash(seen["value"].as_str().unwrap().as_bytes()).to_hex();
        let session = seen["session"].as_str().unwrap();
        classes.insert(
            key(session, &seen["used_at"].to_string(), &hash[..16]),
            class(seen),
        );
    }
    let mut rows = csv::Reader::from_reader(include_str!("losses/labels.csv").as_bytes());
    let mut wrong = Vec::new();
    for row in rows.records() {
        let row = row.unwrap();
        let found = classes.remove(&key(&row[0], &row[1], &row[3]));
        // A function that is called is not a value at all.
        let is_call = row[5].contains("that is called") && found.is_none();
        if !is_call && found.as_deref() != Some(&row[4]) {
            wrong.push(format!("{row:?}: {found:?}"));
        }
    }
    assert!(
        wrong.is_empty() && classes.is_empty(),
        "{wrong:#?} {classes:#?}"
    );
}

/// A home in which two programs keep sessions.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let keep = |path: &str, text: &str| {
        let path = home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    keep(".claude/projects/shop/s-1.jsonl", &session());
    let head = r#"{"type":"session","id":"p-1","timestamp":"2026-01-02T03:04:05Z","cwd":"/home/ann/shop"}"#;
    let said = r#"{"type":"message","id":"a","timestamp":"2026-01-02T03:04:06Z","message":{"role":"user","content":"Hello."}}"#;
    keep(
        ".pi/agent/sessions/shop/p-1.jsonl",
        &format!("{head}\n{said}\n"),
    );
    home
}

fn run_at_home(home: &Path, args: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_compactometer"));
    for variable in [
        "CLAUDE_CONFIG_DIR",
        "CODEX_HOME",
        "PI_CODING_AGENT_DIR",
        "XDG_DATA_HOME",
    ] {
        program.env_remove(variable);
    }
    program
        .args(args)
        .env("HOME", home)
        .current_dir(home)
        .output()
        .unwrap()
}

#[test]
fn without_a_file_the_sessions_that_programs_keep_are_listed() {
    let home = home();
    let listed = run_at_home(home.path(), &["losses"]);
    let error = text(&listed.stderr);
    assert_eq!(listed.status.code(), Some(2), "{error}");
    assert!(
        error.contains("s-1.jsonl") && error.contains("p-1.jsonl") && error.contains(" kB "),
        "{error}"
    );
    assert!(
        error.contains("no file is named: give one or more of these"),
        "{error}"
    );
    let folder = run_at_home(home.path(), &["losses", ".claude"]);
    let error = text(&folder.stderr);
    assert!(
        folder.status.code() == Some(2)
            && error.contains("s-1.jsonl")
            && !error.contains("p-1.jsonl"),
        "{error}"
    );
    // A folder may hold files that are not sessions, and a format may come before it.
    std::fs::write(home.path().join(".claude/package.json"), "{\"name\":\"x\"}").unwrap();
    for words in [
        &["losses", ".claude"][..],
        &["losses", "claude-code", ".claude"],
    ] {
        let error = text(&run_at_home(home.path(), words).stderr);
        assert!(
            error.contains("s-1.jsonl") && !error.contains("package.json"),
            "{error}"
        );
    }
    let empty = run_at_home(&home.path().join(".pi/agent"), &["losses"]);
    assert!(
        empty.status.code() == Some(2) && text(&empty.stderr).contains("there is no session at"),
        "{}",
        text(&empty.stderr)
    );
}

#[test]
fn sessions_of_two_programs_are_counted_together() {
    let home = home();
    let files = [
        ".claude/projects/shop/s-1.jsonl",
        ".pi/agent/sessions/shop/p-1.jsonl",
    ];
    let found = json(home.path(), &files);
    assert_eq!(
        (&found["sessions"], &found["projects"]),
        (&2.into(), &1.into())
    );
    assert_eq!(found["programs"], serde_json::json!(["claude-code", "pi"]));
    assert_eq!(found["uses"]["address"]["uses"], 3);
}
