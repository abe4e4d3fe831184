//! One short session of each agent whose program compacts its conversations. The files are
//! synthetic, after the published forms.

use compactometer_formats::scenario::Unmeasured;

use super::*;

/// Each format with a file of it.
pub(super) const ALL: [(&str, &str); 10] = [
    ("copilot", compacted::COPILOT),
    ("langchain", compacted::LANGCHAIN),
    ("strands", compacted::STRANDS),
    ("gemini", GEMINI),
    ("gemini", GEMINI_WHOLE),
    ("qwen", QWEN),
    ("opencode", OPENCODE),
    ("openhands", OPENHANDS),
    ("openhands", OPENHANDS_RUN),
    ("atif", ATIF),
];

/// Two formats are messages that many others hold, so they come last; of the others, only one may
/// claim a file.
#[test]
fn each_file_is_of_exactly_one_format() {
    let others = [
        ("pi", formats::PI),
        ("codex", formats::CODEX),
        ("openai", formats::OPENAI),
        ("anthropic", formats::ANTHROPIC),
        ("claude-code", CLAUDE),
        ("tau-bench", TAU),
    ];
    for (name, text) in self::ALL.into_iter().chain(others) {
        let claims = super::super::ALL
            .iter()
            .filter(|importer| (importer.recognises)(text))
            .filter(|importer| {
                importer.name == name || !["openai", "anthropic"].contains(&importer.name)
            });
        assert_eq!(
            claims.map(|importer| importer.name).collect::<Vec<_>>(),
            [name]
        );
    }
}

#[test]
fn a_log_says_which_model_answered() {
    for (name, text, row, named) in [
        (
            "pi",
            formats::PI,
            r#""role":"assistant""#,
            r#""role":"assistant","model":"m-1""#,
        ),
        (
            "gemini",
            GEMINI,
            r#""type":"gemini""#,
            r#""type":"gemini","model":"m-1""#,
        ),
        (
            "qwen",
            QWEN,
            r#""type":"assistant""#,
            r#""type":"assistant","model":"m-1""#,
        ),
        (
            "copilot",
            compacted::COPILOT,
            r#""data":{"#,
            r#""data":{"model":"m-1","#,
        ),
        (
            "opencode",
            OPENCODE,
            r#""role":"assistant""#,
            r#""role":"assistant","modelID":"m-1""#,
        ),
    ] {
        assert!(text.contains(row), "{name}");
        let found = imported(name, &text.replace(row, named), &FACTS);
        let models = &found.suite.scenarios[0].log.models;
        assert_eq!(models.len(), 1, "{name}: {models:?}");
        assert_eq!(models[0].model, "m-1", "{name}");
    }
}

