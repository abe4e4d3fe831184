//! Each compaction of a file is measured or counted with a reason: the sum is the number of those
//! that the file has.

use compactometer_formats::scenario::Unmeasured;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Compactions of an import: the measured ones and those that are not, by reason.
fn fates(imported: &Imported) -> (usize, Vec<(Unmeasured, usize)>) {
    let report = &imported.report;
    (
        report.compactions,
        report
            .unmeasured
            .iter()
            .map(|(reason, number)| (*reason, *number))
            .collect(),
    )
}

fn sum((measured, others): &(usize, Vec<(Unmeasured, usize)>)) -> usize {
    measured + others.iter().map(|(_, number)| number).sum::<usize>()
}

fn lines(rows: &[Value]) -> String {
    rows.iter().map(|row| format!("{row}\n")).collect()
}

/// A log of Claude Code that is written row by row.
#[derive(Default)]
struct WrittenLog {
    rows: Vec<Value>,
    last: Option<String>,
    compactions: usize,
    tokens: u64,
}

impl WrittenLog {
    fn row(&mut self, parent: Option<&str>, more: Value) -> String {
        let uuid = format!("row-{}", self.rows.len());
        let at = self.rows.len();
        let mut row = json!({
            "type": "user", "uuid": uuid, "parentUuid": parent, "sessionId": "s-1", "cwd": "/home/ann/shop",
            "timestamp": format!("2026-03-01T10:{:02}:{:02}Z", at / 60, at % 60),
        });
        row.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        self.rows.push(row);
        self.last = Some(uuid.clone());
        uuid
    }

    fn follow(&mut self, more: Value) -> String {
        let parent = self.last.clone();
        self.row(parent.as_deref(), more)
    }

    fn turn(&mut self) {
        let number = self.rows.len();
        self.follow(
            json!({"message": {"role": "user", "content": format!("Go on with step {number}.")}}),
        );
        self.tokens += 1000;
        let usage =
            json!({"input_tokens": 10, "cache_read_input_tokens": self.tokens, "output_tokens": 5});
        self.follow(json!({"type": "assistant", "message": {
            "role": "assistant", "model": "claude-opus-4-1", "usage": usage,
            "content": [{"type": "text", "text": format!("Step {number} is done in src/step_{number}.rs.")}],
        }}));
    }

    fn boundary(&mut self) {
        let parent = self.last.clone();
        self.row(None, json!({
            "type": "system", "subtype": "compact_boundary", "logicalParentUuid": parent,
            "compactMetadata": {"trigger": "auto", "preTokens": self.tokens, "durationMs": 88_000},
        }));
        self.compactions += 1;
    }

    fn summary(&mut self) {
        self.follow(json!({"isCompactSummary": true, "message": {"role": "user", "content": "We did some steps."}}));
        self.tokens = 1000;
    }

    /// A summary as the first versions wrote it: without a boundary and without a parent.
    fn bare_summary(&mut self) {
        self.last = None;
        self.summary();
        self.compactions += 1;
    }

    fn fates(&self) -> (usize, Vec<(Unmeasured, usize)>) {
        fates(&imported("claude-code", &lines(&self.rows), &FACTS))
    }
}

#[test]
fn a_session_that_was_resumed_from_before_its_compaction_left_it_behind() {
    let mut log = WrittenLog::default();
    log.turn();
    let before = log.last.clone();
    log.boundary();
    log.summary();
    log.turn();
    log.turn();
    log.last = before;
    log.tokens = 5_000;
    log.turn();
    let found = imported("claude-code", &lines(&log.rows), &FACTS);
    assert_eq!(fates(&found), (0, vec![(Unmeasured::LeftBehind, 1)]));
    let scenario = &found.suite.scenarios[0];
    assert_eq!((scenario.log.left_behind, scenario.messages.len()), (4, 4));
    assert_eq!(
        scenario.unmeasured[0].after, None,
        "nothing is unknown of what follows"
    );
}

#[test]
fn a_reply_whose_request_was_much_shorter_follows_the_summary() {
    let mut log = WrittenLog::default();
    log.turn();
    log.tokens = 20_000;
    log.turn();
    let before = log.last.clone();
    log.boundary();
    log.summary();
    log.last = before;
    log.tokens = 5_000;
    log.turn();
    let found = imported("claude-code", &lines(&log.rows), &FACTS);
    assert_eq!(fates(&found), (1, Vec::new()));
    let made = &found.suite.scenarios[0].compactions[0];
    assert_eq!((made.after, made.took_ms), (MessageId(4), Some(88_000)));
}

