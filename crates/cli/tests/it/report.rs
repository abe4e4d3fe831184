//! `report`, sweeps of retained budgets and price tables, as a user meets them.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

const SPEC: &str = "name = \"tiny\"\nseed = 4\nwindow = 4000\ndomains = [\"research\", \"service\"]\n\
                    conversations = 5\nlengths = [9000, 10000]\nfacts = [24, 24]\npoints = [2, 3]\n";
const FILES: [&str; 5] = [
    "index.html",
    "report.md",
    "summary.json",
    "summary.csv",
    "facts.csv",
];

fn program(dir: &Path, args: &[&str]) -> Output {
    Command::cargo_bin("compactometer")
        .unwrap()
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

fn done(dir: &Path, args: &[&str]) -> String {
    let output = program(dir, args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

fn refused(dir: &Path, args: &[&str]) -> String {
    let output = program(dir, args);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    text(&output.stderr)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
    dir
}

#[test]
fn a_report_of_records_is_the_one_that_compare_wrote() {
    let dir = folder();
    let dir = dir.path();
    let table = done(
        dir,
        &[
            "compare",
            "tiny.toml",
            "-s",
            "chained,full,null",
            "--out",
            "run",
            "-q",
        ],
    );
    let read = |folder: &str| FILES.map(|name| std::fs::read(dir.join(folder).join(name)).unwrap());
    let before = read("run");
    assert_eq!(done(dir, &["report", "run"]), table);
    assert_eq!(read("run"), before);

    let summary = done(
        dir,
        &[
            "report", "run", "--out", "part", "--format", "json,csv", "--json",
        ],
    );
    assert_eq!(summary.as_bytes(), before[2]);
    let mut names = std::fs::read_dir(dir.join("part"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect::<Vec<_>>();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "comparisons.csv",
            "facts.csv",
            "summary.csv",
            "summary.json"
        ]
    );

    // Two runs that share a control join; one of another window does not.
    done(
        dir,
        &[
            "run",
            "tiny.toml",
            "-s",
            "summarize,full",
            "--out",
            "more",
            "-q",
        ],
    );
    let args = ["report", "run", "--style", "paper", "--out", "paper"];
    assert_eq!(done(dir, &args), table);
    let paper = std::fs::read_to_string(dir.join("paper/paper/table.tex")).unwrap();
    assert!(paper.contains("\nchained & "), "{paper}");
    assert!(!dir.join("paper/index.html").exists());
    let args = ["report", "run", "--style", "paper", "--format", "html"];
    assert!(refused(dir, &args).contains("cannot be used with"));
    let joined = done(dir, &["report", "run", "more", "--out", "both"]);
    assert!(
        ["chained", "summarize", "full", "null"]
            .iter()
            .all(|name| joined.contains(name)),
        "{joined}"
    );
    done(
        dir,
        &[
            "run",
            "tiny.toml",
            "-s",
            "null",
            "--window",
            "4100",
            "--out",
            "other",
            "-q",
        ],
    );
    assert!(
        refused(dir, &["report", "run", "other", "--out", "both"]).contains("`window` differs")
    );
    assert!(refused(dir, &["report", "run", "more"]).contains("`--out`"));
    assert!(refused(dir, &["report", "nowhere"]).contains("cannot read"));
    done(
        dir,
        &[
            "run",
            "tiny.toml",
            "-s",
            "full",
            "--set",
            "chained.tail=5",
            "--out",
            "tail",
            "-q",
        ],
    );
    done(
        dir,
        &[
            "run",
            "tiny.toml",
            "-s",
            "chained,full",
            "--seed",
            "0",
            "--out",
            "same",
            "-q",
        ],
    );
    assert!(
        done(dir, &["report", "run", "same", "--out", "again"]).contains("chained"),
        "equal cases count once"
    );
}

#[test]
fn several_retained_budgets_make_a_curve() {
    let dir = folder();
    let dir = dir.path();
    let args = [
        "compare",
        "tiny.toml",
        "-s",
        "chained,summarize,full,null",
        "--retain",
        ".15,.3",
        "--out",
        "run",
        "-q",
        "--notes",
    ];
    let table = done(dir, &args);
    assert!(
        table.contains("(5 of 5 conversations)") && table.contains("     600   1,200"),
        "{table}"
    );
    let summary: Value =
        serde_json::from_slice(&std::fs::read(dir.join("run/summary.json")).unwrap()).unwrap();
    assert_eq!(summary["groups"].as_array().unwrap().len(), 1);
    let replay = &summary["sweep"]["replays"][0];
    assert_eq!(
        (&replay["retained"], &replay["conversations"]),
        (&600.into(), &5.into())
    );
    let retained = |of: &Value| {
        of["strategies"][0]["metrics"]["tokens_retained"]["value"]
            .as_f64()
            .unwrap()
    };
    let (large, small) = (retained(&summary["groups"][0]), retained(replay));
    assert!(large > small && small <= 600.0, "{large} {small}");
    for name in ["recall_by_size.svg", "recall_by_size.csv", "cost.png"] {
        assert!(dir.join("run/plots").join(name).exists(), "{name}");
    }
    // The larger budget's records are the bytes of a run of it alone, and the two alone join to the
    // same curve.
    done(
        dir,
        &[
            "run",
            "tiny.toml",
            "-s",
            "chained,summarize,full,null",
            "--out",
            "large",
            "-q",
        ],
    );
    done(
        dir,
        &[
            "run",
            "tiny.toml",
            "-s",
            "chained,summarize,full,null",
            "--retain",
            ".15",
            "--out",
            "small",
            "-q",
        ],
    );
    let records =
        |folder: &str| std::fs::read_to_string(dir.join(folder).join("records.jsonl")).unwrap();
    assert_eq!(records("run"), records("large") + &records("small"));
    done(dir, &["report", "small", "large", "--out", "both"]);
    let curve =
        |folder: &str| std::fs::read(dir.join(folder).join("plots/recall_by_size.csv")).unwrap();
    assert_eq!(curve("both"), curve("run"));

    assert!(
        refused(dir, &["run", "tiny.toml", "--retain", ".9"])
            .contains("`--retain 0.9` is not under `--trigger 0.8`")
    );
    let published = [
        "run",
        "tiny.toml",
        "--retain",
        ".1,.3",
        "--protocol",
        "published",
        "--out",
        "no",
    ];
    assert!(refused(dir, &published).contains("only the matched protocol has"));
    let small = refused(dir, &["run", "tiny.toml", "--window", "100", "--out", "no"]);
    assert!(
        small.contains("`100` is too small") && small.contains("at least `--window "),
        "{small}"
    );
}

/// What tables, comparisons and gates read is the replay at the run's size, whatever is swept
/// beside it.
#[test]
fn a_sweep_changes_nothing_of_the_first_group() {
    let dir = folder();
    let dir = dir.path();
    let compare = |out: &str, more: &[&str]| {
        done(
            dir,
            &[
                &[
                    "compare",
                    "tiny.toml",
                    "-s",
                    "summarize,handoff,full,null",
                    "--out",
                    out,
                    "-q",
                ],
                more,
            ]
            .concat(),
        );
        std::fs::read(dir.join(out).join("summary.json")).unwrap()
    };
    let (plain, swept) = (compare("plain", &[]), compare("swept", &["--sweep"]));
    let first = |summary: &[u8]| {
        let groups = serde_json::from_slice::<Value>(summary).unwrap()["groups"].take();
        assert_eq!(groups.as_array().unwrap().len(), 1);
        serde_json::to_vec(&groups[0]).unwrap()
    };
    assert_eq!(first(&plain), first(&swept));
    // The bytes of the file too, from the first group to its end.
    let groups = |summary: &[u8]| {
        let text = text(summary);
        text[..text.rfind("\n    }\n  ]").unwrap()].to_owned()
    };
    assert!(
        text(&swept).starts_with(&groups(&plain)),
        "the file's first group differs"
    );
    let comparisons = |out: &str| std::fs::read(dir.join(out).join("comparisons.csv")).unwrap();
    assert_eq!(comparisons("plain"), comparisons("swept"));

    // The sweep itself: sizes for what compacts, splits for what has a tail.
    let sweep = serde_json::from_slice::<Value>(&swept).unwrap()["sweep"].take();
    let names = |points: &str, is: &dyn Fn(&Value) -> bool| {
        let points = sweep[points]
            .as_array()
            .unwrap()
            .iter()
            .filter(|point| is(point));
        points
            .map(|point| point["strategy"].as_str().unwrap().to_owned())
            .collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(
        names("sizes", &|_| true).into_iter().collect::<Vec<_>>(),
        ["handoff", "summarize"]
    );
    let chosen = names("splits", &|point| point["is_own_split"] == false);
    assert_eq!(
        chosen.into_iter().collect::<Vec<_>>(),
        ["summarize"],
        "handoff has no tail to choose"
    );
    let at = |split: f64| {
        sweep["splits"]
            .as_array()
            .unwrap()
            .iter()
            .rfind(|point| point["split"] == split)
            .unwrap()
    };
    assert_eq!(
        (&at(0.5)["written_budget"], &at(0.0)["written_budget"]),
        (&600.into(), &1200.into())
    );
    assert!(
        sweep["findings"][0]
            .as_str()
            .unwrap()
            .contains("kept verbatim"),
        "{}",
        sweep["findings"]
    );

    // A gate sees no more of it than the first group.
    done(
        dir,
        &["gate", "plain", "--baseline", "base.json", "--update"],
    );
    let gated = program(
        dir,
        &[
            "gate",
            "swept",
            "--baseline",
            "base.json",
            "--exact",
            "--on-inconclusive",
            "pass",
        ],
    );
    assert!(gated.status.success(), "{}", text(&gated.stderr));
    // Reported again it is the same, and joined with the plain run too.
    assert_eq!(done(dir, &["report", "swept", "--json"]).as_bytes(), swept);
    let joined = done(
        dir,
        &["report", "plain", "swept", "--out", "both", "--json"],
    );
    assert_eq!(
        serde_json::from_str::<Value>(&joined).unwrap()["sweep"],
        sweep
    );

    let published = [
        "run",
        "tiny.toml",
        "--sweep",
        "--protocol",
        "published",
        "--out",
        "no",
    ];
    assert!(refused(dir, &published).contains("`--sweep` needs the matched protocol"));
}

#[test]
fn a_compaction_starts_at_the_trigger_asked_for() {
    let dir = folder();
    let dir = dir.path();
    let run = |out: &str, more: &[&str]| {
        done(
            dir,
            &[
                &["run", "tiny.toml", "-s", "summarize", "--out", out, "-q"],
                more,
            ]
            .concat(),
        );
        let records = std::fs::read_to_string(dir.join(out).join("records.jsonl")).unwrap();
        let rows = records
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["record"].take());
        let requests = |row: Value| {
            let tools = row["case"]["tool_tokens"].as_u64().unwrap_or_default();
            let rows = row["compactions"].as_array().unwrap();
            rows.iter()
                .map(|row| tools + row["tokens_before"].as_u64().unwrap())
                .collect::<Vec<_>>()
        };
        rows.flat_map(requests).collect::<Vec<_>>()
    };
    let (early, late) = (run("early", &["--trigger", ".5"]), run("late", &[]));
    assert!(late.iter().all(|size| *size >= 3200), "{late:?}");
    assert!(
        early.iter().all(|size| *size >= 2000) && early.len() > late.len(),
        "{early:?}"
    );
    let manifest = std::fs::read_to_string(dir.join("early/manifest.json")).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&manifest).unwrap()["trigger"],
        2000
    );
    assert!(refused(dir, &["run", "--trigger", ".01"]).contains("expected a share from 0.02 to 1"));
}

#[test]
fn another_price_table_counts_or_is_refused() {
    let dir = folder();
    let dir = dir.path();
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/prices.toml");
    let table = std::fs::read_to_string(shipped).unwrap();
    let write = |name: &str, table: &str| std::fs::write(dir.join(name), table).unwrap();
    write(
        "opus.toml",
        &table.replace(
            "mock_as = \"claude-sonnet-4\"",
            "mock_as = \"claude-opus-4-1\"",
        ),
    );
    write(
        "assumed.toml",
        &table.replacen("source = \"docs", "source = \"assumed: docs", 1),
    );
    done(
        dir,
        &[
            "compare",
            "tiny.toml",
            "-s",
            "full,null",
            "--out",
            "run",
            "-q",
        ],
    );
    let cost = |args: &[&str]| {
        let summary: Value = serde_json::from_str(&done(dir, args)).unwrap();
        summary["groups"][0]["strategies"][0]["metrics"]["cost_usd"]["value"]
            .as_f64()
            .unwrap()
    };
    let [plain, opus] = [
        &["report", "run", "--json"][..],
        &["report", "run", "--json", "--prices", "opus.toml"][..],
    ]
    .map(cost);
    // Each price of the one is five times that of the other.
    assert!((opus / plain - 5.0).abs() < 1e-6, "{opus} {plain}");
    assert!(
        refused(dir, &["report", "run", "--prices", "assumed.toml"])
            .contains("cannot be looked up")
    );
    assert!(
        refused(dir, &["report", "run", "--prices", "missing.toml"]).contains("`missing.toml`")
    );
}

#[test]
fn one_file_of_a_run_holds_text_and_the_others_can_be_shared() {
    let dir = folder();
    let dir = dir.path();
    done(dir, &["generate", "tiny.toml", "--out", "tiny.jsonl", "-q"]);
    done(
        dir,
        &[
            "compare",
            "tiny.jsonl",
            "-s",
            "chained,hybrid-checkpoint,full",
            "--out",
            "run",
            "-q",
        ],
    );
    let suite = std::fs::read_to_string(dir.join("tiny.jsonl")).unwrap();
    let scenarios = suite
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let values = scenarios.flat_map(|scenario| {
        let facts = scenario["facts"].as_array().unwrap().clone();
        facts
            .into_iter()
            .flat_map(|fact| ["value", "subject"].map(|key| fact[key].as_str().unwrap().to_owned()))
    });
    // A short word may be in a label of the report.
    let values = values.filter(|value| value.len() > 8).collect::<Vec<_>>();
    let held = |file: &Path| {
        let text = String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
        values
            .iter()
            .filter(|value| text.contains(value.as_str()))
            .count()
    };
    assert!(
        held(&dir.join("run/texts.jsonl")) > 20,
        "what was written stands there"
    );
    let files = std::fs::read_dir(dir.join("run"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    for file in files.filter(|file| file.is_file() && file.file_name().unwrap() != "texts.jsonl") {
        assert_eq!(held(&file), 0, "{}", file.display());
    }
}

/// A reader pastes what a sentence advises.
#[test]
fn every_row_that_a_sentence_names_runs() {
    let dir = tempfile::tempdir().unwrap();
    let run = |rows: &str, sample: &str, out: &str| {
        let args = [
            "compare", "smoke", "-q", "--sample", sample, "-s", rows, "--out", out,
        ];
        done(dir.path(), &args);
    };
    run(
        "summarize,chained,progressive,@ideas,recent-talk,full",
        "16",
        "out",
    );
    let summary = std::fs::read(dir.path().join("out/summary.json")).unwrap();
    let summary: Value = serde_json::from_slice(&summary).unwrap();
    let sentences: Vec<_> = summary["findings"].as_array().unwrap().iter().collect();
    let rows = sentences
        .iter()
        .flat_map(|sentence| sentence.as_str().unwrap().split("`-s ").skip(1))
        .filter_map(|rest| Some(rest.split_once('`')?.0))
        .collect::<Vec<_>>();
    assert_eq!(
        rows,
        ["recent-talk", "no-tail=summarize:tail=0"],
        "{sentences:?}"
    );
    for (at, row) in rows.iter().enumerate() {
        run(row, "1", &format!("advised-{at}"));
    }
}

#[test]
fn a_suite_names_what_its_first_table_shows() {
    let dir = folder();
    let dir = dir.path();
    let asked = |metrics: &str| {
        let spec = format!("headline_metrics = {metrics}\n{SPEC}");
        std::fs::write(dir.join("asked.toml"), spec).unwrap();
        let args = [
            "compare",
            "asked.toml",
            "-s",
            "chained,full,null",
            "-o",
            "out",
            "-q",
            "--targets",
        ];
        Command::cargo_bin("compactometer")
            .unwrap()
            .current_dir(dir)
            .env("COLUMNS", "80")
            .args(args)
            .output()
            .unwrap()
    };
    let wrong = asked("[\"drifts\"]");
    assert_eq!(wrong.status.code(), Some(2));
    let error = text(&wrong.stderr);
    assert!(
        error.contains("`drifts`") && error.contains("`drift`"),
        "{error}"
    );
    let right = asked("[\"drift\", \"cost_saving\"]");
    let table = text(&right.stdout);
    let heads = table
        .lines()
        .find(|line| line.trim_start().starts_with("facts"))
        .unwrap();
    assert!(heads.contains("facts") && heads.contains("lost"), "{table}");
    let under = table
        .lines()
        .skip_while(|line| *line != heads)
        .nth(1)
        .unwrap();
    assert!(
        under.contains("kept") && under.contains("to 4") && under.contains("saved"),
        "{table}"
    );
    assert!(
        table.contains("targets of the source documents") && table.contains("  met: chained "),
        "{table}"
    );
}
