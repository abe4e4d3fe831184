//! Recorded calls: kept, found again, joined, and missed with words that help.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use compactometer_engine::message::Usage;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest, Finish, Served};
use compactometer_models::by_name;
use compactometer_models::cassette::Cassette;

/// Answers with the number of the call, or fails.
struct Counting {
    name: &'static str,
    calls: Arc<AtomicUsize>,
    fails: Option<ChatError>,
}

#[async_trait]
impl ChatModel for Counting {
    fn name(&self) -> &str {
        self.name
    }

    async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        if let Some(error) = &self.fails {
            return Err(error.clone());
        }
        let served = Served {
            usage: Some(serde_json::json!({"raw": call})),
            ..Served::default()
        };
        let text = format!("answer {call}");
        Ok(ChatReply {
            text,
            finish: Finish::Length,
            usage: Usage::default(),
            latency_ms: 1_234,
            served: Some(Box::new(served)),
        })
    }
}

fn counting(name: &'static str) -> (Counting, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    (
        Counting {
            name,
            calls: Arc::clone(&calls),
            fails: None,
        },
        calls,
    )
}

fn request(seed: u64) -> ChatRequest {
    ChatRequest::prompt("Summarize.".to_owned(), 100, Some(0.3), seed)
}

fn recording(folder: &Path, model: Counting) -> Cassette {
    Cassette::recording(folder, &[], Box::new(model)).expect("a recording")
}

fn replay_error(folder: &Path) -> String {
    Cassette::replaying(folder)
        .err()
        .expect("refused")
        .to_string()
}

#[tokio::test]
async fn what_was_asked_once_is_answered_again_with_and_without_the_model() {
    let dir = tempfile::tempdir().expect("a folder");
    let (model, calls) = counting("a");
    let recorded = recording(dir.path(), model);
    let first = recorded.complete(&request(1)).await.expect("a reply");
    let second = recorded.complete(&request(2)).await.expect("a reply");
    assert_eq!(
        recorded.complete(&request(1)).await.expect("a reply"),
        first
    );
    assert_eq!(calls.load(Ordering::Relaxed), 2, "nothing is asked twice");
    drop(recorded);
    let (model, calls) = counting("a");
    let resumed = recording(dir.path(), model);
    assert_eq!(
        resumed.complete(&request(2)).await.expect("a reply"),
        second
    );
    assert_eq!(calls.load(Ordering::Relaxed), 0, "nor by a later process");
    drop(resumed);
    let replayed = by_name(&format!("cassette:{}", dir.path().display())).expect("a cassette");
    assert_eq!(replayed.name(), "a");
    assert_eq!(
        replayed.complete(&request(1)).await.expect("a reply"),
        first
    );
}

#[tokio::test]
async fn a_miss_counts_and_names_the_command_that_records() {
    let dir = tempfile::tempdir().expect("a folder");
    let (model, _) = counting("openai-compatible:small");
    recording(dir.path(), model)
        .complete(&request(1))
        .await
        .expect("a reply");
    let replayed = Cassette::replaying(dir.path()).expect("a cassette");
    for missed in ["(1 missed so far)", "(2 missed so far)"] {
        let error = replayed.complete(&request(2)).await.expect_err("a miss");
        let ChatError::Unavailable { why, later: false } = error else {
            panic!("{error:?}")
        };
        let command = format!(
            "`--model openai-compatible:small@URL --record {}`",
            dir.path().display()
        );
        assert!(why.contains(missed) && why.contains(&command), "{why}");
    }
}

#[tokio::test]
async fn a_refusal_of_the_request_is_kept_and_what_may_pass_is_not() {
    let dir = tempfile::tempdir().expect("a folder");
    for (seed, error, kept) in [
        (
            1,
            ChatError::Refused {
                message: "too long".to_owned(),
            },
            true,
        ),
        (
            2,
            ChatError::Unavailable {
                why: "down".to_owned(),
                later: true,
            },
            false,
        ),
        (3, ChatError::Server { status: 500 }, false),
    ] {
        let (model, _) = counting("a");
        let recorded = recording(
            dir.path(),
            Counting {
                fails: Some(error.clone()),
                ..model
            },
        );
        assert_eq!(recorded.complete(&request(seed)).await, Err(error.clone()));
        drop(recorded);
        let (model, calls) = counting("a");
        let again = recording(dir.path(), model).complete(&request(seed)).await;
        assert_eq!(calls.load(Ordering::Relaxed), usize::from(!kept), "{error}");
        assert_eq!(again.is_err(), kept);
    }
}

