//! Tests of the importers at their boundary: a file's bytes go in, and a suite that can be read
//! back comes out.

use std::path::{Path, PathBuf};

use compactometer_engine::message::{Message, MessageId, Part, Role};

mod agents;
mod compacted;
mod continued;
mod exports;
mod facts;
mod fates;
mod formats;
mod mapped;
mod mended;
mod pairs;
mod robustness;
mod spooled;
mod tables;
mod traces;

use super::*;
use compactometer_formats::scenario::{
    Category, Fact, Probe, RecordedCompaction, Retained, Scenario, Speaker, ValueKind,
};

const CLAUDE: &str = include_str!("../../../tests/fixtures/claude-code.jsonl");
const TAU: &str = include_str!("../../../tests/fixtures/tau-bench.json");

/// The options of most tests.
const FACTS: Options = Options {
    auto_facts: true,
    concat: None,
    keep_secrets: false,
    strict: false,
    lenient: true,
    skip_refused: false,
    last: None,
};
const STRICT: Options = Options {
    strict: true,
    ..FACTS
};

/// A temporary file, deleted at the end of the test.
struct Temporary(PathBuf);

impl Temporary {
    fn new(bytes: &[u8]) -> Self {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "compactometer-import-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).expect("temporary file");
        Temporary(path)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn importer(name: &str) -> &'static Importer {
    by_name(name).expect("a known importer")
}

fn import_bytes(name: &str, bytes: &[u8], options: &Options) -> Result<Imported, ImportError> {
    let file = Temporary::new(bytes);
    import(
        importer(name),
        std::slice::from_ref(&file.0),
        "test",
        options,
    )
}

/// Imports, then reads the suite back from its written form to validate it.
fn imported(name: &str, text: &str, options: &Options) -> Imported {
    let imported = import_bytes(name, text.as_bytes(), options).expect("imports");
    assert_valid(&imported);
    imported
}

fn assert_valid(imported: &Imported) {
    let mut bytes = Vec::new();
    imported.suite.write(&mut bytes).expect("writes to memory");
    let back = Suite::from_reader(bytes.as_slice(), Path::new("suite")).expect("a valid suite");
    assert_eq!(back, imported.suite);
}

fn failure(name: &str, bytes: &[u8], options: &Options) -> String {
    import_bytes(name, bytes, options)
        .expect_err("is refused")
        .to_string()
}

/// A conversation in a short notation.
fn outline(scenario: &Scenario) -> String {
    let part = |part: &Part| match part {
        Part::Text { text } => format!("text({text})"),
        Part::Thinking { text, .. } => format!("thinking({text})"),
        Part::ToolCall {
            id,
            name,
            arguments,
        } => format!("{id}={name}{arguments}"),
        Part::ToolResult {
            call_id,
            text,
            is_error,
        } => {
            format!(
                "{call_id}->{text}{}",
                if *is_error { " (error)" } else { "" }
            )
        }
        Part::Sealed { content } => format!("sealed({content})"),
        Part::Media {
            media_type, tokens, ..
        } => format!("{media_type}:{tokens}"),
    };
    let line = |message: &Message| {
        let parts = message
            .parts
            .iter()
            .map(part)
            .collect::<Vec<_>>()
            .join(" | ");
        format!("{} {}: {parts}", message.id.0, message.role.name())
    };
    scenario
        .messages
        .iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}

fn repairs(imported: &Imported) -> Vec<String> {
    imported
        .report
        .repairs
        .iter()
        .map(|repair| format!("{}: {}", repair.place, repair.what))
        .collect()
}

fn fact<'s>(scenario: &'s Scenario, value: &str) -> &'s Fact {
    scenario
        .facts
        .iter()
        .find(|fact| fact.value == value)
        .unwrap_or_else(|| panic!("no fact `{value}`"))
}

#[test]
fn a_claude_code_session_is_read_whole() {
    let imported = imported("claude-code", CLAUDE, &STRICT);
    let ids = imported
        .suite
        .scenarios
        .iter()
        .map(|s| (s.id.as_str(), s.group_id.as_str()))
        .collect::<Vec<_>>();
    assert_eq!(
        ids,
        [("s-1", "s-1"), ("s-1/side-1", "s-1"), ("s-1/side-2", "s-1")]
    );
    insta::assert_snapshot!(outline(&imported.suite.scenarios[0]));
    insta::assert_snapshot!(outline(&imported.suite.scenarios[1]));
    insta::assert_snapshot!(imported.report.lines().join("\n"));
    insta::assert_snapshot!(imported.suite.header.notes.join("\n"));
    let calls = &imported.suite.scenarios[0].messages[1];
    let usage = calls.usage.as_deref().expect("usage counts once");
    assert_eq!(
        (
            usage.input,
            usage.cache_read,
            usage.cache_write,
            usage.output
        ),
        (3, 100, 20, 172)
    );
    assert_eq!(calls.at_ms, Some(1_756_860_752_000));
}

#[test]
fn the_digest_of_an_image_is_that_of_its_bytes() {
    let imported = imported("claude-code", CLAUDE, &STRICT);
    let parts = imported.suite.scenarios[0]
        .messages
        .iter()
        .flat_map(|message| &message.parts);
    let digests = parts.filter_map(|part| match part {
        Part::Media { digest, .. } => Some(digest.as_str()),
        _ => None,
    });
    assert_eq!(
        digests.collect::<Vec<_>>(),
        [blake3::hash(b"hello").to_hex().as_str()]
    );
}

#[test]
fn parallel_results_come_right_after_their_calls() {
    let imported = imported("claude-code", CLAUDE, &STRICT);
    let batch = &imported.suite.scenarios[0].messages[2];
    assert_eq!(batch.role, Role::Tool);
    assert_eq!(
        batch.answered_ids().collect::<Vec<_>>(),
        ["call_1", "call_2"]
    );
}

