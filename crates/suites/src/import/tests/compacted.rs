//! Compactions that real sessions have and that are easily misread. The files are synthetic, after
//! the real ones.

use compactometer_formats::scenario::Unmeasured;
use serde_json::{Value, json};

use super::*;

fn lines(rows: &[Value]) -> String {
    rows.iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

fn reasons(imported: &Imported) -> Vec<Unmeasured> {
    imported
        .suite
        .scenarios
        .iter()
        .flat_map(|scenario| &scenario.unmeasured)
        .map(|one| one.reason)
        .collect()
}

fn codex(kind: &str, payload: Value) -> Value {
    json!({"timestamp": "2026-01-02T03:04:05Z", "type": kind, "payload": payload})
}

fn codex_said(role: &str, text: &str) -> Value {
    let kind = if role == "user" {
        "input_text"
    } else {
        "output_text"
    };
    json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]})
}

/// A rollout whose compaction has this message, and leaves the user's first words and `more`.
fn rollout(message: &str, more: &[Value]) -> String {
    let mut history = vec![codex_said("user", "Find it.")];
    history.extend(more.iter().cloned());
    lines(&[
        codex(
            "session_meta",
            json!({"id": "c-1", "cwd": "/home/ann/shop"}),
        ),
        codex("response_item", codex_said("user", "Find it.")),
        codex(
            "response_item",
            codex_said("assistant", "It is in ledger/pay.rs."),
        ),
        codex(
            "compacted",
            json!({"message": message, "replacement_history": history}),
        ),
        codex("turn_context", json!({"cwd": "/home/ann/shop/web"})),
        codex("response_item", codex_said("user", "Go on.")),
        codex("response_item", codex_said("assistant", "Done.")),
    ])
}

#[test]
fn a_codex_summary_that_is_encrypted_or_absent_is_not_measured() {
    let encrypted = json!({"type": "compaction", "encrypted_content": "gAAAAB"});
    for more in [vec![encrypted], Vec::new()] {
        let found = imported("codex", &rollout("", &more), &FACTS);
        let scenario = &found.suite.scenarios[0];
        assert_eq!(
            (scenario.compactions.len(), reasons(&found)),
            (0, vec![Unmeasured::UnreadableSummary])
        );
        assert_eq!(scenario.unmeasured[0].after, Some(MessageId(2)));
        assert_eq!(
            repairs(&found),
            ["line 4: compaction: its summary is not readable: left out"]
        );
        let note = "1 compaction left out: its summary is not readable".to_owned();
        assert!(found.report.lines().contains(&note) && found.suite.header.notes.contains(&note));
        assert_eq!(
            scenario.directories,
            ["/home/ann/shop", "/home/ann/shop/web"]
        );
    }
    let read = imported("codex", &rollout("It is in ledger/pay.rs.", &[]), &FACTS);
    assert_eq!(
        (read.suite.scenarios[0].compactions.len(), reasons(&read)),
        (1, Vec::new())
    );
}

#[test]
fn a_message_with_an_image_is_known_again() {
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,aGk="});
    let mut rows = rollout("It is in ledger/pay.rs.", &[])
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect::<Vec<Value>>();
    rows[1]["payload"]["content"]
        .as_array_mut()
        .expect("blocks")
        .push(image);
    let found = imported("codex", &lines(&rows), &FACTS);
    assert_eq!(
        found.suite.scenarios[0].compactions[0].context[0],
        Retained::Kept(MessageId(1))
    );
}

fn claude(uuid: &str, parent: Option<&str>, more: Value) -> Value {
    let mut row = json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s-1", "cwd": "/home/ann/shop"});
    for (key, value) in more.as_object().expect("an object") {
        row[key] = value.clone();
    }
    row
}

fn says(role: &str, text: &str) -> Value {
    json!({"type": role, "message": {"role": role, "content": text}})
}

fn summary(uuid: &str, parent: &str, text: &str) -> Value {
    claude(
        uuid,
        Some(parent),
        json!({"isCompactSummary": true, "message": {"role": "user", "content": text}}),
    )
}

fn boundary(uuid: &str, parent: &str, about: Value) -> Value {
    claude(
        uuid,
        None,
        json!({"type": "system", "subtype": "compact_boundary", "logicalParentUuid": parent, "compactMetadata": about}),
    )
}