#[tokio::test]
async fn two_recordings_join_by_their_files_or_by_their_lines() {
    let (one, other, joined) = (
        tempfile::tempdir(),
        tempfile::tempdir(),
        tempfile::tempdir(),
    );
    let [one, other, joined] = [one, other, joined].map(|dir| dir.expect("a folder"));
    for (dir, seeds) in [(&one, [1, 2]), (&other, [2, 3])] {
        let recorded = recording(dir.path(), counting("a").0);
        for seed in seeds {
            recorded.complete(&request(seed)).await.expect("a reply");
        }
    }
    let file = |dir: &tempfile::TempDir| dir.path().join("calls.jsonl");
    std::fs::copy(file(&one), joined.path().join("one.jsonl")).expect("copied");
    std::fs::copy(file(&other), joined.path().join("other.jsonl")).expect("copied");
    let by_files = Cassette::replaying(joined.path()).expect("a cassette");
    for seed in 1..=3 {
        by_files.complete(&request(seed)).await.expect("a reply");
    }
    let texts = [file(&one), file(&other)].map(|path| std::fs::read_to_string(path).expect("text"));
    let mut lines = texts
        .iter()
        .flat_map(|text| text.lines())
        .collect::<Vec<_>>();
    lines.sort_unstable();
    std::fs::write(file(&one), lines.join("\n") + "\n").expect("written");
    let by_lines = Cassette::replaying(one.path()).expect("a cassette");
    for seed in 1..=3 {
        by_lines.complete(&request(seed)).await.expect("a reply");
    }
}

#[tokio::test]
async fn a_line_that_a_killed_process_tore_is_recorded_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let recorded = recording(dir.path(), counting("a").0);
    for seed in 1..=2 {
        recorded.complete(&request(seed)).await.expect("a reply");
    }
    drop(recorded);
    let path = dir.path().join("calls.jsonl");
    let bytes = std::fs::read(&path).expect("bytes");
    std::fs::write(&path, &bytes[..bytes.len() - 9]).expect("torn");
    let replayed = Cassette::replaying(dir.path()).expect("a cassette");
    assert!(
        replayed.complete(&request(1)).await.is_ok()
            && replayed.complete(&request(2)).await.is_err()
    );
    let (model, calls) = counting("a");
    let resumed = recording(dir.path(), model);
    for seed in 1..=2 {
        resumed.complete(&request(seed)).await.expect("a reply");
    }
    drop(resumed);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(
        std::fs::read_to_string(&path)
            .expect("text")
            .lines()
            .count(),
        2
    );
}

#[tokio::test]
async fn a_line_that_a_failed_write_tore_does_not_join_the_next() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("calls.jsonl");
    let recorded = recording(dir.path(), counting("a").0);
    recorded.complete(&request(1)).await.expect("a reply");
    // What a write leaves that a full disk ends.
    let mut half = std::fs::read(&path).expect("bytes");
    half.extend_from_slice(b"{\"key\":\"half");
    std::fs::write(&path, &half).expect("written");
    recorded.complete(&request(2)).await.expect("a reply");
    drop(recorded);
    let replayed = Cassette::replaying(dir.path()).expect("a cassette");
    for seed in 1..=2 {
        replayed.complete(&request(seed)).await.expect("kept");
    }
}

#[tokio::test]
async fn a_line_that_is_torn_within_a_letter_is_left_out() {
    let dir = tempfile::tempdir().expect("a folder");
    let recorded = recording(dir.path(), counting("a").0);
    recorded.complete(&request(1)).await.expect("a reply");
    drop(recorded);
    let path = dir.path().join("calls.jsonl");
    let mut bytes = std::fs::read(&path).expect("bytes");
    bytes.extend(&"{\"key\":\"é".as_bytes()[.."{\"key\":\"é".len() - 1]);
    std::fs::write(&path, &bytes).expect("torn");
    let replayed = Cassette::replaying(dir.path()).expect("a cassette");
    assert!(replayed.complete(&request(1)).await.is_ok());
}

#[tokio::test]
async fn a_folder_that_is_moved_takes_no_more_calls() {
    let parent = tempfile::tempdir().expect("a folder");
    let (tape, moved) = (parent.path().join("tape"), parent.path().join("moved"));
    let recorded = recording(&tape, counting("a").0);
    let first = recorded.complete(&request(1)).await.expect("a reply");
    std::fs::rename(&tape, &moved).expect("moved");
    let error = recorded
        .complete(&request(2))
        .await
        .expect_err("refused")
        .to_string();
    let place = format!("the cassette `{}` was removed or replaced", tape.display());
    assert!(
        error.contains(&place) && error.contains("move it back"),
        "{error}"
    );
    drop(recorded);
    let (model, calls) = counting("a");
    let again = recording(&moved, model);
    assert_eq!(again.complete(&request(1)).await.expect("kept"), first);
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn folders_that_cannot_be_used_say_why() {
    let dir = tempfile::tempdir().expect("a folder");
    assert!(replay_error(dir.path()).contains("holds no recorded calls"));
    assert!(replay_error(&dir.path().join("none")).contains("cannot read the cassette"));
    let recorded = recording(dir.path(), counting("a").0);
    recorded.complete(&request(1)).await.expect("a reply");
    let second = Cassette::recording(dir.path(), &[], Box::new(counting("a").0))
        .err()
        .expect("refused")
        .to_string();
    assert!(second.contains("another process records"), "{second}");
    drop(recorded);
    recording(dir.path(), counting("b").0)
        .complete(&request(1))
        .await
        .expect("a reply");
    assert!(replay_error(dir.path()).contains("several models (`a`, `b`)"));
    let path = dir.path().join("calls.jsonl");
    let text = std::fs::read_to_string(&path)
        .expect("text")
        .replace("Summarize.", "Summarise.");
    std::fs::write(&path, text).expect("written");
    assert!(
        replay_error(dir.path()).contains("line 1: its key does not match its model and request")
    );
}
