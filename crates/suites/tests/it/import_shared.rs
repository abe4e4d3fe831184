//! The importers on real conversations, which are not part of the repository. The tests are skipped
//! if the files are missing, unless `COMPACTOMETER_REQUIRE_SHARED` is set.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use compactometer_engine::message::Role;
use compactometer_formats::suite::Suite;
use compactometer_suites::import::{Imported, Options, by_content, by_name, import};

/// The options of most tests.
pub(crate) const FACTS: Options = Options {
    auto_facts: true,
    concat: None,
    keep_secrets: false,
    strict: false,
    lenient: false,
    skip_refused: false,
    last: None,
};
const TAU: &str = "data/tau-bench/gpt-4o-airline-even-tasks.json";

/// A file of the shared data; nothing if it is missing.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("COMPACTOMETER_SHARED").map_or_else(beside, PathBuf::from);
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    assert!(
        std::env::var_os("COMPACTOMETER_REQUIRE_SHARED").is_none(),
        "`{name}` is required but missing"
    );
    println!(
        "skipped: `{name}` is missing; set `COMPACTOMETER_SHARED` to the folder that contains it"
    );
    None
}

/// Imports files and checks that the suite can be read back.
pub(crate) fn imported(format: &str, files: &[PathBuf], options: &Options) -> Imported {
    let start = std::time::Instant::now();
    let importer = by_name(format).expect("a known format");
    let imported = import(importer, files, "shared", options).expect("imports");
    println!(
        "{format} in {:?}:\n  {}",
        start.elapsed(),
        imported.report.lines().join("\n  ")
    );
    let mut bytes = Vec::new();
    imported.suite.write(&mut bytes).expect("writes to memory");
    assert_eq!(
        Suite::from_reader(bytes.as_slice(), Path::new("suite")).expect("valid"),
        imported.suite
    );
    imported
}

/// Small files of formats that were refused once: the format, and how many messages and recorded
/// compactions the file has.
const SMALL: [(&str, &str, usize, usize); 12] = [
    ("cline-results/cline.json", "cline", 7, 0),
    ("codex-response-end/cx-plain.jsonl", "codex", 14, 1),
    (
        "mostly-dropped-stream-json/stream.jsonl",
        "claude-code",
        17,
        1,
    ),
    ("unknown-block/anthropic-compaction.json", "anthropic", 8, 1),
    ("formats/adk-session.json", "adk", 5, 1),
    ("formats/codex-exec.jsonl", "codex-exec", 4, 0),
    ("formats/goose.jsonl", "goose", 5, 1),
    ("formats/mini-swe.traj.json", "mini-swe-agent", 6, 0),
    ("formats/pydantic-ai.json", "pydantic-ai", 6, 0),
    ("formats/responses-items.json", "openai-responses", 6, 1),
    ("formats/vercel-model.json", "vercel", 6, 0),
    ("formats/vscode-chat.json", "vscode-chat", 3, 0),
];

#[test]
fn small_files_of_many_formats_are_read_whole() {
    for (file, format, messages, compactions) in SMALL {
        let Some(path) = shared(&format!("data/cases/sessions/{file}")) else {
            return;
        };
        let importer = by_content(&path).expect("a known format");
        assert_eq!(importer.name, format, "{file}");
        let found = imported(format, &[path], &FACTS);
        let scenario = &found.suite.scenarios[0];
        let recorded = scenario.compactions.len() + scenario.unmeasured.len();
        assert_eq!(
            (scenario.messages.len(), recorded),
            (messages, compactions),
            "{file}: {:?}",
            found.report
        );
        let dropped = found.report.repairs.iter();
        let mut dropped = dropped.filter(|repair| repair.what.ends_with("dropped"));
        assert!(
            dropped.next().is_none(),
            "{file}: {:?}",
            found.report.repairs
        );
    }
}

#[test]
fn tau_bench_is_read_without_repairs() {
    let Some(file) = shared(TAU) else { return };
    let imported = imported("tau-bench", &[file], &FACTS);
    let report = &imported.report;
    assert_eq!(
        (report.groups, report.scenarios, report.repeated_call_ids),
        (25, 100, 38)
    );
    assert!(
        report.repairs.is_empty() && report.secrets.is_empty(),
        "{:?} {:?}",
        report.repairs,
        report.secrets
    );
    let facts = report.facts.expect("asked for");
    assert!(facts.uses > 500 && facts.used < facts.facts, "{facts:?}");
}

