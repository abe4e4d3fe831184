//! A body that keeps all rules passes, and each broken rule is found at its place.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use compactometer_testing::provider_rules::{anthropic, openai};
use serde_json::{Value, json};

fn good_for_openai() -> Value {
    let call = json!({"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{\"q\": 1}"}});
    json!({
        "model": "m",
        "max_tokens": 10,
        "temperature": 0.3,
        "tools": [{"type": "function", "function": {"name": "find", "parameters": {"type": "object"}}}],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Look."},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": ""},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "And?"},
        ],
    })
}

fn good_for_anthropic() -> Value {
    let call = json!({"type": "tool_use", "id": "c1", "name": "find", "input": {}});
    let result = json!({"type": "tool_result", "tool_use_id": "c1", "content": []});
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": "s"});
    json!({
        "model": "m",
        "max_tokens": 10,
        "temperature": 0.3,
        "system": [{"type": "text", "text": "Be brief."}],
        "tools": [{"name": "find", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "none"},
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Look."}]},
            {"role": "assistant", "content": [thinking, call]},
            {"role": "user", "content": [result, {"type": "text", "text": "And?"}]},
        ],
    })
}

/// A change at a place of the body, and the rule that it breaks.
type Case = (&'static str, Value, &'static str);

fn each_is_found(rules: fn(&Value) -> Vec<String>, good: &Value, cases: Vec<Case>) {
    assert_eq!(rules(good), [""; 0]);
    for (place, value, rule) in cases {
        let mut body = good.clone();
        *body.pointer_mut(place).unwrap_or_else(|| panic!("{place}")) = value.clone();
        let broken = rules(&body);
        assert!(
            broken.iter().any(|found| found.contains(rule)),
            "{place} as {value}: {broken:?} lacks `{rule}`"
        );
    }
}

#[test]
fn chat_completions() {
    let long = "a".repeat(41);
    each_is_found(
        openai,
        &good_for_openai(),
        vec![
            ("/model", json!(""), "names a model"),
            ("/max_tokens", json!(0), "is above 0"),
            ("/temperature", json!(2.5), "within the provider's range"),
            ("/tools/0/function/name", json!("a.b"), "letters, digits"),
            (
                "/messages/0/role",
                json!("assistant"),
                "begin with the user",
            ),
            (
                "/messages/5/role",
                json!("assistant"),
                "do not end with the assistant",
            ),
            ("/messages/4/role", json!("system"), "system prompt first"),
            (
                "/messages/4/role",
                json!("robot"),
                "a role that the API defines",
            ),
            ("/messages/1/content", json!(" \n"), "more than whitespace"),
            ("/messages/4/content", json!(null), "more than whitespace"),
            ("/messages/2/content", json!(""), "more than whitespace"),
            ("/messages/2/tool_calls/0/id", json!(long), "1 to 40"),
            (
                "/messages/2/tool_calls/0/function/name",
                json!("a b"),
                "1 to 64",
            ),
            (
                "/messages/2/tool_calls/0/function/arguments",
                json!("{"),
                "JSON of an object",
            ),
            (
                "/messages/2/tool_calls",
                json!([]),
                "no empty list of calls",
            ),
            ("/messages/3/tool_call_id", json!("c2"), "answers a call"),
            (
                "/messages/3",
                json!({"role": "user", "content": "x"}),
                "after the results of all calls",
            ),
        ],
    );
}

#[test]
fn messages() {
    let call = good_for_anthropic()["messages"][1]["content"][1].clone();
    let turn = |role: &str| json!({"role": role, "content": [{"type": "text", "text": "x"}]});
    let late = json!([{"type": "text", "text": "x"}, {"type": "tool_result", "tool_use_id": "c1", "content": "y"}]);
    each_is_found(
        anthropic,
        &good_for_anthropic(),
        vec![
            ("/max_tokens", json!(0), "is above 0"),
            ("/temperature", json!(1.5), "within the provider's range"),
            ("/system/0/text", json!(""), "more than whitespace"),
            ("/tools", json!([]), "are defined if messages contain calls"),
            ("/tools/0/name", json!(""), "1 to 64"),
            (
                "/tools/0/input_schema",
                json!({}),
                "the schema of an object",
            ),
            (
                "/tool_choice",
                json!({"type": "tool", "name": "other"}),
                "a choice that the API defines",
            ),
            (
                "/messages/0/role",
                json!("assistant"),
                "begin with the user",
            ),
            ("/messages/0/role", json!("assistant"), "alternate"),
            ("/messages/0/role", json!("system"), "known roles"),
            (
                "/messages",
                json!([turn("user"), turn("assistant")]),
                "do not end with the assistant",
            ),
            ("/messages/0/content", json!([]), "is not empty"),
            (
                "/messages/0/content/0/text",
                json!("\u{1f}"),
                "more than whitespace",
            ),
            (
                "/messages/0/content/0",
                call.clone(),
                "only in assistant turns",
            ),
            (
                "/messages/1/content/0/signature",
                json!(""),
                "with its signature",
            ),
            ("/messages/1/content/0", call, "is unique"),
            ("/messages/1/content/1/id", json!("a:b"), "1 to 40"),
            (
                "/messages/1/content/1/input",
                json!("{}"),
                "input as an object",
            ),
            (
                "/messages/2/content/0/tool_use_id",
                json!("c2"),
                "of the previous turn",
            ),
            (
                "/messages/2/content/0/content",
                json!(""),
                "more than whitespace",
            ),
            ("/messages/2/content", late, "results before other blocks"),
            (
                "/messages/2/content/0",
                json!({"type": "text", "text": "x"}),
                "answers every call",
            ),
            (
                "/messages/2/content/1",
                json!({"type": "movie"}),
                "blocks that the API defines",
            ),
        ],
    );
}
