//! The importers of agents on real logs, which are not part of the repository, against counts of
//! their JSON that share no code with the importers.

use compactometer_engine::message::{Part, Role};
use compactometer_formats::scenario::{RecordedCompaction, Retained, Scenario};
use compactometer_suites::import::{ALL, Imported, import};
use serde_json::Value;

use super::import_shared::{FACTS, counts, imported, rows, shared};

/// The only conversation of a file.
fn only(imported: &Imported) -> &Scenario {
    let [scenario] = &imported.suite.scenarios[..] else {
        panic!("one conversation")
    };
    scenario
}

fn of_role(scenario: &Scenario, role: Role) -> usize {
    scenario
        .messages
        .iter()
        .filter(|message| message.role == role)
        .count()
}

/// Tokens of the input over all messages, with those from a cache.
fn input(scenario: &Scenario) -> u64 {
    scenario
        .messages
        .iter()
        .filter_map(|message| message.usage.as_deref())
        .map(|usage| usage.total_input())
        .sum()
}

/// The texts that the program wrote, in order.
fn written(compaction: &RecordedCompaction) -> Vec<&str> {
    let texts = compaction.context.iter().filter_map(|left| match left {
        Retained::Written { text, .. } => Some(text.as_str()),
        Retained::Kept(_) => None,
    });
    texts.collect()
}

fn kept(compaction: &RecordedCompaction) -> Vec<u32> {
    let id = |left: &Retained| {
        if let Retained::Kept(id) = left {
            Some(id.0)
        } else {
            None
        }
    };
    compaction.context.iter().filter_map(id).collect()
}

/// Whether any message has a text or a result with these words.
fn says(scenario: &Scenario, words: &str) -> bool {
    let parts = scenario.messages.iter().flat_map(|message| &message.parts);
    parts
        .filter(|part| !matches!(part, Part::ToolCall { .. }))
        .any(|part| {
            compactometer_engine::message::part_text(part)
                .is_some_and(|text| text.starts_with(words))
        })
}

fn sum<'v>(values: impl Iterator<Item = &'v Value>) -> u64 {
    values.filter_map(Value::as_u64).sum()
}

/// Real files of each format, and of formats that none of these importers reads.
#[test]
fn real_files_are_of_one_format() {
    let agents = ["gemini", "qwen", "opencode", "openhands", "atif"];
    for (name, format) in [
        ("agents/gemini-chat.jsonl", "gemini"),
        ("agents/qwen-0.24.4-chat.jsonl", "qwen"),
        ("agents/opencode-export.json", "opencode"),
        ("agents/openhands-events.jsonl", "openhands"),
        (
            "openhands/multi_swe_bench_example_output.jsonl",
            "openhands",
        ),
        ("agents/pi-0.74.2-session.jsonl", "pi"),
        ("agents/codex-rollout.jsonl", "codex"),
        ("agents/deepagents-session.json", ""),
        ("agents/inspect-eval.json", ""),
        ("agents/langchain-session.json", ""),
        ("agents/strands-session.json", ""),
        ("swe-agent/function_calling_simple.traj", ""),
    ] {
        let Some(file) = shared(&format!("data/{name}")) else {
            return;
        };
        for importer in ALL
            .iter()
            .filter(|importer| !format.is_empty() || agents.contains(&importer.name))
        {
            let read = import(importer, std::slice::from_ref(&file), "shared", &FACTS);
            let is_refused = read
                .as_ref()
                .is_err_and(|error| error.to_string().contains("line 1: expected"));
            assert_eq!(
                is_refused,
                importer.name != format,
                "{name} by {}",
                importer.name
            );
        }
    }
}

#[test]
fn gemini_chats_have_the_calls_and_usage_of_their_files() {
    let Some(file) = shared("data/agents/gemini-chat.jsonl") else {
        return;
    };
    let rows = rows(&file);
    // The last form of a message has all its calls.
    let mut last = std::collections::BTreeMap::new();
    for row in rows.iter().filter(|row| row["type"] == "gemini") {
        last.insert(row["id"].to_string(), row);
    }
    let calls = last
        .values()
        .map(|row| row["toolCalls"].as_array().map_or(0, Vec::len))
        .sum::<usize>();
    let output = sum(last.values().map(|row| &row["tokens"]["output"]));
    let imported = imported("gemini", &[file], &FACTS);
    let found = only(&imported);
    assert_eq!(counts(&imported), (calls, calls, output));
    assert_eq!(
        input(found),
        sum(last.values().map(|row| &row["tokens"]["input"]))
    );
    let asked = rows
        .iter()
        .filter(|row| row["type"] == "user" && row["content"][0]["text"].is_string())
        .count();
    let users = (
        of_role(found, Role::System),
        of_role(found, Role::User),
        of_role(found, Role::Assistant),
    );
    assert_eq!((users, calls), ((1, asked, last.len()), 10));
    let [compaction] = &found.compactions[..] else {
        panic!("one compaction")
    };
    let before = rows[..41]
        .iter()
        .filter(|row| row["type"] == "gemini")
        .map(|row| row["id"].to_string());
    let before = before.collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!(
        compaction.after.0 as usize,
        2 + before + 6,
        "context, question, answers and their results"
    );
    let summary = "SUMMARY: goal: find the token";
    assert!(
        written(compaction)[0].starts_with(summary)
            && written(compaction)[1].starts_with("Got it.")
    );
    assert!(
        kept(compaction).is_empty() && !says(found, summary) && imported.report.repairs.is_empty()
    );
}

