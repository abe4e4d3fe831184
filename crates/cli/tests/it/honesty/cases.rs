//! Cases that cannot be compared say so.

use compactometer_engine::message::Role;
use compactometer_formats::scenario::{Scenario, ValueKind};
use compactometer_formats::summary::Compared;
use compactometer_testing::model::says;
use compactometer_testing::scenario::{Builder, suite};

use crate::honesty::plugins::DUMPER;
use crate::honesty::stage::{WINDOW, foreign, mock, named, plan, run, small_suite};

fn talk(number: usize, tokens: usize) -> Scenario {
    let mut builder = Builder::numbered(number);
    builder.state("kx-4711", ValueKind::Id, "The ticket is kx-4711.");
    builder.chatter(tokens);
    builder.build()
}

#[test]
fn never_triggered() {
    let staged = run(
        small_suite(),
        named(&["summarize", "@controls"]),
        &*mock("mock:strong"),
        60_000,
    );
    assert_eq!(staged.strategy("summarize").triggered.conversations, 0);
    assert!(staged.warns("never compacted anything, so takes no part: summarize"));
    let check = staged
        .group
        .checks
        .iter()
        .find(|check| check.name.contains("`oracle`"))
        .unwrap();
    assert_eq!(check.passed, None, "{}", check.detail);
}

#[test]
fn sizes() {
    let entrants = named(&["summarize"])
        .into_iter()
        .chain([foreign(&DUMPER)])
        .collect();
    let staged = run(small_suite(), entrants, &*mock("mock:strong"), WINDOW);
    assert!(
        staged.value("dumper", "tokens_retained") * 1.1
            < staged.value("summarize", "tokens_retained")
    );
    assert!(
        staged.warns("recall is compared only between sizes within 10 % of each other"),
        "{:?}",
        staged.group.warnings
    );
    let verdict = staged
        .group
        .comparisons
        .iter()
        .find(|made| made.strategy == "dumper")
        .map(|made| made.verdict);
    assert_eq!(
        verdict,
        Some(Compared::SizesDiffer),
        "{:?}",
        staged.group.comparisons
    );
}

#[test]
fn over_budget() {
    let staged = run(
        suite(vec![talk(0, 4_000)]),
        named(&["summarize"]),
        &says("word ".repeat(700)),
        2_000,
    );
    assert!(
        staged.warns("compactions over the retained budget even after a retry: summarize"),
        "{:?}",
        staged.group.warnings
    );
}

#[test]
fn infeasible() {
    let mut builder = Builder::numbered(0);
    builder.say(Role::System, &"Here is what you must know. ".repeat(800));
    builder.chatter(1_000);
    let refused = plan(
        suite(vec![builder.build()]),
        named(&["summarize"]),
        "mock",
        Some(4_000),
    )
    .err()
    .unwrap()
    .to_string();
    let smallest: u32 = refused
        .rsplit_once("--window ")
        .unwrap()
        .1
        .trim_end_matches('`')
        .parse()
        .unwrap();
    assert!(smallest > 4_000, "{refused}");
}

/// Eight turns pass for a long conversation elsewhere. Here nothing is far enough away to be asked
/// for.
#[test]
fn short_conversations() {
    let staged = run(
        suite((0..6).map(|number| talk(number, 400)).collect()),
        named(&["full"]),
        &says(""),
        12_000,
    );
    let recall = staged.metric("full", "context_recall");
    assert_eq!(recall.value, None);
    assert!(
        recall
            .reason
            .as_deref()
            .unwrap()
            .contains("no fact is old enough"),
        "{recall:?}"
    );
}
