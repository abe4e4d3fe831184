//! Transcripts that a user names by their program, or whose format nobody knows.

use std::path::Path;
use std::process::{Command, Output};

fn run(home: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_compactometer"));
    command
        .args(args)
        .current_dir(home)
        .env("HOME", home)
        .env_remove("CLAUDE_CONFIG_DIR")
        .env_remove("CODEX_HOME");
    command.output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const SESSION: &str = r#"{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"Hello."}}"#;

/// Without a terminal nobody can be asked, so the sessions are listed and the exit code says that
/// none was chosen.
#[test]
fn a_format_without_files_lists_the_sessions_of_its_program() {
    let home = tempfile::tempdir().unwrap();
    let kept = home.path().join(".claude/projects/shop");
    std::fs::create_dir_all(&kept).unwrap();
    for (name, seconds) in [("old", 1_000), ("new", 2_000)] {
        let path = kept.join(format!("{name}.jsonl"));
        std::fs::write(&path, SESSION).unwrap();
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        std::fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(at)
            .unwrap();
    }
    for command in [
        &["import", "claude-code", "--out", "x.jsonl"][..],
        &["losses", "claude-code"],
    ] {
        let listed = run(home.path(), command);
        assert_eq!(listed.status.code(), Some(2));
        let said = stderr(&listed);
        let at = |name: &str| {
            said.find(name)
                .unwrap_or_else(|| panic!("no {name} in {said}"))
        };
        assert!(
            at("  1  1970-01-01 00:33") < at("new.jsonl") && at("new.jsonl") < at("old.jsonl"),
            "{said}"
        );
        assert!(said.contains("give one or more of these"), "{said}");
    }
    let none = run(home.path(), &["import", "codex", "--out", "x.jsonl"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(
        stderr(&none).contains("there is none at"),
        "{}",
        stderr(&none)
    );
    let unkept = run(home.path(), &["import", "openai", "--out", "x.jsonl"]);
    assert!(
        stderr(&unkept).contains("no file of format `openai` is named"),
        "{}",
        stderr(&unkept)
    );
}

#[test]
fn an_unknown_format_is_told_the_nearest_three_and_why_they_refused() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("x.json"), r#"{"rows":[],"sessionId":"s"}"#).unwrap();
    let refused = run(home.path(), &["import", "x.json", "--out", "suite.jsonl"]);
    assert_eq!(refused.status.code(), Some(2));
    let said = stderr(&refused);
    let lines = said
        .lines()
        .filter(|line| line.starts_with("  "))
        .collect::<Vec<_>>();
    assert_eq!(lines.len(), 3, "{said}");
    assert!(
        lines[0].starts_with("  gemini: expected a Gemini CLI chat"),
        "{said}"
    );
    assert!(
        lines[0].ends_with("it has `sessionId`; it lacks `projectHash`, `messages`"),
        "{said}"
    );
    assert!(!home.path().join("suite.jsonl").exists());
}