#[test]
fn qwen_sessions_have_the_calls_and_usage_of_their_files() {
    let Some(file) = shared("data/agents/qwen-0.24.4-chat.jsonl") else {
        return;
    };
    let rows = rows(&file);
    let of = |kind: &str| {
        rows.iter()
            .filter(|row| row["type"] == kind)
            .collect::<Vec<_>>()
    };
    let parts = of("assistant")
        .into_iter()
        .flat_map(|row| row["message"]["parts"].as_array().into_iter().flatten());
    let calls = parts
        .filter(|part| part["functionCall"].is_object())
        .count();
    let usage = |key: &str| {
        sum(of("assistant")
            .into_iter()
            .map(|row| &row["usageMetadata"][key]))
    };
    let imported = imported("qwen", std::slice::from_ref(&file), &FACTS);
    let found = only(&imported);
    assert_eq!(
        counts(&imported),
        (
            calls,
            of("tool_result").len(),
            usage("candidatesTokenCount")
        )
    );
    assert_eq!(input(found), usage("promptTokenCount"));
    assert_eq!(
        (of_role(found, Role::User), of_role(found, Role::Assistant)),
        (of("user").len(), of("assistant").len())
    );
    let recorded = rows
        .iter()
        .filter(|row| row["subtype"] == "chat_compression")
        .collect::<Vec<_>>();
    assert_eq!((found.compactions.len(), recorded.len()), (2, 2));
    for (compaction, row) in found.compactions.iter().zip(recorded) {
        let info = &row["systemPayload"]["info"];
        assert_eq!(
            compaction.reported_tokens,
            info["originalTokenCount"].as_u64()
        );
        assert_eq!(
            compaction.trigger.as_deref(),
            info["triggerReason"].as_str()
        );
        assert_eq!(
            kept(compaction),
            [compaction.after.0 - 1, compaction.after.0],
            "the last call and its result"
        );
        assert!(written(compaction)[0].starts_with("<state_snapshot>"));
        assert!(
            compaction.usage.is_some_and(|usage| usage.output == 37),
            "{:?}",
            compaction.usage
        );
    }
    assert!(!says(found, "<state_snapshot>") && imported.report.repairs.is_empty());
}

#[test]
fn opencode_sessions_have_the_calls_and_usage_of_their_files() {
    let Some(file) = shared("data/agents/opencode-export.json") else {
        return;
    };
    let text = std::fs::read_to_string(&file).expect("reads");
    let session: Value = serde_json::from_str(&text).expect("it is JSON");
    let messages = session["messages"].as_array().expect("it has messages");
    let parts = || {
        messages
            .iter()
            .flat_map(|message| message["parts"].as_array().into_iter().flatten())
    };
    let calls = parts().filter(|part| part["type"] == "tool").count();
    let summary = messages
        .iter()
        .find(|message| message["info"]["summary"] == true)
        .expect("was compacted");
    let tokens = &session["info"]["tokens"];
    let left = |key: &str| {
        tokens[key].as_u64().unwrap_or(0) - summary["info"]["tokens"][key].as_u64().unwrap_or(0)
    };
    let imported = imported("opencode", &[file], &FACTS);
    let found = only(&imported);
    assert_eq!(counts(&imported), (calls, calls, left("output")));
    assert_eq!(
        input(found),
        left("input"),
        "the session's sum without the summary"
    );
    let asked = parts().filter(|part| {
        part["type"] == "text"
            && part["text"]
                .as_str()
                .is_some_and(|text| text.starts_with('"'))
    });
    assert_eq!(
        (of_role(found, Role::User), of_role(found, Role::Assistant)),
        (asked.count(), 12)
    );
    let [compaction] = &found.compactions[..] else {
        panic!("one compaction")
    };
    assert_eq!(
        compaction.usage.map(|usage| usage.output),
        summary["info"]["tokens"]["output"].as_u64()
    );
    assert_eq!(
        (compaction.trigger.as_deref(), kept(compaction).len()),
        (Some("auto"), 4)
    );
    let texts = written(compaction);
    assert!(
        texts[1].starts_with("SUMMARY: goal")
            && texts[2].starts_with("Continue if you have next steps")
    );
    assert!(
        !says(found, "SUMMARY:")
            && !says(found, "Continue if")
            && imported.report.repairs.is_empty()
    );
}

