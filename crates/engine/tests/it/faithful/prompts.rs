//! The prompt of each published form has the structure, limits, tags, example and roles of its
//! document, in our own sentences.

use compactometer_engine::message::{Part, Role};
use compactometer_engine::model::WireMessage;
use compactometer_engine::params::Settings;
use compactometer_engine::strategies::ALL;

use super::stage::{Shown, Stage, Step, request, turns};

fn prompt(name: &str) -> String {
    let spec = ALL.iter().find(|spec| spec.name == name).unwrap();
    Settings::published(spec)
        .unwrap()
        .unwrap()
        .prompt()
        .to_owned()
}

/// Whether each of these occurs, one after the other.
fn has_in_order(text: &str, marks: &[&str]) -> bool {
    let mut rest = text;
    marks.iter().all(|mark| match rest.split_once(mark) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// What each document's prompt consists of, in its order.
const STRUCTURES: [(&str, &[&str]); 8] = [
    (
        "summarize",
        &[
            "{words} words",
            "1.",
            "4.",
            "Omit",
            "Events of middleware",
            "<messages>",
            "</messages>",
            "ONLY",
        ],
    ),
    (
        "prompt-checkpoint",
        &[
            "1.",
            "4.",
            "---",
            "## STATE CHECKPOINT",
            "```json",
            "\"active_goals\"",
            "\"task\"",
            "\"workflow_state\"",
            "```",
            "**Rules for the checkpoint**",
            "---",
            "<messages>",
            "</messages>",
            "[SUMMARY]",
            "[CHECKPOINT]",
        ],
    ),
    (
        "middleware-checkpoint",
        &[
            "<messages>",
            "</messages>",
            "ONLY",
            "\"active_goals\": [\"string\"],  //",
            "IMPORTANT",
        ],
    ),
    (
        "hybrid-checkpoint",
        &[
            "<messages>",
            "</messages>",
            "ONLY",
            "\"active_goals\": [\"string\"],  //",
            "IMPORTANT",
        ],
    ),
    (
        "threshold-summary",
        &["1.", "4.", "bullet points", "CONVERSATION:", "SUMMARY:"],
    ),
    (
        "progressive",
        &[
            "Summary:",
            "Key Decisions:",
            "Files Modified:",
            "Next Steps:",
        ],
    ),
    (
        "handoff",
        &[
            "1. ",
            "2. ",
            "3. ",
            "4. ",
            "5. Active Work and Last Actions (CRITICAL)",
            "6. ",
            "7. Immediate Next Step",
        ],
    ),
    (
        "chained",
        &[
            "CRITICAL",
            "{user}",
            "## Previous Summary",
            "## Original User Task",
            "## Messages to Summarize",
            "## Instructions",
            "### Session Summary (Compaction Round {round})",
            "#### Original Task",
            "#### Errors & Resolutions",
            "## Constraints",
        ],
    ),
];

#[test]
fn each_has_the_structure_of_its_document() {
    for (name, marks) in STRUCTURES {
        assert!(
            has_in_order(&prompt(name), marks),
            "{name}: {}",
            prompt(name)
        );
    }
}

#[test]
fn none_has_what_only_our_forms_ask_for() {
    for spec in ALL.iter().filter(|spec| !spec.prompt.is_empty()) {
        let published = prompt(spec.name);
        assert_ne!(published, spec.prompt, "{}", spec.name);
        assert!(
            !published.contains("external_apis") && !published.contains("Key facts"),
            "{}",
            spec.name
        );
        let shows_the_last = published.contains("{previous}");
        assert_eq!(shows_the_last, spec.name == "chained", "{}", spec.name);
    }
    assert!(
        !prompt("handoff").contains("tokens"),
        "the document limits no answer"
    );
}

fn roles(shown: &Shown) -> Vec<Role> {
    shown.calls[0]
        .request
        .messages
        .iter()
        .map(|message| message.role)
        .collect()
}

#[test]
fn the_chain_instructs_in_a_system_message() {
    let steps = [turns("item", 8), vec![Step::Compact]].concat();
    let stage = || Stage::new("chained", &[Ok("### Session Summary\nWork went on.")]);
    for (form, shown) in [
        ("published", stage().faithful(&steps)),
        ("plain", stage().plain(&steps)),
    ] {
        assert_eq!(roles(&shown), [Role::System, Role::User], "{form}");
        let [system, user] = &shown.calls[0].request.messages[..] else {
            panic!("two messages")
        };
        let text = |message: &WireMessage| match &message.parts[..] {
            [Part::Text { text }] => text.clone(),
            parts => panic!("{parts:?}"),
        };
        assert!(
            text(system).starts_with("You are condensing") && !text(system).contains('{'),
            "{form}"
        );
        assert!(
            text(user).starts_with("## Previous Summary")
                && request(&shown.calls[0]).contains("item 0"),
            "{form}"
        );
    }
}

#[test]
fn the_calls_at_a_compaction_have_the_documents_prompts_too() {
    let steps = [turns("item", 8), vec![Step::Compact]].concat();
    for (name, of) in [
        ("middleware-checkpoint", "summarize"),
        ("hybrid-checkpoint", "prompt-checkpoint"),
    ] {
        let stage = || Stage::new(name, &[Ok("[SUMMARY]\nWork went on.\n[CHECKPOINT]\n{}")]);
        let first_line = prompt(of).lines().nth(2).unwrap().to_owned();
        assert!(
            request(&stage().faithful(&steps).calls[0]).contains(&first_line),
            "{name}"
        );
        assert!(
            !request(&stage().plain(&steps).calls[0]).contains(&first_line),
            "{name}"
        );
    }
}
