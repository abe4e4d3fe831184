//! Other names of the same file, those in a text that spells out several paths among them; a path
//! below a folder names the folder. Of a hash, its other lengths.

use compactometer_engine::message::{MessageId, part_text};
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::view::{Origin, View};
use compactometer_formats::scenario::{Fact, ValueKind};
use compactometer_text::folders::spelled_out;
use compactometer_text::matcher::Matcher;
use std::sync::Arc;

use super::hashes::{Hashes, is_hash};
use super::spellings::other_names;
use crate::prepare::Lists;

/// Names relative to more directories than this are not looked for: each of them is one more name
/// of every path.
const MOST_DIRECTORIES: usize = 20;

/// Where other names of paths that calls use occur.
pub(crate) struct OtherNames {
    matcher: Matcher,
    /// Finds the paths that a text spells out, each by all its names.
    spelled: Matcher,
    hashes: Hashes,
    /// The paths and hashes that calls use, ascending.
    facts: Vec<u32>,
    /// For each message, the places in `facts` of those that it names otherwise.
    named_in: Lists,
}

impl OtherNames {
    /// The other names of the paths that calls use; none if they use none.
    pub(crate) fn new(
        facts: &[Fact],
        directories: &[String],
        messages: &[Arc<CountedMessage>],
    ) -> Option<Self> {
        let directories = &directories[..directories.len().min(MOST_DIRECTORIES)];
        let used = facts
            .iter()
            .enumerate()
            .filter(|(_, fact)| !fact.used_at.is_empty());
        let is_path = |fact: &Fact| fact.value_kind == ValueKind::Path;
        let can_be_named = |fact: &Fact| match is_path(fact) {
            true => !fact.value.contains("://"),
            false => is_hash(&fact.value),
        };
        let named = used
            .filter(|(_, fact)| can_be_named(fact))
            .map(|(index, fact)| {
                let names = match is_path(fact) {
                    true => other_names(&fact.value, directories),
                    false => Vec::new(),
                };
                (index as u32, &fact.value, names)
            });
        let named = named.collect::<Vec<_>>();
        if named.is_empty() {
            return None;
        }
        let matcher = Matcher::new(
            named
                .iter()
                .map(|(_, _, names)| (ValueKind::Path, names.iter().map(String::as_str))),
        );
        let spelled = named.iter().map(|(_, path, names)| {
            (
                ValueKind::Path,
                [path.as_str()]
                    .into_iter()
                    .chain(names.iter().map(String::as_str)),
            )
        });
        let spelled = Matcher::new(spelled);
        let hashes = Hashes::new(
            (0..)
                .zip(&named)
                .map(|(item, (_, value, _))| (value.as_str(), item)),
        );
        let mut names = OtherNames {
            matcher,
            spelled,
            hashes,
            facts: named.iter().map(|(index, ..)| *index).collect(),
            named_in: Lists::with_capacity(messages.len()),
        };
        for counted in messages {
            let texts = counted.message.parts.iter().filter_map(part_text);
            let found = texts.flat_map(|text| names.items_in(text));
            let mut found = found.map(|item| item as u32).collect::<Vec<_>>();
            found.sort_unstable();
            found.dedup();
            names.named_in.push(found);
        }
        Some(names)
    }

    /// Whether a view names a fact's file otherwise, in what it wrote with an origin that counts, or
    /// kept of the messages before that index.
    pub(crate) fn holds(
        &self,
        fact: u32,
        view: &View,
        index: impl Fn(MessageId) -> usize,
        before: usize,
        counts: impl Fn(Origin) -> bool,
    ) -> bool {
        let Ok(item) = self.facts.binary_search(&fact) else {
            return false;
        };
        let is_in = |text: &str| self.items_in(text).any(|found| found == item);
        view.entries()
            .iter()
            .any(|entry| match entry.kept().map(|kept| index(kept.id)) {
                Some(message) => {
                    message < before && self.named_in.get(message).contains(&(item as u32))
                }
                None => entry
                    .parts()
                    .filter(|(_, origin)| counts(*origin))
                    .filter_map(|(part, _)| part_text(part))
                    .any(is_in),
            })
    }

    /// The facts whose files a text names otherwise.
    pub(crate) fn found_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = u32> + 't {
        self.items_in(text).map(|item| self.facts[item])
    }

    /// The places in `facts` of what a text names otherwise.
    fn items_in<'t>(&'t self, text: &'t str) -> impl Iterator<Item = usize> + 't {
        let spelled =
            spelled_out(text).flat_map(|path| self.spelled.find(&path).collect::<Vec<_>>());
        let hashes = self.hashes.found_in(text);
        self.matcher.find(text).chain(spelled).chain(hashes)
    }
}
