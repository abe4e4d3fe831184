//! Rows with a condition of their own for a compaction.

use std::path::Path;

use serde_json::Value;

use crate::common::{lines, records, succeeds};

const SPEC: &str = "name = \"tiny\"\nseed = 4\nwindow = 4000\ndomains = [\"research\"]\nconversations = 1\n\
                    lengths = [9000]\nfacts = [20, 20]\npoints = [4, 5]\n";

/// The last messages before each applied compaction of a row.
fn applied(dir: &Path, protocol: &str, row: &str) -> Vec<u64> {
    let records = records(dir, "run");
    let is_own = |record: &&Value| {
        record["case"]["strategy"] == row && record["case"]["protocol"] == protocol
    };
    let made = records
        .iter()
        .filter(is_own)
        .flat_map(|record| record["compactions"].as_array().cloned().unwrap());
    let applied = made.filter(|made| made["outcome"]["outcome"] == "applied");
    applied
        .map(|made| made["after"].as_u64().unwrap())
        .collect()
}

#[test]
fn published_limits_may_start_at_messages_turns_and_shares() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    succeeds(dir, &["generate", "tiny.toml", "--out", "tiny.jsonl"]);
    let scenario = &lines(dir, "tiny.jsonl")[1];
    let roles = scenario["messages"].as_array().unwrap().iter();
    let agent = roles
        .filter(|message| message["role"] == "assistant")
        .map(|message| message["id"].as_u64().unwrap());
    let agent = agent.collect::<Vec<_>>();
    let rows = "summarize,turns=summarize:when=9 turns,messages=summarize:when=30 messages,never=summarize:when=9 turns and 5000 messages,\
                either=summarize:when=5000 messages or 9 turns,half=summarize:when=50%,full";
    let run = [
        "compare",
        "tiny.toml",
        "-s",
        rows,
        "--protocol",
        "matched,published",
        "--scale",
        ".3",
        "--out",
        "run",
        "--notes",
        "-q",
    ];
    let screen = succeeds(dir, &run);
    let turns = applied(dir, "published", "turns");
    assert!(turns.len() > 2, "{turns:?}");
    let between = |first: u64, last: u64| {
        agent
            .iter()
            .filter(|id| (first..=last).contains(*id))
            .count()
    };
    assert_eq!(
        between(0, turns[0]),
        9,
        "the agent has taken nine turns when it is due"
    );
    assert!(
        turns
            .windows(2)
            .all(|pair| between(pair[0] + 1, pair[1]) >= 9),
        "{turns:?}"
    );
    assert_eq!(applied(dir, "published", "either"), turns);
    assert!(applied(dir, "published", "never").is_empty());
    // Ids begin with 1, and the first message is the system prompt.
    let messages = applied(dir, "published", "messages");
    assert!((31..=33).contains(&messages[0]), "{messages:?}");
    // A share is of the row's own window: half of it comes before its source's trigger.
    let (half, own) = (
        applied(dir, "published", "half"),
        applied(dir, "published", "summarize"),
    );
    assert!(
        !half.is_empty() && (own.is_empty() || half[0] != own[0]),
        "{half:?} {own:?}"
    );
    for row in ["turns", "messages", "never", "either", "half"] {
        assert_eq!(
            applied(dir, "matched", row),
            applied(dir, "matched", "summarize"),
            "{row}"
        );
    }
    let note = "parameters without effect here, since the run sets the context window, the trigger and the sizes \
                (`--protocol published` takes a strategy's own): `when=9 turns` of `turns`";
    assert!(
        screen
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .contains(note),
        "{screen}"
    );
    let manifest: Value =
        serde_json::from_slice(&std::fs::read(dir.join("run/manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["settings"]["half"]["parameters"]["when"], "50 %");
}

#[test]
fn off_is_off_under_every_protocol_and_what_changes_nothing_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let rows = "summarize,off=threshold-summary:enabled=false,never=handoff:threshold=0,wide=chained:window=64000,\
                near=chained:estimator=characters,short=chained:tail=4";
    let run = [
        "compare",
        "smoke",
        "-s",
        rows,
        "--sample",
        "2",
        "--protocol",
        "matched,published",
        "--scale",
        "0.18",
        "--out",
        "run",
        "--notes",
        "-q",
    ];
    let words = succeeds(dir, &run)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for protocol in ["matched", "published"] {
        assert!(
            !applied(dir, protocol, "summarize").is_empty(),
            "{protocol}"
        );
        for row in ["off", "never"] {
            assert!(
                applied(dir, protocol, row).is_empty(),
                "{row} under {protocol}"
            );
        }
    }
    let named = "`window=64000` of `wide`, `estimator=characters` of `near`";
    let named = named.split(", ").collect::<Vec<_>>();
    assert!(named.iter().all(|named| words.contains(named)), "{words}");
    assert!(
        !words.contains("of `short`") && !words.contains("of `off`"),
        "{words}"
    );
    let told = succeeds(
        dir,
        &[
            "doctor",
            "smoke",
            "-s",
            "summarize,wide=chained:window=64000",
        ],
    );
    let line =
        "warning  parameters without effect, since the run sets its limits: window of `wide`";
    assert!(told.contains(line), "{told}");
}

/// Times in the log decide, and the pause ends with the agent's next message.
#[test]
fn published_limits_may_start_after_a_pause() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    std::fs::write(dir.join("tiny.toml"), SPEC).unwrap();
    succeeds(dir, &["generate", "tiny.toml", "--out", "tiny.jsonl"]);
    let mut suite = lines(dir, "tiny.jsonl");
    let messages = suite[1]["messages"].as_array_mut().unwrap();
    let users = messages.iter().enumerate().skip(30);
    let users = users.filter(|(_, message)| message["role"] == "user");
    let pauses = users.map(|(at, _)| at).take(2).collect::<Vec<_>>();
    let last = messages[pauses[0] - 1]["id"].as_u64().unwrap();
    let mut now = 1_700_000_000_000_u64;
    for (at, message) in messages.iter_mut().enumerate() {
        // The user is away for 61 minutes, and later for 50.
        now += match pauses.iter().position(|pause| *pause == at) {
            Some(0) => 61 * 60_000,
            Some(_) => 50 * 60_000,
            None => 1_000,
        };
        message["at_ms"] = now.into();
    }
    let text = suite.iter().map(|line| format!("{line}\n"));
    std::fs::write(dir.join("timed.jsonl"), text.collect::<String>()).unwrap();
    let rows = "pause=summarize:when=60 minutes,longer=summarize:when=90 minutes,full";
    let run = [
        "compare",
        "timed.jsonl",
        "-s",
        rows,
        "--protocol",
        "published",
        "--scale",
        ".3",
        "--out",
        "run",
        "-q",
    ];
    succeeds(dir, &run);
    let found = applied(dir, "published", "pause");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0] > last && found[0] <= last + 2, "{found:?}, {last}");
    assert!(applied(dir, "published", "longer").is_empty());
}
