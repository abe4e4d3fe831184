//! Answers that no plain strategy takes for a summary.

use compactometer_engine::event::{FailReason, Outcome};
use compactometer_engine::strategies::ALL;
use compactometer_engine::summary::NotASummary;

use super::stage::{Stage, Step, request, turns};

#[test]
fn reasoning_alone_is_asked_for_once_more_and_then_falls_back() {
    let mut steps = turns("item", 12);
    steps.push(Step::Compact);
    for spec in ALL.iter().filter(|spec| !spec.prompt.is_empty()) {
        let stage = Stage::new(
            spec.name,
            &[Ok("<think>First I look at what was said, and then")],
        );
        let shown = stage.plain(&steps);
        let refused = "Your answer before was refused: it holds only reasoning.";
        let again = shown
            .calls
            .iter()
            .filter(|call| request(call).contains(refused))
            .count();
        assert_eq!(again, 1, "{}", spec.name);
        let event = &shown.events[0];
        let reason = match &event.outcome {
            Outcome::Failed(reason) => Some(reason),
            _ => event.fallback.as_ref(),
        };
        assert_eq!(
            reason,
            Some(&FailReason::NoSummary(NotASummary::ReasoningAlone)),
            "{}",
            spec.name
        );
        assert!(!shown.view.concat().contains("<think>"), "{}", spec.name);
    }
}
