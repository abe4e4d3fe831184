//! A small file of each format of APIs, frameworks and streams, after the published forms.

use std::fmt::Write as _;

use super::*;

/// The files that the fuzzer starts from.
const FILES: [(&str, &str); 27] = [
    ("anthropic", "compaction.json"),
    ("codex", "response-end.jsonl"),
    ("claude-code", "tail.jsonl"),
    ("cline", "several.json"),
    ("vercel", "model.json"),
    ("vercel", "interface.json"),
    ("pydantic-ai", "messages.json"),
    ("openai-responses", "request.json"),
    ("goose", "session.jsonl"),
    ("codex-exec", "stream.jsonl"),
    ("google", "contents.json"),
    ("google", "history.json"),
    ("adk", "session.json"),
    ("vscode-chat", "shown.json"),
    ("vscode-chat", "rounds.json"),
    ("mini-swe-agent", "run.traj.json"),
    ("cline", "task.json"),
    ("cline", "condensed.json"),
    ("gemini-stream", "stream.jsonl"),
    ("claude-code", "stream.jsonl"),
    ("chatgpt", "conversations.json"),
    ("anthropic-chat", "conversations.json"),
    ("longmemeval", "oracle.json"),
    ("beam", "chat.json"),
    ("beam", "rows.jsonl"),
    ("aider", "history.md"),
    ("specstory", "chat.md"),
];

fn text(format: &str, file: &str) -> String {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    let path = seeds.join(format!("import-{format}")).join(file);
    std::fs::read_to_string(path).expect("a seed")
}

/// The messages of a scenario, its compactions and what the program wrote in the user's place.
fn told(scenario: &Scenario) -> String {
    let mut told = outline(scenario);
    for compaction in &scenario.compactions {
        let _ = write!(told, "\ncompaction after {}:", compaction.after.0);
        for left in &compaction.context {
            let _ = match left {
                Retained::Kept(id) => write!(told, " {}", id.0),
                Retained::Written { role, text } => write!(told, " {}({text})", role.name()),
            };
        }
    }
    for compaction in &scenario.unmeasured {
        let _ = write!(told, "\nnot measured: {}", compaction.reason.why());
    }
    for known in &scenario.log.models {
        let _ = write!(told, "\nfrom {}: {}", known.from.0, known.model);
    }
    if !scenario.log.by_program.is_empty() {
        let ids = scenario.log.by_program.iter().map(|id| id.0);
        let _ = write!(told, "\nby the program: {:?}", ids.collect::<Vec<_>>());
    }
    told
}

#[test]
fn each_file_is_recognised_and_read_whole() {
    for (format, file) in FILES {
        let text = text(format, file);
        let first = ALL.iter().find(|importer| (importer.recognises)(&text));
        assert_eq!(first.map(|importer| importer.name), Some(format), "{file}");
        let found = imported(format, &text, &FACTS);
        let mut told = found.suite.scenarios.iter().map(told).collect::<Vec<_>>();
        told.extend(repairs(&found));
        told.push(format!("ignored: {:?}", found.report.ignored));
        insta::assert_snapshot!(format!("{format}-{file}"), told.join("\n"));
    }
}

#[test]
fn a_history_of_longmemeval_has_its_question_and_evidence() {
    let found = imported("longmemeval", &text("longmemeval", "oracle.json"), &FACTS);
    let asked = |scenario: &Scenario| {
        let probe = &scenario.probes[0];
        let fact = scenario
            .facts
            .iter()
            .find(|fact| probe.fact_ids.contains(&fact.id));
        let evidence = fact.map(|fact| fact.evidence_message_ids.clone());
        (probe.gold.clone(), probe.abstain_expected, evidence)
    };
    let asked = found.suite.scenarios.iter().map(asked).collect::<Vec<_>>();
    let known = (Some("8443".to_owned()), false, Some(vec![MessageId(1)]));
    assert_eq!(asked, [known, (None, true, None)]);
}

/// The questions of a row are as Python prints them; those of a repository's chat are beside it.
#[test]
fn a_chat_of_beam_has_its_questions() {
    let asked = |found: &Imported| {
        let probes = &found.suite.scenarios[0].probes;
        let gold = probes.iter().map(|probe| probe.gold.clone());
        (
            gold.collect::<Vec<_>>(),
            found.suite.scenarios[0].id.clone(),
        )
    };
    let rows = imported("beam", &text("beam", "rows.jsonl"), &FACTS);
    let known = Some("250ms".to_owned());
    assert_eq!(asked(&rows), (vec![None, known], "beam-1".to_owned()));
    let fact = rows.suite.scenarios[0]
        .facts
        .iter()
        .find(|fact| fact.value == "250ms");
    assert_eq!(fact.unwrap().evidence_message_ids, [MessageId(1)]);

    let folder = tempfile::tempdir().unwrap();
    let beside = folder.path().join("7/probing_questions");
    std::fs::create_dir_all(&beside).unwrap();
    let question = r#"{"information_extraction": [{"question": "When does it end?", "answer": "March 29", "source_chat_ids": [0]}]}"#;
    std::fs::write(beside.join("probing_questions.json"), question).unwrap();
    let chat = folder.path().join("7/chat.json");
    std::fs::write(&chat, text("beam", "chat.json")).unwrap();
    let importer = ALL.iter().find(|importer| importer.name == "beam").unwrap();
    let found = import(importer, &[chat], "s", &FACTS).unwrap();
    let known = vec![Some("March 29".to_owned())];
    assert_eq!(asked(&found), (known, "beam-7".to_owned()));
}
