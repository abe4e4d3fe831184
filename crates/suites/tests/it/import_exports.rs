//! The importers of exports and trajectories on real files, against counts that share no code with
//! them.

use std::path::Path;

use compactometer_engine::message::{MessageId, Role, part_text};
use compactometer_formats::scenario::{Retained, Scenario};
use compactometer_suites::import::{by_content, by_name, import};
use serde_json::Value;

use crate::import_shared::{FACTS, counts, imported, shared};

const SWE: [&str; 3] = [
    "data/swe-agent/function_calling_simple.traj",
    "data/swe-agent/replay__marshmallow-code__marshmallow-1867__function_calling_replace_from_source_marshmallow-code__marshmallow-1867.traj",
    "data/swe-smith/pandas-dev__pandas.95280573.pr_53856.traj",
];
const LOCOMO: &str = "data/locomo/locomo-first5.json";
const INSPECT: &str = "data/agents/inspect-eval.json";

fn json(file: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file).expect("reads")).expect("it is JSON")
}

/// The texts of a suite's messages and results.
fn texts(scenario: &Scenario) -> Vec<&str> {
    scenario
        .messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(part_text)
        .collect()
}

#[test]
fn swe_agent_trajectories_have_the_messages_of_their_files() {
    for (name, compactions) in SWE.into_iter().zip([0, 7, 0]) {
        let Some(file) = shared(name) else { return };
        let history = json(&file)["history"]
            .as_array()
            .expect("it has a history")
            .clone();
        let calls = history
            .iter()
            .filter_map(|turn| turn["tool_calls"].as_array())
            .map(Vec::len)
            .sum::<usize>();
        let imported = imported("swe-agent", &[file], &FACTS);
        let scenario = &imported.suite.scenarios[0];
        assert_eq!(
            (scenario.messages.len(), counts(&imported)),
            (history.len(), (calls, calls, 0)),
            "{name}"
        );
        assert_eq!(scenario.compactions.len(), compactions, "{name}");
        assert!(
            imported.report.repairs.is_empty(),
            "{name}: {:?}",
            imported.report.repairs
        );
        for (message, turn) in scenario.messages.iter().zip(&history) {
            assert_eq!(
                message.role.name(),
                turn["role"].as_str().expect("a role"),
                "{name}"
            );
        }
    }
}

/// The run's history processor left out all but the last five outputs.
#[test]
fn an_output_that_swe_agent_left_out_is_whole_in_the_conversation() {
    let Some(file) = shared(SWE[1]) else { return };
    let imported = imported("swe-agent", &[file], &FACTS);
    let scenario = &imported.suite.scenarios[0];
    assert!(
        texts(scenario)
            .iter()
            .all(|text| !text.starts_with("Old environment output"))
    );
    for (number, compaction) in (1..).zip(&scenario.compactions) {
        let written = compaction.context.iter().filter(|left| matches!(left, Retained::Written { role: Role::Tool, text } if text.starts_with("Old environment output")));
        assert_eq!(
            (written.count(), compaction.context.len() as u32),
            (number, compaction.after.0 - 1)
        );
    }
}

#[test]
fn locomo_has_the_turns_and_questions_of_its_file() {
    let Some(file) = shared(LOCOMO) else { return };
    let samples = json(&file);
    let imported = imported("locomo", &[file], &FACTS);
    let samples = samples.as_array().expect("an array");
    assert_eq!(imported.suite.scenarios.len(), samples.len());
    for (scenario, sample) in imported.suite.scenarios.iter().zip(samples) {
        let talks = sample["conversation"]
            .as_object()
            .expect("an object")
            .values()
            .filter_map(Value::as_array);
        let turns = talks.clone().map(Vec::len).sum::<usize>();
        assert_eq!(
            (scenario.messages.len(), scenario.probes.len()),
            (turns, sample["qa"].as_array().expect("questions").len())
        );
        let held = texts(scenario).join("\n");
        assert!(
            talks
                .flatten()
                .all(|turn| held.contains(turn["text"].as_str().expect("a text").trim()))
        );
        let abstaining = |qa: &&Value| qa["category"] == 5 && qa["answer"].is_null();
        let asked = sample["qa"]
            .as_array()
            .expect("questions")
            .iter()
            .filter(abstaining)
            .count();
        assert_eq!(
            scenario
                .probes
                .iter()
                .filter(|probe| probe.abstain_expected)
                .count(),
            asked
        );
    }
    let probes = || {
        imported
            .suite
            .scenarios
            .iter()
            .flat_map(|scenario| &scenario.probes)
    };
    let with_facts = probes().filter(|probe| !probe.fact_ids.is_empty()).count();
    println!("{with_facts} of {} questions have a fact", probes().count());
    assert_eq!(imported.report.questions, 999);
    assert_eq!(with_facts, samples.iter().map(stated).sum::<usize>());
    let places = imported
        .report
        .repairs
        .iter()
        .map(|repair| repair.what.as_str())
        .collect::<Vec<_>>();
    assert_eq!(places.len(), 3, "{places:?}");
}

