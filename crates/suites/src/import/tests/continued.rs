//! A session that its own program compacted stays one conversation, and the program's summary is
//! nobody's statement.

use super::*;

fn row(uuid: &str, parent: &str, more: serde_json::Value) -> serde_json::Value {
    let mut row =
        serde_json::json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s-1"});
    for (key, value) in more.as_object().expect("an object") {
        row[key] = value.clone();
    }
    row
}

fn says(role: &str, text: &str) -> serde_json::Value {
    serde_json::json!({"type": role, "message": {"role": role, "content": text}})
}

const SUMMARY: &str = "This session is being continued from a previous conversation that ran out of context: ticket KX-4711.";

/// The rows after a compaction. The parent that its first row names is `parent`.
fn after_compaction(parent: &str, marked: bool) -> Vec<serde_json::Value> {
    let boundary = serde_json::json!({"type": "system", "subtype": "compact_boundary", "parentUuid": null, "logicalParentUuid": parent});
    let mut summary = row("s", "x", says("user", SUMMARY));
    if marked {
        summary["isCompactSummary"] = true.into();
    }
    let asked = row("u", "s", says("user", "Go on with KX-4711."));
    vec![
        row("x", "", boundary),
        summary,
        asked,
        row("v", "u", says("assistant", "Done.")),
    ]
}

