//! `serve` as a user meets it, and as the Python clients of OpenAI and Anthropic do.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

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
