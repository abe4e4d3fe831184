//! Views as messages of the protocol, and answers as views.

use std::collections::HashSet;

use compactometer_engine::log::Log;
use compactometer_engine::message::{MessageId, Part, Role};
use compactometer_engine::model::ChatRequest;
use compactometer_engine::record::{NewRecord, RecordKind};
use compactometer_engine::strategy::{Compacted, Context, FailReason};
use compactometer_engine::view::{Edit, Entry, Origin, WrittenPart};

use compactometer_formats::strategy_protocol::{self, ItemJson, MessageJson};
use compactometer_models::sealed_summary;

/// The view of a session as a program sees it.
pub(crate) fn messages(cx: &Context<'_>) -> Vec<MessageJson> {
    let fixed = fixed(cx.log);
    let message = |(place, entry): (usize, &Entry)| MessageJson {
        id: id(place, entry),
        role: entry.role(),
        parts: entry.parts().map(|(part, _)| part.clone()).collect(),
        tokens: entry.tokens(),
        fixed: entry.message_id().is_some_and(|id| fixed.contains(&id)),
    };
    cx.view.entries().iter().enumerate().map(message).collect()
}

/// The messages after that one.
pub(crate) fn said_since(log: &Log, after: Option<MessageId>) -> Vec<MessageJson> {
    let fixed = fixed(log);
    let said = log.since(after).iter().map(|counted| MessageJson {
        id: format!("m{}", counted.message.id.0),
        role: counted.message.role,
        parts: counted.message.parts.clone(),
        tokens: counted.tokens,
        fixed: fixed.contains(&counted.message.id),
    });
    said.collect()
}

/// What has to stay: the system prompt and the pending part.
fn fixed(log: &Log) -> HashSet<MessageId> {
    let pending = log.pending();
    let said = log.messages().iter().enumerate();
    let fixed =
        said.filter(|(index, said)| said.message.role == Role::System || pending.contains(*index));
    fixed.map(|(_, said)| said.message.id).collect()
}

/// The id of an entry at that place: the number of its message, or its place if a strategy wrote
/// it.
fn id(place: usize, entry: &Entry) -> String {
    match entry.log_message() {
        Some(message) => format!("m{}", message.id.0),
        None => format!("w{place}"),
    }
}

/// What an answer makes of the view. `heard` are the requests that the program's model answered.
pub(crate) fn compacted(
    cx: &Context<'_>,
    (whole, edits): (
        Option<Vec<ItemJson>>,
        Option<Vec<strategy_protocol::EditJson>>,
    ),
    keep: Option<String>,
    heard: &[ChatRequest],
) -> Result<Compacted, FailReason> {
    let items = match (whole, edits) {
        (Some(items), None) => items,
        (None, Some(edits)) => edited(cx, edits)?,
        _ => return Err(invalid("the answer needs either `messages` or `edits`")),
    };
    let mut next = Next {
        cx,
        used: HashSet::new(),
        written: Vec::new(),
    };
    let edits = items
        .into_iter()
        .map(|item| next.edit(item))
        .collect::<Result<Vec<_>, _>>()?;
    let written = next.written;
    let system = cx.log.system().map(|system| system.message.id);
    if system.is_some_and(|id| !edits.contains(&Edit::Keep(id))) {
        return Err(invalid("the system prompt is missing, or was changed"));
    }
    let leaving = Compacted::without_reading(cx, Vec::new()).unread;
    let kept = edits.iter().filter_map(|edit| {
        if let Edit::Keep(id) = edit {
            Some(*id)
        } else {
            None
        }
    });
    let kept = kept.collect::<HashSet<_>>();
    let leaving = leaving
        .into_iter()
        .filter(|id| !kept.contains(id))
        .collect::<Vec<_>>();
    let covers = leaving.first().copied().zip(leaving.last().copied());
    let mut saved = Vec::new();
    if !written.is_empty() {
        saved.push(NewRecord::new(
            RecordKind::Summary,
            covers,
            written.join("\n\n"),
        ));
    }
    saved.extend(keep.map(|body| NewRecord::new(RecordKind::Pinned, covers, body)));
    let unread = leaving
        .into_iter()
        .filter(|id| !was_read(cx.log, *id, heard))
        .collect();
    Ok(Compacted {
        edits,
        saved,
        unread,
        ..Compacted::default()
    })
}

/// The whole view of which edits name what changes.
fn edited(
    cx: &Context<'_>,
    edits: Vec<strategy_protocol::EditJson>,
) -> Result<Vec<ItemJson>, FailReason> {
    let ids = cx
        .view
        .entries()
        .iter()
        .enumerate()
        .map(|(place, entry)| id(place, entry))
        .collect::<Vec<_>>();
    let place = |id: &str| {
        ids.iter()
            .position(|known| known == id)
            .ok_or_else(|| unknown(id))
    };
    let keep = |ids: &[String]| {
        ids.iter()
            .map(|id| ItemJson {
                id: Some(id.clone()),
                ..ItemJson::default()
            })
            .collect::<Vec<_>>()
    };
    let (mut items, mut next) = (Vec::new(), 0);
    for edit in edits {
        let (from, to) = (place(&edit.from)?, place(&edit.to)?);
        if from < next || to < from {
            return Err(invalid(
                "the edits overlap, or are not in the order of the view",
            ));
        }
        items.extend(keep(&ids[next..from]));
        items.extend(edit.with);
        next = to + 1;
    }
    items.extend(keep(&ids[next..]));
    Ok(items)
}

