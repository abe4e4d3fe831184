//! Values that no project has for itself: there is none to which all conversations with the value
//! belong.

use std::collections::{BTreeMap, HashSet};

use compactometer_engine::message::part_text;
use compactometer_text::exact::Exact;
use compactometer_text::matcher::Matcher;

use crate::walk::Walk;

/// The most values that are looked for at once, since each takes some 200 bytes.
const AT_ONCE: usize = 100_000;

/// The values, given by their lower case, that are in conversations without a common project. The
/// conversations are gone through once for every 100,000 values.
pub(super) fn find<'v, W: Walk>(
    values: impl Iterator<Item = (&'v str, &'v Exact)>,
    conversations: &mut W,
) -> Result<HashSet<String>, W::Error> {
    find_in_parts(values, AT_ONCE, conversations)
}

fn find_in_parts<'v, W: Walk>(
    mut values: impl Iterator<Item = (&'v str, &'v Exact)>,
    at_once: usize,
    conversations: &mut W,
) -> Result<HashSet<String>, W::Error> {
    let mut generic = HashSet::new();
    loop {
        let part = values.by_ref().take(at_once).collect::<BTreeMap<_, _>>();
        if part.is_empty() {
            return Ok(generic);
        }
        let matcher = Matcher::new(
            part.values()
                .map(|exact| (exact.kind, [exact.value.as_str()])),
        );
        let mut is_present = vec![false; part.len()];
        // The projects to which all conversations with the value belong; nothing before the first.
        let mut common: Vec<Option<Vec<String>>> = vec![None; part.len()];
        conversations.walk(&mut |scenario| {
            is_present.fill(false);
            let texts = scenario
                .messages
                .iter()
                .flat_map(|message| message.parts.iter().filter_map(part_text));
            texts.for_each(|text| matcher.mark(text, &mut is_present));
            for (common, _) in common
                .iter_mut()
                .zip(&is_present)
                .filter(|(_, is_present)| **is_present)
            {
                match common {
                    Some(common) => {
                        common.retain(|project| scenario.projects().any(|own| own == project))
                    }
                    None => *common = Some(scenario.projects().map(str::to_owned).collect()),
                }
            }
        })?;
        let has_none = |common: &Option<Vec<String>>| common.as_ref().is_some_and(Vec::is_empty);
        let found = part
            .keys()
            .zip(&common)
            .filter(|(_, common)| has_none(common));
        generic.extend(found.map(|(value, _)| (*value).to_owned()));
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
        let exact = |(value, kind): (&str, _)| {
            (
                value.to_ascii_lowercase(),
                Exact {
                    value: value.to_owned(),
                    kind,
                },
            )
        };
        let ids = ["KX-1001", "KX-1002", "KX-1003"].map(|id| (id, ValueKind::Id));
        let paths = ["lib/one.rs", "lib/two.rs"].map(|path| (path, ValueKind::Path));
        let values = ids
            .into_iter()
            .chain(paths)
            .map(exact)
            .collect::<BTreeMap<_, _>>();
        for at_once in 1..=values.len() {
            let all = values.iter().map(|(key, exact)| (key.as_str(), exact));
            let Ok(found) = find_in_parts(all, at_once, &mut suite.scenarios.as_slice());
            assert_eq!(
                found,
                HashSet::from(["kx-1002", "lib/one.rs"].map(str::to_owned)),
                "{at_once}"
            );
        }
    }
}
