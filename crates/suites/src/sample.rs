//! A representative part of a suite: a given number of conversations, drawn in proportion from each
//! kind that the suite has.
//!
//! Absent on purpose: the run's seed. Runs under several seeds use the same conversations, so a run
//! repeated under the next seed can be paired with the first.

use compactometer_engine::message::part_text;
use compactometer_formats::scenario::{Scenario, Split};
use compactometer_formats::suite::Suite;

/// Keeps `count` conversations of the suite, in its order, and notes it in the header. A suite of
/// at most `count` conversations is unchanged.
///
/// Systematic stratified sampling: conversations are sorted by split, source, tools (which identify
/// a generated conversation's domain) and length (to a power of two, in bytes), and within such a
/// stratum by a hash of the suite's name and their id. Conversations are then taken from this list
/// at equal intervals, so that each stratum has its share to within one.
pub fn sample(mut suite: Suite, count: usize) -> Suite {
    let all = suite.scenarios.len();
    if count >= all {
        return suite;
    }
    let name = suite.header.name.clone();
    let mut sorted = (0..all).collect::<Vec<_>>();
    sorted.sort_by_cached_key(|index| {
        let scenario = &suite.scenarios[*index];
        (Stratum::new(scenario), hash(&[&name, &scenario.id]))
    });
    // The start of the systematic sample, in units of 1/`count` of a conversation. It is less than
    // one interval, so the last index stays in range.
    let offset = u128::from(hash(&[&name])) % all as u128;
    let mut taken = vec![false; all];
    for step in 0..count {
        let place = (step as u128 * all as u128 + offset) / count as u128;
        taken[sorted[place as usize]] = true;
    }
    let mut taken = taken.into_iter();
    suite.scenarios.retain(|_| taken.next().unwrap_or(false));
    suite.header.notes.push(format!(
        "a sample of {count} of {all} conversations, spread over split, source, tools and length"
    ));
    suite
}

/// The attributes that conversations of one kind share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Stratum {
    split: Split,
    source: String,
    tools: Vec<String>,
    length: u32,
}

impl Stratum {
    fn new(scenario: &Scenario) -> Self {
        // The part after the colon is a file name, which may differ for each conversation.
        let source = scenario
            .source
            .split(':')
            .next()
            .unwrap_or_default()
            .to_owned();
        let tools = scenario
            .tools
            .iter()
            .map(|tool| tool.name.clone())
            .collect();
        let texts = scenario
            .messages
            .iter()
            .flat_map(|message| &message.parts)
            .filter_map(part_text);
        let bytes = texts.map(str::len).sum::<usize>();
        Stratum {
            split: scenario.split,
            source,
            tools,
            length: bytes.checked_ilog2().unwrap_or_default(),
        }
    }
}

fn hash(words: &[&str]) -> u64 {
    // JSON keeps the words apart; concatenation would not.
    let text = serde_json::json!(words).to_string();
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use crate::embedded::smoke;

    use super::*;

    fn ids(suite: &Suite) -> Vec<String> {
        suite
            .scenarios
            .iter()
            .map(|scenario| scenario.id.clone())
            .collect()
    }

    #[test]
    fn every_stratum_has_its_share_to_within_one() {
        let whole = smoke().expect("the embedded suite");
        let strata = |suite: &Suite| {
            let mut strata = BTreeMap::<Stratum, usize>::new();
            suite
                .scenarios
                .iter()
                .for_each(|scenario| *strata.entry(Stratum::new(scenario)).or_default() += 1);
            strata
        };
        let (all, in_whole) = (whole.scenarios.len(), strata(&whole));
        assert!(
            in_whole.len() > 2,
            "domains and lengths differ: {in_whole:?}"
        );
        for count in 1..all {
            let part = sample(whole.clone(), count);
            assert_eq!(part.scenarios.len(), count);
            let found = strata(&part);
            for (stratum, size) in &in_whole {
                let share = *size as f64 * count as f64 / all as f64;
                let found = found.get(stratum).copied().unwrap_or_default() as f64;
                assert!(
                    (found - share).abs() < 1.0,
                    "{count}: {found} of {share} in {stratum:?}"
                );
            }
        }
    }

    #[test]
    fn a_sample_is_in_the_suites_order_and_does_not_depend_on_it() {
        let whole = smoke().expect("the embedded suite");
        let part = ids(&sample(whole.clone(), 5));
        let in_order = ids(&whole)
            .into_iter()
            .filter(|id| part.contains(id))
            .collect::<Vec<_>>();
        assert_eq!(part, in_order);
        let mut turned = whole.clone();
        turned.scenarios.reverse();
        let mut back = ids(&sample(turned, 5));
        back.reverse();
        assert_eq!(part, back);
        let mut renamed = whole.clone();
        renamed.header.name = "another".to_owned();
        assert_ne!(
            part,
            ids(&sample(renamed, 5)),
            "the suite's name is part of the choice"
        );
    }

    #[test]
    fn more_than_there_are_is_all_of_them() {
        let whole = smoke().expect("the embedded suite");
        assert_eq!(sample(whole.clone(), whole.scenarios.len()), whole);
        assert_eq!(sample(whole.clone(), usize::MAX), whole);
    }
}