/// The row after the summary names the last message that stayed, which comes before the boundary.
#[test]
fn the_row_after_a_compaction_may_follow_what_stayed() {
    let about = json!({"trigger": "manual", "preservedSegment": {"headUuid": "b", "anchorUuid": "s", "tailUuid": "b"}});
    let rows = [
        claude("a", None, says("user", "Hello.")),
        claude("b", Some("a"), says("assistant", "Hi.")),
        boundary("x", "b", about),
        summary("s", "x", "They said hello."),
        claude("c", Some("b"), says("user", "Go on.")),
        claude("d", Some("c"), says("assistant", "Done.")),
    ];
    let found = imported("claude-code", &lines(&rows), &FACTS);
    let scenario = &found.suite.scenarios[0];
    assert_eq!(
        outline(scenario).lines().count(),
        4,
        "{}",
        outline(scenario)
    );
    let written = Retained::Written {
        role: Role::User,
        text: "They said hello.".to_owned(),
    };
    assert_eq!(
        scenario.compactions[0].context,
        [written, Retained::Kept(MessageId(2))]
    );
}

#[test]
fn what_the_program_attaches_after_a_summary_is_in_the_next_request() {
    let attached = |uuid: &str, parent: &str, about: Value| {
        claude(
            uuid,
            Some(parent),
            json!({"type": "attachment", "attachment": about}),
        )
    };
    let file = json!({"type": "file", "filename": "/a/pay.rs", "content": {"type": "text", "file": {"filePath": "/a/pay.rs", "content": "port = 8443"}}});
    let hook =
        json!({"type": "hook_success", "hookEvent": "SessionStart", "content": "Ticket KX-4711."});
    let rows = [
        claude("a", None, says("user", "Hello.")),
        claude("b", Some("a"), says("assistant", "Hi.")),
        boundary("x", "b", json!({"trigger": "auto"})),
        summary("s", "x", "They said hello."),
        attached("f", "s", file.clone()),
        attached(
            "g",
            "f",
            json!({"type": "compact_file_reference", "filename": "/a/tax.rs"}),
        ),
        attached(
            "h",
            "g",
            json!({"type": "invoked_skills", "skills": [{"name": "n", "content": "Be brief."}]}),
        ),
        attached("i", "h", hook),
        attached(
            "j",
            "i",
            json!({"type": "deferred_tools_delta", "addedNames": ["Grep"]}),
        ),
        claude("c", Some("j"), says("user", "Go on.")),
        // Later attachments are not part of what the compaction left.
        attached("k", "c", file),
        claude("d", Some("k"), says("assistant", "Done.")),
    ];
    let found = imported("claude-code", &lines(&rows), &FACTS);
    let texts = found.suite.scenarios[0].compactions[0]
        .context
        .iter()
        .map(|left| match left {
            Retained::Written { text, .. } => text.as_str(),
            Retained::Kept(_) => "kept",
        });
    let expected = [
        "They said hello.",
        "/a/pay.rs\nport = 8443",
        "/a/tax.rs",
        "Be brief.",
        "Ticket KX-4711.",
    ];
    assert_eq!(texts.collect::<Vec<_>>(), expected);
}

#[test]
fn a_row_with_an_unknown_parent_continues_its_session() {
    let rows = [
        claude("a", None, says("user", "Hello.")),
        claude("b", Some("a"), says("assistant", "Hi.")),
        claude("p", Some("gone"), json!({"type": "progress"})),
        claude(
            "q",
            Some("p"),
            json!({"type": "system", "subtype": "stop_hook_summary"}),
        ),
        claude("c", Some("q"), says("user", "Go on.")),
        claude("d", Some("c"), says("assistant", "Done.")),
    ];
    let found = imported("claude-code", &lines(&rows), &FACTS);
    assert_eq!(found.suite.scenarios.len(), 1);
    assert_eq!(outline(&found.suite.scenarios[0]).lines().count(), 4);
    assert_eq!(
        repairs(&found),
        ["line 3: parent `gone` is not in the file: joined to line 2 of the same session"]
    );
    let mut other = rows;
    for row in &mut other[2..] {
        row["sessionId"] = "s-2".into();
    }
    assert_eq!(
        imported("claude-code", &lines(&other), &FACTS)
            .suite
            .scenarios
            .len(),
        2,
        "another session stays apart"
    );
}

