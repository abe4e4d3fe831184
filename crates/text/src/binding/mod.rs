//! Whether a text gives a value to its own subject. A list of values without their subjects helps
//! nobody, and neither does a value beside another subject.
//!
//! Around each occurrence of a value, the subjects that its unit (`units`) mentions compete: the
//! one nearest to the value, by clauses and then by words, wins. `docs/measurement/recall.md` has
//! the definition and what it cannot see.
//!
//! Absent on purpose: which subject is right. The caller knows the facts.

mod around;
mod units;
mod words;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use foldhash::fast::FixedState;

pub use self::around::{Around, around};
use self::units::units;
use self::words::{PlacedWord, words, words_where};
use crate::matcher::{Matcher, normal};

/// Distinctive words stand for their subject in this share of the units that hold them.
const DISTINCTIVE: f64 = 0.8;

/// The subjects of one conversation, which compete for every value.
#[derive(Clone, Debug)]
pub struct Subjects {
    all: Vec<Subject>,
    /// The subject of each name that was given.
    of_name: Vec<usize>,
    /// The subjects that a word may mention: those that it means by itself, and those whose first
    /// word it is.
    of_word: HashMap<String, Vec<usize>, FixedState>,
}

/// The words around a value.
type WordsAround<'w> = HashSet<&'w str, FixedState>;

/// An item of a matcher, and the subject that wins at an occurrence of its value.
pub type Binding = (u32, u32);

#[derive(Clone, Debug)]
struct Subject {
    words: BTreeSet<String>,
    /// Words that mean this subject even where its other words are missing.
    distinctive: BTreeSet<String>,
}

