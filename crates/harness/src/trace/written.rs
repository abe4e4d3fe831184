//! What the texts hold that models and strategies write. A summary is looked at after its
//! compaction, at each point until the next one, and for several questions each time.

use std::sync::Arc;

use compactometer_text::binding::Binding;

use crate::prepare::{InWritten, PreparedScenario};

/// A written text with what is known of it.
pub(crate) struct WrittenText<'p, 't> {
    prepared: &'p PreparedScenario,
    text: &'t str,
    found: Arc<InWritten>,
}

impl<'p, 't> WrittenText<'p, 't> {
    pub(crate) fn new(prepared: &'p PreparedScenario, text: &'t str) -> Self {
        WrittenText {
            prepared,
            text,
            found: prepared.written.of(text, InWritten::default),
        }
    }

    /// The facts whose values it has, in order of appearance.
    pub(crate) fn facts(&self) -> &[u32] {
        let find = || self.prepared.facts.find(self.text);
        self.found.facts.get_or_init(|| numbers(find()))
    }

    /// The foreign facts that match, each as often as it does.
    pub(crate) fn foreign(&self) -> &[u32] {
        let find = || self.prepared.checks().foreign.find(self.text);
        self.found.foreign.get_or_init(|| numbers(find()))
    }

    /// The foils that it has.
    pub(crate) fn foils(&self) -> &[u32] {
        let find = || self.prepared.checks().foils.find(self.text);
        self.found.foils.get_or_init(|| numbers(find()))
    }

    /// What it gives to which subjects; nothing if facts have none.
    pub(crate) fn bindings(&self) -> &[Binding] {
        let bindings = self.prepared.checks().bindings.as_ref();
        let find = || bindings.map_or(Vec::new(), |bindings| bindings.of_text(self.text));
        self.found.bindings.get_or_init(find)
    }
}

fn numbers(found: impl Iterator<Item = usize>) -> Vec<u32> {
    found.map(|item| item as u32).collect()
}
