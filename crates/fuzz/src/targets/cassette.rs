//! The cassette reader: it replays what it accepts, a refusal names the line, and a recording
//! continues after a torn line. Each input is a file of calls. Each line with a model and a request
//! gets the right key, which no mutation of bytes would find.

use std::path::Path;

use compactometer_engine::model::{ChatError, ChatModel, ChatRequest};
use compactometer_models::cassette::{Cassette, CassetteError};
use compactometer_simulator::mock::Mock;
use compactometer_simulator::profile;
use serde_json::{Value, json};

use super::mock::ready;
use crate::scratch_files;

pub(super) fn run(data: &[u8]) -> bool {
    let lines = data
        .split_inclusive(|byte| *byte == b'\n')
        .map(with_key)
        .collect::<Vec<_>>();
    scratch_files::in_folder(|folder| {
        scratch_files::write(folder, "calls.jsonl", &lines.concat());
        let replayed = Cassette::replaying(folder);
        match &replayed {
            Ok(cassette) => replays(cassette, folder, &lines),
            Err(error) => refused(error, lines.len()),
        }
        records_on(folder);
        replayed.is_ok()
    })
}

fn replays(cassette: &Cassette, folder: &Path, lines: &[Vec<u8>]) {
    let replies = Cassette::replies(folder, cassette.name()).expect("it was read before");
    assert!(replies.len() <= lines.len());
    for line in lines
        .iter()
        .filter(|line| line.ends_with(b"\n") && !line.trim_ascii().is_empty())
    {
        let call = serde_json::from_slice::<Value>(line).expect("the cassette took the line");
        let request =
            serde_json::from_value(call["request"].clone()).expect("the cassette took the request");
        let answer = ready(cassette, &request);
        assert!(
            !matches!(answer, Err(ChatError::Unavailable { .. })),
            "{answer:?} to {request:?}"
        );
    }
}

fn refused(error: &CassetteError, lines: usize) {
    if let CassetteError::Line { line, .. } = error {
        assert!((1..=lines).contains(line), "line {line} of {lines}");
    }
    assert!(error.to_string().contains('`'), "no place: {error}");
}

/// A recording that opens takes one more call, and the folder can be read with it.
fn records_on(folder: &Path) {
    let mock = || Box::new(Mock::new(profile::STRONG));
    let Ok(cassette) = Cassette::recording(folder, &[], mock()) else {
        return;
    };
    let request = ChatRequest::prompt("Say hello to line \u{1e}.".to_owned(), 10, None, 7);
    let answer = ready(&cassette, &request).expect("the mock answers");
    let replies = Cassette::replies(folder, cassette.name()).expect("the recording can be read");
    assert!(replies.contains(&answer));
}

/// The line with the key of its model and request.
fn with_key(line: &[u8]) -> Vec<u8> {
    keyed(line).unwrap_or_else(|| line.to_vec())
}

fn keyed(line: &[u8]) -> Option<Vec<u8>> {
    let mut call = serde_json::from_slice::<Value>(line.strip_suffix(b"\n")?).ok()?;
    let request = serde_json::from_value::<ChatRequest>(call["request"].clone()).ok()?;
    let request = serde_json::from_str::<Value>(&serde_json::to_string(&request).ok()?).ok()?;
    let mut content = json!([call["model"].as_str()?, request]);
    content.sort_all_objects();
    let hash = blake3::hash(content.to_string().as_bytes()).to_hex();
    *call.get_mut("key")? = json!(hash[..32]);
    Some(format!("{call}\n").into_bytes())
}
