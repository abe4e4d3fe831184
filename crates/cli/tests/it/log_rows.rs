//! Rows of a log that are no turns of a chat: sessions with one of them go into `losses`, and what
//! a person reads comes out.

use std::process::Command;

use serde_json::{Value, json};

/// A session of Claude Code that grows row by row, ten seconds apart.
struct Log {
    rows: Vec<Value>,
}

impl Log {
    fn new() -> Self {
        let mut log = Log { rows: Vec::new() };
        log.user("Look at commit 7f3a91c of the refund service.");
        log.call("git show 7f3a91c", "rf_9d2c71 is the case");
        log
    }

    fn row(&mut self, kind: &str, more: Value) {
        let number = self.rows.len();
        let parent = number.checked_sub(1).map(|before| format!("row-{before}"));
        let mut row = json!({
            "type": kind, "uuid": format!("row-{number}"), "parentUuid": parent, "sessionId": "s-1",
            "cwd": "/home/ann/shop", "timestamp": format!("2026-03-01T10:{:02}:{:02}Z", number / 6, number % 6 * 10),
        });
        row.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        self.rows.push(row);
    }

    fn user(&mut self, text: &str) {
        self.row(
            "user",
            json!({"message": {"role": "user", "content": text}}),
        );
    }

    fn call(&mut self, command: &str, result: &str) {
        let id = format!("t{}", self.rows.len());
        let call =
            json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]);
        let usage =
            json!({"input_tokens": 1000, "output_tokens": 20, "cache_read_input_tokens": 90_000});
        self.row("assistant", json!({"message": {"role": "assistant", "model": "claude-haiku-4-5-20251001", "content": call, "usage": usage}}));
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": result}]);
        self.row(
            "user",
            json!({"message": {"role": "user", "content": result}}),
        );
    }

    /// A boundary, and a summary if there is one.
    fn compact(&mut self, summary: Option<&str>) {
        self.row("system", json!({"subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", "preTokens": 600}}));
        if let Some(summary) = summary {
            let text =
                format!("This session is being continued from a previous conversation.\n{summary}");
            self.row(
                "user",
                json!({"message": {"role": "user", "content": text}, "isCompactSummary": true}),
            );
        }
        self.user("Go on.");
    }

    /// What `losses` prints, with its exit code.
    fn losses(&self) -> (String, i32) {
        let dir = tempfile::tempdir().unwrap();
        let lines = self.rows.iter().map(|row| format!("{row}\n"));
        std::fs::write(dir.path().join("s-1.jsonl"), lines.collect::<String>()).unwrap();
        losses(&dir.path().join("s-1.jsonl"))
    }
}

fn losses(file: &std::path::Path) -> (String, i32) {
    let done = Command::new(env!("CARGO_BIN_EXE_compactometer"))
        .arg("losses")
        .arg(file)
        .env("COLUMNS", "200")
        .output()
        .unwrap();
    let told = [done.stdout, done.stderr].concat();
    (
        String::from_utf8(told).unwrap(),
        done.status.code().unwrap(),
    )
}

#[test]
fn what_a_program_says_again_is_not_said_by_a_user() {
    let again = |row: Value| {
        let mut log = Log::new();
        log.compact(Some("A refund was looked at."));
        log.row("user", row);
        log.call("git log 7f3a91c", "one commit");
        log.losses().0
    };
    let text = "The case 7f3a91c is done.";
    let message = |text: &str| json!({"message": {"role": "user", "content": text}});
    assert!(again(message(text)).contains("Users said 1 lost value again"));
    let mut meta = message(text);
    meta["isMeta"] = true.into();
    let mut origin = message(text);
    origin["origin"] = json!({"kind": "task-notification"});
    for row in [
        meta,
        origin,
        message(&format!(
            "<local-command-stdout>{text}</local-command-stdout>"
        )),
        message(&format!("<task-notification>{text}</task-notification>")),
    ] {
        assert!(!again(row.clone()).contains("Users said"), "{row}");
    }
}