#[test]
fn a_file_that_starts_in_the_middle_measures_no_first_compaction() {
    let rows = |parent: Option<&str>, tokens: u64| {
        [
            claude("a", parent, says("user", "Go on.")),
            claude("b", Some("a"), says("assistant", "Hi.")),
            boundary("x", "b", json!({"trigger": "auto", "preTokens": tokens})),
            summary("s", "x", "They said hello."),
            claude("c", Some("s"), says("user", "Go on.")),
            claude("d", Some("c"), says("assistant", "Done.")),
        ]
    };
    for (parent, tokens) in [(Some("gone"), 9_000), (None, 155_250)] {
        let found = imported("claude-code", &lines(&rows(parent, tokens)), &FACTS);
        assert_eq!(reasons(&found), [Unmeasured::PartBefore], "{parent:?}");
        assert!(found.suite.scenarios[0].compactions.is_empty());
    }
    assert!(
        reasons(&imported(
            "claude-code",
            &lines(&rows(None, 30_000)),
            &FACTS
        ))
        .is_empty()
    );
    // What a second compaction had before it is known: the summary, and what followed.
    let mut twice = rows(Some("gone"), 9_000).to_vec();
    twice.push(boundary(
        "y",
        "d",
        json!({"trigger": "auto", "preTokens": 155_250}),
    ));
    twice.push(summary("t", "y", "They went on."));
    twice.push(claude("e", Some("t"), says("user", "More.")));
    let found = imported("claude-code", &lines(&twice), &FACTS);
    assert_eq!(
        (reasons(&found), found.report.compactions),
        (vec![Unmeasured::PartBefore], 1)
    );
}

#[test]
fn of_two_compactions_without_a_turn_between_the_second_counts() {
    let rows = [
        claude("a", None, says("user", "Hello.")),
        claude("b", Some("a"), says("assistant", "Hi.")),
        boundary("x", "b", json!({"trigger": "auto"})),
        summary("s", "x", "First."),
        boundary("y", "s", json!({"trigger": "manual"})),
        summary("t", "y", "Second."),
        claude("c", Some("t"), says("user", "Go on.")),
        claude("d", Some("c"), says("assistant", "Done.")),
    ];
    let found = imported("claude-code", &lines(&rows), &FACTS);
    let scenario = &found.suite.scenarios[0];
    assert_eq!(reasons(&found), [Unmeasured::CompactedAgain]);
    let repair = "line 3: compaction: another compaction followed without a turn between: left out";
    assert_eq!(repairs(&found), [repair]);
    let written = Retained::Written {
        role: Role::User,
        text: "Second.".to_owned(),
    };
    assert_eq!(
        (
            scenario.compactions.len(),
            &scenario.compactions[0].context[..]
        ),
        (1, &[written][..])
    );
}

const PI: [&str; 4] = [
    r#"{"type":"session","id":"p-1","timestamp":"2026-01-02T03:04:05Z","cwd":"/home/ann/shop"}"#,
    r#"{"type":"message","timestamp":"2026-01-02T03:04:06Z","message":{"role":"user","content":"Read it."}}"#,
    r#"{"type":"message","timestamp":"2026-01-02T03:04:07Z","message":{"role":"assistant","content":[{"type":"text","text":"I did."}]}}"#,
    r#"{"type":"message","timestamp":"2026-01-02T03:04:09Z","message":{"role":"user","content":"Go on."}}"#,
];

fn pi_compaction(more: Value) -> String {
    let mut row = json!({"type": "compaction", "timestamp": "2026-01-02T03:04:08Z", "summary": "Read.", "tokensBefore": 900});
    for (key, value) in more.as_object().expect("an object") {
        row[key] = value.clone();
    }
    row.to_string()
}

#[test]
fn the_first_version_of_pi_names_what_stays_by_its_number() {
    let text = [
        PI[0],
        PI[1],
        PI[2],
        &pi_compaction(json!({"firstKeptEntryIndex": 2})),
        PI[3],
    ]
    .join("\n");
    let found = imported("pi", &text, &STRICT);
    let compaction = &found.suite.scenarios[0].compactions[0];
    let written = Retained::Written {
        role: Role::User,
        text: "Read.".to_owned(),
    };
    assert_eq!(
        (compaction.after, &compaction.context[..]),
        (MessageId(2), &[written, Retained::Kept(MessageId(2))][..])
    );
}

