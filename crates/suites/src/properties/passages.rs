//! How much text the groups share. Groups that share most of their text are not independent units.

use std::collections::BTreeMap;
use std::ops::Range;

use compactometer_engine::message::Role;
use compactometer_engine::message::part_text;
use compactometer_formats::property::Property;
use compactometer_formats::scenario::Scenario;
use compactometer_text::code::code;

use super::PropertyMeasure;

/// Number of words in a passage.
const WORDS: usize = 8;
/// A group that shares more than this with another group is not an independent unit. The bound is
/// our own choice.
const MAX_SHARE: f64 = 0.5;
/// If more groups than this have a passage, it counts as shared with the next group only, because
/// counting all pairs would be too slow.
const MAX_PAIRED: usize = 200;

/// The most passages that are held at once, each with one of its groups.
const MOST_HELD: usize = 1 << 21;

/// The greatest share of a group's eight-word passages that also occur in one other group. System
/// prompts do not count. Of a large suite, the shares are those of a random sample of all passages:
/// those whose hash begins with as many zeros as it takes.
pub(super) struct Passages {
    groups: BTreeMap<String, usize>,
    /// Passages with the numbers of their groups.
    held: Vec<(u64, usize)>,
    /// How many zeros the hash of a passage begins with, at least.
    zeros: u32,
    most_held: usize,
}

impl Default for Passages {
    fn default() -> Self {
        Passages {
            groups: BTreeMap::new(),
            held: Vec::new(),
            zeros: 0,
            most_held: MOST_HELD,
        }
    }
}

impl PropertyMeasure for Passages {
    fn add(&mut self, scenario: &Scenario) {
        let next = self.groups.len();
        let group = *self.groups.entry(scenario.group_id.clone()).or_insert(next);
        for message in scenario
            .messages
            .iter()
            .filter(|message| message.role != Role::System)
        {
            for text in message.parts.iter().filter_map(part_text) {
                let sampled = passages_of(&words(text))
                    .into_iter()
                    .filter(|passage| passage.leading_zeros() >= self.zeros);
                self.held.extend(sampled.map(|passage| (passage, group)));
            }
            self.shrink();
        }
    }

    fn measure(&self) -> Property {
        let (id, name) = (
            "shared_passages",
            "greatest share of a conversation's passages of eight words in one other conversation",
        );
        if self.groups.len() < 2 {
            return Property::untold(id, name, "one conversation");
        }
        let names = self.groups.keys().map(String::as_str).collect::<Vec<_>>();
        let shared = self.shared();
        let share = |count: usize, group: usize| match shared.sizes[group] {
            0 => 0.0,
            of => count as f64 / of as f64,
        };
        let mean = (0..names.len())
            .map(|group| share(shared.with_any[group], group))
            .sum::<f64>()
            / names.len() as f64;
        let pairs = shared.with_one.iter().enumerate();
        let pairs = pairs
            .filter_map(|(one, most)| most.map(|(other, count)| (share(count, one), one, other)));
        let worst =
            pairs.max_by(|left, right| left.0.total_cmp(&right.0).then(right.1.cmp(&left.1)));
        let (most, one, other) = worst.unwrap_or((0.0, 0, names.len() - 1));
        let sample = match self.zeros {
            0 => String::new(),
            zeros => format!("; by a sample of one passage in {}", 1_u64 << zeros),
        };
        let detail = format!(
            "{} with {} shares most; a conversation shares {mean:.3} of its passages with any of the {} others, in the mean{sample}",
            code(names[one]),
            code(names[other]),
            names.len() - 1
        );
        let passed = Some(most <= MAX_SHARE);
        Property::judged(id, name, most, Some(MAX_SHARE), passed, detail)
    }
}

impl Passages {
    /// What the groups share, in the order of their names.
    fn shared(&self) -> Shared {
        let mut places = vec![0; self.groups.len()];
        self.groups
            .values()
            .zip(0..)
            .for_each(|(number, place)| places[*number] = place);
        Shared::new(
            self.held
                .iter()
                .map(|(passage, group)| (*passage, places[*group]))
                .collect(),
            places.len(),
        )
    }

    /// Drops repetitions once too many passages are held, and halves the sample while they are
    /// still more than half of the most.
    fn shrink(&mut self) {
        if self.held.len() < self.most_held {
            return;
        }
        self.held.sort_unstable();
        self.held.dedup();
        while self.held.len() > self.most_held / 2 {
            self.zeros += 1;
            let zeros = self.zeros;
            self.held
                .retain(|(passage, _)| passage.leading_zeros() >= zeros);
        }
    }
}

