//! The gate as a CI job meets it: runs in, files and exit codes out.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

const SPEC: &str = "name = \"little\"\nseed = 5\nwindow = 4000\ndomains = [\"software\", \"service\"]\nconversations = 10\n\
                    lengths = [12000, 14000]\nfacts = [24, 26]\npoints = [3, 4]\n";

fn program(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("compactometer").unwrap();
    command
        .current_dir(dir)
        .env_remove("GITHUB_STEP_SUMMARY")
        .args(args)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    [&output.stdout, &output.stderr]
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        .concat()
}

fn expect(dir: &Path, code: i32, args: &[&str]) -> String {
    let output = program(dir, args);
    assert_eq!(
        output.status.code(),
        Some(code),
        "{args:?}: {}",
        text(&output)
    );
    text(&output)
}

fn run(dir: &Path, out: &str, more: &[&str]) {
    fs::write(dir.join("little.toml"), SPEC).unwrap();
    let common = [
        "run",
        "little.toml",
        "-s",
        "progressive,full,null",
        "--quiet",
        "--out",
        out,
    ];
    expect(dir, 0, &[&common[..], more].concat());
}

#[test]
fn the_gate_passes_on_itself_and_finds_what_was_lost() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    run(dir, "now", &[]);
    let missing = expect(dir, 2, &["gate", "now", "--baseline", "base.json"]);
    assert!(
        missing.contains("cannot read the baseline `base.json`; `--update` writes one"),
        "{missing}"
    );
    let first = expect(
        dir,
        0,
        &["gate", "now", "--baseline", "base.json", "--update"],
    );
    assert!(
        first.contains("accepted without a verdict: there was no baseline"),
        "{first}"
    );
    let baseline = fs::read_to_string(dir.join("base.json")).unwrap();
    let again = expect(
        dir,
        0,
        &["gate", "now", "--baseline", "base.json", "--update"],
    );
    assert!(
        again.contains("verdict: pass\n") && again.contains("accepted with the verdict pass"),
        "{again}"
    );
    assert_eq!(
        fs::read_to_string(dir.join("base.json")).unwrap(),
        baseline,
        "the same run gives the same bytes"
    );

    let passed = expect(
        dir,
        0,
        &[
            "gate",
            "now",
            "--baseline",
            "base.json",
            "--exact",
            "--markdown",
            "gate.md",
        ],
    );
    assert!(passed.starts_with("verdict: pass\n"), "{passed}");
    let whole = expect(
        dir,
        0,
        &["gate", "now", "--baseline", "base.json", "--notes"],
    );
    assert!(
        whole.starts_with("Recall gate: pass\n") && whole.contains("; power "),
        "{whole}"
    );
    assert!(
        fs::read_to_string(dir.join("gate.md"))
            .unwrap()
            .starts_with("## Recall gate: pass\n")
    );

    expect(dir, 0, &["gate", "now", "--reached", "--html", "read.html"]);
    let page = fs::read_to_string(dir.join("read.html")).unwrap();
    assert!(page.contains("Facts read by a summarizer: pass"), "{page}");
    let both = ["gate", "now", "--reached", "--baseline", "base.json"];
    assert_eq!(program(dir, &both).status.code(), Some(2));

    run(dir, "less", &["--retain", "0.05"]);
    let args = [
        "gate",
        "less",
        "--baseline",
        "base.json",
        "--junit",
        "gate.xml",
        "--json",
    ];
    let lost = program(dir, &args);
    assert_eq!(lost.status.code(), Some(3), "{}", text(&lost));
    let report: Value = serde_json::from_slice(&lost.stdout).unwrap();
    assert_eq!(report["verdict"], "regression");
    assert!(
        !report["strategies"][0]["newly_lost"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert!(
        fs::read_to_string(dir.join("gate.xml"))
            .unwrap()
            .contains(r#"failures="1""#)
    );
    expect(
        dir,
        1,
        &["gate", "less", "--baseline", "base.json", "--exact"],
    );
    fs::copy(dir.join("base.json"), dir.join("worse.json")).unwrap();
    let worse = expect(
        dir,
        0,
        &["gate", "less", "--baseline", "worse.json", "--update"],
    );
    assert!(
        worse.contains("verdict: REGRESSION")
            && worse.contains("accepted with the verdict REGRESSION"),
        "{worse}"
    );

    run(dir, "other", &["--window", "4400"]);
    let mismatch = expect(dir, 2, &["gate", "other", "--baseline", "base.json"]);
    assert!(
        mismatch.contains("the context window: `4400` against `4000`")
            && mismatch.contains("--update"),
        "{mismatch}"
    );
    fs::write(
        dir.join("base.json"),
        baseline.replacen("\"seed\":0", "\"seed\":1", 1),
    )
    .unwrap();
    let damaged = expect(dir, 2, &["gate", "now", "--baseline", "base.json"]);
    assert!(damaged.contains("the checksum does not match"), "{damaged}");
}

/// The change that people make: the same row with another parameter, another prompt, or other
/// limits.
#[test]
fn a_changed_row_is_judged_against_the_baseline_of_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("little.toml"), SPEC).unwrap();
    let prompt = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../engine/src/strategies/chained/prompt.md"
    );
    let changed = fs::read_to_string(prompt).unwrap() + "\nWrite short sentences.\n";
    fs::write(dir.join("mine.md"), changed).unwrap();
    let run = |out: &str, row: &str, more: &[&str]| {
        let common = ["run", "little.toml", "-s", row, "--quiet", "--out", out];
        expect(dir, 0, &[&common[..], more].concat());
    };
    run("base", "prod=chained,full,null", &[]);
    expect(
        dir,
        0,
        &["gate", "base", "--baseline", "base.json", "--update"],
    );
    for (out, row, more, named) in [
        (
            "tail",
            "prod=chained:tail=2,full,null",
            &[][..],
            "candidate: tail from 10 to 2",
        ),
        (
            "prompt",
            "prod=chained:prompt=mine.md,full,null",
            &[],
            "candidate: prompt from ",
        ),
        (
            "other",
            "prod=summarize,full,null",
            &[],
            "candidate: strategy from chained to summarize; ",
        ),
        (
            "less",
            "prod=chained,full,null",
            &["--retain", "0.1"],
            "candidate: retained budget from 1200 to 400",
        ),
    ] {
        run(out, row, more);
        let output = program(dir, &["gate", out, "--baseline", "base.json"]);
        let told = text(&output);
        assert!(
            matches!(output.status.code(), Some(0 | 3 | 4)),
            "judged, not refused: {told}"
        );
        assert!(
            told.contains(named) && told.contains("prod (matched): "),
            "{named}: {told}"
        );
        assert!(told.lines().count() <= 30, "{told}");
    }
    lost_facts_have_their_values(dir);
    let accepted = expect(
        dir,
        0,
        &["gate", "less", "--baseline", "base.json", "--update"],
    );
    assert!(
        accepted.contains("candidate: retained budget from 1200 to 400"),
        "{accepted}"
    );
    let verdict = accepted
        .lines()
        .find_map(|line| line.strip_prefix("verdict: "))
        .expect("a verdict");
    assert!(
        accepted.contains(&format!("accepted with the verdict {verdict}")),
        "{accepted}"
    );
    run("two", "prod=chained,chained,full,null", &[]);
    let more = expect(
        dir,
        0,
        &[
            "gate",
            "two",
            "--baseline",
            "base.json",
            "--update",
            "--json",
        ],
    );
    assert!(
        more.contains("not judged: `chained`") && more.contains("\"verdict\""),
        "{more}"
    );
    fs::write(dir.join("base.json"), "{}").unwrap();
    let damaged = expect(
        dir,
        0,
        &["gate", "two", "--baseline", "base.json", "--update"],
    );
    assert!(
        damaged.contains("accepted without a verdict") && damaged.contains("expected a baseline"),
        "{damaged}"
    );
}