#[test]
fn a_message_that_was_sent_while_the_agent_worked_is_one_of_the_user() {
    let mut log = Log::new();
    let queued =
        json!({"type": "queued_command", "prompt": "use tenant tn_58213", "commandMode": "prompt"});
    log.row("attachment", json!({"attachment": queued}));
    log.call("ls", "src");
    log.user("And now?");
    log.compact(Some("A refund was looked at."));
    log.call("deploy tn_58213", "done");
    let (told, _) = log.losses();
    assert!(told.contains("`tn_58213`, for `Bash.command`"), "{told}");
}

#[test]
fn a_compaction_that_left_no_summary_is_said_before_any_share() {
    let with = |summary: Option<&str>| {
        let mut log = Log::new();
        log.compact(summary);
        log.call("git log 7f3a91c", "one commit");
        let (told, code) = log.losses();
        assert_eq!(code, 0, "{told}");
        let open = "Of the requests that were open: 0 of 1 needed value";
        assert!(told.contains(open), "{told}");
        told
    };
    let nothing = with(None);
    assert!(nothing.contains("1 compaction left nothing\n"), "{nothing}");
    let error = with(Some("API Error: 529 overloaded"));
    assert!(
        error.contains("1 compaction left the error of a server in place of a summary\n"),
        "{error}"
    );
    assert!(!with(Some("A refund was looked at.")).contains("left nothing"));
}

#[test]
fn what_a_resume_left_behind_is_said() {
    let mut log = Log::new();
    let before = json!(format!("row-{}", log.rows.len() - 1));
    log.compact(Some("A refund was looked at."));
    log.call("ls", "src");
    log.user("Start again.");
    log.rows.last_mut().unwrap()["parentUuid"] = before;
    log.call("git show 7f3a91c", "rf_9d2c71 is the case");
    log.compact(Some("A refund was looked at."));
    log.call("git show 7f3a91c", "rf_9d2c71 is the case");
    let (told, _) = log.losses();
    for line in [
        "1 compaction left out: the session went on from before it and left 3 messages behind\n",
        "1 of 1 compaction freed under a fifth of the request's tokens, as reported\n",
        "A ledger by its tokens: 100 % with 600, 100 % with 900, 100 % with 1,800\n",
    ] {
        assert!(told.contains(line), "{told}");
    }
}

#[test]
fn compactions_that_follow_each_other_at_once_are_said() {
    let mut log = Log::new();
    for _ in 0..5 {
        log.compact(Some("A refund was looked at."));
        log.call("ls", "src");
    }
    let (told, _) = log.losses();
    assert!(
        told.contains("5 compactions in 4 calls of one session"),
        "{told}"
    );
    let mut log = Log::new();
    for _ in 0..5 {
        log.compact(Some("A refund was looked at."));
        (0..8).for_each(|_| log.call("ls", "src"));
    }
    assert!(!log.losses().0.contains("at once"));
}

#[test]
fn results_that_were_cleared_are_counted() {
    let mut log = Log::new();
    log.row("system", json!({"subtype": "microcompact_boundary", "microcompactMetadata": {"compactedToolIds": ["t1", "t2", "t3"]}}));
    log.user("Go on.");
    let (told, code) = log.losses();
    assert!(
        told.contains("3 results cleared beside compactions"),
        "{told}"
    );
    assert_eq!(code, 2, "there is no compaction");
}

