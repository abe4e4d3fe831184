//! The rules of OpenAI's Chat Completions API.

use std::collections::HashSet;

use serde_json::Value;

use super::{BrokenRule, list};

/// The rules that a request body for chat completions breaks.
pub fn openai(body: &Value) -> Vec<String> {
    let mut broken = BrokenRule::default();
    broken.model(body);
    broken.limit(body, "max_tokens");
    broken.limit(body, "max_completion_tokens");
    broken.temperature(body, 2.0);
    tools(body, &mut broken);
    let messages = list(body, "messages");
    let roles = messages
        .iter()
        .map(|message| message["role"].as_str().unwrap_or_default());
    let roles = roles
        .skip_while(|role| *role == "system")
        .collect::<Vec<_>>();
    broken.unless(
        !roles.contains(&"system"),
        "messages",
        "have the system prompt first",
    );
    broken.ends(&roles);
    let mut chat = Chat {
        seen: HashSet::new(),
        open: Vec::new(),
        broken,
    };
    messages
        .iter()
        .enumerate()
        .for_each(|(index, message)| chat.message(index, message));
    chat.settle("the end of messages");
    chat.broken.0
}

fn tools(body: &Value, broken: &mut BrokenRule) {
    let mut names = HashSet::new();
    for (index, tool) in list(body, "tools").iter().enumerate() {
        let name = &tool["function"]["name"];
        broken.tool_name(name, &format!("tools[{index}].function.name"));
        broken.unless(
            names.insert(name.as_str()),
            &format!("tools[{index}].function.name"),
            "is unique",
        );
    }
}

struct Chat<'b> {
    seen: HashSet<&'b str>,
    /// Calls without a result.
    open: Vec<&'b str>,
    broken: BrokenRule,
}

impl<'b> Chat<'b> {
    fn message(&mut self, index: usize, message: &'b Value) {
        let at = format!("messages[{index}]");
        let content = format!("{at}.content");
        match message["role"].as_str() {
            Some("tool") => return self.result(message, &at),
            Some("system" | "user") => self.broken.text(&message["content"], &content),
            Some("assistant") if list(message, "tool_calls").is_empty() => {
                self.broken.unless(
                    message.get("tool_calls").is_none(),
                    &at,
                    "has no empty list of calls",
                );
                self.broken.text(&message["content"], &content);
            }
            Some("assistant") if message["content"].is_null() => {}
            Some("assistant") => self.broken.text(&message["content"], &content),
            _ => self
                .broken
                .unless(false, &at, "has a role that the API defines"),
        }
        self.settle(&at);
        list(message, "tool_calls")
            .iter()
            .for_each(|call| self.call(call, &at));
    }

    fn call(&mut self, call: &'b Value, at: &str) {
        let function = &call["function"];
        self.broken
            .call_id(&call["id"], &format!("{at}.tool_calls.id"), &mut self.seen);
        self.broken
            .tool_name(&function["name"], &format!("{at}.tool_calls.function.name"));
        let arguments = function["arguments"]
            .as_str()
            .and_then(|text| serde_json::from_str::<Value>(text).ok());
        let holds = arguments.is_some_and(|arguments| arguments.is_object());
        self.broken.unless(
            holds,
            &format!("{at}.tool_calls.function.arguments"),
            "is the JSON of an object",
        );
        self.open.extend(call["id"].as_str());
    }

    fn result(&mut self, message: &Value, at: &str) {
        let id = message["tool_call_id"].as_str();
        let answered = self.open.iter().position(|open| Some(*open) == id);
        self.broken.unless(
            answered.is_some(),
            at,
            "answers a call of the preceding assistant turn",
        );
        self.broken
            .unless(message["content"].is_string(), at, "has a text");
        answered.map(|found| self.open.remove(found));
    }

    /// Requires a result for every call so far.
    fn settle(&mut self, at: &str) {
        self.broken.unless(
            self.open.is_empty(),
            at,
            "comes after the results of all calls",
        );
        self.open.clear();
    }
}