/// The questions of a sample whose answer one of their evidence turns contains as whole words.
fn stated(sample: &Value) -> usize {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
            .trim()
            .to_lowercase()
    };
    let fields = sample["conversation"].as_object().expect("an object");
    let mut said = std::collections::HashMap::new();
    for (key, talk) in fields
        .iter()
        .filter_map(|(key, talk)| Some((key, talk.as_array()?)))
    {
        let date = text(&fields[&format!("{key}_date_time")]);
        for (at, turn) in talk.iter().enumerate() {
            let date = if at == 0 { date.as_str() } else { "" };
            let caption = if turn["blip_caption"].is_null() {
                String::new()
            } else {
                text(&turn["blip_caption"])
            };
            let whole = format!(
                "{date}\n{}: {}\n[image: {caption}]",
                text(&turn["speaker"]),
                text(&turn["text"])
            );
            said.insert(turn["dia_id"].as_str().expect("an id"), whole);
        }
    }
    let is_word = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    };
    let holds = |whole: &str, value: &str| {
        let mut hits = whole.match_indices(value);
        hits.any(|(at, hit)| {
            !is_word(whole[..at].chars().next_back())
                && !is_word(whole[at + hit.len()..].chars().next())
        })
    };
    let is_stated = |qa: &&Value| {
        let named = qa["evidence"]
            .as_array()
            .expect("evidence")
            .iter()
            .filter_map(Value::as_str);
        let mut ids = named.flat_map(|named| named.split([';', ',', ' ']));
        !qa["answer"].is_null()
            && ids.any(|id| {
                said.get(id)
                    .is_some_and(|whole| holds(whole, &text(&qa["answer"])))
            })
    };
    sample["qa"]
        .as_array()
        .expect("questions")
        .iter()
        .filter(is_stated)
        .count()
}

#[test]
fn an_inspect_log_has_its_conversation_before_and_after_its_compactions() {
    let Some(file) = shared(INSPECT) else { return };
    let sample = json(&file)["samples"][0].clone();
    let events = |kind: &'static str| {
        sample["events"]
            .as_array()
            .expect("events")
            .iter()
            .filter(move |event| event["event"] == kind)
            .collect::<Vec<_>>()
    };
    let (tools, marks) = (events("tool"), events("compaction"));
    let output = |event: &&Value| {
        event["output"]["usage"]["output_tokens"]
            .as_u64()
            .unwrap_or(0)
    };
    // The call that wrote a summary is the last one before its compaction.
    let mut last = 0;
    let mut written = Vec::new();
    for event in sample["events"].as_array().expect("events") {
        match event["event"].as_str() {
            Some("model") => last = output(&event),
            Some("compaction") => written.push(last),
            _ => {}
        }
    }
    let all = events("model").iter().map(output).sum::<u64>();
    let imported = imported("inspect", &[file], &FACTS);
    assert_eq!(
        counts(&imported),
        (tools.len(), tools.len(), all - written.iter().sum::<u64>())
    );
    let scenario = &imported.suite.scenarios[0];
    let own = sample["messages"].as_array().expect("messages");
    let said = own
        .iter()
        .filter(|message| message["metadata"]["summary"] != true)
        .count();
    assert_eq!(
        (imported.suite.scenarios.len(), scenario.messages.len()),
        (1, said)
    );
    assert!(
        texts(scenario)
            .iter()
            .all(|text| !text.contains("CONTEXT COMPACTION SUMMARY")
                && !text.contains("summarizing conv"))
    );
    assert_eq!(scenario.compactions.len(), marks.len());
    for ((compaction, mark), written) in scenario.compactions.iter().zip(&marks).zip(written) {
        assert_eq!(compaction.reported_tokens, mark["tokens_before"].as_u64());
        assert_eq!(compaction.trigger.as_deref(), Some("threshold"));
        assert_eq!(compaction.usage.map(|usage| usage.output), Some(written));
        let [
            Retained::Kept(MessageId(2)),
            Retained::Written {
                role: Role::User,
                text,
            },
        ] = &compaction.context[..]
        else {
            panic!("{:?}", compaction.context)
        };
        assert!(text.starts_with("[CONTEXT COMPACTION SUMMARY]"));
    }
    assert!(
        imported.report.repairs.is_empty(),
        "{:?}",
        imported.report.repairs
    );
}

#[test]
fn a_zipped_inspect_log_is_refused_with_advice() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.eval");
    std::fs::write(&path, b"PK\x03\x04\x14\x00\x00\x00\x08\x00").expect("writes");
    let refused = import(
        by_name("inspect").expect("known"),
        &[path],
        "shared",
        &FACTS,
    )
    .expect_err("a zip");
    assert!(
        refused.to_string().contains("inspect log dump"),
        "{refused}"
    );
}

/// Each file is claimed by its own format only.
#[test]
fn files_are_found_by_their_content() {
    let files = SWE
        .map(|name| (name, "swe-agent"))
        .into_iter()
        .chain([(LOCOMO, "locomo"), (INSPECT, "inspect")]);
    for (name, format) in files {
        let Some(file) = shared(name) else { return };
        assert_eq!(by_content(&file).expect("a known format").name, format);
        for other in compactometer_suites::import::ALL
            .iter()
            .filter(|other| other.name != format)
        {
            let error = import(other, std::slice::from_ref(&file), "shared", &FACTS)
                .expect_err("another format");
            assert!(
                error
                    .to_string()
                    .ends_with(&format!("; it looks like `{format}`")),
                "{error}"
            );
        }
    }
}
