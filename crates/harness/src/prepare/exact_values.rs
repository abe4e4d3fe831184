//! The exact values that a conversation states: identifiers, paths and numbers.

use std::collections::HashMap;
use std::sync::Arc;

use compactometer_engine::message::part_text;
use compactometer_engine::tokens::CountedMessage;
use compactometer_text::exact;
use foldhash::fast::FixedState;

/// The exact values of a conversation, in small letters, each with the index of the first message that holds it.
pub(crate) struct ExactValues(HashMap<String, usize, FixedState>);

impl ExactValues {
    pub(super) fn of(messages: &[Arc<CountedMessage>]) -> Self {
        let mut first = HashMap::default();
        for (index, counted) in messages.iter().enumerate() {
            for exact in counted.message.parts.iter().filter_map(part_text).flat_map(exact::within) {
                first.entry(exact.value.to_lowercase()).or_insert(index);
            }
        }
        ExactValues(first)
    }

    /// Whether a message before that index holds the value, whatever the case of its letters.
    pub(crate) fn is_before(&self, index: usize, value: &str) -> bool {
        self.0.get(&value.to_lowercase()).is_some_and(|first| *first < index)
    }
}
