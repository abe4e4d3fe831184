//! Conversations of agents that work as a spec's table `[agent]` says: the suite `long`, and small
//! ones of other seeds.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use compactometer_engine::message::{Message, Part, Role};
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_formats::scenario::{Fact, Scenario, Speaker};
use compactometer_formats::suite::Suite;
use compactometer_suites::generate::{Spec, generate};
use proptest::prelude::*;

use crate::common::spec_text;
use crate::suite::{check_evidence, check_probes};

static SUITE: LazyLock<Suite> = LazyLock::new(|| {
    let start = LONG.find("window = ").expect("has a window");
    let end = start + LONG[start..].find("domains = ").expect("has domains");
    let short = LONG.replace(&LONG[start..end], "window = 12000\n");
    let start = short.find("conversations = ").expect("has a number");
    let end = start + short[start..].find(']').expect("ends") + 1;
    let lengths = "conversations = 6\nlengths = [54000, 160000, 50000, 180000, 56000, 58000]";
    let spec = short.replace(&short[start..end], lengths);
    generate(&Spec::parse(&spec, Path::new("short.toml")).expect("the spec is right"))
});

const LONG: &str = include_str!("../../../../datasets/long.toml");

/// The table of the suite `long`.
fn agent_table() -> &'static str {
    let text = LONG;
    &text[text.find("[agent]").expect("has the table")..]
}

/// A small suite of such agents.
fn small(seed: u64) -> Spec {
    let text = format!("{}\n{}", spec_text(seed), agent_table());
    Spec::parse(&text, Path::new("small.toml")).expect("the spec is right")
}

#[test]
fn they_keep_the_promises_of_generated_suites() {
    check_evidence(&SUITE);
    check_probes(&SUITE);
}

#[test]
fn tools_say_most_facts_and_talk_is_several_times_what_a_compaction_may_keep() {
    let facts = SUITE
        .scenarios
        .iter()
        .flat_map(|scenario| &scenario.facts)
        .collect::<Vec<_>>();
    let by_tools = facts
        .iter()
        .filter(|fact| fact.stated_by == Speaker::Tool)
        .count();
    assert!(
        by_tools * 100 >= facts.len() * 80,
        "{by_tools} of {}",
        facts.len()
    );
    let mut talk = SUITE.scenarios.iter().map(talk_tokens).collect::<Vec<_>>();
    talk.sort_unstable();
    let mean = talk.iter().sum::<usize>() / talk.len();
    assert!(mean >= 2 * 3_600, "{talk:?} tokens of talk");
    let long = talk[talk.len() / 2..].iter().sum::<usize>() / (talk.len() / 2);
    assert!(long >= 3 * 3_600, "{talk:?} tokens of talk");
}

/// Tokens of what user and agent say beside calls.
fn talk_tokens(scenario: &Scenario) -> usize {
    let said = scenario
        .messages
        .iter()
        .filter(|message| message.role != Role::System)
        .flat_map(|message| &message.parts);
    let tokens = said.map(|part| match part {
        Part::Text { text } => Encoding::O200k.count_text(text) as usize,
        _ => 0,
    });
    tokens.sum()
}

#[test]
fn later_calls_need_what_tools_said() {
    let of_tools = |fact: &&Fact| fact.stated_by == Speaker::Tool;
    let facts = SUITE.scenarios.iter().flat_map(|scenario| &scenario.facts);
    let (needed, all) = facts.filter(of_tools).fold((0, 0), |(needed, all), fact| {
        (needed + usize::from(!fact.used_at.is_empty()), all + 1)
    });
    assert!(needed * 5 >= all, "{needed} of {all}");
}

