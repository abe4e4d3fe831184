//! The texts of a case that records name by hash, with an index by how they start: thousands of
//! them are searched for quotations each time that one is added.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Deref;

use compactometer_formats::record::text_hash;

/// Opens a reference: `⟦12.0⟧` is the first part of message 12, and `⟦HASH⟧` the text with that
/// hash. In the text itself it is doubled.
pub(super) const OPEN: char = '⟦';

/// Bytes by which a text is looked up. A shorter one is never quoted.
const START: usize = 24;

/// Texts by hash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptTexts {
    by_hash: BTreeMap<String, String>,
    /// The hashes of texts that may be quoted, by how they start.
    quotable: HashMap<u64, Vec<String>>,
}

impl KeptTexts {
    /// Keeps a text and returns its hash.
    pub(crate) fn keep(&mut self, text: &str) -> String {
        let hash = text_hash(text);
        if !self.by_hash.contains_key(&hash) {
            self.add(hash.clone(), text.to_owned());
        }
        hash
    }

    fn add(&mut self, hash: String, text: String) {
        // A text with references of its own is not a quotation.
        if let Some(start) = start_of(&text).filter(|_| !text.contains(OPEN)) {
            self.quotable.entry(start).or_default().push(hash.clone());
        }
        self.by_hash.insert(hash, text);
    }

    /// The hash and the text of the longest with which a text starts, whose own start is known. Of
    /// equally long ones there is one.
    pub(super) fn quoted(&self, start: u64, text: &str) -> Option<(&str, &str)> {
        let hashes = self.quotable.get(&start).into_iter().flatten();
        let kept =
            hashes.filter_map(|hash| Some((hash.as_str(), self.by_hash.get(hash)?.as_str())));
        kept.filter(|(_, kept)| text.starts_with(kept))
            .max_by_key(|(_, kept)| kept.len())
    }
}

impl Deref for KeptTexts {
    type Target = BTreeMap<String, String>;

    fn deref(&self) -> &Self::Target {
        &self.by_hash
    }
}

impl From<BTreeMap<String, String>> for KeptTexts {
    fn from(texts: BTreeMap<String, String>) -> Self {
        let mut kept = KeptTexts::default();
        texts
            .into_iter()
            .for_each(|(hash, text)| kept.add(hash, text));
        kept
    }
}

/// A hash of how a text starts; none if it is too short to be looked up.
pub(super) fn start_of(text: &str) -> Option<u64> {
    let mut hasher = DefaultHasher::new();
    text.as_bytes().get(..START)?.hash(&mut hasher);
    Some(hasher.finish())
}
