//! Broken, foreign, huge and random files: they are repaired and reported, or refused with a
//! reason, and never cause a panic.

use proptest::prelude::*;

use super::agents;
use super::exports::EXPORTS;
use super::formats::{ANTHROPIC, CODEX, OPENAI, PI};
use super::*;

/// Trajectories of one session, each with messages that are broken in one way.
#[test]
fn broken_sessions_are_repaired_and_reported() {
    let text = r#"[{"task_id":"a","trial":0,"traj":[
        {"role":"assistant","content":"Welcome."},
        {"role":"user","content":"Hi."},
        {"role":"narrator","content":"?"},
        {"role":"assistant","content":null,"tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}},{"id":"y","function":{"name":"g","arguments":{"n":1}}}]},
        {"role":"user","content":" "},
        {"role":"user","content":"Wait."},
        {"role":"tool","tool_call_id":"y","content":"late"},
        {"role":"tool","tool_call_id":"z","content":"orphan"},
        {"role":"system","content":"late rules"}]},
        {"task_id":"b","traj":[{"role":"assistant","content":"Alone."}]},
        {"task_id":null,"traj":[]},
        {"task_id":"c","traj":3}]"#;
    let repaired = imported("tau-bench", text, &FACTS);
    insta::assert_snapshot!(outline(&repaired.suite.scenarios[0]));
    insta::assert_snapshot!(repairs(&repaired).join("\n"));
    let message = failure("tau-bench", text.as_bytes(), &STRICT);
    assert!(message.ends_with("element 1, message 3: role `narrator` is not system, user, assistant or tool: dropped (strict: leave out --strict to repair it)"), "{message}");
}

#[test]
fn broken_lines_are_repaired_and_reported() {
    let lines = CLAUDE.lines().collect::<Vec<_>>();
    let mut bytes = lines[..3].join("\n").into_bytes();
    bytes.extend(b"\n[1]\n{\"type\":\"user\",\"uuid\":\"q\xff\",\"parentUuid\":\"gone\",\"timestamp\":\"noon\",\"message\":{\"content\":[{\"type\":\"hologram\"}]}}\n");
    bytes.extend(&lines[3].as_bytes()[..50]);
    let imported = import_bytes("claude-code", &bytes, &FACTS).expect("imports");
    assert_valid(&imported);
    insta::assert_snapshot!(repairs(&imported).join("\n"));
}

#[test]
fn a_link_to_itself_ends() {
    let row = |uuid: &str, parent: &str, kind: &str| {
        format!(
            r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":"{parent}","message":{{"content":"{uuid}"}}}}"#
        )
    };
    let text = [
        row("a", "c", "user"),
        row("b", "a", "assistant"),
        row("c", "b", "user"),
    ]
    .join("\n");
    let imported = imported("claude-code", &text, &FACTS);
    assert_eq!(imported.report.repairs.len(), 1, "{:?}", repairs(&imported));
    assert_eq!(
        imported
            .suite
            .scenarios
            .iter()
            .map(|scenario| scenario.messages.len())
            .sum::<usize>(),
        3
    );
}

/// As a hook reads the end of a long session.
#[test]
fn what_comes_before_the_first_turn_of_the_user_is_no_sign_of_another_format() {
    let said = |role: &str| serde_json::json!({"role": role, "content": "Go on."});
    let replies = std::iter::repeat_n(said("assistant"), 12);
    let messages = replies.chain([said("user"), said("assistant")]);
    let text = serde_json::Value::from_iter(messages).to_string();
    let options = Options {
        lenient: false,
        ..FACTS
    };
    let found = imported("anthropic", &text, &options);
    assert_eq!(found.suite.scenarios[0].messages.len(), 2);
    assert_eq!(found.report.repairs.len(), 12);
}