/// A result that was cleared is out of sight at once, and one that a compaction keeps stays so.
#[test]
fn what_was_cleared_is_out_of_sight() {
    let told = |clear: &dyn Fn(&mut Log), between: &str| {
        let mut log = Log::new();
        log.call("cat notes", "The ticket is TCK-81342.");
        clear(&mut log);
        log.user(between);
        log.call("track TCK-81342", "open");
        log.losses().0
    };
    let clear = |log: &mut Log| {
        let id = format!("t{}", log.rows.len() - 2);
        log.row("system", json!({"subtype": "microcompact_boundary", "microcompactMetadata": {"compactedToolIds": [id]}}));
    };
    let line = "1 result cleared beside compactions";
    let lost = told(&clear, "Go on.");
    assert!(
        lost.contains(&format!(
            "{line}: calls then needed 1 value in them, and 0 were held elsewhere"
        )),
        "{lost}"
    );
    let again = told(&clear, "Go on with TCK-81342.");
    assert!(again.contains(&format!("{line}\n")), "{again}");
    let kept = |clear: &dyn Fn(&mut Log)| {
        let mut log = Log::new();
        log.call("cat notes", "The ticket is TCK-81342.");
        let uuids = [3, 4].map(|row| format!("row-{row}"));
        clear(&mut log);
        log.row("system", json!({"subtype": "compact_boundary", "compactMetadata": {"trigger": "auto", "preservedMessages": {"uuids": uuids}}}));
        log.row("user", json!({"message": {"role": "user", "content": "A ticket was looked at."}, "isCompactSummary": true}));
        log.user("Go on.");
        log.call("track TCK-81342", "open");
        log.losses().0
    };
    let missing = "Not held when they were needed: 1";
    assert!(!kept(&|_| ()).contains(missing), "{}", kept(&|_| ()));
    assert!(kept(&clear).contains(missing), "{}", kept(&clear));
    let edited = |log: &mut Log| {
        let reply = json!({"role": "assistant", "content": [{"type": "text", "text": "I go on."}],
            "context_management": {"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 2}]}});
        (0..2).for_each(|_| log.row("assistant", json!({"message": reply})));
    };
    let edited = told(&edited, "Go on.");
    assert!(
        edited.contains("2 results cleared beside compactions\n"),
        "{edited}"
    );
}

#[test]
fn a_value_that_the_summary_altered_is_shown_where_a_call_fails_on_it() {
    let with = |result: &str| {
        let mut log = Log::new();
        log.compact(Some("A refund of commit 7f3a91d was looked at."));
        log.call("git log 7f3a91d", result);
        log.losses().0
    };
    let told = with("fatal: bad object 7f3a91d");
    let line = "The summary wrote `7f3a91d` for `7f3a91c`, and the call in message 5 failed on it";
    assert!(told.contains(line), "{told}");
    assert!(!with("one commit").contains("The summary wrote"));
}

#[test]
fn costs_are_those_of_the_sessions_own_model() {
    let mut log = Log::new();
    log.compact(Some("A refund was looked at."));
    log.call("git log 7f3a91c", "one commit");
    let (told, _) = log.losses();
    assert!(told.contains("(prices of claude-haiku-4-5, "), "{told}");
    let mut other = Log { rows: log.rows };
    for row in &mut other.rows {
        if row["type"] == "assistant" {
            row["message"]["model"] = "a-model-of-ours".into();
        }
    }
    let (told, _) = other.losses();
    assert!(!told.contains('$'), "{told}");
    assert!(
        told.contains("costs of `a-model-of-ours`, whose prices are not known"),
        "{told}"
    );
}

/// Small inputs with the right value, as users met them: a file, what `losses` says, and what it
/// must not say.
const CASES: &[(&str, &str, &str)] = &[
    (
        "altered-value/fabricated.jsonl",
        "The summary wrote `7f3a91d` for `7f3a91c`",
        "\0",
    ),
    (
        "context-rows-queued/queued.jsonl",
        "Not held when they were needed: 2",
        "\0",
    ),
    (
        "codex-response-end/cx-plain.jsonl",
        "`7f3a91c`, for `shell_command.command` in message 10",
        "\0",
    ),
    ("hash-forms/sha.jsonl", "100 %", "Not held"),
    ("one-segment-folder/onesegment.jsonl", "100 %", "Not held"),
    (
        "preserved-tail/preserved.jsonl",
        "1 compaction in 1 session",
        "does not hold",
    ),
    (
        "mostly-dropped-stream-json/stream.jsonl",
        "1 compaction in 1 session",
        "\0",
    ),
    (
        "unknown-block/anthropic-compaction.json",
        "1 compaction in 1 session",
        "\0",
    ),
    (
        "context-rows-queued/queued-control.jsonl",
        "Not held when they were needed: 2",
        "\0",
    ),
    (
        "live-request/live.jsonl",
        "Of the requests that were open: 0 of ",
        "\0",
    ),
    ("microcompact/micro.jsonl", "3 results cleared", "\0"),
    ("path-with-space/spaces.jsonl", "100 %", "Not held"),
    (
        "slashed-words/slash.jsonl",
        "No later call needed",
        "COLLABORATOR",
    ),
    ("prices/price.jsonl", "prices of claude-haiku-4-5", "sonnet"),
    (
        "script-boundary/cjk.jsonl",
        "as the log shows                          100 %",
        "Not held",
    ),
    (
        "script-boundary/cjkid.jsonl",
        "as the log shows                          100 %",
        "Not held",
    ),
    ("thrash/thrash.jsonl", "6 compactions in 5 calls", "\0"),
    (
        "total-loss/nosummary.jsonl",
        "1 compaction left nothing",
        "\0",
    ),
    (
        "total-loss/errsummary.jsonl",
        "1 compaction left the error of a server",
        "\0",
    ),
    (
        "user-rows-not-by-users/tasknote.jsonl",
        "1 compaction in 1 session",
        "Users said",
    ),
];

#[test]
fn the_cases_of_users_have_their_right_values() {
    let Some(data) = super::shared_data::data() else {
        return;
    };
    for (file, said, unsaid) in CASES {
        let (told, _) = losses(&data.join("cases/sessions").join(file));
        assert!(told.contains(said), "{file}: {told}");
        assert!(!told.contains(unsaid), "{file}: {told}");
    }
}

#[test]
fn a_file_that_is_refused_is_named_after_the_others_were_read() {
    let mut log = Log::new();
    log.compact(Some("A refund was looked at."));
    log.call("git log 7f3a91c", "one commit");
    let dir = tempfile::tempdir().unwrap();
    let text = |rows: &[Value]| {
        rows.iter()
            .map(|row| format!("{row}\n"))
            .collect::<String>()
    };
    let (good, bad) = (dir.path().join("s-1.jsonl"), dir.path().join("bad.txt"));
    std::fs::write(&good, text(&log.rows)).unwrap();
    std::fs::write(&bad, "a letter\n").unwrap();
    // Rows of which nearly all are dropped.
    let torn = dir.path().join("torn.jsonl");
    let wrong = json!({"type": "assistant", "uuid": "x", "message": {"role": "user"}});
    let mut rows = log.rows.clone();
    rows.extend(std::iter::repeat_n(wrong, 30));
    std::fs::write(&torn, text(&rows)).unwrap();

    let run = |files: &[&std::path::Path]| {
        let done = Command::new(env!("CARGO_BIN_EXE_compactometer"))
            .arg("losses")
            .args(files)
            .output()
            .unwrap();
        let told = [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap());
        (done.status.code(), told)
    };
    let (code, [said, error]) = run(&[&bad, &good, &torn]);
    assert_eq!(code, Some(2), "{error}");
    assert!(said.contains("1 compaction in 1 session"), "{said}");
    for told in [
        "2 of 3 files were left out",
        "bad.txt",
        "torn.jsonl",
        "30 of ",
        "--lenient",
    ] {
        assert!(error.contains(told), "{told}: {error}");
    }
    let strict = Command::new(env!("CARGO_BIN_EXE_compactometer"))
        .current_dir(dir.path())
        .args([
            "import",
            "--strict",
            "--out",
            "out.jsonl",
            "s-1.jsonl",
            "torn.jsonl",
        ])
        .output()
        .unwrap();
    assert_eq!(strict.status.code(), Some(2));
    assert!(
        !dir.path().join("out.jsonl").exists(),
        "a strict import leaves out no file"
    );
    let (code, [said, error]) = run(&[&torn]);
    assert!(code == Some(2) && said.is_empty(), "{said}");
    assert!(
        error.contains("rows were dropped, 30 of them as"),
        "{error}"
    );
}

#[test]
fn a_session_in_utf_16_is_read() {
    let mut log = Log::new();
    log.compact(Some("A refund was looked at."));
    log.call("git log 7f3a91c", "one commit");
    let text = log
        .rows
        .iter()
        .map(|row| format!("{row}\n"))
        .collect::<String>();
    let dir = tempfile::tempdir().unwrap();
    for (mark, bytes) in [
        (0xfeff_u16, u16::to_le_bytes as fn(u16) -> [u8; 2]),
        (0xfeff, u16::to_be_bytes),
    ] {
        let units = std::iter::once(mark).chain(text.encode_utf16());
        let file = dir.path().join("s-1.jsonl");
        std::fs::write(&file, units.flat_map(bytes).collect::<Vec<u8>>()).unwrap();
        assert_eq!(losses(&file), log.losses());
    }
}

#[test]
fn a_block_of_a_new_type_changes_no_format_and_calls_without_a_result_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let import = |name: &str, messages: &Value, more: &[&str]| {
        std::fs::write(dir.path().join(name), messages.to_string()).unwrap();
        let done = Command::new(env!("CARGO_BIN_EXE_compactometer"))
            .current_dir(dir.path())
            .args(["import", name, "--out", "out.jsonl", "--force"])
            .args(more)
            .output()
            .unwrap();
        (
            done.status.code().unwrap(),
            String::from_utf8([done.stdout, done.stderr].concat()).unwrap(),
        )
    };
    let user = |content: Value| json!({"role": "user", "content": content});
    let agent = |content: Value| json!({"role": "assistant", "content": content});
    let call =
        |id: &str| json!({"type": "tool_use", "id": id, "name": "read", "input": {"path": "a.rs"}});
    let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "fn main"});
    for kind in [
        "compaction",
        "server_tool_use",
        "mcp_tool_use",
        "container_upload",
        "a_block_of_tomorrow",
    ] {
        let new = json!({"type": kind, "content": "A summary."});
        let messages = json!({"messages": [
            user(json!("Go.")), agent(json!([new, call("1")])), user(json!([result("1")])), agent(json!("Done.")),
        ]});
        let (code, told) = import("blocks.json", &messages, &[]);
        assert!(code == 0 && told.contains(kind), "{kind}: {told}");
    }
    let text =
        |id: &str| json!([{"type": "text", "text": format!("The result of {id} is fn main.")}]);
    let turns = ["1", "2", "3"]
        .iter()
        .flat_map(|id| [agent(json!([call(id)])), user(text(id))]);
    let messages = Value::from_iter(std::iter::once(user(json!("Go."))).chain(turns));
    let (code, told) = import("history.json", &messages, &[]);
    assert!(
        code == 2 && told.contains("none of its 3 calls has a result"),
        "{told}"
    );
    assert_eq!(import("history.json", &messages, &["--lenient"]).0, 0);
}

