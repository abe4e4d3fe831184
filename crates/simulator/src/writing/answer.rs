//! Answers a question from the given statements: the best match, or that the answer is not known. For many questions about one
//! conversation, [`crate::writing::lookup`] gives the same answers.

use crate::profile::Profile;
use crate::reading::statements::Statement;
use crate::reading::wanted;
use crate::writing::salience::Rarity;

/// The reply if nothing matches.
pub(crate) const UNKNOWN: &str = "I don't know: nothing in the conversation says so.";

/// Among statements that score at least this share of the best score, the latest is the answer. Assumed.
pub(crate) const NEAR: f64 = 0.85;

/// Length normalization of BM25 with k1 = 1.2 and b = 0.3, because statements are short. Each term counts once.
pub(crate) fn norm(length: usize, mean_length: f64) -> f64 {
    2.2 / (1.0 + 1.2 * (0.7 + 0.3 * length as f64 / mean_length))
}

/// The answer to a question. Later statements update earlier ones, so the latest of several near the best score is the answer.
pub(crate) fn answer(question: &str, statements: &[Statement<'_>], profile: &Profile) -> String {
    let wanted = wanted(question);
    let rarity = Rarity::of(statements);
    let weigh = |stems: &mut dyn Iterator<Item = &u64>| stems.map(|stem| rarity.weight(*stem)).sum::<f64>();
    let total = weigh(&mut wanted.iter());
    let terms = statements.iter().map(|statement| statement.words.len()).sum::<usize>();
    let mean_length = terms as f64 / statements.len().max(1) as f64;
    let matches = statements.iter().map(|statement| {
        let covered = weigh(&mut wanted.iter().filter(|stem| statement.words.iter().any(|held| held.stem == **stem)));
        (covered * norm(statement.words.len(), mean_length), covered, statement)
    });
    let matches: Vec<_> =
        matches.filter(|(_, covered, _)| *covered >= profile.answer_threshold.value * total).collect();
    let best = matches.iter().map(|(score, ..)| *score).fold(0.0, f64::max);
    let given = matches.iter().rfind(|(score, ..)| *score > 0.0 && *score >= NEAR * best);
    given.map_or(UNKNOWN, |(_, _, statement)| statement.text).to_owned()
}
