//! Other names of the same file, those in a text that spells out several paths among them; a path
//! below a folder names the folder. Of a hash, its other lengths.

use compactometer_engine::message::{Message, MessageId, part_text};
use compactometer_engine::view::{Origin, View};
use compactometer_formats::scenario::{Fact, ValueKind};
use compactometer_text::folders::spelled_out;
use compactometer_text::matcher::Matcher;
use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::hashes::{Hashes, is_hash};
use super::spellings::other_names;

/// Names relative to more directories than this are not looked for: each of them is one more name
/// of every path.
const MOST_DIRECTORIES: usize = 20;

/// Where other names of paths that calls use occur.
pub(crate) struct OtherNames {
    matcher: Matcher,
    hashes: Hashes,
    /// The paths and hashes that calls use, ascending.
    facts: Vec<u32>,
    /// For each message, the places in `facts` of those that it names otherwise, found when they
    /// are first asked for: few messages are kept.
    named_in: Vec<OnceLock<BTreeSet<usize>>>,
}

impl OtherNames {
    /// The other names of the paths that calls of a conversation of so many messages use; none if
    /// they use none.
    pub(crate) fn new(facts: &[Fact], directories: &[String], messages: usize) -> Option<Self> {
        let directories = &directories[..directories.len().min(MOST_DIRECTORIES)];
        let used = (0..)
            .zip(facts)
            .filter(|(_, fact)| !fact.used_at.is_empty());
        let is_path = |fact: &Fact| fact.value_kind == ValueKind::Path;
        let can_be_named = |fact: &Fact| match is_path(fact) {
            true => !fact.value.contains("://"),
            false => is_hash(&fact.value),
        };
        let named = used.filter(|(_, fact)| can_be_named(fact));
        let (indices, named): (Vec<_>, Vec<_>) = named.unzip();
        if named.is_empty() {
            return None;
        }
        let names = named.iter().map(|fact| match is_path(fact) {
            true => other_names(&fact.value, directories),
            false => Vec::new(),
        });
        let names = names.collect::<Vec<_>>();
        let names = names.iter().map(|names| names.iter().map(String::as_str));
        let values = named.iter().map(|fact| fact.value.as_str());
        Some(OtherNames {
            matcher: Matcher::new(names.map(|names| (ValueKind::Path, names))),
            hashes: Hashes::new(values.zip(0..)),
            facts: indices,
            named_in: vec![OnceLock::new(); messages],
        })
    }

    /// Whether a view names a fact's file otherwise, in what it wrote with an origin that counts, or
    /// kept of the messages before that index. `facts` finds all by their values.
    pub(crate) fn holds(
        &self,
        fact: u32,
        (view, facts): (&View, &Matcher),
        index: impl Fn(MessageId) -> usize,
        before: usize,
        counts: impl Fn(Origin) -> bool,
    ) -> bool {
        let Ok(item) = self.facts.binary_search(&fact) else {
            return false;
        };
        let is_in = |text: &str| self.items_in(text, facts).any(|found| found == item);
        view.entries()
            .iter()
            .any(|entry| match entry.log_message() {
                Some(kept) => {
                    let message = index(kept.id);
                    message < before && self.named_in(message, kept, facts).contains(&item)
                }
                None => entry
                    .parts()
                    .filter(|(_, origin)| counts(*origin))
                    .filter_map(|(part, _)| part_text(part))
                    .any(is_in),
            })
    }

    fn named_in(&self, index: usize, message: &Message, facts: &Matcher) -> &BTreeSet<usize> {
        let texts = || message.parts.iter().filter_map(part_text);
        self.named_in[index].get_or_init(|| {
            texts()
                .flat_map(|text| self.items_in(text, facts))
                .collect()
        })
    }

    /// The facts whose files a text names otherwise. `facts` finds all by their values.
    pub(crate) fn found_in<'t>(
        &'t self,
        text: &'t str,
        facts: &'t Matcher,
    ) -> impl Iterator<Item = u32> + 't {
        self.items_in(text, facts).map(|item| self.facts[item])
    }

    /// The places in `facts` of what a text names otherwise.
    fn items_in<'t>(
        &'t self,
        text: &'t str,
        facts: &'t Matcher,
    ) -> impl Iterator<Item = usize> + 't {
        let item = |fact: usize| self.facts.binary_search(&(fact as u32)).ok();
        let spelled = spelled_out(text).flat_map(move |path| {
            let as_said = facts.find(&path).filter_map(item);
            as_said.chain(self.matcher.find(&path)).collect::<Vec<_>>()
        });
        let hashes = self.hashes.found_in(text);
        self.matcher.find(text).chain(spelled).chain(hashes)
    }
}
