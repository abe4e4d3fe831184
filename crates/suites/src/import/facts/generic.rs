//! Values that no project has for itself: there is none to which all conversations with the value
//! belong.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use compactometer_engine::message::part_text;
use compactometer_formats::scenario::Scenario;
use compactometer_text::exact::Exact;
use compactometer_text::matcher::Matcher;

use crate::walk::Walk;

/// The most values that are looked for at once, since each takes some 200 bytes.
const AT_ONCE: usize = 250_000;

/// A value, and the projects of a conversation that has it.
#[derive(Clone, Debug)]
pub(super) struct FoundValue {
    pub(super) exact: Exact,
    pub(super) projects: Arc<[String]>,
}

/// The values, given by their lower case, that are in conversations without a common project. The
/// conversations are gone through once for every 250,000 values.
pub(super) fn find<'v, W: Walk>(
    values: impl Iterator<Item = (&'v str, &'v FoundValue)>,
    conversations: &mut W,
) -> Result<HashSet<String>, W::Error> {
    find_in_parts(values, AT_ONCE, conversations)
}

fn find_in_parts<'v, W: Walk>(
    mut values: impl Iterator<Item = (&'v str, &'v FoundValue)>,
    at_once: usize,
    conversations: &mut W,
) -> Result<HashSet<String>, W::Error> {
    let mut generic = HashSet::new();
    loop {
        let part = values.by_ref().take(at_once).collect::<Vec<_>>();
        if part.is_empty() {
            return Ok(generic);
        }
        let all = ValueSearch::new(&part, |_| true);
        let most = most_frequent(&part);
        let others = most.map(|most| (most, ValueSearch::new(&part, |of| of != most)));
        // The projects to which all conversations with the value belong.
        let mut common = part
            .iter()
            .map(|(_, known)| known.projects.to_vec())
            .collect::<Vec<_>>();
        conversations.walk(&mut |scenario| {
            // A value stays a project's where another of its conversations has it.
            let others = others.as_ref().filter(|(most, _)| {
                let own = most.iter().map(String::as_str);
                own.eq(scenario.projects())
            });
            let sought = others.map_or(&all, |(_, others)| others);
            for value in sought.found_in(scenario, |value| !common[value].is_empty()) {
                common[value].retain(|project| scenario.projects().any(|own| own == project));
            }
        })?;
        let found = part
            .iter()
            .zip(&common)
            .filter(|(_, common)| common.is_empty());
        generic.extend(found.map(|((value, _), _)| (*value).to_owned()));
    }
}

/// The projects that at least half of the values come from.
fn most_frequent<'k>(part: &[(&str, &'k FoundValue)]) -> Option<&'k [String]> {
    let mut counts = BTreeMap::<&[String], usize>::new();
    for (_, known) in part {
        *counts.entry(&known.projects).or_default() += 1;
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.filter(|(_, count)| count * 2 >= part.len())
        .map(|(projects, _)| projects)
}

/// Values that are looked for together, by their places in the part.
struct ValueSearch {
    matcher: Matcher,
    places: Vec<usize>,
}

impl ValueSearch {
    fn new(part: &[(&str, &FoundValue)], of: impl Fn(&[String]) -> bool) -> Self {
        let wanted = part
            .iter()
            .enumerate()
            .filter(|(_, (_, known))| of(&known.projects));
        let (places, values): (Vec<_>, Vec<_>) = wanted
            .map(|(place, (_, FoundValue { exact, .. }))| {
                (place, (exact.kind, [exact.value.as_str()]))
            })
            .unzip();
        ValueSearch {
            matcher: Matcher::new(values),
            places,
        }
    }

    /// Those of the values that a conversation has and that are wanted.
    fn found_in(&self, scenario: &Scenario, is_wanted: impl Fn(usize) -> bool) -> Vec<usize> {
        let decided = self.places.iter().map(|place| !is_wanted(*place));
        let mut decided = decided.collect::<Vec<_>>();
        let mut found = Vec::new();
        let parts = scenario.messages.iter().flat_map(|message| &message.parts);
        parts.filter_map(part_text).for_each(|text| {
            self.matcher
                .mark_new(text, &mut decided, |item| found.push(self.places[item]));
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use compactometer_formats::scenario::ValueKind;

    use super::*;
    use crate::properties::tests::suite;

    #[test]
    fn values_looked_for_in_parts_are_those_looked_for_at_once() {
        let suite = suite(&[
            ("a", "KX-1001 KX-1002 lib/one.rs"),
            ("a", "KX-1001"),
            ("b", "kx-1002 lib/one.rs lib/two.rs"),
        ]);
        let known = |(value, kind, project): (&str, _, &str)| {
            let exact = Exact {
                value: value.to_owned(),
                kind,
            };
            let projects = Arc::from([project.to_owned()]);
            (value.to_ascii_lowercase(), FoundValue { exact, projects })
        };
        let ids = [("KX-1001", "a"), ("KX-1002", "a"), ("KX-1003", "a")];
        let ids = ids.map(|(id, project)| (id, ValueKind::Id, project));
        let paths = [("lib/one.rs", "a"), ("lib/two.rs", "b")];
        let paths = paths.map(|(path, project)| (path, ValueKind::Path, project));
        let values = ids
            .into_iter()
            .chain(paths)
            .map(known)
            .collect::<BTreeMap<_, _>>();
        for at_once in 1..=values.len() {
            let all = values.iter().map(|(key, known)| (key.as_str(), known));
            let Ok(found) = find_in_parts(all, at_once, &mut suite.scenarios.as_slice());
            assert_eq!(
                found,
                HashSet::from(["kx-1002", "lib/one.rs"].map(str::to_owned)),
                "{at_once}"
            );
        }
    }
}
