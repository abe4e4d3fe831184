//! Ranks statements by how much they are worth writing: generic salience and noise. Nothing here
//! knows what will be asked later.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;
use rand_chacha::ChaCha8Rng;

use crate::draw::logistic;
use crate::profile::{Profile, Weights};
use crate::reading::pieces::Speaker;
use crate::reading::statements::Statement;

/// Indices of the statements that score above the profile's floor, best first. A statement repeated
/// in the same words counts only at its first occurrence.
pub(crate) fn rank(
    statements: &[Statement<'_>],
    profile: &Profile,
    without_tools: bool,
    rng: &mut ChaCha8Rng,
) -> Vec<usize> {
    let rarity = Rarity::new(statements);
    let mut scored: Vec<(f64, usize)> = statements
        .iter()
        .enumerate()
        .map(|(index, statement)| {
            let noise = profile.noise.value * logistic(rng);
            // The curve describes positions in a conversation. Where a prompt puts an earlier
            // summary says nothing about its position.
            let is_said = statement.piece.speaker != Speaker::Summary;
            let place = if is_said {
                profile.position.value[statement.fifth()]
            } else {
                0.0
            };
            (
                salience(statement, &profile.weights, &rarity, without_tools) + place + noise,
                index,
            )
        })
        .collect();
    let mut said = HashSet::with_capacity_and_hasher(scored.len(), FixedState::default());
    scored.retain(|(score, index)| {
        *score > profile.floor.value && said.insert(statements[*index].text)
    });
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    scored.into_iter().map(|(_, index)| index).collect()
}

fn salience(
    statement: &Statement<'_>,
    weights: &Weights,
    rarity: &Rarity,
    without_tools: bool,
) -> f64 {
    // Logs and data contain many values that nobody meant to state.
    let structured = statement.piece.structured;
    let values = statement
        .piece
        .words
        .iter()
        .filter(|word| !structured && word.is_value)
        .count()
        .min(3);
    let modality = statement.cues.modality().min(2.0) / 2.0;
    let words = statement.piece.words.len();
    let when = |holds: bool, weight: f64| if holds { weight } else { 0.0 };
    let is_user = statement.piece.speaker == Speaker::User;
    let is_pasted = statement.piece.pasted;
    let is_tool = statement.piece.speaker == Speaker::Tool;
    weights.rare * rarity.share(statement)
        + weights.value * (values.min(1) as f64 + values.saturating_sub(1) as f64 / 3.0)
        + worth_of_values(statement, weights, rarity)
        + weights.modality * modality
        + when(
            is_user && statement.piece.first_person,
            weights.first_person,
        )
        + when(is_user && !is_pasted, weights.user)
        + when(is_pasted, weights.pasted)
        + when(is_tool, weights.tool)
        + when(is_tool && without_tools, weights.tool_excluded)
        + when(structured, weights.structured)
        + when(!(4..=60).contains(&words), weights.odd_length)
        + when(statement.text.ends_with(['?', '？']), weights.question)
        + when(
            statement.piece.speaker == Speaker::Summary,
            weights.earlier_summary,
        )
}

/// What the kind and repetition of the statement's best value add. Unlike `value`, it also counts
/// in logs and data, since what was kept of them was fitted.
fn worth_of_values(statement: &Statement<'_>, weights: &Weights, rarity: &Rarity) -> f64 {
    if [weights.path, weights.opaque, weights.repeated] == [0.0; 3] {
        return 0.0;
    }
    let values = statement.piece.words.iter().filter(|word| word.is_value);
    let worth = values.map(|word| {
        let term = word.term(statement.text);
        let of_kind = match () {
            () if term.is_path() => weights.path,
            () if term.is_opaque() => weights.opaque,
            () => 0.0,
        };
        of_kind + weights.repeated * libm::log(f64::from(rarity.stems[&word.stem].holders))
    });
    worth.min_by(f64::total_cmp).unwrap_or(0.0)
}

/// Inverse document frequency of a term in `holders` of the statements.
pub(crate) fn weight(statements: f64, holders: u32) -> f64 {
    libm::log1p(statements / f64::from(holders.max(1)))
}

/// How rare each stem is among statements.
struct Rarity {
    stems: HashMap<u64, Held, FixedState>,
    /// The largest possible weight.
    most: f64,
}

/// What is known about a stem.
#[derive(Default)]
struct Held {
    /// The number of statements with the stem, and the last of them, counted from 1.
    holders: u32,
    last: usize,
    weight: f64,
}

impl Rarity {
    fn new(statements: &[Statement<'_>]) -> Self {
        let mut stems: HashMap<u64, Held, FixedState> = HashMap::default();
        for (statement, number) in statements.iter().zip(1..) {
            for word in &statement.piece.words {
                let held = stems.entry(word.stem).or_default();
                held.holders += u32::from(held.last != number);
                held.last = number;
            }
        }
        let number = statements.len() as f64;
        stems
            .values_mut()
            .for_each(|held| held.weight = weight(number, held.holders));
        Rarity {
            stems,
            most: weight(number, 1),
        }
    }

    /// Mean weight of the statement's four rarest terms, as a share of the largest possible weight.
    fn share(&self, statement: &Statement<'_>) -> f64 {
        let words = statement.piece.words.iter().filter(|word| word.is_subject);
        let mut rarest = [0.0; 4];
        for weight in words.map(|word| self.stems[&word.stem].weight) {
            let place = rarest.partition_point(|other| *other >= weight);
            if place < rarest.len() {
                rarest[place..].rotate_right(1);
                rarest[place] = weight;
            }
        }
        rarest.iter().sum::<f64>() / 4.0 / self.most
    }
}
