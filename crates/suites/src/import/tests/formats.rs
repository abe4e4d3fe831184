//! One short conversation in each format. The files are synthetic, after the published forms.

use super::*;

pub(super) const PI: &str = r#"{"type":"session","version":3,"id":"s-1","timestamp":"2026-01-02T03:04:05Z","cwd":"/home/ann/shop"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-02T03:04:06Z","message":{"role":"user","content":[{"type":"text","text":"Read pay.toml."}]}}
{"type":"message","id":"x","parentId":"a","timestamp":"2026-01-02T03:04:07Z","message":{"role":"assistant","content":[{"type":"text","text":"No."}],"usage":{"input":1,"output":1}}}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-02T03:04:08Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Read it.","thinkingSignature":"sig"},{"type":"toolCall","id":"t1","name":"read","arguments":{"path":"pay.toml"}}],"usage":{"input":900,"output":20,"cacheRead":100,"cacheWrite":5}}}
{"type":"message","id":"c","parentId":"b","timestamp":"2026-01-02T03:04:09Z","message":{"role":"toolResult","toolCallId":"t1","toolName":"read","content":[{"type":"text","text":"port = 8443"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"isError":false}}
{"type":"compaction","id":"d","parentId":"c","timestamp":"2026-01-02T03:04:10Z","summary":"The port is 8443.","firstKeptEntryId":"c","tokensBefore":900}
{"type":"message","id":"e","parentId":"d","timestamp":"2026-01-02T03:04:11Z","message":{"role":"assistant","content":[{"type":"text","text":"It is 8443."}],"usage":{"input":30,"output":6}}}
{"type":"model_change","id":"f","parentId":"e","timestamp":"2026-01-02T03:04:12Z","provider":"x","modelId":"y"}"#;

#[test]
fn pi_sessions_follow_the_last_branch() {
    let imported = imported("pi", PI, &STRICT);
    let found = &imported.suite.scenarios[0];
    assert_eq!(
        (found.id.as_str(), &found.projects[..]),
        ("s-1", &["shop".to_owned()][..])
    );
    assert_eq!(
        outline(found),
        "1 user: text(Read pay.toml.)\n2 assistant: thinking(Read it.) | call_1=read{\"path\":\"pay.toml\"}\n\
         3 tool: call_1->port = 8443 | image/png:1600\n4 assistant: text(It is 8443.)"
    );
    let usage = found.messages[1]
        .usage
        .as_deref()
        .expect("it reports its tokens");
    assert_eq!(
        (
            usage.input,
            usage.cache_read,
            usage.cache_write,
            usage.output
        ),
        (900, 100, 5, 20)
    );
    assert_eq!(found.messages[0].at_ms, Some(1_767_323_046_000));
    let ignored = imported
        .report
        .ignored
        .iter()
        .map(|(kind, count)| (kind.as_str(), *count))
        .collect::<Vec<_>>();
    assert_eq!(
        ignored,
        [("message of an abandoned branch", 1), ("model_change", 1)]
    );
    let written = Retained::Written {
        role: Role::User,
        text: "The port is 8443.".to_owned(),
    };
    let [compaction] = &found.compactions[..] else {
        panic!("one compaction: {:?}", found.compactions)
    };
    assert_eq!(
        (compaction.after, &compaction.context[..]),
        (MessageId(3), &[written, Retained::Kept(MessageId(3))][..])
    );
    assert_eq!(
        (compaction.reported_tokens, compaction.at_ms),
        (Some(900), Some(1_767_323_050_000))
    );
}

pub(super) const CODEX: &str = r#"{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"s-2","cwd":"/home/ann/shop","base_instructions":{"text":"You are an agent."}}}
{"timestamp":"2026-01-02T03:04:06Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"}]}}
{"timestamp":"2026-01-02T03:04:06Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Read pay.toml."}]}}
{"timestamp":"2026-01-02T03:04:07Z","type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"xyz"}}
{"timestamp":"2026-01-02T03:04:07Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I read it."}]}}
{"timestamp":"2026-01-02T03:04:08Z","type":"response_item","payload":{"type":"function_call","name":"exec","arguments":"{\"cmd\":\"cat pay.toml\"}","call_id":"c0"}}
{"timestamp":"2026-01-02T03:04:08Z","type":"token_usage_record","payload":{"usage":{"input_tokens":1000,"cached_input_tokens":400,"cache_write_input_tokens":50,"output_tokens":20}}}
{"timestamp":"2026-01-02T03:04:08Z","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"input_tokens":1000,"output_tokens":20}}}}
{"timestamp":"2026-01-02T03:04:09Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c0","output":"port = 8443"}}
{"timestamp":"2026-01-02T03:04:10Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"SUMMARY: the port is 8443."}]}}
{"timestamp":"2026-01-02T03:04:10Z","type":"token_usage_record","payload":{"usage":{"input_tokens":1200,"output_tokens":30}}}
{"timestamp":"2026-01-02T03:04:10Z","type":"compacted","payload":{"message":"Another model wrote:\nSUMMARY: the port is 8443.","replacement_history":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"Skills."}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"Read pay.toml."}]},{"type":"message","role":"user","content":[{"type":"input_text","text":"Another model wrote:\nSUMMARY: the port is 8443."}]}]}}
{"timestamp":"2026-01-02T03:04:11Z","type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"Be brief."}]}}
{"timestamp":"2026-01-02T03:04:12Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It is 8443."}]}}"#;

