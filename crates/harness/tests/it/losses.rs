//! What recorded compactions lost, of conversations built by hand.

use compactometer_engine::message::{MessageId, Part, Role, Usage};
use compactometer_engine::tokens::Encoding;
use compactometer_formats::losses::SessionLosses;
use compactometer_formats::scenario::{
    Reattached, RecordedCompaction, Retained, Scenario, Unmeasured, UnmeasuredCompaction, ValueKind,
};
use compactometer_harness::losses::losses;
use compactometer_testing::scenario::Builder;

/// Tokens of instructions that no record holds.
const INSTRUCTIONS: u64 = 7_000;
/// How many tokens a provider counts for each of ours.
const RATIO: u64 = 2;

fn compaction(after: MessageId, summary: &str) -> RecordedCompaction {
    RecordedCompaction {
        after,
        at_ms: None,
        trigger: None,
        reported_tokens: None,
        usage: None,
        took_ms: None,
        version: None,
        compactor: None,
        line: None,
        context: vec![Retained::Written {
            role: Role::User,
            text: summary.to_owned(),
        }],
    }
}

/// A conversation in which a file is read that holds `aa-11`, and `aa-11` is needed after a
/// compaction that left nothing of it. Each reply reports its input as a provider does that counts
/// twice as many tokens. `hidden` tokens of the request after the compaction are in no record.
fn session(hidden: u64) -> Scenario {
    let mut builder = Builder::new("s", "g");
    let first = builder.say(Role::User, "Read pay.toml, please.");
    let call = Part::ToolCall {
        id: "t1".into(),
        name: "Read".into(),
        arguments: r#"{"file_path":"/a/pay.toml"}"#.into(),
    };
    builder.push(Role::Assistant, vec![call]);
    let text = "ticket = aa-11".to_owned();
    let stated = builder.push(
        Role::Tool,
        vec![Part::ToolResult {
            call_id: "t1".into(),
            text,
            is_error: false,
        }],
    );
    for number in 0..8 {
        builder.call(
            &format!("{{\"step\":{number}}}"),
            &"There is nothing unusual about it so far. ".repeat(50),
        );
    }
    let before = MessageId(builder.scenario.messages.len() as u32 - 1);
    let summary = "They went on for a long time.";
    builder.scenario.compactions = vec![compaction(before, summary)];
    builder.say(Role::User, "Now close the ticket.");
    let used = builder.call(r#"{"id":"aa-11"}"#, "closed");
    builder.fact("aa-11", &[stated]).used_at = vec![used];
    let mut scenario = builder.build();
    assert!(first < stated);
    report(&mut scenario, before, summary, hidden);
    scenario.reattached = Some(Reattached {
        tool: "Read".into(),
        argument: "file_path".into(),
        results: 5,
        tokens: 5_000,
    });
    scenario
}

/// Gives each reply the input that its provider would report.
fn report(scenario: &mut Scenario, before: MessageId, summary: &str, hidden: u64) {
    use compactometer_engine::tokens::{CountedMessage, TokenCounter as _};
    let counter = Encoding::O200k;
    let mut tokens = 0;
    for message in &mut scenario.messages {
        if message.role == Role::Assistant {
            let input =
                INSTRUCTIONS + RATIO * tokens + if message.id > before { hidden } else { 0 };
            message.usage = Some(Box::new(Usage {
                input,
                ..Usage::default()
            }));
        }
        tokens += u64::from(CountedMessage::new(message.clone(), &counter).tokens);
        if message.id == before {
            tokens = u64::from(counter.count_text(summary));
        }
    }
}

fn judge(scenario: Scenario) -> SessionLosses {
    losses(scenario, 1_800, &[], &Encoding::O200k)
}

#[test]
fn tokens_that_no_record_holds_are_those_of_the_usage() {
    let found = judge(session(5_000));
    let unlogged = found.compactions[0].unlogged_tokens.expect("known");
    assert!(unlogged.abs_diff(5_000) < 100, "{unlogged}");
    assert_eq!(
        found.uses[0].at_most,
        Some(true),
        "the file may have been put back"
    );
    assert!(!found.uses[0].is_held());
}

#[test]
fn few_tokens_are_unknown_and_so_is_missing_usage() {
    assert_eq!(judge(session(500)).compactions[0].unlogged_tokens, None);
    let mut silent = session(5_000);
    silent
        .messages
        .iter_mut()
        .for_each(|message| message.usage = None);
    let found = judge(silent);
    assert_eq!(
        (
            found.compactions[0].unlogged_tokens,
            found.compactions[0].costs.request_tokens
        ),
        (None, None)
    );
    assert_eq!(
        found.uses[0].at_most,
        Some(true),
        "all that may be put back counts where nothing is known"
    );
}

#[test]
fn nothing_is_put_back_where_nothing_is_known_of_the_program() {
    let mut other = session(5_000);
    other.reattached = None;
    assert_eq!(judge(other).uses[0].at_most, None);
}

#[test]
fn after_a_compaction_that_cannot_be_measured_no_use_counts() {
    let mut cut = session(5_000);
    let after = cut.compactions[0].after;
    assert_eq!(judge(cut.clone()).uses.len(), 1);
    let next = MessageId(after.0 + 1);
    let reason = Unmeasured::UnreadableSummary;
    cut.unmeasured = vec![UnmeasuredCompaction {
        after: Some(next),
        at_ms: None,
        trigger: None,
        reported_tokens: None,
        reason,
    }];
    assert!(judge(cut).uses.is_empty());
}

#[test]
fn a_path_is_held_by_its_name_in_the_working_directory() {
    let held = |directory: Option<&str>, summary: &str| {
        let mut builder = Builder::new("s", "g");
        builder.say(Role::User, "Start.");
        let stated = builder.say(Role::Assistant, "It is /home/ann/shop/src/pay.rs.");
        builder.chatter(120);
        let before = MessageId(builder.scenario.messages.len() as u32 - 1);
        builder.scenario.compactions = vec![compaction(before, summary)];
        builder.scenario.directories = directory.map(str::to_owned).into_iter().collect();
        builder.say(Role::User, "Go on.");
        let used = builder.call(r#"{"path":"/home/ann/shop/src/pay.rs"}"#, "fn pay");
        let fact = builder.fact("/home/ann/shop/src/pay.rs", &[stated]);
        (fact.value_kind, fact.used_at) = (ValueKind::Path, vec![used]);
        judge(builder.build()).uses[0].is_held()
    };
    assert!(held(Some("/home/ann/shop"), "See src/pay.rs."));
    assert!(held(Some("/home/ann/shop"), "See ~/shop/src/pay.rs."));
    assert!(!held(None, "See src/pay.rs.") && !held(Some("/home/ann/shop"), "See pay.rs."));
    assert!(
        !held(Some("/home/ann/shop"), "See other/src/pay.rs."),
        "a longer path is another file"
    );
}