/// The conversation and the place of the message in `(subject), said by SPEAKER in message N of
/// SCENARIO [FACT]: fates`.
fn said_in(line: &str) -> (&str, u64) {
    let (_, place) = line
        .split_once(" in message ")
        .unwrap_or_else(|| panic!("{line}"));
    let (message, scenario) = place.split_once(" of ").unwrap();
    (
        scenario.split(' ').next().unwrap(),
        message.parse().unwrap(),
    )
}

/// What `less` lost is named by the suite of the run's command, and by ids alone where the command
/// finds another suite.
fn lost_facts_have_their_values(dir: &Path) {
    let first_lost = || {
        let mut command = Command::cargo_bin("compactometer").unwrap();
        command.current_dir(dir).env("COLUMNS", "200");
        let told = text(
            &command
                .args([
                    "gate",
                    "less",
                    "--baseline",
                    "base.json",
                    "--junit",
                    "less.xml",
                ])
                .output()
                .unwrap(),
        );
        let lines = told
            .lines()
            .skip_while(|line| !line.contains("newly lost"))
            .skip(1);
        lines
            .map(str::trim)
            .next()
            .unwrap_or_else(|| panic!("something is lost: {told}"))
            .to_owned()
    };
    expect(
        dir,
        0,
        &["generate", "little.toml", "--out", "little.jsonl"],
    );
    let suite = fs::read_to_string(dir.join("little.jsonl")).unwrap();
    let line = first_lost();
    let (value, rest) = line.split_once(" (").unwrap_or_else(|| panic!("{line}"));
    assert!(
        suite.contains(&format!("\"value\":\"{value}\"")) && rest.contains(" -> "),
        "{line}"
    );
    let (id, message) = said_in(rest);
    let scenario = suite
        .lines()
        .find(|line| line.contains(&format!("\"id\":\"{id}\"")))
        .unwrap();
    let scenario: Value = serde_json::from_str(scenario).unwrap();
    let messages = scenario["messages"].as_array().unwrap();
    let said = messages
        .iter()
        .find(|one| one["id"] == message)
        .unwrap_or_else(|| panic!("no message {message}"));
    assert!(said.to_string().contains(value), "{line}: {said}");
    assert!(
        fs::read_to_string(dir.join("less.xml"))
            .unwrap()
            .contains(&format!("newly lost: {value} ("))
    );
    fs::write(dir.join("little.toml"), SPEC.replace("seed = ", "seed = 9")).unwrap();
    assert!(
        !first_lost().contains(" ("),
        "another suite's values would be wrong"
    );
    fs::write(dir.join("little.toml"), SPEC).unwrap();
}

