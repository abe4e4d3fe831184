//! What the tests of several commands need: a server of a model, as small as can be, and what a run
//! wrote.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

/// What the program prints; it succeeds.
pub(crate) fn succeeds(dir: &Path, args: &[&str]) -> String {
    let output = Command::cargo_bin("compactometer")
        .unwrap()
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// The lines of a file of JSON lines.
pub(crate) fn lines(dir: &Path, path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(dir.join(path)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The records of a run.
pub(crate) fn records(dir: &Path, out: &str) -> Vec<Value> {
    lines(dir, &format!("{out}/records.jsonl"))
        .into_iter()
        .map(|mut line| line["record"].take())
        .collect()
}

/// The number that a run's first group has for a strategy's metric.
pub(crate) fn metric(dir: &Path, out: &str, strategy: &str, id: &str) -> f64 {
    let summary: Value =
        serde_json::from_slice(&std::fs::read(dir.join(out).join("summary.json")).unwrap())
            .unwrap();
    let strategies = summary["groups"][0]["strategies"].as_array().unwrap();
    let of = strategies
        .iter()
        .find(|one| one["name"] == strategy)
        .unwrap_or_else(|| panic!("{strategy}"));
    of["metrics"][id]["value"]
        .as_f64()
        .unwrap_or_else(|| panic!("{id}: {}", of["metrics"][id]))
}

/// Answers every request alike with one more header, and bills so many tokens, in and out.
pub(crate) fn serve(listener: TcpListener, header: &str, bill: (u32, u32)) {
    serve_and(listener, header, bill, || ());
}

/// A reply with some words of what was asked, as of a model that understood it.
fn answer(header: &str, (input, output): (u32, u32), asked: &str) -> String {
    let words = asked.split(|letter: char| !(letter.is_alphanumeric() || "._/-:".contains(letter)));
    let quoted = words.filter(|word| word.len() > 3).skip(60).take(40);
    let said = format!(
        "The build was mended. {}",
        quoted.collect::<Vec<_>>().join(" ")
    );
    let body = format!(
        r#"{{"choices":[{{"message":{{"content":"{said}"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":{input},"completion_tokens":{output}}}}}"#
    );
    format!(
        "HTTP/1.1 200 OK\r\n{header}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The same, but calls a function before each answer.
pub(crate) fn serve_and(
    listener: TcpListener,
    header: &str,
    (input, output): (u32, u32),
    before: impl Fn() + Clone + Send + 'static,
) {
    for stream in listener.incoming() {
        let (mut stream, before) = (stream.unwrap(), before.clone());
        let header = header.to_owned();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            loop {
                let (mut length, mut line) = (0, String::new());
                while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                    if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                        length = value.trim().parse().unwrap();
                    }
                    line.clear();
                }
                if length == 0 {
                    return;
                }
                let mut asked = vec![0; length];
                reader.read_exact(&mut asked).unwrap();
                before();
                let answer = answer(&header, (input, output), &String::from_utf8_lossy(&asked));
                // The client may have ended meanwhile.
                if stream.write_all(answer.as_bytes()).is_err() {
                    return;
                }
            }
        });
    }
}
