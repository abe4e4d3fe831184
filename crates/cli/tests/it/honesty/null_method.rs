//! A null method (nothing kept, nothing answered) scored 0.608 in one public benchmark.

use crate::honesty::stage::{PLAIN, WINDOW, mock, named, run, small_suite};

#[test]
fn what_keeps_nothing_scores_nothing() {
    for id in ["context_recall", "context_recall_corrected"] {
        assert!(
            PLAIN.value("null", id).abs() <= 0.03,
            "{id}: {}",
            PLAIN.value("null", id)
        );
        assert!(PLAIN.value("full", "context_recall") >= 1.0 - 1e-9);
    }
    assert!(PLAIN.value("null", "lift") <= 0.02);
    let check = PLAIN
        .group
        .checks
        .iter()
        .find(|check| check.name.contains("`null`"))
        .unwrap();
    assert_eq!(check.passed, Some(true), "{}", check.detail);
}

/// Nothing is as stable as nothing: empty answers must not look like a strategy that keeps all.
#[test]
fn empty_answers_are_failures_and_compact_nothing() {
    let mut suite = small_suite();
    suite.scenarios.truncate(2);
    let staged = run(
        suite,
        named(&["summarize", "full"]),
        &*mock("mock:strong+empty=1"),
        WINDOW,
    );
    assert_eq!(staged.strategy("summarize").triggered.conversations, 0);
    assert!(staged.warns("never compacted anything, so takes no part: summarize"));
    assert!(staged.warns("decisions that failed: summarize"));
    assert!(staged.warns("turns sent over the context window"));
    assert!(staged.value("summarize", "is_summary").abs() < 1e-9);
}
