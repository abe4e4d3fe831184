//! Whether a recording holds the calls that the run makes: a dry run, with nothing written.

use compactometer_engine::model::ChatModel;
use compactometer_engine::tokens::Encoding;
use compactometer_harness::plan::Plan;
use compactometer_harness::replay::run_case;
use compactometer_harness::watched::Watched;

use super::Check;
use crate::failure::Failure;

/// Each case is followed to its first missing call: what would come after it is not known.
pub(super) fn check(plan: &Plan, model: &dyn ChatModel, counter: Encoding) -> Result<Option<Check>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(Failure::failed)?;
    let mut missed = Vec::new();
    for case in &plan.cases {
        let watched = Watched::new(model);
        runtime.block_on(run_case(case, &watched, &counter));
        missed.extend(watched.check().err());
    }
    let cases = plan.cases.len();
    Ok(Some(match missed.last() {
        None => Check::ok("recording", format!("every call of {cases} cases is recorded")),
        Some(last) => Check::problem(
            "recording",
            format!("{} of {cases} cases stop at a call that is not recorded: {}", missed.len(), last.why),
        ),
    }))
}
