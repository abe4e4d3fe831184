//! Uses: calls take exact values that the conversation said before. Each use has a kind, by the
//! argument that holds the value.
//!
//! Whether a use finds its value in what a compaction left is judged here for `losses` and for all
//! strategies alike.

mod hashes;
mod names;
mod spellings;
mod unlogged;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use compactometer_engine::message::Part;
use compactometer_engine::tokens::CountedMessage;
use compactometer_formats::record::UseKind;
use compactometer_formats::scenario::Fact;
use compactometer_text::generic::is_generic;
use compactometer_text::matcher::Matcher;
use serde_json::Value;

use crate::prepare::Lists;

pub(crate) use compactometer_text::arguments::{ArgumentPurpose, arguments};
pub(crate) use names::OtherNames;
pub(crate) use unlogged::{Unlogged, unlogged};

/// How a call uses a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedBy {
    /// What kind of use it is.
    pub kind: UseKind,
    /// The tool that is called.
    pub tool: String,
    /// The argument that holds the value; empty if it has no name.
    pub argument: String,
}

/// The uses of a conversation's facts, by the index of the calling message and the fact.
pub struct Uses {
    by: HashMap<(usize, u32), UsedBy>,
}

impl Uses {
    /// Finds how the calls of messages use the facts, given those that each message uses.
    pub(crate) fn new(
        facts: &[Fact],
        (messages, used_in): (&[Arc<CountedMessage>], &Lists),
        matcher: &Matcher,
    ) -> Self {
        let mut uses = Uses { by: HashMap::new() };
        for (index, counted) in messages.iter().enumerate() {
            let wanted = used_in.get(index);
            let calls = counted.message.parts.iter().filter(|_| !wanted.is_empty());
            calls.for_each(|call| uses.add(index, call, wanted, (facts, matcher)));
        }
        uses
    }

    /// Adds the uses of these facts by one call.
    fn add(
        &mut self,
        message: usize,
        call: &Part,
        wanted: &[u32],
        (facts, matcher): (&[Fact], &Matcher),
    ) {
        let Part::ToolCall {
            name,
            arguments: text,
            ..
        } = call
        else {
            return;
        };
        let Ok(value) = serde_json::from_str::<Value>(text) else {
            return;
        };
        for argument in arguments(&value) {
            let found = matcher
                .find(&argument.text)
                .map(|fact| fact as u32)
                .collect::<BTreeSet<_>>();
            // The matcher finds whole values; what an importer took for one may be a part of a
            // longer word.
            let is_in = |fact: u32| {
                found.contains(&fact) || argument.text.contains(facts[fact as usize].value.as_str())
            };
            for fact in wanted.iter().copied().filter(|fact| is_in(*fact)) {
                let row = &facts[fact as usize];
                let kind = match argument.purpose {
                    _ if row.generic || is_generic(&row.value, row.value_kind) => UseKind::Generic,
                    ArgumentPurpose::Authored => UseKind::Authored,
                    ArgumentPurpose::Address => UseKind::Address,
                };
                let found = UsedBy {
                    kind,
                    tool: name.clone(),
                    argument: argument.name.to_owned(),
                };
                let known = self
                    .by
                    .entry((message, fact))
                    .or_insert_with(|| found.clone());
                // What the agent writes may repeat an address, so the address is not what it must
                // know.
                if kind == UseKind::Authored && known.kind == UseKind::Address {
                    *known = found;
                }
            }
        }
    }

    /// The argument by which the message at that index uses a fact, if one shows it.
    pub fn by(&self, message: usize, fact: u32) -> Option<&UsedBy> {
        self.by.get(&(message, fact))
    }

    /// How the message at that index uses a fact. A use that no argument shows is one of an
    /// address.
    pub fn kind(&self, message: usize, fact: u32) -> UseKind {
        self.by(message, fact)
            .map_or(UseKind::Address, |used| used.kind)
    }
}
