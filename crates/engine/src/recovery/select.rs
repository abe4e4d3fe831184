//! Which items of a checkpoint are shown: those that a query is about, as far as they fit (the
//! strategic plan, part 8, "Selective Injection").

use super::{Showing, latest_checkpoint};
use crate::checkpoint::{Checkpoint, Item};
use crate::conversation::record::History;
use crate::model::ChatError;
use crate::model::embed::{Embedder, similarity};
use crate::tokens::TokenCounter;

/// A checkpoint's section, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecoverySection {
    /// The text.
    pub text: String,
    /// The checkpoint's number.
    pub number: u32,
    /// How many of its items are shown.
    pub shown: u32,
    /// How many it has.
    pub of: u32,
}

/// An item is about a query where it is at least this much as similar to it as the most similar one
/// (ours).
const LEAST_OF_BEST: f32 = 0.5;

/// The part of the latest checkpoint that a query is about, in at most `budget` tokens; none where
/// there is no checkpoint, or nothing of it has to do with the query.
///
/// # Errors
/// [`ChatError`] of the embedder.
pub async fn section_for(
    history: &History,
    query: &str,
    budget: u32,
    embedder: &dyn Embedder,
    counter: &dyn TokenCounter,
) -> Result<Option<RecoverySection>, ChatError> {
    let found = sections_for(history, &[query], budget, embedder, counter).await?;
    Ok(found.into_iter().next().flatten())
}

/// The same for each of several queries; the checkpoint is read once.
pub(crate) async fn sections_for(
    history: &History,
    queries: &[&str],
    budget: u32,
    embedder: &dyn Embedder,
    counter: &dyn TokenCounter,
) -> Result<Vec<Option<RecoverySection>>, ChatError> {
    let Some((checkpoint, number)) = latest_checkpoint(history) else {
        return Ok(Vec::new());
    };
    let texts = checkpoint.items().iter().map(searched).collect::<Vec<_>>();
    let asked = queries
        .iter()
        .copied()
        .chain(texts.iter().map(String::as_str))
        .collect::<Vec<_>>();
    let vectors = embedder.embed(&asked).await?;
    let Some((queries, others)) = vectors.split_at_checked(queries.len()) else {
        return Ok(Vec::new());
    };
    let of_query = |query: &Vec<f32>| {
        let mut ranked = others
            .iter()
            .map(|vector| similarity(query, vector))
            .enumerate()
            .collect::<Vec<_>>();
        let best = ranked.iter().map(|(_, score)| *score).fold(0.0, f32::max);
        ranked.retain(|(_, score)| *score > 0.0 && *score >= LEAST_OF_BEST * best);
        // Stable: equals stay in the checkpoint's order.
        ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let order = ranked.into_iter().map(|(place, _)| place);
        fitting(
            &checkpoint,
            number,
            order,
            budget,
            Showing::default(),
            counter,
        )
    };
    Ok(queries.iter().map(of_query).collect())
}

/// All of the latest checkpoint, in its own order, as far as it fits.
pub(crate) fn whole(
    history: &History,
    budget: u32,
    showing: Showing,
    counter: &dyn TokenCounter,
) -> Option<RecoverySection> {
    let (checkpoint, number) = latest_checkpoint(history)?;
    let order = 0..checkpoint.items().len();
    fitting(&checkpoint, number, order, budget, showing, counter)
}

/// What of an item is compared with a query: its field's name says what it is.
fn searched(item: &Item) -> String {
    format!("{} {}", item.field.replace(['.', '_'], " "), item.text())
}

/// The items of that order until the section would be too long.
fn fitting(
    checkpoint: &Checkpoint,
    number: u32,
    order: impl Iterator<Item = usize>,
    budget: u32,
    showing: Showing,
    counter: &dyn TokenCounter,
) -> Option<RecoverySection> {
    /// Tokens of an item's bullet and line break; where it has more, the count below takes it out
    /// again.
    const LABEL: u32 = 2;
    let items = checkpoint.items();
    let mut room = budget;
    let mut chosen = Vec::new();
    for place in order {
        let Some(left) = room.checked_sub(counter.count_text(&items[place].text()) + LABEL) else {
            continue;
        };
        room = left;
        chosen.push(place);
    }
    while !chosen.is_empty() {
        let mut place = 0_usize..;
        let kept = checkpoint.only(|_| place.next().is_some_and(|place| chosen.contains(&place)));
        let text = showing.section(&kept);
        if counter.count_text(&text) <= budget {
            return Some(RecoverySection {
                text,
                number,
                shown: chosen.len() as u32,
                of: items.len() as u32,
            });
        }
        chosen.pop();
    }
    None
}
