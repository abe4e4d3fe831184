//! What a request of the agent holds of the conversation, as a view of it.

use std::collections::{HashMap, HashSet, VecDeque};

use compactometer_engine::log::Log;
use compactometer_engine::message::{Message, MessageId, Part, Role, part_text};
use compactometer_engine::model::{ChatRequest, WireMessage};
use compactometer_engine::view::{Edit, Origin, WrittenPart};

use crate::mask;

/// A call of the conversation, by the number that the agent knows it by.
#[derive(Clone, Debug)]
pub(crate) struct KnownCall {
    /// Its id in the log.
    pub(crate) id: String,
}

/// A text that the agent was given or was made to say, and the parts of the log that it is of: a
/// user may say a turn in several messages.
#[derive(Clone, Debug)]
pub(crate) struct KnownText {
    pub(crate) role: Role,
    pub(crate) text: String,
    pub(crate) parts: Vec<(MessageId, usize)>,
}

impl KnownText {
    /// What that role says in some messages, as one text.
    pub(crate) fn of<'m>(role: Role, messages: impl Iterator<Item = &'m Message>) -> Self {
        Self::joined(role, messages.filter(|message| message.role == role))
    }

    /// What is said in some messages, as one text of that role.
    pub(crate) fn joined<'m>(role: Role, messages: impl Iterator<Item = &'m Message>) -> Self {
        let (mut texts, mut parts) = (Vec::new(), Vec::new());
        for message in messages {
            for (place, part) in message.parts.iter().enumerate() {
                if let Part::Text { text } = part {
                    texts.push(text.as_str());
                    parts.push((message.id, place));
                }
            }
        }
        KnownText {
            role,
            text: texts.join("\n\n"),
            parts,
        }
    }
}

/// The id of a call on the wire.
pub(crate) fn call_id(number: usize) -> String {
    format!("call_{number:05}")
}

/// A piece of a request.
#[derive(Clone, Debug, PartialEq)]
enum RequestPiece {
    /// A part of a message of the log: its number there, and what the request has of it.
    Said(MessageId, usize, Part),
    /// A text that nobody said.
    Foreign(Role, String),
}

/// What a request holds of a conversation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct HeldInRequest {
    /// Whether it holds the system prompt, whole and word for word but for blanks.
    has_system: bool,
    pieces: Vec<RequestPiece>,
}

/// What is needed to read a request.
pub(crate) struct ContextReader<'r> {
    pub(crate) log: &'r Log,
    pub(crate) calls: &'r [KnownCall],
    pub(crate) texts: &'r [KnownText],
}

