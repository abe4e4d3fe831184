//! Small scenarios and scripted models for tests of the harness.

use std::sync::Mutex;

use async_trait::async_trait;
use compactometer_engine::message::{Message, MessageId, Part, Role, Usage};
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};
use compactometer_formats::scenario::{Category, Fact, Scenario, Split, ValueKind};
use compactometer_formats::suite::{Header, Suite};

/// A conversation under construction; `say` gives the message's id.
pub struct Builder {
    scenario: Scenario,
}

impl Builder {
    pub fn new(id: &str, group: &str) -> Self {
        let scenario = Scenario {
            id: id.into(),
            group_id: group.into(),
            version: 1,
            seed: None,
            source: "test".into(),
            licence: None,
            split: Split::Dev,
            tools: Vec::new(),
            messages: Vec::new(),
            facts: Vec::new(),
            probes: Vec::new(),
        };
        Builder { scenario }
    }

    pub fn say(&mut self, role: Role, text: &str) -> MessageId {
        self.push(role, vec![Part::Text { text: text.into() }])
    }

    pub fn push(&mut self, role: Role, parts: Vec<Part>) -> MessageId {
        let id = MessageId(self.scenario.messages.len() as u32);
        self.scenario.messages.push(Message { id, role, at_ms: None, parts, usage: None });
        id
    }

    /// A tool call and its result; gives the id of the call's message.
    pub fn call(&mut self, arguments: &str, result: &str) -> MessageId {
        let call_id = format!("call-{}", self.scenario.messages.len());
        let call = Part::ToolCall { id: call_id.clone(), name: "run".into(), arguments: arguments.into() };
        let id = self.push(Role::Assistant, vec![call]);
        self.push(Role::Tool, vec![Part::ToolResult { call_id, text: result.into(), is_error: false }]);
        id
    }

    /// User turns and answers without facts, some `tokens` tokens in all.
    pub fn chatter(&mut self, tokens: usize) {
        for number in 0..tokens / 60 {
            self.say(Role::User, &format!("Please go on with step {number} and tell me what you see there now."));
            self.say(
                Role::Assistant,
                "I looked at it again, and there is nothing unusual about it so far. ".repeat(2).trim(),
            );
        }
    }

    pub fn fact(&mut self, value: &str, evidence: &[MessageId]) -> &mut Fact {
        let id = format!("fact-{}", self.scenario.facts.len());
        self.scenario.facts.push(Fact {
            category: Category::NumberOrId,
            ..Fact::stated(id, "a thing", value, ValueKind::Id, evidence.to_vec())
        });
        let last = self.scenario.facts.len() - 1;
        &mut self.scenario.facts[last]
    }

    pub fn build(self) -> Scenario {
        self.scenario
    }
}

pub fn suite(scenarios: Vec<Scenario>) -> Suite {
    Suite { header: Header::new("test", None, Vec::new()), scenarios }
}

/// Answers by a function of the request's text and the number of the call.
pub struct Scripted<F> {
    answer: F,
    calls: Mutex<usize>,
}

impl<F: Fn(usize, &str) -> Result<String, ChatError> + Send + Sync> Scripted<F> {
    pub fn new(answer: F) -> Self {
        Scripted { answer, calls: Mutex::new(0) }
    }
}

#[async_trait]
impl<F: Fn(usize, &str) -> Result<String, ChatError> + Send + Sync> ChatModel for Scripted<F> {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let number = {
            let mut calls = self.calls.lock().unwrap();
            *calls += 1;
            *calls - 1
        };
        let text = (self.answer)(number, &request.texts().collect::<String>())?;
        let usage = Usage { input: 100, output: 10, ..Usage::default() };
        Ok(ChatReply { text, finish: Finish::Stop, usage, latency_ms: 1_000, served: None })
    }
}
