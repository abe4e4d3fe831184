//! Files that somebody names: anything but a file is refused before it is opened, too large a file
//! before it is in memory.

#![cfg(unix)]

use std::path::Path;
use std::process::Output;
use std::time::Duration;

use assert_cmd::Command;

const SPEC: &str = "name = \"tiny\"\nseed = 4\nwindow = 2000\ndomains = [\"service\"]\nconversations = 2\n\
                    lengths = [6000]\nfacts = [12, 12]\npoints = [2, 2]\n";

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("compactometer").unwrap();
    // A command that waits for a pipe's writer would wait forever.
    command
        .timeout(Duration::from_secs(120))
        .current_dir(dir)
        .args(args);
    command
}

fn program(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn refused(dir: &Path, args: &[&str], told: &str) {
    let output = program(dir, args);
    assert_eq!(
        output.status.code(),
        Some(2),
        "{args:?}: {}",
        stderr(&output)
    );
    assert!(
        stderr(&output).contains(told),
        "{args:?}: {}",
        stderr(&output)
    );
}

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
    dir
}

/// Every command that reads a file of a kind, with the file in the last place.
const READERS: [&[&str]; 10] = [
    &["run", "-s", "null", "--out", "x"],
    &["explain", "-s", "null"],
    &["probes"],
    &["import", "claude-code", "--out", "x.jsonl"],
    &["import", "tau-bench", "--out", "x.jsonl"],
    &["run", "tiny.toml", "-s", "null", "--out", "x", "--prices"],
    &["gate", "out", "--baseline"],
    &["run", "tiny.toml", "--out", "x", "-s"],
    &["generate", "--out", "x.jsonl"],
    &["checkpoint", "test"],
];

fn with<'a>(reader: &[&'a str], file: &'a str, prompt: &'a str) -> Vec<&'a str> {
    let is_prompt = reader.last() == Some(&"-s");
    [reader, &[if is_prompt { prompt } else { file }]].concat()
}

#[test]
fn what_is_no_file_is_refused_by_every_reader() {
    let dir = folder();
    let dir = dir.path();
    assert!(
        program(
            dir,
            &["run", "tiny.toml", "-s", "full", "--out", "out", "-q"]
        )
        .status
        .success()
    );
    std::fs::create_dir(dir.join("folder.toml")).unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(dir.join("pipe.toml"))
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink("/dev/zero", dir.join("zero.toml")).unwrap();
    for (file, told) in [
        (
            "pipe.toml",
            "it is a named pipe, which may never end; write its content to a file and name the file",
        ),
        (
            "zero.toml",
            "it is a device, which may never end; write its content to a file and name the file",
        ),
        ("folder.toml", "it is a folder; name a file in it"),
    ] {
        let prompt = format!("mine=chained:prompt={file}");
        for reader in READERS {
            refused(dir, &with(reader, file, &prompt), told);
        }
    }
    refused(
        dir,
        &["run", "-s", "null", "--out", "x", "/dev/zero"],
        "it is a device",
    );
}

#[test]
fn a_pipe_in_place_of_settings_or_a_manifest_is_refused() {
    let dir = folder();
    let dir = dir.path();
    std::fs::create_dir(dir.join("out")).unwrap();
    for name in ["compactometer.toml", "out/manifest.json"] {
        assert!(
            std::process::Command::new("mkfifo")
                .arg(dir.join(name))
                .status()
                .unwrap()
                .success()
        );
        refused(dir, &["report", "out"], "it is a named pipe");
        refused(
            dir,
            &["gate", "out", "--baseline", "tiny.toml"],
            "it is a named pipe",
        );
        std::fs::remove_file(dir.join(name)).unwrap();
    }
}

#[test]
fn a_pipe_or_device_among_a_runs_files_or_in_a_recording_is_refused() {
    let dir = folder();
    let dir = dir.path();
    let run = [
        "run",
        "tiny.toml",
        "-s",
        "full",
        "--out",
        "out",
        "--record",
        "tape",
        "-q",
    ];
    assert!(program(dir, &run).status.success());
    for (name, args) in [
        ("out/records.jsonl", &["report", "out"][..]),
        ("out/records.jsonl", &run),
        ("out/texts.jsonl", &run),
        (
            "tape/calls.jsonl",
            &[
                "run",
                "tiny.toml",
                "--model",
                "cassette:tape",
                "--out",
                "again",
                "-q",
            ],
        ),
    ] {
        let path = dir.join(name);
        let whole = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        refused(dir, args, "it is a named pipe");
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        refused(dir, args, "it is a device");
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, whole).unwrap();
    }
}

