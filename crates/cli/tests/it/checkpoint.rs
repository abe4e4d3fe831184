//! `checkpoint` as a user meets it, on both stores.

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

const SPEC: &str = "name = \"short\"\nseed = 7\nwindow = 6000\ndomains = [\"software\"]\nconversations = 1\n\
                    lengths = [20000]\nfacts = [24, 24]\npoints = [3, 3]\n";
const STORES: [&str; 2] = ["kept", "kept.db"];

fn program(dir: &Path, args: &[&str]) -> Output {
    Command::cargo_bin("compactometer")
        .unwrap()
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with a run of two strategies, its sessions kept in the store; gives the thread of one.
fn kept(store: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("short.toml"), SPEC).unwrap();
    let args = [
        "run",
        "short.toml",
        "-s",
        "prompt-checkpoint,chained",
        "--out",
        "out",
        "--store",
        store,
        "-q",
    ];
    stdout(&program(dir.path(), &args));
    let list = stdout(&program(
        dir.path(),
        &["checkpoint", "history", "--store", store],
    ));
    assert!(list.starts_with("2 threads"), "{list}");
    let thread = list
        .lines()
        .find_map(|line| line.trim().strip_prefix("prompt-checkpoint:"))
        .unwrap();
    (dir, format!("prompt-checkpoint:{thread}"))
}

#[test]
fn a_store_is_shown_gone_back_in_and_cleared() {
    for store in STORES {
        let (dir, thread) = kept(store);
        let run = |args: &[&str]| {
            program(
                dir.path(),
                &[
                    &["checkpoint"],
                    args,
                    &["--store", store, "--thread", &thread],
                ]
                .concat(),
            )
        };
        let history: Value = serde_json::from_str(&stdout(&run(&["history", "--json"]))).unwrap();
        let records = history["records"].as_array().unwrap();
        assert!(
            records.len() > 4 && records[0]["kind"] == "summary",
            "{store}: {history}"
        );
        assert!(stdout(&run(&["history"])).contains("its view is kept"));

        let latest: Value = serde_json::from_str(&stdout(&run(&["show", "--json"]))).unwrap();
        assert_eq!(latest["record"]["kind"], "checkpoint");
        let number = latest["record"]["number"].as_u64().unwrap();
        assert!(stdout(&run(&["show"])).contains(&format!("record {number} is a checkpoint")));
        assert!(stdout(&run(&["show", "0"])).contains("record 0 is a summary"));

        let back = records
            .iter()
            .find(|record| record["restorable"] == true)
            .unwrap()["number"]
            .to_string();
        assert!(
            stdout(&run(&["rollback", &back])).contains(&format!("view of record {back} again")),
            "{store}"
        );
        assert!(
            stdout(&run(&["history"])).contains("rolled back"),
            "{store}"
        );
        let missing = run(&["rollback", "999"]);
        assert_eq!(missing.status.code(), Some(2));
        assert!(
            stderr(&missing).contains("record 999")
                && stderr(&missing).contains("with the views of"),
            "{}",
            stderr(&missing)
        );

        let unasked = run(&["clear"]);
        assert_eq!(unasked.status.code(), Some(2));
        assert!(stderr(&unasked).contains("--yes"), "{}", stderr(&unasked));
        assert!(stdout(&run(&["clear", "--yes"])).contains("deleted"));
        let gone = run(&["show"]);
        assert_eq!(gone.status.code(), Some(2));
        assert!(
            stderr(&gone).contains("unknown thread") && stderr(&gone).contains("`chained:"),
            "{}",
            stderr(&gone)
        );
    }
}