#[test]
fn a_packed_file_is_read_as_what_is_in_it() {
    let plain = imported("claude-code", CLAUDE, &STRICT).suite.scenarios;
    let gzip = gzip(CLAUDE.as_bytes());
    let zstd = zstd::encode_all(CLAUDE.as_bytes(), 1).expect("memory");
    for mut packed in [gzip, zstd] {
        let found = import_bytes("claude-code", &packed, &STRICT).expect("it can be read");
        let messages =
            |scenarios: &[Scenario]| scenarios.iter().map(outline).collect::<Vec<_>>().join("\n");
        assert_eq!(messages(&found.suite.scenarios), messages(&plain));
        packed.truncate(packed.len() / 2);
        let error = failure("claude-code", &packed, &FACTS);
        assert!(error.starts_with("cannot read `"), "{error}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).expect("memory");
    packed.finish().expect("memory")
}

/// A packed file is in memory as a whole, and a plain one is not.
#[test]
fn a_file_read_by_line_is_read_as_one_in_memory() {
    for (format, text) in [("claude-code", CLAUDE), ("codex", CODEX), ("pi", PI)] {
        let marked = format!("\u{feff}\n{}", text.replacen('\n', "\r\n \n", 3));
        let torn = &text[..text.len() - 20];
        let spoiled = [
            text.as_bytes(),
            b"\n{\"bad\": \"\xff\xfe\"}\n[1]\n{\"torn\": \"\xff",
        ]
        .concat();
        let second = text.match_indices('\n').nth(1).expect("many lines").0;
        let joined = [&text[..second], &text[second + 1..]].concat();
        for bytes in [
            marked.as_bytes(),
            torn.as_bytes(),
            &spoiled,
            joined.as_bytes(),
        ] {
            let [by_line, in_memory] = [bytes.to_vec(), gzip(bytes)].map(|bytes| {
                let found = import_bytes(format, &bytes, &FACTS).expect("it can be read");
                let scenarios = found
                    .suite
                    .scenarios
                    .iter()
                    .map(outline)
                    .collect::<Vec<_>>();
                let mut repairs = repairs(&found);
                repairs.sort();
                (scenarios, repairs)
            });
            assert_eq!(by_line, in_memory, "{format}");
        }
    }
}

#[test]
fn unreadable_files_are_named_with_what_was_expected() {
    for (name, bytes, expected) in [
        ("claude-code", &b""[..], "is empty; expected a transcript"),
        (
            "claude-code",
            b"\xef\xbb\xbf \n",
            "is empty; expected a transcript",
        ),
        (
            "claude-code",
            TAU.as_bytes(),
            "line 1: expected a Claude Code session: one JSON object a line with `type`, `uuid` and `parentUuid`; or its stream-json; it looks like `tau-bench`",
        ),
        (
            "tau-bench",
            CLAUDE.as_bytes(),
            "line 1: expected tau-bench trajectories: a JSON array of objects with `task_id` and `traj`; it looks like `claude-code`",
        ),
        (
            "tau-bench",
            b"{}",
            "; formats are claude-code, codex, pi, copilot, gemini, gemini-stream, qwen, opencode, openhands, atif",
        ),
        (
            "tau-bench",
            br#"{"format":"compactometer-suite","version":1,"name":"x"}"#,
            "; it is already a suite and needs no import",
        ),
        (
            "tau-bench",
            b"[{\"task_id\":1,\n\"traj\":",
            "line 2: expected an array of objects with `task_id` and `traj`: EOF while parsing a value",
        ),
        (
            "tau-bench",
            br#"[{"task_id":1,"traj":[]}]"#,
            "no conversation of format `tau-bench` in 1 file(s)",
        ),
        (
            "claude-code",
            br#"{"type":"summary","leafUuid":"x"}"#,
            "no conversation of format `claude-code` in 1 file(s)",
        ),
    ] {
        let message = failure(name, bytes, &FACTS);
        assert!(message.contains(expected), "{message}");
    }
    let folder = import(
        importer("tau-bench"),
        &[std::env::temp_dir()],
        "test",
        &FACTS,
    )
    .expect_err("a directory");
    let why = std::error::Error::source(&folder)
        .map(ToString::to_string)
        .unwrap_or_default();
    assert_eq!(why, "it is a folder; name a file in it", "{folder}");
    let missing = import(
        importer("tau-bench"),
        &[PathBuf::from("no/such/file")],
        "test",
        &FACTS,
    )
    .expect_err("missing");
    assert!(
        missing
            .to_string()
            .starts_with("cannot read `no/such/file`"),
        "{missing}"
    );
}

#[test]
fn the_same_content_counts_once() {
    let (one, two) = (
        Temporary::new(TAU.as_bytes()),
        Temporary::new(TAU.as_bytes()),
    );
    let twice = import(
        importer("tau-bench"),
        &[one.0.clone(), two.0.clone()],
        "test",
        &FACTS,
    )
    .expect("imports");
    assert_eq!(
        (twice.suite.scenarios.len(), twice.report.repairs.len()),
        (6, 1)
    );
}

#[test]
fn a_line_of_twenty_megabytes_is_read() {
    let row = |uuid: &str, text: &str| {
        format!(r#"{{"type":"user","uuid":"{uuid}","message":{{"content":"{text}"}}}}"#)
    };
    let long = row(
        "a",
        &format!(
            "password=hunter22 id_4711 {}",
            "words of a log, ".repeat(12_500)
        )
        .repeat(100),
    );
    assert!(long.len() > 20_000_000);
    let imported = import_bytes("claude-code", long.as_bytes(), &FACTS).expect("imports");
    assert_eq!(imported.report.secrets.get("password"), Some(&100));
}

/// The file with some bytes replaced, deleted or duplicated.
fn mutated(text: &'static str) -> impl Strategy<Value = Vec<u8>> {
    let edit = (
        0..text.len(),
        0..3_u8,
        proptest::sample::select(b"{}[]\",:\\0a \n\xff".to_vec()),
        1..40_usize,
    );
    proptest::collection::vec(edit, 0..12).prop_map(move |edits| {
        let mut bytes = text.as_bytes().to_vec();
        for (at, kind, byte, length) in edits {
            let end = (at + length).min(bytes.len());
            let at = at.min(end);
            match kind {
                0 if at < end => bytes[at] = byte,
                1 => drop(bytes.drain(at..end)),
                _ => {
                    let piece = bytes[at..end].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        bytes
    })
}

/// Whole lines deleted, duplicated or moved.
fn shuffled() -> impl Strategy<Value = Vec<u8>> {
    let lines = CLAUDE.lines().collect::<Vec<_>>();
    proptest::collection::vec(proptest::sample::select(lines), 1..40)
        .prop_map(|lines| lines.join("\n").into_bytes())
}

fn never_panics(bytes: &[u8], concat: Option<usize>) {
    for importer in ALL {
        match import_bytes(importer.name, bytes, &Options { concat, ..FACTS }) {
            Ok(imported) => assert_valid(&imported),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        never_panics(&bytes, None);
    }

    #[test]
    fn mutated_sessions_never_panic(bytes in mutated(CLAUDE)) {
        never_panics(&bytes, None);
    }

    #[test]
    fn shuffled_sessions_never_panic(bytes in shuffled()) {
        never_panics(&bytes, None);
    }

    #[test]
    fn mutated_files_of_every_other_format_never_panic(
        bytes in prop_oneof![mutated(PI), mutated(CODEX), mutated(OPENAI), mutated(ANTHROPIC)],
    ) {
        never_panics(&bytes, None);
    }

    #[test]
    fn mutated_logs_of_agents_never_panic(bytes in proptest::sample::select(agents::ALL.to_vec()).prop_flat_map(|(_, text)| mutated(text))) {
        never_panics(&bytes, None);
    }

    #[test]
    fn mutated_exports_never_panic(bytes in proptest::sample::select(&EXPORTS).prop_flat_map(|(_, text)| mutated(text))) {
        never_panics(&bytes, None);
    }

    #[test]
    fn mutated_trajectories_never_panic(bytes in mutated(TAU), join in any::<bool>()) {
        never_panics(&bytes, join.then_some(2));
    }
}

/// The dummy importer is one file and one line of the registry.
#[test]
fn a_new_importer_is_found_by_name_and_by_its_files() {
    let imported = imported("dummy-format", "dummy hello", &STRICT);
    assert_eq!(
        imported.suite.header.notes[0],
        "imported from 1 file of format dummy-format"
    );
    assert!(
        failure("tau-bench", b"dummy hello", &FACTS).ends_with("; it looks like `dummy-format`")
    );
}