#[test]
fn files_above_the_limit_of_their_kind_are_refused() {
    let dir = folder();
    let dir = dir.path();
    let large = |name: &str, size: u64| {
        let file = std::fs::File::create(dir.join(name)).unwrap();
        file.set_len(size).unwrap();
    };
    large("large.toml", (4 << 20) + 1);
    refused(
        dir,
        &["run", "large.toml"],
        "it is larger than 1 MiB, the limit for a generator spec",
    );
    refused(
        dir,
        &["run", "smoke", "-s", "a=chained:prompt=large.toml"],
        "it is larger than 1 MiB, the limit for a prompt",
    );
    refused(
        dir,
        &["run", "smoke", "--prices", "large.toml"],
        "it is larger than 4 MiB, the limit for a price table",
    );
    large("compactometer.toml", (1 << 20) + 1);
    refused(
        dir,
        &["run", "tiny.toml"],
        "it is larger than 1 MiB, the limit for a settings file",
    );
}

#[test]
fn a_suite_still_comes_through_stdin() {
    let dir = folder();
    let dir = dir.path();
    assert!(
        program(dir, &["generate", "tiny.toml", "--out", "tiny.jsonl", "-q"])
            .status
            .success()
    );
    let suite = std::fs::read(dir.join("tiny.jsonl")).unwrap();
    let output = command(dir, &["probes", "/dev/stdin"])
        .write_stdin(suite)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("12 facts"),
        "{output:?}"
    );
}

#[test]
fn bytes_that_are_no_text_are_named_by_file_and_line() {
    let dir = folder();
    let dir = dir.path();
    let spoil = |from: &str, to: &str, line: usize| {
        let mut bytes = std::fs::read(dir.join(from)).unwrap();
        let ends = bytes
            .iter()
            .enumerate()
            .filter(|(_, byte)| **byte == b'\n')
            .map(|(at, _)| at);
        let at = ends.take(line - 1).last().unwrap() + 5;
        bytes[at] = 0xff;
        std::fs::write(dir.join(to), bytes).unwrap();
    };
    let run = [
        "run",
        "tiny.toml",
        "-s",
        "summarize,full",
        "--out",
        "out",
        "-q",
    ];
    assert!(program(dir, &run).status.success());
    assert!(
        program(dir, &["generate", "tiny.toml", "--out", "tiny.jsonl", "-q"])
            .status
            .success()
    );
    assert!(
        program(dir, &["gate", "out", "--baseline", "base.json", "--update"])
            .status
            .success()
    );
    spoil("tiny.jsonl", "spoiled.jsonl", 2);
    refused(
        dir,
        &["probes", "spoiled.jsonl"],
        "`spoiled.jsonl`, line 2: invalid UTF-8",
    );
    spoil("tiny.toml", "spoiled.toml", 3);
    refused(
        dir,
        &["run", "spoiled.toml"],
        "cannot read `spoiled.toml`: line 3 is not UTF-8",
    );
    spoil("out/records.jsonl", "out/records.jsonl", 3);
    refused(
        dir,
        &["gate", "out", "--baseline", "base.json"],
        "records.jsonl`, line 3: invalid UTF-8",
    );
    refused(
        dir,
        &["report", "out"],
        "records.jsonl`, line 3: invalid utf-8",
    );
    std::fs::remove_dir_all(dir.join("out")).unwrap();
    assert!(program(dir, &run).status.success());
    spoil("out/texts.jsonl", "out/texts.jsonl", 2);
    refused(dir, &run, "texts.jsonl`, line 2: invalid utf-8");
}