/// The first summary has the rule in other words and order, the second one does not have it, and
/// what programs, commands, pasted output and quotes say is not a person's.
#[test]
fn what_a_person_said_is_followed_through_compactions() {
    let mut log = Log::new();
    log.user("Never push the invoice branch without asking Ann.\n> Quoted words of the old ticket here.\nyes");
    log.row("user", json!({"isMeta": true, "message": {"role": "user", "content": "A reminder of the program about todo lists."}}));
    log.call("ls src", "a.rs");
    log.compact(Some("- Ask Ann before the invoice branch is pushed."));
    log.call("ls src", "a.rs");
    log.compact(Some("Nothing else was noted."));
    let told = log.losses().0;
    let said = told.split("Of your sentences").nth(1).expect("the section");
    assert!(
        said.contains("one compaction  50 % of 2; 100 % of 1 rule"),
        "{told}"
    );
    assert!(
        said.contains("two             0 % of 2; 0 % of 1 rule"),
        "{told}"
    );
    assert!(said.contains("with a ledger   100 %, 100 %\n"), "{told}");
    assert!(
        said.contains("gone: “Never push the invoice branch without asking Ann.”"),
        "{told}"
    );
    assert!(
        !said.contains("Quoted words") && !said.contains("reminder of the program"),
        "{told}"
    );
}