/// A chat with an answer that was rewound, two compactions with a resumed session between them, and
/// a torn last line.
pub(super) const GEMINI: &str = r#"{"sessionId":"g-1","projectHash":"ab12","startTime":"2026-01-02T03:04:05Z","kind":"main","directories":["/home/ann/shop"]}
{"$set":{"messages":[{"id":"x","timestamp":"2026-01-02T03:04:05Z","type":"user","content":[{"text":"<session_context>\nToday.\n</session_context>"}]}],"lastUpdated":"2026-01-02T03:04:05Z"}}
{"id":"a","timestamp":"2026-01-02T03:04:06Z","type":"user","content":[{"text":"Read pay.toml."},{"inlineData":{"mimeType":"image/png","data":"aGk="}}]}
{"id":"no","timestamp":"2026-01-02T03:04:06Z","type":"gemini","content":"No.","tokens":{"input":1,"output":1,"total":2}}
{"$rewindTo":"no"}
{"id":"b","timestamp":"2026-01-02T03:04:07Z","type":"gemini","content":"","tokens":{"input":900,"output":20,"cached":100,"thoughts":7,"tool":0,"total":927}}
{"id":"b","timestamp":"2026-01-02T03:04:07Z","type":"gemini","content":"","thoughts":[{"subject":"Plan","description":"Read it."}],"tokens":{"input":900,"output":20,"cached":100,"thoughts":7,"tool":0,"total":927},"toolCalls":[{"id":"t1","name":"read","args":{"path":"pay.toml"},"status":"success","timestamp":"2026-01-02T03:04:08Z","result":[{"functionResponse":{"id":"t1","name":"read","response":{"output":"port = 8443"}}}]}]}
{"id":"c","timestamp":"2026-01-02T03:04:08Z","type":"user","content":[{"functionResponse":{"id":"t1","name":"read","response":{"output":"port = 8443"}}}]}
{"id":"i","timestamp":"2026-01-02T03:04:08Z","type":"info","content":"Compressed."}
{"$set":{"messages":[{"id":"x","type":"user","content":[{"text":"<session_context>\nToday.\n</session_context>"}]},{"id":"s1","type":"user","content":[{"text":"The port is 8443."}]},{"id":"k1","type":"gemini","content":[{"text":"Got it."}]}],"lastUpdated":"2026-01-02T03:04:09Z"}}
{"id":"d","timestamp":"2026-01-02T03:04:10Z","type":"gemini","content":"It is 8443.","tokens":{"input":30,"output":6,"total":36}}
{"sessionId":"g-1","projectHash":"ab12","startTime":"2026-01-02T04:00:00Z","kind":"main"}
{"$set":{"messages":[{"id":"x","type":"user","content":[{"text":"<session_context>\nToday.\n</session_context>"}]}],"lastUpdated":"2026-01-02T04:00:00Z"}}
{"$set":{"messages":[{"id":"x","type":"user","content":"context"},{"id":"s1","type":"user","content":"The port is 8443."},{"id":"k1","type":"gemini","content":"Got it."},{"id":"d","type":"gemini","content":[{"text":"It is 8443."}]},{"id":"d_response","type":"user","content":[]}],"lastUpdated":"2026-01-02T04:00:01Z"}}
{"id":"e","timestamp":"2026-01-02T04:00:02Z","type":"user","content":[{"text":"And the host?"}]}
{"$set":{"messages":[{"id":"x","type":"user","content":[{"text":"context"}]},{"id":"s2","type":"user","content":[{"text":"Port 8443, host asked."}]},{"id":"e","type":"user","content":[{"text":"And the host?"}]}],"lastUpdated":"2026-01-02T04:00:03Z"}}
{"id":"f","timestamp":"2026-01-02T04:00:04Z","type":"gemini","content":"It is pay.example.","tokens":{"input":40,"output":5,"total":45}}
{"hologram":true}
{"id":"g","timestamp":"2026-01-0"#;

/// The form of versions before the log.
pub(super) const GEMINI_WHOLE: &str = r#"{"sessionId":"g-0","projectHash":"ab12","startTime":"2026-01-02T03:04:05Z","messages":[
{"id":"a","timestamp":"2026-01-02T03:04:06Z","type":"user","content":"Read pay.toml."},
{"id":"b","timestamp":"2026-01-02T03:04:07Z","type":"gemini","content":"I read it.","toolCalls":[{"id":"t1","name":"read","args":{},"status":"error","result":"no such file"}],"tokens":{"input":9,"output":2,"cached":4,"thoughts":0,"tool":0,"total":11}},
{"id":"w","timestamp":"2026-01-02T03:04:07Z","type":"warning","content":"Slow."}]}"#;

/// What each compaction left, its place, time, trigger and reported tokens.
type ShownCompactions = (u32, Option<i64>, Option<String>, Option<u64>, Vec<Retained>);

fn compactions(found: &Scenario) -> Vec<ShownCompactions> {
    let shown = |one: &RecordedCompaction| {
        (
            one.after.0,
            one.at_ms,
            one.trigger.clone(),
            one.reported_tokens,
            one.context.clone(),
        )
    };
    found.compactions.iter().map(shown).collect()
}

fn written_text(role: Role, text: &str) -> Retained {
    Retained::Written {
        role,
        text: text.to_owned(),
    }
}

fn kept_message(id: u32) -> Retained {
    Retained::Kept(MessageId(id))
}

fn ignored(imported: &Imported) -> Vec<(&str, usize)> {
    imported
        .report
        .ignored
        .iter()
        .map(|(kind, count)| (kind.as_str(), *count))
        .collect()
}

/// Usage of a message: input, cache reads, cache writes, output.
fn usage(found: &Scenario, index: usize) -> Option<(u64, u64, u64, u64)> {
    let usage = found.messages[index].usage.as_deref()?;
    Some((
        usage.input,
        usage.cache_read,
        usage.cache_write,
        usage.output,
    ))
}