#[test]
fn a_run_that_cannot_begin_leaves_no_recording() {
    let dir = folder();
    let dir = dir.path();
    for args in [
        &["run", "missing.jsonl"][..],
        &["run", "tiny.toml", "-s", "chaned"],
        &["compare", "missing.jsonl"],
        &["explain", "missing.jsonl", "-s", "null"],
    ] {
        let output = program(dir, &[args, &["--record", "tape"]].concat());
        assert_eq!(
            output.status.code(),
            Some(2),
            "{args:?}: {}",
            stderr(&output)
        );
        assert!(
            !dir.join("tape").exists(),
            "{args:?} made a recording of nothing"
        );
    }
}

/// A full disk ends a run in the same way before and after its first record.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_no_wrong_argument() {
    let dir = folder();
    std::fs::create_dir(dir.path().join("disk")).unwrap();
    let program = env!("CARGO_BIN_EXE_compactometer");
    // 4 kB hold the folder's marker but no manifest, 8 kB the manifest but no record; then come
    // stores and a recording.
    for (size, more) in [
        ("4k", "--out disk/out"),
        ("8k", "--out disk/out"),
        ("8k", "--out out --store disk/kept"),
        ("8k", "--out out --store disk/kept.db"),
        ("4k", "--out out --record disk/tape"),
    ] {
        let script = format!(
            "mount -t tmpfs -o size={size} none disk || exit 77; exec \"$0\" run tiny.toml -s summarize,full -q {more}"
        );
        let mut command = std::process::Command::new("unshare");
        command
            .args([
                "--user",
                "--map-root-user",
                "--mount",
                "sh",
                "-c",
                &script,
                program,
            ])
            .current_dir(dir.path());
        let Ok(output) = command.output() else {
            return eprintln!("skipped: no `unshare` here");
        };
        if output.status.code() == Some(77) || stderr(&output).starts_with("unshare:") {
            return eprintln!("skipped: this machine lets no test mount a disk");
        }
        assert_eq!(
            output.status.code(),
            Some(1),
            "{size} {more}: {}",
            stderr(&output)
        );
        assert!(
            stderr(&output).contains("free space"),
            "{size} {more}: {}",
            stderr(&output)
        );
        let _ = std::fs::remove_dir_all(dir.path().join("out"));
    }
}

/// A SQLite store can be read on a disk that cannot be written.
#[cfg(target_os = "linux")]
#[test]
fn a_database_on_a_read_only_disk_is_listed_and_shown() {
    let dir = folder();
    let dir = dir.path();
    let program_path = env!("CARGO_BIN_EXE_compactometer");
    for place in ["disk/kept.db", "disk/a store?#%.db"] {
        std::fs::create_dir_all(dir.join("disk")).unwrap();
        let run = [
            "run",
            "tiny.toml",
            "-s",
            "chained",
            "-q",
            "--out",
            "out",
            "--store",
            place,
        ];
        assert!(program(dir, &run).status.success());
        let history = ["checkpoint", "history", "--store", place];
        let threads = String::from_utf8(program(dir, &history).stdout).unwrap();
        let thread = threads.lines().nth(1).unwrap().trim();
        let history = [&history[..], &["--thread", thread]].concat();
        let show = ["checkpoint", "show", "--store", place, "--thread", thread];
        for args in [
            &["checkpoint", "history", "--store", place][..],
            &history,
            &show,
        ] {
            let writable = program(dir, args);
            assert!(writable.status.success(), "{}", stderr(&writable));
            let script = "mount --bind disk disk && mount -o remount,bind,ro disk || exit 77; exec \"$0\" \"$@\"";
            let mut command = std::process::Command::new("unshare");
            command.args([
                "--user",
                "--map-root-user",
                "--mount",
                "sh",
                "-c",
                script,
                program_path,
            ]);
            let Ok(output) = command.args(args).current_dir(dir).output() else {
                return eprintln!("skipped: no `unshare` here");
            };
            if output.status.code() == Some(77) || stderr(&output).starts_with("unshare:") {
                return eprintln!("skipped: this machine lets no test mount a disk");
            }
            assert!(output.status.success(), "{args:?}: {}", stderr(&output));
            assert_eq!(output.stdout, writable.stdout, "{args:?}");
        }
        std::fs::remove_dir_all(dir.join("out")).unwrap();
    }
}
