//! Suites with absences, and what is made of them: pauses in specs, and the parameter `absence`.

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

use crate::common::{lines, metric, records, succeeds};

const SPEC: &str = "name = \"away\"\nseed = 4\nwindow = 4000\ndomains = [\"research\", \"service\"]\n\
                    conversations = 2\nlengths = [12000]\nfacts = [24, 24]\npoints = [4, 5]\npauses = [9, 30]\n";
const HOUR_MS: i64 = 3_600_000;

fn folder(spec: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("away.toml"), spec).unwrap();
    dir
}

#[test]
fn the_user_is_away_before_each_point_and_at_no_other_time() {
    let dir = folder(SPEC);
    let dir = dir.path();
    succeeds(dir, &["generate", "away.toml", "--out", "away.jsonl"]);
    for scenario in &lines(dir, "away.jsonl")[1..] {
        let messages = scenario["messages"].as_array().unwrap();
        let at = |message: &Value| message["at_ms"].as_i64().unwrap();
        let gaps = messages
            .windows(2)
            .map(|pair| (pair[1]["id"].as_u64().unwrap(), at(&pair[1]) - at(&pair[0])));
        assert!(gaps.clone().all(|(_, gap)| gap > 0), "time goes on");
        let away = gaps.filter(|(_, gap)| *gap >= HOUR_MS).collect::<Vec<_>>();
        assert!(
            away.iter()
                .all(|(_, gap)| (9 * HOUR_MS..=30 * HOUR_MS).contains(gap)),
            "{away:?}"
        );
        let points = scenario["probes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|probe| probe["asked_after"].as_u64().unwrap());
        let mut asked = points.collect::<Vec<_>>();
        asked.sort_unstable();
        asked.dedup();
        assert_eq!(away.iter().map(|(id, _)| *id).collect::<Vec<_>>(), asked);
        assert!(asked.len() > 2);
    }
    // The same conversations without times: a pause changes neither text nor facts.
    let without = folder(&SPEC.replace("pauses = [9, 30]\n", ""));
    succeeds(
        without.path(),
        &["generate", "away.toml", "--out", "away.jsonl"],
    );
    let said = |dir: &Path| {
        let texts = lines(dir, "away.jsonl").into_iter().skip(1);
        texts
            .map(|scenario| {
                scenario["messages"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|said| said["parts"].clone())
                    .collect()
            })
            .collect::<Vec<Vec<Value>>>()
    };
    assert_eq!(said(dir), said(without.path()));
}

#[test]
fn a_checkpoint_is_shown_after_an_absence_unless_the_row_says_never() {
    let dir = folder(SPEC);
    let dir = dir.path();
    let rows = "middleware-checkpoint,never=middleware-checkpoint:absence=0,later=middleware-checkpoint:absence=40";
    succeeds(
        dir,
        &["compare", "away.toml", "-s", rows, "--out", "run", "-q"],
    );
    let records = records(dir, "run");
    let shown = |strategy: &str| {
        let of = records
            .iter()
            .filter(|record| record["case"]["strategy"] == strategy);
        of.flat_map(|record| record["recoveries"].as_array().cloned().unwrap_or_default())
            .collect::<Vec<_>>()
    };
    let own = shown("middleware-checkpoint");
    assert!(
        !own.is_empty()
            && own
                .iter()
                .all(|event| event["reason"]["absence"].as_i64().unwrap() >= 9 * HOUR_MS)
    );
    assert!(
        shown("never").is_empty() && shown("later").is_empty(),
        "nobody is away for forty hours"
    );
    let counted = |name: &str| metric(dir, "run", name, "recoveries_shown");
    assert_eq!(
        (counted("middleware-checkpoint"), counted("never")),
        (own.len() as f64 / 2.0, 0.0)
    );

    let told = succeeds(
        dir,
        &["explain", "away.toml", "-s", "middleware-checkpoint"],
    );
    let line = told
        .lines()
        .find(|line| line.contains(": back after "))
        .unwrap_or_else(|| panic!("{told}"));
    assert!(
        line.contains(" h: checkpoint shown, ") && line.ends_with(" items"),
        "{line}"
    );
}

#[test]
fn pauses_that_no_spec_can_have_are_refused() {
    for (pauses, why) in [
        ("[0, 9]", "expected `1` to `8760`"),
        ("[30, 9]", "expected the smaller number first"),
    ] {
        let dir = folder(&SPEC.replace("[9, 30]", pauses));
        let output = Command::cargo_bin("compactometer")
            .unwrap()
            .current_dir(dir.path())
            .args(["generate", "away.toml", "--out", "away.jsonl"])
            .output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains("pauses") && said.contains(why),
            "{said}"
        );
    }
}
