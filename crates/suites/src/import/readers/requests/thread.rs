//! One conversation as requests add to it and change it.

use compactometer_engine::message::{Role, Usage};

use super::{Print, RequestMark, SentRequest, kept, print, text_of};
use crate::import::place::Place;
use crate::import::report::Recorder;
use crate::import::session::{Compaction, Left, Spoken};

/// The fewest characters of a reply that is recognised in a later request as its summary.
const SHORTEST_SUMMARY: usize = 16;

/// What the messages of a call that wrote a summary are counted as.
const OF_WRITER: &str = "message of a call that wrote a summary";

#[derive(Default)]
pub(super) struct RequestThread {
    pub(super) messages: Vec<Spoken>,
    pub(super) compactions: Vec<Compaction>,
    /// What the next request begins with if nothing changes.
    pub(super) view: Vec<ThreadMessage>,
    /// The number of the last request.
    pub(super) last: usize,
    /// How many requests it has.
    pub(super) requests: usize,
    system: Vec<String>,
}

/// A message of a request.
pub(super) struct ThreadMessage {
    pub(super) print: Print,
    /// Its place if it is a message of the conversation, and not what the program wrote.
    place: Option<Place>,
    /// Its text if it is the last reply.
    reply: Option<String>,
    /// The request that it was first sent with.
    request: usize,
}

/// The call that wrote a summary.
struct SummaryCall {
    usage: Option<Usage>,
}

impl RequestThread {
    pub(super) fn begin(request: SentRequest) -> Self {
        let mut thread = RequestThread {
            system: request.system.iter().map(text_of).collect(),
            ..RequestThread::default()
        };
        thread.messages.extend(request.system.clone());
        thread.add(request, 0);
        thread
    }

    pub(super) fn extend(&mut self, request: SentRequest, recorder: &mut Recorder) {
        if !self.has_system(&request.system) {
            recorder.ignore("changed system prompt");
            self.system = request.system.iter().map(text_of).collect();
        }
        let known = self.view.len();
        self.add(request, known);
    }

    pub(super) fn has_system(&self, system: &[Spoken]) -> bool {
        self.system
            .iter()
            .eq(system.iter().map(text_of).collect::<Vec<_>>().iter())
    }

    /// Where a request contains the text of the last reply, without the message that asked for it.
    pub(super) fn writer(&self, request: &SentRequest) -> Option<usize> {
        let (reply, before) = self.view.split_last()?;
        let text = reply
            .reply
            .as_deref()
            .filter(|text| text.chars().count() >= SHORTEST_SUMMARY)?;
        let asked = before.last()?.print;
        if request.input.iter().any(|(print, _)| *print == asked) {
            return None;
        }
        request
            .input
            .iter()
            .position(|(_, said)| text_of(said).contains(text))
    }

    /// The last reply, if the conversation had one request: the call is part of another
    /// conversation.
    pub(super) fn take_reply(&mut self, recorder: &mut Recorder) -> Option<Spoken> {
        self.messages
            .iter()
            .for_each(|_| recorder.ignore(OF_WRITER));
        let reply = self.messages.pop_if(|said| said.role == Role::Assistant);
        self.messages.clear();
        self.view.clear();
        reply
    }

    /// Adds the messages of a request from `known` on, and its reply.
    fn add(&mut self, request: SentRequest, known: usize) {
        let (number, at_ms) = (request.number, request.at_ms);
        let reply_place = request.place(request.system.len() + request.input.len() + 1);
        for (print, said) in request.input.into_iter().skip(known) {
            self.view.push(ThreadMessage {
                print,
                place: Some(said.place),
                reply: None,
                request: number,
            });
            self.messages.push(Spoken {
                at_ms: said.at_ms.or(at_ms),
                ..said
            });
        }
        if let Some(reply) = request.reply {
            let said = Spoken {
                place: reply_place,
                ..reply
            };
            let text = Some(text_of(&said).trim().to_owned());
            self.view.push(ThreadMessage {
                print: print(&said),
                place: Some(said.place),
                reply: text,
                request: number,
            });
            self.messages.push(said);
        }
        self.last = number;
        self.requests += 1;
    }

    /// Takes a request that does not begin with the whole last one.
    pub(super) fn change(
        &mut self,
        request: SentRequest,
        asides: Vec<Spoken>,
        recorder: &mut Recorder,
    ) {
        let written_at = self.writer(&request);
        let same = self
            .view
            .iter()
            .zip(&request.input)
            .take_while(|(entry, (print, _))| entry.print == *print)
            .count();
        if request.mark.is_none()
            && written_at.is_none()
            && asides.is_empty()
            && self.goes_back(&request, same)
        {
            self.rewind(same, recorder);
            self.extend(request, recorder);
            return;
        }
        let writer = match written_at {
            Some(_) => Some(self.take_writer(recorder)),
            None => asides
                .into_iter()
                .next_back()
                .map(|reply| SummaryCall { usage: reply.usage }),
        };
        self.compact(request, written_at, writer);
    }