impl ContextReader<'_> {
    /// What a request holds, in its order.
    pub(crate) fn read(&self, request: &ChatRequest) -> HeldInRequest {
        let mut places = TextPlaces::new(self.log, self.texts);
        let mut seen = HashSet::new();
        let mut pieces = Vec::new();
        for message in &request.messages {
            for part in &message.parts {
                let found = self.pieces(message, part, &mut places).into_iter();
                // Some agents repeat results.
                pieces.extend(found.filter(|piece| match piece {
                    RequestPiece::Said(id, place, _) => seen.insert((*id, *place)),
                    RequestPiece::Foreign(..) => true,
                }));
            }
        }
        HeldInRequest {
            has_system: has_system(self.log, request),
            pieces,
        }
    }

    /// What a part of a request is: of a text that was said in several messages, each of them.
    fn pieces(
        &self,
        message: &WireMessage,
        part: &Part,
        places: &mut TextPlaces<'_>,
    ) -> Vec<RequestPiece> {
        let foreign = |text: &str| RequestPiece::Foreign(message.role, text.to_owned());
        let said = |(id, place, part): LogPlace<'_>| RequestPiece::Said(id, place, part.clone());
        let piece = match part {
            Part::ToolCall {
                id,
                name,
                arguments,
            } => {
                let known = self.known(id).map(str::to_owned);
                let known = known.or_else(|| places.call_like(name, arguments));
                let call = known.and_then(|id| {
                    let call = places.parts.get(&(false, id.as_str())).copied();
                    places.unanswered.push_back(id);
                    call
                });
                call.map_or_else(|| foreign(arguments), said)
            }
            Part::ToolResult { call_id, text, .. } => {
                let known = self.known(call_id).map(str::to_owned);
                let next = places.unanswered.pop_front();
                let result = known.or(next);
                let result = result.and_then(|id| places.parts.get(&(true, id.as_str())).copied());
                result.map_or_else(
                    || foreign(text),
                    |(id, place, part)| RequestPiece::Said(id, place, as_shown(part, text)),
                )
            }
            Part::Text { text } | Part::Thinking { text, .. } => {
                let Some(known) = places.take(message.role, text) else {
                    return vec![foreign(text)];
                };
                let parts = known.parts.iter().filter_map(|(id, place)| {
                    Some((*id, *place, self.log.get(*id)?.message.parts.get(*place)?))
                });
                return parts.map(said).collect();
            }
            Part::Media { .. } | Part::Sealed { .. } => foreign(""),
        };
        vec![piece]
    }

    /// The id in the log of a call on the wire, if the wire has the id that it was given.
    fn known(&self, wire: &str) -> Option<&str> {
        let number = wire.rsplit("call_").next()?.parse::<usize>().ok()?;
        Some(&self.calls.get(number)?.id)
    }
}

/// Whether a request holds the conversation's system prompt: agents indent it, and put their own
/// words around it.
fn has_system(log: &Log, request: &ChatRequest) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some(system) = log.system() else {
        return false;
    };
    let sent = request.texts().map(words).collect::<Vec<_>>();
    let mut parts = system.message.parts.iter().filter_map(part_text).map(words);
    parts.all(|part| sent.iter().any(|text| text.contains(&part)))
}

/// A result as a request has it: whole where the request has all of it, whatever is around it.
fn as_shown(said: &Part, shown: &str) -> Part {
    let Part::ToolResult {
        call_id,
        text,
        is_error,
    } = said
    else {
        return said.clone();
    };
    // Some agents put an error into JSON, once or twice.
    let mut form = text.trim().to_owned();
    for _ in 0..3 {
        if shown.contains(&form) {
            return said.clone();
        }
        form = serde_json::Value::from(form).to_string();
        form = form.trim_matches('"').to_owned();
    }
    Part::ToolResult {
        call_id: call_id.clone(),
        text: shown.to_owned(),
        is_error: *is_error,
    }
}

/// Arguments without the blanks between them.
fn plain(arguments: &str) -> String {
    serde_json::from_str::<serde_json::Value>(arguments)
        .map_or_else(|_| arguments.to_owned(), |value| value.to_string())
}

/// A part of the log: its message, and its place there.
type LogPlace<'l> = (MessageId, usize, &'l Part);

