//! Whole replays under the mock, changed in ways that must change nothing, or must change it in one
//! direction.

use std::path::Path;

use assert_cmd::Command;
use compactometer_engine::budget::Budget;
use compactometer_engine::message::Part;
use compactometer_engine::tokens::Encoding;
use compactometer_formats::fate::Fate;
use compactometer_formats::scenario::{Category, Fact, Salience, ValueKind};
use compactometer_formats::suite::Suite;
use compactometer_harness::entrants::select;
use compactometer_harness::plan::{Plan, PlanOptions, Schedule};
use compactometer_harness::run::run_case;
use compactometer_harness::trace::CaseResult;
use compactometer_report::other_mocks::{Recalls, recalls};
use compactometer_suites::generate::{Spec, generate};

const SPEC: &str = r#"
name = "short"
seed = 11
window = 6000
domains = ["software"]
conversations = 2
lengths = [20000]
facts = [24, 24]
points = [3, 3]
"#;

fn suite() -> Suite {
    generate(&Spec::parse(SPEC, Path::new("short.toml")).unwrap())
}

fn plan(suite: Suite, strategies: &[&str]) -> Plan {
    let options = PlanOptions {
        entrants: select(strategies.iter().copied(), []).unwrap(),
        summarizer: "mock:strong".into(),
        seed: 3,
        ..PlanOptions::default()
    };
    let mut plan = Plan::new(suite, options, &Encoding::O200k).unwrap();
    // A seed comes of a scenario's content, so that a changed one would draw anew.
    for case in &mut plan.cases {
        case.seed = 5;
    }
    plan
}

fn replay(plan: &Plan) -> Vec<CaseResult> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let model = compactometer_models::by_name(&plan.options.summarizer).unwrap();
    plan.cases
        .iter()
        .map(|case| runtime.block_on(run_case(case, &*model, &Encoding::O200k)))
        .collect()
}

fn recall(results: &[CaseResult]) -> Recalls {
    recalls(
        &results
            .iter()
            .map(|result| result.record.clone())
            .collect::<Vec<_>>(),
    )
}

const ASK: &[&str] = &["summarize", "middleware-checkpoint", "chained"];

#[test]
fn what_is_outside_the_prompt_changes_no_reply() {
    let mut relabelled = suite();
    for scenario in &mut relabelled.scenarios {
        for fact in &mut scenario.facts {
            fact.category = Category::Prohibition;
            fact.subject = "something else".into();
            fact.salience = Salience::Implicit;
            fact.weight = 7.0;
        }
        scenario
            .facts
            .iter_mut()
            .step_by(2)
            .for_each(|fact| fact.value = "nowhere-said-91".into());
    }
    // Which questions are asked, and what about, hangs on the facts; what summaries say must not.
    let unasked = |mut suite: Suite| {
        suite
            .scenarios
            .iter_mut()
            .for_each(|scenario| scenario.probes.clear());
        suite
    };
    let [one, other] = [suite(), relabelled].map(|suite| replay(&plan(unasked(suite), ASK)));
    for (one, other) in one.iter().zip(&other) {
        assert!(one.record.rounds() >= 2 && one.texts.len() > 2);
        assert_eq!(one.texts, other.texts, "{}", one.record.case.strategy);
    }
}

#[test]
fn a_removed_fact_is_carried_by_no_summary() {
    let mut without = suite();
    for scenario in &mut without.scenarios {
        // Numbers and words are matched in other spellings too, which a plain removal leaves.
        let is_exact = |fact: &&Fact| {
            matches!(
                fact.value_kind,
                ValueKind::Nonce | ValueKind::Id | ValueKind::Path
            )
        };
        let gone: Vec<_> = scenario
            .facts
            .iter()
            .filter(is_exact)
            .step_by(3)
            .cloned()
            .collect();
        let removed = |text: &mut String| {
            for said in gone
                .iter()
                .flat_map(|fact| fact.variants.iter().chain([&fact.value]))
            {
                *text = text.replace(said.as_str(), "it");
            }
        };
        for part in scenario
            .messages
            .iter_mut()
            .flat_map(|message| &mut message.parts)
        {
            match part {
                Part::Text { text } | Part::ToolResult { text, .. } => removed(text),
                Part::ToolCall { arguments, .. } => removed(arguments),
                Part::Thinking { .. } | Part::Media { .. } | Part::Sealed { .. } => {}
            }
        }
        scenario.facts = gone;
        for fact in &mut scenario.facts {
            (fact.supersedes, fact.valid_to, fact.decoy_of) = (None, None, None);
        }
    }
    for result in replay(&plan(without, ASK)) {
        let looked = result
            .record
            .observations
            .iter()
            .flat_map(|observation| &observation.fates.0)
            .count();
        let present = result
            .record
            .observations
            .iter()
            .flat_map(|observation| &observation.fates.0);
        // A message that is named as evidence counts as such while it stands; a summary counts by
        // what it says.
        let carried = present.filter(|fate| **fate == Fate::Carried).count();
        assert!(looked > 0 && result.record.rounds() >= 2);
        assert_eq!(carried, 0, "{}", result.record.case.strategy);
    }
}

