//! Builds conversations from the requests that a program sent. Each request holds what the model
//! saw, so most of it repeats the request before it.
//!
//! A request that begins with the whole last request and its reply adds what follows. If it does
//! not, the program compacted or trimmed the conversation, went back to an earlier message, or sent
//! the request for another purpose. What is kept is found by its content, since a request has no
//! ids of messages. Requests of other purposes become conversations of their own.

mod kept;
mod thread;

use std::collections::HashSet;

use compactometer_engine::message::{Part, Role};

use crate::import::place::Place;
use crate::import::report::Recorder;
use crate::import::session::{Compaction, Spoken};
use thread::RequestThread;

/// A request with its reply.
pub(in crate::import) struct Request {
    /// Its number, from 1, in order of time.
    pub(in crate::import) number: usize,
    pub(in crate::import) at_ms: Option<i64>,
    pub(in crate::import) input: Vec<Spoken>,
    /// The reply with its usage; nothing if the call failed.
    pub(in crate::import) reply: Option<Spoken>,
    /// The compaction that the program recorded between this request and the one before it.
    pub(in crate::import) mark: Option<RequestMark>,
}

/// What a program says about a compaction.
#[derive(Clone, Default)]
pub(in crate::import) struct RequestMark {
    pub(in crate::import) at_ms: Option<i64>,
    pub(in crate::import) trigger: Option<String>,
    pub(in crate::import) reported_tokens: Option<u64>,
}

/// What was said in requests of one purpose.
pub(in crate::import) struct Dialogue {
    pub(in crate::import) messages: Vec<Spoken>,
    pub(in crate::import) compactions: Vec<Compaction>,
}

/// The conversations of requests in order of time; the longest is the first.
pub(in crate::import) fn dialogues(
    requests: Vec<Request>,
    recorder: &mut Recorder,
) -> Vec<Dialogue> {
    let mut threads: Vec<RequestThread> = Vec::new();
    let mut sent = requests
        .into_iter()
        .map(SentRequest::new)
        .collect::<Vec<_>>();
    sent.reverse();
    while let Some(request) = sent.pop() {
        feed(&mut threads, request, &sent, recorder);
    }
    threads.sort_by_key(|thread| std::cmp::Reverse(thread.messages.len()));
    threads.retain(|thread| !thread.messages.is_empty());
    let dialogues = threads.into_iter().map(|thread| Dialogue {
        messages: thread.messages,
        compactions: thread.compactions,
    });
    dialogues.collect()
}

/// A request whose messages can be compared.
struct SentRequest {
    number: usize,
    at_ms: Option<i64>,
    system: Vec<Spoken>,
    input: Vec<(Print, Spoken)>,
    reply: Option<Spoken>,
    mark: Option<RequestMark>,
}

impl SentRequest {
    fn new(request: Request) -> Self {
        let Request {
            number,
            at_ms,
            input,
            reply,
            mark,
        } = request;
        let mut input = (1..).zip(input).map(|(message, said)| Spoken {
            place: Place::Turn {
                element: number,
                message,
            },
            ..said
        });
        let mut rest = input.by_ref().peekable();
        let mut system = Vec::new();
        while let Some(said) = rest.next_if(|said| said.role == Role::System) {
            system.push(said);
        }
        let input = rest.map(|said| (print(&said), said)).collect();
        SentRequest {
            number,
            at_ms,
            system,
            input,
            reply,
            mark,
        }
    }

    fn begins_with(&self, view: &[thread::ThreadMessage]) -> bool {
        !view.is_empty()
            && self.input.len() >= view.len()
            && view
                .iter()
                .zip(&self.input)
                .all(|(entry, (print, _))| entry.print == *print)
    }

    fn place(&self, message: usize) -> Place {
        Place::Turn {
            element: self.number,
            message,
        }
    }
}

/// A message's content without what a provider changes when it is sent back, such as thoughts.
type Print = blake3::Hash;

