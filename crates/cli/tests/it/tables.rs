//! A run's records as tables, and reports of runs that do not fit into memory.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

use crate::common::succeeds;

const NAMES: [&str; 6] = ["cases", "compactions", "facts", "looks", "turns", "uses"];

fn refused(dir: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::cargo_bin("compactometer").unwrap();
    let output = command
        .current_dir(dir)
        .env("COMPACTOMETER_PYTHON", "no-such-python")
        .args(args)
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

fn names(folder: &Path) -> Vec<String> {
    let mut names = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect::<Vec<_>>();
    names.sort();
    names
}

/// The rows of a table, each by column.
fn rows(folder: &Path, name: &str) -> Vec<BTreeMap<String, String>> {
    let reader = csv::Reader::from_path(folder.join(format!("{name}.csv"))).unwrap();
    reader.into_deserialize().collect::<Result<_, _>>().unwrap()
}

#[test]
fn tables_hold_what_a_report_counts() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    succeeds(
        dir,
        &[
            "compare",
            "smoke",
            "--sample",
            "6",
            "-s",
            "summarize,full,null",
            "--out",
            "run",
            "-q",
        ],
    );
    succeeds(
        dir,
        &["report", "run", "--format", "tables", "--out", "apart"],
    );
    // Only the tables are written, and a second time replaces them.
    succeeds(
        dir,
        &["report", "run", "--format", "tables", "--out", "apart"],
    );
    assert_eq!(names(&dir.join("apart")), ["tables"]);
    let tables = dir.join("apart/tables");
    let mut files = NAMES.map(|name| format!("{name}.csv")).to_vec();
    files.push("columns.json".to_owned());
    files.sort();
    assert_eq!(names(&tables), files);
    let columns: BTreeMap<String, Vec<(String, String)>> =
        serde_json::from_str(&fs::read_to_string(tables.join("columns.json")).unwrap()).unwrap();
    for name in NAMES {
        let header = csv::Reader::from_path(tables.join(format!("{name}.csv")))
            .unwrap()
            .headers()
            .unwrap()
            .clone();
        assert!(
            header
                .iter()
                .eq(columns[name].iter().map(|(column, _)| column.as_str())),
            "{name}"
        );
    }

    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let rights = |folder: &Path| fs::metadata(folder).unwrap().permissions().mode();
        assert_eq!(
            rights(&tables),
            rights(&dir.join("run")),
            "others who read the run read its tables"
        );
    }

    let cases = rows(&tables, "cases");
    let strategy_of = |row: &BTreeMap<String, String>| {
        let case = cases
            .iter()
            .find(|case| case["case_id"] == row["case_id"])
            .unwrap();
        (case["strategy"].clone(), case["group_id"].clone())
    };
    assert_eq!(cases.len(), 18);
    // One conversation is a group here, and its old facts weigh the same.
    let mut of_fact: BTreeMap<_, BTreeMap<String, Vec<f64>>> = BTreeMap::new();
    for look in rows(&tables, "looks") {
        if let Ok(hit) = look["bound_corrected"].parse::<f64>() {
            of_fact
                .entry(strategy_of(&look))
                .or_default()
                .entry(look["fact"].clone())
                .or_default()
                .push(hit);
        }
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(dir.join("run/summary.json")).unwrap()).unwrap();
    let strategies = summary["groups"][0]["strategies"].as_array().unwrap();
    for strategy in strategies {
        let name = strategy["name"].as_str().unwrap();
        let own = of_fact.iter().filter(|((of, _), _)| of == name);
        let own =
            own.map(|(_, facts)| mean(&facts.values().map(|hits| mean(hits)).collect::<Vec<_>>()));
        let own = own.collect::<Vec<_>>();
        let reported = &strategy["metrics"]["bound_recall_corrected"];
        assert_eq!(reported["n"].as_u64(), Some(own.len() as u64));
        assert!(
            (reported["value"].as_f64().unwrap() - mean(&own)).abs() < 1e-8,
            "{name}"
        );

        let costs = cases.iter().filter(|case| case["strategy"] == name);
        let costs = costs
            .map(|case| case["cost_usd"].parse::<f64>().unwrap())
            .collect::<Vec<_>>();
        assert!(
            (strategy["metrics"]["cost_usd"]["value"].as_f64().unwrap() - mean(&costs)).abs()
                < 1e-8,
            "{name}"
        );
    }
    let facts = csv::Reader::from_path(dir.join("run/facts.csv"))
        .unwrap()
        .into_records()
        .count();
    assert_eq!(rows(&tables, "facts").len(), facts);
    assert!(
        rows(&tables, "compactions")
            .iter()
            .any(|row| row["outcome"] == "applied")
    );
    assert!(rows(&tables, "turns").len() > 1000 && !rows(&tables, "uses").is_empty());
}

