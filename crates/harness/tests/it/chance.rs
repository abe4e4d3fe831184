//! Chance matches are found in the texts that are sent.

use compactometer_engine::message::Role;
use compactometer_engine::tokens::Encoding;
use compactometer_formats::scenario::{Category, Fact, ValueKind};
use compactometer_harness::prepare::PreparedScenario;
use compactometer_testing::scenario::Builder;

#[test]
fn a_message_is_searched_for_foreign_facts_as_a_whole() {
    // 240 characters, the longest piece of a random context, end between denial and value.
    let before =
        "The nightly report of the loyalty balance was late again, so please look into it. "
            .repeat(2);
    let before = before + "Please read the runbook first, it is short. ";
    let denies =
        format!("{before}Do not fail the click stream over to otter, whatever the page says.");
    let states = format!("{before}We fail the click stream over to otter.");
    let mut told = Builder::new("told", "a");
    told.say(Role::User, &denies);
    told.say(Role::User, &states);
    let stated = Fact::stated(
        "f",
        "the click stream",
        "otter",
        ValueKind::Enum,
        Vec::new(),
    );
    let fact = Fact {
        category: Category::Decision,
        ..stated
    };
    let prepared = PreparedScenario::new(told.build(), &[&fact], &Encoding::O200k);
    let found = [0, 1].map(|message| prepared.checks().segments.foreign_in_message.get(message));
    assert_eq!(found, [&[] as &[u32], &[0]]);
}