#[test]
fn joined_tau_bench_has_long_range_uses() {
    let Some(file) = shared(TAU) else { return };
    let imported = imported(
        "tau-bench",
        std::slice::from_ref(&file),
        &Options {
            concat: Some(4),
            ..FACTS
        },
    );
    assert_eq!((imported.report.groups, imported.report.scenarios), (6, 24));
    assert!(
        imported
            .report
            .leftovers
            .iter()
            .any(|left| left.starts_with("session `task-48` left over"))
    );
}

#[test]
fn claude_code_sessions_are_read_with_their_side_conversations() {
    let names = [
        "1af7fc5e-8455-4414-9ccd-011d40f70b2a",
        "fe5e1c67-53e7-4862-81ae-d0e013e3270b",
    ];
    let files = names.map(|name| shared(&format!("data/claude-code/{name}.jsonl")));
    let Some(files) = files.into_iter().collect::<Option<Vec<_>>>() else {
        return;
    };
    let imported = imported("claude-code", &files, &FACTS);
    let scenarios = &imported.suite.scenarios;
    assert_eq!((imported.report.groups, scenarios.len()), (2, 7));
    assert!(
        imported.report.repairs.is_empty(),
        "{:?}",
        imported.report.repairs
    );
    let messages = || scenarios.iter().flat_map(|scenario| &scenario.messages);
    let calls = messages().flat_map(|message| message.call_ids()).count();
    assert_eq!(calls, 12 + 167);
    let answered = messages()
        .filter(|message| message.role == Role::Tool)
        .flat_map(|message| message.answered_ids());
    assert_eq!(answered.count(), calls);
    let read = messages()
        .filter_map(|message| message.usage.as_deref())
        .map(|usage| usage.cache_read)
        .sum::<u64>();
    let all = messages()
        .filter_map(|message| message.usage.as_deref())
        .map(|usage| usage.total_input())
        .sum::<u64>();
    println!("cache reads: {:.3} of the input", read as f64 / all as f64);
    assert!(
        read * 10 > all * 9,
        "most of the recorded input came from the cache: {read} of {all}"
    );
    let groups = scenarios
        .iter()
        .map(|scenario| &scenario.group_id)
        .collect::<BTreeSet<_>>();
    assert_eq!(groups.len(), 2);
}

#[test]
fn files_of_other_formats_are_refused() {
    let others = ["calibration.json"];
    for file in others
        .iter()
        .filter_map(|name| shared(&format!("data/{name}")))
    {
        for format in ["claude-code", "tau-bench"] {
            let importer = by_name(format).expect("a known format");
            let error = import(importer, std::slice::from_ref(&file), "shared", &FACTS)
                .expect_err("another format");
            let message = error.to_string();
            assert!(
                message.contains("line 1: expected")
                    && (message.contains("; formats are") || message.contains("; it looks like")),
                "{message}"
            );
        }
    }
}

#[test]
fn files_of_known_formats_are_named() {
    let Some(file) = shared("data/openhands/multi_swe_bench_example_output.jsonl") else {
        return;
    };
    for format in ["claude-code", "tau-bench"] {
        let importer = by_name(format).expect("a known format");
        let error = import(importer, std::slice::from_ref(&file), "shared", &FACTS)
            .expect_err("another format");
        assert!(
            error.to_string().ends_with("it looks like `openhands`"),
            "{error}"
        );
    }
}

/// The three sessions with a recorded compaction, which worked in three worktrees of one
/// repository.
fn compacted() -> Option<Vec<PathBuf>> {
    let names = [
        "258c7280-ae70-4798-800f-63464d01a85d",
        "8463c716-a2ea-4c14-9efa-87158ebd9f20",
        "ae4a77f8-aedd-4bc1-888f-c94edc91af04",
    ];
    names
        .map(|name| shared(&format!("data/claude-code-compacted/{name}.jsonl")))
        .into_iter()
        .collect()
}

#[test]
fn sessions_of_one_project_keep_their_facts_when_they_are_imported_together() {
    let Some(files) = compacted() else { return };
    let alone = imported("claude-code", &files[..1], &FACTS);
    let together = imported("claude-code", &files, &FACTS);
    let of_first = |imported: &Imported| imported.suite.scenarios[0].facts.len();
    assert!(of_first(&alone) > 400, "{}", of_first(&alone));
    assert_eq!(of_first(&alone), of_first(&together));
    let counts = together.report.facts.expect("asked for");
    assert_eq!(
        (counts.generic, counts.projects, counts.known_projects),
        (0, 1, true)
    );
    assert!(counts.left_out > 1_000, "{counts:?}");
    assert!(
        together
            .suite
            .scenarios
            .iter()
            .all(|scenario| scenario.projects == ["spotter"])
    );
}

