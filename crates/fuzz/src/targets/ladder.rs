//! The ladder that reads checkpoints from a model's answer: a checkpoint is not empty, survives a
//! round trip, and contains only text of the answer. Without a checkpoint there is a reason.

use compactometer_engine::checkpoint::{Checkpoint, Examples, LadderReading, Rung, extract};
use compactometer_engine::model::Finish;

/// A prompt with examples that must be removed from answers.
const PROMPT: &str =
    "Write {\"active_goals\": [\"goal\"], \"pending_tasks\": [{\"task\": \"what\"}]}.";

/// The largest number of items that are checked, so that a long answer does not take all the time.
const MOST_ITEMS: usize = 100;

pub(super) fn run(data: &[u8]) -> bool {
    let answer = String::from_utf8_lossy(data);
    let read = [Finish::Stop, Finish::Length].map(|finish| {
        check(&answer, finish, &Examples::new(PROMPT, String::new));
        check(&answer, finish, &Examples::default())
    });
    read.contains(&true)
}

fn check(answer: &str, finish: Finish, examples: &Examples<'_>) -> bool {
    let (checkpoint, extraction) = extract(answer, finish, examples);
    match (&checkpoint, extraction.reading) {
        (Some(checkpoint), LadderReading::Rung(rung)) => {
            assert!(
                rung != Rung::Partial || finish == Finish::Length,
                "{extraction:?}"
            );
            if rung == Rung::Strict {
                serde_json::from_str::<Checkpoint>(answer.trim())
                    .expect("the answer is what was asked for");
            }
            holds(answer, checkpoint, examples);
        }
        (None, LadderReading::Unreadable(_)) => {}
        other => panic!("{other:?}"),
    }
    checkpoint.is_some()
}

fn holds(answer: &str, checkpoint: &Checkpoint, examples: &Examples<'_>) {
    assert!(
        !checkpoint.is_empty(),
        "an empty checkpoint is not a checkpoint"
    );
    reads_back(checkpoint);
    assert_eq!(
        checkpoint.clone().merged_with(checkpoint.clone()),
        *checkpoint,
        "merging a checkpoint with itself changes it"
    );
    for item in checkpoint.items().into_iter().take(MOST_ITEMS) {
        assert!(
            !examples.leaks(item.value.trim()),
            "an example is left: {item:?}"
        );
        // Escapes denote other letters, and nested values are rewritten.
        let is_plain = !answer.contains('\\') && !item.value.starts_with(['[', '{']);
        let is_said = |text: &str| answer.contains(text);
        assert!(
            !is_plain || (is_said(&item.value) && is_said(&item.topic)),
            "not in the answer: {item:?}"
        );
    }
}

fn reads_back(checkpoint: &Checkpoint) {
    let json = serde_json::to_string(checkpoint).expect("a checkpoint is JSON");
    let read = serde_json::from_str::<Checkpoint>(&json).expect("it reads back");
    assert_eq!(read, *checkpoint);
}