fn text(rows: &[serde_json::Value]) -> String {
    rows.iter()
        .map(serde_json::Value::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_compaction_whose_parent_is_missing_continues_the_session() {
    for marked in [true, false] {
        let mut rows = vec![
            row("a", "", says("user", "Hello.")),
            row("b", "a", says("assistant", "Hi.")),
        ];
        rows[0]["parentUuid"] = serde_json::Value::Null;
        let mut side = row("c", "", says("user", "Look aside."));
        side["parentUuid"] = serde_json::Value::Null;
        side["isSidechain"] = true.into();
        rows.push(side);
        rows.extend(after_compaction("gone", marked));
        let joined = imported("claude-code", &text(&rows), &FACTS);
        assert_eq!(
            outline(&joined.suite.scenarios[0]),
            "1 user: text(Hello.)\n2 assistant: text(Hi.)\n3 user: text(Go on with KX-4711.)\n4 assistant: text(Done.)"
        );
        assert_eq!(
            joined.suite.scenarios.len(),
            2,
            "the side conversation stays apart"
        );
        assert_eq!(
            repairs(&joined),
            ["line 4: parent `gone` is not in the file: joined to line 2 of the same session"]
        );
        let [compaction] = &joined.suite.scenarios[0].compactions[..] else {
            panic!("one compaction")
        };
        let written = Retained::Written {
            role: Role::User,
            text: SUMMARY.to_owned(),
        };
        assert_eq!(
            (compaction.after, &compaction.context[..]),
            (MessageId(2), &[written][..])
        );
        assert_eq!(
            fact(&joined.suite.scenarios[0], "KX-4711").evidence_message_ids,
            [MessageId(3)]
        );
        let refused = failure("claude-code", text(&rows).as_bytes(), &STRICT);
        assert!(
            refused.contains("line 4: parent `gone` is not in the file"),
            "{refused}"
        );
    }
}

#[test]
fn a_summary_that_opens_a_file_is_no_statement_of_the_user() {
    let found = imported(
        "claude-code",
        &text(&after_compaction("gone", true)),
        &FACTS,
    );
    assert_eq!(
        outline(&found.suite.scenarios[0]),
        format!(
            "1 system: text({SUMMARY})\n2 user: text(Go on with KX-4711.)\n3 assistant: text(Done.)"
        )
    );
    assert_eq!(
        fact(&found.suite.scenarios[0], "KX-4711").stated_by,
        Speaker::System
    );
    assert_eq!(
        repairs(&found),
        [
            "line 1: parent `gone` is not in the file: taken as a start",
            "line 2: summary of messages that are not in the file: kept as the system prompt",
            "line 1: compaction: the file does not hold what came before it: left out"
        ]
    );
}

#[test]
fn a_user_who_quotes_a_summary_is_still_the_user() {
    let quoted = says("user", &format!("It wrote: {SUMMARY}"));
    let mut first = row("a", "", quoted);
    first["parentUuid"] = serde_json::Value::Null;
    let found = imported("claude-code", &text(&[first]), &STRICT);
    assert_eq!(
        fact(&found.suite.scenarios[0], "KX-4711").stated_by,
        Speaker::User
    );
}

/// A conversation of two messages, then compactions with what their boundaries say, each with a
/// question and an answer after it.
fn compacted(boundaries: &[serde_json::Value]) -> Vec<serde_json::Value> {
    let mut rows = vec![
        row("a", "", says("user", "Hello.")),
        row("b", "a", says("assistant", "Hi.")),
    ];
    rows[0]["parentUuid"] = serde_json::Value::Null;
    let mut last = "b".to_owned();
    for (number, about) in boundaries.iter().enumerate() {
        for mut next in after_compaction(&last, true) {
            next["uuid"] = format!("{}{number}", next["uuid"].as_str().expect("a uuid")).into();
            if let Some(parent) = next["parentUuid"].as_str() {
                next["parentUuid"] = format!("{parent}{number}").into();
            }
            if next["subtype"] == "compact_boundary" {
                next["compactMetadata"] = about.clone();
            }
            rows.push(next);
        }
        last = format!("v{number}");
    }
    rows
}

fn compactions(rows: &[serde_json::Value]) -> (Vec<RecordedCompaction>, Imported) {
    let found = imported("claude-code", &text(rows), &FACTS);
    (found.suite.scenarios[0].compactions.clone(), found)
}

#[test]
fn each_compaction_has_its_trigger_and_what_it_kept() {
    let rows = compacted(&[
        serde_json::json!({"trigger": "auto", "preTokens": 67_094, "preservedMessages": {"uuids": ["b"]}}),
        serde_json::json!({"trigger": "manual", "preTokens": 90, "preservedSegment": {"headUuid": "u0", "tailUuid": "v0"}}),
    ]);
    let (found, _) = compactions(&rows);
    let kept = |ids: &[u32]| {
        let written = Retained::Written {
            role: Role::User,
            text: SUMMARY.to_owned(),
        };
        std::iter::once(written)
            .chain(ids.iter().map(|id| Retained::Kept(MessageId(*id))))
            .collect::<Vec<_>>()
    };
    let shown = found.iter().map(|one| {
        (
            one.after.0,
            one.trigger.as_deref(),
            one.reported_tokens,
            one.context.clone(),
        )
    });
    let expected = [
        (2, Some("auto"), Some(67_094), kept(&[2])),
        (4, Some("manual"), Some(90), kept(&[3, 4])),
    ];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

#[test]
fn a_compaction_without_its_summary_is_named_and_left_out() {
    let mut rows = compacted(&[serde_json::json!({"trigger": "auto", "preservedMessages": ["b"]})]);
    rows.retain(|row| row["isCompactSummary"] != true);
    rows[3]["parentUuid"] = "x0".into();
    let (found, imported) = compactions(&rows);
    assert!(found.is_empty());
    assert_eq!(
        repairs(&imported),
        ["line 3: compaction: the file does not hold what it left: left out"]
    );
}

/// A user who goes back to before a compaction continues a conversation that was never compacted.
#[test]
fn a_compaction_that_was_rewound_is_no_compaction_of_what_follows() {
    let mut rows = compacted(&[serde_json::json!({"trigger": "auto"})]);
    rows.push(row("w", "b", says("user", "Let us start again.")));
    let (found, imported) = compactions(&rows);
    assert!(found.is_empty() && imported.report.compactions == 0);
    assert_eq!(
        outline(&imported.suite.scenarios[0]).lines().last(),
        Some("3 user: text(Let us start again.)")
    );
}

#[test]
fn what_a_compaction_wrote_is_masked_as_the_conversation_is() {
    let secret = "sk-ant-api03-Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8Zq8ZqAA";
    let mut rows = compacted(&[serde_json::json!({"trigger": "auto"})]);
    for said in rows.iter_mut().filter(|row| row["type"] == "user") {
        let text = format!(
            "{} key {secret}",
            said["message"]["content"].as_str().expect("a text")
        );
        said["message"]["content"] = text.into();
    }
    let (_, imported) = compactions(&rows);
    let text = serde_json::to_string(&imported.suite.scenarios).expect("serialises");
    assert!(
        !text.contains(secret) && text.matches("[masked:").count() == 3,
        "{text}"
    );
}

/// A program may compact while a call is open: its result belongs to what came before.
#[test]
fn a_compaction_within_a_batch_follows_its_results() {
    let lines = super::formats::PI.lines().collect::<Vec<_>>();
    let row = |id: &str| {
        *lines
            .iter()
            .find(|line| line.contains(&format!("\"id\":\"{id}\"")))
            .expect("a row")
    };
    let compaction = row("d")
        .replace("\"parentId\":\"c\"", "\"parentId\":\"b\"")
        .replace("EntryId\":\"c\"", "EntryId\":\"b\"");
    let result = row("c").replace("\"parentId\":\"b\"", "\"parentId\":\"d\"");
    let last = row("e").replace("\"parentId\":\"d\"", "\"parentId\":\"c\"");
    let text = [lines[0], row("a"), row("b"), &compaction, &result, &last].join("\n");
    let found = imported("pi", &text, &STRICT);
    assert_eq!(
        found.suite.scenarios[0].compactions[0].after,
        MessageId(3),
        "{}",
        outline(&found.suite.scenarios[0])
    );
}