fn print(said: &Spoken) -> Print {
    let mut hasher = blake3::Hasher::new();
    let mut add = |kind: &str, texts: &[&str]| {
        for text in std::iter::once(&kind).chain(texts) {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
    };
    add(said.role.name(), &[]);
    for part in &said.parts {
        match part {
            Part::Text { text } if text.trim().is_empty() => {}
            Part::Text { text } => add("text", &[text.trim()]),
            Part::ToolCall { id, name, .. } => add("call", &[id, name]),
            Part::ToolResult { call_id, text, .. } => add("result", &[call_id, text.trim()]),
            Part::Media { digest, .. } => add("media", &[digest]),
            Part::Sealed { content } => add("sealed", &[content]),
            Part::Thinking { .. } => {}
        }
    }
    hasher.finalize()
}

/// The texts of a message in one.
fn text_of(said: &Spoken) -> String {
    let texts = said.parts.iter().filter_map(|part| match part {
        Part::Text { text } | Part::ToolResult { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Adds a request to the conversation that it belongs to. `later` are the requests after it.
fn feed(
    threads: &mut Vec<RequestThread>,
    request: SentRequest,
    later: &[SentRequest],
    recorder: &mut Recorder,
) {
    let extended = threads
        .iter_mut()
        .filter(|thread| request.begins_with(&thread.view))
        .max_by_key(|thread| thread.view.len());
    if let Some(thread) = extended {
        if request.mark.is_some() {
            recorder.ignore("compaction that changed no message");
        }
        thread.extend(request, recorder);
        return;
    }
    match changed(threads, &request, later) {
        Some(at) => {
            let asides = asides(threads, at, &request, recorder);
            threads[at].change(request, asides, recorder);
        }
        None => threads.push(RequestThread::begin(request)),
    }
}

/// The conversation that a request changed, unless a later request takes that up again: the last
/// one with a message of it, or with the call that wrote its summary, or else, if it has a mark or
/// the same system prompt, the last one.
fn changed(
    threads: &[RequestThread],
    request: &SentRequest,
    later: &[SentRequest],
) -> Option<usize> {
    let prints = request
        .input
        .iter()
        .map(|(print, _)| *print)
        .collect::<HashSet<_>>();
    let is_left =
        |thread: &RequestThread| !later.iter().any(|other| other.begins_with(&thread.view));
    let latest = |is_it: &dyn Fn(&RequestThread) -> bool| {
        let found = threads
            .iter()
            .enumerate()
            .filter(|(_, thread)| is_it(thread) && is_left(thread));
        found
            .max_by_key(|(_, thread)| thread.last)
            .map(|(at, _)| at)
    };
    let has_system = |thread: &RequestThread| thread.has_system(&request.system);
    // A request of one message for another purpose, such as a title, repeats that message.
    let is_own = |thread: &RequestThread| has_system(thread) || request.input.len() > 1;
    let shares = |thread: &RequestThread| {
        is_own(thread)
            && thread
                .view
                .iter()
                .any(|entry| prints.contains(&entry.print))
    };
    let has_aside = threads.iter().any(|thread| is_aside(thread, request));
    let is_marked = request.mark.is_some() || has_aside;
    latest(&shares)
        .or_else(|| latest(&|thread| thread.requests > 1 && thread.writer(request).is_some()))
        .or_else(|| {
            latest(&|thread| {
                !is_aside(thread, request)
                    && has_system(thread)
                    && (is_marked || !request.system.is_empty())
            })
        })
        .or_else(|| latest(&|thread| is_marked && !is_aside(thread, request)))
}

/// Whether a conversation is one request that wrote the summary in this request.
fn is_aside(thread: &RequestThread, request: &SentRequest) -> bool {
    thread.requests == 1 && thread.writer(request).is_some()
}

/// The replies that wrote a summary for a request, taken out of their conversations.
fn asides(
    threads: &mut [RequestThread],
    at: usize,
    request: &SentRequest,
    recorder: &mut Recorder,
) -> Vec<Spoken> {
    let others = threads
        .iter_mut()
        .enumerate()
        .filter(|(other, thread)| *other != at && is_aside(thread, request));
    others
        .filter_map(|(_, thread)| thread.take_reply(recorder))
        .collect()
}