#[test]
fn a_compaction_of_an_extension_names_it() {
    let of = |more: Value| {
        let text = [PI[0], PI[1], PI[2], &pi_compaction(more), PI[3]].join("\n");
        imported("pi", &text, &STRICT).suite.scenarios[0].compactions[0]
            .compactor
            .clone()
    };
    assert_eq!(
        of(json!({"fromHook": true, "details": {"compactor": "vcc"}})).as_deref(),
        Some("vcc")
    );
    assert_eq!(
        of(json!({"fromHook": true})).as_deref(),
        Some("an extension")
    );
    assert_eq!(of(json!({})), None);
}

#[test]
fn two_objects_of_one_line_are_both_read() {
    let joined = format!(
        "{}{}",
        PI[2],
        pi_compaction(json!({"firstKeptEntryIndex": 2}))
    );
    let text = [PI[0], PI[1], &joined, PI[3]].join("\n");
    let found = imported("pi", &text, &FACTS);
    assert_eq!(found.suite.scenarios[0].compactions[0].after, MessageId(2));
    assert_eq!(found.suite.scenarios[0].messages.len(), 3);
    assert_eq!(
        repairs(&found),
        ["line 3: 2 objects without a line break between them: read as lines"]
    );
    let torn = [PI[0], PI[1], &format!("{}{}", PI[2], "{\"type\":\"mess")].join("\n");
    assert!(
        repairs(&imported("pi", &torn, &FACTS))[0].starts_with("line 3: torn last line"),
        "a torn object is not read"
    );
}

/// A session with an agent of its own, and a compaction that was written while the conversation
/// went on.
pub(super) const COPILOT: &str = r#"{"type":"session.start","data":{"sessionId":"g-1","context":{"cwd":"C:\\code\\shop"}},"id":"1","timestamp":"2026-01-02T03:04:05Z","parentId":null}
{"type":"system.message","data":{"role":"system","content":"Be brief."},"id":"2","timestamp":"2026-01-02T03:04:05Z","parentId":"1"}
{"type":"user.message","data":{"content":"Read pay.toml.","transformedContent":"<now>\nRead pay.toml."},"id":"3","timestamp":"2026-01-02T03:04:06Z","parentId":"2"}
{"type":"user.message","data":{"content":"Tools are deferred.","source":"system"},"id":"4","timestamp":"2026-01-02T03:04:06Z","parentId":"3"}
{"type":"assistant.message","data":{"messageId":"m1","content":"","reasoningText":"Read it.","toolRequests":[{"toolCallId":"t1","name":"view","arguments":{"path":"pay.toml"}}],"outputTokens":9},"id":"5","timestamp":"2026-01-02T03:04:07Z","parentId":"4"}
{"type":"tool.execution_complete","data":{"toolCallId":"t1","success":true,"result":{"content":"port = 8443"}},"id":"6","timestamp":"2026-01-02T03:04:08Z","parentId":"5"}
{"type":"user.message","agentId":"t0","data":{"content":"Look aside."},"id":"7","timestamp":"2026-01-02T03:04:08Z","parentId":"6"}
{"type":"session.compaction_start","data":{"conversationTokens":40},"id":"8","timestamp":"2026-01-02T03:04:09Z","parentId":"7"}
{"type":"assistant.message","data":{"messageId":"m2","content":"It is 8443.","toolRequests":[{"toolCallId":"t2","name":"view","arguments":{"path":"tax.toml"}}]},"id":"9","timestamp":"2026-01-02T03:04:10Z","parentId":"8"}
{"type":"tool.execution_complete","data":{"toolCallId":"t2","success":false,"error":{"message":"no such file"}},"id":"a","timestamp":"2026-01-02T03:04:11Z","parentId":"9"}
{"type":"session.compaction_complete","data":{"success":true,"preCompactionTokens":900,"summaryContent":"The port is 8443.","compactionTokensUsed":{"inputTokens":950,"outputTokens":20,"cacheReadTokens":50,"cacheWriteTokens":0}},"id":"b","timestamp":"2026-01-02T03:04:12Z","parentId":"a"}
{"type":"system.message","data":{"role":"system","content":"Be brief."},"id":"c","timestamp":"2026-01-02T03:04:13Z","parentId":"b"}
{"type":"assistant.message","data":{"messageId":"m3","content":"Done.","toolRequests":[]},"id":"d","timestamp":"2026-01-02T03:04:13Z","parentId":"c"}"#;

