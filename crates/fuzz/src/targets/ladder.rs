//! The ladder that reads checkpoints from a model's answer: a checkpoint is not empty, reads back as it was, and holds no text that
//! the answer does not; where there is none, the reason says why.

use compactometer_engine::checkpoint::{Checkpoint, Examples, Reading, Rung, extract};
use compactometer_engine::model::Finish;

/// A prompt whose examples are to be taken out.
const PROMPT: &str = "Write {\"active_goals\": [\"goal\"], \"pending_tasks\": [{\"task\": \"what\"}]}.";

/// Items that are looked for in the answer, so that a long one does not take all of the time.
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
        (Some(checkpoint), Reading::Rung(rung)) => {
            assert!(rung != Rung::Partial || finish == Finish::Length, "{extraction:?}");
            if rung == Rung::Strict {
                serde_json::from_str::<Checkpoint>(answer.trim()).expect("the answer is what was asked for");
            }
            holds(answer, checkpoint, examples);
        }
        (None, Reading::Unreadable(_)) => {}
        other => panic!("{other:?}"),
    }
    checkpoint.is_some()
}

fn holds(answer: &str, checkpoint: &Checkpoint, examples: &Examples<'_>) {
    assert!(!checkpoint.is_empty(), "an empty checkpoint is none");
    let json = serde_json::to_string(checkpoint).expect("a checkpoint is JSON");
    assert_eq!(serde_json::from_str::<Checkpoint>(&json).expect("it reads back"), *checkpoint);
    assert_eq!(checkpoint.clone().merged_with(checkpoint.clone()), *checkpoint, "it adds nothing to itself");
    for item in checkpoint.items().into_iter().take(MOST_ITEMS) {
        assert!(!examples.leaks(item.value.trim()), "an example is left: {item:?}");
        // Escapes stand for other letters, and values within values are written anew.
        let is_plain = !answer.contains('\\') && !item.value.starts_with(['[', '{']);
        let is_said = |text: &str| answer.contains(text);
        assert!(!is_plain || (is_said(&item.value) && is_said(&item.topic)), "not in the answer: {item:?}");
    }
}