#[test]
fn wrong_names_places_and_files_say_what_to_do() {
    for store in STORES {
        let (dir, thread) = kept(store);
        let near = format!("{}x", &thread[..thread.len() - 1]);
        let missing = if store == "kept" {
            "elsewhere"
        } else {
            "elsewhere.db"
        };
        std::fs::write(
            dir.path().join("foreign.db"),
            "not a database at all, only some text",
        )
        .unwrap();
        for (args, expected) in [
            (vec!["show", "--store", missing], "no store at `elsewhere"),
            (
                vec!["show", "--store", store, "--thread", &near],
                "did you mean `prompt-checkpoint:",
            ),
            (
                vec!["show", "--store", store, "--thread", "../../x"],
                "walks through folders",
            ),
            (
                vec!["clear", "--store", store, "--thread", "../../x", "--yes"],
                "walks through folders",
            ),
            (
                vec!["clear", "--store", store, "--thread", "nobody", "--yes"],
                "unknown thread `nobody`",
            ),
            (vec!["show", "--store", store], "name one with `--thread`"),
            (vec!["show", "--store", "foreign.db"], "foreign.db"),
            (
                vec!["show", "999", "--store", store, "--thread", &thread],
                "record 999",
            ),
        ] {
            let output = program(dir.path(), &[&["checkpoint"], &args[..]].concat());
            assert_eq!(
                output.status.code(),
                Some(2),
                "{args:?}: {}",
                stderr(&output)
            );
            assert!(
                stderr(&output).contains(expected),
                "{args:?}: {}",
                stderr(&output)
            );
        }
        assert!(!dir.path().join(missing).exists(), "looking makes nothing");
    }
}

#[test]
fn a_torn_and_a_newer_thread_are_named_and_can_be_cleared() {
    let (dir, thread) = kept("kept");
    let folder = dir
        .path()
        .join("kept")
        .join(thread.replace(':', "%3a"))
        .join("checkpoints");
    let index = folder.join(".checkpoint_index");
    let whole = std::fs::read_to_string(&index).unwrap();
    let show = || {
        stderr(&program(
            dir.path(),
            &["checkpoint", "show", "--store", "kept", "--thread", &thread],
        ))
    };
    std::fs::write(&index, &whole[..whole.len() / 2]).unwrap();
    assert!(
        show().contains(".checkpoint_index` is not a whole file of this store"),
        "{}",
        show()
    );
    std::fs::write(&index, whole.replacen("\"format\":1", "\"format\":99", 1)).unwrap();
    assert!(
        show().contains("has format 99") && show().contains("newer version"),
        "{}",
        show()
    );
    stdout(&program(
        dir.path(),
        &[
            "checkpoint",
            "clear",
            "--store",
            "kept",
            "--thread",
            &thread,
            "--yes",
        ],
    ));
    assert!(show().contains("unknown thread"), "{}", show());
}

#[test]
fn an_extraction_by_hand_says_its_rung_and_is_saved_when_asked() {
    for store in STORES {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("short.toml"), SPEC).unwrap();
        let test = |more: &[&str]| {
            program(
                dir.path(),
                &[
                    &["checkpoint", "test", "short.toml", "--store", store],
                    more,
                ]
                .concat(),
            )
        };
        let told = stdout(&test(&[]));
        assert!(
            told.contains("the reply was read as strict") && told.contains("key_decisions"),
            "{told}"
        );
        assert!(!dir.path().join(store).exists(), "nothing is kept unasked");

        let saved: Value =
            serde_json::from_str(&stdout(&test(&["--save", "--thread", "mine", "--json"])))
                .unwrap();
        assert_eq!(saved["saved"]["number"], 0, "{saved}");
        assert_eq!(saved["extraction"]["rung"], "strict");
        let shown = program(
            dir.path(),
            &["checkpoint", "show", "--store", store, "--json"],
        );
        let shown: Value = serde_json::from_str(&stdout(&shown)).unwrap();
        let body: Value = serde_json::from_str(shown["record"]["body"].as_str().unwrap()).unwrap();
        assert_eq!(
            (&shown["thread"], &body),
            (&Value::from("mine"), &saved["checkpoint"])
        );
        assert!(shown["record"]["created_at_ms"].is_i64());

        let failed = test(&["--model", "mock+empty=1"]);
        assert_eq!(failed.status.code(), Some(1));
        assert!(
            stderr(&failed).contains("no checkpoint"),
            "{}",
            stderr(&failed)
        );
        let wrong = test(&["-s", "chained"]);
        assert!(
            stderr(&wrong).contains("`chained` writes no checkpoint before a turn"),
            "{}",
            stderr(&wrong)
        );
        let again = test(&["--save", "--thread", "mine"]);
        assert_eq!(again.status.code(), Some(2), "{}", stderr(&again));
        assert!(
            stderr(&again).contains("nothing was said since"),
            "{}",
            stderr(&again)
        );
    }
}

