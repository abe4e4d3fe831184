//! Ranks statements by how much they are worth writing: generic salience and noise. Nothing here
//! knows what will be asked later.

use std::collections::{HashMap, HashSet};

use foldhash::fast::FixedState;
use rand_chacha::ChaCha8Rng;

use crate::draw::logistic;
use crate::profile::{Profile, Weights};
use crate::reading::AnswerShape;
use crate::reading::pieces::{MaterialTurn, Voice};
use crate::reading::statements::Statement;
use crate::writing::exact_values::MaterialValues;

/// The floor applies as it is to a reply that may have this share of its material, which recorded
/// summaries have. Where there is more room, the odds of being written grow with it (assumed).
const SHARE: f64 = 0.028;

/// Indices of statements, best first. Each value that scores above the profile's floor is said once,
/// by the statement that suits it best, and a statement repeated in the same words counts only at its
/// first occurrence. `share` is that of the material which the reply may have.
pub(crate) fn rank(
    turns: &[MaterialTurn<'_>],
    statements: &[Statement<'_>],
    profile: &Profile,
    shape: &AnswerShape,
    share: f64,
    rng: &mut ChaCha8Rng,
) -> Vec<usize> {
    let weights = &profile.weights;
    let values = MaterialValues::new(turns, statements);
    let mut worth = values.worth(weights, shape);
    worth
        .iter_mut()
        .for_each(|worth| *worth += profile.noise.value * logistic(rng));
    let rarity = (weights.rare != 0.0).then(|| Rarity::new(statements));
    let forms: Vec<f64> = statements
        .iter()
        .map(|statement| form(statement, weights))
        .collect();
    let sayers = sayers(statements, &values, &forms);
    let mut scored: Vec<(f64, usize)> = Vec::new();
    for (index, statement) in statements.iter().enumerate() {
        let places = statement
            .piece
            .words
            .iter()
            .filter(|word| word.is_value)
            .filter_map(|word| values.place(word.stem));
        // Of the values that another statement says, none counts.
        let own = places.clone().filter(|place| sayers[*place] == index);
        let best = own.map(|place| worth[place]).max_by(f64::total_cmp);
        let of_content = match best {
            None if places.count() > 0 => continue,
            // Nobody quotes a line of code or of a log for itself.
            None if statement.piece.structured => continue,
            Some(best) => best + forms[index],
            None => {
                let of_speaker = plain(statement, weights, shape.without_tools);
                of_speaker
                    + forms[index]
                    + weights.distance * values.distance(statement.at)
                    + profile.noise.value * logistic(rng)
            }
        };
        // The curve describes positions in a conversation. Where a prompt puts an earlier summary
        // says nothing about its position.
        let is_said = statement.piece.speaker != Voice::Summary;
        let of_place = if is_said {
            profile.position.value[statement.fifth()]
        } else {
            weights.earlier_summary
        };
        let of_words = rarity
            .as_ref()
            .map_or(0.0, |rarity| weights.rare * rarity.share(statement));
        scored.push((of_content + of_place + of_words, index));
    }
    let mut written = HashSet::with_capacity_and_hasher(scored.len(), FixedState::default());
    let floor = profile.floor.value - libm::log(share / SHARE);
    scored.retain(|(score, index)| {
        (*score > floor || fills(&statements[*index], forms[*index]))
            && written.insert(statements[*index].text)
    });
    scored.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    scored.into_iter().map(|(_, index)| index).collect()
}

/// Whether a statement is a sentence without an exact value that a person typed or an agent said in
/// the conversation itself. Such sentences fill the room that is left, however little they are
/// worth; what only an earlier summary or a pasted text says does not.
fn fills(statement: &Statement<'_>, form: f64) -> bool {
    let piece = statement.piece;
    let is_said = match piece.speaker {
        Voice::User => !piece.pasted,
        Voice::Assistant => true,
        Voice::Summary | Voice::Tool | Voice::Call => false,
    };
    is_said && form >= 0.0 && !piece.words.iter().any(|word| word.is_value)
}

/// For each value the statement that says it: one that names its file, or else the one with the best
/// form, the latest of several.
fn sayers(statements: &[Statement<'_>], values: &MaterialValues, forms: &[f64]) -> Vec<usize> {
    let mut sayers = vec![usize::MAX; values.len()];
    for (index, statement) in statements.iter().enumerate() {
        for word in statement.piece.words.iter().filter(|word| word.is_value) {
            let Some(place) = values.place(word.stem) else {
                continue;
            };
            let known = &mut sayers[place];
            if *known == usize::MAX || statement.touch.is_some() || forms[index] >= forms[*known] {
                *known = index;
            }
        }
    }
    sayers
}

/// What the form of a statement adds, by which a summarizer chooses among those that say the same.
fn form(statement: &Statement<'_>, weights: &Weights) -> f64 {
    let piece = statement.piece;
    let when = |holds: bool, weight: f64| if holds { weight } else { 0.0 };
    binding(statement, weights)
        + when(piece.structured, weights.structured)
        + when(
            !(4..=60).contains(&piece.words.len()) && statement.touch.is_none(),
            weights.odd_length,
        )
        + when(statement.text.ends_with(['?', '？']), weights.question)
        + when(
            piece.speaker == Voice::Assistant && is_announced(statement.text),
            weights.announced,
        )
        + when(
            piece.speaker == Voice::User && piece.first_person,
            weights.first_person,
        )
}

/// Whether a sentence says what its speaker does next, as agents do before they call a tool.
fn is_announced(text: &str) -> bool {
    let opens = [
        "Let me ",
        "Now let me ",
        "I'll ",
        "Now I'll ",
        "Let's ",
        "Next, I",
    ];
    opens.iter().any(|opener| text.starts_with(opener))
}

/// What words of obligation, choice or need add.
fn binding(statement: &Statement<'_>, weights: &Weights) -> f64 {
    weights.modality * statement.cues.modality().min(2.0) / 2.0
}

/// What the speaker of a statement without an exact value adds.
fn plain(statement: &Statement<'_>, weights: &Weights, without_tools: bool) -> f64 {
    match statement.piece.speaker {
        Voice::User if statement.piece.pasted => weights.pasted,
        Voice::User => weights.sentence,
        Voice::Tool | Voice::Call if without_tools => weights.tool + weights.tool_excluded,
        Voice::Tool | Voice::Call => weights.tool,
        Voice::Assistant | Voice::Summary => 0.0,
    }
}

/// Inverse document frequency of a term in `holders` of the statements.
pub(crate) fn weight(statements: f64, holders: u32) -> f64 {
    libm::log1p(statements / f64::from(holders.max(1)))
}

/// How rare each stem is among statements.
struct Rarity {
    stems: HashMap<u64, StemHolders, FixedState>,
    /// The largest possible weight.
    most: f64,
}

/// What is known about a stem.
#[derive(Default)]
struct StemHolders {
    /// The number of statements with the stem, and the last of them, counted from 1.
    holders: u32,
    last: usize,
    weight: f64,
}

impl Rarity {
    fn new(statements: &[Statement<'_>]) -> Self {
        let mut stems: HashMap<u64, StemHolders, FixedState> = HashMap::default();
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
