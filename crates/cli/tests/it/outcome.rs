//! A comparison that compared nothing says so by its exit code, and what would do.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

const SPEC: &str = "name = \"tiny\"\nseed = 4\nwindow = 2000\ndomains = [\"service\"]\nconversations = 2\n\
                    lengths = [6000]\nfacts = [12, 12]\npoints = [2, 2]\n";

fn program(dir: &Path, args: &[&str]) -> Output {
    Command::cargo_bin("compactometer")
        .unwrap()
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

/// The line of `doctor` that begins so; its exit code is 0, since the run would finish.
fn warned(dir: &Path, args: &[&str], start: &str) -> String {
    let output = program(dir, &[&["doctor"], args].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    text.lines()
        .find(|line| line.starts_with(start))
        .unwrap_or_else(|| panic!("{start} in {text}"))
        .to_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_window_that_no_conversation_fills_is_named_with_one_that_would_do() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
    let too_wide = [
        "tiny.toml",
        "-s",
        "summarize,full",
        "--window",
        "100000",
        "--out",
    ];
    let compared = program(
        dir.path(),
        &[&["compare"], &too_wide[..], &["wide"]].concat(),
    );
    assert_eq!(compared.status.code(), Some(4), "{}", stderr(&compared));
    let said = stderr(&compared);
    let window = said
        .split("`--window ")
        .nth(1)
        .and_then(|rest| rest.split('`').next())
        .expect(&said);
    assert!(
        dir.path().join("wide/index.html").exists(),
        "the report is written"
    );
    let line = warned(dir.path(), &too_wide[..5], "warning  trigger");
    assert!(
        line.contains("trigger summarize")
            && line.contains(&format!("`--window {window}` would do")),
        "{line}"
    );
    let run = program(dir.path(), &[&["run"], &too_wide[..], &["run"]].concat());
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    // Two groups are enough to run, and too few for a difference.
    let line = warned(
        dir.path(),
        &["tiny.toml", "-s", "summarize,full", "--window", window],
        "warning  groups",
    );
    assert!(line.contains("looked for is 2, and under 6"), "{line}");
    let fitting = [
        "compare",
        "tiny.toml",
        "-s",
        "summarize,full",
        "--window",
        window,
        "--out",
        "fits",
    ];
    let compared = program(dir.path(), &fitting);
    assert_eq!(
        compared.status.code(),
        Some(0),
        "{window}: {}",
        stderr(&compared)
    );
}

/// A larger or smaller window would change nothing.
#[test]
fn compactions_that_all_fail_are_no_matter_of_the_window() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
    let failing = [
        "compare",
        "tiny.toml",
        "-s",
        "summarize,full",
        "--model",
        "mock+timeout=1",
        "--out",
        "out",
    ];
    let compared = program(dir.path(), &failing);
    assert_eq!(compared.status.code(), Some(4), "{}", stderr(&compared));
    assert!(
        stderr(&compared).contains("compactions that were due failed"),
        "{}",
        stderr(&compared)
    );
    assert!(
        !stderr(&compared).contains("would do"),
        "{}",
        stderr(&compared)
    );
}

#[test]
fn one_strategy_that_compacts_is_enough() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
    let both = [
        "compare",
        "tiny.toml",
        "-s",
        "early=summarize:window=4000:trigger=2000,late=summarize",
        "--protocol",
        "published",
        "--out",
        "out",
    ];
    let line = warned(dir.path(), &both[1..6], "warning  trigger");
    assert!(
        line.contains("trigger late") && line.contains("`--scale`"),
        "{line}"
    );
    let compared = program(dir.path(), &both);
    assert_eq!(compared.status.code(), Some(0), "{}", stderr(&compared));
}

