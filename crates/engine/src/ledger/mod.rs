//! A ledger: a bounded list of the user's own words and of the exact values of a conversation, made
//! by rules and without a model, to go beside a summary.
//!
//! A summary keeps what happened; what it drops first are the paths, ids and numbers that the next
//! calls need letter for letter, and, with each further compaction, what the user said. A ledger
//! reads each message once, when it is said. Its page quotes the sentences of the user and lists the
//! values that the next request lacks, each with what it belongs to, within a budget of tokens.
//!
//! ```
//! use compactometer_engine::ledger::Ledger;
//! use compactometer_engine::message::{Message, MessageId, Part, Role};
//! use compactometer_engine::tokens::{Encoding, TokenCounter};
//!
//! let text = "The staging port is 48213. See src/pay/refund.rs.".to_owned();
//! let said = Message { id: MessageId(0), role: Role::User, at_ms: None, parts: vec![Part::Text { text }], usage: None };
//! let mut ledger = Ledger::default();
//! ledger.add(&said);
//! let page = ledger.page(200, ["We talked about refunds."], &Encoding::O200k);
//! assert!(page.text.contains("src/pay/refund.rs") && page.text.contains("48213"));
//! assert!(page.tokens <= 200 && page.tokens == Encoding::O200k.count_text(&page.text));
//! ```
//!
//! Absent on purpose: models, files, clocks and secrets. Whoever adds messages masks them first;
//! masked text is in no ledger.

mod bound;
mod known;
mod ledger_page;
mod paths;
mod prose;
mod quotes;
mod values;

use std::collections::HashMap;

use foldhash::fast::FixedState;
use serde_json::Value;

use crate::message::{Message, MessageId, Part, Role};

pub use known::Source;
pub use ledger_page::{Lack, Listed, Page};
pub use quotes::Quote;
pub use values::LedgerKind;

use known::{KnownValue, ValueMention};
use paths::Roots;
use quotes::Quotes;

/// A listing of more values than this is no conversation, and no reason for more memory.
const MOST: usize = 100_000;

/// The exact values that a conversation said so far, and what its user said.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    roots: Roots,
    values: HashMap<Box<str>, KnownValue, FixedState>,
    /// With so many values, those that only tools said are forgotten before another is noted; at
    /// least [`MOST`].
    most: usize,
    /// The latest value of each subject, by what is before it.
    subjects: HashMap<Box<str>, Box<str>, FixedState>,
    /// The number of calls so far.
    calls: u32,
    quotes: Quotes,
}

impl Ledger {
    /// A ledger of a conversation that works in these directories, the first of which is where it
    /// began. The page names the files below it relative to it.
    pub fn in_directories(directories: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        Ledger {
            roots: Roots::new(directories),
            ..Ledger::default()
        }
    }

    /// Reads a message. Its values count as said after all that were read before. What has the role
    /// of the user counts as their own words.
    pub fn add(&mut self, message: &Message) {
        self.read_parts(message, ValueMention::User);
        for part in message.parts.iter().filter(|_| message.role == Role::User) {
            if let Part::Text { text } = part {
                self.quotes.hear(text, message.id);
            }
        }
    }

    /// Reads a message that no person wrote, whatever its role, such as a notification of the
    /// agent's program. None of it is quoted, and what it says counts as said by a tool.
    pub fn add_by_program(&mut self, message: &Message) {
        self.read_parts(message, ValueMention::Result);
    }

    /// Reads a message whose texts in the user's role are such mentions.
    fn read_parts(&mut self, message: &Message, by_user: ValueMention) {
        for part in &message.parts {
            match part {
                Part::Text { text } | Part::Thinking { text, .. } => match message.role {
                    Role::User => self.read(text, message.id, by_user),
                    Role::Assistant => self.read(text, message.id, ValueMention::Agent),
                    Role::Tool => self.read(text, message.id, ValueMention::Result),
                    Role::System => {}
                },
                Part::ToolResult { text, .. } => self.read(text, message.id, ValueMention::Result),
                Part::ToolCall {
                    name, arguments, ..
                } => self.call(name, arguments, message.id),
                Part::Media { .. } | Part::Sealed { .. } => {}
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &str, id: MessageId) {
        self.calls += 1;
        match serde_json::from_str::<Value>(arguments) {
            Ok(value) => self.argument(tool, "", &value, id),
            Err(_) => self.read(arguments, id, ValueMention::Agent),
        }
    }

    fn argument(&mut self, tool: &str, name: &str, value: &Value, id: MessageId) {
        match value {
            Value::String(text) if bound::is_address(name, text) => self.used(tool, name, text, id),
            Value::String(text) => self.read(text, id, ValueMention::Written),
            Value::Array(items) => items
                .iter()
                .for_each(|item| self.argument(tool, name, item, id)),
            Value::Object(fields) => fields
                .iter()
                .for_each(|(name, field)| self.argument(tool, name, field, id)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// A call takes the values of an argument.
    fn used(&mut self, tool: &str, name: &str, text: &str, id: MessageId) {
        let now = self.calls;
        let path = paths::of_argument(name, text);
        if let Some(path) = path.filter(|path| !path.contains(values::MASK)) {
            self.known(path, LedgerKind::Path, id)
                .mention(ValueMention::Call, now);
            return;
        }
        for found in values::values(text) {
            let known = self.known(found.value, found.kind, id);
            known.mention(ValueMention::Call, now);
            known.bind_to_call(tool, name);
        }
    }

    fn read(&mut self, text: &str, id: MessageId, mention: ValueMention) {
        let now = self.calls;
        for found in values::values(text) {
            let known = self.known(found.value, found.kind, id);
            if found.kind != LedgerKind::Path {
                let is_talk = matches!(mention, ValueMention::User | ValueMention::Agent);
                match is_talk {
                    true => known.bind_to_words(|| bound::words(text, found.at, found.value.len())),
                    false => known.bind_to_name(|| bound::name(text, found.at)),
                }
                if is_talk && let Some(subject) = bound::subject(text, found.at) {
                    self.subjects.insert(subject.clone(), found.value.into());
                    if let Some(known) = self.values.get_mut(found.value) {
                        known.subject = Some(subject);
                    }
                }
            }
            self.known(found.value, found.kind, id)
                .mention(mention, now);
        }
    }

    fn known(&mut self, value: &str, kind: LedgerKind, id: MessageId) -> &mut KnownValue {
        let name = if kind == LedgerKind::Path {
            self.roots.name(value)
        } else {
            value
        };
        if !self.values.contains_key(name) {
            if self.values.len() >= self.most {
                self.values
                    .retain(|_, known| known.source > Source::Results);
                self.most = MOST.max(2 * self.values.len());
            }
            self.values.insert(name.into(), KnownValue::new(kind, id));
        }
        self.values.get_mut(name).expect("it was just inserted")
    }
}

#[cfg(test)]
mod tests;