impl Subjects {
    /// Reads the names of subjects and how the conversation's texts use their words. Names of the
    /// same words are one subject.
    pub fn new<'t>(
        names: impl IntoIterator<Item = &'t str>,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Self {
        let mut all: Vec<Subject> = Vec::new();
        let mut of_name = Vec::new();
        for name in names {
            let words = stems(name).collect::<BTreeSet<_>>();
            of_name.push(
                all.iter()
                    .position(|known| known.words == words)
                    .unwrap_or_else(|| {
                        all.push(Subject {
                            words,
                            distinctive: BTreeSet::new(),
                        });
                        all.len() - 1
                    }),
            );
        }
        let mut subjects = Subjects {
            all,
            of_name,
            of_word: HashMap::default(),
        };
        subjects.find_distinctive(texts);
        for (place, subject) in subjects.all.iter().enumerate() {
            for word in subject
                .words
                .first()
                .into_iter()
                .chain(&subject.distinctive)
            {
                subjects
                    .of_word
                    .entry(word.clone())
                    .or_default()
                    .push(place);
            }
        }
        subjects
    }

    /// The subjects that a text with those words mentions, each with the words that do, and whether
    /// only some of its words are there.
    fn mentioned<'s>(
        &'s self,
        held: &'s WordsAround<'_>,
    ) -> impl Iterator<Item = (usize, &'s BTreeSet<String>, bool)> {
        let places = held.iter().filter_map(|word| self.of_word.get(*word));
        let places = places.flatten().copied().collect::<BTreeSet<_>>();
        places.into_iter().filter_map(|place| {
            let (words, is_partial) = self.all[place].mentioned_by(held)?;
            Some((place, words, is_partial))
        })
    }

    /// The number of different subjects.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is no subject.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The subject of the name that was given at that place.
    pub fn of_name(&self, place: usize) -> u32 {
        self.of_name[place] as u32
    }

    /// Every binding of a value in the text, sorted and each once.
    pub fn bindings(&self, values: &Matcher, text: &str) -> Vec<Binding> {
        if values.find(text).next().is_none() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for unit in units(text) {
            let text = normal(&unit.text);
            let mut scene = None;
            for (item, value) in values.occurrences(&text) {
                let scene = scene.get_or_insert_with(|| ValueScene {
                    text: &text,
                    words: words(&text),
                    inherited: &unit.inherited,
                });
                found.extend(
                    self.winner(scene, value)
                        .map(|subject| (item as u32, subject as u32)),
                );
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The subject that wins at an occurrence of a value; none in a tie.
    fn winner(&self, scene: &ValueScene<'_>, value: Range<usize>) -> Option<usize> {
        let before = scene
            .words
            .iter()
            .filter(|word| word.end <= value.start)
            .rev()
            .collect::<Vec<_>>();
        let after = scene
            .words
            .iter()
            .filter(|word| word.start >= value.end)
            .collect::<Vec<_>>();
        let mentioned = before
            .iter()
            .chain(&after)
            .map(|word| word.stem.as_str())
            .collect::<WordsAround<'_>>();
        let near = self
            .mentioned(&mentioned)
            .filter_map(|(place, words, is_partial)| {
                let nearest = |side: &[&PlacedWord], is_after| {
                    let between = side.iter().position(|word| words.contains(&word.stem))?;
                    Some((
                        scene.breaks(side[between], &value),
                        is_partial,
                        between,
                        is_after,
                    ))
                };
                Some((
                    nearest(&before, false)
                        .into_iter()
                        .chain(nearest(&after, true))
                        .min()?,
                    place,
                ))
            });
        let near = near.collect::<Vec<_>>();
        if !near.is_empty() {
            return only_least(near);
        }
        let inherited = stems(scene.inherited).collect::<Vec<_>>();
        let mentioned = mentioned
            .into_iter()
            .chain(inherited.iter().map(String::as_str))
            .collect::<WordsAround<'_>>();
        let all = self.mentioned(&mentioned);
        only_least(
            all.map(|(place, _, is_partial)| (is_partial, place))
                .collect(),
        )
    }

    fn find_distinctive<'t>(&mut self, texts: impl IntoIterator<Item = &'t str>) {
        let mut owners: HashMap<String, Option<usize>> = HashMap::new();
        for (place, subject) in self.all.iter().enumerate() {
            for word in &subject.words {
                owners
                    .entry(word.clone())
                    .and_modify(|owner| *owner = None)
                    .or_insert(Some(place));
            }
        }
        let starts = owners
            .keys()
            .map(|word| start(word))
            .collect::<HashSet<_>>();
        // For each word of one subject: the units that hold it, and those that hold the whole
        // subject.
        let mut counts: HashMap<&str, (u32, u32)> = HashMap::new();
        for unit in texts.into_iter().flat_map(units) {
            // Most words are no subject's, and their first letters show it.
            let text = normal(&unit.text);
            let held = words_where(&text, |word| {
                start(word).is_none_or(|start| starts.contains(&Some(start)))
            });
            let held = held
                .into_iter()
                .map(|word| word.stem)
                .collect::<HashSet<_>>();
            for word in &held {
                let Some((word, Some(owner))) = owners.get_key_value(word) else {
                    continue;
                };
                let (units, whole) = counts.entry(word).or_default();
                *units += 1;
                *whole += u32::from(
                    self.all[*owner]
                        .words
                        .iter()
                        .all(|word| held.contains(word)),
                );
            }
        }
        let is_distinctive =
            |(units, whole): (u32, u32)| f64::from(whole) >= DISTINCTIVE * f64::from(units);
        let found = counts
            .into_iter()
            .filter(|(_, counts)| is_distinctive(*counts))
            .map(|(word, _)| word.to_owned());
        for word in found.collect::<Vec<_>>() {
            if let Some(Some(owner)) = owners.get(&word) {
                self.all[*owner].distinctive.insert(word);
            }
        }
    }
}

impl Subject {
    /// The words by which a text mentions the subject, and whether only some of its words are
    /// there.
    fn mentioned_by(&self, held: &WordsAround<'_>) -> Option<(&BTreeSet<String>, bool)> {
        let holds = |word: &String| held.contains(word.as_str());
        if !self.words.is_empty() && self.words.iter().all(holds) {
            return Some((&self.words, false));
        }
        self.distinctive
            .iter()
            .any(holds)
            .then_some((&self.distinctive, true))
    }
}

/// A unit that holds a value.
struct ValueScene<'u> {
    text: &'u str,
    words: Vec<PlacedWord>,
    inherited: &'u str,
}