#[test]
fn openhands_events_have_the_calls_of_their_files() {
    let Some(file) = shared("data/agents/openhands-events.jsonl") else {
        return;
    };
    let rows = rows(&file);
    let of = |kind: &str| rows.iter().filter(|row| row["kind"] == kind).count();
    let imported = imported("openhands", std::slice::from_ref(&file), &FACTS);
    let found = only(&imported);
    assert_eq!(
        counts(&imported),
        (of("ActionEvent"), of("ObservationEvent"), 0)
    );
    let said = |source: &str| {
        rows.iter()
            .filter(|row| row["kind"] == "MessageEvent" && row["source"] == source)
            .count()
    };
    let users = (
        of_role(found, Role::System),
        of_role(found, Role::User),
        of_role(found, Role::Assistant),
    );
    assert_eq!(users, (1, said("user"), said("agent") + of("ActionEvent")));
    assert_eq!(found.compactions.len(), of("Condensation"));
    let condensations = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row["kind"] == "Condensation");
    for (compaction, (at, _)) in found.compactions.iter().zip(condensations) {
        let forgotten = rows[..=at]
            .iter()
            .flat_map(|row| row["forgotten_event_ids"].as_array().into_iter().flatten());
        let forgotten = forgotten.collect::<Vec<_>>();
        let turns = ["MessageEvent", "ActionEvent", "ObservationEvent"];
        let is_turn = |row: &&Value| turns.iter().any(|kind| row["kind"] == *kind);
        let left = rows[..at]
            .iter()
            .filter(is_turn)
            .filter(|row| !forgotten.contains(&&row["id"]))
            .count();
        // Each later condensation forgets the summary of the one before.
        assert_eq!(
            (kept(compaction).len(), written(compaction).len()),
            (left, 1)
        );
        assert!(written(compaction)[0].starts_with("SUMMARY: goal") && kept(compaction)[0] == 2);
    }
    assert!(
        !says(found, "SUMMARY:") && imported.report.repairs.is_empty(),
        "{:?}",
        imported.report.repairs
    );
}

#[test]
fn openhands_runs_have_the_calls_and_usage_of_their_files() {
    let Some(file) = shared("data/openhands/multi_swe_bench_example_output.jsonl") else {
        return;
    };
    let runs = rows(&file);
    let imported = imported("openhands", &[file], &FACTS);
    assert_eq!(imported.suite.scenarios.len(), runs.len());
    let unanswered = imported
        .report
        .repairs
        .iter()
        .filter(|repair| repair.what.contains("has no result"))
        .count();
    let mut finished = 0;
    for (run, found) in runs.iter().zip(&imported.suite.scenarios) {
        let events = run["history"].as_array().expect("events");
        let is_call =
            |event: &&Value| event["action"].is_string() && event["tool_call_metadata"].is_object();
        let calls = events.iter().filter(is_call).collect::<Vec<_>>();
        finished += calls
            .iter()
            .filter(|event| event["action"] == "finish")
            .count();
        let parts = || found.messages.iter().flat_map(|message| &message.parts);
        assert_eq!(
            parts()
                .filter(|part| matches!(part, Part::ToolCall { .. }))
                .count(),
            calls.len()
        );
        assert_eq!(
            parts()
                .filter(|part| matches!(part, Part::ToolResult { .. }))
                .count(),
            calls.len()
        );
        let usage = calls
            .iter()
            .map(|event| &event["tool_call_metadata"]["model_response"]["usage"]);
        let usage = usage.collect::<Vec<_>>();
        assert_eq!(
            input(found),
            sum(usage.iter().map(|usage| &usage["prompt_tokens"])),
            "{}",
            found.id
        );
        let said = found
            .messages
            .iter()
            .filter_map(|message| message.usage.as_deref());
        assert_eq!(
            said.map(|usage| usage.output).sum::<u64>(),
            sum(usage.iter().map(|usage| &usage["completion_tokens"]))
        );
    }
    assert_eq!(
        unanswered, finished,
        "only `finish` has no observation: {:?}",
        imported.report.repairs
    );
    assert_eq!(imported.report.repairs.len(), finished);
}