#[test]
fn codex_rollouts_join_a_response_and_leave_out_what_the_program_wrote() {
    let imported = imported("codex", CODEX, &STRICT);
    let found = &imported.suite.scenarios[0];
    assert_eq!(
        (found.id.as_str(), &found.projects[..]),
        ("s-2", &["shop".to_owned()][..])
    );
    assert_eq!(
        outline(found),
        "1 system: text(You are an agent.) | text(<environment_context>\n  <cwd>/x</cwd>\n</environment_context>)\n\
         2 user: text(Read pay.toml.)\n3 assistant: text(I read it.) | call_1=exec{\"cmd\":\"cat pay.toml\"}\n\
         4 tool: call_1->port = 8443\n5 assistant: text(It is 8443.)"
    );
    let usage = found.messages[2]
        .usage
        .as_deref()
        .expect("it reports its tokens");
    assert_eq!(
        (
            usage.input,
            usage.cache_read,
            usage.cache_write,
            usage.output
        ),
        (550, 400, 50, 20)
    );
    assert_eq!(imported.report.ignored["encrypted reasoning"], 1);
    let [compaction] = &found.compactions[..] else {
        panic!("one compaction: {:?}", found.compactions)
    };
    let summary = "Another model wrote:\nSUMMARY: the port is 8443.";
    let written = Retained::Written {
        role: Role::User,
        text: summary.to_owned(),
    };
    assert_eq!(
        (compaction.after, &compaction.context[..]),
        (MessageId(4), &[Retained::Kept(MessageId(2)), written][..])
    );
    let usage = compaction
        .usage
        .expect("the call that wrote it reports its tokens");
    assert_eq!(
        (compaction.reported_tokens, usage.output),
        (Some(1_200), 30)
    );
}

/// Older versions do not write what the next request began with: it was what the user had said, and
/// the summary.
#[test]
fn a_codex_compaction_without_its_history_keeps_what_the_user_said() {
    let lines = CODEX.lines().map(|line| {
        let mut row: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
        if let Some(payload) = row["payload"].as_object_mut() {
            payload.remove("replacement_history");
        }
        row.to_string()
    });
    let old = lines.collect::<Vec<_>>().join("\n");
    let found = |text: &str| {
        imported("codex", text, &STRICT).suite.scenarios[0]
            .compactions
            .clone()
    };
    assert_eq!(found(&old), found(CODEX));
}

/// A user may quote an element, and may say more than that.
#[test]
fn a_codex_user_who_quotes_the_program_is_a_user() {
    let quoted = CODEX.replace("Read pay.toml.", "Why is <cwd>/x</cwd> there?");
    assert!(
        outline(&imported("codex", &quoted, &STRICT).suite.scenarios[0])
            .contains("user: text(Why is")
    );
}

pub(super) const OPENAI: &str = r#"{"id":"s-3","messages":[
{"role":"developer","content":"You are an agent."},
{"role":"user","content":[{"type":"text","text":"Read pay.toml."},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]},
{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"read","arguments":"{\"path\":\"pay.toml\"}"}}]},
{"role":"tool","tool_call_id":"t1","content":"port = 8443"},
{"role":"assistant","content":"It is 8443."}]}"#;