#[test]
fn a_late_row_without_an_answer_does_not_choose_the_branch() {
    let mut log = WrittenLog::default();
    log.turn();
    let early = log.last.clone();
    for _ in 0..10 {
        log.turn();
    }
    log.last = early;
    log.follow(json!({"message": {"role": "user", "content": "[Request interrupted by user for tool use]"}}));
    let found = imported("claude-code", &lines(&log.rows), &FACTS);
    assert_eq!(found.suite.scenarios[0].messages.len(), 22);
    assert_eq!(found.report.ignored["user of an abandoned branch"], 1);
}

/// So a hook finds it: a command of the user hangs on an earlier row, and the summary is the last row.
#[test]
fn a_compaction_that_ends_the_file_is_measured_whatever_other_branches_say() {
    let mut log = WrittenLog::default();
    log.turn();
    let before = log.last.clone();
    log.turn();
    log.last = before.clone();
    log.follow(
        json!({"message": {"role": "user", "content": "<command-name>/exit</command-name>"}}),
    );
    log.last = before;
    log.boundary();
    log.summary();
    assert_eq!(log.fates(), (1, Vec::new()));
}

#[test]
fn a_summary_without_a_parent_is_a_compaction_of_the_row_before_it() {
    let mut log = WrittenLog::default();
    log.turn();
    log.bare_summary();
    log.turn();
    let found = imported("claude-code", &lines(&log.rows), &FACTS);
    assert_eq!(
        (fates(&found), found.suite.scenarios.len()),
        ((1, Vec::new()), 1)
    );

    let mut opened = WrittenLog::default();
    opened.bare_summary();
    opened.turn();
    assert_eq!(opened.fates(), (0, vec![(Unmeasured::NothingBefore, 1)]));
}

#[test]
fn a_compaction_of_which_nothing_else_was_read_is_counted() {
    let mut log = WrittenLog::default();
    log.turn();
    let first = log.rows.len();
    log.last = None;
    log.boundary();
    log.summary();
    for row in &mut log.rows[first..] {
        row["sessionId"] = json!("s-2");
    }
    let found = imported("claude-code", &lines(&log.rows), &FACTS);
    assert_eq!(fates(&found), (0, vec![(Unmeasured::NothingBefore, 1)]));
    assert_eq!(found.report.without_conversation, 1);
}

#[test]
fn the_call_that_wrote_a_summary_is_in_a_file_beside_the_session() {
    let mut log = WrittenLog::default();
    log.turn();
    log.boundary();
    log.summary();
    log.turn();
    let folder = tempfile::tempdir().expect("a folder");
    let session = folder.path().join("s-1.jsonl");
    std::fs::write(&session, lines(&log.rows)).unwrap();
    let calls = folder.path().join("s-1/subagents");
    std::fs::create_dir_all(&calls).unwrap();
    let call = |at: &str, output: u64| {
        let usage =
            json!({"input_tokens": 3, "cache_read_input_tokens": 9_000, "output_tokens": output});
        let row = json!({"type": "assistant", "isSidechain": true, "timestamp": at, "message": {"usage": usage}});
        format!("{row}\nnot JSON\n")
    };
    std::fs::write(
        calls.join("agent-acompact-1.jsonl"),
        call("2026-03-01T10:00:01Z", 700),
    )
    .unwrap();
    std::fs::write(
        calls.join("agent-acompact-2.jsonl"),
        call("2026-03-02T10:00:01Z", 900),
    )
    .unwrap();
    let found = import(
        by_name("claude-code").expect("a format"),
        &[session],
        "log",
        &FACTS,
    )
    .expect("imports");
    let used = found.suite.scenarios[0].compactions[0]
        .usage
        .expect("a usage");
    assert_eq!((used.input, used.cache_read, used.output), (3, 9_000, 700));
}

/// What a log of Claude Code may have next.
fn rows() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(0_u8..7, 1..40)
}