#[test]
fn gemini_chats_are_whole_across_compactions() {
    let imported = imported("gemini", GEMINI, &FACTS);
    let found = &imported.suite.scenarios[0];
    assert_eq!(
        (found.id.as_str(), &found.projects[..]),
        ("g-1", &["shop".to_owned()][..])
    );
    assert_eq!(
        outline(found),
        "1 system: text(<session_context>\nToday.\n</session_context>)\n\
         2 user: text(Read pay.toml.) | image/png:1600\n\
         3 assistant: thinking(Plan\nRead it.) | call_1=read{\"path\":\"pay.toml\"}\n4 tool: call_1->port = 8443\n\
         5 assistant: text(It is 8443.)\n6 user: text(And the host?)\n7 assistant: text(It is pay.example.)"
    );
    assert_eq!(
        (usage(found, 2), found.messages[3].at_ms),
        (Some((800, 100, 0, 27)), Some(1_767_323_048_000))
    );
    let first = vec![
        written_text(Role::User, "The port is 8443."),
        written_text(Role::Assistant, "Got it."),
    ];
    let second = vec![
        written_text(Role::User, "Port 8443, host asked."),
        kept_message(6),
    ];
    assert_eq!(
        compactions(found),
        [
            (4, Some(1_767_323_049_000), None, None, first),
            (6, Some(1_767_326_403_000), None, None, second)
        ]
    );
    assert_eq!(
        ignored(&imported),
        [
            ("$rewindTo", 1),
            ("earlier form of a message", 1),
            ("info", 1),
            ("list of the messages of the next request", 5),
            ("message of an abandoned branch", 1),
            ("metadata", 1),
            ("result that its call has already", 1)
        ]
    );
    let [torn] = &repairs(&imported)[..] else {
        panic!("one repair")
    };
    assert!(torn.starts_with("line 19: torn last line"), "{torn}");
}

