//! Whether an agent appears lost: its text asks for what the checkpoint holds.
//!
//! A lexical rule, for English. A sentence asks where it is an open question (what, which, where,
//! when, who, how) or says that something is not known. It asks for an item where it names the
//! item's topic or kind and not its value. "Which database did we choose?" asks; "Shall I create
//! the table?" does not, and neither does "Is it PostgreSQL, as decided?".

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use super::compared_words::{between, sentences, spaced, stands_in, telling, words};
use crate::checkpoint::{Checkpoint, Item};

/// The items that a text asks for; none where its author does not appear lost.
///
/// ```
/// use compactometer_engine::checkpoint::Checkpoint;
/// use compactometer_engine::recovery::asks_for;
///
/// let checkpoint: Checkpoint = serde_json::from_str(r#"{"key_decisions": {"database": "PostgreSQL"}}"#)?;
/// assert_eq!(asks_for("Which database did we choose?", &checkpoint).len(), 1);
/// assert!(asks_for("Is it PostgreSQL, as decided?", &checkpoint).is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn asks_for(text: &str, checkpoint: &Checkpoint) -> Vec<Item> {
    let asking = sentences(text)
        .filter(|sentence| asks(sentence))
        .collect::<Vec<_>>();
    if asking.is_empty() {
        return Vec::new();
    }
    let mut items = checkpoint.items();
    items.retain(|item| asking.iter().any(|sentence| is_asked_for(sentence, item)));
    items
}

/// Whether [`asks_for`] could find an item in some checkpoint. It is asked before each turn, and
/// most end at the first look.
pub(crate) fn may_ask(text: &str) -> bool {
    let is_at_a_loss = is_at_a_loss(text);
    // Else only a question asks.
    let may_ask = |sentence: &&str| is_at_a_loss || sentence.ends_with('?');
    (is_at_a_loss || text.contains('?')) && sentences(text).filter(may_ask).any(asks)
}

/// Whether words of [`AT_A_LOSS`] occur in a row, be it across the end of a sentence.
fn is_at_a_loss(text: &str) -> bool {
    static TELLING: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        // With this kind of match alone many bytes are looked at at once.
        let mut builder = AhoCorasick::builder();
        builder
            .match_kind(MatchKind::LeftmostFirst)
            .build(AT_A_LOSS.iter().map(|(_, telling, _)| telling))
            .ok()
    });
    let said = text.to_lowercase();
    TELLING.as_ref().is_none_or(|words| {
        words.find_iter(&said).any(|found| {
            let (before, word, after) = (
                &said[..found.start()],
                &said[found.range()],
                &said[found.end()..],
            );
            AT_A_LOSS.iter().any(|(first, telling, last)| {
                *telling == word && ends_with_words(before, first) && starts_with_words(after, last)
            })
        })
    })
}

/// Whether a text ends with these words, and no letter after them.
fn ends_with_words(text: &str, words: &str) -> bool {
    let mut said = text.rsplit(between);
    let is_apart = said.next() == Some("");
    let mut said = said.filter(|word| !word.is_empty());
    is_apart
        && words
            .split_whitespace()
            .rev()
            .all(|word| said.next() == Some(word))
}

/// Whether a text starts with these words, and no letter before them.
fn starts_with_words(text: &str, words: &str) -> bool {
    let mut said = text.split(between);
    let is_apart = said.next() == Some("");
    let mut said = said.filter(|word| !word.is_empty());
    is_apart
        && words
            .split_whitespace()
            .all(|word| said.next() == Some(word))
}

/// Words, as [`spaced`] has them, that open a question.
const OPEN: &[&str] = &[
    " what ", " which ", " where ", " when ", " who ", " whose ", " how ",
];

/// Words in a row that say that something is not known: the words before the most telling one, that
/// one, and the words after it.
const AT_A_LOSS: &[(&str, &str, &str)] = &[
    ("", "remind", "me"),
    ("i don t", "have", ""),
    ("i do not", "have", ""),
    ("i don t", "know", ""),
    ("i do not", "know", ""),
    ("i don t", "remember", ""),
    ("i do not", "remember", ""),
    ("i don t", "recall", ""),
    ("i do not", "recall", ""),
    ("i no", "longer", ""),
    ("not", "sure", "which"),
    ("not", "sure", "what"),
    ("no", "record", "of"),
    ("please", "provide", ""),
    ("please", "tell", "me"),
    ("could you", "repeat", ""),
];

/// [`AT_A_LOSS`] in the form of [`spaced`].
static AT_A_LOSS_SPACED: LazyLock<Vec<String>> = LazyLock::new(|| {
    let in_a_row =
        |(first, telling, last): &(&str, &str, &str)| spaced(&format!("{first} {telling} {last}"));
    AT_A_LOSS.iter().map(in_a_row).collect()
});

