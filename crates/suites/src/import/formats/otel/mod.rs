//! Traces of calls to models: OTLP as JSON with the GenAI attributes of OpenTelemetry, and exports
//! of Langfuse and LangSmith.
//!
//! The spans of one `gen_ai.conversation.id`, session or thread, and otherwise of one trace, are
//! one conversation in order of time. A message's place is the number of its span in that order.
//! Spans of agents repeat what their calls of models have, so they count only if the conversation
//! has no such calls. Absent on purpose: spans of tools, whose results the next request has.

mod spans;

use std::collections::BTreeMap;

use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::json_lines;
use crate::import::readers::requests::{self, Request};
use crate::import::readers::surrogates;
use crate::import::readers::wire::{KnownMessages, Wire};
use crate::import::report::Recorder;
use crate::import::session::{ReadSession, Spoken};
use compactometer_engine::message::Role;
use spans::TraceSpan;

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "otel",
    about: "traces with messages, as JSON or JSON Lines: OTLP with `gen_ai` attributes, observations of Langfuse, runs of LangSmith",
    source: "open-telemetry/semantic-conventions 095a2a1 in OTLP JSON, and the documented exports of Langfuse and LangSmith",
    compactions: "None is marked. A request that begins with the last request and its reply continues it. One that repeats the last request without the reply went back. One that shares messages or the system prompt with it, if no later request continues the last one, was compacted: new messages before the last kept one were written by the program, and the call whose text appears wrote the summary. Any other request opens a conversation `ID/side-N`.",
    particulars: "The program must have recorded contents, which instrumentations leave out by default. Reports name `element N, message M`: message M of the Nth call by time. Messages may have the parts of OpenTelemetry, OpenAI, Anthropic or LangChain. Cached tokens are subtracted from the input unless a total shows that they are not in it. Spans without messages are counted and left out. Not tested on files of real programs.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises,
    read,
};

fn recognises(text: &str) -> bool {
    if ![
        "resourceSpans",
        "resourceLogs",
        "gen_ai.",
        "run_type",
        "traceId",
        "trace_id",
    ]
    .iter()
    .any(|key| text.contains(key))
    {
        return false;
    }
    match surrogates::parse::<Value>(text) {
        Ok((value, _)) => spans::is_trace(&value),
        Err(_) => json_lines::beginning(text).any(|row| spans::is_trace(&row)),
    }
}

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let values = match surrogates::parse::<Value>(&input.text) {
        Ok((value, None)) => vec![(Place::Line(1), value)],
        Ok((value, Some(mended))) => {
            recorder.repair(Place::Line(1), mended.what())?;
            vec![(Place::Line(1), value)]
        }
        Err(_) => json_lines::read(input, recorder)?,
    };
    let mut found = Vec::new();
    for (place, value) in values {
        spans::collect(value, place, &mut found, recorder);
    }
    let mut sessions = Vec::new();
    for (group, spans) in by_conversation(found) {
        sessions.extend(conversation(
            input,
            group.as_deref().unwrap_or(&input.stem),
            spans,
            recorder,
        )?);
    }
    Ok(sessions)
}

/// The spans of each conversation. A trace of which one span names the conversation belongs to it.
fn by_conversation(spans: Vec<TraceSpan>) -> Vec<(Option<String>, Vec<TraceSpan>)> {
    let mut named = BTreeMap::new();
    for span in &spans {
        if let (Some(trace), Some(conversation)) = (&span.trace, &span.conversation) {
            named
                .entry(trace.clone())
                .or_insert_with(|| conversation.clone());
        }
    }
    let mut found: Vec<(Option<String>, Vec<TraceSpan>)> = Vec::new();
    let mut numbers = BTreeMap::new();
    for span in spans {
        let of_trace = || {
            span.trace
                .as_ref()
                .map(|trace| named.get(trace).unwrap_or(trace).clone())
        };
        let name = span.conversation.clone().or_else(of_trace);
        let at = *numbers.entry(name.clone()).or_insert(found.len());
        if at == found.len() {
            found.push((name, Vec::new()));
        }
        found[at].1.push(span);
    }
    found
}

fn conversation(
    input: &Input,
    group: &str,
    spans: Vec<TraceSpan>,
    recorder: &mut Recorder,
) -> Result<Vec<ReadSession>, ImportError> {
    let has_calls = spans
        .iter()
        .any(|span| span.has_messages() && !span.is_of_agent);
    let mut used = Vec::new();
    for span in spans {
        if span.has_messages() && !(has_calls && span.is_of_agent) {
            used.push(span);
        } else {
            recorder.ignore(&span.kind);
        }
    }
    used.sort_by_key(|span| span.start_ms);
    let (mut requests, mut known) = (Vec::new(), KnownMessages::new());
    for (number, span) in (1..).zip(used) {
        requests.push(request(number, span, &mut known, recorder)?);
    }
    let session = |(number, dialogue): (usize, requests::Dialogue)| ReadSession {
        stem: if number == 0 {
            group.to_owned()
        } else {
            format!("{group}/side-{number}")
        },
        compactions: dialogue.compactions,
        messages: dialogue.messages,
        ..ReadSession::new(input, IMPORTER.name, group)
    };
    Ok((0..)
        .zip(requests::dialogues(requests, recorder))
        .map(session)
        .collect())
}

fn request(
    number: usize,
    span: TraceSpan,
    known: &mut KnownMessages,
    recorder: &mut Recorder,
) -> Result<Request, ImportError> {
    let mut wire = Wire {
        place: span.place,
        known,
        recorder,
    };
    let mut said = Vec::new();
    for message in &span.input {
        said.extend(wire.spoken(message)?);
    }
    let mut replies = Vec::new();
    for message in &span.output {
        replies.extend(wire.spoken(message)?);
    }
    let mut replies = replies
        .into_iter()
        .filter(|said| said.role == Role::Assistant);
    let reply = replies.next().map(|said| Spoken {
        at_ms: span.end_ms.or(span.start_ms),
        usage: span.usage,
        ..said
    });
    for _ in replies {
        wire.recorder.ignore("further choice of a reply");
    }
    Ok(Request {
        number,
        at_ms: span.start_ms,
        input: said,
        reply,
        mark: None,
    })
}