/// A rewind to before a summary also takes back what the summary stood for.
#[test]
fn a_gemini_compaction_that_was_rewound_is_no_compaction() {
    let rows = GEMINI.lines().take(11).collect::<Vec<_>>().join("\n");
    let again = r#"{"id":"z","timestamp":"2026-01-02T05:00:00Z","type":"user","content":"Again."}"#;
    let imported = imported(
        "gemini",
        &format!("{rows}\n{}\n{again}", r#"{"$rewindTo":"s1"}"#),
        &STRICT,
    );
    let found = &imported.suite.scenarios[0];
    assert_eq!(
        (outline(found).as_str(), found.compactions.len()),
        ("1 user: text(Again.)", 0)
    );
    assert_eq!(imported.report.unmeasured[&Unmeasured::LeftBehind], 1);
}

#[test]
fn gemini_chats_of_older_versions_are_one_json_value() {
    let imported = imported("gemini", GEMINI_WHOLE, &STRICT);
    let found = &imported.suite.scenarios[0];
    assert_eq!(
        outline(found),
        "1 user: text(Read pay.toml.)\n2 assistant: text(I read it.) | call_1=read{}\n3 tool: call_1->no such file (error)"
    );
    assert_eq!(
        (usage(found, 1), ignored(&imported)),
        (Some((5, 4, 0, 2)), vec![("warning", 1)])
    );
}

pub(super) const QWEN: &str = r#"{"uuid":"a","parentUuid":null,"sessionId":"q-1","timestamp":"2026-01-02T03:04:05Z","type":"user","cwd":"/home/ann/shop","message":{"role":"user","parts":[{"text":"Read pay.toml."}]}}
{"uuid":"n","parentUuid":"a","sessionId":"q-1","timestamp":"2026-01-02T03:04:06Z","type":"assistant","cwd":"/home/ann/shop","message":{"role":"model","parts":[{"text":"No."}]}}
{"uuid":"b","parentUuid":"a","sessionId":"q-1","timestamp":"2026-01-02T03:04:07Z","type":"assistant","cwd":"/home/ann/shop","message":{"role":"model","parts":[{"text":"Read it.","thought":true},{"functionCall":{"id":"t1","name":"read","args":{"path":"pay.toml"}}}]},"usageMetadata":{"promptTokenCount":900,"candidatesTokenCount":20,"thoughtsTokenCount":7,"totalTokenCount":920,"cachedContentTokenCount":100}}
{"uuid":"c","parentUuid":"b","sessionId":"q-1","timestamp":"2026-01-02T03:04:08Z","type":"tool_result","cwd":"/home/ann/shop","message":{"role":"user","parts":[{"functionResponse":{"id":"t1","name":"read","response":{"output":"port = 8443"}}}]}}
{"uuid":"t","parentUuid":"c","sessionId":"q-1","timestamp":"2026-01-02T03:04:08Z","type":"system","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.api_response","input_token_count":1200,"output_token_count":30,"cached_content_token_count":0,"total_token_count":1230}}}
{"uuid":"d","parentUuid":"t","sessionId":"q-1","timestamp":"2026-01-02T03:04:09Z","type":"system","subtype":"chat_compression","systemPayload":{"info":{"originalTokenCount":930,"newTokenCount":90,"triggerReason":"token_limit"},"compressedHistory":[{"role":"user","parts":[{"text":"The port is 8443."}]},{"role":"model","parts":[{"text":"Got it."},{"functionCall":{"id":"t1","name":"read","args":{"path":"pay.toml"}}}]},{"role":"user","parts":[{"functionResponse":{"id":"t1","name":"read","response":{"output":"port = 8443"}}}]}]}}
{"uuid":"e","parentUuid":"d","sessionId":"q-1","timestamp":"2026-01-02T03:04:10Z","type":"assistant","cwd":"/home/ann/shop","message":{"role":"model","parts":[{"text":"It is 8443."}]},"usageMetadata":{"promptTokenCount":30,"candidatesTokenCount":6,"totalTokenCount":36}}
{"uuid":"f","parentUuid":"e","sessionId":"q-1","timestamp":"2026-01-02T03:04:11Z","type":"system","subtype":"chat_compression","systemPayload":{"info":{"originalTokenCount":40,"triggerReason":"manual"},"compressedHistory":[{"role":"user","parts":[{"text":"8443."}]},{"role":"model","parts":[{"text":"It is 8443."}]}]}}
{"uuid":"g","parentUuid":"f","sessionId":"q-1","timestamp":"2026-01-02T03:04:12Z","type":"user","cwd":"/home/ann/shop","message":{"role":"user","parts":[{"text":"Thanks."}]}}
{"uuid":"h","parentUuid":"g","sessionId":"q-1","timestamp":"2026-01-02T03:04:12Z","type":"hologram"}
{"uuid":"i","parentUuid":"h","ses"#;

#[test]
fn qwen_sessions_follow_the_last_branch_across_compactions() {
    let imported = imported("qwen", QWEN, &FACTS);
    let found = &imported.suite.scenarios[0];
    assert_eq!(
        (found.id.as_str(), &found.projects[..]),
        ("q-1", &["shop".to_owned()][..])
    );
    assert_eq!(
        outline(found),
        "1 user: text(Read pay.toml.)\n2 assistant: thinking(Read it.) | call_1=read{\"path\":\"pay.toml\"}\n\
         3 tool: call_1->port = 8443\n4 assistant: text(It is 8443.)\n5 user: text(Thanks.)"
    );
    assert_eq!(
        (usage(found, 1), found.messages[2].at_ms),
        (Some((800, 100, 0, 20)), Some(1_767_323_048_000))
    );
    let first = vec![
        written_text(Role::User, "The port is 8443."),
        written_text(Role::Assistant, "Got it."),
        kept_message(2),
        kept_message(3),
    ];
    let second = vec![written_text(Role::User, "8443."), kept_message(4)];
    let trigger = |word: &str| Some(word.to_owned());
    assert_eq!(
        compactions(found),
        [
            (
                3,
                Some(1_767_323_049_000),
                trigger("token_limit"),
                Some(930),
                first
            ),
            (
                4,
                Some(1_767_323_051_000),
                trigger("manual"),
                Some(40),
                second
            )
        ]
    );
    let of_call = found
        .compactions
        .iter()
        .map(|one| one.usage.map(|usage| (usage.input, usage.output)));
    assert_eq!(of_call.collect::<Vec<_>>(), [Some((1_200, 30)), None]);
    assert_eq!(
        ignored(&imported),
        [
            ("assistant of an abandoned branch", 1),
            ("hologram", 1),
            ("system ui_telemetry", 1)
        ]
    );
    assert!(
        repairs(&imported)[0].starts_with("line 11: torn last line"),
        "{:?}",
        repairs(&imported)
    );
}

/// A suite needs an id and a group for each conversation.
#[test]
fn a_session_without_a_name_has_that_of_its_file() {
    for (name, text, id) in [
        ("qwen", QWEN, "q-1"),
        ("gemini", GEMINI, "g-1"),
        ("atif", ATIF, "h-1"),
        ("pi", formats::PI, "s-1"),
    ] {
        for empty in ["", "  "] {
            let imported = imported(
                name,
                &text.replace(&format!("\"{id}\""), &format!("\"{empty}\"")),
                &FACTS,
            );
            let found = &imported.suite.scenarios[0];
            assert!(
                found.id.starts_with("compactometer-import-") && found.group_id == found.id,
                "{name}: {}",
                found.id
            );
        }
    }
}

/// A torn line in the middle must not cut the conversation, whichever program linked its rows.
#[test]
fn a_missing_parent_is_the_row_before() {
    let cut = |text: &str, torn: usize| {
        let lines = text
            .lines()
            .enumerate()
            .map(|(at, line)| if at == torn { &line[..20] } else { line });
        lines.collect::<Vec<_>>().join("\n")
    };
    for (name, text, torn, expected) in [
        (
            "qwen",
            QWEN,
            3,
            "line 5: parent `c` is not in the file: linked to line 3",
        ),
        (
            "pi",
            formats::PI,
            4,
            "line 6: parent `c` is not in the file: linked to line 4",
        ),
    ] {
        let imported = imported(name, &cut(text, torn), &FACTS);
        assert!(
            repairs(&imported).iter().any(|repair| repair == expected),
            "{:?}",
            repairs(&imported)
        );
        assert!(
            outline(&imported.suite.scenarios[0])
                .starts_with("1 user: text(Read pay.toml.)\n2 assistant")
        );
    }
}

pub(super) const OPENCODE: &str = r#"{"info":{"id":"ses_1","directory":"/home/ann/shop","revert":{"messageID":"m9"}},"messages":[
{"info":{"id":"m1","role":"user","time":{"created":1767323045000}},"parts":[{"type":"text","text":"Read pay.toml."},{"type":"text","text":"Hidden.","ignored":true},{"type":"file","mime":"image/png","url":"data:image/png;base64,aGk="}]},
{"info":{"id":"m2","role":"assistant","time":{"created":1767323046000},"tokens":{"input":1,"output":1}},"parts":[{"type":"step-start"},{"type":"reasoning","text":"Read it."},{"type":"tool","tool":"read","callID":"t1","state":{"status":"completed","input":{"path":"pay.toml"},"output":"port = 8443","time":{"start":1767323047000,"end":1767323048000,"compacted":1767323049000}}},{"type":"step-finish","tokens":{"input":800,"output":20,"reasoning":7,"cache":{"read":100,"write":5}}},{"type":"tool","tool":"stat","callID":"t2","state":{"status":"error","input":{},"error":"no such file","time":{"end":1767323049000}}},{"type":"step-finish","tokens":{"input":30,"output":2}}]},
{"info":{"id":"m3","role":"user","time":{"created":1767323050000}},"parts":[{"type":"compaction","auto":true,"tail_start_id":"m2"}]},
{"info":{"id":"m4","role":"assistant","parentID":"m3","summary":true,"time":{"created":1767323051000},"tokens":{"input":500,"output":29}},"parts":[{"type":"step-start"},{"type":"text","text":"The port is 8443."}]},
{"info":{"id":"m5","role":"user","time":{"created":1767323052000}},"parts":[{"type":"text","text":"Continue.","synthetic":true,"metadata":{"compaction_continue":true}}]},
{"info":{"id":"m6","role":"assistant","time":{"created":1767323053000},"tokens":{"input":40,"output":6}},"parts":[{"type":"text","text":"It is 8443."},{"type":"hologram"}]},
{"info":{"id":"m7","role":"user","time":{"created":1767323054000}},"parts":[{"type":"compaction","auto":false}]},
{"info":{"id":"m8","role":"assistant","parentID":"m7","summary":true,"time":{"created":1767323055000}},"parts":[{"type":"text","text":"8443."}]},
{"info":{"id":"m8b","role":"user","time":{"created":1767323056000}},"parts":[{"type":"text","text":"Thanks."}]},
{"info":{"id":"m9","role":"user","time":{"created":1767323057000}},"parts":[{"type":"text","text":"Never mind."}]}]}"#;

