//! Texts that quote a conversation, with whole parts of its messages named instead of repeated. A request to a summarizer holds
//! much of a conversation, and one case sends many.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use compactometer_engine::message::part_text;
use compactometer_engine::tokens::CountedMessage;

/// Opens a reference: `⟦12.0⟧` is the first part of message 12. In the text itself it is doubled.
const OPEN: char = '⟦';
const CLOSE: char = '⟧';
/// Bytes by which a part is looked up. A shorter one is repeated.
const START: usize = 64;

/// The parts of a conversation's messages, by how their texts start.
#[derive(Default)]
pub(crate) struct References(HashMap<u64, Vec<(u32, u32)>>);

impl References {
    pub(crate) fn new(messages: &[Arc<CountedMessage>]) -> Self {
        let mut places: HashMap<u64, Vec<(u32, u32)>> = HashMap::new();
        for (index, counted) in messages.iter().enumerate() {
            for (part, text) in counted.message.parts.iter().enumerate() {
                let Some(text) = part_text(text) else { continue };
                let Some(start) = start_of(text) else { continue };
                let known = places.entry(start).or_default();
                if known.iter().all(|place| text_at(messages, *place) != text) {
                    known.push((index as u32, part as u32));
                }
            }
        }
        References(places)
    }

    /// The text with references. Parts are looked for at the start of each line, with or without a label such as `(result) `.
    pub(crate) fn shorten(&self, messages: &[Arc<CountedMessage>], text: &str) -> String {
        let mut short = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let line = rest.split_inclusive('\n').next().unwrap_or(rest);
            let label = if line.starts_with('(') { line.find(") ").map(|at| at + 2) } else { None };
            let found =
                [Some(0), label].into_iter().flatten().find_map(|at| Some((at, self.at(messages, &rest[at..])?)));
            let Some((at, place)) = found else {
                push_literal(&mut short, line);
                rest = &rest[line.len()..];
                continue;
            };
            push_literal(&mut short, &rest[..at]);
            let id = messages[place.0 as usize].message.id.0;
            short += &format!("{OPEN}{id}.{}{CLOSE}", place.1);
            rest = &rest[at + text_at(messages, place).len()..];
        }
        short
    }

    /// The longest part that this text starts with.
    fn at(&self, messages: &[Arc<CountedMessage>], text: &str) -> Option<(u32, u32)> {
        let known = self.0.get(&start_of(text)?)?.iter().copied();
        known
            .filter(|place| text.starts_with(text_at(messages, *place)))
            .max_by_key(|place| text_at(messages, *place).len())
    }
}

fn start_of(text: &str) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    text.as_bytes().get(..START)?.hash(&mut hasher);
    Some(hasher.finish())
}

fn text_at(messages: &[Arc<CountedMessage>], (index, part): (u32, u32)) -> &str {
    messages[index as usize].message.parts.get(part as usize).and_then(part_text).unwrap_or_default()
}

fn push_literal(short: &mut String, text: &str) {
    for letter in text.chars() {
        short.push(letter);
        if letter == OPEN {
            short.push(letter);
        }
    }
}

#[cfg(test)]
mod tests {
    use compactometer_engine::message::{Message, MessageId, Part, Role};
    use compactometer_engine::tokens::Encoding;
    use proptest::prelude::*;

    use super::*;

    fn conversation(texts: &[String]) -> Vec<Arc<CountedMessage>> {
        let part = |text: &String| Part::Text { text: text.clone() };
        let message = |(number, text): (usize, &String)| Message {
            id: MessageId(3 + 2 * number as u32),
            role: Role::User,
            at_ms: None,
            parts: vec![part(text), part(&format!("{text}{text}"))],
            usage: None,
        };
        texts.iter().enumerate().map(|found| CountedMessage::new(message(found), &Encoding::O200k)).collect()
    }

    /// What a reader of a run's folder does.
    fn expand(messages: &[Arc<CountedMessage>], short: &str) -> String {
        let mut text = String::new();
        let mut rest = short;
        while let Some(at) = rest.find(OPEN) {
            text += &rest[..at];
            rest = &rest[at + OPEN.len_utf8()..];
            if let Some(literal) = rest.strip_prefix(OPEN) {
                (text, rest) = (text + "⟦", literal);
                continue;
            }
            let (place, after) = rest.split_once(CLOSE).expect("a reference ends");
            let (id, part) = place.split_once('.').expect("it has two numbers");
            let id = MessageId(id.parse().expect("an id"));
            let found = messages.iter().find(|counted| counted.message.id == id).expect("a message");
            text += part_text(&found.message.parts[part.parse::<usize>().expect("a part")]).expect("its text");
            rest = after;
        }
        text + rest
    }

    #[test]
    fn whole_parts_are_named_and_everything_else_is_repeated() {
        let said = ["a long line of the user, ".repeat(4), "⟦12.0⟧ quotes a reference, ".repeat(4)];
        let messages = conversation(&said);
        let text = format!("Sum up:\n[1] user:\n{}\n\n(result) {}\nEnd ⟦", said[0], said[1]);
        let short = References::new(&messages).shorten(&messages, &text);
        assert_eq!(short, "Sum up:\n[1] user:\n⟦3.0⟧\n\n(result) ⟦5.0⟧\nEnd ⟦⟦");
        assert_eq!(expand(&messages, &short), text);
    }

    proptest! {
        #[test]
        fn a_shortened_text_can_be_read_back(
            said in prop::collection::vec("[a⟦⟧\n(]{0,3}[aé]{60,70}", 1..4),
            picks in prop::collection::vec((0..4_usize, "(\n|[(]a[)] |⟦|a){0,2}"), 0..8),
        ) {
            let messages = conversation(&said);
            let text = picks.iter().map(|(pick, between)| format!("{between}{}", said[pick % said.len()])).collect::<String>();
            let short = References::new(&messages).shorten(&messages, &text);
            prop_assert_eq!(expand(&messages, &short), text);
        }
    }
}