/// Where the texts, calls and results of a play are in its log. Each text is found once, in order
/// where several are equal.
struct TextPlaces<'l> {
    /// Calls by their ids in the log, and results by those of their calls.
    parts: HashMap<(bool, &'l str), LogPlace<'l>>,
    texts: HashMap<(&'static str, String), Vec<&'l KnownText>>,
    /// The ids of the calls with those arguments: some agents send no ids.
    calls: HashMap<String, VecDeque<(&'l str, &'l str)>>,
    /// The ids of the calls so far whose results have not come.
    unanswered: VecDeque<String>,
}

impl<'l> TextPlaces<'l> {
    fn new(log: &'l Log, known: &'l [KnownText]) -> Self {
        let mut texts: HashMap<_, Vec<_>> = HashMap::new();
        for known in known.iter().rev() {
            let key = (known.role.name(), known.text.trim().to_owned());
            texts.entry(key).or_default().push(known);
        }
        let mut parts = HashMap::new();
        let mut calls: HashMap<_, VecDeque<_>> = HashMap::new();
        for message in log.messages().iter().map(|counted| &counted.message) {
            for (place, part) in message.parts.iter().enumerate() {
                let key = match part {
                    Part::ToolCall {
                        id,
                        name,
                        arguments,
                    } => {
                        let calls = calls.entry(plain(arguments)).or_default();
                        calls.push_back((id.as_str(), name.as_str()));
                        (false, id.as_str())
                    }
                    Part::ToolResult { call_id, .. } => (true, call_id.as_str()),
                    _ => continue,
                };
                parts.entry(key).or_insert((message.id, place, part));
            }
        }
        TextPlaces {
            parts,
            texts,
            calls,
            unanswered: VecDeque::new(),
        }
    }

    /// The id in the log of the next call with those arguments of the tool that a name ends with.
    fn call_like(&mut self, name: &str, arguments: &str) -> Option<String> {
        let calls = self.calls.get_mut(&plain(arguments))?;
        let place = calls.iter().position(|(_, own)| name.ends_with(own))?;
        calls.remove(place).map(|(id, _)| id.to_owned())
    }

    /// The next text that is the same, said by that role.
    fn take(&mut self, role: Role, text: &str) -> Option<&'l KnownText> {
        let text = text.trim();
        let quoted = text
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        [Some(text), quoted].into_iter().flatten().find_map(|text| {
            let found = self.texts.get_mut(&(role.name(), text.to_owned()))?;
            // The last of equal texts may be asked for again.
            if found.len() > 1 {
                found.pop()
            } else {
                found.last().copied()
            }
        })
    }
}

impl HeldInRequest {
    /// The messages that it holds something of.
    pub(crate) fn messages(&self) -> HashSet<MessageId> {
        let ids = self.pieces.iter().filter_map(|piece| match piece {
            RequestPiece::Said(id, ..) => Some(*id),
            RequestPiece::Foreign(..) => None,
        });
        ids.collect()
    }

    /// The texts that nobody said.
    pub(crate) fn foreign(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            RequestPiece::Foreign(_, text) => Some(text.as_str()),
            RequestPiece::Said(..) => None,
        })
    }

    /// The results that it has cut.
    pub(crate) fn cut<'l>(&self, log: &'l Log) -> HashSet<MessageId>
    where
        Self: 'l,
    {
        let cut = self.pieces.iter().filter_map(|piece| match piece {
            RequestPiece::Said(id, place, part) => {
                let said = &log.get(*id)?.message.parts;
                (said.get(*place) != Some(part)).then_some(*id)
            }
            RequestPiece::Foreign(..) => None,
        });
        cut.collect()
    }

    /// It as edits of the view: the system prompt if it is there, then what it has, without the texts
    /// that are the agent's own in every request. `summaries` are the answers that the agent was given.
    pub(crate) fn edits(
        &self,
        log: &Log,
        own: &HashSet<String>,
        summaries: &[AgentSummary],
    ) -> Vec<Edit> {
        let mut edits = Vec::new();
        let system = log.system().filter(|_| self.has_system);
        edits.extend(system.map(|system| Edit::Keep(system.message.id)));
        let mut pieces = self.pieces.iter().peekable();
        let mut done = HashSet::new();
        while let Some(piece) = pieces.next() {
            match piece {
                RequestPiece::Foreign(_, text)
                    if text.trim().is_empty() || own.contains(&mask::text(text)) => {}
                RequestPiece::Foreign(role, text) => {
                    // A view has one system prompt, that of the conversation.
                    let role = if *role == Role::Assistant {
                        Role::Assistant
                    } else {
                        Role::User
                    };
                    edits.push(Edit::Insert(role, written_parts(text, summaries)));
                }
                RequestPiece::Said(id, place, part) => {
                    let mut parts = vec![(*place, part.clone())];
                    while let Some(RequestPiece::Said(_, place, part)) = pieces.next_if(
                        |next| matches!(next, RequestPiece::Said(other, ..) if other == id),
                    ) {
                        parts.push((*place, part.clone()));
                    }
                    if done.insert(*id) {
                        edits.extend(log.get(*id).map(|said| edit(&said.message, parts)));
                    }
                }
            }
        }
        edits
    }
}

