//! Runs one case without a journal.

use compactometer_engine::meter::Metered;
use compactometer_engine::tokens::TokenCounter;

use super::Models;
use crate::plan::PlannedCase;
use crate::replay::{Meters, Replay, session};
use crate::trace::CaseResult;

/// Runs one case. No answer is judged.
pub async fn run_case<'m>(
    case: &PlannedCase,
    models: impl Into<Models<'m>>,
    counter: &'m dyn TokenCounter,
) -> CaseResult {
    let models = models.into();
    let strategy = case.entrant.build(&case.prepared, case.seed);
    let [summarizer, target] = models.window_limited(case.budget.window, counter);
    let metered = Metered::new(&summarizer, case.seed).recounting_with(&target);
    let reader = Metered::new(models.target, case.seed);
    let (summarizer, target) = (models.summarizer().name(), models.target_name());
    let meters = Meters { session: &metered, reader: &reader, summarizer, target };
    let mut replay = Replay::new(case, session(case, &*strategy, &metered, counter), meters, counter);
    for index in 0..=case.prepared.messages.len() {
        replay.step(index).await;
    }
    replay.into_result()
}