/// Of each sample of a format that the fuzzer starts from.
#[test]
fn no_further_row_takes_the_fate_of_a_compaction_away() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/seeds");
    let mut compacted = Vec::new();
    for importer in crate::import::ALL {
        let folder = seeds.join(format!("import-{}", importer.name));
        // A format that tests add has no sample.
        let files = std::fs::read_dir(&folder).into_iter().flatten();
        for file in files.map(|file| file.unwrap().path()) {
            let text = std::fs::read_to_string(&file).unwrap_or_default();
            let mut before = 0;
            for (end, _) in text.match_indices('\n') {
                // The beginning of one JSON document is refused.
                if let Ok(found) = import_bytes(importer.name, &text.as_bytes()[..=end], &FACTS) {
                    let now = sum(&fates(&found));
                    assert!(
                        now >= before,
                        "{}: {now} of {before} after byte {end}",
                        file.display()
                    );
                    before = now;
                }
            }
            if before > 0 && !compacted.contains(&importer.name) {
                compacted.push(importer.name);
            }
        }
    }
    let least = ["claude-code", "codex", "pi", "copilot", "qwen", "openhands"];
    for name in least {
        assert!(
            compacted.contains(&name),
            "{name} is not among {compacted:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_compaction_of_claude_code_has_a_fate(steps in rows(), forks in prop::collection::vec(any::<prop::sample::Index>(), 40)) {
        let mut log = WrittenLog::default();
        log.turn();
        for (step, fork) in steps.iter().zip(forks) {
            match step {
                0..=2 => log.turn(),
                3 => { log.boundary(); log.summary(); }
                4 => log.boundary(),
                5 => log.bare_summary(),
                _ => log.last = Some(format!("row-{}", fork.index(log.rows.len()))),
            }
        }
        prop_assert_eq!(sum(&log.fates()), log.compactions);
    }

    #[test]
    fn every_compaction_of_codex_has_a_fate(steps in rows()) {
        let row = |kind: &str, payload: Value| json!({"timestamp": "2026-01-02T03:04:05Z", "type": kind, "payload": payload});
        let said = |role: &str, kind: &str, number: usize| row("response_item", json!({
            "type": "message", "role": role, "content": [{"type": kind, "text": format!("step {number}")}]
        }));
        let mut log = vec![
            row("session_meta", json!({"id": "c-1", "cwd": "/home/ann/shop"})),
            said("user", "input_text", 0),
        ];
        let mut compactions = 0;
        for (number, step) in steps.iter().enumerate() {
            let message = ["", "We did some steps."][usize::from(*step) % 2];
            log.push(match step {
                0 | 1 => said("user", "input_text", number),
                2 | 3 => said("assistant", "output_text", number),
                4 => row("turn_context", json!({"cwd": "/home/ann/shop"})),
                _ => row("compacted", json!({"message": message})),
            });
            compactions += usize::from(*step > 4);
        }
        prop_assert_eq!(sum(&fates(&imported("codex", &lines(&log), &FACTS))), compactions);
    }

    #[test]
    fn every_compaction_of_pi_has_a_fate(steps in rows(), forks in prop::collection::vec(any::<prop::sample::Index>(), 40)) {
        let mut log = vec![json!({"type": "session", "version": 3, "id": "p-1", "timestamp": "2026-01-02T03:04:05Z", "cwd": "/home/ann/shop"})];
        let (mut last, mut compactions) = (Value::Null, 0);
        for (number, (step, fork)) in [0].iter().chain(&steps).zip(forks).enumerate() {
            let role = if number % 2 == 0 { "user" } else { "assistant" };
            let more = match step {
                0..=3 => json!({"type": "message", "message": {"role": role, "content": [{"type": "text", "text": format!("step {number}")}]}}),
                4 | 5 => json!({"type": "compaction", "summary": "We did some steps.", "firstKeptEntryId": last, "tokensBefore": 9_000}),
                _ => {
                    last = log[1 + fork.index(log.len() - 1)]["id"].clone();
                    continue;
                }
            };
            compactions += usize::from(more["type"] == "compaction");
            let id = format!("e-{number}");
            let mut row = json!({"id": id, "parentId": last, "timestamp": "2026-01-02T03:04:05Z"});
            row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            log.push(row);
            last = json!(id);
        }
        prop_assert_eq!(sum(&fates(&imported("pi", &lines(&log), &FACTS))), compactions);
    }
}
