//! The scripted agent: this test's own program, started as an agent. What it does wrong is in a
//! variable of its environment.

use std::io::Read;
use std::path::Path;

use compactometer_agents::tools::{ask, call};
use serde_json::{Value, json};

/// What a summary is asked for with.
pub(crate) const ASKS: &str = "Summarize everything in ten words.";

/// Not a test: what the agent does, where its variables are set.
#[test]
fn scripted_agent() {
    let Ok(address) = std::env::var("COMPACTOMETER_PLAY") else {
        return;
    };
    let fault = std::env::var("FAULT").unwrap();
    let mut user = String::new();
    std::io::stdin().read_to_string(&mut user).unwrap();
    let file = Path::new("history.json");
    let history = std::fs::read_to_string(file).unwrap_or("[]".to_owned());
    let mut agent = Agent {
        address,
        fault,
        history: serde_json::from_str(&history).unwrap(),
    };
    agent.history.push(json!({"role": "user", "content": user}));
    agent.turn();
    std::fs::write(file, Value::from(agent.history).to_string()).unwrap();
}

struct Agent {
    address: String,
    fault: String,
    history: Vec<Value>,
}

impl Agent {
    fn turn(&mut self) {
        loop {
            self.compact();
            let message = self.next();
            let calls = message["tool_calls"].clone();
            self.history.push(message);
            let Some(calls) = calls.as_array() else {
                return;
            };
            for called in calls {
                let result = self.run(called);
                let result =
                    json!({"role": "tool", "tool_call_id": called["id"], "content": result});
                self.history.push(result);
            }
        }
    }

    /// The model's next message.
    fn next(&self) -> Value {
        match self.fault.as_str() {
            "crashes" => std::process::exit(3),
            "hangs" => std::thread::sleep(std::time::Duration::from_secs(60)),
            "ends early" => std::process::exit(0),
            "speaks nothing" => drop(ask(&self.address, "/v2/think", &json!({}))),
            "sends no chat" => drop(ask(
                &self.address,
                "/v1/chat/completions",
                &json!({"model": "mock", "messages": "hello"}),
            )),
            "prints" => println!("{}", "x".repeat(4 << 20)),
            "asks aside" => {
                drop(self.post(&[json!({"role": "user", "content": "A title?"})], false))
            }
            "leaves a daemon" => drop(
                std::process::Command::new("setsid")
                    .args(["sleep", "4711"])
                    .stdin(std::process::Stdio::null())
                    .spawn(),
            ),
            _ => {}
        }
        let answer = self.post(&self.history, true);
        if self.fault == "repeats" {
            assert_eq!(answer, self.post(&self.history, true));
        }
        answer["choices"][0]["message"].clone()
    }

    fn run(&self, called: &Value) -> String {
        let arguments = called["function"]["arguments"].as_str().unwrap();
        let asked = json!({
            "name": called["function"]["name"],
            "arguments": serde_json::from_str::<Value>(arguments).unwrap(),
        });
        let (text, _) = call(&self.address, &asked).unwrap();
        match self.fault.as_str() {
            "cuts" => text.chars().take(20).collect(),
            "ignores tools" => "I did not look.".to_owned(),
            _ => text,
        }
    }

    /// Takes out what is more than eight messages, with a summary in its place or nothing.
    fn compact(&mut self) {
        if self.history.len() < 8 {
            return;
        }
        let old = self
            .history
            .drain(..self.history.len() - 1)
            .collect::<Vec<_>>();
        if self.fault == "deletes" {
            return;
        }
        let mut request = old;
        request.push(json!({"role": "user", "content": ASKS}));
        let answer = self.post(&request, false);
        let summary = answer["choices"][0]["message"]["content"].as_str().unwrap();
        let text = format!("So far: {summary}");
        self.history
            .insert(0, json!({"role": "user", "content": text}));
    }

    fn post(&self, messages: &[Value], with_tools: bool) -> Value {
        let tool = json!({"type": "function", "function": {"name": "run", "parameters": {"type": "object"}}});
        let tools = if with_tools { vec![tool] } else { Vec::new() };
        let body = json!({"model": "mock", "messages": messages, "tools": tools});
        ask(&self.address, "/v1/chat/completions", &body).unwrap()
    }
}