    /// Whether a request asks again: it ends where the last one had a reply, or has another turn of
    /// the user in the place of one.
    fn goes_back(&self, request: &SentRequest, same: usize) -> bool {
        let Some((_, said)) = request.input.get(same) else {
            return same > 0;
        };
        let is_user = |place: Place| {
            self.messages
                .iter()
                .any(|said| said.place == place && said.role == Role::User)
        };
        let rest = &request.input[same..];
        let is_new = rest
            .iter()
            .all(|(print, _)| !self.view.iter().any(|entry| entry.print == *print));
        let was_user = self
            .view
            .get(same)
            .and_then(|entry| entry.place)
            .is_some_and(is_user);
        same > 0 && is_new && was_user && said.role == Role::User
    }

    /// Leaves out what came after the first `same` messages of the last request.
    fn rewind(&mut self, same: usize, recorder: &mut Recorder) {
        let dropped = self.view.split_off(same);
        let Some(from) = dropped.iter().find_map(|entry| entry.place) else {
            return;
        };
        let kept = self.messages.len();
        self.messages.retain(|said| said.place < from);
        (self.messages.len()..kept).for_each(|_| recorder.ignore("message of an abandoned branch"));
        self.compactions
            .retain(|compaction| compaction.place <= from);
    }

    /// Takes out the last reply, which is the summary, and the message that asked for it.
    fn take_writer(&mut self, recorder: &mut Recorder) -> SummaryCall {
        let Some(reply) = self.view.pop() else {
            return SummaryCall { usage: None };
        };
        let said = self.messages.pop();
        recorder.ignore(OF_WRITER);
        let asked = self.view.pop_if(|entry| entry.request == reply.request);
        let is_user = self
            .messages
            .last()
            .is_some_and(|said| said.role == Role::User);
        match asked {
            Some(_) if is_user => {
                self.messages.pop();
                recorder.ignore(OF_WRITER);
            }
            asked => self.view.extend(asked),
        }
        SummaryCall {
            usage: said.and_then(|said| said.usage),
        }
    }

    fn compact(
        &mut self,
        request: SentRequest,
        written_at: Option<usize>,
        writer: Option<SummaryCall>,
    ) {
        let old = self
            .view
            .iter()
            .map(|entry| entry.print)
            .collect::<Vec<_>>();
        let new = request
            .input
            .iter()
            .map(|(print, _)| *print)
            .collect::<Vec<_>>();
        let matched = kept::matched(&old, &new);
        let left = self.left(&matched, written_at, &request);
        let mut context = Vec::new();
        if !self.has_system(&request.system) {
            self.system = request.system.iter().map(text_of).collect();
            context.extend(
                self.system
                    .iter()
                    .map(|text| Left::Written(Role::System, text.clone())),
            );
        }
        let mut view = Vec::new();
        for ((print, said), old) in request.input.iter().zip(&matched).take(left) {
            let place = old.and_then(|old| self.view[old].place);
            context.push(place.map_or_else(|| Left::Written(said.role, text_of(said)), Left::Kept));
            view.push(ThreadMessage {
                print: *print,
                place,
                reply: None,
                request: request.number,
            });
        }
        let usage = writer.and_then(|writer| writer.usage);
        let RequestMark {
            at_ms,
            trigger,
            reported_tokens,
        } = request.mark.clone().unwrap_or_default();
        self.compactions.push(Compaction {
            at_ms: at_ms.or(request.at_ms),
            trigger,
            reported_tokens: reported_tokens.or(usage.map(|usage| usage.total_input())),
            usage,
            context,
            ..Compaction::at(request.place(0))
        });
        self.view = view;
        self.add(request, left);
    }

    /// How many messages of a changed request the compaction left; those after them are new. If the
    /// last message was not kept, the first unknown one is what the program wrote in its place.
    fn left(
        &self,
        matched: &[Option<usize>],
        written_at: Option<usize>,
        request: &SentRequest,
    ) -> usize {
        let known = matched
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |last| last + 1);
        let left = known.max(written_at.map_or(0, |at| at + 1));
        let has_written = matched[..left].contains(&None);
        let is_last_kept = matched
            .iter()
            .flatten()
            .any(|old| old + 1 == self.view.len());
        let is_unknown = request.input.len() > left;
        if has_written || is_last_kept || !is_unknown {
            left
        } else {
            left + 1
        }
    }
}
