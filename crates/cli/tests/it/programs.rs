//! Strategies that run as programs: what they are asked, what a suite says of them, and every way
//! in which one can misbehave. The programs are shell scripts, so these tests need no interpreter.

use std::path::Path;
use std::time::{Duration, Instant};

use assert_cmd::Command;
use compactometer_testing::hostile::{HostileProgram, corpus};
use serde_json::Value;

use crate::common::{lines, records, succeeds};

const SPEC: &str = "name = \"tiny\"\nseed = 4\nwindow = 4000\ndomains = [\"research\"]\nconversations = 1\n\
                    lengths = [9000]\nfacts = [20, 20]\npoints = [4, 5]\n";
const HELLO: &str = r#"echo '{"type":"hello","protocol":1,"name":"test","version":"7","parameters":[{"name":"keep","default":3}]}'"#;
const READY: &str =
    r#"read -r line || exit 0; printf '%s\n' "$line" >> asked; echo '{"type":"ready"}'"#;

fn folder() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("tiny.toml"), SPEC).unwrap();
    dir
}

/// A program that answers every compaction with this line.
fn answers(answer: &str) -> String {
    format!(
        "{HELLO}\n{READY}\nwhile read -r line; do printf '%s\\n' \"$line\" >> asked; echo '{answer}'; done\n"
    )
}

fn write(dir: &Path, name: &str, script: &str) {
    std::fs::write(dir.join(name), script).unwrap();
}

fn run(dir: &Path, rows: &str, out: &str) -> std::process::Output {
    let args = ["run", "tiny.toml", "-s", rows, "--out", out, "-q"];
    Command::cargo_bin("compactometer")
        .unwrap()
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap()
}

/// The error of a command that cannot be used.
fn refused(dir: &Path, rows: &str) -> String {
    let output = run(dir, rows, "refused");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(!dir.join("refused").exists(), "nothing is written");
    error
}

/// Why the first compaction of `x` was not applied, and how many were.
fn failure(dir: &Path, out: &str) -> (String, usize) {
    let records = records(dir, out);
    let own = records
        .iter()
        .filter(|record| record["case"]["strategy"] == "x");
    let made = own
        .flat_map(|record| record["compactions"].as_array().cloned().unwrap())
        .collect::<Vec<Value>>();
    let applied = made
        .iter()
        .filter(|made| made["outcome"]["outcome"] == "applied")
        .count();
    (made[0]["outcome"].to_string(), applied)
}

#[test]
fn a_program_is_asked_and_its_answers_are_the_view() {
    let dir = folder();
    let dir = dir.path();
    // Everything from the second message on leaves for a text.
    let edit = r#"{"type":"compacted","edits":[{"from":"m2","to":"m3","with":[{"text":"They greeted."}]}],"keep":"state"}"#;
    write(dir, "mine.sh", &answers(edit));
    let output = run(dir, "exec:\"sh mine.sh\":keep=5,full", "run");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let asked = lines(dir, "asked");
    assert_eq!(
        (&asked[0]["type"], &asked[0]["parameters"]["keep"]),
        (&"configure".into(), &5.into())
    );
    assert!(
        asked[0]["model"]["base_url"]
            .as_str()
            .unwrap()
            .starts_with("http://127.0.0.1:")
    );
    let compact = &asked[1];
    assert_eq!(
        (&compact["type"], &compact["reason"]),
        (&"compact".into(), &"trigger".into())
    );
    let messages = compact["messages"].as_array().unwrap();
    assert_eq!(messages[0]["fixed"], true, "the system prompt stays");
    let tokens = messages
        .iter()
        .map(|message| message["tokens"].as_u64().unwrap())
        .sum::<u64>();
    assert!(tokens <= compact["request_tokens"].as_u64().unwrap());
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(dir.join("run/manifest.json")).unwrap()).unwrap();
    // Without an alias the row has the name of the file, and its version is a field.
    assert_eq!(manifest["strategies"][0], "mine");
    assert_eq!(
        manifest["settings"]["mine"],
        serde_json::json!({"base": "mine", "version": "7", "parameters": {"keep": "5"}})
    );
}

