//! `losses --watch`: what each compaction of a running session left.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use crate::hook::{program, session};

/// Long enough for a slow machine.
const SOON: Duration = Duration::from_secs(60);

#[test]
fn each_compaction_of_a_running_session_is_said_when_it_happens() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s-1.jsonl");
    let session = session();
    let before = session
        .lines()
        .take_while(|line| !line.contains("compact_boundary"))
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    std::fs::write(&path, &before).unwrap();
    let mut command = program(dir.path());
    command
        .args(["losses", "--watch", "s-1.jsonl"])
        .env("COLUMNS", "300");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (sender, lines) = mpsc::channel();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let other = sender.clone();
    std::thread::spawn(move || {
        stderr
            .lines()
            .try_for_each(|line| other.send(line.unwrap()))
    });
    std::thread::spawn(move || {
        stdout
            .lines()
            .try_for_each(|line| sender.send(line.unwrap()))
    });
    let next = || lines.recv_timeout(SOON).unwrap();
    assert_eq!(
        next(),
        "following s-1.jsonl: 4 messages, 0 compactions so far; Ctrl-C ends this"
    );
    let mut file = std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap();
    file.write_all(&session.as_bytes()[before.len()..]).unwrap();
    assert!(next().starts_with("Compaction after message 4: "));
    assert_eq!(next(), "  Of 1 value that calls had needed most, 1 is left");
    assert_eq!(
        next(),
        "  Of 1 sentence of yours, 0 are left; gone: “Mend refunds; the staging port is 48213.” (message 1)"
    );
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn one_session_is_followed_and_its_file_must_be_there() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["a.jsonl", "b.jsonl"] {
        std::fs::write(dir.path().join(name), session()).unwrap();
    }
    for (args, why) in [
        (&["a.jsonl", "b.jsonl"][..], "name one file"),
        (&["none.jsonl"], "none.jsonl"),
        (&["a.jsonl", "--json"], "cannot be used with"),
    ] {
        let mut command = program(dir.path());
        let mut child = command
            .args(["losses", "--watch"])
            .args(args)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut error = String::new();
        child
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut error)
            .unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(2), "{error}");
        assert!(error.contains(why), "{error}");
    }
}
