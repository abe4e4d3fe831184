//! Contents of Google's API, as a request has them, and events of the Agent Development Kit, which
//! hold such contents.
//!
//! An event with a compaction replaces the events of its span by a content.

use std::collections::HashSet;

use compactometer_engine::message::Role;
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::google_parts;
use crate::import::readers::tabled;
use crate::import::report::Recorder;
use crate::import::session::{Compaction, Left, ReadSession, Spoken};

pub(in crate::import) const CONTENTS: Importer = Importer {
    name: "google",
    about: "contents of Google's API: a list, or an object with `contents` or `history`, of `role` user or model with `parts`",
    source: "Gemini API v1beta, contents of generateContent; compression scenarios of gemini-cli",
    compactions: "None is recorded.",
    particulars: "A result without an id answers the first open call.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let rows = tabled::beginning(text, &["parts", "role"], LISTS);
        !rows.is_empty() && rows.iter().all(is_content)
    },
    read: |input, recorder| read(input, &CONTENTS, recorder),
};

pub(in crate::import) const EVENTS: Importer = Importer {
    name: "adk",
    about: "a session of the Agent Development Kit: an object with `events`, each with an `author` and a `content`",
    source: "google/adk-python 1, a session dumped as JSON",
    compactions: "`actions.compaction` has the span that its `compactedContent` replaced. Trigger, usage and tokens before are not in the file.",
    particulars: "Times are in seconds.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let rows = tabled::beginning(text, &["events", "author"], &["/events"]);
        !rows.is_empty() && rows.iter().all(|event| event["author"].is_string())
    },
    read: |input, recorder| read(input, &EVENTS, recorder),
};

const LISTS: &[&str] = &["", "/contents", "/history", "/events"];

fn is_content(row: &Value) -> bool {
    matches!(row["role"].as_str(), Some("user" | "model" | "function")) && row["parts"].is_array()
}

fn read(
    input: &Input,
    importer: &Importer,
    recorder: &mut Recorder,
) -> Result<Vec<ReadSession>, ImportError> {
    let mut session = ReadSession::new(input, importer.name, &input.stem);
    for (place, row) in tabled::rows(input, importer.about, LISTS, recorder)? {
        add(&mut session, place, &row, recorder)?;
    }
    Ok(vec![session])
}

/// Adds a content, or what an event holds.
fn add(
    session: &mut ReadSession,
    place: Place,
    row: &Value,
    recorder: &mut Recorder,
) -> Result<(), ImportError> {
    let compaction = &row["actions"]["compaction"];
    if compaction.is_object() {
        let compacted = compacted(place, compaction, session, recorder)?;
        session.compactions.push(compacted);
    } else if row["content"].is_object() {
        let said = content_messages(place, at_ms(&row["timestamp"]), &row["content"], recorder)?;
        session
            .messages
            .extend(with_usage(said, &row["usageMetadata"]));
    } else if is_content(row) {
        session
            .messages
            .extend(content_messages(place, None, row, recorder)?);
    } else {
        recorder.ignore("event without content");
    }
    Ok(())
}

fn at_ms(seconds: &Value) -> Option<i64> {
    seconds.as_f64().map(|seconds| (seconds * 1_000.0) as i64)
}

/// The messages of a content: its results, then what was said.
fn content_messages(
    place: Place,
    at_ms: Option<i64>,
    content: &Value,
    recorder: &mut Recorder,
) -> Result<Vec<Spoken>, ImportError> {
    let role = match content["role"].as_str() {
        Some("model") => Role::Assistant,
        _ => Role::User,
    };
    let parts = google_parts::read(&content["parts"], role, place, recorder)?;
    let said = [(Role::Tool, parts.results), (role, parts.said)];
    let said = said.into_iter().filter(|(_, parts)| !parts.is_empty());
    Ok(said
        .map(|(role, parts)| Spoken {
            place,
            role,
            at_ms,
            parts,
            usage: None,
        })
        .collect())
}

fn with_usage(mut said: Vec<Spoken>, counts: &Value) -> Vec<Spoken> {
    if let Some(last) = said.last_mut().filter(|said| said.role == Role::Assistant) {
        last.usage = google_parts::usage_metadata(counts);
    }
    said
}

/// What the next request began with: what was said before the first span, the summaries so far, and
/// this one.
fn compacted(
    place: Place,
    compaction: &Value,
    session: &ReadSession,
    recorder: &mut Recorder,
) -> Result<Compaction, ImportError> {
    let start = at_ms(&compaction["startTimestamp"]);
    let content = &compaction["compactedContent"];
    let parts = google_parts::read(&content["parts"], Role::Assistant, place, recorder)?;
    let is_before = |said: &&Spoken| said.at_ms.is_some_and(|at| start > Some(at));
    let before = session
        .messages
        .iter()
        .filter(is_before)
        .map(|said| said.place);
    let before = before.collect::<HashSet<_>>();
    let mut context = match session.compactions.last() {
        Some(earlier) => earlier.context.clone(),
        None => session
            .messages
            .iter()
            .map(|said| Left::Kept(said.place))
            .collect(),
    };
    context.retain(|left| !matches!(left, Left::Kept(place) if !before.contains(place)));
    context.push(Left::Written(Role::User, google_parts::texts(&parts.said)));
    Ok(Compaction {
        at_ms: at_ms(&compaction["endTimestamp"]),
        context,
        ..Compaction::at(place)
    })
}