#[test]
fn opencode_sessions_are_whole_across_compactions() {
    let imported = imported("opencode", OPENCODE, &STRICT);
    let found = &imported.suite.scenarios[0];
    assert_eq!(
        (found.id.as_str(), &found.projects[..]),
        ("ses_1", &["shop".to_owned()][..])
    );
    assert_eq!(
        outline(found),
        "1 user: text(Read pay.toml.) | image/png:1600\n\
         2 assistant: thinking(Read it.) | call_1=read{\"path\":\"pay.toml\"}\n3 tool: call_1->port = 8443\n\
         4 assistant: call_2=stat{}\n5 tool: call_2->no such file (error)\n6 assistant: text(It is 8443.)\n7 user: text(Thanks.)"
    );
    assert_eq!(
        (usage(found, 1), usage(found, 3)),
        (Some((800, 100, 5, 27)), Some((30, 0, 0, 2)))
    );
    assert_eq!(found.messages[2].at_ms, Some(1_767_323_048_000));
    let question = || written_text(Role::User, "What did we do so far?");
    let mut first = vec![
        question(),
        written_text(Role::Assistant, "The port is 8443."),
    ];
    first.extend((2..=5).map(kept_message));
    first.push(written_text(Role::User, "Continue."));
    let trigger = |word: &str| Some(word.to_owned());
    assert_eq!(
        compactions(found),
        [
            (5, Some(1_767_323_050_000), trigger("auto"), None, first),
            (
                6,
                Some(1_767_323_054_000),
                trigger("manual"),
                None,
                vec![question(), written_text(Role::Assistant, "8443.")]
            )
        ]
    );
    assert_eq!(
        found.compactions[0]
            .usage
            .map(|usage| (usage.input, usage.output)),
        Some((500, 29))
    );
    let cleared = &found.log.cleared;
    assert_eq!((cleared.len(), cleared[0].calls.len()), (1, 1));
    let result = |id: &str| {
        let of_call =
            |part: &&Part| matches!(part, Part::ToolResult { call_id, .. } if call_id == id);
        found
            .messages
            .iter()
            .find(|said| said.parts.iter().any(|part| of_call(&part)))
    };
    let taken = result(&cleared[0].calls[0]).expect("the result is in the conversation");
    assert!(taken.id < cleared[0].after);
    assert_eq!(
        ignored(&imported),
        [
            ("hologram", 1),
            ("message that the user took back", 1),
            ("step-start", 1),
            ("text that was not sent", 1)
        ]
    );
}