/// Words that begin another clause.
const BREAKS: &[&str] = &[
    "and", "but", "while", "whereas", "because", "since", "so", "or",
];

impl ValueScene<'_> {
    /// The breaks between clauses from a word to a value.
    fn breaks(&self, word: &PlacedWord, value: &Range<usize>) -> usize {
        let gap = if word.end <= value.start {
            &self.text[word.end..value.start]
        } else {
            &self.text[value.end..word.start]
        };
        let marks =
            gap.matches([',', ';', '(', ')', '\u{2014}']).count() + gap.matches(" - ").count();
        let joined = gap.split(|letter: char| !letter.is_alphanumeric());
        marks
            + joined
                .filter(|word| BREAKS.iter().any(|known| word.eq_ignore_ascii_case(known)))
                .count()
    }
}

fn stems(text: &str) -> impl Iterator<Item = String> {
    words(text).into_iter().map(|word| word.stem)
}

/// The first two letters of a word, which its stem has too; nothing where they are not of ASCII.
fn start(word: &str) -> Option<[u8; 2]> {
    let [first, second, ..] = *word.as_bytes() else {
        return None;
    };
    let both = [first.to_ascii_lowercase(), second.to_ascii_lowercase()];
    both.is_ascii().then_some(both)
}

/// The candidate with the least key, unless another has the same.
fn only_least<K: Ord>(candidates: Vec<(K, usize)>) -> Option<usize> {
    let least = candidates.iter().map(|(key, _)| key).min()?;
    let mut winners = candidates.iter().filter(|(key, _)| key == least);
    let winner = winners.next()?.1;
    winners.next().is_none().then_some(winner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matcher::ValueKind;

    const NAMES: [&str; 3] = [
        "the retry limit",
        "the port of the cache",
        "the deploy branch",
    ];
    const VALUES: [&str; 3] = ["17", "6379", "release-9"];

    /// The subjects that win at each value, by number.
    fn bound(text: &str) -> Vec<Binding> {
        let said = [
            "The retry limit is 17.",
            "The port of the cache is 6379.",
            "The deploy branch is release-9.",
        ];
        let subjects = Subjects::new(NAMES, said);
        let kinds = [ValueKind::Number, ValueKind::Number, ValueKind::Id];
        subjects.bindings(
            &Matcher::new(kinds.into_iter().zip(VALUES.map(|value| [value]))),
            text,
        )
    }

    #[test]
    fn a_value_belongs_to_the_subject_beside_it() {
        for text in [
            "The retry limit is 17; the port of the cache is 6379, and release-9 is the deploy branch.",
            "- retry limit: 17\n- cache port: 6379\n- deploy branch: release-9",
            "{\"retry_limit\": 17, \"cache\": {\"port\": 6379}, \"deployBranch\": \"release-9\"}",
            "| retry limit | cache port | deploy branch |\n|---|---|---|\n| 17 | 6379 | release-9 |",
            "## Retry limit\nSet to 17.\n\n## Port of the cache\nUse 6379.\n\n## Deploy branch\nIt is release-9.",
        ] {
            assert_eq!(bound(text), [(0, 0), (1, 1), (2, 2)], "{text}");
        }
    }

    #[test]
    fn a_list_of_values_binds_nothing() {
        for text in [
            "17, 6379, release-9",
            "- 17\n- 6379\n- release-9",
            "The user said 17. Then 6379 came. It ended with release-9.",
            "Retry limit, port of the cache, deploy branch.\n\n17, 6379, release-9",
        ] {
            assert_eq!(bound(text), [], "{text}");
        }
    }

    #[test]
    fn a_value_beside_another_subject_belongs_to_that_one() {
        assert_eq!(
            bound("The retry limit is 6379 and the port of the cache is 17."),
            [(0, 1), (1, 0)]
        );
        let subjects = Subjects::new(["the port", "The ports!"], []);
        assert_eq!(
            (subjects.len(), subjects.of_name(1)),
            (1, 0),
            "the same words are the same subject"
        );
    }
}