#[test]
fn a_copilot_compaction_keeps_what_was_said_while_it_was_written() {
    let found = imported("copilot", COPILOT, &STRICT);
    let [main, side] = &found.suite.scenarios[..] else {
        panic!("two conversations")
    };
    assert_eq!(
        (main.id.as_str(), side.id.as_str(), &main.projects[..]),
        ("g-1", "g-1/side-1", &["shop".to_owned()][..])
    );
    assert_eq!(
        outline(main),
        "1 system: text(Be brief.)\n2 user: text(Read pay.toml.)\n3 assistant: thinking(Read it.) | call_1=view{\"path\":\"pay.toml\"}\n\
         4 tool: call_1->port = 8443\n5 assistant: text(It is 8443.) | call_2=view{\"path\":\"tax.toml\"}\n\
         6 tool: call_2->no such file (error)\n7 assistant: text(Done.)"
    );
    let [compaction] = &main.compactions[..] else {
        panic!("one compaction")
    };
    let written = Retained::Written {
        role: Role::User,
        text: "The port is 8443.".to_owned(),
    };
    let kept = [Retained::Kept(MessageId(5)), Retained::Kept(MessageId(6))];
    assert_eq!(compaction.context, [&[written][..], &kept].concat());
    assert_eq!(
        (compaction.after, compaction.reported_tokens),
        (MessageId(6), Some(900))
    );
    let usage = compaction.usage.expect("a usage");
    assert_eq!((usage.input, usage.cache_read, usage.output), (900, 50, 20));
    let failed = COPILOT.replace(
        "\"success\":true,\"preCompactionTokens\"",
        "\"success\":false,\"preCompactionTokens\"",
    );
    assert_eq!(
        reasons(&imported("copilot", &failed, &STRICT)),
        [Unmeasured::Failed]
    );
}

pub(super) const LANGCHAIN: &str = r#"{"messages":[
{"type":"human","content":"Here is a summary: the port is 8443.","additional_kwargs":{"lc_source":"summarization"},"id":"a"},
{"type":"ai","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"bash","input":{}}],"tool_calls":[{"name":"bash","args":{"command":"ls"},"id":"t1"}],"usage_metadata":{"input_tokens":90,"output_tokens":5,"input_token_details":{"cache_read":40}}},
{"type":"tool","content":"pay.toml","tool_call_id":"t1","status":"error"},
{"type":"ai","content":"Done.","tool_calls":[]}]}"#;

#[test]
fn messages_of_langchain_are_read_and_a_summary_is_marked() {
    let found = imported("langchain", LANGCHAIN, &FACTS);
    assert_eq!(
        outline(&found.suite.scenarios[0]),
        "1 user: text(Here is a summary: the port is 8443.)\n2 assistant: text(I look.) | call_1=bash{\"command\":\"ls\"}\n\
         3 tool: call_1->pay.toml (error)\n4 assistant: text(Done.)"
    );
    assert_eq!(reasons(&found), [Unmeasured::NothingBefore]);
    let usage = found.suite.scenarios[0].messages[1]
        .usage
        .as_deref()
        .expect("a usage");
    assert_eq!((usage.input, usage.cache_read, usage.output), (50, 40, 5));
}

pub(super) const STRANDS: &str = r#"[
{"role":"user","content":[{"text":"Read it."}]},
{"role":"assistant","content":[{"text":"I look."},{"toolUse":{"toolUseId":"t1","name":"bash","input":{"command":"ls"}}}],"metadata":{"usage":{"inputTokens":90,"outputTokens":5}}},
{"role":"user","content":[{"toolResult":{"toolUseId":"t1","status":"success","content":[{"text":"pay.toml"}]}}]},
{"role":"assistant","content":[{"text":"Done."}]}]"#;

#[test]
fn messages_of_strands_are_read() {
    let found = imported("strands", STRANDS, &STRICT);
    assert_eq!(
        outline(&found.suite.scenarios[0]),
        "1 user: text(Read it.)\n2 assistant: text(I look.) | call_1=bash{\"command\":\"ls\"}\n3 tool: call_1->pay.toml\n\
         4 assistant: text(Done.)"
    );
    assert_eq!(
        found.suite.scenarios[0].messages[1]
            .usage
            .as_deref()
            .map(|usage| usage.output),
        Some(5)
    );
}
