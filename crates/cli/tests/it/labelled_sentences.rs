//! What is left of a person's sentences, beside 100 that were judged by reading before the rule was
//! tuned on them. A label has the hash of its sentence, and no word of it.

use std::collections::HashMap;

use assert_cmd::Command;
use serde_json::Value;

use super::shared_data::data;

const LABELS: &str = include_str!("labelled_sentences.json");

#[test]
fn at_most_a_tenth_of_the_labelled_sentences_are_judged_wrong() {
    let Some(data) = data() else { return };
    let labels: Vec<Value> = serde_json::from_str(LABELS).unwrap();
    let is_labelled = |file: &std::path::PathBuf| {
        let name = file.to_string_lossy();
        let mut sessions = labels
            .iter()
            .map(|label| label["session"].as_str().unwrap());
        sessions.any(|session| name.contains(session))
    };
    let folders = [
        "compacted/claude-code",
        "compacted/codex",
        "compacted/opencode",
        "compacted/pi",
        "compacted-2/claude-code",
    ];
    let files = folders.map(|folder| std::fs::read_dir(data.join(folder)).unwrap());
    let files = files.into_iter().flatten().map(|file| file.unwrap().path());
    let files = files.filter(is_labelled);
    let done = Command::cargo_bin("compactometer")
        .unwrap()
        .args(["losses", "--json"])
        .args(files)
        .output()
        .unwrap();
    let found: Value = serde_json::from_slice(&done.stdout).unwrap();
    let said = found["each_sentence"].as_array().unwrap().iter();
    let said = said.map(|seen| {
        let hash = blake3::hash(seen["sentence"].as_str().unwrap().as_bytes());
        let key = (
            seen["session"].to_string(),
            seen["compaction"].to_string(),
            hash.to_hex()[..16].to_owned(),
        );
        (
            key,
            if seen["is_left"] == true {
                "left"
            } else {
                "gone"
            },
        )
    });
    let said = said.collect::<HashMap<_, _>>();
    let is_wrong = |label: &&Value| {
        let hash = label["sentence"].as_str().unwrap().to_owned();
        let key = (
            label["session"].to_string(),
            label["compaction"].to_string(),
            hash,
        );
        label["verdict"] != *said.get(&key).unwrap_or(&"not_said")
    };
    let wrong = labels.iter().filter(is_wrong).collect::<Vec<_>>();
    assert_eq!(labels.len(), 100);
    println!("{} of 100 are judged wrong", wrong.len());
    assert!(wrong.len() <= 10, "{}: {wrong:#?}", wrong.len());
}
