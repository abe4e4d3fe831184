//! What people type by mistake, and help: a message names what is wrong and what to write instead.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

fn program(dir: &Path, columns: &str, args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("compactometer").unwrap();
    command
        .env("COLUMNS", columns)
        .env("NO_COLOR", "1")
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

fn stderr(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn a_mistake_is_answered_with_what_to_write() {
    let dir = tempfile::tempdir().unwrap();
    for (args, expected) in [
        (&["report"][..], "there is no run; name a run's folder"),
        (
            &["run", "smoke", "--model", "gpt-4o"],
            "a model follows its provider: `openai:gpt-4o`",
        ),
        (
            &["run", "smoke", "--model", "claude-sonnet-4"],
            "`anthropic:claude-sonnet-4`",
        ),
        (
            &["run", "--window", "12kk"],
            "expected a number of tokens, such as 12000 or 12k",
        ),
        (&["run", "--retain", "30"], "such as 0.3 or 30%"),
        (&["losses", "claude"], "did you mean `claude-code`?"),
        (&["run", "-s", "chained:tial=3"], "did you mean `tail`?"),
        (
            &["run", "-s", "chained:tail=3"],
            "write `NAME=chained:tail=3`",
        ),
        (
            &["run", "-s", "full=full"],
            "`full` is a control, which has no parameters and one name; write `full`",
        ),
        (
            &["compare", "smoke", "--by", "version", "-s", "null"],
            "`compactometer import` keeps it",
        ),
        (&["comapre"], "did you mean `compare`?"),
        (&["lossess", "session.jsonl"], "did you mean `losses`?"),
        (&["compare", "--widow", "12k"], "--window"),
    ] {
        let output = program(dir.path(), "100", args);
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
}

#[test]
fn a_row_that_is_named_twice_is_noted() {
    let dir = tempfile::tempdir().unwrap();
    let args = [
        "run",
        "smoke",
        "-s",
        "null,null",
        "--sample",
        "1",
        "--out",
        "run",
    ];
    assert!(
        stderr(&program(dir.path(), "100", &args)).contains("`null` is named twice and runs once")
    );
}

#[test]
fn sizes_and_shares_may_be_written_as_people_write_them() {
    let dir = tempfile::tempdir().unwrap();
    let run = |out: &str, window: &str, retain: &str| {
        let args = [
            "run", "smoke", "-s", "null", "--sample", "1", "--window", window, "--retain", retain,
            "--out", out, "-q",
        ];
        assert!(program(dir.path(), "100", &args).status.success());
        let manifest = std::fs::read_to_string(dir.path().join(out).join("manifest.json")).unwrap();
        let limits = manifest
            .lines()
            .filter(|line| ["window", "retained"].iter().any(|key| line.contains(key)));
        limits.map(str::to_owned).collect::<Vec<_>>()
    };
    let plain = run("plain", "12000", "0.3");
    assert!(!plain.is_empty());
    assert_eq!(plain, run("words", "12k", "30%"));
}

#[test]
fn a_folder_of_runs_means_its_latest() {
    let dir = tempfile::tempdir().unwrap();
    let compare = [
        "compare",
        "smoke",
        "-s",
        "summarize,full",
        "--sample",
        "2",
        "-q",
    ];
    assert!(program(dir.path(), "100", &compare).status.success());
    let latest = stderr(&program(dir.path(), "100", &["report", "-q"]));
    assert!(latest.starts_with("smoke: 2 conversations"), "{latest}");
    assert_eq!(
        latest,
        stderr(&program(dir.path(), "100", &["report", "reports", "-q"]))
    );
    let gated = program(
        dir.path(),
        "100",
        &["gate", "reports", "--baseline", "base.json", "--update"],
    );
    assert!(gated.status.success(), "{}", stderr(&gated));
    let noted = stderr(&program(dir.path(), "100", &["report", "-q", "--notes"]));
    assert!(
        noted.contains("a sample of 2 of 16 conversations")
            && noted.lines().count() > latest.lines().count()
    );
}

#[test]
fn a_flag_before_the_command_is_taken_as_one_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    for flag in ["-v", "--verbose"] {
        let help = stderr(&program(dir.path(), "100", &[flag, "compare", "--help"]));
        assert!(help.contains("Usage: compactometer compare"), "{help}");
    }
    assert!(
        stderr(&program(dir.path(), "100", &["-v", "--help"]))
            .contains("Usage: compactometer [OPTIONS] [SUITES]")
    );
}

#[test]
fn the_help_of_a_command_fits_forty_lines() {
    let dir = tempfile::tempdir().unwrap();
    let commands = "compare explain import losses ledger hook gate report generate skeleton probes prompt checkpoint run plan status merge \
                    agreement list schema doctor sources config init add completions serve play";
    for command in std::iter::once("").chain(commands.split_whitespace()) {
        let words = |flag: &'static str| {
            [command, flag]
                .into_iter()
                .filter(|word| !word.is_empty())
                .collect::<Vec<_>>()
        };
        for flag in ["-h", "--help"] {
            let help = program(dir.path(), "80", &words(flag));
            assert!(help.status.success());
            let lines = stderr(&help).lines().count();
            // The list of commands itself may grow a little.
            let most = if command.is_empty() { 47 } else { 40 };
            assert!(
                (5..=most).contains(&lines),
                "{command} {flag}: {lines} lines"
            );
        }
        let whole = stderr(&program(dir.path(), "80", &words("--help-all")));
        assert!(
            whole.lines().count()
                >= stderr(&program(dir.path(), "80", &words("--help")))
                    .lines()
                    .count(),
            "{command}"
        );
    }
    let rare = stderr(&program(dir.path(), "100", &["compare", "--help-all"]));
    assert!(
        rare.contains("--mocks") && rare.contains("COMPACTOMETER_STRATEGY"),
        "{rare}"
    );
}

#[test]
fn lists_are_json_too_and_as_wide_as_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let kinds: serde_json::Value =
        serde_json::from_slice(&program(dir.path(), "100", &["list", "--json"]).stdout).unwrap();
    assert!(
        kinds["models"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["name"] == "mock:weak"),
        "{kinds}"
    );
    assert!(kinds.as_object().unwrap().len() > 10);
    let one = stderr(&program(dir.path(), "100", &["list", "metrics"]));
    assert!(one.lines().all(|line| line.chars().count() <= 100), "{one}");
    let parameters = stderr(&program(dir.path(), "100", &["list", "parameters"]));
    for inside in ["takes ids for gapless", "(ours)", "strategic plan"] {
        assert!(!parameters.contains(inside), "{inside}: {parameters}");
    }
}
