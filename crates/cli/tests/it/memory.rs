//! Suites of an agent with a memory: what only its document or its notes state, and what of that
//! requests hold.

use serde_json::Value;

use crate::common::{lines, metric, records, succeeds};

const SPEC: &str = "name = \"kept\"\nseed = 11\nwindow = 4000\ndomains = [\"research\", \"service\"]\n\
                    conversations = 4\nlengths = [12000]\nfacts = [24, 24]\npoints = [4, 5]\nunanswerable = 3\n\
                    \n[memory]\ndocument = 5\nnotes = 6\n";
const STRATEGIES: &str = "summarize,handoff,null";

fn suite() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("kept.toml"), SPEC).unwrap();
    succeeds(
        dir.path(),
        &["generate", "kept.toml", "--out", "kept.jsonl", "-q"],
    );
    dir
}

fn texts(scenario: &Value) -> Vec<String> {
    let messages = scenario["messages"].as_array().unwrap().iter();
    messages
        .map(|message| message["parts"].to_string())
        .collect()
}

fn asked(scenario: &Value) -> Vec<&Value> {
    scenario["probes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|probe| probe.get("memory").is_some())
        .collect()
}

#[test]
fn a_person_has_two_conversations_and_one_memory() {
    let dir = suite();
    let scenarios = lines(dir.path(), "kept.jsonl").split_off(1);
    assert_eq!(scenarios.len(), 4);
    for pair in scenarios.chunks(2) {
        let [first, second] = pair else {
            panic!("conversations come in pairs")
        };
        assert_eq!(
            first["group_id"], second["group_id"],
            "a person is one unit of statistics"
        );
        let document = &first["messages"][0]["parts"][1];
        assert_eq!(
            document, &second["messages"][0]["parts"][1],
            "both have the document"
        );
        assert!(
            document["text"]
                .as_str()
                .unwrap()
                .starts_with("<memory_document>")
        );
        assert!(
            first.get("memory_notes").is_none(),
            "there was nothing before"
        );
        assert_eq!((asked(first).len(), asked(second).len()), (5, 11));
        let notes = second["memory_notes"].to_string();
        for probe in asked(second) {
            let gold = probe["gold"].as_str().unwrap();
            let said_before = texts(first)[1..].iter().any(|text| text.contains(gold));
            let is_noted = probe["memory"] == "notes";
            assert_eq!(
                (notes.contains(gold), said_before),
                (is_noted, is_noted),
                "{gold}"
            );
            assert_eq!(document.to_string().contains(gold), !is_noted, "{gold}");
            assert!(
                texts(second)[1..].iter().all(|text| !text.contains(gold)),
                "{gold} is said"
            );
        }
        // What is asked although nothing answers it is in no memory either.
        let unanswered = second["probes"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|probe| probe["abstain_expected"] == true);
        let known = asked(second)
            .iter()
            .map(|probe| probe["question"].clone())
            .collect::<Vec<_>>();
        assert!(
            unanswered.clone().count() == 3
                && unanswered
                    .clone()
                    .all(|probe| !known.contains(&probe["question"]))
        );
    }
}

#[test]
fn a_request_holds_the_document_and_the_notes_that_a_strategy_finds() {
    let dir = suite();
    let dir = dir.path();
    let shown = succeeds(
        dir,
        &[
            "compare",
            "kept.jsonl",
            "-s",
            STRATEGIES,
            "--out",
            "run",
            "-q",
        ],
    );
    let of = |strategy: &str, id: &str| metric(dir, "run", strategy, id);
    for strategy in ["summarize", "handoff", "null"] {
        assert_eq!(of(strategy, "memory_document_recall"), 1.0, "{strategy}");
    }
    assert_eq!(
        (
            of("summarize", "memory_note_recall"),
            of("null", "memory_note_recall")
        ),
        (0.0, 0.0)
    );
    let found = of("handoff", "memory_note_recall");
    assert!(found > 0.8, "{found}");
    assert!(of("handoff", "memory_answer_recall") > of("summarize", "memory_answer_recall") + 0.2);
    let line = format!(
        "- memory: answers found in notes of an earlier conversation: handoff {:.0} %",
        100.0 * found
    );
    assert!(
        shown.contains(&line) && shown.contains("the other 2 find none"),
        "{line}: {shown}"
    );

    // By hand: every question of notes has an answer whose request held what was retrieved for it.
    let records = records(dir, "run");
    let handoff = records
        .iter()
        .filter(|record| record["case"]["strategy"] == "handoff");
    let (mut held, mut all) = (0, 0);
    for record in handoff {
        for (at, probe) in record["probes"]
            .as_array()
            .unwrap()
            .iter()
            .enumerate()
            .filter(|(_, probe)| probe["memory"] == "notes")
        {
            let answers = record["answers"]
                .as_array()
                .unwrap()
                .iter()
                .filter(|answer| answer["probe"] == at);
            held += i32::from(
                answers
                    .clone()
                    .any(|answer| answer["present"] == true && answer["prompted"] == true),
            );
            all += 1;
            assert!(
                answers
                    .clone()
                    .all(|answer| answer["prompted"] == true || answer["present"] == false),
                "{probe}"
            );
        }
    }
    assert_eq!(all, 12);
    assert!(
        (f64::from(held) / f64::from(all) - found).abs() < 1e-9,
        "{held} of {all}, {found}"
    );

    let told = succeeds(
        dir,
        &[
            "explain",
            "kept.jsonl",
            "-s",
            "handoff",
            "--scenario",
            "kept-research-01",
        ],
    );
    assert!(
        told.contains("of 5 answers that only the memory document states, requests held 5"),
        "{told}"
    );
    assert!(
        told.contains("of 6 answers that only a note of memory states, requests held "),
        "{told}"
    );
}

/// A document is in every request, so that its answers would raise every recall alike.
#[test]
fn what_memory_states_enters_no_recall_of_the_conversation() {
    let dir = suite();
    let dir = dir.path();
    let scenarios = lines(dir, "kept.jsonl");
    let unasked = scenarios.iter().map(|line| {
        let mut line = line.clone();
        if let Some(Value::Array(probes)) = line.get_mut("probes") {
            probes.retain(|probe| probe.get("memory").is_none());
        }
        line.to_string() + "\n"
    });
    std::fs::write(dir.join("unasked.jsonl"), unasked.collect::<String>()).unwrap();
    for suite in ["kept", "unasked"] {
        succeeds(
            dir,
            &[
                "compare",
                &format!("{suite}.jsonl"),
                "-s",
                STRATEGIES,
                "--out",
                suite,
                "-q",
            ],
        );
    }
    for strategy in ["summarize", "handoff", "null"] {
        for id in [
            "answer_recall",
            "prompted_answer_recall",
            "bound_recall",
            "context_recall",
            "prompted_recall",
            "wrong_value_rate",
        ] {
            let of = |run: &str| {
                let summary: Value = serde_json::from_slice(
                    &std::fs::read(dir.join(run).join("summary.json")).unwrap(),
                )
                .unwrap();
                let strategies = summary["groups"][0]["strategies"]
                    .as_array()
                    .unwrap()
                    .clone();
                strategies
                    .into_iter()
                    .find(|one| one["name"] == strategy)
                    .unwrap()["metrics"][id]["value"]
                    .clone()
            };
            assert_eq!(of("kept"), of("unasked"), "{id} of {strategy}");
        }
    }
}