#[test]
fn an_inconclusive_gate_does_what_it_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(
        dir.join("few.toml"),
        SPEC.replace("conversations = 10", "conversations = 3"),
    )
    .unwrap();
    expect(
        dir,
        0,
        &[
            "run",
            "few.toml",
            "-s",
            "prod=progressive,full",
            "--quiet",
            "--out",
            "few",
        ],
    );
    expect(
        dir,
        0,
        &["gate", "few", "--baseline", "base.json", "--update"],
    );
    fs::remove_dir_all(dir.join("few")).unwrap();
    let other = "run few.toml -s prod=progressive:tail=100,full --quiet --out few";
    let other: Vec<&str> = other.split(' ').collect();
    expect(dir, 0, &other);
    let open = expect(dir, 4, &["gate", "few", "--baseline", "base.json"]);
    assert!(
        open.replace("\n    ", " ").contains(
            "3 independent conversations are too few to decide among 2 tests: at least 6 are needed"
        ),
        "{open}"
    );
    let warned = expect(
        dir,
        0,
        &[
            "gate",
            "few",
            "--baseline",
            "base.json",
            "--on-inconclusive",
            "warn",
        ],
    );
    assert!(warned.contains("warning: inconclusive: `prod`"), "{warned}");
    let mut command = Command::cargo_bin("compactometer").unwrap();
    command
        .current_dir(dir)
        .env("GITHUB_STEP_SUMMARY", dir.join("summary.md"));
    let output = command
        .args([
            "gate",
            "few",
            "--baseline",
            "base.json",
            "--on-inconclusive",
            "pass",
        ])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert!(
        fs::read_to_string(dir.join("summary.md"))
            .unwrap()
            .starts_with("## Recall gate: inconclusive")
    );
}

#[test]
fn a_self_test_repeats_a_run_under_another_seed() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    run(dir, "now", &[]);
    let output = program(
        dir,
        &["gate", "--self-test", "now", "--json", "--gates", "200"],
    );
    let found: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)));
    assert_eq!(found["seeds"], serde_json::json!([0, 1]));
    assert_eq!(
        (found["n"].as_u64(), found["margin"].as_f64()),
        (Some(200), Some(0.05))
    );
    assert!(found["detection_rate"].as_f64().unwrap() > 0.5, "{found}");
    let verdicts = found["damages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|planted| &planted["verdict"]);
    assert_eq!(verdicts.collect::<Vec<_>>(), ["regression"; 3], "{found}");
    let same = expect(dir, 2, &["gate", "--self-test", "now", "now"]);
    assert!(same.contains("both runs have the seed `0`"), "{same}");
}

#[test]
fn bad_arguments_say_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    for (args, expected) in [
        (&["gate"][..], "name one run's folder"),
        (&["gate", "now"], "--baseline FILE"),
        (&["gate", "now", "--baseline", "b.json"], "cannot read `now"),
        (
            &["gate", "now", "--baseline", "b.json", "--margin", "0"],
            "from 0.001 to 0.5",
        ),
        (
            &["gate", "now", "--baseline", "b.json", "--margin", "NaN"],
            "from 0.001 to 0.5",
        ),
        (&["gate", "--self-test", "a", "b", "c"], "at most two"),
        (
            &["run", "smoke", "--retain", "0.8"],
            "`--retain 0.8` is not under `--trigger 0.8`",
        ),
        (
            &["run", "smoke", "--reference", "chaned"],
            "did you mean `chained`",
        ),
        (
            &["run", "smoke", "--reference", "summarise"],
            "did you mean `summarize`",
        ),
    ] {
        let told = expect(dir.path(), 2, args);
        assert!(told.contains(expected), "{args:?}: {told}");
    }
}