/// The rolling (polynomial) hash of each run of `WORDS` words of a text.
fn passages_of(words: &[u64]) -> Vec<u64> {
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    let Some((first, rest)) = words.split_at_checked(WORDS) else {
        return Vec::new();
    };
    let whole = first.iter().fold(0, |sum: u64, word| {
        sum.wrapping_mul(BASE).wrapping_add(*word)
    });
    let leaving = BASE.wrapping_pow(WORDS as u32);
    let later = rest.iter().zip(words).scan(whole, |sum, (next, left)| {
        *sum = sum
            .wrapping_mul(BASE)
            .wrapping_add(*next)
            .wrapping_sub(left.wrapping_mul(leaving));
        Some(*sum)
    });
    std::iter::once(whole).chain(later).map(mixed).collect()
}

fn words(text: &str) -> Vec<u64> {
    text.split_whitespace()
        .map(|word| hash(word.as_bytes()))
        .collect()
}

/// FNV-1a, followed by one more mixing step.
fn hash(bytes: &[u8]) -> u64 {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    mixed(bytes.iter().fold(0xcbf2_9ce4_8422_2325, step))
}

fn mixed(sum: u64) -> u64 {
    (sum ^ (sum >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// How many distinct passages each group has, how many of them it shares, and with which group it
/// shares most, by group number.
struct Shared {
    sizes: Vec<usize>,
    with_any: Vec<usize>,
    /// The other group and the number of passages; nothing if none is shared.
    with_one: Vec<Option<(usize, usize)>>,
}

/// A passage of a group: the places of all its holders, and that of the group among them.
struct SharedPassage {
    holders: Range<usize>,
    place: usize,
}

impl Shared {
    /// What groups share, from passages with the numbers of their groups.
    fn new(mut holding: Vec<(u64, usize)>, groups: usize) -> Self {
        holding.sort_unstable();
        holding.dedup();
        let mut of_group = (0..groups).map(|_| Vec::new()).collect::<Vec<_>>();
        let mut start = 0;
        for holders in holding.chunk_by(|one, next| one.0 == next.0) {
            let end = start + holders.len();
            (start..end).for_each(|place| {
                of_group[holding[place].1].push(SharedPassage {
                    holders: start..end,
                    place,
                })
            });
            start = end;
        }
        // Counts of one group at a time, since a large suite has a hundred million pairs.
        let mut shared = vec![0; groups];
        let with_one = of_group.iter().enumerate().map(|(one, held)| {
            let others = held.iter().flat_map(|SharedPassage { holders, place }| {
                let next = *place..(place + 2).min(holders.end);
                &holding[if holders.len() > MAX_PAIRED {
                    next
                } else {
                    holders.clone()
                }]
            });
            let others = others
                .map(|(_, other)| *other)
                .filter(|other| *other != one);
            others.clone().for_each(|other| shared[other] += 1);
            let most = others.clone().map(|other| (shared[other], other)).max();
            others.for_each(|other| shared[other] = 0);
            most.map(|(count, other)| (other, count))
        });
        let with_one = with_one.collect();
        let is_shared = |held: &&SharedPassage| held.holders.len() > 1;
        Shared {
            sizes: of_group.iter().map(Vec::len).collect(),
            with_any: of_group
                .iter()
                .map(|held| held.iter().filter(is_shared).count())
                .collect(),
            with_one,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use compactometer_formats::property::Property;
    use compactometer_formats::suite::Suite;
    use proptest::prelude::*;

    use super::{Passages, PropertyMeasure, WORDS, passages_of, words};
    use crate::properties::tests::{measured, suite};

    fn measure(suite: &Suite) -> Property {
        measured::<Passages>(suite)
    }

    #[test]
    fn the_share_is_that_of_the_pair_that_shares_most() {
        let ten = "a b c d e f g h i j";
        // All three passages of the first text occur in the second, three of the second's five in
        // the first, and none of the third's in either.
        let longer = format!("{ten} k l");
        let found = measure(&suite(&[
            ("one", ten),
            ("two", &longer),
            ("three", "nothing of the kind is said in here at all"),
        ]));
        assert_eq!((found.value, found.passed), (Some(1.0), Some(false)));
        assert_eq!(
            found.detail,
            "`one` with `two` shares most; a conversation shares 0.533 of its passages with any of the 2 others, in the mean"
        );
        let apart = measure(&suite(&[
            ("one", ten),
            ("two", "b c d e f g h x i j k l m n o p"),
        ]));
        assert_eq!((apart.value, apart.passed), (Some(0.0), Some(true)));
    }

    #[test]
    fn words_are_separated_by_whitespace_of_any_kind() {
        let same = words("one two three");
        assert_eq!(same.len(), 3);
        for text in [
            " one\u{b}two\u{c}\rthree ",
            "one\ttwo\n\nthree",
            "one\u{a0}two\u{2003}three",
        ] {
            assert_eq!(words(text), same, "{text:?}");
        }
        assert_eq!(words("one\u{1c}two").len(), 1);
    }

    #[test]
    fn a_passage_has_the_same_hash_whatever_precedes_it() {
        let all = passages_of(&words("a b c d e f g h i j a b c d e f g h"));
        let hashes = |text: &str| passages_of(&words(text));
        assert_eq!(all.len(), 18 - WORDS + 1);
        assert_eq!(
            (hashes("a b c d e f g h"), hashes("c d e f g h i j")),
            (vec![all[0]], vec![all[2]])
        );
        assert_eq!(all[10], all[0]);
        assert_eq!(
            all.iter().collect::<std::collections::BTreeSet<_>>().len(),
            10
        );
        assert!(hashes("a b c d e f g").is_empty());
    }

    #[test]
    fn conversations_of_one_group_may_share_everything() {
        let same = "it is the very same text that they both have in common";
        assert_eq!(measure(&suite(&[("one", same), ("one", same)])).value, None);
    }

    /// A third of what each of the two groups says is the same. Of their 33,000 passages, a quarter
    /// fits.
    #[test]
    fn a_sample_of_many_passages_estimates_what_all_of_them_share() {
        let word = |own: &str, at: usize| {
            if at < 7_000 {
                format!("w{at}")
            } else {
                format!("{own}{at}")
            }
        };
        let text = |own: &str| {
            (0..20_000)
                .map(|at| word(own, at))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let texts = ["one", "two"].map(text);
        let suite = suite(&[("one", &texts[0]), ("two", &texts[1])]);
        let all = measure(&suite);
        assert!(!all.detail.contains("sample"), "{}", all.detail);
        let mut sampled = Passages {
            most_held: 10_000,
            ..Passages::default()
        };
        suite
            .scenarios
            .iter()
            .for_each(|scenario| sampled.add(scenario));
        assert!(sampled.held.len() < 10_000);
        let sampled = sampled.measure();
        assert!(
            sampled
                .detail
                .ends_with("; by a sample of one passage in 4"),
            "{}",
            sampled.detail
        );
        let [all, sampled] = [all, sampled].map(|found| found.value.expect("two conversations"));
        assert!(
            (all - 0.35).abs() < 0.001 && (sampled - all).abs() < 0.03,
            "{all} {sampled}"
        );
    }

    proptest! {
        #[test]
        fn groups_share_what_a_comparison_of_all_pairs_finds(texts in prop::collection::vec("(a |b ){8,14}", 2..8)) {
            let names = ["g0", "g1", "g2", "g3", "g4", "g5", "g6", "g7"];
            let named = names.into_iter().zip(texts.iter().map(String::as_str)).collect::<Vec<_>>();
            let mut gathered = Passages::default();
            suite(&named).scenarios.iter().for_each(|scenario| gathered.add(scenario));
            let shared = gathered.shared();
            let sets = named.iter().map(|(_, text)| passages_of(&words(text)).into_iter().collect::<BTreeSet<_>>());
            let sets = sets.collect::<Vec<_>>();
            for (one, own) in sets.iter().enumerate() {
                let with = |other: usize| own.intersection(&sets[other]).count();
                let others = (0..sets.len()).filter(|other| *other != one);
                let most = others.clone().map(|other| (with(other), other)).filter(|(count, _)| *count > 0).max();
                prop_assert_eq!(shared.with_one[one], most.map(|(count, other)| (other, count)));
                let any = own.iter().filter(|passage| others.clone().any(|other| sets[other].contains(passage))).count();
                prop_assert_eq!((shared.sizes[one], shared.with_any[one]), (own.len(), any));
            }
        }
    }
}