pub(super) const ANTHROPIC: &str = r#"{"id":"s-3","system":"You are an agent.","messages":[
{"role":"user","content":[{"type":"text","text":"Read pay.toml."},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]},
{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{"path":"pay.toml"}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"port = 8443"}]},
{"role":"assistant","content":[{"type":"text","text":"It is 8443."}]}]}"#;

/// Whichever API took a conversation, and however the file holds it, it is the same conversation.
#[test]
fn messages_of_both_apis_are_one_conversation() {
    let expected = "1 system: text(You are an agent.)\n2 user: text(Read pay.toml.) | image/png:1600\n\
                    3 assistant: call_1=read{\"path\":\"pay.toml\"}\n4 tool: call_1->port = 8443\n5 assistant: text(It is 8443.)";
    let loose = |text: &str| {
        let value: serde_json::Value = serde_json::from_str(text).expect("it is JSON");
        value["messages"]
            .as_array()
            .expect("it has messages")
            .clone()
    };
    let array = |text: &str| serde_json::Value::Array(loose(text)).to_string();
    let lines = |text: &str| {
        loose(text)
            .iter()
            .map(|message| message.to_string() + "\n")
            .collect::<String>()
    };
    for (name, text) in [("openai", OPENAI), ("anthropic", ANTHROPIC)] {
        let whole = imported(name, text, &STRICT);
        assert_eq!(
            (
                outline(&whole.suite.scenarios[0]).as_str(),
                &*whole.suite.scenarios[0].id
            ),
            (expected, "s-3")
        );
        let line = text.replace('\n', "");
        let two = imported(
            name,
            &format!("{line}\n{}\n", line.replace("s-3", "s-4")),
            &STRICT,
        );
        assert_eq!(
            two.suite
                .scenarios
                .iter()
                .map(|one| &*one.group_id)
                .collect::<Vec<_>>(),
            ["s-3", "s-4"]
        );
        let digest = |imported: &Imported| match &imported.suite.scenarios[0].messages[1].parts[1] {
            Part::Media { digest, .. } => digest.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(digest(&whole), blake3::hash(b"hi").to_hex().to_string());
    }
    for text in [array(OPENAI), lines(OPENAI)] {
        assert_eq!(
            outline(&imported("openai", &text, &STRICT).suite.scenarios[0]),
            expected
        );
    }
    for text in [array(ANTHROPIC), lines(ANTHROPIC)] {
        let found = outline(&imported("anthropic", &text, &STRICT).suite.scenarios[0]);
        assert!(
            found.ends_with("4 assistant: text(It is 8443.)") && found.starts_with("1 user: "),
            "{found}"
        );
    }
}

#[test]
fn a_file_of_one_format_is_named_to_the_others() {
    let formats = [
        ("pi", PI),
        ("codex", CODEX),
        ("openai", OPENAI),
        ("anthropic", ANTHROPIC),
    ];
    for (name, text) in formats
        .into_iter()
        .chain(super::agents::ALL)
        .chain(super::exports::EXPORTS)
    {
        let refused = failure("tau-bench", text.as_bytes(), &FACTS);
        assert!(
            refused.ends_with(&format!("it looks like `{name}`")),
            "{refused}"
        );
    }
}

#[test]
fn a_format_is_found_by_the_content_of_a_file() {
    let name = |text: &str| {
        let file = Temporary::new(text.as_bytes());
        by_content(&file.0)
            .map(|importer| importer.name)
            .map_err(|error| error.to_string())
    };
    for (format, text) in [
        ("pi", PI),
        ("codex", CODEX),
        ("openai", OPENAI),
        ("anthropic", ANTHROPIC),
        ("claude-code", CLAUDE),
        ("tau-bench", TAU),
    ]
    .into_iter()
    .chain(super::agents::ALL)
    .chain(super::exports::EXPORTS)
    {
        assert_eq!(name(text), Ok(format));
    }
    let refused = name("{\"rows\":[]}").expect_err("no format");
    assert!(
        refused.contains("is of no known format")
            && refused.contains("\n  pi: expected a pi session"),
        "{refused}"
    );
    assert!(
        name(r#"{"format":"compactometer-suite","version":1,"name":"x"}"#)
            .expect_err("a suite")
            .contains("already a suite")
    );
}
