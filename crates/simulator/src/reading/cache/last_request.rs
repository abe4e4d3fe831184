//! A cache of the tokens and the JSON of a request's messages. Successive questions follow the same
//! messages, which are then compared instead of being counted and serialized again.
//!
//! The cache changes no reply, because both are functions of the messages.

use std::cell::RefCell;

use compactometer_engine::message::Part;
use compactometer_engine::model::WireMessage;
use compactometer_engine::tokens::{MESSAGE_OVERHEAD, TokenCounter};

thread_local! {
    /// The messages of the last request.
    static LAST: RefCell<SeenMessages> = RefCell::default();
}

/// Messages and their JSON, separated by commas.
#[derive(Default)]
struct SeenMessages {
    messages: Vec<Counted>,
    json: Vec<u8>,
}

struct Counted {
    message: WireMessage,
    tokens: u32,
    /// The end of its JSON.
    end: usize,
}

/// Passes on the messages' tokens by the engine's rule, and their JSON as the elements of a list.
pub(crate) fn with<T>(
    messages: &[WireMessage],
    counter: &dyn TokenCounter,
    take: impl FnOnce(u32, &[u8]) -> T,
) -> T {
    LAST.with_borrow_mut(|seen| {
        let same = seen
            .messages
            .iter()
            .zip(messages)
            .take_while(|(seen, message)| seen.message == **message)
            .count();
        seen.messages.truncate(same);
        seen.json
            .truncate(seen.messages.last().map_or(0, |last| last.end));
        messages[same..]
            .iter()
            .for_each(|message| seen.push(message, counter));
        let tokens = seen
            .messages
            .iter()
            .map(|counted| counted.tokens)
            .fold(0, u32::saturating_add);
        take(tokens, &seen.json)
    })
}

impl SeenMessages {
    fn push(&mut self, message: &WireMessage, counter: &dyn TokenCounter) {
        // The tokens of media are given, not counted.
        let parts = message.parts.iter().map(|part| counter.count_part(part));
        let tokens = parts.fold(MESSAGE_OVERHEAD, u32::saturating_add);
        if !self.messages.is_empty() {
            self.json.push(b',');
        }
        write_message(message, &mut self.json);
        self.messages.push(Counted {
            message: message.clone(),
            tokens,
            end: self.json.len(),
        });
    }
}

fn write_message(message: &WireMessage, json: &mut Vec<u8>) {
    json.extend(b"{\"role\":");
    write_text(message.role.name(), json);
    json.extend(b",\"parts\":[");
    for (place, part) in message.parts.iter().enumerate() {
        if place > 0 {
            json.push(b',');
        }
        write_part(part, json);
    }
    json.extend(b"]}");
}

fn write_part(part: &Part, json: &mut Vec<u8>) {
    match part {
        Part::Text { text } => write_object(&[("type", "text"), ("text", text)], json),
        Part::ToolCall {
            id,
            name,
            arguments,
        } => {
            write_object(
                &[
                    ("type", "tool_call"),
                    ("id", id),
                    ("name", name),
                    ("arguments", arguments),
                ],
                json,
            );
        }
        Part::ToolResult {
            call_id,
            text,
            is_error: false,
        } => {
            write_object(
                &[
                    ("type", "tool_result"),
                    ("call_id", call_id),
                    ("text", text),
                ],
                json,
            );
        }
        // Writing to a vector cannot fail.
        rare => drop(serde_json::to_writer(json, rare)),
    }
}

fn write_object(fields: &[(&str, &str)], json: &mut Vec<u8>) {
    let mut open = b'{';
    for (key, value) in fields {
        json.push(open);
        write_text(key, json);
        json.push(b':');
        write_text(value, json);
        open = b',';
    }
    json.push(b'}');
}

/// Writes a text like `serde_json`, but faster because it examines many bytes at once.
fn write_text(text: &str, json: &mut Vec<u8>) {
    json.push(b'"');
    let mut rest = text.as_bytes();
    loop {
        let (plain, special) = rest.split_at(plain_length(rest));
        json.extend(plain);
        let Some((byte, after)) = special.split_first() else {
            break;
        };
        match byte {
            b'"' | b'\\' => json.extend([b'\\', *byte]),
            b'\n' => json.extend(b"\\n"),
            b'\r' => json.extend(b"\\r"),
            b'\t' => json.extend(b"\\t"),
            8 => json.extend(b"\\b"),
            12 => json.extend(b"\\f"),
            control => json.extend(format!("\\u{control:04x}").as_bytes()),
        }
        rest = after;
    }
    json.push(b'"');
}

/// The number of bytes before the first that needs escaping. The compiler compares the bytes of a
/// chunk at once.
fn plain_length(bytes: &[u8]) -> usize {
    let is_special = |byte: &u8| (*byte < b' ') | (*byte == b'"') | (*byte == b'\\');
    let is_plain = |chunk: &&[u8]| !chunk.iter().fold(false, |any, byte| any | is_special(byte));
    let plain = bytes.chunks_exact(32).take_while(is_plain).count() * 32;
    plain
        + bytes[plain..]
            .iter()
            .position(is_special)
            .unwrap_or(bytes.len() - plain)
}

#[cfg(test)]
mod tests {
    use compactometer_engine::message::Role;
    use compactometer_engine::model::ChatRequest;
    use compactometer_engine::tokens::Encoding;
    use proptest::prelude::*;

    use super::*;
    use crate::reading::cache::token_counts::CachedCounter;

    fn part() -> impl Strategy<Value = Part> {
        let text = || "([a-z \"\\\\\n\r\t\u{8}\u{c}\u{1}\u{7f}é数]|[a-z]{40}){0,4}";
        prop_oneof![
            text().prop_map(|text| Part::Text { text }),
            (text(), prop::option::of(text()))
                .prop_map(|(text, signature)| Part::Thinking { text, signature }),
            (text(), text()).prop_map(|(id, arguments)| Part::ToolCall {
                name: id.clone(),
                id,
                arguments
            }),
            (text(), text(), any::<bool>()).prop_map(|(call_id, text, is_error)| {
                Part::ToolResult {
                    call_id,
                    text,
                    is_error,
                }
            }),
            (text(), prop_oneof![0..9_u32, any::<u32>()]).prop_map(|(text, tokens)| Part::Media {
                media_type: text.clone(),
                digest: text,
                tokens
            }),
        ]
    }

    fn messages() -> impl Strategy<Value = Vec<WireMessage>> {
        let role =
            prop::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Tool]);
        let message =
            (role, prop::collection::vec(part(), 0..3)).prop_map(|(role, parts)| WireMessage {
                role,
                parts: parts.into(),
            });
        prop::collection::vec(message, 0..5)
    }

    proptest! {
        /// Growing and changing lists, one after the other.
        #[test]
        fn messages_are_counted_and_written_as_those_of_a_request_are(
            first in messages(), second in messages(), kept in 0..5_usize,
        ) {
            let joined = first.iter().take(kept).chain(&second).cloned().collect::<Vec<_>>();
            for messages in [&first, &joined, &first, &second] {
                let (tokens, json) = with(messages, &CachedCounter::default(), |tokens, json| (tokens, json.to_vec()));
                let request = ChatRequest { messages: messages.clone(), ..ChatRequest::prompt(String::new(), 0, None, 0) };
                prop_assert_eq!(tokens, request.tokens(&Encoding::O200k));
                let written = serde_json::to_string(messages).expect("writes");
                prop_assert_eq!(format!("[{}]", String::from_utf8_lossy(&json)), written);
            }
        }
    }
}
