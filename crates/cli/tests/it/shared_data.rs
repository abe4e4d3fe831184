//! Each importer's real transcripts, from the file to the report. They stay outside the repository:
//! skipped where they are absent, unless `COMPACTOMETER_REQUIRE_SHARED` is set.

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// Format, folder of its files, and how many sessions are joined.
const FORMATS: &[(&str, &str, Option<&str>)] = &[
    ("claude-code", "claude-code", None),
    ("tau-bench", "tau-bench", Some("5")),
];

/// The folder of the real transcripts.
pub(crate) fn data() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("COMPACTOMETER_SHARED")
        .map_or_else(beside, PathBuf::from)
        .join("data");
    if folder.is_dir() {
        return Some(folder.canonicalize().unwrap());
    }
    assert!(
        std::env::var_os("COMPACTOMETER_REQUIRE_SHARED").is_none(),
        "shared data is required and absent"
    );
    println!(
        "skipped: shared data is absent; set COMPACTOMETER_SHARED to the folder that holds it"
    );
    None
}

fn program(dir: &Path, args: &[String]) -> Output {
    Command::cargo_bin("compactometer")
        .unwrap()
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a user reads of a comparison on such a file: stderr, table, and summary.
fn compared(
    dir: &Path,
    format: &str,
    files: &[PathBuf],
    concat: Option<&str>,
) -> (String, String, Value) {
    let mut import = vec!["import".to_owned(), format.to_owned()];
    import.extend(files.iter().map(|file| file.to_string_lossy().into_owned()));
    import.extend(["--auto-facts", "--out", "suite.jsonl"].map(str::to_owned));
    import.extend(
        concat
            .into_iter()
            .flat_map(|sessions| ["--concat".to_owned(), sessions.to_owned()]),
    );
    let imported = program(dir, &import);
    assert!(
        imported.status.success(),
        "{format}: {}",
        text(&imported.stderr)
    );
    let told = text(&imported.stdout) + &text(&imported.stderr);
    // Questions and decoys are in no transcript, so nothing is said of them.
    let passages =
        "share of a conversation's passages of eight words in one other conversation: 0.";
    assert!(told.contains(passages), "{format}: {told}");
    assert!(!told.contains("not applicable"), "{format}: {told}");
    let args = [
        "compare",
        "suite.jsonl",
        "-s",
        "summarize,full,null,random-drop,oracle",
        "--out",
        "run",
        "--notes",
    ]
    .map(str::to_owned);
    let run = program(dir, &args);
    let (table, stderr) = (text(&run.stdout), text(&run.stderr));
    assert!(run.status.success(), "{format}: {stderr}\n{table}");
    let summary = std::fs::read(dir.join("run/summary.json")).unwrap();
    (stderr, table, serde_json::from_slice(&summary).unwrap())
}

#[test]
fn every_format_comes_to_a_report_whose_checks_hold_or_say_why_not() {
    let Some(data) = data() else { return };
    for (format, folder, concat) in FORMATS {
        let dir = tempfile::tempdir().unwrap();
        let mut files = std::fs::read_dir(data.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect::<Vec<_>>();
        files.sort_unstable();
        let (stderr, table, summary) = compared(dir.path(), format, &files, *concat);
        assert!(stderr.contains(" replays of "), "{format}: {stderr}");
        let group = &summary["groups"][0];
        let checks = group["checks"].as_array().unwrap();
        assert!(checks.len() >= 5, "{format}");
        for check in checks {
            assert_ne!(check["passed"], Value::Bool(false), "{format}: {check}");
            assert!(
                table.contains(check["name"].as_str().unwrap()),
                "{format}: {check} in {table}"
            );
        }
        // No label is in such files, and few units are not a ranking: the report says both.
        let warnings = group["warnings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|text| text.as_str().unwrap().to_owned());
        let warnings = warnings.collect::<Vec<_>>().join("\n");
        for said in [
            "exact values only",
            "the suite, not measured: questions answered",
            "the suite: greatest share",
        ] {
            assert!(warnings.contains(said), "{format}: `{said}` in {warnings}");
        }
        let units = summary["groups"][0]["strategies"][0]["triggered"]["of"]
            .as_u64()
            .unwrap();
        assert!(
            units >= 5 || warnings.contains("5 are needed to rank strategies"),
            "{format}: {warnings}"
        );
        let idle = group["strategies"][0]["triggered"]["conversations"] == 0;
        assert_eq!(
            warnings.contains("never compacted anything"),
            idle,
            "{format}: {warnings}"
        );
    }
}