struct Next<'c, 's> {
    cx: &'c Context<'s>,
    used: HashSet<String>,
    written: Vec<String>,
}

impl Next<'_, '_> {
    fn edit(&mut self, item: ItemJson) -> Result<Edit, FailReason> {
        let content = match (item.text, item.parts, item.sealed) {
            (Some(text), None, None) => Some(vec![Part::Text { text }]),
            (None, parts, None) => parts,
            (None, None, Some(content)) => Some(vec![match sealed_summary::open(&content) {
                Some(text) => Part::Text { text },
                None => Part::Sealed { content },
            }]),
            _ => {
                return Err(invalid(
                    "a message has more than one of `text`, `parts` and `sealed`",
                ));
            }
        };
        let Some(id) = item.id else {
            let content =
                content.ok_or_else(|| invalid("a message has neither an id nor content"))?;
            return Ok(Edit::Insert(
                item.role.unwrap_or(Role::User),
                self.write(content),
            ));
        };
        if !self.used.insert(id.clone()) {
            return Err(invalid(&format!("message `{id}` is there twice")));
        }
        let mut entries = self.cx.view.entries().iter().enumerate();
        let (place, entry) = entries
            .find(|(place, entry)| self::id(*place, entry) == id)
            .ok_or_else(|| unknown(&id))?;
        let is_same = |content: &Vec<Part>| entry.parts().map(|(part, _)| part).eq(content);
        match (content.filter(|content| !is_same(content)), entry) {
            (None, _) => Ok(self.cx.view.to_edits().swap_remove(place)),
            (Some(content), Entry::Kept(counted)) => {
                Ok(Edit::Replace(counted.message.id, self.write(content)))
            }
            (Some(content), Entry::Written(written)) => {
                Ok(Edit::Insert(written.role, self.write(content)))
            }
        }
    }

    /// The parts as what the new record holds.
    fn write(&mut self, content: Vec<Part>) -> Vec<WrittenPart> {
        let origin = Origin::Summary(self.cx.number_of_new(0));
        for part in &content {
            self.written.extend(match part {
                Part::Text { text }
                | Part::Thinking { text, .. }
                | Part::ToolResult { text, .. } => Some(text.clone()),
                Part::ToolCall {
                    name, arguments, ..
                } => Some(format!("{name} {arguments}")),
                Part::Media { .. } | Part::Sealed { .. } => None,
            });
        }
        content
            .into_iter()
            .map(|part| WrittenPart { part, origin })
            .collect()
    }
}

/// Whether one request holds the message: the first and the last letters of each of its texts. What
/// a program cut was not read whole.
fn was_read(log: &Log, id: MessageId, heard: &[ChatRequest]) -> bool {
    let Some(said) = log.get(id) else {
        return false;
    };
    let texts = said.message.parts.iter().filter_map(|part| match part {
        Part::Text { text } | Part::ToolResult { text, .. } => Some(text.as_str()),
        Part::ToolCall { arguments, .. } => Some(arguments.as_str()),
        Part::Thinking { .. } | Part::Media { .. } | Part::Sealed { .. } => None,
    });
    let ends = texts.flat_map(ends_of).collect::<Vec<_>>();
    heard.iter().any(|request| {
        ends.iter()
            .all(|end| request.texts().any(|text| text.contains(end)))
    })
}

/// The first and the last letters of a text.
fn ends_of(text: &str) -> [&str; 2] {
    const LETTERS: usize = 60;
    let text = text.trim();
    let mut from_start = text.char_indices();
    let mut from_end = text.char_indices().rev();
    let start = from_start.nth(LETTERS).map_or(text.len(), |(at, _)| at);
    let end = from_end.nth(LETTERS - 1).map_or(0, |(at, _)| at);
    [&text[..start], &text[end..]]
}

fn invalid(why: &str) -> FailReason {
    FailReason::InvalidView(why.to_owned())
}

fn unknown(id: &str) -> FailReason {
    invalid(&format!("there is no message `{id}` in the view"))
}

#[cfg(test)]
mod tests {
    use compactometer_engine::tokens::{CountedMessage, Encoding};

    use super::*;

    #[test]
    fn what_a_request_cuts_was_not_read() {
        let end = "The last one failed on Friday, and nobody has looked at its log since then.";
        let text = "The export runs at nine. ".repeat(20) + end;
        let parts = vec![Part::Text { text: text.clone() }];
        let id = MessageId(1);
        let said = compactometer_engine::message::Message {
            id,
            role: Role::User,
            at_ms: None,
            parts,
            usage: None,
        };
        let mut log = Log::default();
        log.push(CountedMessage::new(said, &Encoding::O200k))
            .expect("it is said");
        let read = |texts: &[&str]| {
            let requests = texts
                .iter()
                .map(|text| ChatRequest::prompt((*text).to_owned(), 100, None, 0));
            was_read(&log, id, &requests.collect::<Vec<_>>())
        };
        assert!(read(&["hello", &format!("user: {text}")]));
        assert!(!read(&[]));
        assert!(!read(&[&text[..200]]), "its end is missing");
        assert!(
            !read(&[&text[..100], &text[text.len() - 100..]]),
            "no request holds both ends"
        );
    }
}
