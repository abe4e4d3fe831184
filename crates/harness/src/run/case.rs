//! Runs one case without a journal.

use compactometer_engine::tokens::TokenCounter;

use super::Models;
use crate::plan::PlannedCase;
use crate::probes::judge_answers;
use crate::replay::{Replay, session};
use crate::trace::CaseResult;

/// Runs one case, and judges its answers if the models have a judge.
pub async fn run_case<'m>(
    case: &PlannedCase,
    models: impl Into<Models<'m>>,
    counter: &'m dyn TokenCounter,
) -> CaseResult {
    let models = models.into();
    let strategy = case.entrant.build(&case.prepared, case.seed);
    let limited = models.window_limited(case.budget().binding_window(), counter);
    let meters = models.meters(&limited, case.seed);
    let mut replay = Replay::new(
        case,
        session(case, &*strategy, &meters, counter),
        &meters,
        counter,
    );
    for index in 0..=case.prepared.messages.len() {
        replay.step(index).await;
    }
    judged(case, models, replay.into_result()).await
}

/// The finished case with its answers judged, if there is a judge.
pub(super) async fn judged(
    case: &PlannedCase,
    models: Models<'_>,
    mut result: CaseResult,
) -> CaseResult {
    if let Some(judge) = models.judge {
        judge_answers(&case.prepared.scenario, case.seed, judge, &mut result).await;
    }
    result
}