#[test]
fn tau_bench_trajectories_are_read_and_calls_numbered() {
    let imported = imported("tau-bench", TAU, &STRICT);
    let ids = imported
        .suite
        .scenarios
        .iter()
        .map(|s| format!("{} {}", s.group_id, s.id))
        .collect::<Vec<_>>();
    assert_eq!(
        ids[..2],
        ["task-10 task-10-trial-1", "task-10 task-10-trial-0"]
    );
    insta::assert_snapshot!(outline(&imported.suite.scenarios[0]));
    insta::assert_snapshot!(imported.report.lines().join("\n"));
    assert_eq!(imported.report.repeated_call_ids, 6);
    let text = serde_json::to_string(&imported.suite.scenarios).expect("serialises");
    assert!(
        !text.contains("KEY-99"),
        "the answer key must not be imported"
    );
}

#[test]
fn facts_are_exact_values_with_every_mention() {
    let imported = imported("tau-bench", TAU, &FACTS);
    let scenario = &imported.suite.scenarios[0];
    let ids = |messages: &[MessageId]| messages.iter().map(|id| id.0).collect::<Vec<_>>();
    let user = fact(scenario, "user_ada_1011");
    assert_eq!(
        (ids(&user.evidence_message_ids), ids(&user.used_at)),
        (vec![2, 3], vec![3])
    );
    assert_eq!(
        (user.stated_by, user.value_kind, user.category),
        (Speaker::User, ValueKind::Id, Category::Incidental)
    );
    assert_eq!(user.subject, "argument `user_id` of `get_user`");
    let card = fact(scenario, "credit_card_10188");
    assert_eq!(
        (ids(&card.evidence_message_ids), ids(&card.used_at)),
        (vec![4, 7], vec![7])
    );
    assert_eq!(card.stated_by, Speaker::Tool);
    let policy = fact(scenario, "POL-7781");
    assert_eq!(
        (policy.stated_by, policy.generic, policy.used_at.len()),
        (Speaker::System, true, 0)
    );
    assert!(
        scenario.facts.iter().all(|fact| fact.value != "78750"),
        "an unused value has six characters"
    );
}

#[test]
fn foils_occur_nowhere_and_generic_values_have_none() {
    let imported = imported("tau-bench", TAU, &FACTS);
    let texts = serde_json::to_string(
        &imported
            .suite
            .scenarios
            .iter()
            .map(|s| &s.messages)
            .collect::<Vec<_>>(),
    );
    let texts = texts.expect("serialises");
    for fact in imported
        .suite
        .scenarios
        .iter()
        .flat_map(|scenario| &scenario.facts)
    {
        assert_eq!(
            fact.foil_values.len(),
            if fact.generic { 0 } else { 5 },
            "{}",
            fact.value
        );
        assert!(
            fact.foil_values
                .iter()
                .all(|foil| !texts.contains(foil.as_str())),
            "{:?}",
            fact.foil_values
        );
    }
}

#[test]
fn joining_deals_user_turns_round_robin_in_blocks() {
    let options = Options {
        concat: Some(2),
        ..FACTS
    };
    let imported = imported("tau-bench", TAU, &options);
    let ids = imported
        .suite
        .scenarios
        .iter()
        .map(|s| (s.id.as_str(), s.group_id.as_str()))
        .collect::<Vec<_>>();
    assert_eq!(ids, [("block-1/1", "block-1"), ("block-1/2", "block-1")]);
    let first = &imported.suite.scenarios[0];
    let users = first
        .messages
        .iter()
        .filter(|message| message.role == Role::User)
        .map(|message| &message.parts[0]);
    let texts = users
        .map(|part| compactometer_engine::message::part_text(part).unwrap_or_default())
        .collect::<Vec<_>>();
    assert_eq!(
        texts,
        [
            "I am user_ada_0201, cancel order #W0205512.",
            "I am user_ada_0401, cancel order #W0405512.",
            "Yes.",
            "Yes."
        ]
    );
    assert_eq!(first.messages[0].role, Role::System);
    assert!(
        first.source.contains("task-2-trial-0, task-4-trial-0"),
        "{}",
        first.source
    );
    insta::assert_snapshot!(imported.suite.header.notes.join("\n"));
}

#[test]
fn joining_needs_enough_groups() {
    let join = |groups| {
        failure(
            "tau-bench",
            TAU.as_bytes(),
            &Options {
                concat: Some(groups),
                ..FACTS
            },
        )
    };
    assert_eq!(
        join(4),
        "cannot join `4` independent sessions: expected 2 to 3, the number imported"
    );
    assert_eq!(
        join(1),
        "cannot join `1` independent sessions: expected 2 to 3, the number imported"
    );
}

#[test]
fn secrets_are_kept_on_request() {
    let kept = imported(
        "claude-code",
        CLAUDE,
        &Options {
            keep_secrets: true,
            ..FACTS
        },
    );
    assert!(outline(&kept.suite.scenarios[0]).contains("Bearer abcdef0123456789abcd"));
    assert!(kept.report.secrets.is_empty());
}

#[test]
fn the_same_file_gives_the_same_bytes() {
    for (name, text) in [("claude-code", CLAUDE), ("tau-bench", TAU)] {
        let file = Temporary::new(text.as_bytes());
        let hash = || {
            import(
                importer(name),
                std::slice::from_ref(&file.0),
                "test",
                &FACTS,
            )
            .expect("imports")
            .suite
            .hash()
        };
        assert_eq!(hash(), hash());
    }
}