#[test]
fn a_suite_without_facts_says_where_facts_come_from() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
    assert!(
        program(
            dir.path(),
            &["generate", "tiny.toml", "--out", "tiny.jsonl"]
        )
        .status
        .success()
    );
    let suite = std::fs::read_to_string(dir.path().join("tiny.jsonl")).unwrap();
    let without = suite.lines().map(|line| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        for key in ["facts", "probes"] {
            if row.get(key).is_some() {
                row[key] = Value::Array(Vec::new());
            }
        }
        row.to_string() + "\n"
    });
    std::fs::write(dir.path().join("bare.jsonl"), without.collect::<String>()).unwrap();
    let compared = program(
        dir.path(),
        &[
            "compare",
            "bare.jsonl",
            "-s",
            "summarize,full",
            "--out",
            "out",
        ],
    );
    assert_eq!(compared.status.code(), Some(4), "{}", stderr(&compared));
    assert!(
        stderr(&compared).contains("has no fact that recall could count"),
        "{}",
        stderr(&compared)
    );
    assert!(
        stderr(&compared).contains("--auto-facts"),
        "{}",
        stderr(&compared)
    );
    let line = warned(
        dir.path(),
        &["bare.jsonl", "-s", "summarize,full"],
        "warning  facts",
    );
    assert!(
        line.contains("has no fact that recall could count"),
        "{line}"
    );
}

/// Requests reach the trigger, but most of them is the user's last message, which stays.
#[test]
fn requests_of_one_long_message_leave_nothing_to_compact() {
    let dir = tempfile::tempdir().unwrap();
    let said = |id: u32, role: &str, text: &str| serde_json::json!({"id": id, "role": role, "parts": [{"type": "text", "text": text}]});
    let long = "All of this is in one message. ".repeat(600);
    let messages = [
        said(1, "user", "The ticket is kx-4701."),
        said(2, "assistant", "Noted."),
        said(3, "user", &long),
        said(4, "assistant", "Read."),
    ];
    let fact = serde_json::json!({"id": "f", "category": "incidental", "subject": "ticket", "value": "kx-4701",
        "value_kind": "id", "evidence_message_ids": [1], "stated_by": "user"});
    let scenario = serde_json::json!({"id": "a", "group_id": "g", "source": "test", "messages": messages, "facts": [fact]});
    let header = serde_json::json!({"format": "compactometer-suite", "version": 1, "name": "tail"});
    std::fs::write(
        dir.path().join("tail.jsonl"),
        format!("{header}\n{scenario}\n"),
    )
    .unwrap();
    let compared = program(
        dir.path(),
        &[
            "compare",
            "tail.jsonl",
            "-s",
            "recent=summarize,full",
            "--window",
            "3000",
            "--out",
            "out",
        ],
    );
    assert_eq!(compared.status.code(), Some(4), "{}", stderr(&compared));
    assert!(
        stderr(&compared).contains("although requests reach the trigger"),
        "{}",
        stderr(&compared)
    );
}

/// The notes of a report on the first generated conversations, of which calls use a value or none.
fn notes_without_enough_uses(conversations: usize, calls: bool) -> String {
    let dir = tempfile::tempdir().unwrap();
    let spec = SPEC.replace("conversations = 2", "conversations = 6");
    std::fs::write(dir.path().join("tiny.toml"), spec).unwrap();
    let made = ["generate", "tiny.toml", "--out", "tiny.jsonl"];
    assert!(program(dir.path(), &made).status.success());
    let suite = std::fs::read_to_string(dir.path().join("tiny.jsonl")).unwrap();
    let lines = suite.lines().take(1 + conversations).map(|line| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        for fact in row
            .get_mut("facts")
            .and_then(Value::as_array_mut)
            .into_iter()
            .flatten()
        {
            if !calls {
                fact["used_at"] = Value::Array(Vec::new());
            }
        }
        row.to_string() + "\n"
    });
    std::fs::write(dir.path().join("few.jsonl"), lines.collect::<String>()).unwrap();
    let args = [
        "compare",
        "few.jsonl",
        "-s",
        "summarize,chained,random-drop",
        "--notes",
    ];
    let compared = program(dir.path(), &args);
    assert_eq!(compared.status.code(), Some(0), "{}", stderr(&compared));
    let table = String::from_utf8_lossy(&compared.stdout).into_owned();
    assert!(!table.contains("At use:"), "{table}");
    table + &stderr(&compared)
}

#[test]
fn under_a_hundred_uses_there_is_no_share_of_them_and_a_note_says_so() {
    let some = notes_without_enough_uses(6, true);
    assert!(
        some.contains("too few uses (1): a share takes 100"),
        "{some}"
    );
    let none = notes_without_enough_uses(6, false);
    assert!(
        none.contains("no turn uses an address that is old enough"),
        "{none}"
    );
    let one = notes_without_enough_uses(1, true);
    assert!(
        one.replace("\n  ", " ")
            .contains("6 to support a difference between two"),
        "{one}"
    );
}
