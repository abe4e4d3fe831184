//! Logs of Inspect in their JSON form: one object with `eval` and `samples`.
//!
//! A sample is one conversation, built from the requests in its events, since its own list of
//! messages contains the summaries. Each epoch of a sample is one session of its group. Requests of
//! sub-agents and other purposes become side conversations. Absent on purpose: scores, targets, and
//! the states between events.

use std::collections::HashMap;

use compactometer_engine::message::{Role, Usage};
use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::importer::Importer;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::json_lines;
use crate::import::readers::json_value;
use crate::import::readers::requests::{self, Dialogue, Request, RequestMark};
use crate::import::readers::wire::{self, KnownMessages, Wire};
use crate::import::report::Recorder;
use crate::import::session::{ReadSession, Spoken};

const ABOUT: &str = "an Inspect log as JSON: an object with `eval` and `samples`; \
                     `inspect log dump FILE.eval > FILE.json` makes one of a zipped log";

pub(in crate::import) const IMPORTER: Importer = Importer {
    name: "inspect",
    about: ABOUT,
    source: "inspect_ai 0.3.285, logs/*.json",
    compactions: "An event of type `compaction` lies before the next request of its span, with its trigger and tokens before. The call whose text is in that request wrote the summary: it has the usage and is left out as a message. A log without `model` events has messages only, and its compactions cannot be placed.",
    particulars: "`--log-format json` writes JSON at once. Epochs of `TASK/ID` are not independent of each other, and requests of another agent or purpose are a conversation `…/side-N`. Scores, targets and states, events of tools and choices after the first are left out.",
    sessions: None,
    reattaches: None,
    by_line: false,
    recognises: |text| {
        let value = json_value::with_keys(text, '{', &["eval", "samples"]);
        value.is_some_and(|value| value["eval"].is_object() && value["samples"].is_array())
    },
    read,
};

fn read(input: &Input, recorder: &mut Recorder) -> Result<Vec<ReadSession>, ImportError> {
    let log = json_value::read(input, ABOUT, recorder)?;
    let task = log["eval"]["task"]
        .as_str()
        .filter(|task| !task.is_empty())
        .unwrap_or(&input.stem);
    let mut sessions = Vec::new();
    for (element, sample) in (1..).zip(log["samples"].as_array().into_iter().flatten()) {
        let mut reader = InspectReader {
            element,
            attachments: &sample["attachments"],
            known: KnownMessages::new(),
            recorder,
        };
        let dialogues = reader.dialogues(sample)?;
        let id = match &sample["id"] {
            Value::String(id) => id.clone(),
            other => other.to_string(),
        };
        let epoch = sample["epoch"].as_u64().unwrap_or(1);
        let group = format!("{task}/{id}");
        let stem = |number| match number {
            0 => format!("{group}/epoch-{epoch}"),
            _ => format!("{group}/epoch-{epoch}/side-{number}"),
        };
        sessions.extend((0..).zip(dialogues).map(|(number, dialogue)| ReadSession {
            stem: stem(number),
            order: epoch,
            compactions: dialogue.compactions,
            messages: dialogue.messages,
            ..ReadSession::new(input, IMPORTER.name, &group)
        }));
    }
    Ok(sessions)
}

struct InspectReader<'r> {
    /// The number of the sample.
    element: usize,
    attachments: &'r Value,
    known: KnownMessages,
    recorder: &'r mut Recorder,
}

