//! The rules of OpenAI's Responses API.

use std::collections::HashSet;

use serde_json::Value;

use super::{BrokenRule, list};

/// The rules that a request body for responses, or for a compaction of them, breaks.
pub fn openai_responses(body: &Value) -> Vec<String> {
    let mut broken = BrokenRule::default();
    broken.model(body);
    broken.limit(body, "max_output_tokens");
    broken.temperature(body, 2.0);
    if let Some(instructions) = body.get("instructions") {
        broken.text(instructions, "instructions");
    }
    let mut names = HashSet::new();
    for (index, tool) in list(body, "tools").iter().enumerate() {
        let at = format!("tools[{index}].name");
        broken.tool_name(&tool["name"], &at);
        broken.unless(names.insert(tool["name"].as_str()), &at, "is unique");
    }
    let items = list(body, "input");
    let roles = items
        .iter()
        .map(|item| match item["type"].as_str() {
            Some("function_call") => "assistant",
            Some("function_call_output" | "compaction") => "user",
            _ => item["role"].as_str().unwrap_or_default(),
        })
        .collect::<Vec<_>>();
    broken.ends(&roles);
    let (mut seen, mut open) = (HashSet::new(), HashSet::new());
    for (index, item) in items.iter().enumerate() {
        let at = format!("input[{index}]");
        self::item(item, &at, (&mut seen, &mut open), &mut broken);
    }
    broken.unless(open.is_empty(), "input", "has an output for every call");
    broken.0
}

fn item<'b>(
    item: &'b Value,
    at: &str,
    (seen, open): (&mut HashSet<&'b str>, &mut HashSet<&'b str>),
    broken: &mut BrokenRule,
) {
    match (item["type"].as_str(), item["role"].as_str()) {
        (Some("function_call"), _) => {
            broken.call_id(&item["call_id"], &format!("{at}.call_id"), seen);
            broken.tool_name(&item["name"], &format!("{at}.name"));
            let arguments = item["arguments"].as_str().unwrap_or_default();
            let is_object =
                serde_json::from_str::<Value>(arguments).is_ok_and(|one| one.is_object());
            broken.unless(
                is_object,
                &format!("{at}.arguments"),
                "is the JSON of an object",
            );
            open.extend(item["call_id"].as_str());
        }
        (Some("function_call_output"), _) => {
            let is_open = item["call_id"].as_str().is_some_and(|id| open.remove(id));
            broken.unless(is_open, at, "answers a call before it");
            broken.unless(item["output"].is_string(), at, "has a text");
        }
        (Some("compaction"), _) => {
            broken.text(
                &item["encrypted_content"],
                &format!("{at}.encrypted_content"),
            );
        }
        (None | Some("message"), Some("user" | "assistant" | "system" | "developer")) => {
            broken.text(&item["content"], &format!("{at}.content"));
        }
        _ => broken.unless(false, at, "is an item that the API defines"),
    }
}
