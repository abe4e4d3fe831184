//! "Did I remember correctly?" (the strategic plan, part 9.4): an answer held against a checkpoint,
//! item by item.
//!
//! By value and lexical. An item is recalled where the answer holds its value, whatever the case,
//! or all of its telling words but a quarter, with every one that holds a digit, are in one
//! sentence. It is contradicted where a sentence about it gives another value: another number where
//! it has one, or, of an entry with a key, something else after "KEY is". A contradiction in other
//! words is only missing, so "contradicted" is a lower bound.

use super::compared_words::{has_digit, sentences, stands_in, telling, words};
use super::lost::asks;
use crate::checkpoint::{Checkpoint, Item};

/// What an answer makes of each item of a checkpoint, in the order of [`Checkpoint::items`].
///
/// ```
/// use compactometer_engine::checkpoint::Checkpoint;
/// use compactometer_engine::recovery::{Recall, recall};
///
/// let checkpoint: Checkpoint = serde_json::from_str(r#"{"key_decisions": {"database": "PostgreSQL 16"}}"#)?;
/// let made = |answer: &str| recall(answer, &checkpoint)[0].recall;
/// assert_eq!(made("We use PostgreSQL 16."), Recall::Correct);
/// assert_eq!(made("The database is MySQL 8."), Recall::Contradicted);
/// assert_eq!(made("I don't know."), Recall::Missing);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn recall(answer: &str, checkpoint: &Checkpoint) -> Vec<Recalled> {
    let sentences = sentences(answer).collect::<Vec<_>>();
    let of_item = |item: Item| {
        let recalled = stands_in(answer, &item.value)
            || sentences
                .iter()
                .any(|sentence| paraphrases(sentence, &item));
        let recall = match recalled {
            true => Recall::Correct,
            false
                if sentences
                    .iter()
                    .any(|sentence| contradicts(sentence, &item)) =>
            {
                Recall::Contradicted
            }
            false => Recall::Missing,
        };
        Recalled { item, recall }
    };
    checkpoint.items().into_iter().map(of_item).collect()
}

/// One item of a checkpoint, and what an answer makes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recalled {
    /// The item.
    pub item: Item,
    /// What the answer makes of it.
    pub recall: Recall,
}

/// What an answer makes of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recall {
    /// It says it.
    Correct,
    /// It says something else of it.
    Contradicted,
    /// It does not say it.
    Missing,
}

fn paraphrases(sentence: &str, item: &Item) -> bool {
    /// A value of fewer telling words is a name, which only itself recalls.
    const FEWEST: usize = 3;
    let said = words(sentence);
    let (numbers, others): (Vec<String>, Vec<String>) = telling(&item.value)
        .into_iter()
        .partition(|it| has_digit(it));
    let found = others.iter().filter(|word| said.contains(word)).count();
    !asks(sentence)
        && others.len() >= FEWEST
        && 4 * found >= 3 * others.len()
        && numbers.iter().all(|number| said.contains(number))
}

fn contradicts(sentence: &str, item: &Item) -> bool {
    if asks(sentence) || sentence.ends_with('?') {
        return false;
    }
    let said = words(sentence);
    let topic = words(&item.topic);
    let (numbers, others): (Vec<String>, Vec<String>) = telling(&item.value)
        .into_iter()
        .partition(|it| has_digit(it));
    let found = others.iter().filter(|word| said.contains(word)).count();
    let is_keyed = !topic.is_empty() && item.field != "pending_tasks";
    let names_key = is_keyed && topic.iter().all(|word| said.contains(word));
    if !numbers.is_empty() {
        let about = names_key || (found > 0 && 2 * found >= others.len());
        let other = said
            .iter()
            .any(|word| has_digit(word) && !numbers.contains(word) && !topic.contains(word));
        return about && other && !numbers.iter().any(|number| said.contains(number));
    }
    let key = topic.join(" ");
    let says_is = ["is", "was", "are"]
        .iter()
        .any(|link| stands_in(sentence, &format!("{key} {link}")))
        || sentence.to_lowercase().contains(&format!("{key}:"));
    names_key
        && says_is
        && found == 0
        && !said
            .iter()
            .any(|word| NOTHING_SAID.contains(&word.as_str()))
}

/// A sentence with one of these says that a value is not known, or not what it is.
const NOTHING_SAID: &[&str] = &["not", "unknown", "unclear", "undecided", "open"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_correct_contradicted_or_missing() {
        let json = r#"{"active_goals":["Build a CRM system for franchise tracking"],
            "key_decisions":{"database":"PostgreSQL","auth":"JWT tokens with 7-day expiry","port":8080},
            "context_references":{"files":["auth.py"]}}"#;
        let checkpoint = serde_json::from_str(json).expect("parses");
        let of = |answer: &str| {
            recall(answer, &checkpoint)
                .into_iter()
                .map(|it| it.recall)
                .collect::<Vec<_>>()
        };
        use Recall::{Contradicted, Correct, Missing};
        let answer = "You build a CRM system for tracking of franchise owners. The database is MySQL. \
                      Auth uses JWT tokens with a 30-day expiry. Port 8080 stays; see Auth.py.";
        assert_eq!(
            of(answer),
            [Correct, Contradicted, Contradicted, Correct, Correct]
        );
        assert_eq!(
            of("The database is not decided. Which auth? The file is main.py."),
            [Missing; 5]
        );
        assert_eq!(
            of("The database is slow, but it is PostgreSQL."),
            [Missing, Correct, Missing, Missing, Missing]
        );
        assert_eq!(of(""), [Missing; 5]);
    }
}