/// The edit for a message of which a request has those parts.
fn edit(said: &Message, parts: Vec<(usize, Part)>) -> Edit {
    let sent = said
        .parts
        .iter()
        .enumerate()
        .filter(|(_, part)| !matches!(part, Part::Thinking { .. } | Part::Media { .. }))
        .filter(|(_, part)| part_text(part).is_none_or(|text| !text.trim().is_empty()));
    let is_whole = sent.clone().all(|(place, part)| {
        parts
            .iter()
            .any(|(at, shown)| *at == place && shown == part)
    });
    if is_whole {
        return Edit::Keep(said.id);
    }
    let parts = parts.into_iter().map(|(_, part)| WrittenPart {
        part,
        origin: Origin::Spoken(said.id),
    });
    Edit::Replace(said.id, parts.collect())
}

/// A text that nobody said: where it has a summary, that part of it is the summary's.
fn written_parts(text: &str, summaries: &[AgentSummary]) -> Vec<WrittenPart> {
    let found = summaries
        .iter()
        .rev()
        .find_map(|summary| Some((summary, summary.place(text)?)));
    let Some((summary, (start, end))) = found else {
        return vec![WrittenPart::text(text, Origin::Ledger)];
    };
    let parts = [
        (&text[..start], Origin::Ledger),
        (&text[start..end], Origin::Summary(summary.number)),
        (&text[end..], Origin::Ledger),
    ];
    let parts = parts
        .into_iter()
        .filter(|(text, _)| !text.trim().is_empty());
    parts
        .map(|(text, origin)| WrittenPart::text(text, origin))
        .collect()
}

/// An answer to a request for a summary.
#[derive(Clone, Debug)]
pub(crate) struct AgentSummary {
    /// What the summarizer wrote.
    pub(crate) text: String,
    /// The number of its record.
    pub(crate) number: u32,
}

impl AgentSummary {
    /// Where a text has it. Agents take out tags or change line ends, so its beginning is enough,
    /// and its end if that is there.
    fn place(&self, text: &str) -> Option<(usize, usize)> {
        const ENOUGH: usize = 60;
        let own = self.text.trim();
        let boundary = |at: &usize| own.is_char_boundary(*at);
        let first = (0..=own.len().min(ENOUGH)).rev().find(boundary)?;
        let last = (own.len().saturating_sub(ENOUGH)..=own.len()).find(boundary)?;
        let start = text.find(&own[..first]).filter(|_| first > 0)?;
        let end = text[start..]
            .rfind(&own[last..])
            .map_or(text.len(), |at| start + at + own.len() - last);
        Some((start, end))
    }
}

#[cfg(test)]
mod tests {
    use compactometer_engine::tokens::{CountedMessage, Encoding};

    use super::*;

    #[test]
    fn the_system_prompt_is_held_where_a_request_has_all_of_it() {
        let message = Message {
            id: MessageId(0),
            role: Role::System,
            at_ms: None,
            parts: vec![Part::Text {
                text: "You are an agent.\nNever push.".into(),
            }],
            usage: None,
        };
        let mut log = Log::default();
        log.push(CountedMessage::new(message, &Encoding::O200k))
            .unwrap();
        let holds =
            |text: &str| has_system(&log, &ChatRequest::prompt(text.to_owned(), 0, None, 0));
        assert!(holds(
            "# Rules\n  You are an agent.\n  Never push.\n# Tools"
        ));
        assert!(!holds("You are an agent. # Tools"));
    }
}
