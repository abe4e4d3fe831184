//! The hostile corpus: each command of it is run, and each promise of a page cites a row.

mod promises;

use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use compactometer_testing::hostile::{HostileCommand, HostileFile, corpus};
use serde_json::json;

use crate::hook::program;

/// A session of Claude Code with a compaction, and the row's words in it.
fn session(row: &HostileCommand) -> String {
    let or = |text: &Option<String>, other: &str| text.clone().unwrap_or_else(|| other.to_owned());
    let user = or(&row.user, "Mend the refunds.");
    let result = or(&row.result, "see src/pay/card.rs");
    let argument = or(&row.argument, "/home/ann/shop/src/pay/refund.rs");
    let summary = or(&row.summary, "The refunds were looked at.");
    let call = |id: &str, path: &str| json!({"type": "tool_use", "id": id, "name": "Grep", "input": {"path": path}});
    let agent = |id: &str, content| json!({"type": "assistant", "message": {"id": id, "role": "assistant", "content": [content]}});
    let says = |content| json!({"type": "user", "message": {"role": "user", "content": content}});
    let answer =
        |id: &str, text: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": text}]);
    let rows = [
        says(json!(user)),
        agent("m1", call("t1", &argument)),
        says(answer("t1", &result)),
        agent("m2", call("t2", "src/pay/card.rs")),
        says(answer("t2", "fn card() {}")),
        agent("m3", json!({"type": "text", "text": "I have read it."})),
        json!({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", "preTokens": 1000}}),
        json!({"type": "user", "isCompactSummary": true, "message": {"role": "user", "content": summary}}),
    ];
    let lines = rows.into_iter().enumerate().map(|(at, mut line)| {
        line["cwd"] = "/home/ann/shop".into();
        crate::hook::row(at, line)
    });
    lines.collect()
}

fn write(row: &HostileCommand, dir: &Path) {
    for (name, file) in &row.files {
        let text = match file {
            HostileFile::Text(text) => text.replace("{session}", &session(row)),
            HostileFile::Repeated { text, times } => text.repeat(*times),
        };
        let path = dir.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn run(row: &HostileCommand, dir: &Path) -> Output {
    let mut command = program(dir);
    command.args(&row.args).envs(&row.set);
    let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = pipes.stderr(Stdio::piped()).spawn().unwrap();
    // It may end before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(row.stdin.as_bytes());
    child.wait_with_output().unwrap()
}

/// The texts of all files that the command made.
fn made(dir: &Path, row: &HostileCommand) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_file() && !row.files.contains_key(&name) {
            texts.push(String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap()).into_owned());
        } else if entry.path().is_dir() {
            texts.extend(made(&entry.path(), row));
        }
    }
    texts
}

#[test]
fn each_command_of_the_corpus_ends_as_its_row_says() {
    let mut wrong = Vec::new();
    for row in corpus().command {
        let dir = tempfile::tempdir().unwrap();
        write(&row, dir.path());
        let start = Instant::now();
        let output = run(&row, dir.path());
        let taken = start.elapsed();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (printed, said) = (text(&output.stdout), text(&output.stderr));
        let mut check = |holds: bool, what: &str| {
            if !holds {
                let attack = &row.attack;
                wrong.push(format!("{} ({attack}): {what}\n{printed}\n{said}", row.id));
            }
        };
        let code = output.status.code();
        check(code == Some(row.exit), &format!("exit code {code:?}"));
        for part in &row.prints {
            check(printed.contains(part), &format!("does not print `{part}`"));
        }
        for part in &row.says {
            check(said.contains(part), &format!("does not say `{part}`"));
        }
        let files = made(dir.path(), &row);
        for part in &row.never {
            let mut all = files.iter().chain([&printed, &said]);
            check(
                !all.any(|text| text.contains(part)),
                &format!("passes on {part:?}"),
            );
        }
        for part in &row.unwritten {
            let written = files.iter().any(|text| text.contains(part));
            check(!files.is_empty() && !written, &format!("writes {part:?}"));
        }
        // Any mistake in a row's arguments gives an error too.
        check(
            row.exit == 0 || !row.says.is_empty(),
            "the row names no words",
        );
        for name in &row.absent {
            check(
                !dir.path().join(name).exists(),
                &format!("`{name}` is there"),
            );
        }
        let most = Duration::from_secs(row.seconds.unwrap_or(60));
        check(taken <= most, &format!("took {taken:?}"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
