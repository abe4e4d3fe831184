//! Answers a question from the given statements: the best match, or that the answer is not known.

use crate::profile::Profile;
use crate::reading::pieces::StatedPiece;
use crate::reading::wanted;
use crate::writing::salience::weight;

/// The reply if nothing matches.
pub(crate) const UNKNOWN: &str = "I don't know: nothing in the conversation says so.";

/// Among statements that score at least this share of the best score, the latest is the answer.
/// Assumed.
const NEAR: f64 = 0.85;

/// The answer to a question from statements with their texts. Later statements update earlier ones,
/// so the latest of several near the best score is the answer.
pub(crate) fn answer<'s>(
    question: &str,
    statements: impl Iterator<Item = (&'s str, &'s StatedPiece)>,
    profile: &Profile,
) -> String {
    let wanted = wanted(question);
    let mut holders = vec![0_u32; wanted.len()];
    let mut matches: Vec<(&str, usize, Vec<usize>)> = Vec::new();
    let (mut number, mut terms) = (0_usize, 0);
    for (text, piece) in statements {
        number += 1;
        terms += piece.words.len();
        let is_held = |at: &usize| {
            let stem = wanted[*at];
            piece.may_hold(stem) && piece.words.iter().any(|word| word.stem == stem)
        };
        let held: Vec<usize> = (0..wanted.len()).filter(is_held).collect();
        held.iter().for_each(|at| holders[*at] += 1);
        if !held.is_empty() {
            matches.push((text, piece.words.len(), held));
        }
    }
    let weights: Vec<f64> = holders
        .iter()
        .map(|holders| weight(number as f64, *holders))
        .collect();
    let total: f64 = weights.iter().sum();
    let mean_length = terms as f64 / number.max(1) as f64;
    let scored = matches.into_iter().filter_map(|(text, length, held)| {
        let covered: f64 = held.iter().map(|at| weights[*at]).sum();
        (covered >= profile.answer_threshold.value * total)
            .then(|| (covered * norm(length, mean_length), text))
    });
    let scored: Vec<(f64, &str)> = scored.collect();
    let highest = scored.iter().map(|(score, _)| *score).fold(0.0, f64::max);
    let best = scored
        .into_iter()
        .rfind(|(score, _)| *score > 0.0 && *score >= NEAR * highest);
    best.map_or(UNKNOWN, |(_, text)| text).to_owned()
}

/// Length normalization of BM25 with k1 = 1.2 and b = 0.3, because statements are short. Each term
/// counts once.
fn norm(length: usize, mean_length: f64) -> f64 {
    2.2 / (1.0 + 1.2 * (0.7 + 0.3 * length as f64 / mean_length))
}
