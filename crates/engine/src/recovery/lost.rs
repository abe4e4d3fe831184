//! Whether an agent appears lost: its text asks for what the checkpoint holds.
//!
//! A lexical rule, for English. A sentence asks where it is an open question (what, which, where, when, who, how) or says that
//! something is not known. It asks for an item where it names the item's topic or kind and not its value. "Which database did we
//! choose?" asks; "Shall I create the table?" does not, and neither does "Is it PostgreSQL, as decided?".

use super::words::{sentences, spaced, stands_in, telling, words};
use crate::checkpoint::{Checkpoint, Item};

/// The items that a text asks for; none where its author does not appear lost.
pub fn asks_for(text: &str, checkpoint: &Checkpoint) -> Vec<Item> {
    let asking = sentences(text).filter(|sentence| asks(sentence)).collect::<Vec<_>>();
    if asking.is_empty() {
        return Vec::new();
    }
    let mut items = checkpoint.items();
    items.retain(|item| asking.iter().any(|sentence| is_asked_for(sentence, item)));
    items
}

/// Whether [`asks_for`] could find an item in some checkpoint, which then has to be read.
pub(crate) fn may_ask(text: &str) -> bool {
    sentences(text).any(asks)
}

/// Words, as [`spaced`] has them, that open a question.
const OPEN: &[&str] = &[" what ", " which ", " where ", " when ", " who ", " whose ", " how "];

/// Words in a row, as [`spaced`] has them, that say that something is not known.
const AT_A_LOSS: &[&str] = &[
    " remind me ",
    " i don t have ",
    " i do not have ",
    " i don t know ",
    " i do not know ",
    " i don t remember ",
    " i do not remember ",
    " i don t recall ",
    " i do not recall ",
    " i no longer ",
    " not sure which ",
    " not sure what ",
    " no record of ",
    " please provide ",
    " please tell me ",
    " could you repeat ",
];

pub(super) fn asks(sentence: &str) -> bool {
    let said = spaced(sentence);
    let holds = |phrases: &[&str]| phrases.iter().any(|words| said.contains(words));
    (sentence.ends_with('?') && holds(OPEN)) || holds(AT_A_LOSS)
}

fn is_asked_for(sentence: &str, item: &Item) -> bool {
    let said = words(sentence);
    let holds = |text: &str| telling(text).iter().all(|word| said.contains(word));
    if item.field == "pending_tasks" && !item.topic.is_empty() {
        let task = telling(&item.value);
        let named = task.iter().filter(|word| said.contains(word)).count();
        return 2 * named >= task.len() && named > 0 && !holds(&item.topic);
    }
    let names_topic = !item.topic.is_empty() && words(&item.topic).iter().all(|word| said.contains(word));
    let names_kind = kinds(item.field).iter().any(|kind| said.iter().any(|word| word == kind));
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
    use super::*;

    fn asked(text: &str) -> Vec<String> {
        let json = r#"{"pending_tasks":[{"task":"Create franchisees table","context":"columns name, territory"}],
            "key_decisions":{"storage":"PostgreSQL"},"user_preferences":{"format":"JSON"},
            "context_references":{"files":["auth.py"],"databases":["crm_db"]}}"#;
        let checkpoint = serde_json::from_str(json).expect("parses");
        asks_for(text, &checkpoint).into_iter().map(|item| item.value).collect()
    }

    #[test]
    fn an_open_question_about_what_is_held_asks() {
        assert_eq!(asked("Done so far. Which database should I use?"), ["crm_db"]);
        assert_eq!(asked("I no longer know the storage that was chosen."), ["PostgreSQL"]);
        assert_eq!(asked("What did we decide?"), ["PostgreSQL"]);
        assert_eq!(asked("Could you remind me of the file?"), ["auth.py"]);
        assert_eq!(asked("Which columns does the franchisees table get?"), ["Create franchisees table"]);
    }

    #[test]
    fn whoever_asks_may_ask() {
        for words in AT_A_LOSS {
            assert!(may_ask(&format!("So,{}then.", words.to_uppercase())), "{words}");
        }
        assert!(may_ask("I don't \u{212a}now it.") && may_ask("What now?") && !may_ask("I have done it."));
        assert!(!may_ask("Do not have it. I no. Longer"), "no sentence asks");
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
