//! The event stream of both wire formats: however its bytes are split, it gives the same events and
//! the same reply or error.

use compactometer_engine::model::ChatRequest;
use compactometer_models::http::fuzzing;
use compactometer_models::providers::{ANTHROPIC, OPENAI_COMPATIBLE, OPENAI_RESPONSES};

/// The largest number of pieces, so that a long input does not take all the time.
const MOST_PIECES: usize = 4_096;

pub(super) fn run(data: &[u8]) -> bool {
    let events = events(data);
    for size in [1, 2, 3, 7, 64, 1_000, usize::MAX]
        .into_iter()
        .filter(|size| data.len() / size <= MOST_PIECES)
    {
        let pieces = data.chunks(size).collect::<Vec<_>>();
        assert_eq!(
            fuzzing::events(&pieces),
            events,
            "cut into pieces of {size} bytes"
        );
    }
    let request = ChatRequest::prompt("Hello.".to_owned(), 10, None, 0);
    let replies = [&OPENAI_COMPATIBLE, &OPENAI_RESPONSES, &ANTHROPIC].map(|api| {
        let reply = fuzzing::reply(api, &[data], &request);
        let pieces = data.chunks(61).collect::<Vec<_>>();
        assert_eq!(fuzzing::reply(api, &pieces, &request), reply, "{api:?}");
        if let Err(error) = &reply {
            assert!(!error.to_string().is_empty());
        }
        reply.is_ok()
    });
    replies.contains(&true)
}

/// The data of each event according to the standard: `data` lines up to an empty line.
fn events(data: &[u8]) -> Vec<Vec<u8>> {
    let (mut events, mut lines) = (Vec::new(), Vec::<&[u8]>::new());
    let data = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    for line in data
        .split_inclusive(|byte| *byte == b'\n')
        .filter_map(|line| line.strip_suffix(b"\n"))
    {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if let Some(data) = line.strip_prefix(b"data:") {
            lines.push(data.strip_prefix(b" ").unwrap_or(data));
        } else if line.is_empty() {
            events.push(std::mem::take(&mut lines).join(&b'\n'));
        }
    }
    // An event without data is ignored.
    events.retain(|event| !event.is_empty());
    events
}
