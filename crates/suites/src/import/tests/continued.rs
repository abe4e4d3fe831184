//! A session that its own program compacted stays one conversation, and the program's summary is nobody's statement.

use super::*;

fn row(uuid: &str, parent: &str, more: serde_json::Value) -> serde_json::Value {
    let mut row = serde_json::json!({"type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s-1"});
    for (key, value) in more.as_object().expect("an object") {
        row[key] = value.clone();
    }
    row
}

fn says(role: &str, text: &str) -> serde_json::Value {
    serde_json::json!({"type": role, "message": {"role": role, "content": text}})
}

const SUMMARY: &str =
    "This session is being continued from a previous conversation that ran out of context: ticket KX-4711.";

/// The rows after a compaction. The parent that its first row names is `parent`.
fn after_compaction(parent: &str, marked: bool) -> Vec<serde_json::Value> {
    let boundary = serde_json::json!({"type": "system", "subtype": "compact_boundary", "parentUuid": null, "logicalParentUuid": parent});
    let mut summary = row("s", "x", says("user", SUMMARY));
    if marked {
        summary["isCompactSummary"] = true.into();
    }
    let asked = row("u", "s", says("user", "Go on with KX-4711."));
    vec![row("x", "", boundary), summary, asked, row("v", "u", says("assistant", "Done."))]
}

fn text(rows: &[serde_json::Value]) -> String {
    rows.iter().map(serde_json::Value::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_compaction_whose_parent_is_missing_continues_the_session() {
    for marked in [true, false] {
        let mut rows = vec![row("a", "", says("user", "Hello.")), row("b", "a", says("assistant", "Hi."))];
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
        assert_eq!(joined.suite.scenarios.len(), 2, "the side conversation stays apart");
        assert_eq!(
            repairs(&joined),
            ["line 4: parent `gone` is not in the file: the compacted session is joined to line 2"]
        );
        assert_eq!(joined.report.ignored.get("compaction summary of the recorded program"), Some(&1));
        assert_eq!(fact(&joined.suite.scenarios[0], "KX-4711").evidence_message_ids, [MessageId(3)]);
        let refused = failure("claude-code", text(&rows).as_bytes(), &STRICT);
        assert!(refused.contains("line 4: parent `gone` is not in the file"), "{refused}");
    }
}

#[test]
fn a_summary_that_opens_a_file_is_no_statement_of_the_user() {
    let found = imported("claude-code", &text(&after_compaction("gone", true)), &FACTS);
    assert_eq!(
        outline(&found.suite.scenarios[0]),
        format!("1 system: text({SUMMARY})\n2 user: text(Go on with KX-4711.)\n3 assistant: text(Done.)")
    );
    assert_eq!(fact(&found.suite.scenarios[0], "KX-4711").stated_by, Speaker::System);
    assert_eq!(
        repairs(&found),
        [
            "line 1: parent `gone` is not in the file: taken as a start",
            "line 2: summary of messages that are not in the file: kept as the system prompt"
        ]
    );
}

#[test]
fn a_user_who_quotes_a_summary_is_still_the_user() {
    let quoted = says("user", &format!("It wrote: {SUMMARY}"));
    let mut first = row("a", "", quoted);
    first["parentUuid"] = serde_json::Value::Null;
    let found = imported("claude-code", &text(&[first]), &STRICT);
    assert_eq!(fact(&found.suite.scenarios[0], "KX-4711").stated_by, Speaker::User);
}
