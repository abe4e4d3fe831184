//! `agreement` as a user meets it: a mock in the process, and a model behind HTTP that is in truth
//! another mock.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Output, Stdio};

use assert_cmd::Command;

const SPEC: &str = "name = \"tiny\"\nseed = 1\nwindow = 2000\ndomains = [\"software\"]\nconversations = 6\n\
                    lengths = [5000]\nfacts = [12, 12]\npoints = [2, 2]\n";

/// The program, serving a mock until it goes out of scope.
struct Serving(Child, String);

impl Serving {
    fn new(model: &str) -> Self {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_compactometer"));
        let mut child = command
            .args(["serve", "--port", "0", "--model", model])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let url = first
            .split(' ')
            .find(|word| word.starts_with("http://127.0.0.1:"))
            .unwrap()
            .to_owned();
        Serving(child, format!("openai-compatible:{model}@{url}"))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn program(dir: &Path, args: &[&str]) -> Output {
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    let mut command = Command::cargo_bin("compactometer").unwrap();
    command
        .env_remove("COMPACTOMETER_API_KEY")
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

fn run(dir: &Path, model: &str, seed: &str, out: &str) {
    let strategies = "summarize,progressive,chained,prompt-checkpoint,full,null";
    let output = program(
        dir,
        &[
            "run",
            "tiny.toml",
            "-q",
            "-s",
            strategies,
            "--model",
            model,
            "--seed",
            seed,
            "--out",
            out,
        ],
    );
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn stdout(output: &Output) -> String {
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_mock_that_is_the_model_agrees_with_it_fully_and_the_ceiling_stands_beside() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "mock:perfect-reader", "1", "mock");
    {
        let server = Serving::new("mock:perfect-reader");
        run(dir.path(), &server.1, "1", "model");
        run(dir.path(), &server.1, "2", "again");
    }
    let told = stdout(&program(dir.path(), &["agreement", "mock", "model"]));
    assert!(told.contains("no ceiling recorded"), "{told}");
    assert!(
        told.starts_with(
            "Agreement of mock:perfect-reader and openai-compatible:mock:perfect-reader\n"
        ) && told.contains("\nfacts kept     1.00  [1.00, 1.00]        -     -\n"),
        "{told}"
    );
    assert!(
        told.contains(
            "left out: chained: under mock:perfect-reader, 5.3 % of the compactions that"
        ),
        "{told}"
    );
    let json = stdout(&program(
        dir.path(),
        &[
            "agreement",
            "mock",
            "model",
            "--ceiling",
            "again",
            "--json",
            "--markdown",
            "out/agreement.md",
            "--html",
            "out/agreement.html",
        ],
    ));
    let [markdown, page] = ["md", "html"].map(|form| {
        let path = dir.path().join(format!("out/agreement.{form}"));
        std::fs::read_to_string(path).unwrap()
    });
    assert!(
        markdown.contains("| facts kept | 1.00 | \\[1.00, 1.00\\] | ") && page.contains("1.00"),
        "{markdown}"
    );
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    let context = &found["metrics"][0];
    assert_eq!(
        (&context["tau"]["value"], &found["units"]),
        (&1.0.into(), &6.into()),
        "{json}"
    );
    assert!(
        context["ceiling"]["value"].is_f64() && found["has_ceiling"] == true,
        "{json}"
    );
    assert!(
        found["words"]
            .as_str()
            .unwrap()
            .contains("on 6 conversations of at most"),
        "{json}"
    );
    let swapped = program(dir.path(), &["agreement", "model", "mock"]);
    assert_eq!(swapped.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&swapped.stderr).contains("name the mock's run first"));
    let repeated = program(
        dir.path(),
        &["agreement", "mock", "model", "--ceiling", "model"],
    );
    assert_eq!(repeated.status.code(), Some(2));
    assert_eq!(
        program(dir.path(), &["agreement", "mock", "nowhere"])
            .status
            .code(),
        Some(2)
    );
}