impl InspectReader<'_> {
    fn dialogues(&mut self, sample: &Value) -> Result<Vec<Dialogue>, ImportError> {
        let shared = sample["events_data"]["messages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut requests = Vec::new();
        // The compactions whose next request did not come yet, by the span that they are in.
        let mut marks = HashMap::new();
        for event in sample["events"].as_array().into_iter().flatten() {
            let span = event["span_id"].as_str().unwrap_or_default();
            match event["event"].as_str().unwrap_or("untyped") {
                "model" => {
                    let mut request = self.request(requests.len() + 1, event, shared)?;
                    request.mark = marks.remove(span);
                    requests.push(request);
                }
                "compaction" => drop(marks.insert(span, self.mark(event)?)),
                kind => self.recorder.ignore(kind),
            }
        }
        for _ in 0..marks.len() {
            self.recorder.ignore("compaction that no request follows");
        }
        if requests.is_empty() {
            return self.without_requests(&sample["messages"]);
        }
        Ok(requests::dialogues(requests, self.recorder))
    }

    fn request(
        &mut self,
        number: usize,
        event: &Value,
        shared: &[Value],
    ) -> Result<Request, ImportError> {
        let place = Place::Turn {
            element: self.element,
            message: number,
        };
        let own = event["input"].as_array().into_iter().flatten();
        let ranges = event["input_refs"].as_array().into_iter().flatten();
        let referred = ranges.flat_map(|range| slice(shared, range));
        let mut input = Vec::new();
        for message in own.chain(referred) {
            input.extend(self.spoken(place, message)?);
        }
        let output = &event["output"];
        let replies = self.spoken_if(place, &output["choices"][0]["message"])?;
        let at =
            |key: &str, recorder: &mut Recorder| json_lines::at_ms(&event[key], place, recorder);
        let (at_ms, done) = (
            at("timestamp", self.recorder)?,
            at("completed", self.recorder)?,
        );
        let usage = usage(&output["usage"]);
        let reply = replies
            .into_iter()
            .find(|said| said.role == Role::Assistant);
        let reply = reply.map(|said| Spoken {
            at_ms: done.or(at_ms),
            usage,
            ..said
        });
        Ok(Request {
            number,
            at_ms,
            input,
            reply,
            mark: None,
        })
    }

    fn mark(&mut self, event: &Value) -> Result<RequestMark, ImportError> {
        let place = Place::Element(self.element);
        let trigger = event["metadata"]["trigger"]
            .as_str()
            .or(event["type"].as_str())
            .map(str::to_owned);
        let at_ms = json_lines::at_ms(&event["timestamp"], place, self.recorder)?;
        Ok(RequestMark {
            at_ms,
            trigger,
            reported_tokens: event["tokens_before"].as_u64(),
        })
    }

    /// The sample's own messages, without its summaries. What a compaction kept is not known from
    /// them.
    fn without_requests(&mut self, messages: &Value) -> Result<Vec<Dialogue>, ImportError> {
        let mut found = Vec::new();
        for (message, value) in (1..).zip(messages.as_array().into_iter().flatten()) {
            let place = Place::Turn {
                element: self.element,
                message,
            };
            if value["metadata"]["summary"] == Value::Bool(true) {
                let what = "summary of a compaction whose requests are not in the file: left out"
                    .to_owned();
                self.recorder.repair(place, what)?;
                continue;
            }
            found.extend(self.spoken(place, value)?);
        }
        Ok(vec![Dialogue {
            messages: found,
            compactions: Vec::new(),
        }])
    }

    fn spoken_if(&mut self, place: Place, message: &Value) -> Result<Vec<Spoken>, ImportError> {
        if message.is_object() {
            self.spoken(place, message)
        } else {
            Ok(Vec::new())
        }
    }

    fn spoken(&mut self, place: Place, message: &Value) -> Result<Vec<Spoken>, ImportError> {
        let mut message = message.clone();
        if let Some(content) = message.get_mut("content") {
            self.attach(content);
        }
        Wire {
            place,
            known: &mut self.known,
            recorder: self.recorder,
        }
        .spoken(&message)
    }

    /// Puts the texts and media in that the log has at the end of a sample.
    fn attach(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let attached = text
                    .strip_prefix("attachment://")
                    .and_then(|key| self.attachments[key].as_str());
                if let Some(attached) = attached {
                    *text = attached.to_owned();
                }
            }
            Value::Array(inner) => inner.iter_mut().for_each(|one| self.attach(one)),
            Value::Object(fields) => fields.values_mut().for_each(|one| self.attach(one)),
            _ => {}
        }
    }
}

/// The shared messages from the first number of a range to before the second.
fn slice<'v>(shared: &'v [Value], range: &Value) -> &'v [Value] {
    let number = |at: usize| {
        range[at]
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
    };
    let (Some(start), Some(end)) = (number(0), number(1)) else {
        return &[];
    };
    shared.get(start..end.min(shared.len())).unwrap_or_default()
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |key: &str| value[key].as_u64().unwrap_or(0);
    let (read, write) = (
        count("input_tokens_cache_read"),
        count("input_tokens_cache_write"),
    );
    wire::usage(
        count("input_tokens"),
        read,
        write,
        count("output_tokens"),
        value["total_tokens"].as_u64(),
    )
}