#[test]
fn decisions_are_told_on_stderr_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("short.toml"), SPEC).unwrap();
    let run = |more: &[&str]| {
        let args = [
            &[
                "run",
                "short.toml",
                "-s",
                "middleware-checkpoint",
                "-q",
                "--out",
                "out",
            ],
            more,
        ]
        .concat();
        let output = program(dir.path(), &args);
        std::fs::remove_dir_all(dir.path().join("out")).unwrap();
        stderr(&output)
    };
    assert_eq!(run(&[]), "");
    let told = run(&["-v"]);
    assert!(
        told.contains("compaction applied")
            && told.contains("checkpoint written")
            && !told.contains("call answered"),
        "{told}"
    );
    assert!(run(&["-vv"]).contains("call answered"));
}

/// A folder with a run of `handoff` that keeps notes, in both stores' forms; gives the thread.
fn noted(store: &str) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("short.toml"), SPEC).unwrap();
    let args = [
        "run",
        "short.toml",
        "-s",
        "handoff",
        "--out",
        "out",
        "--store",
        store,
        "-q",
    ];
    stdout(&program(dir.path(), &args));
    let threads = stdout(&program(
        dir.path(),
        &["checkpoint", "history", "--store", store, "--json"],
    ));
    let thread = serde_json::from_str::<Value>(&threads).unwrap()["thread"]
        .as_str()
        .unwrap()
        .to_owned();
    (dir, thread)
}

#[test]
fn notes_are_found_and_a_memory_document_is_kept() {
    for store in STORES {
        let (dir, thread) = noted(store);
        let run = |args: &[&str]| {
            program(
                dir.path(),
                &[&["checkpoint"], args, &["--store", store]].concat(),
            )
        };
        // A word of a note finds that note, and it says where it comes from.
        let all: Value = serde_json::from_str(&stdout(&run(&[
            "search",
            "the a of in and",
            "-n",
            "500",
            "--json",
        ])))
        .unwrap();
        let notes = all["notes"].as_array().unwrap();
        assert!(notes.len() > 10, "{store}: {}", notes.len());
        let text = notes[3]["text"].as_str().unwrap();
        let word = text
            .split(|letter: char| !letter.is_alphanumeric())
            .max_by_key(|word| word.len())
            .unwrap();
        let found = stdout(&run(&["search", word, "-n", "1"]));
        assert!(
            found.contains(" notes, best first\n")
                && found.to_lowercase().contains(&word.to_lowercase()),
            "{word}: {found}"
        );
        assert!(
            found.contains(": 1 of ") && found.contains("message"),
            "{found}"
        );
        let nothing = stdout(&run(&["search", "zzzzunheardof"]));
        assert!(
            nothing.contains("shares a word with the query"),
            "{nothing}"
        );
        // Another script.
        assert!(stdout(&run(&["search", "港口號碼"])).contains("shares a word"));

        assert!(
            stderr(&run(&["memory"])).contains("has no memory document; `--set FILE` gives it one")
        );
        std::fs::write(
            dir.path().join("MEMORY.md"),
            "# Memory\n- call Ada: 港口 8443\n",
        )
        .unwrap();
        assert!(
            stdout(&run(&["memory", "--set", "MEMORY.md"]))
                .contains(&format!("thread {thread} has a memory document of"))
        );
        assert_eq!(
            stdout(&run(&["memory"])),
            "# Memory\n- call Ada: 港口 8443\n"
        );
        // What cannot be one changes nothing.
        std::fs::write(dir.path().join("large.md"), vec![b'a'; (1 << 20) + 1]).unwrap();
        let large = run(&["memory", "--set", "large.md"]);
        assert!(
            large.status.code() == Some(2)
                && stderr(&large).contains("larger than 1 MiB, the limit for a memory document")
        );
        std::fs::write(dir.path().join("latin.md"), b"caf\xe9").unwrap();
        assert!(stderr(&run(&["memory", "--set", "latin.md"])).contains("is not UTF-8"));
        assert_eq!(
            stdout(&run(&["memory"])),
            "# Memory\n- call Ada: 港口 8443\n"
        );
        // A thread that a host has yet to open may have one.
        assert!(
            stdout(&run(&[
                "memory",
                "--set",
                "MEMORY.md",
                "--thread",
                "telegram:7"
            ]))
            .contains("telegram:7")
        );
    }
    let dir = tempfile::tempdir().unwrap();
    let missing = program(
        dir.path(),
        &["checkpoint", "search", "port", "--store", "none.db"],
    );
    assert!(missing.status.code() == Some(2) && stderr(&missing).contains("no store at `none.db`"));
}
