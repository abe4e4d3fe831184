//! Answers that are none, that copy the prompt's example, or that cannot be read: each is counted,
//! none drops out.

use compactometer_engine::model::{ChatError, ChatModel};
use compactometer_formats::scenario::ValueKind;
use compactometer_testing::model::{Scripted, reply, says};
use compactometer_testing::scenario::{Builder, suite};

use crate::honesty::stage::{WINDOW, mock, named, run, small_suite};

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
    let (some, staged) = share("0.8");
    assert!(some > 0.1 && some < 0.95, "some of them are none: {some}");
    assert!(staged.warns("decisions that failed: summarize"));
}

/// A small real model copied values of the prompt's example into every checkpoint that parsed.
#[test]
fn example_leakage() {
    let staged = run(
        small_suite(),
        named(&["prompt-checkpoint"]),
        &*mock("mock:strong+example-leak=1"),
        WINDOW,
    );
    let counts = staged
        .strategy("prompt-checkpoint")
        .extractions
        .as_ref()
        .unwrap();
    assert!(counts.leaked > 0, "{counts:?}");
    assert!(
        staged.warns(
            "values of the prompt's own example taken out of checkpoints: prompt-checkpoint"
        )
    );
    let clean = run(
        small_suite(),
        named(&["prompt-checkpoint"]),
        &*mock("mock:strong"),
        WINDOW,
    );
    assert_eq!(
        clean
            .strategy("prompt-checkpoint")
            .extractions
            .as_ref()
            .unwrap()
            .leaked,
        0
    );
}

#[test]
fn unparsable() {
    let model =
        says("[SUMMARY]\nThe work went on as planned.\n[CHECKPOINT]\nthere is nothing to note");
    let staged = run(small_suite(), named(&["prompt-checkpoint"]), &model, WINDOW);
    let found = staged.metric("prompt-checkpoint", "extraction_success");
    assert_eq!(
        (found.value, found.n),
        (Some(0.0), 8),
        "asked for and not read is a miss, not a gap"
    );
    let counts = staged
        .strategy("prompt-checkpoint")
        .extractions
        .as_ref()
        .unwrap();
    assert_eq!(counts.unreadable.values().sum::<usize>(), counts.attempts);
}

/// All of `full`'s answers are wrong; that half of the calls failed makes them no better.
#[test]
fn failed_calls() {
    let asked = |at: usize| {
        let mut builder = Builder::numbered(at);
        builder
            .state("kx-4711", ValueKind::Id, "The ticket is kx-4711.")
            .foil_values = vec!["kx-9999".into()];
        builder.chatter(4_000);
        builder.ask(&["fact-0"], "Which ticket is it?");
        builder.ask(&["fact-0"], "Which ticket do we speak of?");
        builder.build()
    };
    let flaky = Scripted::new(|call, _| match call % 2 {
        0 => Err(ChatError::Server { status: 500 }),
        _ => Ok(reply("kx-9999")),
    });
    let staged = |model: &dyn ChatModel| {
        run(
            suite((0..6).map(asked).collect()),
            named(&["full"]),
            model,
            2_000,
        )
    };
    let (flaky, steady) = (staged(&flaky), staged(&says("kx-9999")));
    for staged in [&flaky, &steady] {
        assert_eq!(staged.value("full", "wrong_value_rate"), 1.0);
        assert_eq!(staged.value("full", "hallucination"), 1.0);
        assert_eq!(staged.value("full", "answer_recall"), 0.0);
    }
    assert_eq!(
        (
            flaky.value("full", "failed_probes"),
            steady.value("full", "failed_probes")
        ),
        (0.5, 0.0)
    );
    assert!(
        flaky.warns("questions without an answer") && !steady.warns("questions without an answer")
    );
}
