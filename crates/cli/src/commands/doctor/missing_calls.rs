//! Whether recordings hold the calls of the run. A dry run finds out; nothing is written.

use compactometer_engine::tokens::Encoding;
use compactometer_harness::plan::Plan;
use compactometer_harness::run::{FailFastModels, Models, run_case};

use super::{DoctorCheck, models};
use crate::arguments::RunArgs;
use crate::output::failure::Failure;

/// Follows each case to its first missing call, since what follows that call is unknown. There is
/// no check if no model is a recording, if a recording cannot be opened (which has its own check),
/// or if a server would have to be called.
pub(super) fn check(
    args: &RunArgs,
    plan: &Plan,
    counter: Encoding,
) -> Result<Option<DoctorCheck>, Failure> {
    let named = models::models_of_run(args);
    if named.iter().any(|(_, spec)| is_served(spec))
        || !named.iter().any(|(_, spec)| spec.starts_with("cassette:"))
    {
        return Ok(None);
    }
    let Ok(opened) = named.map(|_, spec| compactometer_models::by_name(spec)) else {
        return Ok(None);
    };
    let missed = missed(plan, opened.models(), counter)?;
    let cases = plan.cases.len();
    Ok(Some(match missed.last() {
        None => DoctorCheck::ok(
            "recording",
            format!("every call of {cases} replays is recorded"),
        ),
        Some(why) => DoctorCheck::problem(
            "recording",
            format!(
                "{} of {cases} replays stop at a call that is not recorded: {why}",
                missed.len()
            ),
        ),
    }))
}

fn is_served(spec: &str) -> bool {
    !matches!(compactometer_models::receiver(spec), Ok(None))
}

/// For each case that stops, why.
fn missed(plan: &Plan, models: Models<'_>, counter: Encoding) -> Result<Vec<String>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .map_err(Failure::failed)?;
    let mut missed = Vec::new();
    for case in &plan.cases {
        let watched = FailFastModels::new(models);
        runtime.block_on(run_case(case, watched.models(), &counter));
        missed.extend(watched.check().err().map(|stopped| stopped.why));
    }
    Ok(missed)
}
