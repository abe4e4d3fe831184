//! Answers that are none, that copy the prompt's example, or that cannot be read: each is counted, none drops out.

use crate::stage::{Says, WINDOW, mock, named, run, small_suite};

/// Of 100 outputs 13 to 21 continued or refused the conversation.
#[test]
fn not_a_summary() {
    let share = |rate: &str| {
        let model = mock(&format!("mock:strong+continues-chat={rate}"));
        let staged = run(small_suite(), named(&["summarize"]), &*model, WINDOW);
        (staged.value("summarize", "is_summary"), staged)
    };
    let (none, _) = share("0");
    assert!(none >= 1.0 - 1e-9, "{none}");
    let (some, staged) = share("0.6");
    assert!(some > 0.1 && some < 0.95, "some of them are none: {some}");
    assert!(staged.warns("decisions that failed: summarize"));
}

/// A small real model copied values of the prompt's example into every checkpoint that parsed.
#[test]
fn example_leakage() {
    let staged = run(small_suite(), named(&["prompt-checkpoint"]), &*mock("mock:strong+example-leak=1"), WINDOW);
    let counts = staged.of("prompt-checkpoint").extractions.as_ref().unwrap();
    assert!(counts.leaked > 0, "{counts:?}");
    assert!(staged.warns("values of the prompt's own example taken out of checkpoints: prompt-checkpoint"));
    let clean = run(small_suite(), named(&["prompt-checkpoint"]), &*mock("mock:strong"), WINDOW);
    assert_eq!(clean.of("prompt-checkpoint").extractions.as_ref().unwrap().leaked, 0);
}

#[test]
fn unparsable() {
    let model = Says("[SUMMARY]\nThe work went on as planned.\n[CHECKPOINT]\nthere is nothing to note");
    let staged = run(small_suite(), named(&["prompt-checkpoint"]), &model, WINDOW);
    let found = staged.metric("prompt-checkpoint", "extraction_success");
    assert_eq!((found.value, found.n), (Some(0.0), 8), "asked for and not read is a miss, not a gap");
    let counts = staged.of("prompt-checkpoint").extractions.as_ref().unwrap();
    assert_eq!(counts.unreadable.values().sum::<usize>(), counts.attempts);
}
