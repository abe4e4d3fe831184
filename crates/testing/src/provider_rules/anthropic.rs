//! The rules of Anthropic's Messages API.

use std::collections::HashSet;

use serde_json::Value;

use super::{BrokenRule, list};

/// The rules that a request body for the Messages API breaks.
pub fn anthropic(body: &Value) -> Vec<String> {
    let mut broken = BrokenRule::default();
    broken.model(body);
    broken.unless(body.get("max_tokens").is_some(), "max_tokens", "is there");
    broken.limit(body, "max_tokens");
    broken.temperature(body, 1.0);
    for (index, block) in list(body, "system").iter().enumerate() {
        broken.text(&block["text"], &format!("system[{index}].text"));
    }
    let messages = list(body, "messages");
    let roles = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap_or_default())
        .collect::<Vec<_>>();
    broken.unless(
        roles
            .iter()
            .all(|role| ["user", "assistant"].contains(role)),
        "messages",
        "have known roles",
    );
    broken.unless(
        roles.windows(2).all(|pair| pair[0] != pair[1]),
        "messages",
        "alternate between user and assistant",
    );
    broken.ends(&roles);
    tools(body, messages, &mut broken);
    let mut turns = Turns {
        seen: HashSet::new(),
        open: HashSet::new(),
        broken,
    };
    messages
        .iter()
        .enumerate()
        .for_each(|(index, message)| turns.message(index, message));
    turns
        .broken
        .unless(turns.open.is_empty(), "messages", "answer every call");
    turns.broken.0
}

fn tools(body: &Value, messages: &[Value], broken: &mut BrokenRule) {
    let tools = list(body, "tools");
    let mut names = HashSet::new();
    for (index, tool) in tools.iter().enumerate() {
        let at = format!("tools[{index}].name");
        broken.tool_name(&tool["name"], &at);
        broken.unless(names.insert(tool["name"].as_str()), &at, "is unique");
        broken.unless(
            tool["input_schema"]["type"] == "object",
            &at,
            "has the schema of an object",
        );
    }
    let blocks = || messages.iter().flat_map(|message| list(message, "content"));
    let has_calls = blocks().any(|block| {
        ["tool_use", "tool_result"]
            .iter()
            .any(|kind| block["type"] == *kind)
    });
    broken.unless(
        !has_calls || !tools.is_empty(),
        "tools",
        "are defined if messages contain calls or results",
    );
    let Some(choice) = body.get("tool_choice") else {
        return;
    };
    broken.unless(
        !tools.is_empty(),
        "tool_choice",
        "chooses among defined tools",
    );
    let holds = match choice["type"].as_str() {
        Some("tool") => names.contains(&choice["name"].as_str()),
        kind => matches!(kind, Some("none" | "auto" | "any")),
    };
    broken.unless(holds, "tool_choice", "is a choice that the API defines");
}

struct Turns<'b> {
    seen: HashSet<&'b str>,
    /// The calls of the previous turn.
    open: HashSet<&'b str>,
    broken: BrokenRule,
}

impl<'b> Turns<'b> {
    fn message(&mut self, index: usize, message: &'b Value) {
        let at = format!("messages[{index}].content");
        let blocks = list(message, "content");
        self.broken.unless(!blocks.is_empty(), &at, "is not empty");
        let mut results_may_follow = true;
        for block in blocks {
            let is_result = block["type"] == "tool_result";
            self.broken.unless(
                !is_result || results_may_follow,
                &at,
                "has results before other blocks",
            );
            results_may_follow &= is_result;
            if is_result {
                self.result(block, &at);
            }
        }
        self.broken.unless(
            self.open.is_empty(),
            &at,
            "answers every call of the previous turn",
        );
        self.open.clear();
        let is_assistant = message["role"] == "assistant";
        blocks
            .iter()
            .for_each(|block| self.block(block, is_assistant, &at));
    }

    fn result(&mut self, block: &Value, at: &str) {
        let answers = block["tool_use_id"]
            .as_str()
            .is_some_and(|id| self.open.remove(id));
        self.broken.unless(
            answers,
            at,
            "has one result for each call of the previous turn",
        );
        match &block["content"] {
            Value::String(_) => self.broken.text(&block["content"], at),
            content => self.broken.unless(
                content.is_array(),
                at,
                "has a result's content as text or blocks",
            ),
        }
    }

    fn block(&mut self, block: &'b Value, is_assistant: bool, at: &str) {
        match block["type"].as_str() {
            Some("text") => self.broken.text(&block["text"], at),
            Some("tool_result") => {
                self.broken
                    .unless(!is_assistant, at, "has results only in user turns")
            }
            Some("thinking") => {
                let is_signed = block["signature"]
                    .as_str()
                    .is_some_and(|signature| !signature.is_empty());
                self.broken.unless(
                    is_assistant && is_signed,
                    at,
                    "has thinking of the assistant, with its signature",
                );
            }
            Some("tool_use") => {
                self.broken
                    .unless(is_assistant, at, "has calls only in assistant turns");
                self.broken.call_id(&block["id"], at, &mut self.seen);
                self.broken.tool_name(&block["name"], at);
                self.broken.unless(
                    block["input"].is_object(),
                    at,
                    "has a call's input as an object",
                );
                self.open.extend(block["id"].as_str());
            }
            _ => self
                .broken
                .unless(false, at, "has only blocks that the API defines"),
        }
    }
}
