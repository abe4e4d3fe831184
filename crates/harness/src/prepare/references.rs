//! Texts that quote a conversation, with whole parts of its messages named instead of repeated, and
//! so with texts that are kept already. A request to a summarizer holds much of a conversation, and
//! one case sends many.

use std::collections::HashMap;
use std::sync::Arc;

use compactometer_engine::message::part_text;
use compactometer_engine::tokens::CountedMessage;

use super::kept_texts::{KeptTexts, OPEN, start_of};

/// Ends a reference.
const CLOSE: char = '⟧';

/// The parts of a conversation's messages, by how their texts start.
#[derive(Default)]
pub(crate) struct References(HashMap<u64, Vec<(u32, u32)>>);

impl References {
    pub(crate) fn new(messages: &[Arc<CountedMessage>]) -> Self {
        let mut places: HashMap<u64, Vec<(u32, u32)>> = HashMap::new();
        for (index, counted) in messages.iter().enumerate() {
            for (part, text) in counted.message.parts.iter().enumerate() {
                let Some(text) = part_text(text) else {
                    continue;
                };
                let Some(start) = start_of(text) else {
                    continue;
                };
                let known = places.entry(start).or_default();
                if known.iter().all(|place| text_at(messages, *place) != text) {
                    known.push((index as u32, part as u32));
                }
            }
        }
        References(places)
    }

    /// The text with references to parts and to texts that are kept by hash. They are looked for at
    /// the start of each line, with or without a label such as `(result) `.
    pub(crate) fn shorten(
        &self,
        messages: &[Arc<CountedMessage>],
        kept: &KeptTexts,
        text: &str,
    ) -> String {
        let known = ReferencedText {
            parts: self,
            messages,
            kept,
        };
        let mut short = String::new();
        let mut rest = text;
        while !rest.is_empty() {
            let line = rest.split_inclusive('\n').next().unwrap_or(rest);
            let label = if line.starts_with('(') {
                line.find(") ").map(|at| at + 2)
            } else {
                None
            };
            let found = [Some(0), label]
                .into_iter()
                .flatten()
                .find_map(|at| Some((at, known.at(&rest[at..])?)));
            let Some((at, (name, length))) = found else {
                push_literal(&mut short, line);
                rest = &rest[line.len()..];
                continue;
            };
            push_literal(&mut short, &rest[..at]);
            short += &format!("{OPEN}{name}{CLOSE}");
            rest = &rest[at + length..];
        }
        short
    }
}

/// What a text may refer to.
struct ReferencedText<'k> {
    parts: &'k References,
    messages: &'k [Arc<CountedMessage>],
    kept: &'k KeptTexts,
}

impl ReferencedText<'_> {
    /// The name and the bytes of the longest that this text starts with.
    fn at(&self, text: &str) -> Option<(String, usize)> {
        let start = start_of(text)?;
        let parts = self
            .parts
            .0
            .get(&start)
            .into_iter()
            .flatten()
            .map(|place| (*place, text_at(self.messages, *place)));
        let part = parts
            .filter(|(_, part)| text.starts_with(part))
            .max_by_key(|(_, part)| part.len());
        let kept = self.kept.quoted(start, text);
        match (part, kept) {
            (Some((_, part)), Some((hash, kept))) if kept.len() > part.len() => {
                Some((hash.to_owned(), kept.len()))
            }
            (Some(((index, at), part)), _) => Some((
                format!("{}.{at}", self.messages[index as usize].message.id.0),
                part.len(),
            )),
            (None, kept) => kept.map(|(hash, kept)| (hash.to_owned(), kept.len())),
        }
    }
}

fn text_at(messages: &[Arc<CountedMessage>], (index, part): (u32, u32)) -> &str {
    messages[index as usize]
        .message
        .parts
        .get(part as usize)
        .and_then(part_text)
        .unwrap_or_default()
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
    use std::collections::BTreeMap;

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
        texts
            .iter()
            .enumerate()
            .map(|found| CountedMessage::new(message(found), &Encoding::O200k))
            .collect()
    }

    /// What a reader of a run's folder does.
    fn expand(
        messages: &[Arc<CountedMessage>],
        texts: &BTreeMap<String, String>,
        short: &str,
    ) -> String {
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
            rest = after;
            let Some((id, part)) = place.split_once('.') else {
                text += &texts[place];
                continue;
            };
            let id = MessageId(id.parse().expect("an id"));
            let found = messages
                .iter()
                .find(|counted| counted.message.id == id)
                .expect("a message");
            text += part_text(&found.message.parts[part.parse::<usize>().expect("a part")])
                .expect("its text");
        }
        text + rest
    }

    #[test]
    fn whole_parts_are_named_and_everything_else_is_repeated() {
        let said = [
            "a long line of the user, ".repeat(4),
            "⟦12.0⟧ quotes a reference, ".repeat(4),
        ];
        let messages = conversation(&said);
        let texts = KeptTexts::from(BTreeMap::from([(
            "ab".to_owned(),
            "What an earlier summary said.".to_owned(),
        )]));
        let text = format!(
            "Sum up:\n[1] user:\n(earlier summary) {}\n{}\n\n(result) {}\nEnd ⟦",
            texts["ab"], said[0], said[1]
        );
        let short = References::new(&messages).shorten(&messages, &texts, &text);
        assert_eq!(
            short,
            "Sum up:\n[1] user:\n(earlier summary) ⟦ab⟧\n⟦3.0⟧\n\n(result) ⟦5.0⟧\nEnd ⟦⟦"
        );
        assert_eq!(expand(&messages, &texts, &short), text);
    }

    proptest! {
        #[test]
        fn a_shortened_text_can_be_read_back(
            said in prop::collection::vec("[a⟦⟧\n(]{0,3}[aé]{60,70}", 1..4),
            picks in prop::collection::vec((0..4_usize, "(\n|[(]a[)] |⟦|a){0,2}"), 0..8),
        ) {
            let messages = conversation(&said);
            let text = picks.iter().map(|(pick, between)| format!("{between}{}", said[pick % said.len()])).collect::<String>();
            let texts = BTreeMap::from([("cd".to_owned(), format!("{}a⟦", said[0])), ("ef".to_owned(), "a".repeat(30))]);
            let texts = KeptTexts::from(texts);
            let short = References::new(&messages).shorten(&messages, &texts, &text);
            prop_assert_eq!(expand(&messages, &texts, &short), text);
        }
    }
}
