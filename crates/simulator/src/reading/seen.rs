//! A cache of the tokens and the JSON of a request's messages. Successive questions follow the same messages, which are then
//! compared instead of being counted and serialized again.
//!
//! The cache changes no reply, because both are functions of the messages.

use std::cell::RefCell;

use compactometer_engine::model::WireMessage;
use compactometer_engine::tokens::{MESSAGE_OVERHEAD, TokenCounter};

thread_local! {
    /// The messages of the last request.
    static LAST: RefCell<Seen> = RefCell::default();
}

/// Messages and their JSON, separated by commas.
#[derive(Default)]
struct Seen {
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
pub(crate) fn with<T>(messages: &[WireMessage], counter: &dyn TokenCounter, take: impl FnOnce(u32, &[u8]) -> T) -> T {
    LAST.with_borrow_mut(|seen| {
        let same = seen.messages.iter().zip(messages).take_while(|(seen, message)| seen.message == **message).count();
        seen.messages.truncate(same);
        seen.json.truncate(seen.messages.last().map_or(0, |last| last.end));
        messages[same..].iter().for_each(|message| seen.push(message, counter));
        let tokens = seen.messages.iter().map(|counted| counted.tokens).fold(0, u32::saturating_add);
        take(tokens, &seen.json)
    })
}

impl Seen {
    fn push(&mut self, message: &WireMessage, counter: &dyn TokenCounter) {
        // The tokens of media are given, not counted.
        let parts = message.parts.iter().map(|part| counter.count_part(part));
        let tokens = parts.fold(MESSAGE_OVERHEAD, u32::saturating_add);
        if !self.messages.is_empty() {
            self.json.push(b',');
        }
        // Writing to a vector cannot fail.
        let _ = serde_json::to_writer(&mut self.json, message);
        self.messages.push(Counted { message: message.clone(), tokens, end: self.json.len() });
    }
}

#[cfg(test)]
mod tests {
    use compactometer_engine::message::{Part, Role};
    use compactometer_engine::model::ChatRequest;
    use compactometer_engine::tokens::Encoding;
    use proptest::prelude::*;

    use super::*;
    use crate::reading::counts::Counts;

    fn part() -> impl Strategy<Value = Part> {
        let text = || "([a-z \"\\\\\n\r\t\u{8}\u{c}\u{1}\u{7f}é数]|[a-z]{40}){0,4}";
        prop_oneof![
            text().prop_map(|text| Part::Text { text }),
            (text(), prop::option::of(text())).prop_map(|(text, signature)| Part::Thinking { text, signature }),
            (text(), text()).prop_map(|(id, arguments)| Part::ToolCall { name: id.clone(), id, arguments }),
            (text(), text(), any::<bool>()).prop_map(|(call_id, text, is_error)| Part::ToolResult {
                call_id,
                text,
                is_error
            }),
            (text(), prop_oneof![0..9_u32, any::<u32>()]).prop_map(|(text, tokens)| Part::Media {
                media_type: text.clone(),
                digest: text,
                tokens
            }),
        ]
    }

    fn messages() -> impl Strategy<Value = Vec<WireMessage>> {
        let role = prop::sample::select(vec![Role::System, Role::User, Role::Assistant, Role::Tool]);
        let message = (role, prop::collection::vec(part(), 0..3))
            .prop_map(|(role, parts)| WireMessage { role, parts: parts.into() });
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
                let (tokens, json) = with(messages, &Counts::default(), |tokens, json| (tokens, json.to_vec()));
                let request = ChatRequest { messages: messages.clone(), ..ChatRequest::prompt(String::new(), 0, None, 0) };
                prop_assert_eq!(tokens, request.tokens(&Encoding::O200k));
                let written = serde_json::to_string(messages).expect("writes");
                prop_assert_eq!(format!("[{}]", String::from_utf8_lossy(&json)), written);
            }
        }
    }
}
