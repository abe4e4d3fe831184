//! `serve` as a user meets it, and as the Python clients of OpenAI and Anthropic do.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// The program, serving on a free port until it goes out of scope.
struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    fn new(args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_compactometer"));
        let child = command
            .args(["serve", "--port", "0"])
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let url = first
            .split(' ')
            .find(|word| word.starts_with("http://127.0.0.1:"))
            .unwrap()
            .to_owned();
        Serving { child, url }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn bad_models_and_taken_ports_are_usage_errors() {
    let run = |args: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_compactometer"))
            .arg("serve")
            .args(args)
            .output()
            .unwrap()
    };
    let output = run(&["--model", "mock:strang"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `strong`"));
    let serving = Serving::new(&[]);
    let port = serving
        .url
        .rsplit(':')
        .next()
        .unwrap()
        .trim_end_matches("/v1")
        .to_owned();
    let output = run(&["--port", &port]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains(&format!("127.0.0.1:{port}")));
}

#[cfg(unix)]
#[test]
fn ctrl_c_stops_it_in_order() {
    let mut serving = Serving::new(&["--model", "mock:weak+empty=0.5"]);
    assert!(
        Command::new("kill")
            .args(["-INT", &serving.child.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    assert!(serving.child.wait().unwrap().success());
}

/// Set where a missing tool is a failure and not a reason to skip.
const REQUIRE: &str = "COMPACTOMETER_REQUIRE_TOOLS";

/// A Python that has these clients, as `scripts/model-clients` installs it. No test asks a package
/// index itself.
const PYTHON: &str = "COMPACTOMETER_CLIENTS_PYTHON";

#[test]
fn the_providers_own_clients_are_served() {
    let Some(python) = std::env::var_os(PYTHON) else {
        assert!(
            std::env::var_os(REQUIRE).is_none(),
            "`{PYTHON}` names no Python; `scripts/model-clients` prints one"
        );
        return eprintln!(
            "skipped: `{PYTHON}` names no Python with the clients; `scripts/model-clients` installs one"
        );
    };
    let serving = Serving::new(&[]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/model_clients.py");
    let output = Command::new(python)
        .args([script, &serving.url, "mock:claude-code"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.trim() == "ok",
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The next turn of the agent is the recorded one, and its calls are answered by the recorded results,
/// also over MCP.
#[test]
fn a_conversation_is_played_to_an_agent_that_is_started_by_hand() {
    let sample = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../datasets/sample-session.jsonl"
    );
    let serving = Serving::new(&["--play", sample, "--agent", "codex", "--window", "100000"]);
    let address = serving
        .url
        .trim_start_matches("http://")
        .trim_end_matches("/v1;");
    let tools = compactometer_agents::tools::ask(address, "/play/tools", &json!({})).unwrap();
    let names = tools["tools"].as_array().unwrap().iter();
    let tools = names.map(|tool| json!({"type": "function", "name": tool["name"]}));
    let tools =
        json!([{"type": "namespace", "name": "mcp__suite", "tools": tools.collect::<Vec<_>>()}]);
    let turn = |input: &str| {
        let body = json!({"model": "any", "input": input, "tools": tools});
        compactometer_agents::tools::ask(address, "/v1/responses", &body).unwrap()
    };
    // A request that is repeated gets the same answer.
    assert_eq!(turn("hello")["output"], turn("hello")["output"]);
    let called = (0..20).find_map(|number| {
        let answer = turn(&format!("turn {number}"));
        let output = answer["output"].as_array()?;
        output
            .iter()
            .find(|item| item["type"] == "function_call")
            .cloned()
    });
    let called = called.unwrap();
    assert_eq!(called["namespace"], "mcp__suite");
    let arguments = called["arguments"].as_str().unwrap();
    let arguments = serde_json::from_str::<Value>(arguments).unwrap();
    let asked = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18"}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": called["name"], "arguments": arguments}}),
    ];
    let lines = asked.map(|line| line.to_string()).join("\n") + "\n";
    let played = assert_cmd::Command::new(env!("CARGO_BIN_EXE_compactometer"))
        .args(["play", "--at", address, "--mcp"])
        .write_stdin(lines)
        .output()
        .unwrap();
    let answers = String::from_utf8(played.stdout).unwrap();
    let answers = answers
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let answers = answers.collect::<Vec<_>>();
    assert_eq!(answers.len(), 2, "{answers:?}");
    let text = answers[1]["result"]["content"][0]["text"].as_str().unwrap();
    let sample = std::fs::read_to_string(sample).unwrap();
    let first = text.lines().next().unwrap().rsplit('\t').next().unwrap();
    assert!(!first.is_empty() && sample.contains(first), "{text}");
}

#[test]
fn agents_that_are_unknown_or_not_installed_are_usage_errors() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_compactometer"));
        let command = command
            .args(args)
            .env("COMPACTOMETER_AGENTS", folder.path());
        let output = command.output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, words) = run(&["compare", "smoke", "--agent", "codes"]);
    assert_eq!(code, Some(2));
    assert!(words.contains("did you mean `codex`"), "{words}");
    let (code, words) = run(&["compare", "smoke", "--agent", "codex@0.1"]);
    assert_eq!(code, Some(2));
    assert!(words.contains("compactometer add codex@0.1"), "{words}");
    let (code, words) = run(&["serve", "--play", "smoke"]);
    assert_eq!(code, Some(2));
    assert!(words.contains("--agent"), "{words}");
    let (code, words) = run(&["play", "1", "Read", "--at", "127.0.0.1:1"]);
    assert_eq!(code, Some(1));
    assert!(words.contains("no play answers at 127.0.0.1:1"), "{words}");
}