/// 24 conversations of 220,000 to a million tokens. All of them would take minutes here, so only the
/// longest is made.
#[test]
fn the_suite_long_has_lengths_of_real_sessions() {
    let long = LONG;
    let long_table = toml::from_str::<toml::Table>(long).expect("a table");
    let lengths = long_table["lengths"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|length| length.as_integer().expect("a number"));
    let lengths = lengths.collect::<BTreeSet<_>>();
    assert_eq!(
        (lengths.len(), lengths.first(), lengths.last()),
        (24, Some(&220_000), Some(&1_000_000))
    );
    assert_eq!(
        Spec::parse(long, Path::new("long.toml"))
            .expect("the spec is right")
            .conversations(),
        24
    );

    let start = long.find("lengths = [").expect("has lengths");
    let end = start + long[start..].find(']').expect("ends") + 1;
    let longest = long
        .replace("conversations = 24", "conversations = 1")
        .replace(&long[start..end], "lengths = [1000000]");
    let suite =
        generate(&Spec::parse(&longest, Path::new("longest.toml")).expect("the spec is right"));
    check_evidence(&suite);
    check_probes(&suite);
    let tokens = suite.scenarios[0]
        .messages
        .iter()
        .map(|message| Encoding::O200k.count_message(message) as usize)
        .sum::<usize>();
    assert!((950_000..1_050_000).contains(&tokens), "{tokens}");
}

/// What stands in a result again, such as in a file that is read twice.
#[test]
fn results_are_read_again_and_requests_are_cancelled() {
    for scenario in &SUITE.scenarios {
        let mut lines = BTreeSet::new();
        let mut again = 0;
        for part in scenario.messages.iter().flat_map(|message| &message.parts) {
            if let Part::ToolResult { text, .. } = part {
                again += text
                    .lines()
                    .filter(|line| line.len() >= 20 && !lines.insert(*line))
                    .count();
            }
        }
        assert!(again >= 20, "{}: {again} lines", scenario.id);
    }
    let is_cancelled = |pair: &[Message]| pair[0].role == Role::Tool && pair[1].role == Role::User;
    let cancelled = SUITE
        .scenarios
        .iter()
        .filter(|scenario| scenario.messages.windows(2).any(is_cancelled));
    assert!(cancelled.count() >= SUITE.scenarios.len() / 4);
}

#[test]
fn messages_have_times_with_pauses() {
    let (mut pauses, mut requests) = (0, 0);
    for scenario in &SUITE.scenarios {
        let times = scenario
            .messages
            .iter()
            .map(|message| message.at_ms.expect("has a time"))
            .collect::<Vec<_>>();
        assert!(times.is_sorted(), "{}", scenario.id);
        pauses += times
            .windows(2)
            .filter(|pair| pair[1] - pair[0] >= 300_000)
            .count();
        requests += scenario
            .messages
            .iter()
            .filter(|message| message.role == Role::User)
            .count();
    }
    assert!(
        (15..=40).contains(&(100 * pauses / requests)),
        "{pauses} of {requests}"
    );
}

#[test]
fn tables_of_agents_are_refused_with_key_value_and_range() {
    let refused = |(from, to): (&str, &str)| {
        let table = agent_table();
        assert!(table.contains(from), "the table has no `{from}`");
        let text = format!("{}\n{}", spec_text(1), table.replacen(from, to, 1));
        Spec::parse(&text, Path::new("my.toml"))
            .expect_err("is refused")
            .to_string()
    };
    let changes = [
        ("turns = [1, 24]", "turns = [0, 24]"),
        ("turns = [1, 24]", "turns = [24, 1]"),
        ("turns = [1, 24]", "turns = [1, 101]"),
        ("silent = 62", "silent = 101"),
        ("silent = 62", "quiet = 62"),
        ("silent = 62", ""),
    ];
    insta::assert_snapshot!(changes.map(refused).join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_seed_keeps_the_promises(seed in any::<u32>()) {
        let suite = generate(&small(u64::from(seed)));
        check_evidence(&suite);
        check_probes(&suite);
        prop_assert_eq!(generate(&small(u64::from(seed))).hash(), suite.hash());
    }
}