#[test]
fn a_larger_budget_never_lowers_the_mean_recall() {
    let recalls = [0.15, 0.3, 0.6].map(|share| {
        let mut plan = plan(suite(), ASK);
        for case in &mut plan.cases {
            let Budget {
                window,
                trigger,
                retained,
                ..
            } = case.budget();
            let tail = case.budget().written as f64 / f64::from(retained.unwrap());
            case.schedule = Schedule::AtTrigger(
                Budget::matched(
                    window,
                    trigger,
                    (f64::from(window) * share) as u32,
                    1.0 - tail,
                )
                .unwrap(),
            );
        }
        let recalls = recall(&replay(&plan));
        recalls.values().sum::<f64>() / recalls.len() as f64
    });
    assert!(
        recalls.is_sorted() && recalls[2] > recalls[0] + 0.05,
        "{recalls:?}"
    );
}

/// The prompt of `summarize` in other words, with the same shape and limits.
const REWORDED: &str = "You will see a transcript. Boil it down to a recap of no more than {words} words.\n\nIt is about:\n1. Goals \
    of the user\n2. Choices that were settled\n3. Open work\n4. Limits and wishes that count\n\nOmit:\n- Calls of tools, and \
    what failed in them\n- Raw tool output and logs\n- Internals\n\nThe transcript follows between tags, as data.\n\n<transcript>\n\
    {messages}\n</transcript>\n\nReply with the recap and nothing else, in no more than {words} words.";

#[test]
fn other_words_of_a_prompt_move_recall_by_less_than_a_point() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("reworded.md");
    std::fs::write(&file, REWORDED).unwrap();
    let placebo = dir.path().join("placebo.md");
    let own = include_str!("../../../engine/src/strategies/summarize/prompt.md");
    std::fs::write(
        &placebo,
        own.replace("Cover:", "Take your time and be at your best.\n\nCover:"),
    )
    .unwrap();
    let [file, placebo] = [file, placebo].map(|path| path.to_str().unwrap().to_owned());
    let names = [
        "summarize".to_owned(),
        format!("other=summarize:prompt={file}"),
        format!("placebo=summarize:prompt={placebo}"),
    ];
    let recalls = recall(&replay(&plan(
        suite(),
        &names.each_ref().map(String::as_str),
    )));
    let [own, other, placebo] = ["summarize", "other", "placebo"].map(|name| recalls[name]);
    assert!(
        own > 0.05 && (own - other).abs() < 0.01 && (own - placebo).abs() < 0.01,
        "{recalls:?}"
    );
}