/// A summary that failed to be written leaves the conversation as it was.
#[test]
fn an_opencode_compaction_without_its_summary_is_named_and_left_out() {
    let failed = OPENCODE.replace(
        r#""parentID":"m7","#,
        r#""parentID":"m7","error":{"name":"x"},"#,
    );
    let imported = imported("opencode", &failed, &FACTS);
    assert_eq!(imported.suite.scenarios[0].compactions.len(), 1);
    assert_eq!(
        repairs(&imported),
        ["element 7: compaction: the file does not hold what it left: left out"]
    );
}

pub(super) const OPENHANDS: &str = r#"{"id":"e1","timestamp":"2026-01-02T03:04:05","source":"agent","system_prompt":{"type":"text","text":"You are an agent."},"tools":[],"kind":"SystemPromptEvent"}
{"id":"e2","timestamp":"2026-01-02T03:04:06","source":"user","parent_id":"e1","llm_message":{"role":"user","content":[{"type":"text","text":"Read pay.toml."},{"type":"image","image_urls":["data:image/png;base64,aGk="]}]},"extended_content":[],"kind":"MessageEvent"}
{"id":"x","timestamp":"2026-01-02T03:04:06","source":"agent","parent_id":"e2","llm_message":{"role":"assistant","content":[{"type":"text","text":"No."}]},"kind":"MessageEvent"}
{"id":"e3","timestamp":"2026-01-02T03:04:07","source":"agent","parent_id":"e2","thought":[{"type":"text","text":"I read it."}],"thinking_blocks":[{"type":"thinking","thinking":"Read it.","signature":"sig"}],"tool_name":"terminal","tool_call_id":"t1","tool_call":{"id":"t1","name":"terminal","arguments":"{\"command\":\"cat pay.toml\"}"},"llm_response_id":"r1","kind":"ActionEvent"}
{"id":"e4","timestamp":"2026-01-02T03:04:07","source":"agent","parent_id":"e3","thought":[],"tool_name":"terminal","tool_call_id":"t2","tool_call":{"id":"t2","name":"terminal","arguments":"{}"},"llm_response_id":"r1","kind":"ActionEvent"}
{"id":"e5","timestamp":"2026-01-02T03:04:08","source":"environment","parent_id":"e4","tool_name":"terminal","tool_call_id":"t1","observation":{"content":[{"type":"text","text":"port = 8443"}],"is_error":false},"action_id":"e3","kind":"ObservationEvent"}
{"id":"e6","timestamp":"2026-01-02T03:04:09","source":"agent","parent_id":"e5","tool_name":"terminal","tool_call_id":"t2","error":"no command","kind":"AgentErrorEvent"}
{"id":"c1","timestamp":"2026-01-02T03:04:10","source":"environment","parent_id":"e6","forgotten_event_ids":["e3","e4","e5"],"summary":"The port is 8443.","summary_offset":2,"llm_response_id":"r2","kind":"Condensation"}
{"id":"e7","timestamp":"2026-01-02T03:04:11","source":"agent","parent_id":"c1","llm_message":{"role":"assistant","content":[{"type":"text","text":"It is 8443."}]},"llm_response_id":"r3","kind":"MessageEvent"}
{"id":"c2","timestamp":"2026-01-02T03:04:12","source":"environment","parent_id":"e7","forgotten_event_ids":["e6","c1-summary"],"summary":"8443.","summary_offset":2,"kind":"Condensation"}
{"id":"e8","timestamp":"2026-01-02T03:04:13","source":"user","parent_id":"c2","llm_message":{"role":"user","content":[{"type":"text","text":"Thanks."}]},"kind":"MessageEvent"}
{"id":"e9","timestamp":"2026-01-02T03:04:13","source":"environment","parent_id":"e8","kind":"HologramEvent"}
{"id":"e10","timest"#;

#[test]
fn openhands_events_are_whole_across_condensations() {
    let imported = imported("openhands", OPENHANDS, &FACTS);
    let found = &imported.suite.scenarios[0];
    assert_eq!(
        outline(found),
        "1 system: text(You are an agent.)\n2 user: text(Read pay.toml.) | image/png:1600\n\
         3 assistant: thinking(Read it.) | text(I read it.) | call_1=terminal{\"command\":\"cat pay.toml\"} | call_2=terminal{}\n\
         4 tool: call_1->port = 8443 | call_2->no command (error)\n5 assistant: text(It is 8443.)\n6 user: text(Thanks.)"
    );
    assert_eq!(found.messages[1].at_ms, Some(1_767_323_046_000));
    let first = vec![
        kept_message(2),
        written_text(Role::User, "The port is 8443."),
        kept_message(4),
    ];
    let second = vec![
        kept_message(2),
        written_text(Role::User, "8443."),
        kept_message(5),
    ];
    assert_eq!(
        compactions(found),
        [
            (4, Some(1_767_323_050_000), None, None, first),
            (5, Some(1_767_323_052_000), None, None, second)
        ]
    );
    assert_eq!(
        ignored(&imported),
        [("HologramEvent", 1), ("event of an abandoned branch", 1)]
    );
    assert!(
        repairs(&imported)[0].starts_with("line 13: torn last line"),
        "{:?}",
        repairs(&imported)
    );
}

pub(super) const OPENHANDS_RUN: &str = r#"{"instance_id":"shop-1","history":[{"id":0,"timestamp":"2026-01-02T03:04:05","source":"agent","action":"system","args":{"content":"You are an agent."}},{"id":1,"timestamp":"2026-01-02T03:04:06","source":"user","action":"message","args":{"content":"Read pay.toml.","image_urls":["data:image/png;base64,aGk="]}},{"id":2,"source":"user","action":"recall","args":{"query":"Read pay.toml."}},{"id":3,"cause":2,"source":"environment","observation":"recall","content":"Added workspace context"},{"id":4,"timestamp":"2026-01-02T03:04:07","source":"agent","action":"run","args":{"command":"cat pay.toml","thought":"I read it."},"tool_call_metadata":{"function_name":"bash","tool_call_id":"t1","model_response":{"id":"r1","choices":[{"message":{"content":"I read it.","tool_calls":[{"id":"t1","function":{"name":"bash","arguments":"{\"command\":\"cat pay.toml\"}"}},{"id":"t2","function":{"name":"think","arguments":"{}"}}]}}],"usage":{"prompt_tokens":900,"completion_tokens":20,"prompt_tokens_details":{"cached_tokens":100}}}}},{"id":5,"timestamp":"2026-01-02T03:04:08","cause":4,"source":"agent","observation":"run","content":"port = 8443","tool_call_metadata":{"tool_call_id":"t1"}},{"id":6,"source":"agent","action":"think","args":{},"tool_call_metadata":{"function_name":"think","tool_call_id":"t2","model_response":{"id":"r1","choices":[{"message":{"content":"I read it.","tool_calls":[{"id":"t2","function":{"name":"think","arguments":"{}"}}]}}]}}},{"id":7,"cause":6,"source":"agent","observation":"error","content":"no thought","tool_call_metadata":{"tool_call_id":"t2"}},{"id":8,"timestamp":"2026-01-02T03:04:09","source":"agent","action":"condensation","args":{"forgotten_events_start_id":4,"forgotten_events_end_id":7,"summary":"The port is 8443.","summary_offset":2}},{"id":9,"source":"agent","action":"read","args":{"path":"pay.toml"}},{"id":10,"cause":9,"source":"environment","observation":"read","content":"port = 8443"},{"id":11,"source":"agent","action":"condensation","args":{"forgotten_event_ids":[9,10],"summary":"8443.","summary_offset":2}},{"id":12,"source":"agent","action":"message","args":{"content":"It is 8443."}},{"id":13,"source":"environment","observation":"agent_state_changed","content":""},{"id":14,"source":"agent","observation":"error","content":"no such tool"}]}
{"instance_id":"shop-2","history":[[{"id":0,"source":"user","action":"message","args":{"content":"Hello."}},{"id":1,"source":"agent","observation":"null","content":""}]]}
{"instance_id":"shop-3","hist"#;

#[test]
fn openhands_runs_are_one_conversation_each() {
    let imported = imported("openhands", OPENHANDS_RUN, &FACTS);
    let found = &imported.suite.scenarios[0];
    assert_eq!(
        imported
            .suite
            .scenarios
            .iter()
            .map(|one| &*one.group_id)
            .collect::<Vec<_>>(),
        ["shop-1", "shop-2"]
    );
    assert_eq!(
        outline(found),
        "1 system: text(You are an agent.)\n2 user: text(Read pay.toml.) | image/png:1600\n\
         3 assistant: text(I read it.) | call_1=bash{\"command\":\"cat pay.toml\"} | call_2=think{}\n\
         4 tool: call_1->port = 8443 | call_2->no thought (error)\n5 assistant: call_3=read{\"path\":\"pay.toml\"}\n\
         6 tool: call_3->port = 8443\n7 assistant: text(It is 8443.)\n8 user: text(no such tool)"
    );
    assert_eq!(
        (usage(found, 2), found.messages[2].at_ms),
        (Some((800, 100, 0, 20)), Some(1_767_323_047_000))
    );
    let context = |summary| vec![kept_message(2), written_text(Role::User, summary)];
    assert_eq!(
        compactions(found),
        [
            (
                4,
                Some(1_767_323_049_000),
                None,
                None,
                context("The port is 8443.")
            ),
            (6, None, None, None, context("8443."))
        ]
    );
    assert_eq!(
        ignored(&imported),
        [("agent_state_changed", 1), ("null", 1), ("recall", 2)]
    );
    assert!(
        repairs(&imported)[0].starts_with("line 3: torn last line"),
        "{:?}",
        repairs(&imported)
    );
}

pub(super) const ATIF: &str = r#"{"schema_version":"ATIF-v1.6","session_id":"h-1","agent":{"name":"a","version":"1","tool_definitions":[{}]},"continued_trajectory_ref":"trajectory.cont-1.json","hologram":1,"steps":[
{"step_id":1,"source":"system","message":"You are an agent."},
{"step_id":2,"timestamp":"2026-01-02T03:04:06Z","source":"user","message":[{"type":"text","text":"Read pay.toml."},{"type":"image","source":{"media_type":"image/png","path":"images/a.png"}}]},
{"step_id":3,"timestamp":"2026-01-02T03:04:07Z","source":"agent","message":"I read it.","reasoning_content":"Read it.","tool_calls":[{"tool_call_id":"t1","function_name":"read","arguments":{"path":"pay.toml"}},{"tool_call_id":"t2","function_name":"stat","arguments":{}}],"observation":{"results":[{"source_call_id":"t2","content":[{"type":"text","text":"8 bytes"},{"type":"image","source":{"media_type":"image/png","path":"images/b.png"}}]},{"source_call_id":"t1","content":"port = 8443"}]},"metrics":{"prompt_tokens":900,"cached_tokens":100,"completion_tokens":20}},
{"step_id":4,"source":"agent","message":"Copied.","is_copied_context":true,"observation":{"results":[{"content":"$ "}]},"metrics":{"prompt_tokens":5,"completion_tokens":5}},
{"step_id":5,"source":"system","message":"Asked a subagent.","observation":{"results":[{"subagent_trajectory_ref":[{"session_id":"h-2"}]}]}},
{"step_id":6,"source":"agent","message":"It is 8443."}]}"#;

