//! Answers a question as [`super::answer`] does, from statements that are read once for all questions about them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::answer::{NEAR, UNKNOWN, norm, wanted};
use super::profile::Profile;
use super::remembered::Remembered;
use super::salience::weight;
use super::statements::{Turn, without_cues};

/// The answer to a question from what is given.
pub(super) fn answer(question: &str, turns: &[Turn<'_>], profile: &Profile) -> String {
    READ.with_borrow_mut(|read| read.answer(question, turns, profile))
}

thread_local! {
    static READ: RefCell<Read> = RefCell::default();
}

/// Words that a thread tells apart; then it begins anew.
const MOST_WORDS: usize = 200_000;

#[derive(Default)]
struct Read {
    /// A number for each stem.
    words: HashMap<String, u32>,
    turns: Remembered<String, Rc<Vec<Said>>>,
}

/// A statement as questions see it.
struct Said {
    text: String,
    stems: Vec<u32>,
}

impl Read {
    fn answer(&mut self, question: &str, turns: &[Turn<'_>], profile: &Profile) -> String {
        if self.words.len() > MOST_WORDS {
            *self = Read::default();
        }
        let Read { words, turns: known } = self;
        let digest = |text: &str| *blake3::hash(text.as_bytes()).as_bytes();
        let places = turns.iter().enumerate();
        let turns: Vec<Rc<Vec<Said>>> =
            places.map(|(place, turn)| known.of(place, turn.text, digest, |_| Rc::new(read(turn, words)))).collect();
        let all: Vec<&Said> = turns.iter().flat_map(|turn| turn.iter()).collect();
        let wanted: Vec<Option<u32>> = wanted(question).iter().map(|stem| words.get(stem).copied()).collect();
        best(&all, &wanted, profile).map_or_else(|| UNKNOWN.to_owned(), |said| said.text.clone())
    }
}

fn read(turn: &Turn<'_>, words: &mut HashMap<String, u32>) -> Vec<Said> {
    let said = without_cues(&[*turn]).into_iter().map(|statement| {
        let mut number = |stem: Cow<'_, str>| match words.get(&*stem) {
            Some(number) => *number,
            None => {
                let next = words.len() as u32;
                words.insert(stem.into_owned(), next);
                next
            }
        };
        let stems = statement.stems.into_iter().map(&mut number).collect();
        Said { text: statement.text.to_owned(), stems }
    });
    said.collect()
}

/// The statement that is given as the answer to a question of these words.
fn best<'s>(all: &[&'s Said], wanted: &[Option<u32>], profile: &Profile) -> Option<&'s Said> {
    let mut holders = vec![0_u32; wanted.len()];
    let mut matches: Vec<(&'s Said, Vec<usize>)> = Vec::new();
    for said in all {
        let is_held = |at: &usize| wanted[*at].is_some_and(|word| said.stems.contains(&word));
        let held: Vec<usize> = (0..wanted.len()).filter(is_held).collect();
        held.iter().for_each(|at| holders[*at] += 1);
        if !held.is_empty() {
            matches.push((said, held));
        }
    }
    let weights: Vec<f64> = holders.iter().map(|holders| weight(all.len() as f64, *holders)).collect();
    let total: f64 = weights.iter().sum();
    let terms = all.iter().map(|said| said.stems.len()).sum::<usize>();
    let mean_length = terms as f64 / all.len().max(1) as f64;
    let scored = matches.into_iter().filter_map(|(said, held)| {
        let covered: f64 = held.iter().map(|at| weights[*at]).sum();
        (covered >= profile.answer_threshold.value * total)
            .then(|| (covered * norm(said.stems.len(), mean_length), said))
    });
    let scored: Vec<(f64, &Said)> = scored.collect();
    let highest = scored.iter().map(|(score, _)| *score).fold(0.0, f64::max);
    scored.into_iter().rfind(|(score, _)| *score > 0.0 && *score >= NEAR * highest).map(|(_, said)| said)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::profile::STRONG;
    use super::super::statements::Speaker;
    use super::super::{answer, statements};
    use super::*;

    fn plain(question: &str, turns: &[Turn<'_>]) -> String {
        answer::answer(question, &statements::without_cues(turns), &STRONG)
    }

    proptest! {
        /// Asked one after the other of growing and changing conversations, each answer is that of a reader who reads anew.
        #[test]
        fn remembering_changes_no_answer(
            texts in prop::collection::vec("(The (port|path|owner) of (alpha|beta|gamma|delta) is [a-z]{3}-[0-9]{2}[.] ?){1,3}", 1..7),
            questions in prop::collection::vec("(What|Which) (port|path|owner|colour) (has|of) (alpha|beta|gamma|omega)[?]", 1..5),
            cut in 0..6_usize,
        ) {
            let turns: Vec<Turn> = texts.iter().map(|text| Turn { speaker: Speaker::User, text }).collect();
            for turns in [&turns[..], &turns[cut.min(turns.len() - 1)..], &turns[..]] {
                for question in &questions {
                    prop_assert_eq!(super::answer(question, turns, &STRONG), plain(question, turns));
                }
            }
        }
    }
}