pub(super) fn asks(sentence: &str) -> bool {
    let said = spaced(sentence);
    (sentence.ends_with('?') && OPEN.iter().any(|word| said.contains(word)))
        || AT_A_LOSS_SPACED
            .iter()
            .any(|words| said.contains(words.as_str()))
}

fn is_asked_for(sentence: &str, item: &Item) -> bool {
    let said = words(sentence);
    let holds = |text: &str| telling(text).iter().all(|word| said.contains(word));
    if item.field == "pending_tasks" && !item.topic.is_empty() {
        let task = telling(&item.value);
        let named = task.iter().filter(|word| said.contains(word)).count();
        return 2 * named >= task.len() && named > 0 && !holds(&item.topic);
    }
    let names_topic =
        !item.topic.is_empty() && words(&item.topic).iter().all(|word| said.contains(word));
    let names_kind = kinds(item.field)
        .iter()
        .any(|kind| said.iter().any(|word| word == kind));
    (names_topic || names_kind) && !stands_in(sentence, &item.value)
}

/// What people call the contents of a field.
fn kinds(field: &str) -> &'static [&'static str] {
    match field {
        "active_goals" => &["goal", "goals", "objective"],
        "pending_tasks" => &["task", "tasks", "pending"],
        "key_decisions" => &["decide", "decided", "decision", "decisions", "agreed"],
        "user_preferences" => &["prefer", "preference", "preferences"],
        "context_references.files" => &["file", "files", "path"],
        "context_references.tables" => &["table", "tables"],
        "context_references.databases" => &["database", "databases"],
        "context_references.threads" => &["thread", "threads"],
        "context_references.external_apis" => &["api", "apis"],
        "workflow_state.current_step" => &["step", "doing"],
        "workflow_state.completed_steps" => &["completed", "finished"],
        _ => &["next"],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(text: &str) -> Vec<String> {
        let json = r#"{"pending_tasks":[{"task":"Create franchisees table","context":"columns name, territory"}],
            "key_decisions":{"storage":"PostgreSQL"},"user_preferences":{"format":"JSON"},
            "context_references":{"files":["auth.py"],"databases":["crm_db"]}}"#;
        let checkpoint = serde_json::from_str(json).expect("parses");
        asks_for(text, &checkpoint)
            .into_iter()
            .map(|item| item.value)
            .collect()
    }

    #[test]
    fn an_open_question_about_what_is_held_asks() {
        assert_eq!(
            asked("Done so far. Which database should I use?"),
            ["crm_db"]
        );
        assert_eq!(
            asked("I no longer know the storage that was chosen."),
            ["PostgreSQL"]
        );
        assert_eq!(asked("What did we decide?"), ["PostgreSQL"]);
        let json = r#"{"pending_tasks":[{"task":"Create franchisees table"}]}"#;
        let checkpoint = serde_json::from_str(json).expect("parses");
        let lost = asks_for("Which tasks are pending?", &checkpoint);
        assert_eq!(
            lost.len(),
            1,
            "a task without a topic is asked for by its kind"
        );
        assert_eq!(asked("Could you remind me of the file?"), ["auth.py"]);
        assert_eq!(
            asked("Which columns does the franchisees table get?"),
            ["Create franchisees table"]
        );
    }

    #[test]
    fn whoever_asks_may_ask() {
        for words in AT_A_LOSS_SPACED.iter() {
            assert!(
                may_ask(&format!("So,{}then.", words.to_uppercase())),
                "{words}"
            );
        }
        assert!(
            may_ask("I don't \u{212a}now it.")
                && may_ask("What now?")
                && !may_ask("I have done it.")
        );
        assert!(!may_ask("Do not have it. I no. Longer"), "no sentence asks");
    }

    proptest! {
        #[test]
        fn a_text_may_ask_where_a_sentence_asks(
            text in "((i|I|not|know|k?now|\u{212a}NOW|rec(all|ord)|of|sure|what|which|no|don|do|T|me|remind|please|tell)[ ',.?!_\u{130}]{1,2}){0,9}"
        ) {
            prop_assert_eq!(may_ask(&text), sentences(&text).any(asks));
        }
    }

    #[test]
    fn other_questions_and_statements_do_not() {
        for text in [
            "Shall I write the file now?",
            "What colour should the button have?",
            "The database is ready.",
            "Why does crm_db fail, which database error is it?",
            "",
        ] {
            assert_eq!(asked(text), [""; 0], "{text}");
        }
    }
}
