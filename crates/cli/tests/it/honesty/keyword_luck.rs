//! Of 21 facts "found" by keyword, 20 also matched texts that never held them.

use compactometer_formats::scenario::{Scenario, ValueKind};
use compactometer_testing::model::says;
use compactometer_testing::scenario::{Builder, suite};

use crate::honesty::plugins::{COMMON, DUMPER};
use crate::honesty::stage::{foreign, run};

/// Words that the strategy never writes.
const OTHERS: [&str; 8] = [
    "poplar", "raven", "sparrow", "tulip", "willow", "beetle", "clover", "dolphin",
];

/// Two words of those that the strategy writes everywhere, and two others.
fn conversation(number: usize) -> Scenario {
    let mut builder = Builder::numbered(number);
    for shift in 0..2 {
        for words in [COMMON, OTHERS] {
            let word = words[(number + 3 * shift) % words.len()];
            builder.state(word, ValueKind::Enum, &format!("We call it {word} here."));
        }
    }
    builder.chatter(4_000);
    builder.build()
}

#[test]
fn what_matches_everywhere_is_corrected_away() {
    let staged = run(
        suite((0..8).map(conversation).collect()),
        vec![foreign(&DUMPER)],
        &says(""),
        2_000,
    );
    let raw = staged.value("dumper", "context_recall");
    let corrected = staged.value("dumper", "context_recall_corrected");
    assert!(
        (raw - 0.5).abs() < 0.01,
        "half of the words are written: {raw}"
    );
    assert!(corrected.abs() < 0.1, "and mean nothing: {corrected}");
}
