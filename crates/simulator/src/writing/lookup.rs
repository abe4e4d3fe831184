//! Answers questions like [`crate::writing::answer`], from statements that are read once for all questions about them.

use crate::profile::Profile;
use crate::reading::known::Known;
use crate::reading::message::{Said, said};
use crate::reading::remembered;
use crate::reading::statements::Turn;
use crate::reading::wanted;
use crate::writing::answer::{NEAR, UNKNOWN, norm};
use crate::writing::salience::weight;

/// The answer to a question from the given messages.
pub(crate) fn answer(question: &str, turns: &[Turn<'_>], profile: &Profile, known: &Known) -> String {
    let read = remembered::all(turns, known);
    let all = turns.iter().zip(&read).flat_map(|(turn, lines)| said(turn.text, lines));
    best(all, &wanted(question), profile).map_or(UNKNOWN, |said| said.text).to_owned()
}

/// The statement that answers a question with these stems.
fn best<'s>(all: impl Iterator<Item = Said<'s>>, wanted: &[u64], profile: &Profile) -> Option<Said<'s>> {
    let mut holders = vec![0_u32; wanted.len()];
    let mut matches: Vec<(Said<'_>, Vec<usize>)> = Vec::new();
    let (mut number, mut terms) = (0_usize, 0);
    for said in all {
        number += 1;
        terms += said.words.len();
        let is_held = |at: &usize| {
            let stem = wanted[*at];
            said.piece.may_hold(stem) && said.words.iter().any(|word| word.stem == stem)
        };
        let held: Vec<usize> = (0..wanted.len()).filter(is_held).collect();
        held.iter().for_each(|at| holders[*at] += 1);
        if !held.is_empty() {
            matches.push((said, held));
        }
    }
    let weights: Vec<f64> = holders.iter().map(|holders| weight(number as f64, *holders)).collect();
    let total: f64 = weights.iter().sum();
    let mean_length = terms as f64 / number.max(1) as f64;
    let scored = matches.into_iter().filter_map(|(said, held)| {
        let covered: f64 = held.iter().map(|at| weights[*at]).sum();
        (covered >= profile.answer_threshold.value * total)
            .then(|| (covered * norm(said.words.len(), mean_length), said))
    });
    let scored: Vec<(f64, Said<'_>)> = scored.collect();
    let highest = scored.iter().map(|(score, _)| *score).fold(0.0, f64::max);
    scored.into_iter().rfind(|(score, _)| *score > 0.0 && *score >= NEAR * highest).map(|(_, said)| said)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::profile::STRONG;
    use crate::reading::statements;
    use crate::reading::statements::Speaker;
    use crate::writing::answer;

    fn plain(question: &str, turns: &[Turn<'_>]) -> String {
        answer::answer(question, &statements::statements(turns, &Known::default().all(turns)), &STRONG)
    }

    proptest! {
        /// With the cache, questions about growing and changing conversations get the same answers as without it.
        #[test]
        fn remembering_changes_no_answer(
            texts in prop::collection::vec("(The (port|path|owner) of (alpha|beta|gamma|delta) is [a-z]{3}-[0-9]{2}(/[0-9]{9})?[.][ \n]?|## The owners\n|```\n){1,4}", 1..7),
            questions in prop::collection::vec("(What|Which) (port|path|owner|colour) (has|of) (alpha|beta|gamma|omega)[?]", 1..5),
            cut in 0..6_usize,
        ) {
            let said_by = |speaker| texts.iter().map(|text| Turn { speaker, text }).collect::<Vec<_>>();
            let (turns, tools) = (said_by(Speaker::User), said_by(Speaker::Tool));
            let known = Known::default();
            for turns in [&turns[..], &tools[..], &turns[cut.min(turns.len() - 1)..], &turns[..]] {
                for question in &questions {
                    prop_assert_eq!(super::answer(question, turns, &STRONG, &known), plain(question, turns));
                }
            }
        }
    }
}