#[test]
fn atif_trajectories_are_one_conversation_each() {
    let expected = "1 system: text(You are an agent.)\n2 user: text(Read pay.toml.) | image/png:1600\n\
         3 assistant: thinking(Read it.) | text(I read it.) | call_1=read{\"path\":\"pay.toml\"} | call_2=stat{}\n\
         4 tool: call_1->port = 8443 | call_2->8 bytes | image/png:1600\n5 assistant: text(Copied.)\n6 user: text($ )\n\
         7 assistant: text(It is 8443.)";
    let line = ATIF.replace('\n', "");
    for text in [
        ATIF.to_owned(),
        line.clone(),
        format!("{line}\n{}\n{{\"schema_ver", line.replace("h-1", "h-3")),
    ] {
        let imported = imported("atif", &text, &FACTS);
        let found = &imported.suite.scenarios[0];
        assert_eq!(
            (outline(found).as_str(), found.id.as_str()),
            (expected, "h-1")
        );
        assert_eq!(
            (usage(found, 2), usage(found, 4)),
            (Some((800, 100, 0, 20)), None)
        );
        assert_eq!(found.messages[3].at_ms, Some(1_767_323_047_000));
        assert_eq!(
            imported.report.repairs.len(),
            usize::from(text.contains("h-3")),
            "{:?}",
            repairs(&imported)
        );
        assert_eq!(
            imported.report.ignored.len(),
            4,
            "{:?}",
            imported.report.ignored
        );
    }
}