#[test]
fn a_compacted_session_is_whole_with_and_without_the_row_before_its_compaction() {
    let Some(files) = compacted() else { return };
    for file in files {
        let text = std::fs::read_to_string(&file).expect("reads");
        let parent = text
            .lines()
            .find(|line| line.contains("compact_boundary"))
            .expect("was compacted");
        let parent: serde_json::Value = serde_json::from_str(parent).expect("JSON");
        let cut = text.replace(
            parent["logicalParentUuid"].as_str().expect("names a row"),
            "another-row",
        );
        let cut = cut.replacen("\"uuid\":\"another-row\"", "\"uuid\":\"renamed\"", 1);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(file.file_name().expect("a name"));
        std::fs::write(&path, cut).expect("writes");
        let (whole, joined) = (
            imported("claude-code", &[file], &FACTS),
            imported("claude-code", &[path], &FACTS),
        );
        assert_eq!(joined.suite.scenarios.len(), 1);
        assert_eq!(
            whole.suite.scenarios[0].messages.len(),
            joined.suite.scenarios[0].messages.len()
        );
        assert!(
            joined
                .report
                .repairs
                .iter()
                .any(|repair| repair.what.contains("joined to line"))
        );
        let said = joined.suite.scenarios[0]
            .messages
            .iter()
            .flat_map(|message| &message.parts);
        let texts = said.filter_map(compactometer_engine::message::part_text);
        assert!(texts.clone().count() > 100);
        assert!(
            texts
                .into_iter()
                .all(|text| !text.starts_with("This session is being continued"))
        );
    }
}

/// Objects of a file of one JSON object a line, read without an importer.
pub(super) fn rows(file: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(file).expect("reads");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("it is JSON"))
        .collect()
}

/// Calls, results and reported output tokens of a suite.
pub(crate) fn counts(imported: &Imported) -> (usize, usize, u64) {
    let messages = || {
        imported
            .suite
            .scenarios
            .iter()
            .flat_map(|scenario| &scenario.messages)
    };
    let calls = messages().flat_map(|message| message.call_ids()).count();
    let results = messages()
        .flat_map(|message| message.answered_ids())
        .count();
    (
        calls,
        results,
        messages()
            .filter_map(|message| message.usage.as_deref())
            .map(|usage| usage.output)
            .sum(),
    )
}

/// Results without a call are dropped, and calls without a result get one that says so, so that
/// both are as many.
#[test]
fn pi_sessions_have_the_calls_and_usage_of_their_files() {
    for (name, texts) in [
        ("data/pi/large-session.jsonl", 88),
        ("data/agents/pi-0.74.2-session.jsonl", 2),
    ] {
        let Some(file) = shared(name) else { return };
        let rows = rows(&file);
        let of = |role: &str| {
            let messages = rows
                .iter()
                .filter(|row| row["type"] == "message")
                .map(|row| row["message"].clone());
            messages
                .filter(|message| message["role"] == role)
                .collect::<Vec<_>>()
        };
        let blocks = of("assistant")
            .into_iter()
            .flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
        let calls = blocks.filter(|block| block["type"] == "toolCall").count();
        let output = of("assistant")
            .iter()
            .filter_map(|message| message["usage"]["output"].as_u64())
            .sum::<u64>();
        let imported = imported("pi", &[file], &FACTS);
        assert_eq!(counts(&imported), (calls, calls, output), "{name}");
        let users = imported.suite.scenarios[0]
            .messages
            .iter()
            .filter(|message| message.role == Role::User)
            .count();
        assert_eq!((users, of("user").len()), (texts, texts), "{name}");
    }
}

#[test]
fn codex_rollouts_have_the_calls_and_usage_of_their_files() {
    for name in [
        "data/codex/rollout-with-compaction.jsonl",
        "data/agents/codex-rollout.jsonl",
    ] {
        let Some(file) = shared(name) else { return };
        let rows = rows(&file);
        let of = |kind: &str| {
            rows.iter()
                .filter(|row| row["payload"]["type"] == kind)
                .count()
        };
        let compactions = rows.iter().filter(|row| row["type"] == "compacted").count();
        let imported = imported("codex", &[file], &FACTS);
        let (calls, results, output) = counts(&imported);
        assert_eq!(
            (calls, results),
            (of("function_call"), of("function_call_output")),
            "{name}"
        );
        assert_eq!(imported.report.compactions, compactions, "{name}");
        assert!(
            output > 0 && imported.report.repairs.is_empty(),
            "{name}: {:?}",
            imported.report.repairs
        );
        let said = imported.suite.scenarios[0]
            .messages
            .iter()
            .flat_map(|message| &message.parts);
        let mut texts = said.filter_map(compactometer_engine::message::part_text);
        assert!(
            !texts.any(|text| text.starts_with("SUMMARY:")),
            "{name}: the summary is not a message"
        );
    }
}
