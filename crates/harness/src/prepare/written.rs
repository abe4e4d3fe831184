//! What was found in the texts that models and strategies write.

use std::sync::OnceLock;

use compactometer_text::binding::Binding;

use super::memo::TextMemo;

/// The written texts of one conversation that were searched.
pub(crate) type WrittenTexts = TextMemo<InWritten>;

/// What a text holds, each searched when it is asked for.
#[derive(Debug, Default)]
pub(crate) struct InWritten {
    pub(crate) facts: OnceLock<Vec<u32>>,
    pub(crate) foreign: OnceLock<Vec<u32>>,
    pub(crate) foils: OnceLock<Vec<u32>>,
    pub(crate) bindings: OnceLock<Vec<Binding>>,
}