#[test]
fn drawn_weights_tell_which_orders_are_the_mocks() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("short.toml"), SPEC).unwrap();
    let run = |model: &str, out: &str| {
        let common = [
            "compare",
            "short.toml",
            "-s",
            "summarize,chained,threshold-summary,null",
            "--mocks",
            "4",
        ];
        let args = [&common[..], &["--model", model, "--out", out]].concat();
        Command::cargo_bin("compactometer")
            .unwrap()
            .current_dir(dir.path())
            .args(args)
            .output()
            .unwrap()
    };
    let output = run("mock", "out");
    assert!(output.status.success(), "{output:?}");
    let mocks = std::fs::read(dir.path().join("out/mocks.json")).unwrap();
    let mocks: serde_json::Value = serde_json::from_slice(&mocks).unwrap();
    let others = mocks["others"].as_array().unwrap();
    assert_eq!(
        (others.len(), &others[0]["mock"]),
        (4, &"mock:claude-code~1".into())
    );
    for draw in others {
        assert_eq!(draw["is_draw"], true, "{draw}");
        // A control calls no model, so that its place is no matter of weights.
        assert_eq!(draw["recalls"].as_object().unwrap().len(), 3, "{draw}");
    }
    assert_ne!(others[0]["recalls"], others[1]["recalls"]);
    let page = || std::fs::read_to_string(dir.path().join("out/report.md")).unwrap();
    let first = page();
    assert!(
        first.contains(" of 3 pairs keep their order in under 0.95 of 4 draws"),
        "{first}"
    );

    let report = || {
        Command::cargo_bin("compactometer")
            .unwrap()
            .current_dir(dir.path())
            .args(["report", "out"])
            .output()
            .unwrap()
    };
    assert!(report().status.success());
    assert_eq!(page(), first, "a report made again says it too");
    std::fs::write(dir.path().join("out/mocks.json"), "{").unwrap();
    let damaged = report();
    let told = String::from_utf8_lossy(&damaged.stderr).into_owned();
    assert!(
        damaged.status.code() == Some(2) && told.contains("mocks.json` is damaged"),
        "{damaged:?}"
    );
}

#[test]
fn a_row_with_its_own_prompt_says_what_a_mock_cannot_judge() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("short.toml"), SPEC).unwrap();
    std::fs::write(dir.path().join("mine.md"), REWORDED).unwrap();
    let output = Command::cargo_bin("compactometer")
        .unwrap()
        .current_dir(dir.path())
        .args(["compare", "short.toml", "-s"])
        .arg("summarize,mine=summarize:prompt=mine.md,null")
        .args(["--notes", "-q"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        told.contains("exact values, but not how well it is worded: `mine`"),
        "{told}"
    );
}

#[test]
fn other_mocks_tell_how_the_order_changes() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("short.toml"), SPEC).unwrap();
    let program = |args: &[&str]| {
        Command::cargo_bin("compactometer")
            .unwrap()
            .current_dir(dir.path())
            .args(args)
            .output()
            .unwrap()
    };
    let common = [
        "compare",
        "short.toml",
        "-s",
        "summarize,chained,null",
        "--out",
        "out",
        "-q",
        "--notes",
    ];
    let output = program(
        &[
            &common[..],
            &["--mocks", "mock:strong,mock:lost-in-compaction-length"],
        ]
        .concat(),
    );
    let told = String::from_utf8_lossy(&output.stdout).replace("\n  ", " ");
    assert!(
        told.contains("order under other mocks, by facts kept over ")
            && told.contains("; under mock:strong "),
        "{told}"
    );
    let mocks: serde_json::Value =
        serde_json::from_slice(&std::fs::read(dir.path().join("out/mocks.json")).unwrap()).unwrap();
    assert_eq!(
        (
            &mocks["own"]["mock"],
            mocks["others"].as_array().unwrap().len()
        ),
        (&"mock:claude-code".into(), 2)
    );
    // Both strategies that call a model are there; the control is not. The short replies lead to
    // other numbers.
    let [own, short] = [&mocks["own"]["recalls"], &mocks["others"][1]["recalls"]];
    assert_eq!(
        own.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["chained", "summarize"]
    );
    assert_ne!(own, short);

    let page = || std::fs::read_to_string(dir.path().join("out/report.md")).unwrap();
    let first = page();
    assert!(first.contains("order under other mocks, by "), "{first}");
    assert!(program(&["report", "out"]).status.success());
    assert_eq!(page(), first, "a report made again says it too");

    // What is refused is refused before anything is run.
    let common = [
        "compare",
        "short.toml",
        "-s",
        "summarize",
        "--out",
        "refused",
    ];
    let refused = program(&[&common[..], &["--mocks", "mock:strong,openai:gpt"]].concat());
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        refused.status.code() == Some(2) && told.contains("`openai:gpt` is not one"),
        "{told}"
    );
    let unknown = program(&[&common[..], &["--mocks", "mock:stron"]].concat());
    let told = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        unknown.status.code() == Some(2) && told.contains("did you mean `strong`?"),
        "{told}"
    );
    assert!(!dir.path().join("refused").exists());
}
