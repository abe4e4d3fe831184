//! Broken, odd and silent rows are repaired and reported, and the rows after them stay in their
//! conversation.

use super::*;

/// A row of a Claude Code session, whose message is JSON.
fn row(kind: &str, uuid: &str, parent: &str, message: &str) -> String {
    format!(r#"{{"parentUuid":"{parent}","type":"{kind}","message":{message},"uuid":"{uuid}"}}"#)
}

fn line(role: &str, text: &str) -> String {
    format!(r#"{{"role":"{role}","content":"{text}"}}"#)
}

/// Three good rows and `odd`, which replaces the answer to the first.
fn session_around(odd: &str) -> String {
    let first = format!(
        r#"{{"type":"user","uuid":"a","message":{}}}"#,
        line("user", "One.")
    );
    [
        first,
        odd.to_owned(),
        row("user", "c", "b", &line("user", "Two.")),
        row("assistant", "d", "c", &line("assistant", "Three.")),
    ]
    .join("\n")
}

/// The odd row is reported as `expected` and refused under strict reading, and the rows after it
/// stay in its conversation.
fn assert_only_odd_row_is_dropped(odd: &str, expected: &[&str]) {
    let text = session_around(odd);
    let imported = imported("claude-code", &text, &FACTS);
    assert_eq!(repairs(&imported), expected, "{odd}");
    assert_eq!(imported.suite.scenarios.len(), 1, "{odd}");
    assert_eq!(
        outline(&imported.suite.scenarios[0]),
        "1 user: text(One.)\n2 user: text(Two.)\n3 assistant: text(Three.)"
    );
    let refused = failure("claude-code", text.as_bytes(), &STRICT);
    assert!(
        refused.ends_with(&format!(
            "{} (strict: leave out --strict to repair it)",
            expected[0]
        )),
        "{refused}"
    );
}

#[test]
fn text_cut_inside_a_character_is_repaired() {
    let text = session_around(&row(
        "assistant",
        "b",
        "a",
        &line("assistant", r"ok \ud83d\ude00 cut \ud83d"),
    ));
    let mended = imported("claude-code", &text, &FACTS);
    assert_eq!(
        repairs(&mended),
        ["line 2: 1 lone surrogate escape: replaced by U+FFFD"]
    );
    assert!(
        outline(&mended.suite.scenarios[0]).contains("2 assistant: text(ok 😀 cut \u{fffd})\n")
    );
    let refused = failure("claude-code", text.as_bytes(), &STRICT);
    assert!(
        refused.contains("line 2: 1 lone surrogate escape: replaced by U+FFFD (strict"),
        "{refused}"
    );
    let text = "[{\"task_id\":1,\"trial\":0,\n\"traj\":[{\"role\":\"user\",\"content\":\"\\ud800 a \\udfff\"}]}]";
    let mended = imported("tau-bench", text, &FACTS);
    assert_eq!(
        repairs(&mended),
        ["line 2: 2 lone surrogate escapes: replaced by U+FFFD"]
    );
    assert_eq!(
        outline(&mended.suite.scenarios[0]),
        "1 user: text(\u{fffd} a \u{fffd})"
    );
}

#[test]
fn a_file_whose_only_row_is_cut_is_recognised() {
    let text = format!(
        r#"{{"type":"user","uuid":"a","message":{}}}"#,
        line("user", r"cut \ud83d")
    );
    assert_eq!(imported("claude-code", &text, &FACTS).report.messages, 1);
}

#[test]
fn broken_rows_do_not_cut_a_conversation_in_two() {
    assert_only_odd_row_is_dropped(
        r#"{"parentUuid":"a","type":"assistant","message":{"content":[{"input":{"uuid":"other"}},"\x"]},"uuid":"b"}"#,
        &["line 2: broken line (invalid escape at column 89): dropped"],
    );
    assert_only_odd_row_is_dropped(
        r#"{"parentUuid":"a","type":"assistant","message":{"content":"torn in the mid"#,
        &[
            "line 2: broken line (EOF while parsing a string at column 74): dropped",
            "line 3: parent `b` is not in the file: linked to line 1, which the row before it follows",
        ],
    );
    assert_only_odd_row_is_dropped(
        r#"{"parentUuid":"a","type":"assistant","uuid":"b"}"#,
        &["line 2: row of type `assistant` without a message: dropped"],
    );
}

#[test]
fn a_torn_row_that_was_written_again_counts_once() {
    let whole = row("assistant", "b", "a", &line("assistant", "Again."));
    let text = session_around(&format!("{}\n{whole}", whole.replace("\"Again.", "\"\\x")));
    let imported = imported("claude-code", &text, &FACTS);
    assert!(outline(&imported.suite.scenarios[0]).contains("2 assistant: text(Again.)\n"));
    assert_eq!(
        (imported.report.repairs.len(), imported.report.messages),
        (1, 4)
    );
}

#[test]
fn rows_of_other_roles_and_types_are_reported() {
    for (odd, expected) in [
        (
            row("assistant", "b", "a", &line("wizard", "?")),
            "message of role `wizard` in a row of type `assistant`: dropped",
        ),
        (
            row("user", "b", "a", &line("assistant", "?")),
            "message of role `assistant` in a row of type `user`: dropped",
        ),
        (
            row("user", "b", "a", r#"{"role":7,"content":"?"}"#),
            "message whose role is a number in a row of type `user`: dropped",
        ),
        (
            row("oracle", "b", "a", &line("user", "?")),
            "message of role `user` in a row of type `oracle`: dropped",
        ),
    ] {
        assert_only_odd_row_is_dropped(&odd, &[&format!("line 2: {expected}")]);
    }
}

#[test]
fn rows_without_a_turn_are_only_counted() {
    for kind in [
        "summary",
        "system",
        "file-history-snapshot",
        "queue-operation",
        "progress",
        "novelty",
    ] {
        let message = if kind == "novelty" {
            "null".to_owned()
        } else {
            line("user", "?")
        };
        let imported = imported(
            "claude-code",
            &session_around(&row(kind, "b", "a", &message)),
            &STRICT,
        );
        assert_eq!(imported.report.ignored, [(kind.to_owned(), 1)].into());
        assert_eq!(
            (imported.report.scenarios, imported.report.messages),
            (1, 3)
        );
    }
}

#[test]
fn a_row_of_a_kind_with_control_characters_still_makes_a_valid_suite() {
    let odd = row("sy\\tem", "b", "a", "null");
    let imported = imported("claude-code", &session_around(&odd), &STRICT);
    assert_eq!(imported.report.ignored, [("sy em".to_owned(), 1)].into());
}

#[test]
fn an_emptied_file_is_explained() {
    let text = vec![row("oracle", "b", "a", &line("user", "?")); 5].join("\n");
    let message = failure("claude-code", text.as_bytes(), &FACTS);
    let (start, repairs) = message.split_once(": `").expect("lists repairs");
    assert_eq!(
        start,
        "no conversation of format `claude-code` in 1 file(s)"
    );
    let repair = "message of role `user` in a row of type `oracle`: dropped";
    assert!(
        repairs.contains(&format!("`, line 1: {repair}; `")),
        "{repairs}"
    );
    assert!(
        repairs.ends_with(&format!("`, line 3: {repair}; and 2 more repairs")),
        "{repairs}"
    );
}
