//! `schema`: what it prints holds for what the program reads and writes.

use std::path::Path;

use assert_cmd::Command;
use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::{Value, json};

const SPEC: &str = "name = \"tiny\"\nseed = 4\nwindow = 4000\ndomains = [\"research\", \"service\"]\n\
                    conversations = 2\nlengths = [9000, 10000]\nfacts = [24, 24]\npoints = [2, 3]\n";

fn program(dir: &Path, args: &[&str]) -> std::process::Output {
    Command::cargo_bin("compactometer")
        .unwrap()
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

fn done(dir: &Path, args: &[&str]) -> String {
    let output = program(dir, args);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

fn schema(dir: &Path, kind: &str) -> Value {
    serde_json::from_str(&done(dir, &["schema", kind])).unwrap()
}

/// A schema to hold values against.
struct Form {
    schemas: Schemas,
    of: SchemaIndex,
}

impl Form {
    fn new(dir: &Path, kind: &str) -> Self {
        let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
        let place = format!("mem:{kind}.json");
        compiler.add_resource(&place, schema(dir, kind)).unwrap();
        let of = compiler.compile(&place, &mut schemas).unwrap();
        Form { schemas, of }
    }

    /// What is wrong with it, where anything is.
    fn wrong(&self, value: &Value) -> Option<String> {
        self.schemas
            .validate(value, self.of)
            .err()
            .map(|error| format!("{error:#}"))
    }
}

/// Every value of a file: one of `.json`, one for each line of `.jsonl`.
fn values(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    match path
        .extension()
        .is_some_and(|extension| extension == "jsonl")
    {
        true => text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
        false => vec![serde_json::from_str(&text).unwrap()],
    }
}

#[test]
fn what_the_program_writes_is_of_its_schemas() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    done(dir, &["generate", "tiny.toml", "--out", "tiny.jsonl", "-q"]);
    let strategies = "@reference,@controls,chained-faithful,middleware-checkpoint-faithful";
    let faults = "mock+empty=0.2,server-error=0.1,cut-json=0.2,timeout=0.1";
    let run = [
        "compare",
        "tiny.jsonl",
        "-s",
        strategies,
        "--model",
        faults,
        "--judge",
        "mock",
        "--out",
        "run",
        "-q",
    ];
    done(
        dir,
        &[
            &run[..],
            &["--protocol", "matched,published", "--scale", "0.05"],
        ]
        .concat(),
    );
    done(
        dir,
        &[
            "run",
            "tiny.jsonl",
            "-s",
            "chained,full,null",
            "--out",
            "plain",
            "-q",
        ],
    );
    done(
        dir,
        &[
            "gate",
            "plain",
            "--baseline",
            "baseline.json",
            "--update",
            "-q",
        ],
    );
    for (kind, file) in [
        ("suite", "tiny.jsonl"),
        ("record", "run/records.jsonl"),
        ("text", "run/texts.jsonl"),
        ("manifest", "run/manifest.json"),
        ("summary", "run/summary.json"),
        ("baseline", "baseline.json"),
    ] {
        let form = Form::new(dir, kind);
        let values = values(&dir.join(file));
        assert!(!values.is_empty(), "{file}");
        for value in values {
            assert_eq!(form.wrong(&value), None, "{file}");
        }
    }
}

#[test]
fn what_the_program_would_not_read_is_of_no_schema() {
    let dir = tempfile::tempdir().unwrap();
    let suite = Form::new(dir.path(), "suite");
    let header = json!({"format": "compactometer-suite", "version": 1, "name": "x"});
    let message = json!({"id": 0, "role": "user", "parts": [{"type": "text", "text": "Hi."}]});
    let scenario = json!({"id": "a", "group_id": "a", "source": "by hand", "messages": [message]});
    assert_eq!((suite.wrong(&header), suite.wrong(&scenario)), (None, None));
    let with = |field: &str, value: Value| {
        let mut changed = scenario.clone();
        changed[field] = value;
        changed
    };
    for wrong in [
        json!({}),
        with("messages", json!(null)),
        with("mesages", json!([])),
        with("split", json!("train")),
    ] {
        assert!(suite.wrong(&wrong).is_some(), "{wrong}");
    }
}

/// Programs of others are written against it: a change of this file is a change for them.
#[test]
fn the_summary_keeps_its_form() {
    let dir = tempfile::tempdir().unwrap();
    insta::assert_json_snapshot!(schema(dir.path(), "summary"));
}

#[test]
fn a_kind_that_does_not_exist_is_named_with_what_does() {
    let dir = tempfile::tempdir().unwrap();
    let output = program(dir.path(), &["schema", "sumary"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("unknown schema `sumary` (did you mean `summary`?)")
            && said.contains("`record`"),
        "{said}"
    );
    let listed = done(dir.path(), &["list", "schemas"]);
    for kind in listed
        .lines()
        .skip(1)
        .filter_map(|line| line.split_whitespace().next())
    {
        assert!(
            done(dir.path(), &["schema", kind])
                .contains("https://json-schema.org/draft/2020-12/schema"),
            "{kind}"
        );
    }
}
