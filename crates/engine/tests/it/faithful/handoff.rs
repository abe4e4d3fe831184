//! The agent loop.

use compactometer_engine::budget::Budget;
use compactometer_engine::event::{FailReason, Outcome};
use compactometer_engine::model::ChatError;
use compactometer_engine::record::RecordKind;
use compactometer_engine::tokens::{Encoding, TokenCounter};

use super::stage::{Stage, Step, assistant, request, system, turns, user};

const SUMMARY: &str = "1. The user has things looked at.";

fn stage() -> Stage {
    Stage::new("handoff", &[Ok(SUMMARY)])
}

/// Two compactions without a user's turn between them.
fn two_rounds() -> Vec<Step> {
    let mut steps = vec![
        system("You help."),
        user("Look at the list."),
        assistant(&"I looked. ".repeat(60)),
    ];
    steps.extend([
        Step::Compact,
        assistant(&"I looked again. ".repeat(60)),
        Step::Compact,
    ]);
    steps
}

#[test]
fn the_last_user_turn_may_be_the_previous_summary_and_nests() {
    let faithful = stage().faithful(&two_rounds());
    let summaries = faithful
        .history
        .iter()
        .filter(|saved| saved.kind == RecordKind::Summary)
        .count();
    assert_eq!(
        (faithful.view.len(), summaries, faithful.violations),
        (2, 2, 0)
    );
    assert_eq!(
        faithful.view[1].matches(SUMMARY).count(),
        2,
        "{}",
        faithful.view[1]
    );
    let plain = stage().plain(&two_rounds());
    assert_eq!(
        plain
            .view
            .iter()
            .map(|text| text.matches(SUMMARY).count())
            .sum::<usize>(),
        1
    );
    assert!(
        plain.view.contains(&"user: Look at the list.".to_owned()),
        "the last real user message stays by itself"
    );
}

#[test]
fn a_batch_that_is_still_to_be_answered_leaves() {
    let mut steps = turns("item", 8);
    steps.extend([
        user("Run it."),
        Step::Call("c1"),
        Step::Result("c1", "exit 0".into()),
        Step::Compact,
    ]);
    assert!(
        !stage()
            .faithful(&steps)
            .view
            .iter()
            .any(|text| text.contains("exit 0"))
    );
    assert!(
        stage()
            .plain(&steps)
            .view
            .ends_with(&["assistant: calls c1".to_owned(), "tool: exit 0".to_owned()])
    );
}

#[test]
fn without_a_system_prompt_the_first_message_takes_its_place() {
    let mut steps = turns("item", 8);
    steps.push(Step::Compact);
    assert!(stage().faithful(&steps).view[0].starts_with("user: item 0"));
    assert!(stage().plain(&steps).view[0].contains(SUMMARY));
}

#[test]
fn the_prompt_joins_a_context_that_is_full() {
    let mut steps = turns("item", 12);
    steps.push(Step::Compact);
    let narrow = || Stage {
        summarizer_window: Some(1_200),
        ..stage()
    };
    let tokens =
        |shown: &super::stage::Shown| shown.calls.iter().map(|call| request(call).len()).max();
    assert!(tokens(&narrow().faithful(&steps)) > tokens(&narrow().plain(&steps)));
    assert_eq!(narrow().faithful(&steps).calls.len(), 1);
    assert!(narrow().plain(&steps).calls.len() > 1, "read in pieces");
}

/// The answer may have what the window leaves, at most what the summary may have; below 512 tokens
/// the chat is read in pieces.
#[test]
fn the_answer_has_the_room_that_the_window_leaves() {
    let mut steps = turns("item", 40);
    steps.push(Step::Compact);
    let budget = Budget::matched(4_000, 3_200, 2_400, 0.5).unwrap();
    let (mut in_pieces, mut limited, mut whole) = (0, 0, 0);
    for window in (2_400..9_000).step_by(100) {
        let stage = Stage {
            budget: Some(budget),
            summarizer_window: Some(window),
            ..stage()
        };
        let calls = stage.plain(&steps).calls;
        // A window that holds no answer is declined before any call.
        let Some(first) = calls.first() else { continue };
        let most = first.request.max_output_tokens.unwrap();
        let asked = Encoding::O200k.count_text(&request(first));
        assert!(asked + most <= window, "{asked} and {most} of {window}");
        if calls
            .iter()
            .any(|call| request(call).contains("<messages>"))
        {
            in_pieces += 1;
            continue;
        }
        assert_eq!(calls.len(), 1);
        assert!((512..=budget.written).contains(&most), "{most} of {window}");
        assert!(
            request(first).contains(&format!("At most {most} tokens.")),
            "the model is told its limit"
        );
        *(if most < budget.written {
            &mut limited
        } else {
            &mut whole
        }) += 1;
    }
    assert!(
        in_pieces > 0 && limited > 5 && whole > 0,
        "{in_pieces} {limited} {whole}"
    );
}

#[test]
fn threshold_0_means_always_instead_of_never() {
    let zero = || Stage {
        budget: None,
        ..stage().with(&[("threshold", "0"), ("estimator", "exact")])
    };
    let steps = [
        user("Hello."),
        assistant("Hello, what can I do?"),
        user("Nothing yet."),
        Step::Ask,
    ];
    assert_eq!(zero().faithful(&steps).events.len(), 1);
    assert_eq!(zero().plain(&steps).events.len(), 0);
}

#[test]
fn the_prompt_of_a_failed_call_stays_in_the_history() {
    let mut steps = turns("item", 8);
    steps.push(Step::Compact);
    let failing = || Stage::new("handoff", &[Err(ChatError::Timeout { after_ms: 1 })]);
    let faithful = failing().faithful(&steps);
    assert!(
        faithful
            .view
            .last()
            .is_some_and(|text| text.contains("User's Primary Goals"))
    );
    assert!(faithful.events[0].tokens_after > faithful.events[0].tokens_before);
    let plain = failing().plain(&steps);
    assert_eq!(plain.view.len(), 16);
    assert!(matches!(
        plain.events[0].outcome,
        Outcome::Failed(FailReason::Call(_))
    ));
}

#[test]
fn an_answer_that_goes_on_with_the_chat_is_taken_for_a_summary() {
    let mut steps = turns("item", 8);
    steps.push(Step::Compact);
    let chatty = || Stage::new("handoff", &[Ok("Sure, let us go on!")]);
    assert_eq!(
        chatty().faithful(&steps).events[0].outcome,
        Outcome::Applied
    );
    assert!(matches!(
        chatty().plain(&steps).events[0].outcome,
        Outcome::Failed(FailReason::NoSummary(_))
    ));
}