#[test]
fn a_missing_duckdb_is_said_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    succeeds(
        dir,
        &[
            "plan",
            "smoke",
            "--sample",
            "1",
            "-s",
            "null,full",
            "--shards",
            "1",
            "--out",
            "plan",
            "-q",
        ],
    );
    succeeds(dir, &["run", "--shard", "1/1", "plan", "-q"]);
    succeeds(dir, &["merge", "plan", "--out", "run", "-q"]);
    let before = names(&dir.join("run"));
    for args in [
        &["merge", "plan", "--out", "more", "--parquet"][..],
        &["report", "run", "--format", "parquet"],
        &[
            "report", "run", "run", "--format", "tables", "--out", "both",
        ],
    ] {
        let (code, said) = refused(dir, args);
        let is_named = said.contains("no-such-python -m pip install duckdb")
            || said.contains("the tables of one run");
        assert!(code == Some(2) && is_named, "{args:?}: {said}");
    }
    assert_eq!(names(&dir.join("run")), before);
    assert_eq!(names(dir), ["plan", "run"]);
}

#[cfg(unix)]
#[test]
fn a_merged_run_stays_if_its_tables_cannot_be_written() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    succeeds(
        dir,
        &[
            "plan",
            "smoke",
            "--sample",
            "1",
            "-s",
            "null,full",
            "--shards",
            "1",
            "--out",
            "plan",
            "-q",
        ],
    );
    succeeds(dir, &["run", "--shard", "1/1", "plan", "-q"]);
    // It has a module of that name, which cannot write.
    let python = dir.join("python");
    fs::write(
        &python,
        "#!/bin/sh\n[ \"$2\" = \"import duckdb\" ] && exit 0\necho no room >&2\nexit 1\n",
    )
    .unwrap();
    fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::cargo_bin("compactometer").unwrap();
    let output = command
        .current_dir(dir)
        .env("COMPACTOMETER_PYTHON", &python);
    let output = output
        .args(["merge", "plan", "--out", "run", "--parquet"])
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(1) && said.contains("no room"),
        "{said}"
    );
    assert!(
        said.contains("`compactometer report run --format parquet`"),
        "{said}"
    );
    succeeds(dir, &["report", "run", "--format", "md"]);
    assert!(
        names(&dir.join("run"))
            .iter()
            .all(|name| !name.contains("tables")),
        "nothing half-written"
    );
}

#[test]
fn records_without_room_in_memory_are_refused_with_a_way_out() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    succeeds(
        dir,
        &[
            "run",
            "smoke",
            "--sample",
            "1",
            "-s",
            "null,full",
            "--out",
            "run",
            "-q",
        ],
    );
    // A file with a hole takes no room on the disk.
    let records = File::options()
        .write(true)
        .open(dir.join("run/records.jsonl"))
        .unwrap();
    let Ok(()) = records.set_len(1 << 42) else {
        eprintln!("skipped: the file system holds no file of 4 TB");
        return;
    };
    for args in [
        &["report", "run"][..],
        &["gate", "run", "--baseline", "baseline.json"],
    ] {
        let (code, said) = refused(dir, args);
        assert!(
            code == Some(1) && said.contains("report run --format parquet"),
            "{args:?}: {code:?} {said}"
        );
    }
}