#[test]
fn what_cannot_be_used_is_refused_before_anything_is_run() {
    let dir = folder();
    let dir = dir.path();
    assert!(refused(dir, "x=exec:no-such-command").contains("the command was not found"));
    write(dir, "plain.sh", HELLO);
    assert!(refused(dir, "x=exec:./plain.sh").contains("the command cannot be run"));
    assert!(refused(dir, "x=exec:").contains("name a command"));
    assert!(refused(dir, "x=exec:'sh good.sh'").contains("write `exec:\"sh good.sh\"`"));
    assert!(refused(dir, "x=exec:echo Loading").contains("it wrote `Loading` before its hello"));
    write(
        dir,
        "old.sh",
        &HELLO.replace(r#""protocol":1"#, r#""protocol":9"#),
    );
    assert!(
        refused(dir, "x=exec:sh old.sh")
            .contains("it speaks version 9 of the protocol, and this program version 1")
    );
    write(dir, "dies.sh", "echo no module named x >&2\nexit 3\n");
    assert!(
        refused(dir, "x=exec:sh dies.sh")
            .contains("it ended with code 3; its last words: no module named x")
    );
    write(dir, "good.sh", &answers(r#"{"type":"skip"}"#));
    assert!(
        refused(dir, "x=exec:\"sh good.sh\":kep=5")
            .contains("`test` has no parameter `kep`; choose from `keep`, `seconds`, `memory`")
    );
    assert!(
        refused(dir, "x=exec:\"sh good.sh\":keep=many")
            .contains("`keep` is `many`; its default is `3`")
    );
    for taken in ["ledger", "when", "seconds"] {
        write(
            dir,
            "taken.sh",
            &HELLO.replace("\"keep\"", &format!("\"{taken}\"")),
        );
        let error = refused(dir, "x=exec:sh taken.sh");
        assert!(
            error.contains(&format!(
                "it has a parameter `{taken}`, which every program has already"
            )),
            "{error}"
        );
    }
    let twice = refused(dir, "x=exec:\"sh good.sh\",x=exec:\"sh good.sh\":keep=9");
    assert!(
        twice.contains("`x` names two strategies with different settings"),
        "{twice}"
    );
    assert!(refused(dir, "chained=exec:sh good.sh").contains("`chained` cannot name a row"));
}

/// A file from elsewhere names strategies too, and must not run anything.
#[test]
fn only_the_command_line_runs_programs() {
    let dir = folder();
    let dir = dir.path();
    write(
        dir,
        "compactometer.toml",
        "strategy = \"x=exec:touch ran\"\n",
    );
    let error = refused(dir, "full");
    assert!(
        error.contains("runs a program (`exec:`), which only `--strategy` or"),
        "{error}"
    );
    std::fs::remove_file(dir.join("compactometer.toml")).unwrap();
    std::fs::create_dir(dir.join("tape")).unwrap();
    write(
        &dir.join("tape"),
        "recording.toml",
        "rows = [\"x=exec:touch ran\"]\n",
    );
    let args = [
        "run",
        "tiny.toml",
        "--model",
        "cassette:tape",
        "--out",
        "replayed",
        "-q",
    ];
    let output = Command::cargo_bin("compactometer")
        .unwrap()
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && error.contains("runs a program, which only `-s` may name"),
        "{error}"
    );
    assert!(!dir.join("ran").exists());
}

#[test]
fn each_misbehaviour_is_a_failure_of_its_compaction_with_the_reason() {
    let dir = folder();
    let dir = dir.path();
    for HostileProgram {
        id,
        answer,
        then,
        outcome,
    } in corpus().program
    {
        let script = match (answer, then) {
            (Some(answer), None) => answers(&answer),
            (None, Some(then)) => format!("{HELLO}\n{}\n", then.replace("{ready}", READY)),
            other => panic!("{id} has one of `answer` and `then`: {other:?}"),
        };
        write(dir, "bad.sh", &script);
        let output = run(dir, "x=exec:\"sh bad.sh\",full", &id);
        assert!(
            output.status.success(),
            "{id}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let (reason, applied) = failure(dir, &id);
        assert!(reason.contains(&outcome), "{id}: {reason}");
        assert_eq!(applied, 0, "{id}");
    }
    // The first screen has the reason.
    write(dir, "bad.sh", &answers("garbage"));
    let screen = succeeds(
        dir,
        &[
            "compare",
            "tiny.toml",
            "-s",
            "x=exec:\"sh bad.sh\",summarize,full",
            "--out",
            "shown",
            "-q",
        ],
    );
    assert!(
        screen.contains("x*") && screen.contains("program failed: it wrote `garbage`"),
        "{screen}"
    );
}

/// A call without its result, and a result without its call.
#[test]
fn views_that_tear_calls_and_results_apart_are_refused() {
    let dir = folder();
    let dir = dir.path();
    succeeds(dir, &["generate", "tiny.toml", "--out", "tiny.jsonl"]);
    let scenario = &lines(dir, "tiny.jsonl")[1];
    let messages = scenario["messages"].as_array().unwrap();
    let result = messages
        .iter()
        .find(|message| message["role"] == "tool")
        .unwrap()["id"]
        .as_u64()
        .unwrap();
    let torn = format!(
        r#"{{"type":"compacted","edits":[{{"from":"m{}","to":"m{}"}}]}}"#,
        result - 1,
        result - 1
    );
    write(dir, "torn.sh", &answers(&torn));
    assert!(run(dir, "x=exec:\"sh torn.sh\"", "torn").status.success());
    let (reason, applied) = failure(dir, "torn");
    assert!(reason.contains("invalid_view") && applied == 0, "{reason}");
}

#[test]
fn lines_and_memory_have_limits() {
    let dir = folder();
    let dir = dir.path();
    let many = |bytes: u32| format!("head -c {bytes} /dev/zero | tr '\\0' x");
    write(
        dir,
        "long.sh",
        &format!(
            "{HELLO}\n{READY}\nread -r line\n{}\necho\n",
            many(70_000_000)
        ),
    );
    assert!(
        run(dir, "x=exec:\"sh long.sh\",full", "long")
            .status
            .success()
    );
    let (reason, _) = failure(dir, "long");
    assert!(
        reason.contains("it wrote a line of more than 67108864 bytes"),
        "{reason}"
    );
    let error = refused(dir, "x=exec:\"sh long.sh\":memory=0");
    assert!(
        error.contains("`memory` is `0`; it must be a whole number from 1 to"),
        "{error}"
    );
    if cfg!(target_os = "linux") {
        // Also the memory of what it starts.
        let greedy = format!(
            "{HELLO}\n{READY}\nread -r line\n(all=$({}); sleep 9)\n",
            many(90_000_000)
        );
        write(dir, "greedy.sh", &greedy);
        assert!(
            run(dir, "x=exec:\"sh greedy.sh\":memory=50,full", "greedy")
                .status
                .success()
        );
        let (reason, _) = failure(dir, "greedy");
        assert!(
            reason.contains("it used more than 50 MiB of memory"),
            "{reason}"
        );
    }
}

/// A row that asks another model looks cheap, and its summaries may be those of a better model.
#[test]
fn a_program_that_asks_past_its_model_says_so_or_fails() {
    let dir = folder();
    let dir = dir.path();
    let edit = r#"{"type":"compacted","edits":[{"from":"m2","to":"m9","with":[{"text":"They greeted."}]}]}"#;
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    let connects = answers(edit).replace(
        READY,
        &format!("exec 3<>/dev/tcp/127.0.0.1/{port}\n{READY}"),
    );
    write(dir, "sly.sh", &connects);
    if cfg!(target_os = "linux") {
        assert!(
            run(dir, "x=exec:\"bash sly.sh\",full", "sly")
                .status
                .success()
        );
        let (reason, applied) = failure(dir, "sly");
        let expected = format!("it is connected to 127.0.0.1:{port}, which is not its model");
        assert!(reason.contains(&expected) && applied == 0, "{reason}");
    }
    write(
        dir,
        "open.sh",
        &connects.replace(r#""version":"7""#, r#""version":"7","unmetered":true"#),
    );
    let rows = "x=exec:\"bash open.sh\",summarize,@controls";
    let screen = succeeds(
        dir,
        &["compare", "tiny.toml", "-s", rows, "--out", "open", "-q"],
    );
    assert!(
        screen.contains("x†") && screen.contains("it asks a model past the meter"),
        "{screen}"
    );
    let read = |name: &str| {
        serde_json::from_slice::<Value>(&std::fs::read(dir.join("open").join(name)).unwrap())
            .unwrap()
    };
    assert_eq!(read("manifest.json")["settings"]["x"]["unmetered"], true);
    let group = &read("summary.json")["groups"][0];
    let own = group["strategies"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == "x")
        .unwrap();
    assert_eq!(own["unmetered"], true);
    for metric in ["cost_usd", "cost_saving", "wait_ms_total"] {
        let value = &own["metrics"][metric];
        assert!(
            value["value"].is_null()
                && value["reason"].as_str().unwrap().contains("past the meter"),
            "{metric}: {value}"
        );
    }
    assert!(
        own["metrics"]["context_recall"]["value"].is_number(),
        "{own}"
    );
    // What its model read, nobody knows.
    assert!(
        own["fates"]["dropped_unseen"].as_f64().unwrap_or(0.0) == 0.0
            && own["fates"]["lost"].is_number(),
        "{own}"
    );
    let plots = std::fs::read_dir(dir.join("open/plots"))
        .unwrap()
        .map(|file| file.unwrap().path());
    let costs = plots.filter(|path| {
        path.file_name()
            .unwrap()
            .to_string_lossy()
            .ends_with("cost.csv")
    });
    let costs = costs
        .map(|path| std::fs::read_to_string(path).unwrap())
        .collect::<String>();
    assert!(
        costs.contains("\nsummarize,") && costs.contains("\nx,,,,,"),
        "no cost of `x` is drawn: {costs}"
    );
    let mut comparisons = group["comparisons"].as_array().unwrap().iter();
    let of_x = comparisons.find(|made| made["strategy"] == "x");
    assert_eq!(of_x.unwrap()["verdict"], "unmetered");
}

#[test]
fn a_stuck_program_fails_in_time_and_leaves_no_process() {
    let dir = folder();
    let dir = dir.path();
    let marker = format!("7{}", std::process::id());
    write(
        dir,
        "stuck.sh",
        &format!("{HELLO}\n{READY}\nread -r line\nsleep {marker} & sleep {marker}\n"),
    );
    let started = Instant::now();
    assert!(
        run(dir, "x=exec:\"sh stuck.sh\":seconds=1", "stuck")
            .status
            .success()
    );
    let (reason, _) = failure(dir, "stuck");
    assert!(
        reason.contains("it did not answer within 1 seconds"),
        "{reason}"
    );
    // It is asked once in a case, not at each of its compactions.
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{:?}",
        started.elapsed()
    );
    let left = std::process::Command::new("pgrep")
        .args(["-f", &format!("sleep {marker}")])
        .output();
    if let Ok(left) = left {
        assert!(left.stdout.is_empty(), "a process is left");
    }
}

/// Also one that goes on when its case, and with it the run, is over.
#[test]
fn no_program_outlives_the_run() {
    let dir = folder();
    let dir = dir.path();
    let marker = format!("8{}", std::process::id());
    write(
        dir,
        "stays.sh",
        &format!("{}sleep {marker}\n", answers(r#"{"type":"skip"}"#)),
    );
    assert!(run(dir, "x=exec:\"sh stays.sh\"", "run").status.success());
    if let Ok(left) = std::process::Command::new("pgrep")
        .args(["-f", &format!("sleep {marker}")])
        .output()
    {
        assert!(left.stdout.is_empty(), "a process is left");
    }
}

/// A session of its own is no way out.
#[test]
#[cfg(target_os = "linux")]
fn what_leaves_the_programs_session_is_ended_too() {
    let dir = folder();
    let daemon =
        "setsid sh -c 'echo $$ >> daemons; exec sleep 97' < /dev/null > /dev/null 2>&1 &\n";
    let script = daemon.to_owned() + &answers(r#"{"type":"skip"}"#);
    write(dir.path(), "d.sh", &script);
    let output = run(dir.path(), r#"x=exec:"sh d.sh""#, "out");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let started = std::fs::read_to_string(dir.path().join("daemons")).unwrap();
    let is_alive = |id: &&str| {
        std::fs::read_to_string(format!("/proc/{id}/cmdline")).is_ok_and(|line| line.contains("97"))
    };
    let alive = started.lines().filter(is_alive).count();
    assert!(alive == 0 && !started.is_empty(), "{alive} of {started}");
}

#[test]
fn a_program_gets_no_keys() {
    let dir = folder();
    let dir = dir.path();
    let script = format!("env > environment\n{}", answers(r#"{"type":"skip"}"#));
    write(dir, "curious.sh", &script);
    let args = [
        "run",
        "tiny.toml",
        "-s",
        "x=exec:sh curious.sh",
        "--out",
        "run",
        "-q",
    ];
    let mut command = Command::cargo_bin("compactometer").unwrap();
    command
        .current_dir(dir)
        .args(args)
        .env("ANTHROPIC_API_KEY", "sk-secret")
        .env("HF_TOKEN", "hf-secret");
    command.env("OPENAI_API_KEY", "sk-other").assert().success();
    let environment = std::fs::read_to_string(dir.join("environment")).unwrap();
    assert!(
        !environment.contains("secret") && !environment.contains("sk-other"),
        "{environment}"
    );
    assert!(
        environment.contains("OPENAI_BASE_URL=http://127.0.0.1:"),
        "{environment}"
    );
}

/// A changed program runs its cases again; the same one does not.
#[test]
fn cases_are_known_by_the_programs_content() {
    let dir = folder();
    let dir = dir.path();
    let keys = |script: &str, rows: &str, out: &str| {
        write(dir, "mine.sh", script);
        assert!(run(dir, rows, out).status.success());
        records(dir, out)
            .iter()
            .map(|record| record["key"].clone())
            .collect::<Vec<_>>()
    };
    let script = answers(r#"{"type":"skip"}"#);
    let first = keys(&script, "x=exec:\"sh mine.sh\"", "a");
    assert!(first[0].is_string(), "{first:?}");
    assert_eq!(keys(&script, "x=exec:\"sh mine.sh\"", "b"), first);
    assert_ne!(
        keys(
            &format!("{script}# changed\n"),
            "x=exec:\"sh mine.sh\"",
            "c"
        ),
        first
    );
    assert_ne!(keys(&script, "x=exec:\"sh mine.sh\":keep=4", "d"), first);
}

#[test]
fn a_ledger_can_be_added_to_a_program() {
    let dir = folder();
    let dir = dir.path();
    let edit = r#"{"type":"compacted","edits":[{"from":"m2","to":"m9","with":[{"text":"They greeted."}]}]}"#;
    write(dir, "mine.sh", &answers(edit));
    assert!(
        run(dir, "x=exec:\"sh mine.sh\":ledger=300", "run")
            .status
            .success()
    );
    let (reason, applied) = failure(dir, "run");
    assert!(applied > 0, "{reason}");
    let texts = lines(dir, "run/texts.jsonl")
        .iter()
        .map(Value::to_string)
        .collect::<String>();
    assert!(
        texts.contains("They greeted."),
        "the program's text is kept"
    );
}

/// A refused answer changes nothing, what it keeps included, and another process of the same case
/// would not know of it.
#[test]
fn what_a_program_keeps_comes_back_only_if_its_answer_was_applied() {
    let dir = folder();
    let dir = dir.path();
    let [grows, shrinks] = [
        r#""with":[{"id":"m2"},{"text":"And more."}]"#,
        r#""with":[{"text":"They greeted."}]"#,
    ];
    let line = |to: u32, with: &str, keep: &str| {
        format!(
            r#"{{"type":"compacted","edits":[{{"from":"m2","to":"m{to}",{with}}}],"keep":"{keep}"}}"#
        )
    };
    let asks = [line(2, grows, "refused"), line(9, shrinks, "applied")];
    let asks = asks
        .map(|answer| format!("read -r line; printf '%s\\n' \"$line\" >> asked; echo '{answer}'\n"))
        .concat();
    let rest = "while read -r line; do printf '%s\\n' \"$line\" >> asked; echo '{\"type\":\"skip\"}'; done\n";
    write(dir, "mine.sh", &format!("{HELLO}\n{READY}\n{asks}{rest}"));
    assert!(run(dir, "x=exec:\"sh mine.sh\"", "run").status.success());
    let asked = lines(dir, "asked")
        .into_iter()
        .filter(|asked| asked["type"] == "compact");
    let kept = asked.map(|asked| asked["kept"].clone()).collect::<Vec<_>>();
    assert!(
        kept.len() > 3 && kept[0].is_null() && kept[1].is_null(),
        "{kept:?}"
    );
    assert_eq!(kept.last(), Some(&"applied".into()));
    assert!(!kept.contains(&"refused".into()), "{kept:?}");
}

/// It evicts, and a strategy of the lists summarizes what is still too much.
#[test]
fn a_program_can_come_before_another_strategy() {
    let dir = folder();
    let dir = dir.path();
    let edit = r#"{"type":"compacted","edits":[{"from":"m4","to":"m5","with":[{"text":"They went on."}]}]}"#;
    write(dir, "mine.sh", &answers(edit));
    let rows = "exec:\"sh mine.sh\">summarize,y=exec:\"sh mine.sh\":keep=9>summarize:tail=500,summarize,@controls";
    let screen = succeeds(
        dir,
        &["compare", "tiny.toml", "-s", rows, "--out", "run", "-q"],
    );
    assert!(screen.contains("mine>summarize"), "{screen}");
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(dir.join("run/manifest.json")).unwrap()).unwrap();
    let settings = &manifest["settings"]["y"];
    assert_eq!(
        (&settings["base"], &settings["version"]),
        (&"mine>summarize".into(), &"7".into())
    );
    assert_eq!(
        (
            &settings["parameters"]["1.keep"],
            &settings["parameters"]["2.tail"]
        ),
        (&"9".into(), &"500".into())
    );
    let records = records(dir, "run");
    let own = records
        .iter()
        .filter(|record| record["case"]["strategy"] == "mine>summarize");
    let made = own
        .flat_map(|record| record["compactions"].as_array().cloned().unwrap())
        .collect::<Vec<Value>>();
    assert!(
        made.iter()
            .any(|made| made["outcome"]["outcome"] == "applied"),
        "{made:?}"
    );
    assert!(
        made.iter()
            .any(|made| !made["calls"].as_array().unwrap().is_empty()),
        "the second one asked its model"
    );
}

/// Only the user's own configuration gives a program a name.
#[test]
fn a_program_can_have_a_name() {
    let dir = folder();
    let dir = dir.path();
    write(dir, "mine.sh", &answers(r#"{"type":"skip"}"#));
    std::fs::create_dir_all(dir.join("config/compactometer")).unwrap();
    let strategies = dir.join("config/compactometer/strategies.toml");
    std::fs::write(
        &strategies,
        format!("theirs = \"sh {}\"\n", dir.join("mine.sh").display()),
    )
    .unwrap();
    let run = |rows: &str, out: &str| {
        let mut command = Command::cargo_bin("compactometer").unwrap();
        command
            .current_dir(dir)
            .env("XDG_CONFIG_HOME", dir.join("config"));
        command
            .args(["run", "tiny.toml", "-s", rows, "--out", out, "-q"])
            .output()
            .unwrap()
    };
    let done = run("theirs,x=theirs:keep=9,full", "run");
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let manifest = std::fs::read_to_string(dir.join("run/manifest.json")).unwrap();
    let names = &serde_json::from_str::<Value>(&manifest).unwrap()["strategies"];
    assert_eq!(*names, serde_json::json!(["theirs", "x", "full"]));
    assert!(
        !manifest.contains("mine.sh"),
        "no place on this machine is in the manifest: {manifest}"
    );
    std::fs::write(&strategies, "theirs = 3\n").unwrap();
    let refused = run("theirs", "refused");
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("each line must be `NAME = \"COMMAND\"`")
    );
}
